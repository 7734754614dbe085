// How candidates for a pivot are compared.
#pragma once
#include <limits>

#include "sparse/core/types.hpp"

namespace krill::detail {

/// How large a candidate for a pivot is: |re| + |im|. NaN is larger than all numbers, so that it is not passed over.
template <class T>
constexpr real_t<T> pivot_size(T a) {
  using R = real_t<T>;
  R size{};
  if constexpr (is_complex<T>)
    size = (a.re < R(0) ? -a.re : a.re) + (a.im < R(0) ? -a.im : a.im);
  else
    size = a < R(0) ? -a : a;
  return size == size ? size : std::numeric_limits<R>::infinity();
}

}  // namespace krill::detail
