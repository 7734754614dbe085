#include "sparse/spmv/csr_tiles.hpp"

#include <algorithm>
#include <cmath>

#include "sparse/core/instantiate.hpp"

namespace krill::detail {
namespace {

// Measured on an H200 with doubles (docs/performance.md, products, rows p3d256 and p2d4096, pow and rnd, s27). Stencils
// with short rows are fastest where copies in the background bring 256 rows at a time and each thread adds up one;
// where rows are longer, x is rather read at random, and products in the order of entries keep more reads in flight;
// from long_mean on, lanes that share a row need no shared memory. The sizes of tiles were not varied one by one.
struct Tuning {
  static constexpr double short_mean = 10, long_mean = 20;  // entries a row

  static constexpr std::int32_t staged_rows = 256, staged_slack = 64;
  static constexpr double staged_fill = 0.97;  // of the rows of a tile, so that few tiles have more

  static constexpr std::int32_t products_entries = 1792, products_slack = 1024;

  static constexpr double entries_a_lane = 10, pieces_a_lane = 4;  // of a mean row, at most
  static constexpr std::int32_t min_lanes = 4;                     // for CSR
  static constexpr double threads = 256, max_mean = 1024, max_rounds = 4, tiles_a_round = 1024;
  static constexpr double min_slack_mean = 512, min_slack_bytes = 8192;  // for CSR; for BSR
};

}  // namespace

CsrTiling CsrTiling::of(std::int32_t rows, std::int64_t nnz) {
  const double mean = static_cast<double>(nnz) / std::max(rows, 1);
  if (mean < Tuning::short_mean) {
    constexpr double rows_a_tile = Tuning::staged_fill * Tuning::staged_rows;
    const auto entries = static_cast<std::int32_t>(rows_a_tile * mean);
    return {CsrKernel::staged, 0, std::max(Tuning::staged_rows, entries), Tuning::staged_slack};
  }
  if (mean < Tuning::long_mean) return {CsrKernel::products, 0, Tuning::products_entries, Tuning::products_slack};
  std::int32_t lanes = Tuning::min_lanes;
  while (lanes < 32 && Tuning::entries_a_lane * lanes < mean) lanes *= 2;
  const double round = Tuning::threads / lanes * std::min(mean, Tuning::max_mean);  // entries of a block at a time
  const double rounds =
      std::clamp(std::floor(static_cast<double>(nnz) / (round * Tuning::tiles_a_round)), 1.0, Tuning::max_rounds);
  return {CsrKernel::lanes, lanes, static_cast<std::int32_t>(rounds * round),
          static_cast<std::int32_t>(2 * std::clamp(mean, Tuning::min_slack_mean, Tuning::max_mean))};
}

// A round is what the lanes of a thread block take at a time.
CsrTiling CsrTiling::of(std::int32_t block_rows, std::int64_t stored_blocks, const Blocking& blocks,
                        std::size_t value_bytes) {
  const double mean = static_cast<double>(stored_blocks) / std::max(block_rows, 1);
  const double pieces = mean * blocks.col_dim / values_a_piece(blocks, value_bytes);
  // by columns, neighboring rows lie side by side: a warp has so many rows that they fill whole sectors
  const auto max_lanes = blocks.order == BlockOrder::row_major ? 32 : static_cast<std::int32_t>(value_bytes);
  std::int32_t lanes = 1;
  while (lanes < max_lanes && Tuning::pieces_a_lane * lanes < pieces) lanes *= 2;
  const double block_bytes = static_cast<double>(blocks.size()) * static_cast<double>(value_bytes);
  const double slack = std::ceil(std::max(2 * std::min(mean, Tuning::max_mean), Tuning::min_slack_bytes / block_bytes));
  const double round = Tuning::threads / (lanes * blocks.row_dim) * std::min(mean, Tuning::max_mean);
  const double rounds = std::clamp(std::floor(static_cast<double>(stored_blocks) / (round * Tuning::tiles_a_round + 1)),
                                   1.0, Tuning::max_rounds);
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
  long_rows_ = Array<std::int32_t>(tiling_.max_long_rows(nnz), "csr long rows");
  ctx.dispatch([&]<class Where>(const Where& where) {
    if constexpr (std::is_same_v<Where, Cuda>)
      find_tiles(where, rows, nnz, row_offsets.read(where), IndexBase::zero,
                 {tiling_, static_cast<std::int32_t>(count), tiles_.write(where), sums_.write(where),
                  arrived_.write(where), long_starts_.write(where), long_rows_.write(where)});
  });
}

HeldMemory CsrTiles::memory(MemoryLedger& ledger, const CsrTiling& tiling, std::int32_t rows, std::int64_t nnz,
                            std::size_t sum_bytes) {
  if (!ledger.on_cuda()) return {};
  const std::int64_t count = tiling.count(rows, nnz);
  HeldMemory kept = ledger.hold<CsrTile>(count + 1);
  kept += ledger.hold(2 * static_cast<std::size_t>(count) * sum_bytes);
  kept += ledger.hold<unsigned>(count);
  kept += ledger.hold<std::int32_t>(count + 2);
  kept += ledger.hold<std::int32_t>(tiling.max_long_rows(nnz));
  return kept;
}

HeldMemory CsrTiles::memory(MemoryLedger& ledger, const CsrSizes& m) {
  return memory(ledger, CsrTiling::of(m.rows, m.nnz), m.rows, m.nnz, m.scalar);
}

template CsrTiles::CsrTiles(Context&, const CsrTiling&, std::int32_t, std::int64_t, const Array<std::int32_t>&,
                            std::size_t);
template CsrTiles::CsrTiles(Context&, const CsrTiling&, std::int32_t, std::int64_t, const Array<std::int64_t>&,
                            std::size_t);

}  // namespace krill::detail
