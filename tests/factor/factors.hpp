// Factors as the judge sees them.
#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "krill/sparse/factor/incomplete.hpp"
#include "tests/support/oracle.hpp"

namespace krill::test {

inline constexpr Factorization both_kinds[] = {Factorization::ilu0, Factorization::ic0};

/// A scalar as the judge sees it, or as kernels do.
template <class V, class T>
V as(T value) {
  if constexpr (std::is_same_v<V, Z>)
    return Z(value);
  else
    return std::bit_cast<V>(value);
}

/// Rows of a matrix by column.
template <class V>
using Rows = std::vector<std::map<std::int32_t, V>>;

template <class V, class T, class Offset>
Rows<V> rows_of(const Csr<T, Offset>& A) {
  Rows<V> rows(static_cast<std::size_t>(A.rows()));
  const auto offsets = A.row_offsets().host();
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[i]); k < static_cast<std::size_t>(offsets[i + 1]); ++k)
      rows[i][A.col_indices().host()[k]] = as<V>(A.values().host()[k]);
  return rows;
}

/// The factors' product is A wherever A has an entry, to the rounding of the terms of that entry; IC(0) leaves what
/// lies right of the diagonal as it is.
template <class T, class Offset>
void expect_factors(const Csr<T, Offset>& A, const Csr<T, Offset>& factor, Factorization kind) {
  const auto a = rows_of<Z>(A), f = rows_of<Z>(factor);
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), f[i].size());
    std::size_t number = 0;
    for (const auto& [j, value] : a[i]) {
      if (a[i].size() > 200 && number++ % 29 != 0) continue;  // of long rows some: each costs a row
      const auto column = static_cast<std::size_t>(j);
      if (kind == Factorization::ic0 && column > i) {
        ASSERT_EQ(f[i].at(j), value);
        continue;
      }
      Z sum = kind == Factorization::ic0 && column == i ? Z(value.real()) : value;
      double size = std::abs(value);
      const auto subtract = [&](Z term) { sum -= term, size += std::abs(term); };
      for (const auto& [k, left] : f[i]) {
        if (k > j || static_cast<std::size_t>(k) > i) break;
        const auto row = static_cast<std::size_t>(k);
        if (kind == Factorization::ic0) {
          if (const auto found = f[column].find(k); found != f[column].end()) subtract(left * std::conj(found->second));
        } else if (row == i) {
          subtract(f[i].at(j));
        } else if (const auto found = f[row].find(j); found != f[row].end()) {
          subtract(left * found->second);
        }
      }
      // Each term is rounded a few times, and the sum as often as it has terms.
      ASSERT_LE(std::abs(sum), 8 * static_cast<double>(f[i].size() + 2) * epsilon<T>() * size) << i << ", " << j;
    }
  }
}

}  // namespace krill::test
