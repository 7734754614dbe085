// The references: textbooks' loops, one entry after the other, in numbers that carry their bounds, and what comparing
// with them finds. They share no code with kernels: a matrix is read out of its raw arrays.
#pragma once
#include "apps/verify/comparison.hpp"
#include "apps/verify/references/entries.hpp"
#include "apps/verify/references/factorization.hpp"
#include "apps/verify/references/products.hpp"
#include "apps/verify/references/substitution.hpp"

namespace krill::apps::verify {

/// A solution put back into op(T) x = alpha b, `triangle` as triangle_of() hands it over.
template <class T>
Comparison compare_substitution(const Rows<T>& triangle, const T& alpha, std::span<const T> b, std::span<const T> x) {
  if (x.size() != b.size()) return failed("the solution has another length");
  return compare(substitution_equations(triangle, alpha, b, x));
}

/// The product of the factors against A, in A's pattern.
template <class T>
Comparison compare_factors(const Rows<T>& A, std::span<const T> factor, Factorization kind, double shift) {
  if (factor.size() != A.value.size()) return failed("the factor has another pattern than the matrix");
  return compare(factor_equations(A, factor, kind, shift));
}

}  // namespace krill::apps::verify
