// Passes over an index range on the host. See pass.hpp for what a pass is.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "sparse/core/pass.hpp"
#include "sparse/core/team.hpp"

namespace krill {

namespace detail {

inline constexpr std::int64_t sum_block = 4096;  // entries added in order by one thread
inline constexpr int sum_lanes = 8;              // independent sums inside a block: breaks the chain of additions

/// f(i) for i in [begin, end), summed in sum_lanes interleaved lanes. f: a copy, which no store of f can change. By
/// reference, x += a p, r -= a q with its norm took four times as long in the cache.
template <class T, class F>
T lane_sum(std::int64_t begin, std::int64_t end, F f) {
  T lanes[sum_lanes] = {};
  std::int64_t i = begin;
  for (; i + sum_lanes <= end; i += sum_lanes)
    for (int lane = 0; lane < sum_lanes; ++lane) lanes[lane] += f(i + lane);
  for (; i < end; ++i) lanes[0] += f(i);
  for (int lane = 1; lane < sum_lanes; ++lane) lanes[0] += lanes[lane];
  return lanes[0];
}

}  // namespace detail

/// f(begin, end) for blocks of at most `block` indices that cover [0, n), in parallel where `work` is worth it.
template <class F>
void for_blocks(const Host& host, std::int64_t n, std::int64_t block, std::int64_t work, F&& f) {
  const std::int64_t blocks = (n + block - 1) / block;
  const int threads = host.threads_for(work);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (std::int64_t b = 0; b < blocks; ++b) f(b * block, std::min(n, (b + 1) * block));
}

/// f(i) for i in [0, n), in parallel where n is worth it.
template <class F>
void for_each_index(const Host& host, std::int64_t n, F&& f) {
  for_blocks(host, n, detail::sum_block, n, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  });
}

/// The sum of partial(begin, end) over fixed blocks of [0, n), added in order: repeatable bitwise for any number of
/// threads. All calls together cost about `work` operations.
template <class T, class F>
T sum_over_blocks(const Host& host, std::int64_t n, std::int64_t work, F&& partial) {
  const std::int64_t blocks = (n + detail::sum_block - 1) / detail::sum_block;
  Frame frame(host);
  T* partials = frame.take<T>(static_cast<std::size_t>(blocks));
  for_blocks(host, n, detail::sum_block, work,
             [&](std::int64_t begin, std::int64_t end) { partials[begin / detail::sum_block] = partial(begin, end); });
  T total{};
  for (std::int64_t b = 0; b < blocks; ++b) total += partials[b];
  return total;
}

/// The sum of what the ranks of the tag's team have as `mine`, in their order: the same bits on all of them. `mine`
/// itself where there is no team.
template <class Sum>
Sum sum_over_team(const Host& host, const Sum& mine) {
  static_assert(std::is_trivially_copyable_v<Sum>);
  if (!host.team) return mine;
  const auto ranks = static_cast<std::size_t>(host.team->size());
  Frame frame(host);
  Sum* all = frame.take<Sum>(ranks);
  host.team->gather(&mine, all, sizeof mine);
  Sum total{};
  for (std::size_t r = 0; r < ranks; ++r) total += all[r];
  return total;
}

/// Runs a pass over [0, n) on the host. A team adds up the sums of its ranks, before finish(): begin() has the same
/// answer on all of them.
template <class Pass>
void run_pass(const Host& host, std::int64_t n, Pass pass) {
  using Sum = typename Pass::Sum;
  if (host.skip.now() || !pass.begin()) return;
  // Every block works with a copy of its own, which no store to a vector can change: its members stay in registers.
  if constexpr (std::is_same_v<Sum, NoSum>)
    for_blocks(host, n, detail::sum_block, n, [&](std::int64_t begin, std::int64_t end) {
      const Pass mine = pass;
      for (std::int64_t i = begin; i < end; ++i) mine.entry(i);
    });
  else
    pass.finish(sum_over_team(host, sum_over_blocks<Sum>(host, n, n, [&](std::int64_t begin, std::int64_t end) {
                                const Pass mine = pass;
                                return detail::lane_sum<Sum>(begin, end,
                                                             [mine](std::int64_t i) { return mine.entry(i); });
                              })));
}

}  // namespace krill
