#include "sparse/formats/blocked_ell.hpp"

#include <fmt/format.h>

#include "sparse/core/half.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/formats/first_fault.hpp"

namespace krill {

using namespace detail;
namespace {

/// What is wrong with block row i, empty where nothing is.
std::string fault_of_block_row(const std::int32_t* col_indices, std::int64_t i, std::int64_t width,
                               std::int64_t block_cols) {
  bool ended = false;
  for (std::int64_t k = i * width; k < (i + 1) * width; ++k) {
    const std::int32_t col = col_indices[k];
    if (col == BlockedEllView<double>::padding_column) {
      ended = true;
      continue;
    }
    if (col < 0 || col >= block_cols)
      return fmt::format(
          "blocked_ell: col_indices[{}] = {} in block row {} lies outside 0 to {} and is not -1 (padding)", k, col, i,
          block_cols - 1);
    if (ended) return fmt::format("blocked_ell: col_indices[{}] = {} in block row {} follows padding", k, col, i);
    if (k > i * width && col_indices[k - 1] >= col)
      return fmt::format("blocked_ell: col_indices[{}] = {} in block row {} follows {}; block columns ascend strictly",
                         k, col, i, col_indices[k - 1]);
  }
  return {};
}

}  // namespace

template <class T>
BlockedEll<T>::BlockedEll(std::int64_t rows, std::int64_t cols, std::int32_t block_dim, std::int64_t ell_cols,
                          Array<std::int32_t> col_indices, Array<T> values)
    : MatrixShape("blocked_ell", rows, cols),
      block_dim_(block_dim),
      ell_cols_(ell_cols),
      col_indices_(std::move(col_indices)),
      values_(std::move(values)) {
  require_range("blocked_ell: block_dim", block_dim, 1, largest_blocked_ell_dim);
  require_range("blocked_ell: ell_cols", ell_cols, 0, detail::ceil_div(cols, block_dim) * block_dim);
  require_size("blocked_ell: col_indices", col_indices_.size(), block_rows() * width());
  require_size("blocked_ell: values", values_.size(), rows * ell_cols);
}

template <class T>
void validate(const BlockedEll<T>& A) {
  const Context ctx = Context::host();
  const std::int32_t* columns = A.col_indices().read(ctx.host_tag());
  const std::int64_t block_cols = detail::ceil_div(A.cols(), A.block_dim());
  const auto fault = [&](std::int64_t i) { return fault_of_block_row(columns, i, A.width(), block_cols); };
  const std::int64_t row =
      first_fault(ctx.host_tag(), A.block_rows(), [&](std::int64_t i) { return !fault(i).empty(); });
  if (row < A.block_rows()) throw InvalidArgument(fault(row));
}

template <class T>
struct BlockedEllInstances {
  static constexpr auto list = instance<void(const BlockedEll<T>&)>(validate);
};
KRILL_INSTANTIATE(BlockedEll);
KRILL_INSTANTIATE(BlockedEllInstances);
template class BlockedEll<Half>;
template class BlockedEll<BFloat16>;
template class BlockedEllInstances<Half>;
template class BlockedEllInstances<BFloat16>;

}  // namespace krill
