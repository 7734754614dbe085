#include "sparse/banded/elimination.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

constexpr int threads = BandThreadTuning::threads;

/// Rows whose entries in a band have so many bytes, at least two.
constexpr int rows_in(std::size_t bytes, std::size_t entry_bytes) {
  return bytes < 2 * entry_bytes ? 2 : static_cast<int>(bytes / entry_bytes);
}

/// Row i of a triangle: what is right of its diagonal, and its right-hand side.
template <class T, int above>
struct KeptRow {
  T entries[above] = {};
  T rhs{};

  __device__ void load(const KeptRows<T>& kept, std::int32_t i) {
    if (i < 0) return;
#pragma unroll
    for (int k = 0; k < above; ++k) entries[k] = kept.above[k * kept.plane + i * kept.step];
    rhs = kept.x[i * kept.x_step];
  }
};

/// Threads: one a system, which keeps its triangle in shared memory or in the workspace and x, and loads `ahead` rows
/// before it needs them. Bytes: bands, b and x once; through the workspace, each entry above the diagonal and x written
/// and read, too; whole lines where systems are interleaved. Races: a thread touches its own system alone; b may be x,
/// as row i of it is read before x has row i.
template <class Steps, bool in_shared, int ahead, class T>
__global__ void __launch_bounds__(threads) banded_kernel(BandedSolve<T> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  const std::int64_t j = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (skip.now() || j >= s.vectors.batch) return;
  const BandedSystem<T> system(s, j);
  const std::int32_t rows = system.rows;
  KeptRows<T> kept{};
  if constexpr (in_shared) {
    T* const mine = reinterpret_cast<T*>(memory) + threadIdx.x;
    kept = {mine, std::int64_t{rows} * threads, threads, mine + std::int64_t{Steps::above} * rows * threads, threads};
  } else {
    kept = kept_in_work(s, system, j);
  }

  Steps steps;
  steps.start(system);
  std::int32_t zero_row = no_row;
  BandRow<T, Steps::diagonals> loaded[ahead];
#pragma unroll
  for (int r = 0; r < ahead; ++r) loaded[r] = system.template row<Steps::diagonals>(r + Steps::ahead);
  for (std::int32_t first = 0; first < rows; first += ahead) {
#pragma unroll
    for (int r = 0; r < ahead; ++r) {
      const BandRow<T, Steps::diagonals> row = loaded[r];
      loaded[r] = system.template row<Steps::diagonals>(first + ahead + r + Steps::ahead);
      if (first + r < rows) keep_row(kept, first + r, steps.step(row), zero_row);
    }
  }

  BackSteps<T, Steps::above> back;
  KeptRow<T, Steps::above> kept_rows[ahead];
#pragma unroll
  for (int r = 0; r < ahead; ++r) kept_rows[r].load(kept, rows - 1 - r);
  for (std::int32_t last = rows - 1; last >= 0; last -= ahead) {
#pragma unroll
    for (int r = 0; r < ahead; ++r) {
      const KeptRow<T, Steps::above> row = kept_rows[r];
      kept_rows[r].load(kept, last - ahead - r);
      if (last - r >= 0) system.x[(last - r) * system.rhs_stride] = back.step(row.entries, row.rhs);
    }
  }
  s.zero_rows[j] = zero_row;
}

template <auto kernel, class T>
void launch(const Cuda& cuda, const BandedSolve<T>& s, std::size_t shared) {
  resident_blocks<kernel>(cuda, shared, threads);  // allows so much shared memory
  const std::int64_t blocks = (s.vectors.batch + threads - 1) / threads;
  kernel<<<static_cast<unsigned>(blocks), threads, shared, cuda.stream>>>(s, cuda.skip);
  check(cudaGetLastError());
}

}  // namespace

template <class T>
void run_banded(const Cuda& cuda, int diagonals, BandedMethod method, const BandedSolve<T>& s) {
  using Tuning = BandThreadTuning;
  with_steps<T>(diagonals, method, [&]<class Steps>(std::type_identity<Steps>) {
    constexpr int few = rows_in(Tuning::bytes_ahead_of_short, sizeof(T));
    constexpr int many = rows_in(Steps::diagonals == 5 ? Tuning::bytes_ahead_of_five : Tuning::bytes_ahead, sizeof(T));
    const std::size_t shared = threads * triangle_bytes(s.rows(), Steps::above, sizeof(T));
    if (!kept_in_shared(s.rows(), Steps::above, sizeof(T)))
      launch<banded_kernel<Steps, false, many, T>>(cuda, s, 0);
    else if (Steps::diagonals == 5 || s.rows() <= Tuning::short_rows)
      launch<banded_kernel<Steps, true, few, T>>(cuda, s, shared);
    else
      launch<banded_kernel<Steps, true, many, T>>(cuda, s, shared);
  });
}

KRILL_INSTANTIATE(BandedKernels, Cuda);

}  // namespace krill::detail
