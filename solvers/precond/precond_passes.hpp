// The passes of preconditioners.
#pragma once
#include "solvers/bad_row.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/core/types.hpp"

namespace krill::detail {

/// d_i = 1 / d_i, and the first that is zero or not finite. Moves 2 n values.
template <class T>
struct InvertDiagonal {
  using Sum = BadRow;
  T* d;
  BadRow* bad;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const T value = d[i];
    d[i] = T(1) / value;
    const bool is_zero = value == T(0);
    if (!is_zero && is_finite(value)) return {};
    return {static_cast<std::int32_t>(i), is_zero};
  }
  constexpr void finish(const Sum& sum) const { *bad = sum; }
};

/// z = conj(d) .* r. Moves 3 n values.
template <class T>
struct ScaleConjugate {
  using Sum = NoSum;
  const T *d, *r;
  T* z;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return z[i] = conj(d[i]) * r[i], NoSum{}; }
};

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct DiagonalPasses {
  static constexpr auto list = passes<Where, InvertDiagonal<T>, ScaleConjugate<T>>;
};

}  // namespace krill::detail
