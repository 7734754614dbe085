// The pass of the conversion to block tridiagonal matrices.
#pragma once
#include "sparse/convert/banded_passes.hpp"
#include "sparse/formats/block_tridiagonal.hpp"

namespace krill::detail {

/// Whether there is no place for a block of block row p.
constexpr bool is_outside(const BandLayout& l, std::int64_t p, std::int64_t col, OutsideBands outside) {
  const BandPlace place(l, p, col);
  return !place.in_bands(1) && place.refused(outside);
}

/// Entry e of all three block diagonals, zeros where `from` has no block. The sum is the first block row with a block
/// that may not be left out. Over the entries of a block diagonal.
template <class T>
struct FillBlockTridiagonal {
  using Sum = FirstIndex;
  BsrView<const T> from;
  BlockTridiagonalView<T> to;
  OutsideBands outside;
  FirstIndex* refused;

  constexpr bool begin() const { return true; }
  constexpr FirstIndex entry(std::int64_t e) const {
    const std::int64_t entries = from.blocks.size(), p = e / entries;
    const auto in_block = static_cast<std::int32_t>(e % entries);
    const std::int64_t at = from.blocks.at(in_block / to.size, in_block % to.size);
    T kept[3] = {};
    FirstIndex first;
    for (std::int32_t k = from.row_begins[p]; k < from.row_ends[p]; ++k) {
      const BandPlace place(to.layout, p, from.col_indices[k]);
      if (place.in_bands(1))
        kept[place.steps + 1] = from.values[k * entries + at];
      else if (place.refused(outside))
        first.value = p;
    }
    to.lower[e] = kept[0], to.diagonal[e] = kept[1], to.upper[e] = kept[2];
    return first;
  }
  constexpr void finish(const FirstIndex& first) const { *refused = first; }
};

}  // namespace krill::detail
