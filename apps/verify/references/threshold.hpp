// Factorizations that drop what is small, by maps of rows (Saad 2003, sections 10.4.1 and 10.4.4; Ajiz and Jennings
// 1984).
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

/// What ILUT makes.
template <class T>
struct DroppedLu {
  Rows<T> factor;                     ///< L without its diagonal, and U, in one
  std::vector<std::int32_t> columns;  ///< of A, in the order that pivoting gave them
};

/// ILUT, with pivoting ILUTP. T: as kernels compute.
template <class T>
DroppedLu<T> ilut(const Rows<T>& A, const DropOptions& o) {
  std::vector<std::int32_t> columns(as_size(A.cols)), places(as_size(A.cols));
  for (std::int32_t j = 0; j < A.cols; ++j) columns[as_size(j)] = places[as_size(j)] = j;
  std::vector<detail::RowMap<T>> lower, upper;  // of U by columns of A, which go on moving
  for (std::int32_t i = 0; i < A.rows; ++i) {
    const long double tolerance = o.tolerance * detail::norm_from(A, i, 0);
    const auto is_small = [&](const T& value) { return value == T(0) || detail::size_of(value) < tolerance; };
    detail::RowMap<T> w{{i, T(0)}}, left, right, by_column;  // by places
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) w[places[as_size(A.col[k])]] = A.value[k];
    for (auto at = w.begin(); at->first < i; ++at) {
      const auto& pivots = upper[as_size(at->first)];
      if (is_small(at->second)) continue;
      const std::int32_t pivot = columns[as_size(at->first)];
      const T multiplier = at->second / pivots.at(pivot);
      left[at->first] = multiplier;
      for (const auto& [col, value] : pivots) {
        const std::int32_t place = places[as_size(col)];
        if (col != pivot) w[place] = (w.contains(place) ? w[place] : T(0)) - multiplier * value;
      }
    }
    std::int32_t best = i;
    for (const auto& [place, value] : w)
      if (place > i && detail::size_of(value) > (best == i ? 0 : detail::size_of(w.at(best)))) best = place;
    if (best > i && detail::size_of(w.at(best)) * o.pivoting > detail::size_of(w.at(i))) {
      std::swap(w.at(i), w.at(best));
      std::swap(columns[as_size(i)], columns[as_size(best)]);
      for (const std::int32_t place : {i, best}) places[as_size(columns[as_size(place)])] = place;
    }
    for (const auto& [place, value] : w)
      if (place > i && !is_small(value)) right[place] = value;
    for (const std::int32_t place : detail::beyond_largest(left, o.max_row_entries)) left.erase(place);
    for (const std::int32_t place : detail::beyond_largest(right, o.max_row_entries)) right.erase(place);
    right[i] = w.at(i);
    for (const auto& [place, value] : right) by_column[columns[as_size(place)]] = value;
    lower.push_back(std::move(left)), upper.push_back(std::move(by_column));
  }
  Rows<T> factor{A.rows, A.cols, {0}, {}, {}};
  for (std::size_t i = 0; i < upper.size(); ++i) {
    detail::RowMap<T> right;
    for (const auto& [col, value] : upper[i]) right[places[as_size(col)]] = value;
    detail::append(factor, lower[i]), detail::append(factor, right);
    factor.offsets.push_back(factor.col.size());
  }
  return {std::move(factor), std::move(columns)};
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
