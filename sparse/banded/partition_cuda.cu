#include <cuda_pipeline.h>

#include <algorithm>
#include <bit>

#include "sparse/banded/partition.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

/// One level, as a kernel sees it: a block has the chunks first_chunk to first_chunk + wide - 1 of systems first_system
/// to first_system + lanes - 1, a thread a chunk.
template <class T, int half_, int threads>
struct Level {
  static constexpr int half = half_;
  static constexpr int left_words = ChunkRows<T, half, ChunkOf::groups>::words;
  const T* word[left_words];
  BandLayout words, rhs;  // of the matrix, or of all words of left-over rows; of b and x
  T* x;
  T* next;  // the rows that are left over: their words and the solution, each `left.unknowns()` entries
  BandLayout left;
  BandPartition partition;
  int level, rows;
  int lanes, wide;
  int near;          // threads that take next to each other what lies so in memory; a power of two
  bool conjugated;   // entries of the matrix are to be taken so
  bool interleaved;  // threads next to each other have chunks of systems, else of a system, that are so
  std::int32_t* zero_rows;

  static constexpr int chunk = BandPartitionTuning<half>::chunk(sizeof(T));
  __host__ __device__ BandLevel here() const { return {rows, chunk}; }
  __host__ __device__ unsigned groups() const { return static_cast<unsigned>((here().chunks() + wide - 1) / wide); }
  __device__ std::int64_t first_system() const { return std::int64_t{blockIdx.x / groups()} * lanes; }
  __device__ std::int32_t first_chunk() const { return static_cast<std::int32_t>(blockIdx.x % groups()) * wide; }
  /// The thread that has chunk w of a system of the block.
  __device__ int thread_of(int lane, int w) const { return interleaved ? w * lanes + lane : lane * wide + w; }
};

/// Which chunk a thread has, or none.
struct Mine {
  int lane, w;
  std::int64_t system;
  std::int32_t chunk;
  bool some;
};
template <class Level>
__device__ Mine mine(const Level& s) {
  const int t = static_cast<int>(threadIdx.x);
  Mine m{};
  m.lane = s.interleaved ? t % s.lanes : t / s.wide, m.w = s.interleaved ? t / s.lanes : t % s.wide;
  m.system = s.first_system() + m.lane, m.chunk = s.first_chunk() + m.w;
  m.some = m.lane < s.lanes && m.w < s.wide && m.system < s.rhs.batch && m.chunk < s.here().chunks();
  return m;
}

/// Where a row of a block stands in shared memory: word w of row i of a thread's chunk at place(thread, i) + w * plane.
/// Chunks lie an odd number of entries apart, so that threads of a warp that read the same row of theirs find them in
/// different banks.
template <class T, int half, int threads>
struct Places {
  static constexpr int apart = Level<T, half, threads>::chunk + 1, plane = threads * apart;

  static constexpr int place(int thread, int i) { return thread * apart + i; }
};
template <ChunkOf kind, class T, int half, int threads>
__device__ ChunkRows<T, half, kind> rows_of_thread(const Level<T, half, threads>&, T* shared) {
  using P = Places<T, half, threads>;
  return {shared + P::place(static_cast<int>(threadIdx.x), 0), P::plane, 1};
}

/// use(row, place, where it lies in the matrix's words, where in b and x) for the rows of the block's chunks. Threads
/// next to each other, `s.near` of them, take what lies next to each other in memory.
template <class T, int half, int threads, class Use>
__device__ void for_rows(const Level<T, half, threads>& s, Use&& use) {
  constexpr int chunk = Level<T, half, threads>::chunk;
  const int t = static_cast<int>(threadIdx.x), near = t % s.near, far = t / s.near, many = threads / s.near;
  const int step = s.interleaved ? many : s.near, lane_step = s.interleaved ? s.lanes : many;
  const std::int32_t first_row = s.first_chunk() * chunk, left = s.rows - first_row, span = s.wide * chunk;
  const std::int32_t end = left < span ? left : span;
  const std::int64_t first_system = s.first_system();
  for (int lane = s.interleaved ? near : far; lane < s.lanes; lane += lane_step) {
    std::int32_t row = s.interleaved ? far : near;
    if (first_system + lane >= s.rhs.batch) return;
    std::int64_t word = s.words.at(first_row + row, first_system + lane);
    std::int64_t rhs = s.rhs.at(first_row + row, first_system + lane);
    for (; row < end; row += step, word += step * s.words.row_stride, rhs += step * s.rhs.row_stride)
      use(first_row + row, Places<T, half, threads>::place(s.thread_of(lane, row / chunk), row % chunk), word, rhs);
  }
}

template <class T>
__device__ void copy_async(T& to, const T& from) {
  if constexpr (is_complex<T>) {  // which may be aligned as its parts are
    __pipeline_memcpy_async(&to.re, &from.re, sizeof(to.re));
    __pipeline_memcpy_async(&to.im, &from.im, sizeof(to.im));
  } else {
    __pipeline_memcpy_async(&to, &from, sizeof(T));
  }
}

/// Copies the words of the block's rows into shared memory. Rows that fill up the last chunk get x = 0.
template <ChunkOf kind, class T, int half, int threads>
__device__ void load_rows(const Level<T, half, threads>& s, T* shared) {
  using Rows = ChunkRows<T, half, kind>;
  constexpr int size = Places<T, half, threads>::plane;
  const std::int32_t rows = s.rows;
  for_rows(s, [&](std::int32_t i, int place, std::int64_t word, std::int64_t rhs) {
    T* const to = shared + place;
#pragma unroll
    for (int w = 0; w < Rows::entries; ++w)
      if (const std::int32_t k = i + w - half; kind == ChunkOf::groups || (k >= 0 && k < rows))
        copy_async(to[w * size], s.word[w][word]);
      else
        to[w * size] = T(0);
    copy_async(to[Rows::entries * size], s.word[Rows::entries][rhs]);
  });
  if (const Mine m = mine(s); kind == ChunkOf::bands && m.some && m.chunk == s.here().chunks() - 1) {
    const auto mine = rows_of_thread<kind>(s, shared);
    for (int i = rows - m.chunk * s.chunk; i < s.here().rows_of(m.chunk, half); ++i)
      for (int w = 0; w < Rows::words; ++w) mine.at(w, i) = T(w == half ? 1 : 0);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if constexpr (is_complex<T> && kind == ChunkOf::bands) {
    if (!s.conjugated) return;
    const auto mine = rows_of_thread<kind>(s, shared);
    for (int i = 0; i < s.chunk; ++i)
      for (int w = 0; w < Rows::entries; ++w) mine.at(w, i) = conj(mine.at(w, i));
  }
}

template <ChunkOf kind, class T, int half, int threads>
__device__ void store_x(const Level<T, half, threads>& s, const T* shared) {
  __syncthreads();
  const T* const x = shared + ChunkRows<T, half, kind>::x_word * Places<T, half, threads>::plane;
  for_rows(s, [&](std::int32_t, int place, std::int64_t, std::int64_t rhs) { s.x[rhs] = x[place]; });
}

/// What stands around chunk c; unknown(i): unknown i of the next system, 0 outside of it.
template <class T, int half, class Unknown>
__device__ ChunkEnds<T, half> ends_of(std::int32_t c, Unknown&& unknown) {
  ChunkEnds<T, half> ends;
#pragma unroll
  for (int k = 0; k < half; ++k) {
    const std::int32_t first = 2 * half * c + k;
    ends.before[k] = unknown(first - half), ends.first[k] = unknown(first);
    ends.last[k] = unknown(first + half), ends.after[k] = unknown(first + 2 * half);
  }
  return ends;
}

template <class T, int half, class Index>
__device__ void put(const ChunkRows<T, half, ChunkOf::groups, Index>& at,
                    const Equation<T, 4 * half> (&row)[2 * half]) {
#pragma unroll
  for (int r = 0; r < 2 * half; ++r) {
    for (int w = 0; w < 4 * half; ++w) at.at(w, r) = row[r].entry[w];
    at.at(4 * half, r) = row[r].rhs;
  }
}

/// Threads: one a chunk. Bytes: every word of the rows once, and those of the rows that are left over. Races: the first
/// rows without pivot by atomic minima, all else is a chunk's own.
template <BandedMethod method, ChunkOf kind, class T, int half, int threads>
__global__ void __launch_bounds__(threads) reduce_kernel(Level<T, half, threads> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  if (skip.now()) return;
  load_rows<kind>(s, shared);
  const Mine m = mine(s);
  if (!m.some) return;
  Equation<T, 4 * half> left[2 * half];
  std::int32_t zero_row = no_row;
  reduce_chunk<method>(rows_of_thread<kind>(s, shared), s.here().rows_of(m.chunk, half), left, zero_row);
  put<T, half, std::int64_t>({s.next + s.left.at(2 * half * m.chunk, m.system), s.left.unknowns(), s.left.row_stride},
                             left);
  if (zero_row != no_row)
    atomicMin(s.zero_rows + m.system, s.partition.given_row(s.level, m.chunk * s.here().chunk + zero_row));
}

/// Threads: one a chunk. Bytes: every word of the rows once, x written once, up to eight unknowns of the next system a
/// chunk. Races: none; b may be x, as a block has read all of b that it writes x over.
template <BandedMethod method, ChunkOf kind, class T, int half, int threads>
__global__ void __launch_bounds__(threads) substitute_kernel(Level<T, half, threads> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  if (skip.now()) return;
  load_rows<kind>(s, shared);
  if (const Mine m = mine(s); m.some) {
    const T* const known = s.next + s.left_words * s.left.unknowns();
    const auto ends = ends_of<T, half>(
        m.chunk, [&](std::int32_t i) { return i < 0 || i >= s.left.rows ? T(0) : known[s.left.at(i, m.system)]; });
    substitute_chunk<method>(rows_of_thread<kind>(s, shared), s.here().rows_of(m.chunk, half), ends);
  }
  store_x<kind>(s, shared);
}

/// The levels of a block's systems that lie in its shared memory, one behind the other: rows of `lanes` systems,
/// interleaved.
template <class T, int half>
struct InnerLevel {
  using Rows = ChunkRows<T, half, ChunkOf::groups>;
  static constexpr int inner_chunk = BandPartitionTuning<half>::inner_chunk;
  T* base;
  int rows, lanes;

  __device__ BandLevel here() const { return {rows, inner_chunk}; }
  __device__ InnerLevel next() const { return {base + Rows::words * rows * lanes, 2 * half * here().chunks(), lanes}; }

  __device__ Rows chunk(int lane, int first_row) const {
    return {base + first_row * lanes + lane, rows * lanes, lanes};
  }
  __device__ T x(int lane, int i) const { return i < 0 || i >= rows ? T(0) : chunk(lane, i).x(0); }
  __device__ ChunkEnds<T, half> ends(int lane, int c) const {
    return ends_of<T, half>(c, [&](std::int32_t i) { return x(lane, i); });
  }
};

/// The rows without pivot that a block's systems have, each of its own level, as rows of the given systems.
struct ZeroNotes {
  std::int32_t* rows;  // of its lanes, in shared memory
  const BandPartition& partition;

  __device__ void operator()(int lane, int level, std::int32_t row) const {
    atomicMin(rows + lane, partition.given_row(level, row));
  }
};

/// The levels of a block from the first inner one on, which is that many entries into shared memory and solved after
/// this: down to a system of one chunk, then up again. All threads of the block. One function for all kernels of a
/// scalar type, as it is most of what they compile; it takes no pointer to shared memory, which it would load from by
/// generic addresses.
template <BandedMethod method, class T, int half>
__device__ __noinline__ void solve_inner(int place, int rows, int lanes, int level, ZeroNotes note) {
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int group = 2 * half;
  const InnerLevel<T, half> first{reinterpret_cast<T*>(memory) + place, rows, lanes};
  const int lane = static_cast<int>(threadIdx.x) % lanes, c = static_cast<int>(threadIdx.x) / lanes;
  InnerLevel<T, half> inner = first;
  ChunkEnds<T, half> ends{};
  int depth = 0;
  for (bool more = true; more;) {
    more = inner.here().chunks() > 1;
    if (c < inner.here().chunks()) {
      const int first_row = c * inner.inner_chunk, n = inner.here().rows_of(c, half);
      Equation<T, 4 * half> left[group];
      std::int32_t zero_row = no_row;
      reduce_chunk<method>(inner.chunk(lane, first_row), n, left, zero_row);
      if (more) {
        put(inner.next().chunk(lane, group * c), left);
      } else {
        T x[group];
        if (const int end = solve_group<method>(left, x); end < group) {
          const std::int32_t row = end_row(end, n, half);
          zero_row = zero_row < row ? zero_row : row;
        }
#pragma unroll
        for (int k = 0; k < half; ++k) ends.first[k] = x[k], ends.last[k] = x[half + k];
      }
      if (zero_row != no_row) note(lane, level + depth, first_row + zero_row);
    }
    if (more) inner = inner.next(), ++depth;
    __syncthreads();
  }
  for (;;) {
    if (c < inner.here().chunks())
      substitute_chunk<method>(inner.chunk(lane, c * inner.inner_chunk), inner.here().rows_of(c, half), ends);
    __syncthreads();
    if (depth == 0) return;
    const InnerLevel<T, half> solved = inner;
    inner = first;
    for (int d = 1; d < depth; ++d) inner = inner.next();
    --depth;
    if (c < inner.here().chunks()) ends = solved.ends(lane, c);
  }
}

/// Threads: one a chunk, systems whole in a block; of the rows that chunks leave, and of what those leave, ever fewer.
/// Bytes: every word of the rows and of x once. Races: between barriers a chunk's rows are its thread's.
template <BandedMethod method, ChunkOf kind, class T, int half, int threads>
__global__ void __launch_bounds__(threads) whole_kernel(const __grid_constant__ Level<T, half, threads> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ std::int32_t zero_rows[threads];
  constexpr int group = 2 * half;
  T* const shared = reinterpret_cast<T*>(memory);
  if (skip.now()) return;
  zero_rows[threadIdx.x] = no_row;
  load_rows<kind>(s, shared);
  const Mine m = mine(s);
  const auto rows = rows_of_thread<kind>(s, shared);
  const ZeroNotes note{zero_rows, s.partition};
  constexpr int place = rows.words * Places<T, half, threads>::plane;
  const InnerLevel<T, half> inner{shared + place, group * s.here().chunks(), s.lanes};
  if (m.some) {
    Equation<T, 4 * half> left[group];
    std::int32_t zero_row = no_row;
    reduce_chunk<method>(rows, s.here().rows_of(m.chunk, half), left, zero_row);
    put(inner.chunk(m.lane, group * m.chunk), left);
    if (zero_row != no_row) note(m.lane, s.level, m.chunk * s.here().chunk + zero_row);
  }
  __syncthreads();
  constexpr auto inner_method = method == BandedMethod::thomas ? BandedMethod::thomas : BandedMethod::lu;
  solve_inner<inner_method, T, half>(place, inner.rows, inner.lanes, s.level + 1, note);
  if (m.some) {
    substitute_chunk<method>(rows, s.here().rows_of(m.chunk, half), inner.ends(m.lane, m.chunk));
    if (m.w == 0) {
      if (s.level == 0)
        s.zero_rows[m.system] = zero_rows[m.lane];
      else if (zero_rows[m.lane] != no_row)
        atomicMin(s.zero_rows + m.system, zero_rows[m.lane]);
    }
  }
  store_x<kind>(s, shared);
}

constexpr int no_rows_threads = 128;
/// Threads: one a system.
__global__ void no_rows_kernel(std::int64_t n, std::int32_t* rows, Skip skip) {
  const std::int64_t j = std::int64_t{blockIdx.x} * no_rows_threads + threadIdx.x;
  if (!skip.now() && j < n) rows[j] = no_row;
}

template <auto kernel, class T, int half, int threads>
void launch(const Cuda& cuda, const Level<T, half, threads>& s, std::size_t shared) {
  resident_blocks<kernel>(cuda, shared, threads);  // allows so much shared memory
  const std::int64_t systems = (s.rhs.batch + s.lanes - 1) / s.lanes;
  kernel<<<static_cast<unsigned>(systems * s.groups()), threads, shared, cuda.stream>>>(s, cuda.skip);
  check(cudaGetLastError());
}

enum class LevelKernel { reduce, substitute, whole };

template <LevelKernel step, BandedMethod method, ChunkOf kind, class T, int half, int threads>
void run_level(const Cuda& cuda, Level<T, half, threads> s) {
  const BandLevel here = s.here();
  const auto lanes_of = [&](int chunks) {
    const auto lanes = static_cast<unsigned>(std::min<std::int64_t>(s.rhs.batch, threads / chunks));
    if (s.interleaved) return static_cast<int>(std::bit_floor(lanes));
    return static_cast<int>(std::clamp(static_cast<unsigned>(s.rhs.batch / cuda.multiprocessors), 1U, lanes));
  };
  auto entries = static_cast<std::size_t>(ChunkRows<T, half, kind>::words * Places<T, half, threads>::plane);
  if constexpr (step == LevelKernel::whole) {
    s.wide = here.chunks(), s.lanes = lanes_of(s.wide);
    for (int inner = s.partition.depth; inner < s.partition.total; ++inner)
      entries += static_cast<std::size_t>(s.left_words * s.partition.levels[static_cast<std::size_t>(inner)].rows) *
                 static_cast<std::size_t>(s.lanes);
  } else if (s.interleaved) {
    s.lanes = lanes_of(threads / 32), s.wide = threads / s.lanes;
  } else {
    s.wide = std::min(here.chunks(), threads), s.lanes = lanes_of(s.wide);
  }
  const auto span = static_cast<unsigned>(s.wide * s.chunk);
  s.near = s.interleaved ? s.lanes : static_cast<int>(std::min<unsigned>(threads, std::bit_floor(span)));
  if constexpr (step == LevelKernel::reduce)
    launch<reduce_kernel<method, kind, T, half, threads>>(cuda, s, entries * sizeof(T));
  else if constexpr (step == LevelKernel::substitute)
    launch<substitute_kernel<method, kind, T, half, threads>>(cuda, s, entries * sizeof(T));
  else
    launch<whole_kernel<method, kind, T, half, threads>>(cuda, s, entries * sizeof(T));
}

template <LevelKernel step, class T, int half, int threads>
void run_level(const Cuda& cuda, BandedMethod method, const Level<T, half, threads>& s) {
  constexpr auto thomas = BandedMethod::thomas, lu = BandedMethod::lu, qr = BandedMethod::qr;
  if (s.level > 0 && method == thomas) return run_level<step, thomas, ChunkOf::groups>(cuda, s);
  if (s.level > 0) return run_level<step, lu, ChunkOf::groups>(cuda, s);
  if (method == thomas) return run_level<step, thomas, ChunkOf::bands>(cuda, s);
  if (method == lu) return run_level<step, lu, ChunkOf::bands>(cuda, s);
  run_level<step, qr, ChunkOf::bands>(cuda, s);
}

template <int half, class T>
void run_levels(const Cuda& cuda, const BandPartition& partition, BandedMethod method, const PartitionedSolve<T>& s) {
  using Tuning = BandPartitionTuning<half>;
  constexpr int words = ChunkRows<T, half, ChunkOf::groups>::words;
  const std::int32_t batch = s.vectors.batch;
  const auto layout_of = [&](int level) {
    const std::int32_t rows = partition.levels[static_cast<std::size_t>(level)].rows;
    return s.vectors.is_interleaved() ? BandLayout::interleaved(rows, batch) : BandLayout::strided(rows, batch);
  };
  std::array<T*, BandPartition::max_levels> rows_of{};  // left-over rows, where their words begin
  T* place = s.work;
  for (int level = 1; level < partition.depth; ++level) {
    rows_of[static_cast<std::size_t>(level)] = place;
    place += (words + 1) * layout_of(level).unknowns();
  }
  const auto level_of = [&]<int threads>(int level, std::integral_constant<int, threads>) {
    Level<T, half, threads> l{};
    l.partition = partition, l.level = level, l.zero_rows = s.zero_rows;
    l.rows = partition.levels[static_cast<std::size_t>(level)].rows;
    if (level == 0) {
      const T* const bands[5] = {s.a.ds, s.a.dl, s.a.d, s.a.du, s.a.dw};
      for (int w = 0; w <= 2 * half; ++w) l.word[w] = bands[2 - half + w];
      l.word[2 * half + 1] = s.b;
      l.words = s.a.layout, l.rhs = s.vectors, l.x = s.x;
    } else {
      l.words = l.rhs = layout_of(level);
      T* const rows = rows_of[static_cast<std::size_t>(level)];
      for (int w = 0; w < words; ++w) l.word[w] = rows + w * l.rhs.unknowns();
      l.x = rows + words * l.rhs.unknowns();
    }
    l.interleaved = s.vectors.is_interleaved(), l.conjugated = s.conjugated;
    if (level + 1 < partition.depth)
      l.next = rows_of[static_cast<std::size_t>(level) + 1], l.left = layout_of(level + 1);
    return l;
  };
  const int last = partition.depth - 1;
  if (last > 0) {
    constexpr int threads = no_rows_threads;
    no_rows_kernel<<<static_cast<unsigned>((batch + threads - 1) / threads), threads, 0, cuda.stream>>>(
        batch, s.zero_rows, cuda.skip);
    check(cudaGetLastError());
  }
  constexpr std::integral_constant<int, Tuning::threads> few;
  constexpr std::integral_constant<int, Tuning::most_threads(sizeof(T))> many;
  for (int level = 0; level < last; ++level) run_level<LevelKernel::reduce>(cuda, method, level_of(level, few));
  if (partition.levels[static_cast<std::size_t>(last)].chunks() <= few)
    run_level<LevelKernel::whole>(cuda, method, level_of(last, few));
  else
    run_level<LevelKernel::whole>(cuda, method, level_of(last, many));
  for (int level = last - 1; level >= 0; --level)
    run_level<LevelKernel::substitute>(cuda, method, level_of(level, few));
}

}  // namespace

template <class T>
void run_partitioned(const Cuda& cuda, const BandPartition& partition, BandedMethod method,
                     const PartitionedSolve<T>& s) {
  if (partition.half == 1)
    run_levels<1>(cuda, partition, method, s);
  else
    run_levels<2>(cuda, partition, method, s);
}

KRILL_INSTANTIATE(PartitionKernels);

}  // namespace krill::detail
