#include "krill/sparse/spmv/csr_tiles.hpp"

#include <algorithm>
#include <cmath>

#include "krill/sparse/core/instantiate.hpp"

namespace krill {

// Measured on an H200 with doubles. Stencils with short rows are fastest where copies in the background bring 256 rows
// at a time and each thread adds up one (short_mean); where rows are longer, x is read at random rather, and products
// in the order of entries keep more reads in flight; from long_mean on, lanes that share a row need no shared memory.
CsrTiling CsrTiling::of(std::int32_t rows, std::int64_t nnz) {
  constexpr double short_mean = 10, long_mean = 20;
  const double mean = static_cast<double>(nnz) / std::max(rows, 1);
  if (mean < short_mean) {
    constexpr double rows_a_tile = 0.97 * 256;  // so that few tiles have more than 256
    return {CsrKernel::staged, 0, std::max(256, static_cast<std::int32_t>(rows_a_tile * mean)), 64};
  }
  if (mean < long_mean) return {CsrKernel::products, 0, 1792, 1024};
  constexpr double entries_a_lane = 10, most_mean = 1024;
  std::int32_t lanes = 4;
  while (lanes < 32 && entries_a_lane * lanes < mean) lanes *= 2;
  const double round = 256.0 / lanes * std::min(mean, most_mean);  // entries that a block takes at a time
  const double rounds = std::clamp(std::floor(static_cast<double>(nnz) / (round * 1024)), 1.0, 4.0);
  return {CsrKernel::lanes, lanes, static_cast<std::int32_t>(rounds * round),
          static_cast<std::int32_t>(2 * std::clamp(mean, 512.0, most_mean))};
}

// A round is what the lanes of a thread block take at a time.
CsrTiling CsrTiling::of(std::int32_t block_rows, std::int64_t stored_blocks, const Blocking& blocks,
                        std::size_t value_bytes) {
  constexpr double pieces_a_lane = 4, most_mean = 1024, least_bytes = 8192;
  const double mean = static_cast<double>(stored_blocks) / std::max(block_rows, 1);
  const double pieces = mean * blocks.col_dim / values_a_piece(blocks, value_bytes);
  // by columns, neighboring rows lie side by side: a warp has so many rows that they fill whole sectors
  const auto most_lanes = blocks.order == BlockOrder::row_major ? 32 : static_cast<std::int32_t>(value_bytes);
  std::int32_t lanes = 1;
  while (lanes < most_lanes && pieces_a_lane * lanes < pieces) lanes *= 2;
  const double block_bytes = static_cast<double>(blocks.size()) * static_cast<double>(value_bytes);
  const double slack = std::ceil(std::max(2 * std::min(mean, most_mean), least_bytes / block_bytes));
  const double round = 256.0 / (lanes * blocks.row_dim) * std::min(mean, most_mean);
  const double rounds = std::clamp(std::floor(static_cast<double>(stored_blocks) / (round * 1024 + 1)), 1.0, 4.0);
  return {CsrKernel::lanes, lanes, static_cast<std::int32_t>(std::max(rounds * round, 2 * slack)),
          static_cast<std::int32_t>(slack)};
}

template <class Offset>
CsrTiles::CsrTiles(Context& ctx, const CsrTiling& tiling, std::int32_t rows, std::int64_t nnz,
                   const Array<Offset>& row_offsets, std::size_t sum_bytes) {
  if (!ctx.on_cuda()) return;
  tiling_ = tiling;
  const std::int64_t count = tiling_.count(rows, nnz);
  tiles_ = Array<CsrTile>(count + 1, "csr tiles");
  sums_ = Array<unsigned char>(2 * count * static_cast<std::int64_t>(sum_bytes), "csr tile sums");
  arrived_ = Array<unsigned>(count, "csr tiles arrived");
  long_starts_ = Array<std::int32_t>(count + 2, "csr long row counts");
  long_rows_ = Array<std::int32_t>(tiling_.most_long_rows(nnz), "csr long rows");
  ctx.dispatch([&]<class Where>(const Where& where) {
    if constexpr (std::is_same_v<Where, Cuda>)
      find_tiles(where, rows, nnz, row_offsets.read(where), IndexBase::zero,
                 {tiling_, static_cast<std::int32_t>(count), tiles_.write(where), sums_.write(where),
                  arrived_.write(where), long_starts_.write(where), long_rows_.write(where)});
  });
}

template CsrTiles::CsrTiles(Context&, const CsrTiling&, std::int32_t, std::int64_t, const Array<std::int32_t>&,
                            std::size_t);
template CsrTiles::CsrTiles(Context&, const CsrTiling&, std::int32_t, std::int64_t, const Array<std::int64_t>&,
                            std::size_t);

}  // namespace krill
