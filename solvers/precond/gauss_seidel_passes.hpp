// The pass of symmetric sweeps.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// The values of D / omega + L + omega D^-1 U in the pattern of A, with D^-1 at hand. Over the rows. Moves
/// nnz (2 sizeof T + 4) bytes.
template <class T, class Offset>
struct SplitSsor {
  using Sum = NoSum;
  real_t<T> omega;
  CsrView<const T, Offset> a;
  const T* inverse;
  T* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const real_t<T> one(1);
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const T value = a.values[k];
      const std::int32_t col = a.col_indices[k];
      to[k] = col < i ? value : col == i ? scaled(value, one / omega) : scaled(inverse[i] * value, omega);
    }
    return {};
  }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct GaussSeidelPasses {
  static constexpr auto list = passes<Where, SplitSsor<T, Offset>>;
};

}  // namespace krill::detail
