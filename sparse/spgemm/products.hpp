// Kernels of products of sparse matrices. All matrices are zero-based and sorted.
#pragma once
#include "sparse/convert/reduce_rows.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/fused.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/spgemm/merge_pair.hpp"

namespace krill::detail {

/// How rows are divided among threads on CUDA. Not varied.
struct ProductTuning {
  static constexpr std::int64_t max_sorted = 256;  ///< products of a row whose columns a team sorts
  /// Of columns that are kept from the count on: of all rows where none has more than max_sorted products; where that
  /// is not so, or does not fit, on CUDA of those with up to few_held entries.
  static constexpr std::int64_t max_kept_bytes = std::int64_t{1} << 31;
  static constexpr std::int64_t min_products_to_keep = 1 << 24;  ///< for those of some rows: fewer are soon found again
  static constexpr std::int64_t few_held = 128;  ///< entries of a row of C for which a small set is enough
  static constexpr std::int64_t kept_bytes(std::int64_t rows, std::int64_t columns) {
    return rows * columns * std::int64_t{sizeof(std::int32_t)};
  }
  static constexpr std::int64_t window =
      1 << 19;                               ///< columns that a block marks at a time, for rows of C that no team holds
  static constexpr std::int64_t small = 64;  ///< entries of a row of C: those of a team in crowded blocks
  static constexpr std::int64_t max_held = 512;  ///< those of any team
  static constexpr std::int64_t piece = 4096;    ///< of a longer row, for a block
  static constexpr int max_read_whole = 4;       ///< windows of a row up to which each reads all products
  /// Entries of a row of A whose rows of B a thread merges, where no row of C is of more than max_sorted products.
  static constexpr std::int64_t max_merged = 8;
  /// Products of an entry in the mean that are worth a list. New values on an H200, ms, with one and without: 2.0
  /// products 0.49 and 0.82 (7-point 128^3), 5.8 products 2.75 and 2.55 (27-point 80^3).
  static constexpr std::int64_t max_listed = 5;
};

/// Lanes that lie along a row of B on CUDA: as many as its rows have use for in the mean.
constexpr int lanes_along(std::int64_t entries, std::int32_t rows) {
  const std::int64_t mean = entries / (rows > 0 ? rows : 1);
  return mean <= 2 ? 4 : mean <= 8 ? 8 : mean <= 16 ? 16 : 32;
}

/// Work that rows have in items: items [starts[row], starts[row + 1]) are the row's, rows[item] == row.
struct RowItems {
  const std::int64_t* starts = nullptr;
  const std::int32_t* rows = nullptr;
  std::int64_t count = 0;
};

/// RowItems, and what they point to.
struct ItemsOfRows {
  Array<std::int64_t> starts;
  Array<std::int32_t> rows;

  template <class Where>
  RowItems on(const Where& where) const {
    return {starts.read(where), rows.read(where), rows.size()};
  }
};
/// Of what `count(where, items)` counts for each row. Waits for their number.
template <class Count>
ItemsOfRows items_of_rows(Context& ctx, std::int32_t rows, const char* name, Count&& count) {
  ItemsOfRows items{scanned<std::int64_t>(ctx, rows, name, count), Array<std::int32_t>(0, name)};
  const std::int64_t all = last_offset(ctx, items.starts);
  items.rows = Array<std::int32_t>(all, name);
  ctx.dispatch(
      [&](const auto& where) { expand_offsets(where, rows, all, items.starts.read(where), items.rows.write(where)); });
  return items;
}

/// A B without values.
template <class Offset>
struct ProductPattern {
  CsrView<const NoValue, Offset> a, b;
  const std::int64_t* products;                  ///< of each row
  std::int64_t max_products;                     ///< of a row
  RowItems windows = {};                         ///< of long rows, on CUDA
  const std::int64_t* before_windows = nullptr;  ///< entries of C in all windows before each
  std::int64_t merged_terms = 0;                 ///< of the longest row of A, on CUDA, where rows are merged; else 0
  bool lists_short_rows = true;                  ///< where they were not kept, on CUDA
};

/// Of the products, or of the entries of C, of all rows.
struct ProductTotals {
  Greatest of_a_row;
  std::int64_t all = 0;
  Greatest terms;  ///< entries of a row of A
  constexpr ProductTotals& operator+=(const ProductTotals& other) {
    of_a_row += other.of_a_row, all += other.all, terms += other.terms;
    return *this;
  }
};

/// products[row] = how many products make the row: an upper bound of its entries. totals = those of all rows. Over the
/// rows' entries.
template <class Offset>
struct MeasureProducts {
  using Item = std::int64_t;
  using Sum = ProductTotals;
  CsrView<const NoValue, Offset> a;
  const Offset* b_offsets;
  std::int64_t* products;
  ProductTotals* totals;

  constexpr bool wants(std::int64_t) const { return true; }
  constexpr Item entry(std::int64_t, std::int64_t k) const {
    const std::int32_t named = a.col_indices[k];
    return b_offsets[named + 1] - b_offsets[named];
  }
  constexpr Sum finish_row(std::int64_t row, Item count) const {
    products[row] = count;
    return {{count}, count, {static_cast<std::int64_t>(a.row_offsets[row + 1] - a.row_offsets[row])}};
  }
  constexpr void finish(const Sum& sum) const { *totals = sum; }
};

/// totals = those of the rows of C. Over the rows.
struct MeasureRows {
  using Sum = ProductTotals;
  const std::int64_t* row_offsets;
  ProductTotals* totals;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t row) const {
    const std::int64_t length = row_offsets[row + 1] - row_offsets[row];
    return {{length}, length, {}};
  }
  constexpr void finish(const Sum& sum) const { *totals = sum; }
};

/// items[row] = windows of a row that has not been counted, 0 for others. Over the rows.
struct CountWindows {
  using Sum = NoSum;
  std::int64_t windows;
  const std::int64_t* counts;
  std::int64_t* items;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    items[row] = counts[row] < 0 ? windows : 0;
    return {};
  }
};

/// items[row] = pieces of a row of C that no team holds, 0 for others. Over the rows.
template <class Offset>
struct CountPieces {
  using Sum = NoSum;
  const Offset* c_offsets;
  std::int64_t* items;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    const std::int64_t length = c_offsets[row + 1] - c_offsets[row];
    items[row] = length > ProductTuning::max_held ? ceil_div(length, ProductTuning::piece) : 0;
    return {};
  }
};

/// counts[row] = entries of C in the row's windows, where it has any. Over the rows.
struct AddWindows {
  using Sum = NoSum;
  const std::int64_t *starts, *before_windows;
  std::int64_t* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    if (starts[row] < starts[row + 1]) counts[row] = before_windows[starts[row + 1]] - before_windows[starts[row]];
    return {};
  }
};

/// counts[row] = entries of the row, whose columns stand from columns[row stride] on; longer rows are counted alone.
struct KeepUnion {
  std::int64_t stride;
  std::int32_t* columns;
  std::int64_t* counts;

  constexpr bool has_room(std::int64_t entries) const { return entries <= stride; }
  constexpr std::int64_t begin(std::int64_t row) const { return row * stride; }
  constexpr void entry(std::int64_t at, std::int32_t col, std::int64_t, std::int64_t) const { columns[at] = col; }
  constexpr void finish(std::int64_t row, std::int64_t end) const { counts[row] = end - row * stride; }
};

/// The columns that were kept, row after row without gaps, and gaps for rows longer than the stride. Over `lanes` a
/// row.
template <class Offset>
struct CopyUnion {
  using Sum = NoSum;
  static constexpr int lanes = 8, flight = 4;  // flight: columns on their way at a time. Not varied
  std::int64_t stride;
  const std::int32_t* columns;
  const Offset* row_offsets;
  std::int32_t* col_indices;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int64_t row = i / lanes, first = row_offsets[row], count = row_offsets[row + 1] - first;
    if (count > stride) return {};
    for (std::int64_t e = i % lanes; e < count; e += lanes * flight) {
      std::int32_t read[flight] = {};
      for (int u = 0; u < flight; ++u)
        if (e + u * lanes < count) read[u] = columns[row * stride + e + u * lanes];
      for (int u = 0; u < flight; ++u)
        if (e + u * lanes < count) col_indices[first + e + u * lanes] = read[u];
    }
    return {};
  }
};

/// Hands the columns of each row of A B to the sink, ascending places, any order. On CUDA CountUnion gets -1 for rows
/// that no set has room for, which have to be given windows.
template <class Offset, class Sink>
void merge_products(const Host&, const ProductPattern<Offset>&, Sink);
template <class Offset, class Sink>
void merge_products(const Cuda&, const ProductPattern<Offset>&, Sink);
/// counts[n] = entries of C in window n.
template <class Offset>
void count_windows(const Cuda&, const ProductPattern<Offset>&, std::int64_t* counts);

/// How sums are divided on CUDA.
struct SumTeams {
  int lanes;             ///< along a row of B: 4, 8, 16 or 32
  std::int64_t longest;  ///< row of C
  RowItems pieces;
  bool masked;                    ///< products may have no place in C
  std::int64_t merged_terms = 0;  ///< as in ProductPattern; c.col_indices are not looked at then
};

/// c = alpha A B, in the pattern that c has, which is sorted; where it is a mask, other products are left out. Each
/// entry's products are added in the order of A's row, in double or double complex, and rounded once.
template <class T, class Offset>
void sum_products(const Host&, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                  const CsrView<const T, Offset>& b, const SumTeams&, const CsrView<const NoValue, Offset>& c,
                  T* values);
template <class T, class Offset>
void sum_products(const Cuda&, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                  const CsrView<const T, Offset>& b, const SumTeams&, const CsrView<const NoValue, Offset>& c,
                  T* values);

/// Columns and values of A B, whose offsets are known, where no row of A has more than `merged_terms` entries and B is
/// sorted.
template <class T, class Offset>
void sum_new_rows(const Cuda&, const CsrView<const T, Offset>& a, const CsrView<const T, Offset>& b,
                  std::int64_t merged_terms, const Offset* row_offsets, std::int32_t* col_indices, T* values);

/// A product: an entry of A and one of B.
struct ProductPair {
  std::int32_t a, b;
};

/// counts[at] = products that make entry `at` of C; then the products themselves, from list[starts[at]] on, in the
/// order of A's row.
template <class Offset>
void count_products(const Cuda&, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                    const SumTeams&, const CsrView<const NoValue, Offset>& c, Offset* counts);
template <class Offset>
void list_products(const Cuda&, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                   const SumTeams&, const CsrView<const NoValue, Offset>& c, const Offset* starts, ProductPair* list);

/// values = alpha A B, by the list, of `nnz` entries.
template <class T, class Offset>
void sum_listed(const Cuda&, const ScalarView<T>& alpha, const T* a, const T* b, std::int64_t nnz, const Offset* starts,
                const ProductPair* list, T* values);

/// Where products go, row of A by row of A: entry e of B, named by entry k of A, makes product bases[k] + e, whose
/// place in its row of C is places[product] less the low bits of the row's first entry.
using ProductPlace = std::uint16_t;
template <class Offset>
struct ProductPlaces {
  const Offset* bases;
  const ProductPlace* places;
};

/// counts[k] = products of entry k of A. Over its entries.
template <class Offset>
struct CountTerms {
  using Sum = NoSum;
  const std::int32_t* a_columns;
  const Offset* b_offsets;
  Offset* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    return counts[k] = b_offsets[a_columns[k] + 1] - b_offsets[a_columns[k]], NoSum{};
  }
};
/// What products of entry k of A begin at, as `bases` counts them. Over its entries.
template <class Offset>
struct CountFromB {
  using Sum = NoSum;
  const std::int32_t* a_columns;
  const Offset* b_offsets;
  Offset* bases;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return bases[k] -= b_offsets[a_columns[k]], NoSum{}; }
};

/// Places of all products; of rows of C that teams hold.
template <class Offset>
void record_places(const Cuda&, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                   const SumTeams&, const CsrView<const NoValue, Offset>& c, const Offset* bases, ProductPlace* places);
/// As sum_products, by the places, for those rows.
template <class T, class Offset>
void sum_placed(const Cuda&, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                const CsrView<const T, Offset>& b, const SumTeams&, const ProductPlaces<Offset>&,
                const Offset* c_offsets, T* values);
/// As sum_products, for the other rows.
template <class T, class Offset>
void sum_pieces(const Cuda&, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                const CsrView<const T, Offset>& b, const SumTeams&, const CsrView<const NoValue, Offset>& c, T* values);

/// What is compiled for each backend.
template <class Offset, class Where>
struct ProductPatternKernels {
  template <class Sink>
  using Merge = void(const Where&, const ProductPattern<Offset>&, Sink);
  static constexpr std::tuple list{
      instance<void(const Where&, MeasureProducts<Offset>)>(reduce_rows), instance<Merge<CountUnion>>(merge_products),
      instance<Merge<ListUnion<Offset>>>(merge_products), instance<Merge<KeepUnion>>(merge_products)};
  static constexpr auto of_rows =
      passes<Where, MeasureRows, CountWindows, CountPieces<Offset>, AddWindows, CopyUnion<Offset>>;
};
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct ProductSumKernels {
  static constexpr auto list =
      instance<void(const Where&, const ScalarView<T>&, const CsrView<const T, Offset>&,
                    const CsrView<const T, Offset>&, const SumTeams&, const CsrView<const NoValue, Offset>&, T*)>(
          sum_products);
};

}  // namespace krill::detail
