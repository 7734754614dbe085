#include "sparse/convert/to_format.hpp"

#include <limits>

#include "sparse/convert/sort.hpp"
#include "sparse/convert/transpose.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;
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

namespace {

/// BSR of `made` blocks: their numbers are counted first.
HeldMemory to_bsr_memory(MemoryLedger& ledger, std::int64_t block_rows, std::size_t bytes) {
  const HeldMemory counts = ledger.hold<std::int64_t>(block_rows + 1);
  return ledger.hold(bytes);
}

HeldMemory to_sell_memory(MemoryLedger& ledger, std::int32_t rows, const FormatLayout& layout, std::size_t bytes) {
  if (layout.sort_window > 0) {
    const HeldMemory windows = ledger.hold<std::int32_t>(rows), lengths = ledger.hold<std::int32_t>(rows);
    sort_by_row_scratch(ledger, rows, sizeof(std::int32_t));
  }
  return ledger.hold(bytes);
}

}  // namespace

template <class T>
HeldMemory to_format_memory(MemoryLedger& ledger, const CsrSizes& A, const AnyMatrix<T>& made, Format format,
                            const FormatLayout& layout) {
  const std::size_t size = bytes(made);
  switch (format) {
    case Format::coo_aos: {
      const HeldMemory coo = ledger.hold(size);
      return ledger.hold(size);
    }
    case Format::csc:
      return transpose_memory(ledger, A);
    case Format::bsr:
    case Format::gebsr:
      return to_bsr_memory(ledger, std::get<Bsr<T>>(made).block_rows(), size);
    case Format::bsrx: {
      const HeldMemory bsr = to_bsr_memory(ledger, std::get<Bsrx<T>>(made).block_rows(), size);
      return ledger.hold(size);
    }
    case Format::gebsc: {
      const Bsr<T>& by_columns = std::get<Gebsc<T>>(made).transposed();
      const std::int32_t block_rows = detail::ceil_div(A.rows, by_columns.blocks().col_dim);
      const HeldMemory bsr = to_bsr_memory(ledger, block_rows, size);
      HeldMemory kept = ledger.hold(size);
      const HeldMemory permutation = ledger.hold<std::int32_t>(by_columns.stored_blocks());
      const CsrSizes pattern{block_rows, by_columns.block_rows(), by_columns.stored_blocks(), 0, sizeof(std::int32_t)};
      csr_transpose_scratch(ledger, pattern, true);
      return kept;
    }
    case Format::ell:
      ledger.scratch({1});  // of the longest row
      return ledger.hold(size);
    case Format::sell:
    case Format::hll:
      return to_sell_memory(ledger, A.rows, layout, size);
    case Format::hyb: {
      const HeldMemory starts = ledger.hold<std::int64_t>(A.rows + std::int64_t{1});
      ledger.scratch({1});
      return ledger.hold(size);
    }
    case Format::dia: {
      const HeldMemory diagonals = ledger.hold<std::int64_t>(A.rows + std::int64_t{A.cols} - 1);  // flags, positions
      return ledger.hold(size);
    }
    case Format::blocked_ell:
      return to_bsr_memory(ledger, detail::ceil_div(A.rows, std::get<BlockedEll<T>>(made).block_dim()), size);
    case Format::coo:
    case Format::hdia:
      return ledger.hold(size);
    case Format::automatic:
    case Format::csr:
      break;
  }
  return {};
}

template <class T, class Offset>
std::int32_t best_block_dim(Context& ctx, const Csr<T, Offset>& A) {
  const auto blocks = estimated_squares(ctx, A);
  std::int32_t best = smallest_square;
  auto least = std::numeric_limits<std::size_t>::max();
  for (std::int32_t dim = smallest_square; dim <= largest_square; ++dim) {
    const std::size_t bytes = bsr_bytes<T>(A.rows(), blocks[static_cast<std::size_t>(dim)], {dim, dim});
    if (bytes < least) least = bytes, best = dim;
  }
  return best;
}

template <class T>
struct ToFormatInstances {
  static constexpr std::tuple list{
      instance<AnyMatrix<T>(Context&, AnyMatrix<T>, Format, const FormatLayout&)>(to_format),
      instance<HeldMemory(MemoryLedger&, const CsrSizes&, const AnyMatrix<T>&, Format, const FormatLayout&)>(
          to_format_memory)};
};
KRILL_INSTANTIATE(ToFormatInstances);

template <class T, class Offset>
struct ToFormatOffsetInstances {
  static constexpr std::tuple list{
      instance<std::int32_t(Context&, const Csr<T, Offset>&)>(best_block_dim),
      instance<AnyMatrix<T>(Context&, const Csr<T, Offset>&, Format, const FormatLayout&)>(convert_format)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(ToFormatOffsetInstances);

}  // namespace krill
