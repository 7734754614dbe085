// The pass of the conversion to bands.
#pragma once
#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/convert/to_banded.hpp"

namespace krill::detail {

/// Row p of `from` into its place of each band, zeros where it has no entry. The sum is the first row with an entry
/// that may not be left out. Over rows.
template <class T, class Offset>
struct FillBands {
  using Sum = FirstIndex;
  CsrView<const T, Offset> from;
  BandedView<T> to;
  OutsideBands outside;
  FirstIndex* refused;

  constexpr bool begin() const { return true; }
  constexpr FirstIndex entry(std::int64_t p) const {
    const std::int64_t row = to.layout.row_at(p), stride = to.layout.row_stride;
    const int most = to.ds ? 2 : 1;
    T kept[5] = {};
    FirstIndex first;
    from.for_entries(static_cast<std::int32_t>(p), [&](std::int32_t col, const T& value) {
      const std::int64_t steps = (col - p) / stride;
      const bool same_system = steps * stride == col - p && row + steps >= 0 && row + steps < to.layout.rows;
      if (same_system && -most <= steps && steps <= most)
        kept[steps + 2] = value;
      else if (outside == OutsideBands::refused || (outside == OutsideBands::refused_in_systems && same_system))
        first.value = p;
    });
    to.dl[p] = kept[1], to.d[p] = kept[2], to.du[p] = kept[3];
    if (to.ds) to.ds[p] = kept[0], to.dw[p] = kept[4];
    return first;
  }
  constexpr void finish(const FirstIndex& first) const { *refused = first; }
};

/// greatest = the greatest distance of an entry from the diagonal. Over rows.
template <class T, class Offset>
struct FindBandwidth {
  using Sum = Greatest;
  CsrView<const T, Offset> from;
  Greatest* greatest;

  constexpr bool begin() const { return true; }
  constexpr Greatest entry(std::int64_t row) const {
    Greatest far;
    from.for_entries(static_cast<std::int32_t>(row),
                     [&](std::int32_t col, const T&) { far += {col > row ? col - row : row - col}; });
    return far;
  }
  constexpr void finish(const Greatest& found) const { *greatest = found; }
};

}  // namespace krill::detail
