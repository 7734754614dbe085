#include "krill/sparse/convert/to_format.hpp"

#include <limits>

#include "krill/sparse/core/instantiate.hpp"

namespace krill {
namespace {

template <class T, class Offset>
Blocking blocking(Context& ctx, const Csr<T, Offset>& A, const FormatLayout& layout) {
  const BlockOrder order = layout.block_columns ? BlockOrder::column_major : BlockOrder::row_major;
  const std::int32_t rows = layout.block_rows ? layout.block_rows : best_block_dim(ctx, A);
  return {rows, layout.block_cols ? layout.block_cols : rows, order};
}

}  // namespace

template <class T, class Offset>
AnyMatrix<T> convert_format(Context& ctx, const Csr<T, Offset>& A, Format format, const FormatLayout& layout) {
  switch (format) {
    case Format::coo:
      return to_coo(ctx, A);
    case Format::coo_aos:
      return to_coo_aos(ctx, to_coo(ctx, A));
    case Format::csc:
      return to_csc(ctx, A);
    case Format::bsr:
    case Format::gebsr:
      return to_bsr(ctx, A, blocking(ctx, A, layout));
    case Format::bsrx:
      return to_bsrx(ctx, to_bsr(ctx, A, blocking(ctx, A, layout)));
    case Format::gebsc:
      return to_gebsc(ctx, to_bsr(ctx, A, blocking(ctx, A, layout)));
    case Format::ell:
      return to_ell(ctx, A);
    case Format::sell:
    case Format::hll:
      return to_sell(ctx, A, {layout.slice_rows, layout.sort_window});
    case Format::hyb:
      return layout.ell_width < 0 ? to_hyb(ctx, A) : to_hyb(ctx, A, HybPartition::user, layout.ell_width);
    case Format::dia:
      return to_dia(ctx, A);
    case Format::hdia:
      return to_dia(ctx, A, layout.hack_rows);
    case Format::blocked_ell:
      return to_blocked_ell(ctx, A, blocking(ctx, A, layout).row_dim);
    case Format::automatic:
    case Format::csr:
      break;
  }
  return A.clone();
}

template <class T>
AnyMatrix<T> to_format(Context& ctx, AnyMatrix<T> A, Format format, const FormatLayout& layout) {
  const bool in_csr = std::visit([]<class Matrix>(const Matrix&) { return is_csr<Matrix>; }, A);
  if (!in_csr) A = to_csr(ctx, A);
  if (format == Format::csr || format == Format::automatic) return A;
  return std::visit(
      [&]<class Matrix>(const Matrix& a) -> AnyMatrix<T> {
        if constexpr (is_csr<Matrix>)
          return convert_format(ctx, a, format, layout);
        else
          throw InvalidArgument("to_format: to_csr gave no csr");
      },
      A);
}

template <class T, class Offset>
std::int32_t best_block_dim(Context& ctx, const Csr<T, Offset>& A) {
  const auto blocks = estimated_squares(ctx, A);
  std::int32_t best = least_square;
  auto least = std::numeric_limits<std::size_t>::max();
  for (std::int32_t dim = least_square; dim <= largest_square; ++dim) {
    const std::size_t bytes = bsr_bytes<T>(A.rows(), blocks[static_cast<std::size_t>(dim)], {dim, dim});
    if (bytes < least) least = bytes, best = dim;
  }
  return best;
}

#define INSTANTIATE(T) template AnyMatrix<T> to_format(Context&, AnyMatrix<T>, Format, const FormatLayout&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T, Offset)                                           \
  template std::int32_t best_block_dim(Context&, const Csr<T, Offset>&); \
  template AnyMatrix<T> convert_format(Context&, const Csr<T, Offset>&, Format, const FormatLayout&);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
