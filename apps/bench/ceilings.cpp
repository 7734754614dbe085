#include "apps/bench/ceilings.hpp"

#include <algorithm>

#include "apps/bench/timing.hpp"
#include "sparse/vector/vector.hpp"

namespace krill::apps::bench {

Ceilings measure_ceilings(Context& ctx) {
  const std::int64_t n = std::int64_t{1} << (ctx.on_cuda() ? 27 : 25);
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(double);
  Array<double> x(n, "ceiling x"), y(n, "ceiling y"), z(n, "ceiling z"), sum(1);
  fill(ctx, 1.0, x);
  fill(ctx, 1.0, y);
  const auto gbps = [&](int arrays, const std::function<void()>& work) {
    return arrays * static_cast<double>(bytes) / measure(ctx, 1, [&](std::size_t) { work(); }).ms * 1e-6;
  };
  Ceilings found;
  found.copy =
      std::max(gbps(2, [&] { copy(ctx, x, z); }), gbps(2, [&] {
                 ctx.dispatch([&](const auto& where) { copy_bytes(where, z.write(where), x.read(where), bytes); });
               }));
  found.triad = std::max(gbps(3, [&] { multiply(ctx, x, y, z); }), gbps(3, [&] { axpby(ctx, 0.5, x, 0.5, y); }));
  found.read = std::max(gbps(1, [&] { norm2(ctx, x, sum); }), gbps(2, [&] { dot(ctx, x, y, sum); }));
  return found;
}

}  // namespace krill::apps::bench
