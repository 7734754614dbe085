#include <algorithm>
#include <cmath>

#include "sparse/convert/reduce_rows_cuda.cuh"
#include "sparse/core/pass_cuda.cuh"
#include "sparse/core/pivot_size.hpp"
#include "sparse/inverse/sparse_inverse_passes.hpp"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int team_threads = 64;   ///< 32 x 33 values of 16 bytes for each of two teams: within 48 KiB
  static constexpr int long_threads = 256;  ///< of a block that has a long row. Not varied.
};

/// A candidate for a pivot, and where it is; the larger one, and of equal ones the first.
template <class R>
struct Candidate {
  R size;
  int at;

  /// The best of `lanes` neighboring lanes of a warp, for each of them.
  __device__ int best(int lanes) {
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
      const R other_size = __shfl_xor_sync(~0u, size, offset, lanes);
      const int other = __shfl_xor_sync(~0u, at, offset, lanes);
      if (other_size > size || (other_size == size && other < at)) size = other_size, at = other;
    }
    return at;
  }
};

/// The value of a lane of the team.
template <class T>
__device__ T from_lane(T value, int lane, int lanes) {
  return on_words(value, [=](unsigned word) { return __shfl_sync(~0u, word, lane, lanes); });
}

/// What every solution is multiplied with: for G, 1 / sqrt of its last entry.
template <class T>
__device__ real_t<T> scale_of(bool factored, T last) {
  return factored ? 1 / std::sqrt(real(last)) : real_t<T>(1);
}

__device__ std::uint8_t outcome_of(bool singular, bool finite) {
  return static_cast<std::uint8_t>(!finite    ? InverseOutcome::not_finite
                                   : singular ? InverseOutcome::singular
                                              : InverseOutcome::solved);
}

// Threads: a team of `lanes` (a power of two of at least the entries of its row) a row; lane t has equation t in shared
//   memory, and its right-hand side. Equations stay where they are: the lane whose equation has the pivot of a step has
//   the unknown of that step. All lanes of a warp take the same steps, so that they may shuffle.
// Bytes: the entries of A that a row's columns meet, found by bisection; the inverse once.
// Races: a lane writes its own equation alone, and a step's pivot equation is not written in that step.
template <class T, class Offset>
__global__ void __launch_bounds__(Tuning::team_threads)
    solve_teams_kernel(InverseTask<T, Offset> f, const std::int32_t* rows, std::int32_t count, int lanes, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes, team = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t number = std::int64_t(blockIdx.x) * (Tuning::team_threads / lanes) + team;
  const std::int32_t row = number < count ? rows[number] : -1;
  const Offset first = row < 0 ? 0 : f.offsets[row];
  const int dim = row < 0 ? 0 : static_cast<int>(f.offsets[row + 1] - first);
  const auto most = static_cast<int>(__reduce_max_sync(~0u, static_cast<unsigned>(dim)));
  const unsigned mine = lanes == 32 ? ~0u : ((1u << lanes) - 1) << (threadIdx.x % 32 / lanes * lanes);
  const int width = lanes + 1;  // odd, so that equations meet no bank twice
  T* system = reinterpret_cast<T*>(memory) + team * lanes * width;
  T* own = system + lane * width;
  const bool here = lane < dim;

  const std::int32_t column = here ? f.columns[first + lane] : -1;
  T right = T(static_cast<real_t<T>>(here && column == row ? 1 : 0));
  bool finite = true;
  for (int p = 0; p < most; ++p) {
    const std::int32_t unknown = __shfl_sync(~0u, column, p, lanes);
    if (!here || p >= dim) continue;
    own[p] = f.entry(column, unknown);
    finite = finite && is_finite(own[p]);
  }
  const bool whole = (__ballot_sync(~0u, !finite) & mine) == 0;
  __syncwarp();

  int step = -1;  // in which this lane's equation had the pivot
  bool singular = false;
  T inverse{}, refused{};
  for (int k = 0; k < most; ++k) {
    int pivot_lane = k;
    if (!f.factored) {
      const bool candidate = here && k < dim && step < 0;
      pivot_lane = Candidate<real_t<T>>{candidate ? pivot_size(own[k]) : real_t<T>(-1), lane}.best(lanes);
    }
    const T above = from_lane(right, pivot_lane, lanes);
    if (k < dim) {
      const T* top = system + pivot_lane * width;
      const T pivot = top[k], inverse_of_pivot = T(1) / pivot;
      if (!singular && f.refuses(pivot)) singular = true, refused = pivot;
      if (lane == pivot_lane) {
        step = k, inverse = inverse_of_pivot;
      } else if (here && step < 0) {
        const T factor = own[k] * inverse_of_pivot;
        for (int p = k + 1; p < dim; ++p) own[p] -= factor * top[p];
        right -= factor * above;
      }
    }
    __syncwarp();
  }

  for (int k = most - 1; k > 0; --k) {
    const unsigned owner = __ballot_sync(~0u, step == k) & mine;
    const T unknown = from_lane(right * inverse, owner ? (__ffs(static_cast<int>(owner)) - 1) % lanes : 0, lanes);
    if (k < dim && step < k && here) right -= own[k] * unknown;
  }

  T x = right * inverse;
  const T last = from_lane(x, dim > 0 ? dim - 1 : 0, lanes);
  x = scaled(x, scale_of(f.factored, last));
  const bool solved = (__ballot_sync(~0u, here && !is_finite(x)) & mine) == 0;
  if (!whole) singular = false;
  if (here) {
    if (!whole || singular)
      f.values[first + lane] = lane == 0 && whole ? refused : T{};
    else
      f.values[first + step] = x;
  }
  if (row >= 0 && lane == 0) f.outcomes[row] = outcome_of(singular, whole && (singular || solved));
}

/// The system of a long row, in memory of the block's own: `width` values an equation, its right-hand side the last.
template <class T>
struct LongSystem {
  T* values;
  std::int32_t* order;  // of equations: those before step k had the pivots
  int dim, width;

  __device__ T* equation(int number) const { return values + std::int64_t{order[number]} * width; }
  __device__ T unknown(int k) const { return equation(k)[dim] / equation(k)[k]; }
};

/// Puts the equation with the best pivot at place k. By the first warp.
template <class T>
__device__ void choose_pivot(const LongSystem<T>& s, int k) {
  Candidate<real_t<T>> mine{real_t<T>(-1), s.dim};
  for (int t = k + static_cast<int>(threadIdx.x); t < s.dim; t += 32)
    if (const real_t<T> size = pivot_size(s.equation(t)[k]); size > mine.size) mine = {size, t};
  const int best = mine.best(32);
  if (threadIdx.x > 0) return;
  const std::int32_t chosen = s.order[best];
  s.order[best] = s.order[k], s.order[k] = chosen;
}

/// The equations of a row. False where they are not finite.
template <class T, class Offset>
__device__ bool gather_long(const InverseTask<T, Offset>& f, std::int32_t row, const LongSystem<T>& s) {
  const std::int32_t* columns = f.columns + f.offsets[row];
  bool finite = true;
  for (int e = static_cast<int>(threadIdx.x); e < s.dim * s.width; e += Tuning::long_threads) {
    const int t = e / s.width, p = e % s.width;
    const T value = p < s.dim ? f.entry(columns[t], columns[p]) : T(static_cast<real_t<T>>(columns[t] == row ? 1 : 0));
    finite = finite && is_finite(value);
    s.values[e] = value;
  }
  for (int t = static_cast<int>(threadIdx.x); t < s.dim; t += Tuning::long_threads) s.order[t] = t;
  return __syncthreads_and(finite);
}

/// Elimination. The number of the step whose pivot forbids it, else dim.
template <class T, class Offset>
__device__ int eliminate_long(const InverseTask<T, Offset>& f, const LongSystem<T>& s) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (int k = 0; k < s.dim; ++k) {
    if (!f.factored && warp == 0) choose_pivot(s, k);
    __syncthreads();
    const T* top = s.equation(k);
    if (f.refuses(top[k])) return k;
    const T inverse = T(1) / top[k];
    for (int t = k + 1 + warp; t < s.dim; t += Tuning::long_threads / 32) {
      T* own = s.equation(t);
      const T factor = own[k] * inverse;
      if (factor == T(0)) continue;
      for (int p = k + 1 + lane; p <= s.dim; p += 32) own[p] -= factor * top[p];
    }
    __syncthreads();
  }
  return s.dim;
}

/// Takes the unknowns, from the last one on, out of the right-hand sides before them.
template <class T>
__device__ void substitute_long(const LongSystem<T>& s) {
  for (int k = s.dim - 1; k > 0; --k) {
    const T unknown = s.unknown(k);
    for (int t = static_cast<int>(threadIdx.x); t < k; t += Tuning::long_threads) {
      T* own = s.equation(t);
      own[s.dim] -= own[k] * unknown;
    }
    __syncthreads();
  }
}

// Threads: a block a row, blocks stride over the rows; a warp takes equations, its lanes their entries. The system lies
//   in global memory, of which every block has its own. Bytes: 2/3 k^3 values for k entries, mostly in L2.
// Races: in a step, equations after the pivot's are written, each by one warp, right of the pivot's column; then a
//   right-hand side by one thread; barriers stand between the steps. Every thread of a block sees the same pivots, so
//   all leave a row together.
template <class T, class Offset>
__global__ void __launch_bounds__(Tuning::long_threads)
    solve_long_kernel(InverseTask<T, Offset> f, const std::int32_t* rows, std::int32_t count, T* values,
                      std::int32_t* orders, Skip skip) {
  if (skip.now()) return;
  values += std::int64_t(blockIdx.x) * f.longest * (f.longest + 1);
  orders += std::int64_t(blockIdx.x) * f.longest;
  for (std::int64_t r = blockIdx.x; r < count; r += gridDim.x) {
    __syncthreads();  // the row before may still be read
    const std::int32_t row = rows[r];
    T* to = f.values + f.offsets[row];
    const int dim = static_cast<int>(f.offsets[row + 1] - f.offsets[row]);
    const LongSystem<T> s{values, orders, dim, dim + 1};
    const bool whole = gather_long(f, row, s);
    const int steps = whole ? eliminate_long(f, s) : 0;
    const bool singular = whole && steps < dim;
    if (whole && !singular) substitute_long(s);
    const real_t<T> scale = whole && !singular ? scale_of(f.factored, s.unknown(dim - 1)) : real_t<T>(0);
    bool finite = whole;
    for (int k = static_cast<int>(threadIdx.x); k < dim; k += Tuning::long_threads) {
      T x{};
      if (singular)
        x = k == 0 ? s.equation(steps)[steps] : T{};
      else if (whole)
        x = scaled(s.unknown(k), scale);
      finite = finite && (singular || is_finite(x));
      to[k] = x;
    }
    finite = __syncthreads_and(finite);
    if (threadIdx.x == 0) f.outcomes[row] = outcome_of(singular, finite);
  }
}

template <class T, class Offset>
void solve_long(const Cuda& cuda, const InverseTask<T, Offset>& f, const std::int32_t* rows, std::int32_t count) {
  const auto longest = static_cast<std::size_t>(f.longest);
  const auto resident =
      static_cast<std::size_t>(resident_blocks<solve_long_kernel<T, Offset>>(cuda, 0, Tuning::long_threads));
  const std::size_t blocks =
      std::min(resident, long_system_blocks(longest, sizeof(T), static_cast<std::size_t>(count), cuda.multiprocessors));
  Frame frame(cuda);
  T* values = frame.take<T>(blocks * long_system_size(longest));
  auto* orders = frame.take<std::int32_t>(blocks * longest);
  solve_long_kernel<<<static_cast<unsigned>(blocks), Tuning::long_threads, 0, cuda.stream>>>(f, rows, count, values,
                                                                                             orders, cuda.skip);
  check(cudaGetLastError());
}

}  // namespace

template <class T, class Offset>
void solve_inverse(const Cuda& cuda, const InverseTask<T, Offset>& task) {
  int lanes = min_lanes;
  for (std::size_t c = 0; c < inverse_classes; ++c, lanes *= 2) {
    const std::int32_t first = task.class_offsets[c], count = task.class_offsets[c + 1] - first;
    if (count == 0) continue;
    const std::int32_t* rows = task.order + first;
    if (lanes > max_lanes) return solve_long(cuda, task, rows, count);
    const int teams = Tuning::team_threads / lanes;
    const auto grid = static_cast<unsigned>((std::int64_t{count} + teams - 1) / teams);
    const std::size_t shared = std::size_t{Tuning::team_threads} * static_cast<std::size_t>(lanes + 1) * sizeof(T);
    solve_teams_kernel<<<grid, Tuning::team_threads, shared, cuda.stream>>>(task, rows, count, lanes, cuda.skip);
    check(cudaGetLastError());
  }
}

KRILL_INSTANTIATE_WITH_OFFSETS(SparseInversePasses, Cuda);

}  // namespace krill::detail
