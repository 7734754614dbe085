#include <algorithm>

#include "sparse/convert/prune.hpp"
#include "sparse/convert/prune_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill {

using namespace detail;

template <class T>
void threshold_of_rank(const Host& host, const ValueLines<T>& from, std::int64_t rank, double* threshold) {
  if (host.skip.now()) return;
  Frame frame(host);
  auto* orders = frame.take<MagnitudeOrder<T>>(static_cast<std::size_t>(from.size()));
  for_each_index(host, from.size(), [&](std::int64_t k) { orders[k] = magnitude_order(from.at(k)); });
  std::nth_element(orders, orders + rank, orders + from.size());
  *threshold = threshold_at(orders[rank]);
}

}  // namespace krill

namespace krill::detail {

template <class T>
void mark_above(const Host& host, std::int64_t size, const T* values, double threshold, KeptWord* words,
                std::int64_t* counts) {
  if (host.skip.now()) return;
  for_blocks(host, size, Kept::tile, size, [&](std::int64_t begin, std::int64_t end) {
    std::uint32_t count = 0;
    for (std::int64_t w = begin / Kept::word; w < begin / Kept::word + Kept::words; ++w) {
      const std::int64_t first = w * Kept::word;
      const int there = static_cast<int>(std::clamp<std::int64_t>(end - first, 0, Kept::word));
      words[w] = {0, count};
      for (int i = 0; i < there; ++i)
        if (is_above(values[first + i], threshold)) words[w].bits |= std::uint32_t{1} << i, ++count;
    }
    counts[begin / Kept::tile] = count;
  });
}

template <class T>
void copy_kept(const Host& host, std::int64_t size, const Kept& kept, const EntryList<const T>& from,
               const EntryList<T>& to) {
  if (host.skip.now()) return;
  for_blocks(host, size, Kept::tile, size, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t at = kept.starts[begin / Kept::tile];
    for (std::int64_t k = begin; k < end; ++k)
      if (kept.has(k)) to.columns[at] = from.columns[k], to.values[at++] = from.values[k];
  });
}

template class KeptPasses<std::int32_t, Host>;
template class KeptPasses<std::int64_t, Host>;
KRILL_INSTANTIATE_WITH_OFFSETS(CountAboveKernels, Host);
KRILL_INSTANTIATE(PruneKernels, Host);
template class CountAboveKernels<Half, std::int32_t, Host>;
template class CountAboveKernels<Half, std::int64_t, Host>;
template class PruneKernels<Half, Host>;

}  // namespace krill::detail
