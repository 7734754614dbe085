// Kernels of products of sparse matrices. All matrices are zero-based and sorted.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/spgemm/merge_pair.hpp"

namespace krill::detail {

/// How rows are divided among threads on CUDA: teams of so many lanes, and rows that are too long for one.
struct TeamRows {
  static constexpr std::int64_t most_products = 2048;  ///< of a row that a team merges. Not varied.
  static constexpr int entries_a_lane = 8;             ///< of a row of C, in shared memory. Not varied.

  int lanes = 32;  ///< 8, 16 or 32

  constexpr bool merges(std::int64_t row_of_a, std::int64_t products) const {
    return row_of_a <= lanes && products <= most_products;
  }
  constexpr bool holds(std::int64_t row_of_a, std::int64_t row_of_c) const {
    return row_of_a <= lanes && row_of_c <= lanes * entries_a_lane;
  }
};

/// Rows by their numbers.
struct RowList {
  const std::int32_t* rows = nullptr;
  std::int64_t count = 0;
};

/// products[row] = how many products make the row: an upper bound of its entries. Over the rows.
template <class Offset>
struct CountProducts {
  using Sum = NoSum;
  CsrView<const NoValue, Offset> a;
  const Offset* b_offsets;
  std::int64_t* products;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    std::int64_t count = 0;
    for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
      count += b_offsets[a.col_indices[k] + 1] - b_offsets[a.col_indices[k]];
    products[row] = count;
    return {};
  }
};

/// long_rows[row] = 1 where no team merges the row, else 0. Over the rows.
template <class Offset>
struct FlagMergedByBlocks {
  using Sum = NoSum;
  TeamRows teams;
  const Offset* a_offsets;
  const std::int64_t* products;
  std::int64_t* long_rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    long_rows[row] = teams.merges(a_offsets[row + 1] - a_offsets[row], products[row]) ? 0 : 1;
    return {};
  }
};

/// long_rows[row] = 1 where no team holds the row of C, else 0. Over the rows.
template <class Offset>
struct FlagSummedInPieces {
  using Sum = NoSum;
  TeamRows teams;
  const Offset *a_offsets, *c_offsets;
  std::int64_t* long_rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    long_rows[row] = teams.holds(a_offsets[row + 1] - a_offsets[row], c_offsets[row + 1] - c_offsets[row]) ? 0 : 1;
    return {};
  }
};

/// The rows that were flagged, from the offsets of their flags. Over the rows.
struct ListFlagged {
  using Sum = NoSum;
  const std::int64_t* starts;
  std::int32_t* rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    if (starts[row] < starts[row + 1]) rows[starts[row]] = static_cast<std::int32_t>(row);
    return {};
  }
};

/// Hands the columns of each row of A B to the sink, ascending places, any order. `products` and `long_rows`, those
/// that no team merges, are looked at on CUDA alone.
template <class Offset, class Sink>
void merge_products(const Host&, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                    TeamRows, const std::int64_t* products, RowList long_rows, Sink);
template <class Offset, class Sink>
void merge_products(const Cuda&, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                    TeamRows, const std::int64_t* products, RowList long_rows, Sink);

/// c = alpha A B, in the pattern that c has. Each entry's products are added in the order of A's row. `long_rows`,
/// those that no team holds, are looked at on CUDA alone.
template <class T, class Offset>
void sum_products(const Host&, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                  const CsrView<const T, Offset>& b, TeamRows, RowList long_rows,
                  const CsrView<const NoValue, Offset>& c, T* values);
template <class T, class Offset>
void sum_products(const Cuda&, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                  const CsrView<const T, Offset>& b, TeamRows, RowList long_rows,
                  const CsrView<const NoValue, Offset>& c, T* values);

/// What is compiled for each backend.
template <class Offset, class Where>
struct ProductPatternKernels {
  using Pattern = CsrView<const NoValue, Offset>;
  template <class Sink>
  using Merge = void(const Where&, const Pattern&, const Pattern&, TeamRows, const std::int64_t*, RowList, Sink);
  static constexpr std::tuple list{instance<Merge<CountUnion>>(merge_products),
                                   instance<Merge<ListUnion<Offset>>>(merge_products)};
  static constexpr auto of_rows =
      passes<Where, CountProducts<Offset>, FlagMergedByBlocks<Offset>, FlagSummedInPieces<Offset>, ListFlagged>;
};
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct ProductSumKernels {
  static constexpr auto list =
      instance<void(const Where&, const ScalarView<T>&, const CsrView<const T, Offset>&,
                    const CsrView<const T, Offset>&, TeamRows, RowList, const CsrView<const NoValue, Offset>&, T*)>(
          sum_products);
};

}  // namespace krill::detail
