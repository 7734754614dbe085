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
  Steps steps[Tuning::lanes];
  BackSteps<Steps> back[Tuning::lanes];
  const std::int64_t lanes = last - first;
  for (std::int64_t lane = 0; lane < lanes; ++lane) steps[lane].start(s, first + lane);
  for (std::int64_t i = 0; i < s.rows(); ++i)
    for (std::int64_t lane = 0; lane < lanes; ++lane) steps[lane].step(s, i, first + lane);
  for (std::int64_t i = s.rows() - 1; i >= 0; --i)
    for (std::int64_t lane = 0; lane < lanes; ++lane) back[lane].step(s, i, first + lane);
  for (std::int64_t lane = 0; lane < lanes; ++lane) s.zero_rows[first + lane] = steps[lane].zero_row;
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
