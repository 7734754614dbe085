#include <cmath>

#include "sparse/convert/block_passes.hpp"
#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/fill_blocks.hpp"
#include "sparse/convert/formats.hpp"
#include "sparse/convert/growth.hpp"
#include "sparse/convert/merge.hpp"
#include "sparse/convert/rows_to_csr.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;
namespace {

struct Tuning {
  static constexpr std::int64_t samples = 32'768;            ///< entries: estimates are seldom off by more than 2 %
  static constexpr std::int64_t max_counted = 16 * samples;  ///< entries up to which all are counted. Not varied.
};

void require_block(const char* what, const Blocking& blocks, std::int32_t most) {
  require_range(fmt::format("{}: row_dim of a block", what), blocks.row_dim, 1, most);
  require_range(fmt::format("{}: col_dim of a block", what), blocks.col_dim, 1, most);
}

/// Offsets of the blocks that A has in each block row.
template <class T, class Offset>
Array<std::int64_t> count_blocks(Context& ctx, const Csr<T, Offset>& A, const Blocking& blocks) {
  const std::int64_t block_rows = detail::ceil_div(A.rows(), blocks.row_dim);
  return scanned<std::int64_t>(ctx, block_rows, "block counts", [&](const auto& where, std::int64_t* counts) {
    merge_rows(where, pattern(where, A), blocks.row_dim, BlockColumn{blocks.col_dim}, CountKeys{counts});
  });
}

}  // namespace

template <class T, class Offset>
std::int64_t stored_blocks(Context& ctx, const Csr<T, Offset>& A, Blocking blocks) {
  return last_offset(ctx, count_blocks(ctx, A, blocks));
}

template <class T, class Offset>
std::array<std::int64_t, largest_square + 1> estimated_squares(Context& ctx, const Csr<T, Offset>& A) {
  std::array<std::int64_t, largest_square + 1> blocks{};
  if (A.nnz() <= Tuning::max_counted) {
    for (std::int32_t dim = smallest_square; dim <= largest_square; ++dim)
      blocks[static_cast<std::size_t>(dim)] = stored_blocks(ctx, A, {dim, dim});
    return blocks;
  }
  Array<BySquare> shares(1, "shares of blocks");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, Tuning::samples, SampleSquares<Offset>{pattern(where, A), Tuning::samples, shares.write(where)});
  });
  const double scale = static_cast<double>(A.nnz()) / Tuning::samples / SampleSquares<Offset>::whole;
  for (std::size_t dim = smallest_square; dim <= largest_square; ++dim)
    blocks[dim] = std::llround(static_cast<double>(shares.host()[0].of[dim]) * scale);
  return blocks;
}

template <class T, class Offset>
Bsr<T> to_bsr(Context& ctx, const Csr<T, Offset>& A, Blocking blocks, GrowthLimit limit) {
  require_block("bsr", blocks, largest_block_dim);
  const Array<std::int64_t> counts = count_blocks(ctx, A, blocks);
  const std::int64_t stored = last_offset(ctx, counts), block_rows = counts.size() - 1;
  require_growth("bsr", A, static_cast<double>(stored) * static_cast<double>(blocks.size() * sizeof(T)), limit,
                 fmt::format("{} blocks of {} x {} hold {} entries", stored, blocks.row_dim, blocks.col_dim, A.nnz()),
                 "smaller blocks");
  require_range("bsr: the number of blocks", stored, 0, std::numeric_limits<std::int32_t>::max());
  Array<std::int32_t> row_offsets(block_rows + 1, "bsr row_offsets"), col_indices(stored, "bsr col_indices");
  Array<T> values(stored * blocks.size(), "bsr values");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, block_rows + 1,
             ConvertOffsets<std::int64_t, std::int32_t>{counts.read(where), row_offsets.write(where)});
    merge_rows(where, pattern(where, A), blocks.row_dim, BlockColumn{blocks.col_dim},
               ListKeys{counts.read(where), col_indices.write(where)});
    const std::int32_t* offsets = row_offsets.read(where);
    const BsrView<const kernel_t<T>> shape{
        A.rows(), A.cols(), blocks, stored, offsets, offsets + 1, col_indices.read(where)};
    fill_blocks(where, A.view(where), BsrPlaces<kernel_t<T>>{shape, values.write(where)});
  });
  return {A.rows(), A.cols(), blocks, std::move(row_offsets), std::move(col_indices), std::move(values)};
}

template <class T>
Bsr<T> to_bsr(Context& ctx, const Bsr<T>& A, Blocking blocks, GrowthLimit limit) {
  const auto whole = [](const char* what, std::int64_t groups, std::int32_t dim) {
    require_range(what, groups * dim, 0, std::numeric_limits<std::int32_t>::max());
    return static_cast<std::int32_t>(groups * dim);
  };
  const Blocking& from = A.blocks();
  const std::int32_t rows = whole("bsr: rows of whole blocks", A.block_rows(), from.row_dim);
  const std::int32_t cols =
      whole("bsr: columns of whole blocks", detail::ceil_div(A.cols(), from.col_dim), from.col_dim);
  const auto entries = rows_to_csr<T, std::int64_t>(ctx, rows, cols, [&](const auto& where) {
    auto padded = A.view(where);
    padded.rows = rows, padded.cols = cols;
    return padded;
  });
  return to_bsr(ctx, entries, blocks, limit);
}

template <class T, class Offset>
BlockedEll<T> to_blocked_ell(Context& ctx, const Csr<T, Offset>& A, std::int32_t block_dim, GrowthLimit limit) {
  const Blocking blocks{block_dim, block_dim, BlockOrder::row_major};
  require_block("blocked_ell", blocks, largest_blocked_ell_dim);
  const Array<std::int64_t> counts = count_blocks(ctx, A, blocks);
  const std::int64_t block_rows = counts.size() - 1;
  const std::int64_t width = longest_row(ctx, counts), ell_cols = width * block_dim;
  require_growth("blocked_ell", A, static_cast<double>(A.rows()) * static_cast<double>(ell_cols * sizeof(T)), limit,
                 fmt::format("the fullest block row has {} blocks of {} x {}", width, block_dim, block_dim),
                 "smaller blocks, or bsr");
  Array<std::int32_t> col_indices(block_rows * width, "blocked_ell col_indices");
  Array<T> values(A.rows() * ell_cols, "blocked_ell values");
  ctx.dispatch([&](const auto& where) {
    merge_rows(where, pattern(where, A), block_dim, BlockColumn{block_dim},
               ListKeysPadded{width, BlockedEllView<T>::padding_column, col_indices.write(where)});
    const BlockedEllView<const kernel_t<T>> shape{A.rows(), A.cols(), block_dim, ell_cols, col_indices.read(where)};
    fill_blocks(where, A.view(where), BlockedEllPlaces<kernel_t<T>>{shape, values.write(where)});
  });
  return {A.rows(), A.cols(), block_dim, ell_cols, std::move(col_indices), std::move(values)};
}

template <class T>
Bsrx<T> to_bsrx(Context& ctx, const Bsr<T>& A) {
  Array<std::int32_t> begins(A.block_rows(), "bsrx row_begins"), ends(A.block_rows(), "bsrx row_ends");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.block_rows(), OpenRows{A.row_offsets().read(where), begins.write(where), ends.write(where)});
  });
  return {A.rows(),
          A.cols(),
          A.blocks(),
          std::move(begins),
          std::move(ends),
          copy_of(ctx, A.col_indices()),
          copy_of(ctx, A.values())};
}

template <class T>
Gebsc<T> to_gebsc(Context& ctx, const Bsr<T>& A) {
  const std::int64_t block_cols = detail::ceil_div(A.cols(), A.blocks().col_dim), blocks = A.stored_blocks();
  Array<std::int32_t> offsets(block_cols + 1, "gebsc col_offsets"), rows(blocks, "gebsc row_indices");
  Array<std::int32_t> permutation(blocks, "gebsc permutation");
  Array<T> values(A.nnz(), "gebsc values");
  ctx.dispatch([&](const auto& where) {
    const auto cols = static_cast<std::int32_t>(block_cols);
    csr_transpose(
        where,
        CsrView<const NoValue>{A.block_rows(), cols, blocks, A.row_offsets().read(where), A.col_indices().read(where)},
        false, CsrView<NoValue>{cols, A.block_rows(), blocks, offsets.write(where), rows.write(where)},
        permutation.write(where));
    run_pass(where, A.nnz(),
             GatherBlocks<kernel_t<T>>{A.values().read(where), permutation.read(where), A.blocks().size(),
                                       values.write(where)});
  });
  return {A.rows(), A.cols(), A.blocks(), std::move(offsets), std::move(rows), std::move(values)};
}

template <class T, class Offset>
struct ToBlocksOffsetInstances {
  static constexpr std::tuple list{
      instance<std::array<std::int64_t, largest_square + 1>(Context&, const Csr<T, Offset>&)>(estimated_squares),
      instance<Bsr<T>(Context&, const Csr<T, Offset>&, Blocking, GrowthLimit)>(to_bsr),
      instance<std::int64_t(Context&, const Csr<T, Offset>&, Blocking)>(stored_blocks),
      instance<BlockedEll<T>(Context&, const Csr<T, Offset>&, std::int32_t, GrowthLimit)>(to_blocked_ell)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(ToBlocksOffsetInstances);

template <class T>
struct ToBlocksInstances {
  static constexpr std::tuple list{instance<Bsr<T>(Context&, const Bsr<T>&, Blocking, GrowthLimit)>(to_bsr),
                                   instance<Bsrx<T>(Context&, const Bsr<T>&)>(to_bsrx),
                                   instance<Gebsc<T>(Context&, const Bsr<T>&)>(to_gebsc)};
};
KRILL_INSTANTIATE(ToBlocksInstances);

}  // namespace krill
