#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "sparse/convert/reduce_rows_host.hpp"
#include "sparse/spmv/packed_passes.hpp"
#include "sparse/spmv/row_tiles.hpp"

namespace krill::detail {
namespace {

/// Adds a word to an ascending list of at most max_words + 1.
void add_word(std::vector<std::uint64_t>& list, std::uint64_t word) {
  const auto at = std::lower_bound(list.begin(), list.end(), word);
  if (at != list.end() && *at == word) return;
  if (list.size() <= max_words) list.insert(at, word);
}

}  // namespace

template <class Words>
void find_words(const Host& host, std::int64_t n, Words word, std::uint64_t* found, std::int32_t* count) {
  std::vector<std::uint64_t> all;
  std::mutex guard;
  std::atomic<bool> too_many = false;
  for_blocks(host, n, 65'536, n, [&](std::int64_t begin, std::int64_t end) {
    if (too_many.load(std::memory_order_relaxed)) return;
    std::uint64_t last = word(begin), before = last;  // often they take turns
    std::vector<std::uint64_t> mine{last};
    for (std::int64_t i = begin + 1; i < end && mine.size() <= max_words; ++i) {
      if (word.repeats(i)) continue;
      const std::uint64_t now = word(i);
      if (now == last || now == before) continue;
      before = last;
      add_word(mine, last = now);
    }
    const std::lock_guard lock(guard);
    for (const std::uint64_t w : mine) add_word(all, w);
    if (all.size() > max_words || (!all.empty() && all.back() == no_word)) too_many = true;
  });
  *count = too_many ? max_words + 1 : static_cast<std::int32_t>(all.size());
  if (!too_many) std::copy(all.begin(), all.end(), found);
}

template <class V, class Offset>
void name_patterns(const Host& host, const NamePatterns<V, Offset>& names) {
  const PatternWords<V, Offset> words = names.words();
  for_blocks(host, names.a.rows, sum_block, names.a.rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      if (i > begin && words.repeats(i))
        names.patterns[i] = names.patterns[i - 1];
      else
        names.name(i, words(i));
  });
}

template <class V, class Offset>
void compare_patterns(const Host& host, const ComparePatterns<V, Offset>& rows) {
  const CsrView<const V, Offset>& a = rows.a;
  const PatternWords<V, Offset> words{a};
  rows.finish(sum_over_blocks<Count>(host, a.rows, a.nnz, [&](std::int64_t begin, std::int64_t end) {
    Count all, different;  // the last row's
    for (std::int64_t i = begin; i < end; ++i) {
      if (i == begin || rows.patterns[i] != rows.patterns[i - 1] || !words.repeats(i)) {
        Count entries;
        for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) entries += rows.entry(i, k);
        different = rows.finish_row(i, entries);
      }
      all += different;
    }
    return all;
  }));
}

/// sums[i] of the rows of a slice. With row patterns row after row, for a pattern is found once a row, and the slice is
/// narrow; else column after column, as the places lie. Both add up a row in the same order.
template <ColumnCode columns, ValueCode values, class T>
void sums_of_slice(const PackedView<const T>& a, const T* x, std::int64_t slice, std::int64_t rows, T* sums) {
  const std::int64_t first = slice * packed_slice, begin = a.slice_offsets[slice];
  if constexpr (columns == ColumnCode::pattern) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int32_t id = a.patterns[first + i], start = id * a.pattern_width;
      T sum{};
      for (std::int32_t k = 0; k < a.lengths[id]; ++k) {
        const T& with = x[first + i + a.table[start + k]];
        if constexpr (values == ValueCode::pattern)
          sum += a.pattern_values[start + k] * with;
        else
          sum += packed_value<values>(a, a.dictionary, begin + k * packed_slice + i) * with;
      }
      sums[i] = sum;
    }
  } else {
    const std::int64_t width = (a.slice_offsets[slice + 1] - begin) / packed_slice;
    std::fill(sums, sums + rows, T{});
    for (std::int64_t k = 0; k < width; ++k)
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t at = begin + k * packed_slice + i, col = packed_column<columns>(a, at);
        if (col >= 0) sums[i] += packed_value<values>(a, a.dictionary, at) * x[col];
      }
  }
}

template <class T>
void run_product(const Host& host, const Product<PackedView<const T>>& p) {
  const std::int64_t slices = ceil_div(p.a.rows, packed_slice);
  const std::int64_t work = (slices ? p.a.slice_offsets[slices] : 0) + p.a.rows;
  const auto run = [&](auto columns, auto values) {
    for_row_tiles(host, p, slices, tile_of(slices, work), work,
                  [&](const Product<PackedView<const T>>& now, std::int64_t begin, std::int64_t end) {
                    typename DotsView<T>::Sum part;
                    for (std::int64_t slice = begin; slice < end; ++slice) {
                      const std::int64_t first = slice * packed_slice,
                                         rows = std::min<std::int64_t>(packed_slice, now.a.rows - first);
                      T sums[packed_slice];
                      sums_of_slice<columns.value, values.value>(now.a, now.x, slice, rows, sums);
                      for (std::int64_t i = 0; i < rows; ++i) part += now.store(first + i, sums[i]);
                    }
                    return part;
                  });
  };
  with_codes(p.a.column_code, p.a.value_code, run);
}

KRILL_INSTANTIATE_WITH_OFFSETS(PackedPasses, Host);
template class PackedWords<Host>;

}  // namespace krill::detail
