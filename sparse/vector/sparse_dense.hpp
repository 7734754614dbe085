// Level 1 operations of a sparse vector with a dense one (kernel catalogue 7 and 15.3), and the way between the two.
// All are repeatable bitwise; those that return nothing are asynchronous and capturable after a first run; scalars may
// lie on the host or the device. Indices are trusted: validate() them where they come from outside. All raise
// ShapeMismatch where the sizes of the vectors differ.
//
// Half and BFloat16 are there as well, but for to_sparse_vector: their scalars are float, they are computed with in
// float and rounded once.
#pragma once
#include "sparse/core/half.hpp"
#include "sparse/formats/sparse_vector.hpp"

namespace krill {

namespace detail {
/// Stored in two bytes, computed with in float.
template <class T>
concept TwoByte = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
}  // namespace detail

/// The type of the factors of vectors of T, and of what is computed with them: float for Half and BFloat16, else T.
template <class T>
using factor_t = std::conditional_t<detail::TwoByte<T>, float, T>;

/// The entries of y that are not zero (NaN is not). Moves n values and 12 n bytes. Waits once.
template <class T>
SparseVector<T> to_sparse_vector(Context&, const Array<T>& y);
/// y = x, zeros between the entries. Moves n values and nnz indices.
template <class T>
void to_dense(Context&, const SparseVector<T>& x, Array<T>& y);

/// x_k = y at x's index k (GEN-GATHER, L1-GTHR).
template <class T>
void gather(Context&, const Array<T>& y, SparseVector<T>& x);
/// The same, and y is zero there afterwards (L1-GTHRZ).
template <class T>
void gather_and_clear(Context&, Array<T>& y, SparseVector<T>& x);
/// y at x's index k = x_k; the rest of y stays (GEN-SCATTER, L1-SCTR).
template <class T>
void scatter(Context&, const SparseVector<T>& x, Array<T>& y);

/// y = alpha x + beta y, all of y (GEN-AXPBY); beta = 0 overwrites y, NaN included, and with beta = 1 from the host
/// only the entries of x are touched (L1-AXPYI).
template <class T>
void axpby(Context&, const std::type_identity_t<Scalar<factor_t<T>>>& alpha, const SparseVector<T>& x,
           const std::type_identity_t<Scalar<factor_t<T>>>& beta, Array<T>& y);

/// x_k, y_k = c x_k + s y_k, c y_k - s x_k for the entries of y that x has (GEN-ROT, L1-ROTI); nothing is conjugated.
template <class T>
void rotate(Context&, SparseVector<T>& x, Array<T>& y, const std::type_identity_t<Scalar<factor_t<T>>>& c,
            const std::type_identity_t<Scalar<factor_t<T>>>& s);

/// result = x^H y, or x^T y with Op::none (GEN-SPVV, HIP-DOTI); an array of one entry.
template <class T>
void dot(Context&, const SparseVector<T>& x, const Array<T>& y, Array<wide_t<T>>& result, Op = Op::adjoint);

/// The narrow types that there is a dot of, and those of its result.
template <class T, class Result>
concept NarrowDot = (detail::TwoByte<T> && (std::is_same_v<Result, float> || std::is_same_v<Result, T>)) ||
                    (std::is_same_v<T, std::int8_t> &&
                     (std::is_same_v<Result, float> || std::is_same_v<Result, std::int32_t>));

/// result = x^T y of narrow entries, summed in double and rounded at the end (to 16 bits by way of float).
/// std::int32_t is exact and wraps around: 131,072 products of -128 and -128 are too many.
template <class T, class Result>
requires NarrowDot<T, Result>
void dot(Context&, const SparseVector<T>& x, const Array<T>& y, Array<Result>& result);

}  // namespace krill
