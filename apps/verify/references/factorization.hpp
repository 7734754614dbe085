// Incomplete factorizations without fill: ILU(0) and IC(0), every entry from the equation that it stands in (Saad 2003,
// section 10.3). Numbers may be of any kind N that has products, differences and quotients: those of kernels, bounded
// ones, blocks of a matrix.
#pragma once
#include "apps/verify/references/rows.hpp"
#include "sparse/factor/factorization.hpp"

namespace krill::apps::verify {

/// The terms l_ik u_kj, k < min(i, j), of entry (i, j), for IC(0) l_ik conj(l_jk): use(place of l_ik, place of the
/// other), k ascending.
template <class V, class F>
void for_terms(const Rows<V>& A, Factorization kind, std::int32_t i, std::int32_t j, F&& use) {
  for (std::size_t left = A.begin(i); left < A.end(i) && A.col[left] < std::min(i, j); ++left) {
    const std::int32_t k = A.col[left];
    if (const auto right = kind == Factorization::ic0 ? A.find(j, k) : A.find(k, j)) use(left, *right);
  }
}

/// A number less products, one after the other.
template <class N>
struct Remainder {
  N value;
  void subtract(const N& left, const N& right) { value = value - left * right; }
  const N& result() const { return value; }
};
template <class T>
struct Remainder<Bounded<T>> {
  BoundedSum<T> sum;
  explicit Remainder(const Bounded<T>& value) { sum.add(value); }
  void subtract(const Bounded<T>& left, const Bounded<T>& right) { sum.subtract(left, right); }
  Bounded<T> result() const { return sum.result(); }
};

template <class N>
N quotient(const N& a, const N& b) {
  return a / b;
}
template <class N>
N root(const N& a) {
  return N(std::sqrt(real(a)));
}

/// Entry (i, col[place]) of L (without its diagonal of ones) or U by the other entries of `factor`: what its terms
/// leave of a_ij, and left of the diagonal that over u_jj.
template <class N>
N ilu0_entry(const Rows<N>& A, const std::vector<N>& factor, std::int32_t i, std::size_t place) {
  const std::int32_t j = A.col[place];
  Remainder<N> rest{A.value[place]};
  for_terms(A, Factorization::ilu0, i, j,
            [&](std::size_t left, std::size_t right) { rest.subtract(factor[left], factor[right]); });
  if (j >= i) return rest.result();
  const auto pivot = A.find(j, j);
  return quotient(rest.result(), pivot ? factor[*pivot] : N(0));
}

/// Entry (i, col[place]) of the L of L L^H: what its terms leave of a_ij, over l_jj, and of a_ii the root. What lies
/// right of the diagonal stays as it is.
template <class N>
N ic0_entry(const Rows<N>& A, const std::vector<N>& factor, std::int32_t i, std::size_t place) {
  const std::int32_t j = A.col[place];
  if (j > i) return A.value[place];
  Remainder<N> rest{A.value[place]};
  for_terms(A, Factorization::ic0, i, j,
            [&](std::size_t left, std::size_t right) { rest.subtract(factor[left], conjugated(factor[right])); });
  if (j == i) return root(rest.result());
  const auto pivot = A.find(j, j);
  return quotient(rest.result(), pivot ? factor[*pivot] : N(0));
}

/// The factor in A's pattern, in the order of its entries, row after row.
template <class N>
std::vector<N> ilu0(const Rows<N>& A) {
  std::vector<N> factor = A.value;
  A.for_places([&](std::int32_t i, std::size_t k) { factor[k] = ilu0_entry(A, factor, i, k); });
  return factor;
}
template <class N>
std::vector<N> ic0(const Rows<N>& A) {
  std::vector<N> factor = A.value;
  A.for_places([&](std::int32_t i, std::size_t k) { factor[k] = ic0_entry(A, factor, i, k); });
  return factor;
}
template <class N>
std::vector<N> factorize(const Rows<N>& A, Factorization kind) {
  return kind == Factorization::ilu0 ? ilu0(A) : ic0(A);
}

/// A with its diagonal multiplied by 1 + shift; of IC(0) the diagonal's real part alone.
template <class T>
Rows<Bounded<T>> shifted(const Rows<T>& A, Factorization kind, double shift) {
  Rows<Bounded<T>> s = with_values(A, [](const T& value) { return Bounded<T>(value); });
  s.for_places([&](std::int32_t i, std::size_t k) {
    if (s.col[k] != i) return;
    Bounded<T>& a = s.value[k];
    if constexpr (is_complex<T>)
      if (kind == Factorization::ic0) a.value.im = 0;
    if (shift != 0) a = {a.value * Exact<T>(1 + static_cast<long double>(shift)), 2 * gamma<T>(1) * a.greatest()};
  });
  return s;
}

/// The same factor by `sweeps` sweeps over all entries at once, A as shifted() makes it (Chow and Patel 2015). They
/// start from A itself, what is left of the diagonal divided by its column's pivot, for IC(0) by the roots.
template <class T>
BoundedVector<T> factorize_by_sweeps(const Rows<Bounded<T>>& A, Factorization kind, int sweeps) {
  BoundedVector<T> factor = A.value;
  A.for_places([&](std::int32_t i, std::size_t k) {
    const std::int32_t j = A.col[k];
    const auto pivot = A.find(j, j);
    if (!pivot || j > i) return;
    if (kind == Factorization::ic0)
      factor[k] = j == i ? root(A.value[k]) : quotient(A.value[k], root(A.value[*pivot]));
    else if (j < i)
      factor[k] = quotient(A.value[k], A.value[*pivot]);
  });
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    BoundedVector<T> next = factor;
    A.for_places([&](std::int32_t i, std::size_t k) {
      next[k] = kind == Factorization::ilu0 ? ilu0_entry(A, factor, i, k) : ic0_entry(A, factor, i, k);
    });
    factor = std::move(next);
  }
  return factor;
}

/// The product of the factors and A in A's pattern, and what lies right of IC(0)'s diagonal: |A - L U|_ij is at most
/// gamma_(k + c) (|L| |U|)_ij with k the terms of entry (i, j) (Higham 2002, theorems 9.3 and 10.3, inside of the
/// pattern). `factor` has as many entries as A.
template <class T>
Equations<T> factor_equations(const Rows<T>& A, std::span<const T> factor, Factorization kind, double shift = 0);

}  // namespace krill::apps::verify
