// Factorizations that drop what is small, by maps of rows (Saad 2003, section 10.4.1; Ajiz and Jennings 1984).
#pragma once
#include <cmath>
#include <map>

#include "apps/verify/references/rows.hpp"
#include "sparse/factor/factorization.hpp"

namespace krill::apps::verify {

namespace detail {

template <class T>
using RowMap = std::map<std::int32_t, T>;

/// As kernels round it.
template <class T>
double size_of(const T& a) {
  if constexpr (is_complex<T>)
    return std::hypot(double{a.re}, double{a.im});
  else
    return std::fabs(double{a});
}

/// Beside the p largest of the places: the places of the rest, of equal ones those on the right.
template <class T>
std::vector<std::int32_t> beyond_largest(const RowMap<T>& row, std::int32_t p) {
  std::vector<std::int32_t> order;
  for (const auto& entry : row) order.push_back(entry.first);
  std::ranges::stable_sort(order,
                           [&](std::int32_t a, std::int32_t b) { return size_of(row.at(a)) > size_of(row.at(b)); });
  order.erase(order.begin(), order.begin() + std::min<std::ptrdiff_t>(p, std::ssize(order)));
  std::ranges::sort(order);
  return order;
}

template <class T>
long double norm_from(const Rows<T>& A, std::int32_t i, std::int32_t first) {
  long double sum = 0;
  for (std::size_t k = A.begin(i); k < A.end(i); ++k)
    if (A.col[k] >= first) sum += static_cast<long double>(size_of(A.value[k])) * size_of(A.value[k]);
  return std::sqrt(sum);
}

template <class T>
void append(Rows<T>& rows, const RowMap<T>& row) {
  for (const auto& [col, value] : row) rows.col.push_back(col), rows.value.push_back(value);
}

}  // namespace detail

/// ILUT: L without its diagonal, and U, in one. T: as kernels compute.
template <class T>
Rows<T> ilut(const Rows<T>& A, const DropOptions& o) {
  std::vector<detail::RowMap<T>> upper;
  Rows<T> factor{A.rows, A.cols, {0}, {}, {}};
  for (std::int32_t i = 0; i < A.rows; ++i) {
    const long double tolerance = o.tolerance * detail::norm_from(A, i, 0);
    const auto is_small = [&](const T& value) { return value == T(0) || detail::size_of(value) < tolerance; };
    detail::RowMap<T> w{{i, T(0)}}, left, right;
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) w[A.col[k]] = A.value[k];
    for (auto at = w.begin(); at->first < i; ++at) {
      const auto& pivots = upper[as_size(at->first)];
      if (is_small(at->second)) continue;
      const T multiplier = at->second / pivots.at(at->first);
      left[at->first] = multiplier;
      for (const auto& [col, value] : pivots)
        if (col > at->first) w[col] = (w.contains(col) ? w[col] : T(0)) - multiplier * value;
    }
    for (const auto& [col, value] : w)
      if (col > i && !is_small(value)) right[col] = value;
    for (const std::int32_t col : detail::beyond_largest(left, o.max_row_entries)) left.erase(col);
    for (const std::int32_t col : detail::beyond_largest(right, o.max_row_entries)) right.erase(col);
    right[i] = w.at(i);
    detail::append(factor, left), detail::append(factor, right);
    factor.offsets.push_back(factor.col.size());
    upper.push_back(std::move(right));
  }
  return factor;
}

/// ICT of the Hermitian matrix whose lower triangle A stores, its diagonal multiplied by 1 + shift: L.
template <class T>
Rows<T> ict(const Rows<T>& A, const DropOptions& o, double shift) {
  using R = real_t<T>;
  const Rows<T> mirror = transposed(A, Op::adjoint);  // right of the diagonal: what A has left of it
  std::vector<R> diagonal;
  for (std::int32_t k = 0; k < A.rows; ++k) diagonal.push_back(real(A.at(k, k)) * static_cast<R>(1 + shift));
  std::vector<detail::RowMap<T>> upper;
  for (std::int32_t k = 0; k < A.rows; ++k) {
    const long double tolerance = o.tolerance * detail::norm_from(mirror, k, k);
    detail::RowMap<T> w;
    for (std::size_t e = mirror.begin(k); e < mirror.end(k); ++e)
      if (mirror.col[e] > k) w[mirror.col[e]] = mirror.value[e];
    for (const detail::RowMap<T>& above : upper) {
      const auto found = above.find(k);
      if (found == above.end()) continue;
      for (auto at = std::next(found); at != above.end(); ++at)
        w[at->first] = (w.contains(at->first) ? w[at->first] : T(0)) - conjugated(found->second) * at->second;
    }
    std::vector<std::int32_t> small;
    for (const auto& [col, value] : w)
      if (value == T(0) || detail::size_of(value) < tolerance) small.push_back(col);
    const auto drop = [&](std::int32_t col) {
      R &mine = diagonal[as_size(k)], &other = diagonal[as_size(col)];
      if (o.compensates && mine > 0 && other > 0 && !(w.at(col) == T(0))) {
        const auto size = static_cast<R>(detail::size_of(w.at(col)));
        const R ratio = std::sqrt(mine / other);
        mine += size * ratio, other += size / ratio;
      }
      w.erase(col);
    };
    std::ranges::for_each(small, drop);
    std::ranges::for_each(detail::beyond_largest(w, o.max_row_entries), drop);
    const T pivot = T(std::sqrt(diagonal[as_size(k)]));
    for (auto& [col, value] : w) {
      value = value / pivot;
      const double size = squared(value);
      diagonal[as_size(col)] -= static_cast<R>(size);
    }
    w[k] = pivot;
    upper.push_back(std::move(w));
  }
  Rows<T> rows{A.rows, A.cols, {0}, {}, {}};
  for (const detail::RowMap<T>& row : upper) detail::append(rows, row), rows.offsets.push_back(rows.col.size());
  return transposed(rows, Op::adjoint);
}

}  // namespace krill::apps::verify
