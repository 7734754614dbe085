#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

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
    std::vector<std::uint64_t> mine;
    std::uint64_t last = no_word;
    for (std::int64_t i = begin; i < end && mine.size() <= max_words; ++i) {
      const std::uint64_t now = word(i);
      if (now == last && i > begin) continue;
      add_word(mine, last = now);
    }
    const std::lock_guard lock(guard);
    for (const std::uint64_t w : mine) add_word(all, w);
    if (all.size() > max_words || (!all.empty() && all.back() == no_word)) too_many = true;
  });
  *count = too_many ? max_words + 1 : static_cast<std::int32_t>(all.size());
  if (!too_many) std::copy(all.begin(), all.end(), found);
}

/// Slice by slice, the sums of its rows carried through its places.
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
                                         slice_end = std::min<std::int64_t>(first + packed_slice, now.a.rows);
                      const std::int64_t width =
                          (now.a.slice_offsets[slice + 1] - now.a.slice_offsets[slice]) / packed_slice;
                      T sums[packed_slice] = {};
                      for (std::int64_t k = 0; k < width; ++k)
                        for (std::int64_t i = first; i < slice_end; ++i)
                          sums[i - first] += packed_term<columns.value, values.value>(
                              now.a, now.a.patterns ? now.a.table + now.a.patterns[i] * now.a.pattern_width : nullptr,
                              now.a.dictionary, i, k, now.a.slice_offsets[slice] + k * packed_slice + i - first, now.x);
                      for (std::int64_t i = first; i < slice_end; ++i) part += now.store(i, sums[i - first]);
                    }
                    return part;
                  });
  };
  with_codes(p.a.column_code, p.a.value_code, run);
}

KRILL_INSTANTIATE_WITH_OFFSETS(PackedPasses, Host);
template class PackedWords<Host>;

}  // namespace krill::detail
