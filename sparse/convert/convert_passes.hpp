// The entry-by-entry parts of conversions, written once for both backends.
#pragma once
#include <limits>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/lower_entry.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/formats/coo.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// The least of the indices that were seen, as a pass's Sum.
struct FirstIndex {
  std::int64_t value = std::numeric_limits<std::int64_t>::max();
  constexpr FirstIndex& operator+=(FirstIndex other) {
    if (other.value < value) value = other.value;
    return *this;
  }
};

/// Which triangles a matrix has: `lower` and `upper` are the first rows with an entry strictly inside them.
struct Triangles {
  FirstIndex lower, upper;
  constexpr Triangles& operator+=(Triangles other) { return lower += other.lower, upper += other.upper, *this; }
};

/// Finds on which sides of the diagonal entries lie. Over the rows.
template <class T, class Offset>
struct FindTriangles {
  using Sum = Triangles;
  CsrView<const T, Offset> a;
  Triangles* found;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    Sum mine;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      if (a.col_indices[k] < i) mine.lower.value = i;
      if (a.col_indices[k] > i) mine.upper.value = i;
    }
    return mine;
  }
  constexpr void finish(const Sum& sum) const { *found = sum; }
};

/// Entries of each row of the expanded matrix: those of the triangle and of its mirror, the diagonal once. Over the
/// rows.
template <class T, class Offset>
struct CountExpanded {
  using Sum = NoSum;
  CsrView<const T, Offset> a, mirror;
  Offset* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    Offset count = a.row_offsets[i + 1] - a.row_offsets[i];
    for (Offset k = mirror.row_offsets[i]; k < mirror.row_offsets[i + 1]; ++k) count += mirror.col_indices[k] != i;
    counts[i] = count;
    return {};
  }
};

/// Row i of the expanded matrix: what lies left of the diagonal first. `sign` is -1 for skew matrices. Over the rows.
template <class T, class Offset>
struct FillExpanded {
  using Sum = NoSum;
  CsrView<const T, Offset> a, mirror;
  CsrView<T, Offset> out;
  bool mirror_first;  // the stored triangle is the upper one
  real_t<T> sign;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    Offset to = out.row_offsets[i];
    if (mirror_first) to = append(mirror, i, to, false, sign);
    to = append(a, i, to, true, real_t<T>(1));
    if (!mirror_first) append(mirror, i, to, false, sign);
    return {};
  }
  constexpr Offset append(const CsrView<const T, Offset>& from, std::int64_t i, Offset to, bool with_diagonal,
                          real_t<T> factor) const {
    for (Offset k = from.row_offsets[i]; k < from.row_offsets[i + 1]; ++k) {
      if (!with_diagonal && from.col_indices[k] == i) continue;
      out.col_indices[to] = from.col_indices[k];
      out.values[to++] = scaled(from.values[k], factor);
    }
    return to;
  }
};

/// d_i = a_ii, zero where nothing is stored. Over the rows.
template <class T, class Offset>
struct CsrDiagonal {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  T* d;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    T value{};
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      if (a.col_indices[k] == i) value = a.values[k];
    d[i] = value;
    return {};
  }
};

/// d_i = a_ii for the entries that are stored; the rest of d is left. Over the entries.
template <class T>
struct CooDiagonal {
  using Sum = NoSum;
  CooView<const T> a;
  T* d;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    if (a.row_indices[k] == a.col_indices[k]) d[a.row_indices[k]] = a.values[k];
    return {};
  }
};

/// v_i = 0.
template <class T>
struct FillZero {
  using Sum = NoSum;
  T* v;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return v[i] = T{}, NoSum{}; }
};

/// Offsets of a long stretch of empty rows are filled in whole blocks of so many, the others one by one.
inline constexpr std::int32_t empty_rows_a_block = 256;

/// row_offsets from sorted row indices: entry k sets the offsets of the rows after its predecessor's up to its own, but
/// leaves whole blocks of offsets to FillEmptyRows. Over nnz + 1.
template <class Offset>
struct CompressRows {
  using Sum = NoSum;
  const std::int32_t* row_indices;
  std::int64_t nnz;
  std::int32_t rows, base;
  Offset* row_offsets;
  std::int32_t* left;  ///< set where a block is left

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    constexpr std::uint32_t block = empty_rows_a_block;
    const auto end = static_cast<std::uint32_t>(k == nnz ? rows : row_indices[k] - base) + 1;
    auto i = static_cast<std::uint32_t>(k == 0 ? 0 : row_indices[k - 1] - base + 1);
    if (i >= end) return {};
    if (end - i < block) {
      for (; i < end; ++i) row_offsets[i] = static_cast<Offset>(k);
      return {};
    }
    const std::uint32_t first_whole = (i + block - 1) / block * block, end_whole = end / block * block;
    for (; i < first_whole; ++i) row_offsets[i] = static_cast<Offset>(k);
    for (i = end_whole; i < end; ++i) row_offsets[i] = static_cast<Offset>(k);
    if (first_whole < end_whole) store_relaxed(*left, 1);
    return {};
  }
};

/// The blocks of offsets that CompressRows leaves, if it left any. Over (rows + 1) / empty_rows_a_block.
template <class Offset>
struct FillEmptyRows {
  using Sum = NoSum;
  const std::int32_t* row_indices;
  std::int64_t nnz;
  std::int32_t base;
  Offset* row_offsets;
  const std::int32_t* left;

  constexpr bool begin() const { return *left != 0; }
  constexpr NoSum entry(std::int64_t block) const {
    const std::int64_t first = block * empty_rows_a_block, last = first + empty_rows_a_block - 1;
    const std::int64_t k = lower_entry(row_indices, std::int64_t{0}, nnz, first + base);
    if (k < nnz && row_indices[k] < last + base) return {};
    for (std::int64_t i = first; i <= last; ++i) row_offsets[i] = static_cast<Offset>(k);
    return {};
  }
};

/// The same offsets in the other type. Over them.
template <class From, class To>
struct ConvertOffsets {
  using Sum = NoSum;
  const From* from;
  To* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return to[i] = static_cast<To>(from[i]), NoSum{}; }
};

/// to[i] = from[i] + shift, for another index base; negative ones, which are padding, stay. `to` may be `from`. Over
/// them.
template <class Index>
struct ShiftIndices {
  using Sum = NoSum;
  const Index* from;
  std::int32_t shift;
  Index* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    to[i] = from[i] < 0 ? from[i] : static_cast<Index>(from[i] + shift);
    return {};
  }
};

/// pairs[2 k], pairs[2 k + 1] = row and column of entry k. Over the entries.
struct JoinPairs {
  using Sum = NoSum;
  const std::int32_t *rows, *cols;
  std::int32_t* pairs;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    pairs[2 * k] = rows[k], pairs[2 * k + 1] = cols[k];
    return {};
  }
};

/// Row and column of entry k = pairs[2 k], pairs[2 k + 1]. Over the entries.
struct SplitPairs {
  using Sum = NoSum;
  const std::int32_t* pairs;
  std::int32_t *rows, *cols;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    rows[k] = pairs[2 * k], cols[k] = pairs[2 * k + 1];
    return {};
  }
};

/// The values of a matrix that is stored by columns, each found in its row of `from`. Over the columns.
template <class T, class Offset>
struct FillColumns {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  CsrView<const T> transposed;
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t col) const {
    for (std::int32_t k = transposed.row_offsets[col]; k < transposed.row_offsets[col + 1]; ++k)
      values[k] = from.values[lower_entry(from, transposed.col_indices[k], col)];
    return {};
  }
};

/// out = the conjugate of in. Over the entries.
template <class T>
struct Conjugate {
  using Sum = NoSum;
  const T* in;
  T* out;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return out[k] = conj(in[k]), NoSum{}; }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct ConvertPasses {
  static constexpr auto list = passes<Where, FindTriangles<T, Offset>, CountExpanded<T, Offset>,
                                      FillExpanded<T, Offset>, CsrDiagonal<T, Offset>, CooDiagonal<T>, FillZero<T>>;
  static constexpr auto transpose =
      instance<void(const Where&, const CsrView<const T, Offset>&, bool, const CsrView<T, Offset>&, Offset*, bool)>(
          csr_transpose);
};
template <class Offset, class Where>
struct OffsetKernels {
  static constexpr auto shift = passes<Where, ShiftIndices<Offset>>;
  static constexpr auto transpose_pattern =
      instance<void(const Where&, const CsrView<const NoValue, Offset>&, bool, const CsrView<NoValue, Offset>&, Offset*,
                    bool)>(csr_transpose);
  static constexpr std::tuple list{
      instance<void(const Where&, std::int64_t, const Offset*, Offset*)>(scan_counts),
      instance<void(const Where&, std::int32_t, std::int64_t, const Offset*, std::int32_t*, IndexBase)>(expand_offsets),
      instance<void(const Where&, std::int32_t, std::int64_t, const std::int32_t*, Offset*, IndexBase)>(compress_rows)};
};

}  // namespace krill::detail
