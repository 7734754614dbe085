#include "sparse/formats/coo.hpp"

#include <fmt/format.h>

#include "sparse/core/instantiate.hpp"
#include "sparse/formats/first_fault.hpp"

namespace krill {

using namespace detail;
namespace {

/// What is wrong with entry k, empty where nothing is.
template <class T>
std::string fault_of_entry(const CooView<const T>& a, std::int64_t k) {
  const auto base = static_cast<int>(a.base);
  const std::int32_t row = a.row(k), col = a.col(k);
  if (row < 0 || row >= a.rows)
    return fmt::format("coo: row_indices[{}] = {} lies outside {} to {}", k, row + base, base, a.rows - 1 + base);
  if (col < 0 || col >= a.cols)
    return fmt::format("coo: col_indices[{}] = {} lies outside {} to {}", k, col + base, base, a.cols - 1 + base);
  if (k == 0 || a.row(k - 1) < row || (a.row(k - 1) == row && a.col(k - 1) < col)) return {};
  return fmt::format("coo: entry {} at ({}, {}) follows ({}, {}); entries are sorted by row, then strictly by column",
                     k, row + base, col + base, a.row(k - 1) + base, a.col(k - 1) + base);
}

}  // namespace

template <class T>
void validate(const Host& host, const CooView<const T>& a) {
  const std::int64_t k = first_fault(host, a.nnz, [&](std::int64_t i) { return !fault_of_entry(a, i).empty(); });
  if (k < a.nnz) throw InvalidArgument(fault_of_entry(a, k));
}

template <class T>
void validate(const Coo<T>& A) {
  const Context ctx = Context::host();
  validate(ctx.host_tag(), A.view(ctx.host_tag()));
}

template <class T>
void validate(const CooAos<T>& A) {
  const Context ctx = Context::host();
  validate(ctx.host_tag(), A.view(ctx.host_tag()));
}

template <class T>
struct CooInstances {
  static constexpr std::tuple list{instance<void(const Host&, const CooView<const kernel_t<T>>&)>(validate),
                                   instance<void(const Coo<T>&)>(validate), instance<void(const CooAos<T>&)>(validate)};
};
KRILL_INSTANTIATE(CooInstances);

}  // namespace krill
