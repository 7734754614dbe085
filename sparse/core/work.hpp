// What kernels compute is counted in floating-point operations, and what they have to move in bytes: every operand
// once, whatever a cache may save or a bad access pattern may cost. Each room has a work.hpp for its kernels.
#pragma once
#include "sparse/core/types.hpp"

namespace krill {

/// A multiplication and an addition.
template <class T>
inline constexpr double multiply_add = is_complex<T> ? 8 : 2;

struct Work {
  double bytes = 0, flops = 0;
  constexpr Work& operator+=(const Work& other) {
    bytes += other.bytes, flops += other.flops;
    return *this;
  }
};

}  // namespace krill
