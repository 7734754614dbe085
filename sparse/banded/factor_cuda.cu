#include "sparse/banded/ends.cuh"
#include "sparse/banded/factor_steps.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::detail {
namespace {

struct Tuning {
  /// Of a band, in the rows that are loaded before they are needed. Not varied.
  static constexpr std::size_t bytes_ahead = 128, bytes_ahead_of_five = 64;
  static constexpr int ahead(int diagonals, std::size_t entry_bytes) {
    return static_cast<int>((diagonals == 5 ? bytes_ahead_of_five : bytes_ahead) / entry_bytes);
  }
  static constexpr std::size_t kept_bytes = BandThreadTuning::kept_bytes;
};
constexpr int threads = end_threads;

/// The factor of a thread's end.
template <class T, class Byte>
__device__ FactorRows<T> rows_of(const BandLayout& matrices, const EndOfThread& me, T* words, Byte* exchanges) {
  const std::int64_t batch = matrices.batch, j = me.some && batch > 1 ? me.system : 0;
  const FactorRows<T> rows{words + j, exchanges ? exchanges + j : nullptr, matrices.unknowns(), batch};
  return me.end == 0 ? rows : rows.reversed(matrices.rows);
}

/// Threads: one a system, or one for each of its ends. Bytes: bands read, words and exchanges written, once; whole
/// lines where systems are interleaved. Races: a thread touches rows of its end alone until a barrier, then those in
/// the middle.
template <class Steps, int ahead, class T>
__global__ void __launch_bounds__(threads) factor_kernel(BandedFactoring<T> s, Skip skip) {
  constexpr int half = Steps::ahead;
  __shared__ std::int32_t zero_of_last[threads / 2];
  if (skip.now()) return;
  const EndOfThread me(s.ends, s.a.layout.batch);
  const std::int32_t count = me.some ? s.ends.count(me.end) : 0;
  const FactorRows<T> rows = rows_of(s.a.layout, me, s.words, s.exchanges);
  std::int32_t zero_row = no_row;
  if (me.some) {
    BandedSystem<T> system = system_without_rhs(s, me.system);
    if (me.end == 1) system = system.reversed();
    Steps steps;
    steps.start(system);
    for_loaded_rows<ahead>(
        count,
        [&](std::int32_t i) {
          return i < count ? system.template row<Steps::diagonals>(i + half) : BandRow<T, Steps::diagonals>();
        },
        [&](std::int32_t i, const auto& row) {
          FactorLog<T, half> log;
          const auto made = steps.step(row, log);
          keep_factor_row(rows, i, log, made, zero_row);
        });
    if (s.ends.number == 2) keep_left_over(rows, count, steps.present);
  }
  if (s.ends.number == 2 && me.end == 1) zero_of_last[me.lane] = zero_row;
  __syncthreads();
  if (!me.some || me.end == 1) return;
  const std::int32_t last = s.ends.number == 2 ? zero_of_last[me.lane] : no_row;
  s.zero_rows[me.system] = zero_row_of_factor<Steps::method, T, half>(
      s.ends, {rows.words, rows.exchanges, rows.plane, rows.step}, zero_row, last);
}

/// Threads: one a system, or one for each of its ends. Bytes: factor and b read, x written, once; where what goes down
/// does not fit into shared memory it goes through x, written and read once more. Races: until both ends have met at
/// barriers a thread touches rows of its end alone; b may be x, as row i of it is read before x has row i.
template <class Steps, bool in_shared, int ahead, class T>
__global__ void __launch_bounds__(threads) factored_kernel(FactoredSolve<T> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int half = Steps::ahead, above = Steps::above;
  if (skip.now()) return;
  const EndOfThread me(s.ends, s.vectors.batch);
  const std::int32_t n = s.vectors.rows, count = me.some ? s.ends.count(me.end) : 0;
  const FactorRows<const T> rows = rows_of(s.matrices, me, s.words, s.exchanges);
  const std::int64_t first = s.vectors.at(me.end == 0 ? 0 : n - 1, me.some ? me.system : 0);
  const std::int64_t step = me.end == 0 ? s.vectors.row_stride : -s.vectors.row_stride;
  const T* const b = s.b + first;
  T* const x = s.x + first;
  T* const kept = in_shared ? reinterpret_cast<T*>(memory) + threadIdx.x : x;
  const std::int64_t kept_step = in_shared ? threads : step;

  RhsSteps<Steps::method, T, half> steps;
  if (me.some) {
#pragma unroll
    for (int r = 0; r < half; ++r)
      if (r < n) steps.present[r] = b[r * step];
  }
  for_loaded_rows<ahead>(
      count,
      [&](std::int32_t i) {
        FactorDown<T, half> row;
        if (i >= count) return row;
        row.load(rows, i);
        if (i + half < n) row.b = b[(i + half) * step];
        return row;
      },
      [&](std::int32_t i, const FactorDown<T, half>& row) {
        kept[i * kept_step] = steps.step(row.b, row.log) * row.inverse;
      });

  Equation<T, 2 * half + 1> left[half];
  if (me.some && s.ends.number == 2) load_left_over(rows, count, steps.present, left);
  std::int32_t zero_row = no_row;
  const auto load = [&](UpperRow<T, above>& row, std::int32_t i) {
#pragma unroll
    for (int k = 0; k < above; ++k) row.entries[k] = rows.word(half + 1 + k, i);
    row.rhs = kept[i * kept_step];
  };
  substitute_end<Steps::method, ahead>(me, s.ends, left, count, x, step, zero_row, load);
}

}  // namespace

template <class T>
void run_factoring(const Cuda& cuda, int diagonals, BandedMethod method, const BandedFactoring<T>& s) {
  with_factor_steps<T>(diagonals, method, [&]<class Steps>(std::type_identity<Steps>) {
    constexpr int ahead = Tuning::ahead(Steps::diagonals, sizeof(T));
    factor_kernel<Steps, ahead, T><<<blocks_of_ends(s.ends, s.a.layout.batch), threads, 0, cuda.stream>>>(s, cuda.skip);
    check(cudaGetLastError());
  });
}

template <class T>
void run_factored(const Cuda& cuda, int diagonals, BandedMethod method, const FactoredSolve<T>& s) {
  with_factor_steps<T>(diagonals, method, [&]<class Steps>(std::type_identity<Steps>) {
    constexpr int ahead = Tuning::ahead(Steps::diagonals, sizeof(T));
    const unsigned blocks = blocks_of_ends(s.ends, s.vectors.batch);
    const std::size_t kept = static_cast<std::size_t>(s.ends.count(s.ends.number - 1)) * sizeof(T);
    if (kept > Tuning::kept_bytes) {
      factored_kernel<Steps, false, ahead, T><<<blocks, threads, 0, cuda.stream>>>(s, cuda.skip);
    } else {
      constexpr auto kernel = factored_kernel<Steps, true, ahead, T>;
      resident_blocks<kernel>(cuda, threads * kept, threads);  // allows so much shared memory
      kernel<<<blocks, threads, threads * kept, cuda.stream>>>(s, cuda.skip);
    }
    check(cudaGetLastError());
  });
}

KRILL_INSTANTIATE(FactorKernels, Cuda);

}  // namespace krill::detail
