// Matrices in odd shapes, and rows for ranks.
#pragma once
#include "sparse/parallel/row_partition.hpp"
#include "tests/support/random.hpp"

namespace krill::test {

/// n rows in about equal numbers; ranks beyond n have none.
inline RowPartition even(std::int64_t n, int ranks) {
  std::vector<std::int64_t> offsets;
  for (int r = 0; r <= ranks; ++r) offsets.push_back(n * r / ranks);
  return RowPartition(std::move(offsets));
}

template <class T>
Csr<T> from_dense(std::int32_t n, auto&& is_entry) {
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j)
      if (is_entry(i, j)) columns.push_back(j), values.push_back(T(1.0f + 0.25f * float(i) - 0.5f * float(j)));
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  return Csr<T>(n, Array(std::move(offsets)), Array(std::move(columns)), Array<T>(std::move(values)));
}

/// Rows that no number of ranks divides, more ranks than rows, one row, no neighbors, a dense row and column across all
/// ranks, empty rows, all rows everyone's neighbors.
template <class T>
std::vector<Csr<T>> odd_shapes() {
  std::vector<Csr<T>> matrices;
  matrices.push_back(random_dominant<T>(21, 101, 6));
  matrices.push_back(random_dominant<T>(22, 3, 2));
  matrices.push_back(from_dense<T>(1, [](auto, auto) { return true; }));
  matrices.push_back(from_dense<T>(30, [](auto i, auto j) { return i == j; }));
  matrices.push_back(from_dense<T>(30, [](auto i, auto j) { return i == j || i == 17 || j == 17; }));
  matrices.push_back(from_dense<T>(30, [](auto i, auto j) { return i % 3 == 0 && j % 7 == 1; }));
  matrices.push_back(from_dense<T>(20, [](auto, auto) { return true; }));
  return matrices;
}

}  // namespace krill::test
