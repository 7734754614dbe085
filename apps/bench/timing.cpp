#include "apps/bench/timing.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sparse/core/stopwatch.hpp"

namespace krill::apps::bench {
namespace {

constexpr double round_ms = 20;
constexpr double total_ms = 800;  // rounds of slow calls become fewer
constexpr int max_rounds = 9, min_rounds = 3;
constexpr std::size_t min_enqueued = 20, max_calls = 20'000;
constexpr std::size_t max_copies = 256;

/// The L2 cache of an H200, the largest of NVIDIA's so far.
constexpr double device_cache = 60e6;
/// Hosts have between less and far more, of which a process gets a part.
constexpr double min_host_cache = 16e6, max_host_cache = 64e6;

}  // namespace

double once_ms(Context& ctx, const std::function<void()>& work) {
  ctx.synchronize();
  const Stopwatch watch;
  work();
  ctx.synchronize();
  return watch.milliseconds();
}

Timing measure(Context& ctx, std::size_t copies, const std::function<void(std::size_t)>& call) {
  const auto run = [&](std::size_t calls) {
    for (std::size_t i = 0; i < calls; ++i) call(i % copies);
  };
  run(copies);
  // Short calls are enqueued many at a time, so that their launches overlap.
  const bool overlaps = ctx.on_cuda() && once_ms(ctx, [&] { run(1); }) < round_ms;
  const std::size_t trial = std::max<std::size_t>(copies, overlaps ? min_enqueued : 1);
  const double estimate = std::max(once_ms(ctx, [&] { run(trial); }) / static_cast<double>(trial), 1e-5);
  const auto wanted = static_cast<std::size_t>(std::min(round_ms / estimate, double{max_calls}));
  const std::size_t turns = (std::max(wanted, trial) + copies - 1) / copies, calls = turns * copies;
  const double affordable = total_ms / (estimate * static_cast<double>(calls));
  const int rounds = static_cast<int>(std::clamp(affordable, double{min_rounds}, double{max_rounds}));

  std::vector<double> times;
  times.reserve(max_rounds);
  for (int r = 0; r < rounds; ++r) times.push_back(once_ms(ctx, [&] { run(calls); }) / static_cast<double>(calls));
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  return {median, (times.back() - times.front()) / median};
}

double cold_bytes(const Context& ctx) {
  if (ctx.on_cuda()) return 4 * device_cache;
  const long last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return 4 * std::clamp(static_cast<double>(last_level), min_host_cache, max_host_cache);
}

Rotation rotation(double bytes, double cold_bytes, bool warm) {
  if (warm) return {};
  const double wanted = std::ceil(cold_bytes / std::max(bytes, 1.0));
  if (wanted > double{max_copies}) return {};
  return {static_cast<std::size_t>(std::max(wanted, 1.0)), true};
}

}  // namespace krill::apps::bench
