#include "sparse/formats/csr.hpp"

#include <fmt/format.h>

#include "sparse/core/instantiate.hpp"
#include "sparse/formats/first_fault.hpp"

namespace krill {

using namespace detail;
namespace {

template <class Offset>
void validate_offsets(const Host& host, const Offset* offsets, std::int64_t rows, std::int64_t nnz, Offset base) {
  if (offsets[0] != base)
    throw InvalidArgument(fmt::format("csr: row_offsets[0] is {}, {} was expected (the index base)", offsets[0], base));
  const std::int64_t row = first_fault(host, rows, [&](std::int64_t i) { return offsets[i + 1] < offsets[i]; });
  if (row < rows)
    throw InvalidArgument(
        fmt::format("csr: row_offsets[{}] is {}, less than row_offsets[{}] = {}; offsets never decrease", row + 1,
                    offsets[row + 1], row, offsets[row]));
  if (offsets[rows] != base + static_cast<Offset>(nnz))
    throw InvalidArgument(fmt::format("csr: row_offsets[{}] is {}, {} was expected (nnz{})", rows, offsets[rows],
                                      base + static_cast<Offset>(nnz), base ? " + 1" : ""));
}

/// What is wrong with the columns of row i, empty where nothing is.
template <class T, class Offset>
std::string fault_of_row(const CsrView<const T, Offset>& a, std::int64_t i) {
  const auto base = static_cast<int>(a.base);
  for (Offset k = a.row_offsets[i] - base; k < a.row_offsets[i + 1] - base; ++k) {
    const std::int32_t col = a.col_indices[k] - base;
    if (col < 0 || col >= a.cols)
      return fmt::format("csr: col_indices[{}] = {} in row {} lies outside {} to {}", k, a.col_indices[k], i + base,
                         base, a.cols - 1 + base);
    if (k > a.row_offsets[i] - base && a.col_indices[k - 1] >= a.col_indices[k])
      return fmt::format(
          "csr: col_indices[{}] = {} in row {} follows {}; columns ascend strictly in each row: sort "
          "and sum duplicates first",
          k, a.col_indices[k], i + base, a.col_indices[k - 1]);
  }
  return {};
}

}  // namespace

template <class T, class Offset>
void validate(const Host& host, const CsrView<const T, Offset>& a) {
  validate_offsets(host, a.row_offsets, a.rows, a.nnz, static_cast<Offset>(a.base));
  const std::int64_t row = first_fault(host, a.rows, [&](std::int64_t i) { return !fault_of_row(a, i).empty(); });
  if (row < a.rows) throw InvalidArgument(fault_of_row(a, row));
}

template <class T, class Offset>
void validate(const Csr<T, Offset>& A) {
  const Context ctx = Context::host();
  validate(ctx.host_tag(), A.view(ctx.host_tag()));
}

template <class T>
struct CsrInstances {
  static constexpr std::tuple list{
      instance<void(const Host&, const CsrView<const kernel_t<T>, std::int32_t>&)>(validate),
      instance<void(const Host&, const CsrView<const kernel_t<T>, std::int64_t>&)>(validate),
      instance<void(const Csr<T, std::int32_t>&)>(validate), instance<void(const Csr<T, std::int64_t>&)>(validate)};
};
KRILL_INSTANTIATE(CsrInstances);

}  // namespace krill
