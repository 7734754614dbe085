// The passes of periodic systems: what borders their matrices.
#pragma once
#include "sparse/banded/elimination.hpp"
#include "sparse/core/pass.hpp"

namespace krill::detail {

/// A periodic matrix of three or five diagonals, system after system; the last `half` unknowns are its border.
template <class T, int half>
struct PeriodicBands {
  BandLayout layout;
  const T* band[2 * half + 1];

  constexpr std::int32_t inner() const { return layout.rows - half; }
  /// use(row, system) of the p-th of the inner rows of all systems, in the order of memory.
  template <class Use>
  constexpr void with_inner(std::int64_t p, Use&& use) const {
    const bool across = layout.is_interleaved();
    const std::int64_t width = across ? layout.batch : inner(), far = p / width, near = p % width;
    use(static_cast<std::int32_t>(across ? far : near), across ? near : far);
  }
  /// a(i, i + k) of system j.
  constexpr T at(int k, std::int32_t i, std::int64_t j) const { return band[k + half][layout.at(i, j)]; }
  /// How far unknown `col` is from row i, by the shorter way round.
  constexpr std::int32_t way(std::int32_t i, std::int32_t col) const {
    const std::int32_t d = col - i;
    return 2 * d > layout.rows ? d - layout.rows : 2 * d < -layout.rows ? d + layout.rows : d;
  }
  /// The entry of row i and unknown `col`, 0 where bands have none.
  constexpr T entry(std::int32_t i, std::int32_t col, std::int64_t j) const {
    const std::int32_t k = way(i, col);
    return -half <= k && k <= half ? at(k, i, j) : T{};
  }
};

/// Right-hand sides: column c of what the border's unknowns are multiplied with in the other rows. Over the places of
/// the inner rows of all systems.
template <class T, int half>
struct FillBorder {
  using Sum = NoSum;
  PeriodicBands<T, half> bands;
  T* border[half];

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t p) const {
    bands.with_inner(p, [&](std::int32_t i, std::int64_t j) {
      for (int c = 0; c < half; ++c) border[c][bands.layout.at(i, j)] = bands.entry(i, bands.inner() + c, j);
    });
    return {};
  }
};

/// Row r of D times a vector of the inner unknowns.
template <class T, int half>
constexpr T border_row(const PeriodicBands<T, half>& bands, int r, std::int64_t j, const T* x) {
  const std::int32_t i = bands.inner() + r;
  T sum{};
  for (int k = -half; k <= half; ++k) {
    const std::int32_t col = i + k < bands.layout.rows ? i + k : i + k - bands.layout.rows;
    if (col < bands.inner()) sum += bands.at(k, i, j) * x[bands.layout.at(col, j)];
  }
  return sum;
}

/// S^-1 of each system, and the first row of a system that has no pivot. Over systems.
template <class T, int half>
struct InvertCorner {
  using Sum = NoSum;
  PeriodicBands<T, half> bands;
  const T* border[half];
  T* corner;
  const std::int32_t* inner_zero_rows;
  std::int32_t* zero_rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t j) const {
    // [S I] becomes [I S^-1].
    Equation<T, 2 * half> e[half];
    for (int r = 0; r < half; ++r) {
      for (int c = 0; c < half; ++c)
        e[r].entry[c] = bands.entry(bands.inner() + r, bands.inner() + c, j) - border_row(bands, r, j, border[c]);
      e[r].entry[half + r] = T(1);
    }
    std::int32_t zero_row = inner_zero_rows[j];
    for (int c = 0; c < half; ++c) {
      for (int r = c + 1; r < half; ++r) exchange_where(precedes(e[c].entry[c], e[r].entry[c]), e[c], e[r]);
      if (zero_row == no_row && no_pivot(e[c].entry[c])) zero_row = bands.inner() + c;
      const T inverse = T(1) / e[c].entry[c];
      for (T& entry : e[c].entry) entry = entry * inverse;
      for (int r = 0; r < half; ++r) {
        if (r == c) continue;
        const T factor = e[r].entry[c];
        for (int k = 0; k < 2 * half; ++k) e[r].entry[k] -= factor * e[c].entry[k];
      }
    }
    for (int r = 0; r < half; ++r)
      for (int c = 0; c < half; ++c) corner[(j * half + r) * half + c] = e[r].entry[half + c];
    zero_rows[j] = zero_row;
    return {};
  }
};

/// x_2 = S^-1 (b_2 - D y), where x has y. Over systems.
template <class T, int half>
struct SolveCorner {
  using Sum = NoSum;
  PeriodicBands<T, half> bands;
  const T *corner, *b;
  T* x;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t j) const {
    T rest[half];
    for (int r = 0; r < half; ++r) rest[r] = b[bands.layout.at(bands.inner() + r, j)] - border_row(bands, r, j, x);
    for (int r = 0; r < half; ++r) {
      T sum{};
      for (int c = 0; c < half; ++c) sum += corner[(j * half + r) * half + c] * rest[c];
      x[bands.layout.at(bands.inner() + r, j)] = sum;
    }
    return {};
  }
};

/// x_1 = y - Z x_2. Over the places of the inner rows of all systems.
template <class T, int half>
struct SubtractBorder {
  using Sum = NoSum;
  PeriodicBands<T, half> bands;
  const T* border[half];
  T* x;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t p) const {
    bands.with_inner(p, [&](std::int32_t i, std::int64_t j) {
      const std::int64_t at = bands.layout.at(i, j);
      T sum = x[at];
      for (int c = 0; c < half; ++c) sum -= border[c][at] * x[bands.layout.at(bands.inner() + c, j)];
      x[at] = sum;
    });
    return {};
  }
};

template <class T, class Where>
struct PeriodicPasses {
  using K = kernel_t<T>;
  static constexpr auto list = passes<Where, FillBorder<K, 1>, FillBorder<K, 2>, InvertCorner<K, 1>, InvertCorner<K, 2>,
                                      SolveCorner<K, 1>, SolveCorner<K, 2>, SubtractBorder<K, 1>, SubtractBorder<K, 2>>;
};

}  // namespace krill::detail
