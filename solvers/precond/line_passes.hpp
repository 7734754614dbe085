// The passes of solves along lines.
#pragma once
#include "sparse/core/first_row.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/core/pivot_size.hpp"
#include "sparse/formats/banded.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// Moduli of the entries off the diagonal: of neighbors along each direction of a grid, and of all.
struct Couplings {
  double along[3] = {}, all = 0;
  constexpr Couplings& operator+=(const Couplings& other) {
    for (int d = 0; d < 3; ++d) along[d] += other.along[d];
    return all += other.all, *this;
  }
};

/// Over the rows of A, which are the points x + nx (y + ny z) of a grid.
template <class T, class Offset>
struct SumCouplings {
  using Sum = Couplings;
  CsrView<const T, Offset> a;
  std::int64_t nx, ny;
  Couplings* result;

  constexpr bool begin() const { return true; }
  constexpr Couplings entry(std::int64_t p) const {
    Couplings sum;
    a.for_entries(static_cast<std::int32_t>(p), [&](std::int32_t col, const T& value) {
      if (col == p) return;
      const auto size = static_cast<double>(pivot_size(value));
      const std::int64_t from = p < col ? p : col, to = p < col ? col : p;
      sum.all += size;
      if (to - from == 1 && to % nx != 0)
        sum.along[0] += size;
      else if (to - from == nx && to / nx % ny != 0)
        sum.along[1] += size;
      else if (to - from == nx * ny)
        sum.along[2] += size;
    });
    return sum;
  }
  constexpr void finish(const Couplings& sum) const { *result = sum; }
};

/// The first rows that are not diagonally dominant within their system, and whose diagonal entry is not positive.
struct WeakRows {
  FirstRow not_dominant, not_positive;
  constexpr WeakRows& operator+=(const WeakRows& other) {
    return not_dominant += other.not_dominant, not_positive += other.not_positive, *this;
  }
};

/// Over the rows of all systems, by their place. Moduli are those of pivots, up to a factor that a row may be dominant
/// by and is not called so.
template <class T>
struct FindWeakRows {
  using Sum = WeakRows;
  const T *dl, *d, *du;
  WeakRows* result;

  static constexpr real_t<T> greater_part(const T& value) {
    if constexpr (is_complex<T>) {
      const real_t<T> re = value.re < 0 ? -value.re : value.re, im = value.im < 0 ? -value.im : value.im;
      return re > im ? re : im;
    } else {
      return value < 0 ? -value : value;
    }
  }
  static constexpr real_t<T> real_part(const T& value) {
    if constexpr (is_complex<T>)
      return value.re;
    else
      return value;
  }

  constexpr bool begin() const { return true; }
  constexpr WeakRows entry(std::int64_t p) const {
    const auto row = static_cast<std::int32_t>(p);
    WeakRows weak;
    if (!(greater_part(d[p]) >= pivot_size(dl[p]) + pivot_size(du[p]))) weak.not_dominant.row = row;
    if (!(real_part(d[p]) > 0)) weak.not_positive.row = row;
    return weak;
  }
  constexpr void finish(const WeakRows& weak) const { *result = weak; }
};

template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct LinePasses {
  static constexpr auto list = passes<Where, SumCouplings<T, Offset>>;
};
template <class Value, class Where, class T = kernel_t<Value>>
struct BandPasses {
  static constexpr auto list = passes<Where, FindWeakRows<T>>;
};

}  // namespace krill::detail
