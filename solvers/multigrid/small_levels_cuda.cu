#include <algorithm>

#include "solvers/multigrid/small_levels.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmv/product.hpp"

namespace krill::detail {
namespace {

constexpr int cluster = 16, threads = 1024;  // multiprocessors, and threads of each. Not varied.
constexpr int flight = 4;                    // entries that a lane asks for before it uses the first. Not varied.

/// What any thread of the cluster has written before it, all of them read after it.
__device__ void wait_for_cluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/// The rows of a level, a team of lanes each, over the cluster: use(row, lane of the team), of whole warps.
template <class Use>
__device__ void for_rows(std::int32_t rows, int lanes, Use&& use) {
  const int teams = threads / lanes, lane = static_cast<int>(threadIdx.x) % lanes;
  for (int first = static_cast<int>(blockIdx.x) * teams; first < rows; first += cluster * teams)
    use(std::int64_t{first} + threadIdx.x / lanes, lane);
}

/// The sum of row i of a x, valid in lane 0 of the team; 0 beyond the last row.
template <class T, class Offset>
__device__ T row_sum(const CsrView<const T, Offset>& a, std::int64_t i, int lane, int lanes, const T* x) {
  T sum{};
  if (i < a.rows)
    for (Offset k = a.row_offsets[i] + lane, end = a.row_offsets[i + 1]; k < end; k += flight * lanes) {
      std::int32_t column[flight];
      T value[flight];
#pragma unroll
      for (int u = 0; u < flight; ++u) {
        const bool there = k + u * lanes < end;
        column[u] = there ? a.col_indices[k + u * lanes] : -1;
        value[u] = there ? a.values[k + u * lanes] : T{};
      }
#pragma unroll
      for (int u = 0; u < flight; ++u)
        if (column[u] >= 0) sum += value[u] * x[column[u]];
    }
  return lanes_sum(sum, lanes);
}

/// y_i = what the step makes of z_i less row i of A v.
template <class T, class Offset>
__device__ void take_step(const SmallLevel<T, Offset>& level, const T* v, const T* z, T* y, const StepView<T>& step) {
  const ReadFactors<T> factors = step.read_factors();
  for_rows(level.rows, level.lanes, [&](std::int64_t i, int lane) {
    const bool mine = i < level.rows && lane == 0;
    LoadedOperands<T> own;
    if (mine) own.of_z = z[i], step.fetch(i, own);
    const T sum = row_sum(level.a, i, lane, level.lanes, v);
    if (!mine) return;
    const T r = own.z() - sum;
    y[i] = step.inverse ? step.take(i, r, own, factors) : r;
  });
}

/// d of the first step from x = 0.
template <class T, class Offset>
__device__ T first_step(const SmallLevel<T, Offset>& level, std::int64_t i, T b) {
  return scaled(b, level.factors[1] * level.inverse[i]);
}

/// Steps from the second one on; `z`: the residual before. Barriers after all of them but the last of the cycle.
template <class T, class Offset>
__device__ void go_on(const SmallLevel<T, Offset>& level, const T* z, bool from_zero, bool is_end) {
  T *d = level.d, *next_d = level.next_d;
  for (int k = 1; k < level.degree; ++k) {
    const bool last = k + 1 == level.degree;
    T* const to = last ? level.x : z == level.r ? level.next_r : level.r;
    take_step(
        level, d, z, to,
        StepView<T>{level.inverse, level.factors + 3 * k, d, last ? nullptr : next_d, level.x, from_zero && k == 1});
    if (!(last && is_end)) wait_for_cluster();
    z = to;
    T* const former = d;
    d = next_d, next_d = former;
  }
}

/// b of the next level from r of this one, and that level's first step.
template <class T, class Offset>
__device__ void restrict_residual(const SmallLevel<T, Offset>& level, const SmallLevel<T, Offset>& next) {
  const int lanes = level.of_row ? 1 : level.lanes;
  for_rows(next.rows, lanes, [&](std::int64_t i, int lane) {
    T sum{};
    if (!level.of_row) {
      sum = row_sum(level.restriction, i, lane, lanes, level.r);
    } else if (i < next.rows) {
      for (std::int32_t k = level.offsets[i]; k < level.offsets[i + 1]; ++k) sum += level.r[level.members[k]];
    }
    if (i >= next.rows || lane != 0) return;
    next.b[i] = sum;
    if (!next.dense) next.d[i] = first_step(next, i, sum);
  });
}

template <class T, class Offset>
__device__ void add_correction(const SmallLevel<T, Offset>& level, const T* coarse) {
  constexpr int lanes = 4;  // rows of P are short. Not varied.
  for_rows(level.rows, lanes, [&](std::int64_t i, int lane) {
    T sum{};
    if (!level.of_row)
      sum = row_sum(level.p, i, lane, lanes, coarse);
    else if (i < level.rows && level.of_row[i] >= 0)
      sum = coarse[level.of_row[i]];
    if (i < level.rows && lane == 0) level.x[i] += scaled(sum, level.correction);
  });
}

// Threads: the blocks of one cluster go through the cycle together, with a barrier after each of its steps; in a step a
//   team of lanes has a row.
// Bytes: those of the steps; all of it stays in L2.
// Races: what a step writes is read behind a barrier; x is written in place by the rows' owners, in steps that do not
//   read others' x.
template <class T, class Offset>
__global__ void __launch_bounds__(threads) small_cycle_kernel(SmallCycle<T, Offset> cycle, Skip skip) {
  if (skip.now()) return;
  const int last = cycle.count - 1;
  const SmallLevel<T, Offset>& first = cycle.levels[0];
  for_rows(first.rows, 1, [&](std::int64_t i, int) {
    if (i < first.rows) first.d[i] = first_step(first, i, first.b[i]);
  });
  wait_for_cluster();
  for (int l = 0; l < last; ++l) {
    const SmallLevel<T, Offset>& level = cycle.levels[l];
    go_on(level, static_cast<const T*>(level.b), true, false);
    take_step(level, level.x, level.b, level.r, {});
    wait_for_cluster();
    restrict_residual(level, cycle.levels[l + 1]);
    wait_for_cluster();
  }
  const SmallLevel<T, Offset>& dense = cycle.levels[last];
  for_rows(dense.rows, 32, [&](std::int64_t i, int lane) {
    T sum{};
    if (i < dense.rows)
      for (int j = lane; j < dense.rows; j += 32) sum += dense.dense[i * dense.rows + j] * dense.b[j];
    sum = lanes_sum(sum, 32);
    if (i < dense.rows && lane == 0) dense.x[i] = sum;
  });
  wait_for_cluster();
  for (int l = last - 1; l >= 0; --l) {
    const SmallLevel<T, Offset>& level = cycle.levels[l];
    add_correction(level, cycle.levels[l + 1].x);
    wait_for_cluster();
    take_step(level, level.x, level.b, level.r, StepView<T>{level.inverse, level.factors, nullptr, level.d});
    wait_for_cluster();
    go_on(level, static_cast<const T*>(level.r), false, l == 0);
  }
}

/// One cluster. Keeps what the launch points to.
class ClusterLaunch {
 public:
  explicit ClusterLaunch(const Cuda& cuda) {
    attribute_.id = cudaLaunchAttributeClusterDimension;
    attribute_.val.clusterDim = {cluster, 1, 1};
    configuration_.gridDim = cluster, configuration_.blockDim = threads;
    configuration_.stream = cuda.stream;
    configuration_.attrs = &attribute_, configuration_.numAttrs = 1;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;
  const cudaLaunchConfig_t* operator*() const { return &configuration_; }

 private:
  cudaLaunchAttribute attribute_{};
  cudaLaunchConfig_t configuration_{};
};

}  // namespace

template <class T, class Offset>
bool has_small_cycles(const Cuda& cuda) {
  constexpr auto kernel = small_cycle_kernel<T, Offset>;
  int has_clusters = 0, active = 0;
  cudaFuncAttributes compiled{};
  check(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, cuda.device));
  check(cudaFuncGetAttributes(&compiled, kernel));
  if (!has_clusters || compiled.ptxVersion < 90) return false;  // which has no barrier of clusters
  ClusterLaunch launch(cuda);
  const bool fits = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess &&
                    cudaOccupancyMaxActiveClusters(&active, kernel, *launch) == cudaSuccess && active > 0;
  if (!fits) cudaGetLastError();
  return fits;
}

template <class T, class Offset>
void small_cycle(const Cuda& cuda, const SmallCycle<T, Offset>& cycle) {
  ClusterLaunch launch(cuda);
  check(cudaLaunchKernelEx(*launch, small_cycle_kernel<T, Offset>, cycle, cuda.skip));
}

template <class Value, class Offset, class T = kernel_t<Value>>
struct SmallCycleCuda {
  static constexpr std::tuple list{instance<bool(const Cuda&)>(has_small_cycles<T, Offset>),
                                   instance<void(const Cuda&, const SmallCycle<T, Offset>&)>(small_cycle)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(SmallCycleCuda);

}  // namespace krill::detail
