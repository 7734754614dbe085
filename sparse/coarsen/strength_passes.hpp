// The passes that find strong entries.
#pragma once
#include <cmath>

#include "sparse/coarsen/strength.hpp"
#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/convert/reduce_rows.hpp"
#include "sparse/core/first_row.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/io/counter_random.hpp"

namespace krill::detail {

/// The root of what a row is measured by, and the first row with an entry that is not finite. Over the rows' entries.
template <class T, class Offset>
struct MeasureStrength {
  using Item = GreatestFinite;
  using Sum = FirstRow;
  CsrView<const T, Offset> a;
  StrengthMeasure measure;
  double* roots;
  FirstRow* fault;

  constexpr bool wants(std::int64_t) const { return true; }
  constexpr Item entry(std::int64_t row, std::int64_t k) const {
    const double size = magnitude(a.values[k]);
    if (!is_finite(size)) return {0, {static_cast<std::int32_t>(row)}};
    const bool on_diagonal = a.col_indices[k] == row;
    return {on_diagonal == (measure == StrengthMeasure::diagonal) ? size : 0, {}};
  }
  constexpr Sum finish_row(std::int64_t row, const Item& item) const {
    roots[row] = std::sqrt(item.size);
    return item.fault;
  }
  constexpr void finish(const Sum& sum) const { *fault = sum; }
};

/// Whether an entry is strong: roots of products neither overflow nor vanish. Where it is nearly at the threshold, the
/// larger one of a_ij and a_ji is looked at, so that rounding makes no graph of a Hermitian matrix one-sided.
template <class T, class Offset>
struct StrongEntries {
  static constexpr double near = 1e-3;  ///< relative. Not varied.
  CsrView<const T, Offset> a;
  double threshold;
  const double* roots;

  constexpr bool holds(std::int64_t row, std::int64_t k) const {
    const std::int32_t col = a.col_indices[k];
    const double size = magnitude(a.values[k]);
    if (col == row || !(size > 0)) return false;
    const double bound = threshold * (roots[row] * roots[col]);
    if (size >= bound) return true;
    if (size < (1 - near) * bound) return false;
    const Offset end = a.row_offsets[col + 1], mirror = lower_entry(a.col_indices, a.row_offsets[col], end, row);
    return mirror < end && a.col_indices[mirror] == row && double(magnitude(a.values[mirror])) >= bound;
  }
};

/// Strong entries, and a sum of hashes above the diagonal less those below it.
struct StrongCount {
  std::int64_t count = 0;
  std::uint64_t balance = 0;
  constexpr StrongCount& operator+=(const StrongCount& other) {
    count += other.count, balance += other.balance;
    return *this;
  }
};

/// counts = the strong entries of each row; the sum's balance is 0 where the graph is symmetric; else that happens once
/// in 2^64. Over the rows' entries.
template <class T, class Offset>
struct CountStrong {
  using Item = StrongCount;
  using Sum = StrongCount;
  StrongEntries<T, Offset> strong;
  std::int64_t* counts;
  StrongCount* all;
  CsrView<const T, Offset> a = strong.a;

  constexpr bool wants(std::int64_t) const { return true; }
  constexpr Item entry(std::int64_t row, std::int64_t k) const {
    if (!strong.holds(row, k)) return {};
    const std::int64_t col = a.col_indices[k];
    const std::uint64_t pair = row < col ? row << 32 | col : col << 32 | row, hash = CounterRandom::mixed(pair);
    return {1, row < col ? hash : -hash};
  }
  constexpr Sum finish_row(std::int64_t row, const Item& item) const { return counts[row] = item.count, item; }
  constexpr void finish(const Sum& sum) const { *all = sum; }
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
  template <class RowPass>
  using Reduce = void(const Where&, RowPass);
  static constexpr std::tuple list{
      instance<Reduce<MeasureStrength<T, Offset>>>(reduce_rows), instance<Reduce<CountStrong<T, Offset>>>(reduce_rows),
      instance<void(const Where&, StrongEntries<T, Offset>, const Offset*, std::int32_t*)>(list_rows)};
  static constexpr auto of_nodes = passes<Where, BlockNorms<T, Offset>>;
};

}  // namespace krill::detail
