// A matrix as references see it: on the host, by rows, columns ascending.
#pragma once
#include <algorithm>
#include <optional>

#include "apps/verify/references/bounded.hpp"

namespace krill::apps::verify {

/// V: T, or Bounded<T> for what was computed.
template <class V>
struct Rows {
  std::int32_t rows = 0, cols = 0;
  std::vector<std::size_t> offsets{0};
  std::vector<std::int32_t> col;
  std::vector<V> value;

  std::size_t begin(std::int32_t i) const { return offsets[as_size(i)]; }
  std::size_t end(std::int32_t i) const { return offsets[as_size(i) + 1]; }

  /// The entry's place; nothing where none is stored. O(log row length).
  std::optional<std::size_t> find(std::int32_t i, std::int32_t j) const {
    const auto first = col.begin() + static_cast<std::ptrdiff_t>(begin(i)),
               last = col.begin() + static_cast<std::ptrdiff_t>(end(i));
    const auto found = std::lower_bound(first, last, j);
    if (found == last || *found != j) return std::nullopt;
    return static_cast<std::size_t>(found - col.begin());
  }
  /// The entry itself, zero where none is stored.
  V at(std::int32_t i, std::int32_t j) const {
    const auto place = find(i, j);
    return place ? value[*place] : V(0);
  }
  /// use(i, place) for all entries, row after row.
  template <class F>
  void for_places(F&& use) const {
    for (std::int32_t i = 0; i < rows; ++i)
      for (std::size_t k = begin(i); k < end(i); ++k) use(i, k);
  }
};

/// One entry of a matrix.
template <class T>
struct Entry {
  std::int32_t row = 0, col = 0;
  T value{};
};

/// The same pattern, change(value) in the place of every value.
template <class V, class F>
auto with_values(const Rows<V>& A, F&& change) {
  Rows<std::decay_t<decltype(change(A.value[0]))>> made{A.rows, A.cols, A.offsets, A.col, {}};
  made.value.reserve(A.value.size());
  for (const V& value : A.value) made.value.push_back(change(value));
  return made;
}

/// A with the zeros that fill up blocks of dim x dim entries, of which A has one.
template <class T>
Rows<T> with_blocks(const Rows<T>& A, std::int32_t dim) {
  Rows<T> filled{A.rows, A.cols, {0}, {}, {}};
  for (std::int32_t i = 0; i < A.rows; ++i) {
    std::vector<std::int32_t> block_cols;
    for (std::int32_t neighbor = i / dim * dim; neighbor < std::min(A.rows, i / dim * dim + dim); ++neighbor)
      for (std::size_t k = A.begin(neighbor); k < A.end(neighbor); ++k) block_cols.push_back(A.col[k] / dim);
    std::ranges::sort(block_cols);
    const auto repeated = std::ranges::unique(block_cols);
    block_cols.erase(repeated.begin(), repeated.end());
    for (const std::int32_t J : block_cols)
      for (std::int32_t j = J * dim; j < std::min(A.cols, J * dim + dim); ++j)
        filled.col.push_back(j), filled.value.push_back(A.at(i, j));
    filled.offsets.push_back(filled.col.size());
  }
  return filled;
}

/// op(A), by counting.
template <class V>
Rows<V> transposed(const Rows<V>& A, Op op) {
  if (op == Op::none) return A;
  Rows<V> t{A.cols, A.rows, std::vector<std::size_t>(as_size(A.cols) + 1), std::vector<std::int32_t>(A.col.size()),
            std::vector<V>(A.col.size())};
  for (const std::int32_t j : A.col) ++t.offsets[as_size(j) + 1];
  for (std::size_t j = 0; j < as_size(A.cols); ++j) t.offsets[j + 1] += t.offsets[j];
  std::vector<std::size_t> next(t.offsets.begin(), t.offsets.end() - 1);
  A.for_places([&](std::int32_t i, std::size_t k) {
    const std::size_t place = next[as_size(A.col[k])]++;
    t.col[place] = i;
    t.value[place] = op == Op::adjoint ? conjugated(A.value[k]) : A.value[k];
  });
  return t;
}

}  // namespace krill::apps::verify
