// Sums of products that all kernels round alike.
//
// Where a compiler fuses multiplications and additions by itself, it chooses which of two products it rounds, not the
// same in each kernel. On a device it is said here; the host fuses nothing.
#pragma once
#include "sparse/core/types.hpp"

namespace krill {

/// sum + a b.
template <class T>
constexpr T add_product(T sum, T a, T b) {
#ifdef __CUDA_ARCH__
  if constexpr (is_complex<T>)
    return {fma(-a.im, b.im, fma(a.re, b.re, sum.re)), fma(a.im, b.re, fma(a.re, b.im, sum.im))};
  else
    return fma(a, b, sum);
#else
  return sum + a * b;
#endif
}

/// sum + factor a.
template <class T>
constexpr T add_scaled(T sum, T a, real_t<T> factor) {
#ifdef __CUDA_ARCH__
  if constexpr (is_complex<T>)
    return {fma(a.re, factor, sum.re), fma(a.im, factor, sum.im)};
  else
    return fma(a, factor, sum);
#else
  return sum + scaled(a, factor);
#endif
}

}  // namespace krill
