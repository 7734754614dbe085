// The textbook's loops, one entry after the other, in numbers that carry their bounds (bounded.hpp). They share no code
// with kernels: a matrix is taken entry by entry out of its arrays.
#pragma once
#include <optional>

#include "krill/apps/verify/comparison.hpp"
#include "krill/sparse/factor/incomplete.hpp"
#include "krill/sparse/formats/any_matrix.hpp"
#include "krill/sparse/triangular/triangle.hpp"

namespace krill::apps::verify {

/// A matrix on the host by rows, columns ascending; V: T, or Bounded<T> for what was computed.
template <class V>
struct Rows {
  std::int32_t rows = 0, cols = 0;
  std::vector<std::size_t> offsets{0};
  std::vector<std::int32_t> col;
  std::vector<V> value;

  /// The entry's place; nothing where none is stored. O(log row length).
  std::optional<std::size_t> find(std::int32_t i, std::int32_t j) const;
  /// The entry itself, zero where none is stored.
  V at(std::int32_t i, std::int32_t j) const {
    const auto place = find(i, j);
    return place ? value[*place] : V(0);
  }
  std::size_t begin(std::int32_t i) const { return offsets[static_cast<std::size_t>(i)]; }
  std::size_t end(std::int32_t i) const { return offsets[static_cast<std::size_t>(i) + 1]; }
};

template <class T, class Offset>
Rows<T> rows_of(const Csr<T, Offset>& A);
/// op(A), by counting.
template <class V>
Rows<V> transposed(const Rows<V>& A, Op op);
/// The triangle's entries alone, as op(A), ones on the diagonal where it says so, zeros where none is stored.
template <class V>
Rows<V> triangle_of(const Rows<V>& A, const Triangle&);

/// All stored entries of a matrix in any format, by row, then by column. Zeros are left out where the format fills up
/// with them (`without_zeros`).
template <class T>
std::vector<Entry<T>> entries_of(const AnyMatrix<T>& A, bool without_zeros);
template <class T>
std::vector<Entry<T>> entries_of(const Rows<T>& A, bool without_zeros);

template <class T>
using BoundedVector = std::vector<Bounded<T>>;

/// alpha op(A) x + beta y; beta = 0 does not look at y.
template <class T>
BoundedVector<T> product(Op, const T& alpha, const Rows<T>& A, const BoundedVector<T>& x, const T& beta,
                         const BoundedVector<T>& y);
/// The same with op none, alpha 1, beta 0 and a matrix of bounded numbers or not.
template <class T, class V>
BoundedVector<T> product(const Rows<V>& A, const BoundedVector<T>& x);

/// T x = alpha b by substitution, `triangle` as triangle_of() hands it over.
template <class T, class V>
BoundedVector<T> substitute(const Rows<V>& triangle, Fill solved, const T& alpha, const BoundedVector<T>& b);

/// How far x is from alpha op(T)^-1 b row by row, without a condition number: |alpha b - T x|_i is at most
/// gamma_(k + c) (|T| |x| + |alpha b|)_i with k the entries of row i and c the roundings of a quotient (Higham 2002,
/// theorem 8.5).
template <class T>
Comparison compare_substitution(const Rows<T>& triangle, const T& alpha, std::span<const T> b, std::span<const T> x);

/// ILU(0) or IC(0) of A with its diagonal multiplied by 1 + shift, row after row (Saad 2003, algorithm 10.4), in the
/// order of A's entries. IC(0) leaves what lies right of the diagonal as it is.
template <class T>
BoundedVector<T> factorize(const Rows<T>& A, Factorization, double shift);
/// The same as `sweeps` sweeps over all entries at once (Chow and Patel 2015).
template <class T>
BoundedVector<T> factorize_by_sweeps(const Rows<T>& A, Factorization, int sweeps, double shift);

/// The product of the factors against A in A's pattern: |A - L U|_ij is at most gamma_(k + c) (|L| |U|)_ij with k the
/// terms of entry (i, j) (Higham 2002, theorems 9.3 and 10.3, inside of the pattern).
template <class T>
Comparison compare_factors(const Rows<T>& A, std::span<const T> factor, Factorization, double shift);

}  // namespace krill::apps::verify
