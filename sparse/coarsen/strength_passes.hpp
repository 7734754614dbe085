// The passes that find strong entries.
#pragma once
#include <cmath>

#include "sparse/coarsen/strength.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/core/first_row.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/io/counter_random.hpp"

namespace krill::detail {

/// The root of what a row is measured by, and the first row with an entry that is not finite. Over the rows.
template <class T, class Offset>
struct MeasureStrength {
  using Sum = FirstRow;
  CsrView<const T, Offset> a;
  StrengthMeasure measure;
  double* roots;
  FirstRow* fault;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    double greatest = 0, sum = 0;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const double size = magnitude(a.values[k]);
      sum += size - size;  // NaN where it is not finite
      const bool on_diagonal = a.col_indices[k] == i;
      if (on_diagonal == (measure == StrengthMeasure::diagonal) && size > greatest) greatest = size;
    }
    roots[i] = std::sqrt(greatest);
    if (sum == 0) return {};
    return {static_cast<std::int32_t>(i)};
  }
  constexpr void finish(const Sum& sum) const { *fault = sum; }
};

/// Whether an entry is strong: roots of products neither overflow nor vanish.
template <class T, class Offset>
struct StrongEntries {
  CsrView<const T, Offset> a;
  double threshold;
  const double* roots;

  constexpr bool holds(std::int64_t i, Offset k) const {
    const std::int32_t j = a.col_indices[k];
    const double size = magnitude(a.values[k]);
    return j != i && size > 0 && size >= threshold * (roots[i] * roots[j]);
  }
};

/// Over the rows.
template <class T, class Offset>
struct CountStrong {
  using Sum = NoSum;
  StrongEntries<T, Offset> strong;
  std::int64_t* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    std::int64_t count = 0;
    for (Offset k = strong.a.row_offsets[i]; k < strong.a.row_offsets[i + 1]; ++k) count += strong.holds(i, k);
    counts[i] = count;
    return {};
  }
};

/// A sum of hashes, above the diagonal less those below it.
struct PairBalance {
  std::uint64_t value = 0;
  constexpr PairBalance& operator+=(PairBalance other) { return value += other.value, *this; }
};

/// The columns, and a sum that is 0 where the graph is symmetric; else that happens once in 2^64. Over the rows.
template <class T, class Offset>
struct ListStrong {
  using Sum = PairBalance;
  StrongEntries<T, Offset> strong;
  const Offset* row_offsets;
  std::int32_t* col_indices;
  PairBalance* balance;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const CounterRandom hash(0, 0);
    Offset at = row_offsets[i];
    std::uint64_t sum = 0;
    for (Offset k = strong.a.row_offsets[i]; k < strong.a.row_offsets[i + 1]; ++k) {
      if (!strong.holds(i, k)) continue;
      const std::int32_t j = strong.a.col_indices[k];
      col_indices[at++] = j;
      if (i < j)
        sum += hash.bits(i, j);
      else
        sum -= hash.bits(j, i);
    }
    return {sum};
  }
  constexpr void finish(const Sum& sum) const { *balance = sum; }
};

/// The norms of a node's blocks, whose columns are known and sorted. Over the nodes.
template <class T, class Offset>
struct BlockNorms {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  std::int32_t block_dim;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  real_t<T>* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t node) const {
    double greatest = 0;  // squares are taken in its scale
    for (Offset k = a.row_offsets[node * block_dim]; k < a.row_offsets[(node + 1) * block_dim]; ++k)
      if (const double size = magnitude(a.values[k]); size > greatest) greatest = size;
    for (Offset at = row_offsets[node]; at < row_offsets[node + 1]; ++at) {
      double sum = 0;
      for (std::int64_t row = node * block_dim; row < (node + 1) * block_dim; ++row)
        sum += squares(row, col_indices[at], greatest);
      values[at] = static_cast<real_t<T>>(std::sqrt(sum) * greatest);
    }
    return {};
  }

 private:
  /// Of a row of a block, over `scale`.
  constexpr double squares(std::int64_t row, std::int32_t block_column, double scale) const {
    Offset first = a.row_offsets[row], end = a.row_offsets[row + 1];
    while (first < end) {  // the first entry of the block
      const Offset middle = first + (end - first) / 2;
      if (a.col_indices[middle] / block_dim < block_column)
        first = middle + 1;
      else
        end = middle;
    }
    double sum = 0;
    for (Offset k = first; k < a.row_offsets[row + 1] && a.col_indices[k] / block_dim == block_column; ++k) {
      const double size = scale > 0 ? magnitude(a.values[k]) / scale : 0;
      sum += size * size;
    }
    return sum;
  }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct StrengthPasses {
  static constexpr auto list =
      passes<Where, MeasureStrength<T, Offset>, CountStrong<T, Offset>, ListStrong<T, Offset>, BlockNorms<T, Offset>>;
};

}  // namespace krill::detail
