#include "sparse/banded/elimination.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {
namespace {

struct Tuning {
  /// Interleaved systems, or columns of one system, that go on together. Not varied.
  static constexpr std::int64_t lanes = 8;
};

/// Systems first to last - 1, row after row of all of them.
template <class Steps, class T>
void solve_systems(const BandedSolve<T>& s, std::int64_t first, std::int64_t last) {
  BandedSystem<T> systems[Tuning::lanes];
  KeptRows<T> kept[Tuning::lanes];
  Steps steps[Tuning::lanes];
  BackSteps<T, Steps::above> back[Tuning::lanes];
  std::int32_t zero_rows[Tuning::lanes];
  const auto lanes = static_cast<int>(last - first);
  for (int lane = 0; lane < lanes; ++lane) {
    systems[lane] = BandedSystem<T>(s, first + lane);
    kept[lane] = kept_in_work(s, systems[lane], first + lane);
    steps[lane].start(systems[lane]);
    zero_rows[lane] = no_row;
  }
  for (std::int32_t i = 0; i < s.rows(); ++i)
    for (int lane = 0; lane < lanes; ++lane) {
      const auto row = systems[lane].template row<Steps::diagonals>(i + Steps::ahead);
      keep_row(kept[lane], i, steps[lane].step(row), zero_rows[lane]);
    }
  for (std::int32_t i = s.rows() - 1; i >= 0; --i)
    for (int lane = 0; lane < lanes; ++lane) {
      T entries[Steps::above];
      for (int k = 0; k < Steps::above; ++k) entries[k] = kept[lane].above[k * kept[lane].plane + i * kept[lane].step];
      T& x = kept[lane].x[i * kept[lane].x_step];
      x = back[lane].step(entries, x);
    }
  for (int lane = 0; lane < lanes; ++lane) s.zero_rows[first + lane] = zero_rows[lane];
}

}  // namespace

template <class T>
void run_banded(const Host& host, int diagonals, BandedMethod method, const BandedSolve<T>& s) {
  if (host.skip.now()) return;
  const bool one_matrix = s.a.layout.batch_stride == 0;
  const std::int64_t lanes = one_matrix || s.vectors.is_interleaved() ? Tuning::lanes : 1;
  with_steps<T>(diagonals, method, [&]<class Steps>(std::type_identity<Steps>) {
    for_blocks(host, s.vectors.batch, lanes, s.vectors.unknowns(),
               [&](std::int64_t first, std::int64_t last) { solve_systems<Steps>(s, first, last); });
  });
}

KRILL_INSTANTIATE(BandedKernels, Host);

}  // namespace krill::detail
