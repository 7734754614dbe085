// The passes that balance products with a matrix in CSR.
#pragma once
#include "krill/sparse/core/pass.hpp"
#include "krill/sparse/spmv/csr_parts.hpp"

namespace krill {

/// counts[b] = pieces that row block b falls into; 0 where that is one and only parts count. Over the row blocks.
template <class Offset>
struct CsrPieceCounts {
  using Sum = NoSum;
  const Offset* row_offsets;
  std::int32_t rows, part_entries;
  std::int64_t* counts;
  bool parts_only;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t b) const {
    const std::int64_t first = b * csr_row_block, past = first + csr_row_block < rows ? first + csr_row_block : rows;
    // the kernel's pieces begin at multiples of 4 entries
    const std::int64_t entries = row_offsets[past] - row_offsets[first] / 4 * 4;
    const std::int64_t pieces = entries > part_entries ? (entries + part_entries - 1) / part_entries : 1;
    counts[b] = parts_only && pieces == 1 ? 0 : pieces;
    return {};
  }
};

/// The pieces of row block b, and nobody arrived. Over the row blocks.
struct CsrPieces {
  using Sum = NoSum;
  const std::int64_t *ends, *slots;
  CsrItem* items;
  unsigned* arrived;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t b) const {
    const auto parts = static_cast<std::int32_t>(ends[b + 1] - ends[b]);
    for (std::int32_t part = 0; part < parts; ++part)
      items[ends[b] + part] = {static_cast<std::int32_t>(b), part, parts, static_cast<std::int32_t>(slots[b] + part)};
    arrived[b] = 0;
    return {};
  }
};

}  // namespace krill
