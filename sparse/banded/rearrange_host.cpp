#include "sparse/banded/rearrange.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {
namespace {

constexpr std::int64_t tile = 16;  // rows, and systems, that stay in the first cache; not varied

}  // namespace

template <class T>
void run_rearrangement(const Host& host, const Rearrangement<T>& r) {
  if (host.skip.now()) return;
  const std::int64_t rows = r.from_layout.rows, batch = r.from_layout.batch;
  const bool by_system = !r.to_layout.is_interleaved();
  const std::int64_t tiles_down = (rows + tile - 1) / tile, tiles_across = (batch + tile - 1) / tile;
  for_blocks(host, tiles_down * tiles_across, 16, rows * batch, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      // What is written next lies beside what was written last.
      const std::int64_t down = by_system ? t % tiles_down : t / tiles_across;
      const std::int64_t across = by_system ? t / tiles_down : t % tiles_across;
      const std::int64_t last_row = std::min(rows, (down + 1) * tile), last = std::min(batch, (across + 1) * tile);
      for (std::int64_t a = by_system ? across * tile : down * tile; a < (by_system ? last : last_row); ++a)
        for (std::int64_t c = by_system ? down * tile : across * tile; c < (by_system ? last_row : last); ++c) {
          const std::int64_t i = by_system ? c : a, j = by_system ? a : c;
          r.to[r.to_layout.at(i, j)] = r.from[r.from_layout.at(i, j)];
        }
    }
  });
}

KRILL_INSTANTIATE(RearrangementKernels, Host);

}  // namespace krill::detail
