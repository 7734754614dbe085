#include "sparse/banded/ends.cuh"
#include "sparse/core/instantiate.hpp"

namespace krill::detail {
namespace {

constexpr int threads = end_threads;

/// Rows whose entries in a band have so many bytes, at least two.
constexpr int rows_in(std::size_t bytes, std::size_t entry_bytes) {
  return bytes < 2 * entry_bytes ? 2 : static_cast<int>(bytes / entry_bytes);
}

/// Threads: one a system, or one for each of its ends; each keeps its triangle in shared memory or in the workspace and
/// x, and loads `ahead` rows before it needs them. Bytes: bands, b and x once; through the workspace, each entry above
/// the diagonal and x written and read, too; whole lines where systems are interleaved. Races: until both ends have met
/// at barriers a thread touches rows of its end alone; b may be x, as row i of it is read before x has row i.
template <class Steps, bool in_shared, int ahead, class T>
__global__ void __launch_bounds__(threads) banded_kernel(BandedSolve<T> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int half = Steps::ahead, above = Steps::above;
  if (skip.now()) return;
  const EndOfThread me(s.ends, s.vectors.batch);
  const std::int64_t j = me.some ? me.system : 0;
  const std::int32_t count = me.some ? s.ends.count(me.end) : 0;
  BandedSystem<T> system(s, j);
  KeptRows<T> kept{};
  if constexpr (in_shared) {
    T* const mine = reinterpret_cast<T*>(memory) + threadIdx.x;
    const std::int64_t plane = std::int64_t{s.ends.count(s.ends.number - 1)} * threads;
    kept = {mine, plane, threads, mine + above * plane, threads};
  } else {
    kept = kept_in_work(s, system, j);
    if (me.end == 1) kept = kept.reversed(s.rows());
  }
  if (me.end == 1) system = system.reversed();

  Steps steps;
  std::int32_t zero_row = no_row;
  if (me.some) steps.start(system);
  for_loaded_rows<ahead>(
      count,
      [&](std::int32_t i) {
        return i < count ? system.template row<Steps::diagonals>(i + half) : BandRow<T, Steps::diagonals>();
      },
      [&](std::int32_t i, const auto& row) { keep_row(kept, i, steps.step(row), zero_row); });

  const auto load = [&](UpperRow<T, above>& row, std::int32_t i) {
#pragma unroll
    for (int k = 0; k < above; ++k) row.entries[k] = kept.above[k * kept.plane + i * kept.step];
    row.rhs = kept.x[i * kept.x_step];
  };
  substitute_end<Steps::method, ahead>(me, s.ends, steps.present, count, system.x, system.rhs_stride, zero_row, load);
  if (me.some && me.end == 0) s.zero_rows[j] = zero_row;
}

template <auto kernel, class T>
void launch(const Cuda& cuda, const BandedSolve<T>& s, std::size_t shared) {
  resident_blocks<kernel>(cuda, shared, threads);  // allows so much shared memory
  kernel<<<blocks_of_ends(s.ends, s.vectors.batch), threads, shared, cuda.stream>>>(s, cuda.skip);
  check(cudaGetLastError());
}

}  // namespace

template <class T>
void run_banded(const Cuda& cuda, int diagonals, BandedMethod method, const BandedSolve<T>& s) {
  using Tuning = BandThreadTuning;
  with_steps<T>(diagonals, method, [&]<class Steps>(std::type_identity<Steps>) {
    constexpr int few = rows_in(Tuning::bytes_ahead_of_short, sizeof(T));
    constexpr int many = rows_in(Steps::diagonals == 5 ? Tuning::bytes_ahead_of_five : Tuning::bytes_ahead, sizeof(T));
    const std::int32_t rows = s.ends.count(s.ends.number - 1);
    const std::size_t shared = threads * triangle_bytes(rows, Steps::above, sizeof(T));
    if (!kept_in_shared(rows, Steps::above, sizeof(T)))
      launch<banded_kernel<Steps, false, many, T>>(cuda, s, 0);
    else if constexpr (Steps::diagonals == 3)
      rows <= Tuning::short_rows ? launch<banded_kernel<Steps, true, few, T>>(cuda, s, shared)
                                 : launch<banded_kernel<Steps, true, many, T>>(cuda, s, shared);
    else
      launch<banded_kernel<Steps, true, few, T>>(cuda, s, shared);
  });
}

KRILL_INSTANTIATE(BandedKernels, Cuda);

}  // namespace krill::detail
