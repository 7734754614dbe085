// Kernels over a basis. A thread keeps its rows of u and w in registers and goes over all vectors, so that V is read
// once; the block that arrives last adds what the blocks have found, in their order, and goes on with the small
// problem.
#include "solvers/basis.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill {

using namespace detail;
namespace {

/// How numbers lie: 16 bytes of S at a time, `chunks` of them a thread.
template <class T, class S>
struct Shape {
  static constexpr int comps = is_complex<T> ? 2 : 1;
  static constexpr int rows = basis_rows<T, S>;
  static constexpr int wide = 16 / sizeof(S);  // rows of one load
  static constexpr int chunks = rows / wide;
  static constexpr int group = BasisTuning::group / comps;  // vectors in flight
  static_assert(rows % wide == 0);
};

/// The rows of one thread in a tile: `wide` neighbors, `chunks` times, a block apart.
template <class T, class S, int threads>
struct TileRows {
  using Sh = Shape<T, S>;
  static constexpr std::int64_t tile = std::int64_t(threads) * Sh::rows;
  std::int64_t first;

  __device__ explicit TileRows(std::int64_t number) : first(number * tile + std::int64_t(threadIdx.x) * Sh::wide) {}
  __device__ std::int64_t chunk(int c) const { return first + std::int64_t(c) * threads * Sh::wide; }

  /// Zeros beyond the vector, and where it is null.
  template <class Out>
  __device__ void load(const T* from, std::int64_t n, Out (&to)[Sh::rows]) const {
#pragma unroll
    for (int c = 0; c < Sh::chunks; ++c)
#pragma unroll
      for (int e = 0; e < Sh::wide; ++e) {
        const std::int64_t i = chunk(c) + e;
        to[c * Sh::wide + e] = from && i < n ? Out(from[i]) : Out(0);
      }
  }
  /// Of a vector of the basis, whose length is a multiple of a load's.
  __device__ void load_vector(const S* from, std::int64_t stride, uint4 (&to)[Sh::chunks]) const {
#pragma unroll
    for (int c = 0; c < Sh::chunks; ++c)
      to[c] = chunk(c) < stride ? *reinterpret_cast<const uint4*>(from + chunk(c)) : uint4{};
  }
  __device__ static S entry(const uint4 (&loaded)[Sh::chunks], int row) {
    S values[Sh::wide];
    memcpy(values, &loaded[row / Sh::wide], sizeof values);
    return values[row % Sh::wide];
  }
};

/// The sum over the block, for all of its threads.
template <class Sum>
__device__ Sum sum_for_all(const Sum& mine) {
  __shared__ alignas(Sum) unsigned char memory[sizeof(Sum)];
  Sum total = block_sum(mine);
  if (threadIdx.x == 0) memcpy(memory, &total, sizeof total);
  __syncthreads();
  memcpy(&total, memory, sizeof total);
  __syncthreads();  // memory may be written anew
  return total;
}

/// A block as the small problem sees it.
struct BlockTeam {
  constexpr int lane() const {
#ifdef __CUDA_ARCH__
    return static_cast<int>(threadIdx.x);
#else
    return 0;
#endif
  }
  constexpr int lanes() const {
#ifdef __CUDA_ARCH__
    return static_cast<int>(blockDim.x);
#else
    return 1;
#endif
  }
  constexpr void sync() const {
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
  }
  template <class Sum>
  constexpr Sum sum(const Sum& mine) const {
#ifdef __CUDA_ARCH__
    return sum_for_all(mine);
#else
    return mine;
#endif
  }
};

/// Whether the block is the last of `blocks` that come here; what the others wrote before is visible to it then. The
/// ticket is zero again for the next kernel. Every thread of a block takes part.
__device__ bool arrives_last(unsigned* ticket, unsigned blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(ticket, 1u) == blocks - 1;
    if (last) *ticket = 0;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

__device__ void tell_number(const DeviceExchange& exchange, int line, double mine) {
  uint2 word;
  memcpy(&word, &mine, sizeof word);
  exchange.tell(line, word);
}
/// The sum of what the ranks have told in a line.
__device__ double hear_sum(const DeviceExchange& exchange, int line) {
  double total = 0;
  for (int r = 0; r < exchange.ranks(); ++r) {
    const uint2 word = exchange.hear(line, r);
    double theirs;
    memcpy(&theirs, &word, sizeof word);
    total += theirs;
  }
  return total;
}

/// The sum of the ranks' pairs, in lines from `first` on, for all threads of the block.
template <class T>
__device__ PairDots<T> sum_of_pairs(const DeviceExchange& exchange, int first, PairDots<T> mine) {
  constexpr int numbers = sizeof(PairDots<T>) / sizeof(double);
  __shared__ double told[numbers], sums[numbers];
  const int k = static_cast<int>(threadIdx.x);
  if (k == 0) memcpy(told, &mine, sizeof mine);
  __syncwarp();
  if (k < numbers) tell_number(exchange, first + k, told[k]), sums[k] = hear_sum(exchange, first + k);
  __syncthreads();
  memcpy(&mine, sums, sizeof mine);
  return mine;
}

/// Sums of 2 half numbers over the warp, of 16 in the end: each step halves the numbers that a lane is in charge of, so
/// number k of 16 is in lanes 2 k and 2 k + 1.
template <int half>
__device__ double spread_sums(double (&mine)[2 * half]) {
  constexpr unsigned bit = 2 * half;
  const bool upper = (threadIdx.x & bit) != 0;
  double rest[half];
#pragma unroll
  for (int k = 0; k < half; ++k) {
    const double keep = upper ? mine[k + half] : mine[k], give = upper ? mine[k] : mine[k + half];
    rest[k] = keep + __shfl_xor_sync(~0u, give, bit);
  }
  if constexpr (half == 1)
    return rest[0] + __shfl_xor_sync(~0u, rest[0], 1);
  else
    return spread_sums<half / 2>(rest);
}

template <class T>
struct DotScratch {
  double* sums;        // of number k in block b: sums[k gridDim.x + b]
  PairDots<T>* pairs;  // one a block
  unsigned* ticket;
};

// Threads: blockIdx.x strides over tiles of rows, blockIdx.y over groups of vectors (more than one where the rows are
//   too few to fill the chip); a thread has its rows of u and w in registers, loads a group of vectors, and the warp
//   adds up. The last block adds the blocks' sums, a warp a number. Where there are slots, it adds those of the ranks;
//   where there is `mine`, sums go there, and finish_dots goes on with them.
// Bytes: V once, u and w once for each blockIdx.y; 16 bytes a load of V.
// Races: sums in shared memory belong to one thread each; the two buffers of the warps' sums take turns, so that one
//   barrier a group is enough. No block waits for another.
template <class T, class S>
__global__ void __launch_bounds__(BasisTuning::dot_threads, 1)
    dots_kernel(BasisDots<T, S> d, Skip skip, DotScratch<T> scratch, TeamSlots* slots, double* mine) {
  using Sh = Shape<T, S>;
  constexpr int warps = BasisTuning::dot_threads / 32, numbers = 16;
  extern __shared__ double sums[];  // 2 comps count
  __shared__ double of_warps[2][warps][numbers];
  if (skip.now()) return;
  const int count = *d.columns + d.extra, width = count * Sh::comps, thread = static_cast<int>(threadIdx.x);
  for (int k = thread; k < 2 * width; k += BasisTuning::dot_threads) sums[k] = 0;
  PairDots<T> pair;
  int buffer = 0;
  for (std::int64_t number = blockIdx.x; number * TileRows<T, S, BasisTuning::dot_threads>::tile < d.basis.stride;
       number += gridDim.x) {
    const TileRows<T, S, BasisTuning::dot_threads> tile(number);
    wide_t<T> u[Sh::rows], w[Sh::rows];
    tile.load(d.u, d.basis.rows, u);
    tile.load(d.w, d.basis.rows, w);
    if (blockIdx.y == 0)
#pragma unroll
      for (int r = 0; r < Sh::rows; ++r) pair += PairDots<T>{squared(u[r]), squared(w[r]), conj(u[r]) * w[r]};
    for (int first = static_cast<int>(blockIdx.y) * Sh::group; first < count;
         first += static_cast<int>(gridDim.y) * Sh::group) {
      uint4 loaded[Sh::group][Sh::chunks];
#pragma unroll
      for (int k = 0; k < Sh::group; ++k)
        tile.load_vector(d.basis.vector(min(first + k, count - 1)), d.basis.stride, loaded[k]);
      double mine[numbers];
#pragma unroll
      for (int k = 0; k < Sh::group; ++k) {
        wide_t<T> with_u(0), with_w(0);
#pragma unroll
        for (int r = 0; r < Sh::rows; ++r) {
          const wide_t<T> v = conj(from_stored<wide_t<T>>(tile.entry(loaded[k], r)));
          with_u += v * u[r], with_w += v * w[r];
        }
        if constexpr (is_complex<T>) {
          mine[2 * k] = with_u.re, mine[2 * k + 1] = with_u.im;
          mine[8 + 2 * k] = with_w.re, mine[8 + 2 * k + 1] = with_w.im;
        } else {
          mine[k] = with_u, mine[8 + k] = with_w;
        }
      }
      const double sum = spread_sums<8>(mine);
      if (thread % 2 == 0) of_warps[buffer][thread / 32][thread % 32 / 2] = sum;
      __syncthreads();  // also after sums was zeroed
      if (thread < numbers) {
        const int at = first * Sh::comps + thread % 8;
        double total = 0;
        for (int warp = 0; warp < warps; ++warp) total += of_warps[buffer][warp][thread];
        if (at < width) sums[(thread < 8 ? 0 : width) + at] += total;
      }
      buffer = 1 - buffer;
    }
  }
  const PairDots<T> of_block = block_sum(pair);  // its barriers come before the sums are read
  for (int k = thread; k < 2 * width; k += BasisTuning::dot_threads) {
    const int group = k % width / Sh::comps / Sh::group;
    if (group % static_cast<int>(gridDim.y) == static_cast<int>(blockIdx.y))
      scratch.sums[std::int64_t(k) * gridDim.x + blockIdx.x] = sums[k];
  }
  if (thread == 0 && blockIdx.y == 0) scratch.pairs[blockIdx.x] = of_block;
  if (!arrives_last(scratch.ticket, gridDim.x * gridDim.y)) return;

  const int warp = thread / 32, lane = thread % 32;
  const DeviceExchange exchange(slots);
  double* const with_u = mine ? mine : reinterpret_cast<double*>(d.with_u);
  double* const with_w = mine ? mine + width : reinterpret_cast<double*>(d.with_w);
  for (int k = warp; k < 2 * width; k += warps) {
    double total = 0;
    for (unsigned b = static_cast<unsigned>(lane); b < gridDim.x; b += 32)
      total += load_through(scratch.sums + std::int64_t(k) * gridDim.x + b);
    total = lanes_sum(total, 32) * (1.0 / stored_scale<S>);
    if (lane > 0) continue;
    if (slots)
      tell_number(exchange, k, total);
    else if (k >= width)
      with_w[k - width] = total;
    else if (with_u)
      with_u[k] = total;
  }
  PairDots<T> all;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += BasisTuning::dot_threads) all += load_through(scratch.pairs + b);
  all = BlockTeam().sum(all);  // its barriers come before the sums are used
  if (slots) {
    all = sum_of_pairs(exchange, 2 * width, all);
    for (int k = thread; k < 2 * width; k += BasisTuning::dot_threads) {
      const double total = hear_sum(exchange, k);
      if (k >= width)
        with_w[k - width] = total;
      else if (with_u)
        with_u[k] = total;
    }
    __syncthreads();
    if (thread == 0) exchange.end();
  }
  if (mine) {
    if (thread == 0) memcpy(mine + basis_sums<T>(d.capacity), &all, sizeof all);
  } else if (d.then.state) {
    d.then.after_dots(BlockTeam(), all);
  }
}

/// Doubles that a rank has for the others: its sums, and the dots of u and w.
template <class T>
constexpr std::int64_t dot_record(int capacity) {
  static_assert(sizeof(PairDots<T>) % sizeof(double) == 0);
  return basis_sums<T>(capacity) + std::int64_t(sizeof(PairDots<T>) / sizeof(double));
}

// The end of dots_kernel where several ranks add up, in their order. Threads: one block, a thread a number.
// Bytes: a record of each rank. Races: barriers before the sums are used.
template <class T, class S>
__global__ void __launch_bounds__(BasisTuning::dot_threads)
    finish_dots(BasisDots<T, S> d, Skip skip, const double* records, int ranks) {
  if (skip.now()) return;
  const int width = (*d.columns + d.extra) * Shape<T, S>::comps;
  const std::int64_t record = dot_record<T>(d.capacity);
  double* const with_u = reinterpret_cast<double*>(d.with_u);
  double* const with_w = reinterpret_cast<double*>(d.with_w);
  for (int k = static_cast<int>(threadIdx.x); k < 2 * width; k += BasisTuning::dot_threads) {
    double total = 0;
    for (int r = 0; r < ranks; ++r) total += records[r * record + k];
    if (k >= width)
      with_w[k - width] = total;
    else if (with_u)
      with_u[k] = total;
  }
  PairDots<T> all;
  for (int r = 0; r < ranks; ++r) {
    PairDots<T> pair;
    memcpy(&pair, records + r * record + basis_sums<T>(d.capacity), sizeof pair);
    all += pair;
  }
  __syncthreads();
  if (d.then.state) d.then.after_dots(BlockTeam(), all);
}

/// What a rank has for the others after an update: its part of ||out||^2, and what its host wishes.
struct UpdateRecord {
  double norm2;
  Reason wish;
};

/// ||out||^2 of all ranks, for all threads of the block; a wish of one host is everyone's from here on.
__device__ double heard_update(TeamSlots* slots, Progress* progress, double norm2) {
  __shared__ double total;
  if (threadIdx.x == 0) {
    double sum = 0;
    Reason wish = Reason::running;
    exchange_records(slots, UpdateRecord{norm2, load_relaxed(progress->own_wish)}, [&](const UpdateRecord& record) {
      sum += record.norm2;
      if (record.wish > wish) wish = record.wish;
    });
    if (progress->stop_requested == Reason::running) progress->stop_requested = wish;
    total = sum;
  }
  __syncthreads();
  return total;
}

// Threads: blocks stride over tiles of rows; a thread has its rows of u and w in registers and subtracts a group of
//   vectors at a time, whose factors lie in shared memory.
// Bytes: V, u and w once, q and out written once; 16 bytes a load of V.
// Races: each row is one thread's, also where out is u or w. No block waits for another. Where there is `mine`, the
// norm goes there, and finish_update goes on with it.
template <class T, class S>
__global__ void __launch_bounds__(BasisTuning::update_threads)
    update_kernel(BasisUpdate<T, S> d, Skip skip, GridScratch<double> scratch, TeamSlots* slots, UpdateRecord* mine) {
  using Sh = Shape<T, S>;
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  constexpr float unscale = 1 / stored_scale<S>;
  const int count = *d.columns + d.extra;
  T* const along_w = reinterpret_cast<T*>(memory);  // one vector's, and zeros to the end of a group
  T* const along_u = along_w + (count + Sh::group - 1) / Sh::group * Sh::group;
  const bool of_u = d.u && d.a;
  for (int k = static_cast<int>(threadIdx.x); k < (count + Sh::group - 1) / Sh::group * Sh::group;
       k += BasisTuning::update_threads) {
    along_w[k] = k < count ? T(scaled(d.c[k], double(unscale))) : T(0);
    along_u[k] = of_u && k < count ? T(scaled(d.a[k], double(unscale))) : T(0);
  }
  const StepScalars<T> factors = d.factors ? *d.factors : StepScalars<T>{};
  const auto q_factor = static_cast<real_t<T>>(factors.q_factor), scale = static_cast<real_t<T>>(factors.scale);
  const T along_q = T(factors.along_q);
  __syncthreads();
  double norm2 = 0;
  for (std::int64_t number = blockIdx.x; number * TileRows<T, S, BasisTuning::update_threads>::tile < d.basis.stride;
       number += gridDim.x) {
    const TileRows<T, S, BasisTuning::update_threads> tile(number);
    T u[Sh::rows], w[Sh::rows];
    tile.load(d.u, d.basis.rows, u);
    tile.load(d.w, d.basis.rows, w);
    for (int first = 0; first < count; first += Sh::group) {
      uint4 loaded[Sh::group][Sh::chunks];
#pragma unroll
      for (int k = 0; k < Sh::group; ++k)
        tile.load_vector(d.basis.vector(min(first + k, count - 1)), d.basis.stride, loaded[k]);
#pragma unroll
      for (int k = 0; k < Sh::group; ++k) {
        const T c = along_w[first + k], a = along_u[first + k];
#pragma unroll
        for (int r = 0; r < Sh::rows; ++r) {
          const T v = from_stored<T>(tile.entry(loaded[k], r));
          w[r] -= c * v;
          if (of_u) u[r] -= a * v;
        }
      }
    }
    if (d.u) {
      S* const to = d.basis.vector(count);
#pragma unroll
      for (int c = 0; c < Sh::chunks; ++c) {
        S q[Sh::wide];
#pragma unroll
        for (int e = 0; e < Sh::wide; ++e) {
          const int r = c * Sh::wide + e;
          q[e] = to_stored<S>(scaled(scaled(u[r], q_factor), real_t<T>(stored_scale<S>)));
          w[r] -= along_q * scaled(from_stored<T>(q[e]), real_t<T>(unscale));
        }
        uint4 stored;
        memcpy(&stored, q, sizeof stored);
        if (tile.chunk(c) < d.basis.stride) *reinterpret_cast<uint4*>(to + tile.chunk(c)) = stored;
      }
    }
#pragma unroll
    for (int c = 0; c < Sh::chunks; ++c)
#pragma unroll
      for (int e = 0; e < Sh::wide; ++e) {
        const std::int64_t i = tile.chunk(c) + e;
        const T out = scaled(w[c * Sh::wide + e], scale);
        if (i >= d.basis.rows) continue;
        d.out[i] = out;
        norm2 += squared(out);
      }
  }
  if (!d.then.state) return;
  const double of_block = block_sum(norm2);
  if (threadIdx.x == 0) scratch.partials[blockIdx.x] = of_block;
  if (!arrives_last(scratch.ticket, gridDim.x)) return;
  double all = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += BasisTuning::update_threads)
    all += load_through(scratch.partials + b);
  all = BlockTeam().sum(all);
  if (mine) {
    if (threadIdx.x == 0) *mine = {all, load_relaxed(d.then.progress->own_wish)};
    return;
  }
  if (slots) all = heard_update(slots, d.then.progress, all);
  d.then.after_update(BlockTeam(), all);
}

// The end of update_kernel where several ranks add up, in their order; a wish of one host is everyone's from here on.
// Threads: one block. Bytes: a record of each rank. Races: a barrier after the wish is noted.
template <class T, class S>
__global__ void __launch_bounds__(BasisTuning::update_threads)
    finish_update(BasisUpdate<T, S> d, Skip skip, const UpdateRecord* records, int ranks) {
  if (skip.now()) return;
  double norm2 = 0;
  Reason wish = Reason::running;
  for (int r = 0; r < ranks; ++r) {
    norm2 += records[r].norm2;
    if (records[r].wish > wish) wish = records[r].wish;
  }
  if (threadIdx.x == 0 && d.then.progress->stop_requested == Reason::running) d.then.progress->stop_requested = wish;
  __syncthreads();
  d.then.after_update(BlockTeam(), norm2);
}

// Threads: one block. Bytes: the triangles once. Races: barriers between the steps.
template <class T>
__global__ void __launch_bounds__(BasisTuning::dot_threads) solve_kernel(Arnoldi<T> arnoldi, Skip skip) {
  if (skip.now()) return;
  arnoldi.solve(BlockTeam());
}

std::int64_t tiles_of(std::int64_t rows, std::int64_t tile) {
  return std::max<std::int64_t>(1, (rows + tile - 1) / tile);
}

}  // namespace

template <class T, class S>
void run_dots(const Cuda& cuda, const BasisDots<T, S>& d) {
  using Sh = Shape<T, S>;
  const std::int64_t processors = cuda.multiprocessors,
                     columns =
                         std::min(tiles_of(d.basis.stride, TileRows<T, S, BasisTuning::dot_threads>::tile), processors),
                     groups = (d.capacity + Sh::group - 1) / Sh::group;
  const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(std::clamp<std::int64_t>(
                                                      processors / columns, 1, std::max<std::int64_t>(1, groups))));
  const auto numbers = static_cast<std::size_t>(basis_sums<T>(d.capacity));
  Frame frame(cuda);
  const DotScratch<T> scratch{frame.take<double>(numbers * static_cast<std::size_t>(columns)),
                              frame.take<PairDots<T>>(static_cast<std::size_t>(columns)), cuda.ticket};
  const auto record = static_cast<std::size_t>(dot_record<T>(d.capacity));
  TeamSlots* const slots = cuda.team && record <= TeamSlots::lines ? cuda.team->slots() : nullptr;
  double* const mine = cuda.team && !slots ? frame.take<double>(record) : nullptr;
  dots_kernel<T, S>
      <<<grid, BasisTuning::dot_threads, numbers * sizeof(double), cuda.stream>>>(d, cuda.skip, scratch, slots, mine);
  check(cudaGetLastError());
  if (!mine) return;
  const int ranks = cuda.team->size();
  double* const all = frame.take<double>(record * static_cast<std::size_t>(ranks));
  cuda.team->gather_on(cuda, mine, all, record * sizeof(double));
  finish_dots<T, S><<<1, BasisTuning::dot_threads, 0, cuda.stream>>>(d, cuda.skip, all, ranks);
  check(cudaGetLastError());
}

template <class T, class S>
void run_update(const Cuda& cuda, const BasisUpdate<T, S>& d) {
  using Sh = Shape<T, S>;
  const std::size_t factors = 2 * static_cast<std::size_t>(d.capacity + Sh::group) * sizeof(T);
  const int blocks = static_cast<int>(
      std::min<std::int64_t>(tiles_of(d.basis.stride, TileRows<T, S, BasisTuning::update_threads>::tile),
                             resident_blocks<update_kernel<T, S>>(cuda, factors, BasisTuning::update_threads)));
  Frame frame(cuda);
  const GridScratch<double> scratch = grid_scratch<double>(cuda, frame, blocks);
  TeamSlots* const slots = cuda.team ? cuda.team->slots() : nullptr;
  UpdateRecord* const mine = cuda.team && !slots && d.then.state ? frame.take<UpdateRecord>(1) : nullptr;
  update_kernel<T, S>
      <<<blocks, BasisTuning::update_threads, factors, cuda.stream>>>(d, cuda.skip, scratch, slots, mine);
  check(cudaGetLastError());
  if (!mine) return;
  const UpdateRecord* all = gather_over_team(cuda, frame, mine);
  finish_update<T, S><<<1, BasisTuning::update_threads, 0, cuda.stream>>>(d, cuda.skip, all, cuda.team->size());
  check(cudaGetLastError());
}

template <class T>
void run_solve(const Cuda& cuda, const Arnoldi<T>& arnoldi) {
  solve_kernel<T><<<1, BasisTuning::dot_threads, 0, cuda.stream>>>(arnoldi, cuda.skip);
  check(cudaGetLastError());
}

KRILL_INSTANTIATE(detail::BasisKernels, Cuda);

}  // namespace krill
