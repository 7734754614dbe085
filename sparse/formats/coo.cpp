#include "krill/sparse/formats/coo.hpp"

#include <fmt/format.h>

#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/formats/first_fault.hpp"

namespace krill {
namespace {

/// What is wrong with entry k, empty where nothing is.
template <class T>
std::string fault_of_entry(const CooView<const T>& a, std::int64_t k) {
  const auto base = static_cast<int>(a.base);
  const std::int32_t row = a.row_indices[k], col = a.col_indices[k];
  if (row < base || row - base >= a.rows)
    return fmt::format("coo: row_indices[{}] = {} lies outside {} to {}", k, row, base, a.rows - 1 + base);
  if (col < base || col - base >= a.cols)
    return fmt::format("coo: col_indices[{}] = {} lies outside {} to {}", k, col, base, a.cols - 1 + base);
  if (k == 0 || a.row_indices[k - 1] < row || (a.row_indices[k - 1] == row && a.col_indices[k - 1] < col)) return {};
  return fmt::format("coo: entry {} at ({}, {}) follows ({}, {}); entries are sorted by row, then strictly by column",
                     k, row, col, a.row_indices[k - 1], a.col_indices[k - 1]);
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

#define INSTANTIATE(T)                                                    \
  template void validate(const Host&, const CooView<const kernel_t<T>>&); \
  template void validate(const Coo<T>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
