// New values between zeros.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/core/types.hpp"

namespace krill::detail {

/// to = the values of A, and zeros where it has no entry. Over the entries of the filled matrix.
template <class T, class Offset>
struct FillWithZeros {
  using Sum = NoSum;
  const T* values;
  const Offset* sources;  ///< of each entry, that of A, or -1
  T* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return to[k] = sources[k] < 0 ? T{} : values[sources[k]], NoSum{}; }
};

}  // namespace krill::detail
