#include "sparse/formats/bsr.hpp"

#include <fmt/format.h>

#include "sparse/core/half.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/formats/first_fault.hpp"

namespace krill {

using namespace detail;
namespace {

void check_blocks(const char* what, const Blocking& blocks, std::int64_t found_blocks, std::int64_t values) {
  require_range(fmt::format("{}: row_dim of a block", what), blocks.row_dim, 1, largest_block_dim);
  require_range(fmt::format("{}: col_dim of a block", what), blocks.col_dim, 1, largest_block_dim);
  require_size(fmt::format("{}: values ({} blocks of {} x {})", what, found_blocks, blocks.row_dim, blocks.col_dim),
               values, found_blocks * blocks.size());
}

/// What is wrong with block row i, empty where nothing is.
template <class T>
std::string fault_of_block_row(const BsrView<const T>& a, std::int64_t i) {
  const auto base = static_cast<int>(a.base);
  const std::int64_t begin = a.row_begins[i] - base, end = a.row_ends[i] - base;
  const std::int64_t block_cols = detail::ceil_div(a.cols, a.blocks.col_dim);
  if (begin < 0 || begin > end || end > a.stored_blocks)
    return fmt::format("bsr: block row {} reaches from {} to {}; {} to {} were expected, in this order", i + base,
                       a.row_begins[i], a.row_ends[i], base, a.stored_blocks + base);
  for (std::int64_t k = begin; k < end; ++k) {
    if (a.col_indices[k] < base || a.col_indices[k] - base >= block_cols)
      return fmt::format("bsr: col_indices[{}] = {} in block row {} lies outside {} to {}", k, a.col_indices[k],
                         i + base, base, block_cols - 1 + base);
    if (k > begin && a.col_indices[k - 1] >= a.col_indices[k])
      return fmt::format(
          "bsr: col_indices[{}] = {} in block row {} follows {}; block columns ascend strictly in each block row", k,
          a.col_indices[k], i + base, a.col_indices[k - 1]);
  }
  return {};
}

/// In plain BSR a block row begins where the last one ended, from the first block to the last.
template <class T>
void require_closed(const Bsr<T>& A) {
  const auto offsets = A.row_offsets().host();
  if (offsets.front() != 0)
    throw InvalidArgument(fmt::format("bsr: row_offsets[0] is {}, 0 was expected", offsets.front()));
  if (offsets.back() != A.stored_blocks())
    throw InvalidArgument(fmt::format("bsr: row_offsets[{}] is {}, {} was expected (the number of blocks)",
                                      offsets.size() - 1, offsets.back(), A.stored_blocks()));
}

}  // namespace

template <class T>
Bsr<T>::Bsr(std::int64_t rows, std::int64_t cols, Blocking blocks, Array<std::int32_t> row_offsets,
            Array<std::int32_t> col_indices, Array<T> values)
    : MatrixShape("bsr", rows, cols),
      blocks_(blocks),
      row_offsets_(std::move(row_offsets)),
      col_indices_(std::move(col_indices)),
      values_(std::move(values)) {
  check_blocks("bsr", blocks, stored_blocks(), values_.size());
  require_size("bsr: row_offsets", row_offsets_.size(), detail::ceil_div(rows, blocks.row_dim) + 1);
}

template <class T>
Bsrx<T>::Bsrx(std::int64_t rows, std::int64_t cols, Blocking blocks, Array<std::int32_t> row_begins,
              Array<std::int32_t> row_ends, Array<std::int32_t> col_indices, Array<T> values)
    : MatrixShape("bsrx", rows, cols),
      blocks_(blocks),
      row_begins_(std::move(row_begins)),
      row_ends_(std::move(row_ends)),
      col_indices_(std::move(col_indices)),
      values_(std::move(values)) {
  check_blocks("bsrx", blocks, stored_blocks(), values_.size());
  require_size("bsrx: row_begins", row_begins_.size(), detail::ceil_div(rows, blocks.row_dim));
  require_size("bsrx: row_ends", row_ends_.size(), row_begins_.size());
}

template <class T>
void validate(const Host& host, const BsrView<const T>& a) {
  const std::int64_t row =
      first_fault(host, a.block_rows(), [&](std::int64_t i) { return !fault_of_block_row(a, i).empty(); });
  if (row < a.block_rows()) throw InvalidArgument(fault_of_block_row(a, row));
}

template <class T>
void validate(const Bsr<T>& A) {
  require_closed(A);
  const Context ctx = Context::host();
  validate(ctx.host_tag(), A.view(ctx.host_tag()));
}

template <class T>
void validate(const Bsrx<T>& A) {
  const Context ctx = Context::host();
  validate(ctx.host_tag(), A.view(ctx.host_tag()));
  const auto begins = A.row_begins().host(), ends = A.row_ends().host();
  for (std::size_t i = 1; i < begins.size(); ++i)
    if (begins[i] < ends[i - 1] && begins[i] < ends[i])
      throw InvalidArgument(
          fmt::format("bsrx: row_begins[{}] is {}, but block row {} ends at {}; no two may share a block", i, begins[i],
                      i - 1, ends[i - 1]));
}

template <class T>
void validate(const Gebsc<T>& A) {
  try {
    validate(A.transposed());
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(fmt::format("gebsc, looked at as its transpose: {}", e.what()));
  }
}

template <class T>
struct BsrInstances {
  static constexpr std::tuple list{instance<void(const Host&, const BsrView<const kernel_t<T>>&)>(validate),
                                   instance<void(const Bsr<T>&)>(validate), instance<void(const Bsrx<T>&)>(validate),
                                   instance<void(const Gebsc<T>&)>(validate)};
};
KRILL_INSTANTIATE(Bsr);
KRILL_INSTANTIATE(Bsrx);
KRILL_INSTANTIATE(BsrInstances);
template class Bsr<Half>;
template class Bsr<BFloat16>;
template class BsrInstances<Half>;
template class BsrInstances<BFloat16>;

}  // namespace krill
