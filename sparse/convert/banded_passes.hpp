// The passes of the conversion to bands.
#pragma once
#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/convert/to_banded.hpp"

namespace krill::detail {

/// Where an entry of row p lies: how many rows of its system the column is away, if it belongs to that.
struct BandPlace {
  std::int64_t steps;
  bool in_system;

  constexpr BandPlace(const BandLayout& l, std::int64_t p, std::int64_t col)
      : steps((col - p) / l.row_stride),
        in_system(steps * l.row_stride == col - p && l.row_at(p) + steps >= 0 && l.row_at(p) + steps < l.rows) {}
  constexpr bool in_bands(int most) const { return in_system && -most <= steps && steps <= most; }
  /// For an entry that no band has room for.
  constexpr bool refused(OutsideBands outside) const {
    return outside == OutsideBands::refused || (outside == OutsideBands::refused_in_systems && in_system);
  }
};

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
    const int most = to.ds ? 2 : 1;
    T kept[5] = {};
    FirstIndex first;
    from.for_entries(static_cast<std::int32_t>(p), [&](std::int32_t col, const T& value) {
      const BandPlace place(to.layout, p, col);
      if (place.in_bands(most))
        kept[place.steps + 2] = value;
      else if (place.refused(outside))
        first.value = p;
    });
    to.dl[p] = kept[1], to.d[p] = kept[2], to.du[p] = kept[3];
    if (to.ds) to.ds[p] = kept[0], to.dw[p] = kept[4];
    return first;
  }
  constexpr void finish(const FirstIndex& first) const { *refused = first; }
};

/// The first row with an entry that belongs to a column of another system, in bands whose memory goes on there. Over
/// rows.
template <class T>
struct FindBetweenSystems {
  using Sum = FirstIndex;
  BandedView<const T> a;
  FirstIndex* found;

  constexpr bool begin() const { return true; }
  constexpr FirstIndex entry(std::int64_t p) const {
    const T* const bands[] = {a.ds, a.dl, a.d, a.du, a.dw};
    FirstIndex first;
    for (int k = -2; k <= 2; ++k) {
      const std::int64_t row = a.layout.row_at(p) + k;
      if (bands[k + 2] && (row < 0 || row >= a.layout.rows) && !(bands[k + 2][p] == T(0))) first.value = p;
    }
    return first;
  }
  constexpr void finish(const FirstIndex& first) const { *found = first; }
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
