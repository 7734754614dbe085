// The passes that find strong entries.
#pragma once
#include <cmath>

#include "sparse/coarsen/strength.hpp"
#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/convert/mirror_hash.hpp"
#include "sparse/convert/reduce_rows.hpp"
#include "sparse/core/first_row.hpp"
#include "sparse/core/pass.hpp"

namespace krill::detail {

/// What is seen of a matrix while strong entries are sought: how many there are, the sum of their mirror_hash, and the
/// first row with an entry that is not finite.
struct StrongFacts {
  std::int64_t count = 0;
  std::uint64_t balance = 0;
  FirstRow fault;
  std::int32_t unused = 0;
};

/// The root of what a row is measured by, and the first row with an entry that is not finite. Over the rows' entries.
template <class T, class Offset>
struct MeasureStrength {
  using Item = GreatestFinite;
  using Sum = FirstRow;
  CsrView<const T, Offset> a;
  StrengthMeasure measure;
  double* roots;
  StrongFacts* facts;

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
  constexpr void finish(const Sum& sum) const { facts->fault = sum; }
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

/// Strong entries, and the sum of their mirror_hash.
struct StrongCount {
  std::int64_t count = 0;
  std::uint64_t balance = 0;
  constexpr StrongCount& operator+=(const StrongCount& other) {
    count += other.count, balance += other.balance;
    return *this;
  }
};

/// counts = the strong entries of each row, flags = 1 for them. Over the rows' entries.
template <class T, class Offset>
struct CountStrong {
  using Item = StrongCount;
  using Sum = StrongCount;
  StrongEntries<T, Offset> strong;
  std::int64_t* counts;
  std::uint8_t* flags;
  StrongFacts* facts;
  CsrView<const T, Offset> a = strong.a;

  constexpr bool wants(std::int64_t) const { return true; }
  constexpr Item entry(std::int64_t row, std::int64_t k) const {
    const bool holds = strong.holds(row, k);
    flags[k] = holds;
    if (!holds) return {};
    return {1, mirror_hash(row, a.col_indices[k])};
  }
  constexpr Sum finish_row(std::int64_t row, const Item& item) const { return counts[row] = item.count, item; }
  constexpr void finish(const Sum& sum) const { facts->count = sum.count, facts->balance = sum.balance; }
};

/// The columns of the entries that are flagged by 1, not 0, in their order: those of a row from row_offsets[row] on.
template <class Offset>
void list_flagged(const Host&, CsrView<const NoValue, Offset>, const std::uint8_t* flags, const Offset* row_offsets,
                  std::int32_t* col_indices);
template <class Offset>
void list_flagged(const Cuda&, CsrView<const NoValue, Offset>, const std::uint8_t* flags, const Offset* row_offsets,
                  std::int32_t* col_indices);

/// The norms of a node's blocks, whose columns are known and sorted, negative beside the diagonal. Over `lanes` a node:
/// on an H100 one took 1.9 ms for some 500 nodes with long rows.
template <class T, class Offset>
struct BlockNorms {
  using Sum = NoSum;
  static constexpr std::int64_t lanes = 8;
  CsrView<const T, Offset> a;
  std::int32_t block_dim;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  real_t<T>* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int64_t node = i / lanes, end = row_offsets[node + 1];
    for (std::int64_t at = row_offsets[node] + i % lanes; at < end; at += lanes) {
      const auto size = static_cast<real_t<T>>(norm(node, col_indices[at]));
      values[at] = col_indices[at] == node ? size : -size;
    }
    return {};
  }

 private:
  /// Of a block, squares in the scale of its greatest entry.
  constexpr double norm(std::int64_t node, std::int64_t block_column) const {
    double greatest = 0, sum = 0;
    for_sizes(node, block_column, [&](double size) { greatest = size > greatest ? size : greatest; });
    const double scale = greatest > 0 ? greatest : 1;
    for_sizes(node, block_column, [&](double size) { sum += size / scale * (size / scale); });
    return std::sqrt(sum) * scale;
  }
  template <class Use>
  constexpr void for_sizes(std::int64_t node, std::int64_t block_column, Use&& use) const {
    for (std::int64_t row = node * block_dim; row < (node + 1) * block_dim; ++row)
      for (Offset k = lower_entry(a, row, block_column * block_dim);
           k < a.row_offsets[row + 1] && a.col_indices[k] < (block_column + 1) * block_dim; ++k)
        use(double(magnitude(a.values[k])));
  }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct StrengthPasses {
  template <class RowPass>
  using Reduce = void(const Where&, RowPass);
  static constexpr std::tuple list{instance<Reduce<MeasureStrength<T, Offset>>>(reduce_rows),
                                   instance<Reduce<CountStrong<T, Offset>>>(reduce_rows)};
  static constexpr auto of_nodes = passes<Where, BlockNorms<T, Offset>>;
};
template <class Offset, class Where>
struct StrongListKernels {
  static constexpr auto list =
      instance<void(const Where&, CsrView<const NoValue, Offset>, const std::uint8_t*, const Offset*, std::int32_t*)>(
          list_flagged);
};

}  // namespace krill::detail
