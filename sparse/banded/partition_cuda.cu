#include <cuda_pipeline.h>

#include "sparse/banded/partition.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

template <int half>
constexpr int threads = BandPartitionTuning<half>::threads;

/// One level, as a kernel sees it: a block has the chunks first_chunk to first_chunk + wide - 1 of systems first_system
/// to first_system + lanes - 1, a thread a chunk.
template <class T, int half_>
struct Level {
  static constexpr int half = half_, group = 2 * half;
  static constexpr int left_words = ChunkRows<T, half, ChunkOf::groups>::words;
  const T* word[left_words];
  BandLayout words, rhs;  // of the matrix, or of all words of left-over rows; of b and x
  T* x;
  T* next;  // the rows that are left over: their words and the solution, each `left.unknowns()` entries
  BandLayout left;
  BandPartition partition;
  int level;
  int lanes, wide;
  std::int32_t* zero_rows;

  __device__ const BandLevel& here() const { return partition.levels[level]; }
  __device__ std::int64_t first_system() const { return std::int64_t{blockIdx.x} / groups() * lanes; }
  __device__ std::int32_t first_chunk() const { return static_cast<std::int32_t>(blockIdx.x % groups()) * wide; }
  __host__ __device__ unsigned groups() const {
    return static_cast<unsigned>((partition.levels[level].chunks() + wide - 1) / wide);
  }
  bool interleaved() const { return rhs.is_interleaved(); }
};

/// Which chunk a thread has, or none.
struct Mine {
  int lane, w;
  std::int64_t system;
  std::int32_t chunk;
  bool some;
};
template <bool interleaved, class Level>
__device__ Mine mine(const Level& s) {
  const int t = static_cast<int>(threadIdx.x);
  Mine m{};
  m.lane = interleaved ? t % s.lanes : t / s.wide, m.w = interleaved ? t / s.lanes : t % s.wide;
  m.system = s.first_system() + m.lane, m.chunk = s.first_chunk() + m.w;
  m.some = m.lane < s.lanes && m.w < s.wide && m.system < s.rhs.batch && m.chunk < s.here().chunks();
  return m;
}

/// A word of all chunks of a block. Threads of a warp that read the same row of their chunks find them in different
/// banks: chunks of systems one after the other lie an odd number of entries apart, interleaved ones next to each
/// other.
template <int half, bool interleaved>
__host__ __device__ constexpr int plane(int chunk) {
  return threads<half> * (interleaved ? chunk : chunk + 1);
}
template <ChunkOf kind, bool interleaved, class T, int half>
__device__ ChunkRows<T, half, kind> rows_of_thread(const Level<T, half>& s, T* shared) {
  const int t = static_cast<int>(threadIdx.x), chunk = s.here().chunk;
  return {shared + (interleaved ? t : t * (chunk + 1)), plane<half, interleaved>(chunk),
          interleaved ? threads<half> : 1};
}

/// use(system, row, place in a plane) for the rows of the block's chunks, in the order in which they lie in memory.
template <bool interleaved, class T, int half, class Use>
__device__ void for_rows(const Level<T, half>& s, std::int32_t end, Use&& use) {
  const int chunk = s.here().chunk, span = s.wide * chunk;
  const std::int64_t first_system = s.first_system();
  const std::int32_t first_row = s.first_chunk() * chunk;
  for (int e = static_cast<int>(threadIdx.x); e < span * s.lanes; e += threads<half>) {
    const int lane = interleaved ? e % s.lanes : e / span, row = interleaved ? e / s.lanes : e % span;
    const int w = row / chunk, i = row % chunk;
    if (first_system + lane >= s.rhs.batch || first_row + row >= end) continue;
    use(first_system + lane, first_row + row,
        interleaved ? i * threads<half> + w * s.lanes + lane : (lane * s.wide + w) * (chunk + 1) + i);
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
template <ChunkOf kind, bool interleaved, class T, int half>
__device__ void load_rows(const Level<T, half>& s, T* shared) {
  using Rows = ChunkRows<T, half, kind>;
  const int size = plane<half, interleaved>(s.here().chunk);
  const std::int32_t rows = s.here().rows;
  for_rows<interleaved>(s, s.here().padded_rows(half), [&](std::int64_t j, std::int32_t i, int place) {
    T* const to = shared + place;
    if constexpr (kind == ChunkOf::bands) {
      if (i >= rows) {
        for (int w = 0; w < Rows::words; ++w) to[w * size] = T(w == half ? 1 : 0);
        return;
      }
      const std::int64_t at = s.words.at(i, j);
#pragma unroll
      for (int w = 0; w < Rows::entries; ++w)
        if (const std::int32_t k = i + w - half; k >= 0 && k < rows)
          copy_async(to[w * size], s.word[w][at]);
        else
          to[w * size] = T(0);
      copy_async(to[Rows::entries * size], s.word[Rows::entries][s.rhs.at(i, j)]);
    } else {
      const std::int64_t at = s.words.at(i, j);
#pragma unroll
      for (int w = 0; w < Rows::words; ++w) copy_async(to[w * size], s.word[w][at]);
    }
  });
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
}

template <ChunkOf kind, bool interleaved, class T, int half>
__device__ void store_x(const Level<T, half>& s, const T* shared) {
  __syncthreads();
  const T* const x = shared + ChunkRows<T, half, kind>::x_word * plane<half, interleaved>(s.here().chunk);
  for_rows<interleaved>(s, s.here().rows,
                        [&](std::int64_t j, std::int32_t i, int place) { s.x[s.rhs.at(i, j)] = x[place]; });
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

template <class T, int half>
__device__ void put(const ChunkRows<T, half, ChunkOf::groups>& at, const Equation<T, 4 * half> (&row)[2 * half]) {
#pragma unroll
  for (int r = 0; r < 2 * half; ++r) {
    for (int w = 0; w < 4 * half; ++w) at.at(w, r) = row[r].entry[w];
    at.at(4 * half, r) = row[r].rhs;
  }
}

/// Threads: one a chunk. Bytes: every word of the rows once, and those of the rows that are left over. Races: the first
/// rows without pivot by atomic minima, all else is a chunk's own.
template <BandedMethod method, ChunkOf kind, bool interleaved, class T, int half>
__global__ void __launch_bounds__(threads<half>) reduce_kernel(Level<T, half> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  if (skip.now()) return;
  load_rows<kind, interleaved>(s, shared);
  const Mine m = mine<interleaved>(s);
  if (!m.some) return;
  Equation<T, 4 * half> left[s.group];
  std::int32_t zero_row = no_row;
  reduce_chunk<method>(rows_of_thread<kind, interleaved>(s, shared), s.here().rows_of(m.chunk, half), left, zero_row);
  put<T, half>({s.next + s.left.at(s.group * m.chunk, m.system), s.left.unknowns(), s.left.row_stride}, left);
  if (zero_row != no_row)
    atomicMin(s.zero_rows + m.system, s.partition.given_row(s.level, m.chunk * s.here().chunk + zero_row));
}

/// Threads: one a chunk. Bytes: every word of the rows once, x written once, up to eight unknowns of the next system a
/// chunk. Races: none; b may be x, as a block has read all of b that it writes x over.
template <BandedMethod method, ChunkOf kind, bool interleaved, class T, int half>
__global__ void __launch_bounds__(threads<half>) substitute_kernel(Level<T, half> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  if (skip.now()) return;
  load_rows<kind, interleaved>(s, shared);
  if (const Mine m = mine<interleaved>(s); m.some) {
    const T* const known = s.next + s.left_words * s.left.unknowns();
    const auto ends = ends_of<T, half>(
        m.chunk, [&](std::int32_t i) { return i < 0 || i >= s.left.rows ? T(0) : known[s.left.at(i, m.system)]; });
    substitute_chunk<method>(rows_of_thread<kind, interleaved>(s, shared), s.here().rows_of(m.chunk, half), ends);
  }
  store_x<kind, interleaved>(s, shared);
}

/// The levels of a block's systems that lie in its shared memory: rows of `lanes` systems, interleaved.
template <class T, int half>
struct InnerLevel {
  using Rows = ChunkRows<T, half, ChunkOf::groups>;
  T* base;
  int rows, lanes;

  __device__ Rows chunk(int lane, int first_row) const {
    return {base + first_row * lanes + lane, rows * lanes, lanes};
  }
  __device__ T x(int lane, int i) const { return i < 0 || i >= rows ? T(0) : chunk(lane, i).x(0); }
  __device__ ChunkEnds<T, half> ends(int lane, int c) const {
    return ends_of<T, half>(c, [&](std::int32_t i) { return x(lane, i); });
  }
  __device__ T* end() const { return base + Rows::words * rows * lanes; }
};

/// Threads: one a chunk, systems whole in a block; of the rows that chunks leave, and of what those leave, ever fewer.
/// Bytes: every word of the rows and of x once. Races: between barriers a chunk's rows are its thread's.
template <BandedMethod method, ChunkOf kind, bool interleaved, class T, int half>
__global__ void __launch_bounds__(threads<half>) whole_kernel(Level<T, half> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ std::int32_t zero_rows[threads<half>];
  constexpr int group = 2 * half;
  T* const shared = reinterpret_cast<T*>(memory);
  if (skip.now()) return;
  constexpr auto inner_method = method == BandedMethod::thomas ? BandedMethod::thomas : BandedMethod::lu;
  zero_rows[threadIdx.x] = no_row;
  load_rows<kind, interleaved>(s, shared);
  const Mine m = mine<interleaved>(s);
  const auto rows = rows_of_thread<kind, interleaved>(s, shared);
  const auto note = [&](int lane, int level, std::int32_t row) {
    if (row != no_row) atomicMin(zero_rows + lane, s.partition.given_row(level, row));
  };
  InnerLevel<T, half> inner{shared + rows.words * plane<half, interleaved>(s.here().chunk), group * s.here().chunks(),
                            s.lanes};
  if (m.some) {
    Equation<T, 4 * half> left[group];
    std::int32_t zero_row = no_row;
    reduce_chunk<method>(rows, s.here().rows_of(m.chunk, half), left, zero_row);
    put<T, half>(inner.chunk(m.lane, group * m.chunk), left);
    if (zero_row != no_row) note(m.lane, s.level, m.chunk * s.here().chunk + zero_row);
  }
  __syncthreads();

  // Down to a system of one chunk, then up again.
  const int lane = static_cast<int>(threadIdx.x) % s.lanes, c = static_cast<int>(threadIdx.x) / s.lanes;
  int level = s.level + 1;
  for (; level + 1 < s.partition.total; ++level) {
    const BandLevel& here = s.partition.levels[level];
    const InnerLevel<T, half> next{inner.end(), group * here.chunks(), s.lanes};
    if (c < here.chunks()) {
      Equation<T, 4 * half> left[group];
      std::int32_t zero_row = no_row;
      reduce_chunk<inner_method>(inner.chunk(lane, c * here.chunk), here.rows_of(c, half), left, zero_row);
      put<T, half>(next.chunk(lane, group * c), left);
      if (zero_row != no_row) note(lane, level, c * here.chunk + zero_row);
    }
    inner = next;
    __syncthreads();
  }
  if (c == 0) {
    const auto all = inner.chunk(lane, 0);
    const int n = inner.rows;
    Equation<T, 4 * half> left[group];
    std::int32_t zero_row = no_row;
    reduce_chunk<inner_method>(all, n, left, zero_row);
    T x[group];
    if (const int first = solve_group<inner_method>(left, x); first < group) {
      const std::int32_t row = end_row(first, n, half);
      zero_row = zero_row < row ? zero_row : row;
    }
    note(lane, level, zero_row);
    ChunkEnds<T, half> ends{};
#pragma unroll
    for (int k = 0; k < half; ++k) ends.first[k] = x[k], ends.last[k] = x[half + k];
    substitute_chunk<inner_method>(all, n, ends);
  }
  __syncthreads();
  for (--level; level > s.level; --level) {
    const BandLevel& here = s.partition.levels[level];
    const InnerLevel<T, half> next = inner;
    inner = {next.base - InnerLevel<T, half>::Rows::words * here.rows * s.lanes, here.rows, s.lanes};
    if (c < here.chunks())
      substitute_chunk<inner_method>(inner.chunk(lane, c * here.chunk), here.rows_of(c, half), next.ends(lane, c));
    __syncthreads();
  }

  if (m.some) {
    substitute_chunk<method>(rows, s.here().rows_of(m.chunk, half), inner.ends(m.lane, m.chunk));
    if (m.w == 0) {
      if (s.level == 0)
        s.zero_rows[m.system] = zero_rows[m.lane];
      else if (zero_rows[m.lane] != no_row)
        atomicMin(s.zero_rows + m.system, zero_rows[m.lane]);
    }
  }
  store_x<kind, interleaved>(s, shared);
}

/// Threads: one a system.
__global__ void no_rows_kernel(std::int64_t n, std::int32_t* rows, Skip skip) {
  const std::int64_t j = std::int64_t{blockIdx.x} * threads<1> + threadIdx.x;
  if (!skip.now() && j < n) rows[j] = no_row;
}

template <auto kernel, class T, int half>
void launch(const Cuda& cuda, const Level<T, half>& s, std::size_t shared) {
  resident_blocks<kernel>(cuda, shared, threads<half>);  // allows so much shared memory
  const std::int64_t systems = (s.rhs.batch + s.lanes - 1) / s.lanes;
  kernel<<<static_cast<unsigned>(systems * s.groups()), threads<half>, shared, cuda.stream>>>(s, cuda.skip);
  check(cudaGetLastError());
}

enum class LevelKernel { reduce, substitute, whole };

template <LevelKernel step, BandedMethod method, ChunkOf kind, bool interleaved, class T, int half>
void run_level(const Cuda& cuda, Level<T, half> s) {
  const BandLevel& here = s.partition.levels[static_cast<std::size_t>(s.level)];
  const auto lanes_of = [&](int chunks) {
    return static_cast<int>(std::min<std::int64_t>(s.rhs.batch, threads<half> / chunks));
  };
  auto entries = static_cast<std::size_t>(ChunkRows<T, half, kind>::words * plane<half, interleaved>(here.chunk));
  if constexpr (step == LevelKernel::whole) {
    s.wide = here.chunks(), s.lanes = lanes_of(s.wide);
    for (int inner = s.partition.depth; inner < s.partition.total; ++inner)
      entries += static_cast<std::size_t>(s.left_words * s.partition.levels[static_cast<std::size_t>(inner)].rows) *
                 static_cast<std::size_t>(s.lanes);
  } else if constexpr (interleaved) {
    s.lanes = lanes_of(threads<half> / 32), s.wide = threads<half> / s.lanes;
  } else {
    s.wide = std::min(here.chunks(), threads<half>), s.lanes = lanes_of(s.wide);
  }
  if constexpr (step == LevelKernel::reduce)
    launch<reduce_kernel<method, kind, interleaved, T, half>>(cuda, s, entries * sizeof(T));
  else if constexpr (step == LevelKernel::substitute)
    launch<substitute_kernel<method, kind, interleaved, T, half>>(cuda, s, entries * sizeof(T));
  else
    launch<whole_kernel<method, kind, interleaved, T, half>>(cuda, s, entries * sizeof(T));
}

template <LevelKernel step, class T, int half>
void run_level(const Cuda& cuda, BandedMethod method, const Level<T, half>& s) {
  const auto run = [&]<bool interleaved>(std::bool_constant<interleaved>) {
    constexpr auto thomas = BandedMethod::thomas, lu = BandedMethod::lu, qr = BandedMethod::qr;
    constexpr auto of_groups = half == 1 ? thomas : lu;  // where nobody pivots
    if (s.level > 0 && method == thomas) return run_level<step, of_groups, ChunkOf::groups, interleaved>(cuda, s);
    if (s.level > 0) return run_level<step, lu, ChunkOf::groups, interleaved>(cuda, s);
    if constexpr (half == 1) {
      if (method == thomas) return run_level<step, thomas, ChunkOf::bands, interleaved>(cuda, s);
      if (method == lu) return run_level<step, lu, ChunkOf::bands, interleaved>(cuda, s);
    }
    run_level<step, qr, ChunkOf::bands, interleaved>(cuda, s);
  };
  s.interleaved() ? run(std::true_type()) : run(std::false_type());
}

template <int half, class T>
void run_levels(const Cuda& cuda, const BandPartition& partition, BandedMethod method, const PartitionedSolve<T>& s) {
  using AnyLevel = Level<T, half>;
  constexpr int words = AnyLevel::left_words;
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
  const auto level_of = [&](int level) {
    AnyLevel l{};
    l.partition = partition, l.level = level, l.zero_rows = s.zero_rows;
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
    if (level + 1 < partition.depth)
      l.next = rows_of[static_cast<std::size_t>(level) + 1], l.left = layout_of(level + 1);
    return l;
  };
  const int last = partition.depth - 1;
  if (last > 0) {
    no_rows_kernel<<<static_cast<unsigned>((batch + threads<1> - 1) / threads<1>), threads<1>, 0, cuda.stream>>>(
        batch, s.zero_rows, cuda.skip);
    check(cudaGetLastError());
  }
  for (int level = 0; level < last; ++level) run_level<LevelKernel::reduce>(cuda, method, level_of(level));
  run_level<LevelKernel::whole>(cuda, method, level_of(last));
  for (int level = last - 1; level >= 0; --level) run_level<LevelKernel::substitute>(cuda, method, level_of(level));
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
