// Dense vectors: the level 1 operations that everything else is made of.
// All are repeatable bitwise, asynchronous and capturable after a first run; scalars may lie on the host or the device.
// Sums of float accumulate in double. All raise ShapeMismatch.
#pragma once
#include <type_traits>

#include "sparse/core/array.hpp"

namespace krill {

/// x_i = value. Moves n values.
template <class T>
void fill(Context&, const std::type_identity_t<Scalar<T>>& value, Array<T>& x);

/// y = x. Moves 2 n values.
template <class T>
void copy(Context&, const Array<T>& x, Array<T>& y);

/// y = alpha x + beta y; beta = 0 overwrites y, NaN included. x may be y. Moves 3 n values, 2 n where beta is a host 0.
template <class T>
void axpby(Context&, const std::type_identity_t<Scalar<T>>& alpha, const Array<T>& x,
           const std::type_identity_t<Scalar<T>>& beta, Array<T>& y);

/// z = x .* y entry by entry. Operands may be the same array. Moves 3 n values.
template <class T>
void multiply(Context&, const Array<T>& x, const Array<T>& y, Array<T>& z);

/// result = x^H y, an array of one entry. Moves 2 n values.
template <class T>
void dot(Context&, const Array<T>& x, const Array<T>& y, Array<wide_t<T>>& result);

/// result = ||x||_2, an array of one entry; no scaling: entries beyond 1e154 overflow. Moves n values.
template <class T>
void norm2(Context&, const Array<T>& x, Array<double>& result);

/// result = max |x_i| (of a complex entry the larger of |re| and |im|), NaN where there is one. Moves n values.
template <class T>
void max_abs(Context&, const Array<T>& x, Array<double>& result);

}  // namespace krill
