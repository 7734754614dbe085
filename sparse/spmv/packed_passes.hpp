// The passes that find how a matrix can be packed, and that pack it.
#pragma once
#include <cstring>

#include "sparse/convert/reduce_rows.hpp"
#include "sparse/convert/sell_passes.hpp"
#include "sparse/spmv/packed.hpp"

namespace krill::detail {

/// The word of an empty slot in tables. A matrix in which it occurs is not coded by words.
inline constexpr std::uint64_t no_word = ~std::uint64_t{0};

/// Whether two values have the same bits.
template <class T>
constexpr bool same_bits(const T& a, const T& b) {
  std::uint32_t first[sizeof(T) / sizeof(std::uint32_t)], second[sizeof(T) / sizeof(std::uint32_t)];
  memcpy(first, &a, sizeof(T)), memcpy(second, &b, sizeof(T));
  for (std::size_t w = 0; w < sizeof(T) / sizeof(std::uint32_t); ++w)
    if (first[w] != second[w]) return false;
  return true;
}

/// What the entries of a row make of its word, in any order.
struct RowWord {
  std::uint64_t value = 0;
  constexpr RowWord& operator+=(RowWord other) { return value += other.value, *this; }
};

/// The pattern of a row as a word: equal for rows whose entries have the same columns minus row and, unless V is
/// NoValue, the same values, and as a rule for no others (they are compared afterwards). The sum of what FNV-1a makes
/// of each entry and its place, mixed.
template <class V, class Offset>
struct PatternWords {
  CsrView<const V, Offset> a;

  constexpr RowWord part(std::int64_t i, std::int64_t k) const {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](std::uint32_t word) { hash = (hash ^ word) * 0x100000001b3; };
    add(static_cast<std::uint32_t>(k - a.row_offsets[i]));
    add(static_cast<std::uint32_t>(a.col_indices[k] - static_cast<std::int32_t>(i)));
    if constexpr (!std::is_same_v<V, NoValue>) {
      std::uint32_t words[sizeof(V) / sizeof(std::uint32_t)];
      memcpy(words, a.values + k, sizeof(V));
      for (const std::uint32_t word : words) add(word);
    }
    hash ^= hash >> 31;  // the upper bits of values differ, where a product moves bits up alone
    return {hash * 0x9e3779b97f4a7c15};
  }
  static constexpr std::uint64_t word(RowWord all) {
    const std::uint64_t hash = all.value ^ (all.value >> 29);
    return hash == no_word ? 0 : hash;
  }
  constexpr std::uint64_t operator()(std::int64_t i) const {
    RowWord all;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) all += part(i, k);
    return word(all);
  }
  /// Whether row i > 0 has the pattern of the row before: found without the multiplications of its word.
  constexpr bool repeats(std::int64_t i) const {
    const Offset before = a.row_offsets[i - 1], begin = a.row_offsets[i], length = a.row_offsets[i + 1] - begin;
    if (begin - before != length) return false;
    std::int32_t different = 0;
    for (Offset k = 0; k < length; ++k)
      different |= a.col_indices[begin + k] - a.col_indices[before + k] - 1;  // no branch for an entry
    if constexpr (!std::is_same_v<V, NoValue>)
      if (different == 0 && length > 0)
        return memcmp(a.values + begin, a.values + before, static_cast<std::size_t>(length) * sizeof(V)) == 0;
    return different == 0;
  }
};

/// The bits of a value.
template <class T>
struct ValueWords {
  const T* values;

  constexpr std::uint64_t operator()(std::int64_t k) const {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t word = 0;
    memcpy(&word, values + k, sizeof(T));
    return word;
  }
  constexpr bool repeats(std::int64_t) const { return false; }
};

/// The different words among word(0) ... word(n - 1), in any order, into found[max_words], and their number into
/// *count; any number above max_words means that there are too many, or that no_word is among them.
template <class Words>
void find_words(const Host&, std::int64_t n, Words word, std::uint64_t* found, std::int32_t* count);
template <class Words>
void find_words(const Cuda&, std::int64_t n, Words word, std::uint64_t* found, std::int32_t* count);

/// The position of a word in an ascending list that contains it.
constexpr std::int32_t place_of(const std::uint64_t* sorted, std::int32_t count, std::uint64_t word) {
  std::int32_t low = 0, high = count - 1;
  while (low < high) {
    const std::int32_t middle = (low + high) / 2;
    if (sorted[middle] < word)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

inline constexpr std::int32_t no_example = -1;

/// patterns[i] and one row of each pattern, where there is none yet. A pass over rows (reduce_rows).
template <class V, class Offset>
struct NamePatterns {
  using Item = RowWord;
  using Sum = NoSum;
  CsrView<const V, Offset> a;
  const std::uint64_t* sorted;
  std::int32_t count;
  std::uint8_t* patterns;
  std::int32_t* example;

  constexpr PatternWords<V, Offset> words() const { return {a}; }
  constexpr bool wants(std::int64_t) const { return true; }
  constexpr Item entry(std::int64_t i, std::int64_t k) const { return words().part(i, k); }
  constexpr Sum finish_row(std::int64_t i, const Item& all) const { return name(i, words().word(all)), Sum{}; }
  constexpr void finish(const Sum&) const {}
  constexpr void name(std::int64_t i, std::uint64_t word) const {
    const std::int32_t id = place_of(sorted, count, word);
    patterns[i] = static_cast<std::uint8_t>(id);
    if (load_relaxed(example[id]) == no_example) store_relaxed(example[id], static_cast<std::int32_t>(i));
  }
};

/// That pass; the host looks at the row before first.
template <class V, class Offset>
void name_patterns(const Host&, const NamePatterns<V, Offset>&);
template <class V, class Offset>
void name_patterns(const Cuda&, const NamePatterns<V, Offset>&);

/// A count, as a pass's sum.
struct Count {
  std::int64_t value = 0;
  constexpr Count& operator+=(Count other) { return value += other.value, *this; }
};

/// The number of rows that differ from the row that stands for their pattern. A pass over rows (reduce_rows).
template <class V, class Offset>
struct ComparePatterns {
  using Item = Count;  // of entries
  using Sum = Count;
  CsrView<const V, Offset> a;
  const std::uint8_t* patterns;
  const std::int32_t* example;
  Count* different;

  constexpr bool wants(std::int64_t) const { return true; }
  constexpr Item entry(std::int64_t i, std::int64_t k) const {
    const std::int64_t other = example[patterns[i]], its = a.row_offsets[other] + (k - a.row_offsets[i]);
    if (its >= a.row_offsets[other + 1]) return {1};
    bool same = a.col_indices[k] - i == a.col_indices[its] - other;
    if constexpr (!std::is_same_v<V, NoValue>) same = same && same_bits(a.values[k], a.values[its]);
    return {same ? 0 : 1};
  }
  constexpr Sum finish_row(std::int64_t i, const Item& entries) const {
    const std::int64_t other = example[patterns[i]];
    const bool as_long = a.row_offsets[i + 1] - a.row_offsets[i] == a.row_offsets[other + 1] - a.row_offsets[other];
    return {entries.value == 0 && as_long ? 0 : 1};
  }
  constexpr void finish(const Sum& sum) const { *different = sum; }
};

/// That pass; the host looks at the row before first.
template <class V, class Offset>
void compare_patterns(const Host&, const ComparePatterns<V, Offset>&);
template <class V, class Offset>
void compare_patterns(const Cuda&, const ComparePatterns<V, Offset>&);

/// The length of pattern `id`, its columns minus row, and its values. Over the patterns.
template <class V, class Offset>
struct FillPatterns {
  using Sum = NoSum;
  CsrView<const V, Offset> a;
  const std::int32_t* example;
  std::int32_t width;
  std::int32_t *lengths, *columns;
  V* values;  ///< null for NoValue

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t id) const {
    const std::int32_t row = example[id];
    const Offset first = a.row_offsets[row];
    const auto length = static_cast<std::int32_t>(a.row_offsets[row + 1] - first);
    lengths[id] = length;
    for (std::int32_t k = 0; k < width; ++k) {
      columns[id * width + k] = k < length ? a.col_indices[first + k] - row : 0;
      if constexpr (!std::is_same_v<V, NoValue>) values[id * width + k] = k < length ? a.values[first + k] : V{};
    }
    return {};
  }
};

/// slice_offsets of slices that all have one width. Over the slices and one more.
struct UniformSlices {
  using Sum = NoSum;
  std::int64_t places;  ///< of a slice
  std::int64_t* slice_offsets;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const { return slice_offsets[s] = s * places, NoSum{}; }
};

/// The least and the greatest column that the rows of a slice have at place k.
struct ColumnSpan {
  std::int32_t min = std::numeric_limits<std::int32_t>::max(), max = 0;
};
template <class T, class Offset>
constexpr ColumnSpan column_span(const CsrView<const T, Offset>& a, std::int64_t slice, std::int64_t k) {
  ColumnSpan span;
  for (std::int64_t i = slice * packed_slice; i < (slice + 1) * packed_slice && i < a.rows; ++i) {
    const std::int64_t at = a.row_offsets[i] + k;
    if (at >= a.row_offsets[i + 1]) continue;
    const std::int32_t col = a.col_indices[at];
    if (col < span.min) span.min = col;
    if (col > span.max) span.max = col;
  }
  return span;
}

/// Threads that share the places of a slice when its columns are looked at: neighbors read neighboring entries. On an
/// H100 one thread a slice took 2.0 ms for 64 M entries in 25,000 slices.
inline constexpr std::int64_t span_lanes = 8;

/// The greatest width of a column span. Over span_lanes a slice, from the first slice on.
template <class Offset>
struct GreatestSpan {
  using Sum = Greatest;
  CsrView<const NoValue, Offset> a;
  const std::int64_t* slice_offsets;
  Greatest* greatest;
  std::int64_t first = 0;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const std::int64_t slice = first + i / span_lanes,
                       width = (slice_offsets[slice + 1] - slice_offsets[slice]) / packed_slice;
    Sum most;
    for (std::int64_t k = i % span_lanes; k < width; k += span_lanes) {
      const ColumnSpan span = column_span(a, slice, k);
      if (span.max >= span.min) most += Sum{std::int64_t{span.max} - span.min};
    }
    return most;
  }
  constexpr void finish(const Sum& sum) const { *greatest = sum; }
};

/// bases of a slice. Over span_lanes a slice.
template <class Offset>
struct FillBases {
  using Sum = NoSum;
  CsrView<const NoValue, Offset> a;
  const std::int64_t* slice_offsets;
  std::int32_t* bases;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int64_t slice = i / span_lanes, first = slice_offsets[slice] / packed_slice,
                       end = slice_offsets[slice + 1] / packed_slice;
    for (std::int64_t k = first + i % span_lanes; k < end; k += span_lanes)
      bases[k] = column_span(a, slice, k - first).min;
    return {};
  }
};

/// The number of values that are not exact in single precision. Over the entries.
template <class T>
struct CountWide {
  using Sum = Count;
  const T* values;
  Count* wide;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t k) const { return {T(narrow_t<T>(values[k])) == values[k] ? 0 : 1}; }
  constexpr void finish(const Sum& sum) const { *wide = sum; }
};

/// The codes of all entries of row i, in those arrays that are not null. Over all places for rows.
template <class T, class Offset>
struct FillPacked {
  using Sum = NoSum;
  CsrView<const T, Offset> from;
  const std::int64_t* slice_offsets;
  const std::int32_t* bases = nullptr;    ///< for deltas
  const std::uint64_t* sorted = nullptr;  ///< words of values
  std::int32_t word_count = 0;
  std::int32_t* columns = nullptr;
  std::uint16_t* deltas = nullptr;
  T* values = nullptr;
  narrow_t<T>* narrow_values = nullptr;
  std::uint8_t* words = nullptr;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int64_t slice = i / packed_slice;
    const bool there = i < from.rows;
    Offset k = there ? from.row_offsets[i] : 0;
    const Offset end = there ? from.row_offsets[i + 1] : 0;
    const std::int64_t slice_end = slice_offsets[slice + 1];
#ifdef __CUDA_ARCH__
    constexpr int flight = 8;  // entries that are asked for before the first is used
#else
    constexpr int flight = 1;  // a processor looks ahead by itself
    if (words) return put_words(slice_offsets[slice] + i % packed_slice, slice_end, k, end);
#endif
    for (std::int64_t at = slice_offsets[slice] + i % packed_slice; at < slice_end;
         at += flight * packed_slice, k += flight) {
      std::int32_t column[flight] = {};
      T value[flight] = {};
      if (k < end)
        for (int u = 0; u < flight; ++u) {
          const Offset place = k + u < end ? k + u : end - 1;
          if (columns || deltas) column[u] = from.col_indices[place];
          if (values || narrow_values || words) value[u] = from.values[place];
        }
      for (int u = 0; u < flight; ++u)
        if (at + u * packed_slice < slice_end) put(at + u * packed_slice, k + u < end, column[u], value[u]);
    }
    return {};
  }

 private:
  /// The words of entries [k, end) at every packed_slice-th place from `at` on; they are filled by themselves. Values
  /// that follow each other are often the same.
  constexpr NoSum put_words(std::int64_t at, std::int64_t slice_end, Offset k, Offset end) const {
    std::uint8_t word = 0;
    for (Offset known = end; k < end; ++k, at += packed_slice) {
      if (known == end || !same_bits(from.values[k], from.values[known])) word = word_of(from.values[known = k]);
      words[at] = word;
    }
    for (; at < slice_end; at += packed_slice) words[at] = 0;
    return {};
  }
  constexpr void put(std::int64_t at, bool has, std::int32_t column, const T& value) const {
    if (columns) columns[at] = has ? column : -1;
    if (deltas) deltas[at] = has ? static_cast<std::uint16_t>(column - bases[at / packed_slice]) : no_delta;
    if (values) values[at] = has ? value : T{};
    if (narrow_values) narrow_values[at] = has ? narrow_t<T>(value) : narrow_t<T>{};
    if (words) words[at] = has ? word_of(value) : 0;
  }
  constexpr std::uint8_t word_of(const T& value) const {
    if constexpr (sizeof(T) <= sizeof(std::uint64_t))
      return static_cast<std::uint8_t>(place_of(sorted, word_count, ValueWords<T>{&value}(0)));
    else
      return 0;
  }
};

/// The column at a place, -1 where there is none; of codes that each place has for itself.
template <ColumnCode columns, class T>
constexpr std::int64_t packed_column(const PackedView<const T>& a, std::int64_t at) {
  static_assert(columns != ColumnCode::pattern);
  if constexpr (columns == ColumnCode::absolute) return a.columns[at];
  const std::uint16_t delta = a.deltas[at];
  return delta == no_delta ? -1 : std::int64_t{a.bases[at / packed_slice]} + delta;
}
/// The value at a place.
template <ValueCode values, class T>
constexpr T packed_value(const PackedView<const T>& a, const T* dictionary, std::int64_t at) {
  static_assert(values != ValueCode::pattern);
  if constexpr (values == ValueCode::full)
    return a.values[at];
  else if constexpr (values == ValueCode::narrow)
    return T(a.narrow_values[at]);
  else
    return dictionary[a.words[at]];
}

/// f with the codes of a view as constants.
template <class F>
constexpr decltype(auto) with_codes(ColumnCode columns, ValueCode values, F&& f) {
  constexpr std::integral_constant<ColumnCode, ColumnCode::pattern> by_pattern{};
  if (values == ValueCode::pattern) return f(by_pattern, std::integral_constant<ValueCode, ValueCode::pattern>{});
  const auto with_values = [&](auto column_code) {
    switch (values) {
      case ValueCode::narrow:
        return f(column_code, std::integral_constant<ValueCode, ValueCode::narrow>{});
      case ValueCode::dictionary:
        return f(column_code, std::integral_constant<ValueCode, ValueCode::dictionary>{});
      case ValueCode::full:
      case ValueCode::pattern:
        break;
    }
    return f(column_code, std::integral_constant<ValueCode, ValueCode::full>{});
  };
  switch (columns) {
    case ColumnCode::delta16:
      return with_values(std::integral_constant<ColumnCode, ColumnCode::delta16>{});
    case ColumnCode::pattern:
      return with_values(by_pattern);
    case ColumnCode::absolute:
      break;
  }
  return with_values(std::integral_constant<ColumnCode, ColumnCode::absolute>{});
}

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct PackedPasses {
  template <class Words>
  using FindWords = void(const Where&, std::int64_t, Words, std::uint64_t*, std::int32_t*);
  template <class V>
  using NameRows = void(const Where&, const NamePatterns<V, Offset>&);
  template <class V>
  using CompareRows = void(const Where&, const ComparePatterns<V, Offset>&);
  template <class V>
  static constexpr auto patterns = std::tuple_cat(passes<Where, FillPatterns<V, Offset>>,
                                                  std::tuple{instance<FindWords<PatternWords<V, Offset>>>(find_words),
                                                             instance<NameRows<V>>(name_patterns),
                                                             instance<CompareRows<V>>(compare_patterns)});
  static constexpr auto list =
      std::tuple_cat(patterns<NoValue>, patterns<T>,
                     passes<Where, GreatestSpan<Offset>, FillBases<Offset>, UniformSlices, FillPacked<T, Offset>>);
  static constexpr auto product = instance<void(const Where&, const Product<PackedView<const T>>&)>(run_product);
};
/// Words of a dictionary's values are those of 8 bytes at most.
template <class Where>
struct PackedWords {
  template <class T>
  static constexpr auto value_words =
      instance<void(const Where&, std::int64_t, ValueWords<T>, std::uint64_t*, std::int32_t*)>(find_words);
  static constexpr std::tuple list{value_words<float>, value_words<double>, value_words<Complex<float>>,
                                   passes<Where, CountWide<double>, CountWide<Complex<double>>>};
};

}  // namespace krill::detail
