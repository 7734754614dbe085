// The passes of solves along lines.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/core/pivot_size.hpp"
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

template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct LinePasses {
  static constexpr auto list = passes<Where, SumCouplings<T, Offset>>;
};
}  // namespace krill::detail
