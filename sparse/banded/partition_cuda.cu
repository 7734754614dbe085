#include <cuda_pipeline.h>

#include "sparse/banded/partition.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

constexpr int threads = BandPartitionTuning::threads;

/// One level, as a kernel sees it: a block has the chunks first_chunk to first_chunk + wide - 1 of systems first_system
/// to first_system + lanes - 1, a thread a chunk.
template <class T>
struct Level {
  const T* word[5];
  BandLayout words, rhs;  // of the matrix, or of all words of left-over rows; of b and x
  T* x;
  T* next;  // the rows that are left over: five words and the solution, each `left.unknowns()` entries
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
template <bool interleaved, class T>
__device__ Mine mine(const Level<T>& s) {
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
template <bool interleaved>
__host__ __device__ constexpr int plane(int chunk) {
  return threads * (interleaved ? chunk : chunk + 1);
}
template <bool three_bands, bool interleaved, class T>
__device__ ChunkRows<T, three_bands> rows_of_thread(T* shared, int chunk) {
  const int t = static_cast<int>(threadIdx.x);
  return {shared + (interleaved ? t : t * (chunk + 1)), plane<interleaved>(chunk), interleaved ? threads : 1};
}

/// use(system, row, place in a plane) for the rows of the block's chunks, in the order in which they lie in memory.
template <bool interleaved, class T, class Use>
__device__ void for_rows(const Level<T>& s, std::int32_t end, Use&& use) {
  const int chunk = s.here().chunk, span = s.wide * chunk;
  const std::int64_t first_system = s.first_system();
  const std::int32_t first_row = s.first_chunk() * chunk;
  for (int e = static_cast<int>(threadIdx.x); e < span * s.lanes; e += threads) {
    const int lane = interleaved ? e % s.lanes : e / span, row = interleaved ? e / s.lanes : e % span;
    const int w = row / chunk, i = row % chunk;
    if (first_system + lane >= s.rhs.batch || first_row + row >= end) continue;
    use(first_system + lane, first_row + row,
        interleaved ? i * threads + w * s.lanes + lane : (lane * s.wide + w) * (chunk + 1) + i);
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

/// Copies the words of the block's rows into shared memory. A last pair of one row gets x = 0 as its second.
template <bool three_bands, bool interleaved, class T>
__device__ void load_rows(const Level<T>& s, T* shared) {
  const int size = plane<interleaved>(s.here().chunk);
  const std::int32_t rows = s.here().rows;
  for_rows<interleaved>(s, rows + rows % 2, [&](std::int64_t j, std::int32_t i, int place) {
    T* const to = shared + place;
    if constexpr (three_bands) {
      if (i >= rows) {
        to[0] = T(0), to[size] = T(1), to[2 * size] = T(0), to[3 * size] = T(0);
        return;
      }
      const std::int64_t at = s.words.at(i, j);
      if (i > 0)
        copy_async(to[0], s.word[0][at]);
      else
        to[0] = T(0);
      copy_async(to[size], s.word[1][at]);
      if (i + 1 < rows)
        copy_async(to[2 * size], s.word[2][at]);
      else
        to[2 * size] = T(0);
      copy_async(to[3 * size], s.word[3][s.rhs.at(i, j)]);
    } else {
      const std::int64_t at = s.words.at(i, j);
      for (int w = 0; w < 5; ++w) copy_async(to[w * size], s.word[w][at]);
    }
  });
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
}

template <bool interleaved, class T>
__device__ void store_x(const Level<T>& s, const T* shared) {
  __syncthreads();
  const T* const x = shared + 3 * plane<interleaved>(s.here().chunk);
  for_rows<interleaved>(s, s.here().rows,
                        [&](std::int64_t j, std::int32_t i, int place) { s.x[s.rhs.at(i, j)] = x[place]; });
}

/// Threads: one a chunk. Bytes: every word of the rows once, five words for each row that is left over. Races: the
/// first rows without pivot by atomic minima, all else is a chunk's own.
template <BandedMethod method, bool three_bands, bool interleaved, class T>
__global__ void __launch_bounds__(threads) reduce_kernel(Level<T> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  if (skip.now()) return;
  load_rows<three_bands, interleaved>(s, shared);
  const Mine m = mine<interleaved>(s);
  if (!m.some) return;
  Equation<T, 4> left[2];
  std::int32_t zero_row = no_row;
  reduce_chunk<method>(rows_of_thread<three_bands, interleaved>(shared, s.here().chunk), s.here().pairs_of(m.chunk),
                       left, zero_row);
  for (int r = 0; r < 2; ++r) {
    T* const to = s.next + s.left.at(2 * m.chunk + r, m.system);
    for (int w = 0; w < 4; ++w) to[w * s.left.unknowns()] = left[r].entry[w];
    to[4 * s.left.unknowns()] = left[r].rhs;
  }
  if (zero_row != no_row)
    atomicMin(s.zero_rows + m.system, s.partition.given_row(s.level, m.chunk * s.here().chunk + zero_row));
}

/// Threads: one a chunk. Bytes: every word of the rows once, x written once, up to four unknowns of the next system a
/// chunk. Races: none; b may be x, as a block has read all of b that it writes x over.
template <BandedMethod method, bool three_bands, bool interleaved, class T>
__global__ void __launch_bounds__(threads) substitute_kernel(Level<T> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  if (skip.now()) return;
  load_rows<three_bands, interleaved>(s, shared);
  if (const Mine m = mine<interleaved>(s); m.some) {
    const T* const known = s.next + 5 * s.left.unknowns();
    const auto unknown = [&](std::int32_t i) {
      return i < 0 || i >= s.left.rows ? T(0) : known[s.left.at(i, m.system)];
    };
    const std::int32_t i = 2 * m.chunk;
    substitute_chunk<method>(rows_of_thread<three_bands, interleaved>(shared, s.here().chunk),
                             s.here().pairs_of(m.chunk), unknown(i - 1), unknown(i), unknown(i + 1), unknown(i + 2));
  }
  store_x<interleaved>(s, shared);
}

/// The levels of a block's systems that lie in its shared memory: rows of `lanes` systems, interleaved.
template <class T>
struct InnerLevel {
  T* base;
  int rows, lanes;

  __device__ ChunkRows<T, false> chunk(int lane, int first_row) const {
    return {base + first_row * lanes + lane, rows * lanes, lanes};
  }
  __device__ T x(int lane, int i) const { return i < 0 || i >= rows ? T(0) : chunk(lane, i).at(3, 0); }
  __device__ T* end() const { return base + 5 * rows * lanes; }
};

template <class T>
__device__ void put(const ChunkRows<T, false>& at, const Equation<T, 4> (&row)[2]) {
  for (int r = 0; r < 2; ++r) {
    for (int w = 0; w < 4; ++w) at.at(w, r) = row[r].entry[w];
    at.at(4, r) = row[r].rhs;
  }
}

/// Threads: one a chunk, systems whole in a block; of the rows that chunks leave, and of what those leave, ever fewer.
/// Bytes: every word of the rows and of x once. Races: between barriers a chunk's rows are its thread's.
template <BandedMethod method, bool three_bands, bool interleaved, class T>
__global__ void __launch_bounds__(threads) whole_kernel(Level<T> s, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ std::int32_t zero_rows[threads];
  T* const shared = reinterpret_cast<T*>(memory);
  if (skip.now()) return;
  constexpr auto inner_method = method == BandedMethod::thomas ? BandedMethod::thomas : BandedMethod::lu;
  zero_rows[threadIdx.x] = no_row;
  load_rows<three_bands, interleaved>(s, shared);
  const Mine m = mine<interleaved>(s);
  const auto rows = rows_of_thread<three_bands, interleaved>(shared, s.here().chunk);
  const auto note = [&](int lane, int level, std::int32_t row) {
    if (row != no_row) atomicMin(zero_rows + lane, s.partition.given_row(level, row));
  };
  InnerLevel<T> inner{shared + (three_bands ? 4 : 5) * plane<interleaved>(s.here().chunk), 2 * s.here().chunks(),
                      s.lanes};
  if (m.some) {
    Equation<T, 4> left[2];
    std::int32_t zero_row = no_row;
    reduce_chunk<method>(rows, s.here().pairs_of(m.chunk), left, zero_row);
    put(inner.chunk(m.lane, 2 * m.chunk), left);
    if (zero_row != no_row) note(m.lane, s.level, m.chunk * s.here().chunk + zero_row);
  }
  __syncthreads();

  // Down to a system of one chunk, then up again.
  const int lane = static_cast<int>(threadIdx.x) % s.lanes, c = static_cast<int>(threadIdx.x) / s.lanes;
  int level = s.level + 1;
  for (; level + 1 < s.partition.total; ++level) {
    const BandLevel& here = s.partition.levels[level];
    const InnerLevel<T> next{inner.end(), 2 * here.chunks(), s.lanes};
    if (c < here.chunks()) {
      Equation<T, 4> left[2];
      std::int32_t zero_row = no_row;
      reduce_chunk<inner_method>(inner.chunk(lane, c * here.chunk), here.pairs_of(c), left, zero_row);
      put(next.chunk(lane, 2 * c), left);
      if (zero_row != no_row) note(lane, level, c * here.chunk + zero_row);
    }
    inner = next;
    __syncthreads();
  }
  if (c == 0) {
    const auto all = inner.chunk(lane, 0);
    const int pairs = inner.rows / 2;
    Equation<T, 4> left[2];
    std::int32_t zero_row = no_row;
    reduce_chunk<inner_method>(all, pairs, left, zero_row);
    T x_first{}, x_last{};
    const int without_pivot = solve_pair<inner_method>(left, x_first, x_last);
    if (without_pivot & 2) zero_row = zero_row < 2 * pairs - 1 ? zero_row : 2 * pairs - 1;
    if (without_pivot & 1) zero_row = 0;
    note(lane, level, zero_row);
    substitute_chunk<inner_method>(all, pairs, T(0), x_first, x_last, T(0));
  }
  __syncthreads();
  for (--level; level > s.level; --level) {
    const BandLevel& here = s.partition.levels[level];
    const InnerLevel<T> next = inner;
    inner = {next.base - 5 * here.rows * s.lanes, here.rows, s.lanes};
    if (c < here.chunks())
      substitute_chunk<inner_method>(inner.chunk(lane, c * here.chunk), here.pairs_of(c), next.x(lane, 2 * c - 1),
                                     next.x(lane, 2 * c), next.x(lane, 2 * c + 1), next.x(lane, 2 * c + 2));
    __syncthreads();
  }

  if (m.some) {
    const int i = 2 * m.chunk;
    substitute_chunk<method>(rows, s.here().pairs_of(m.chunk), inner.x(m.lane, i - 1), inner.x(m.lane, i),
                             inner.x(m.lane, i + 1), inner.x(m.lane, i + 2));
    if (m.w == 0) {
      if (s.level == 0)
        s.zero_rows[m.system] = zero_rows[m.lane];
      else if (zero_rows[m.lane] != no_row)
        atomicMin(s.zero_rows + m.system, zero_rows[m.lane]);
    }
  }
  store_x<interleaved>(s, shared);
}

/// Threads: one a system.
__global__ void no_rows_kernel(std::int64_t n, std::int32_t* rows, Skip skip) {
  const std::int64_t j = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (!skip.now() && j < n) rows[j] = no_row;
}

template <auto kernel, class T>
void launch(const Cuda& cuda, const Level<T>& s, std::size_t shared) {
  resident_blocks<kernel>(cuda, shared, threads);  // allows so much shared memory
  const std::int64_t systems = (s.rhs.batch + s.lanes - 1) / s.lanes;
  kernel<<<static_cast<unsigned>(systems * s.groups()), threads, shared, cuda.stream>>>(s, cuda.skip);
  check(cudaGetLastError());
}

enum class LevelKernel { reduce, substitute, whole };

template <LevelKernel step, BandedMethod method, bool three_bands, bool interleaved, class T>
void run_level(const Cuda& cuda, Level<T> s) {
  const BandLevel& here = s.partition.levels[static_cast<std::size_t>(s.level)];
  const auto lanes_of = [&](int chunks) {
    return static_cast<int>(std::min<std::int64_t>(s.rhs.batch, threads / chunks));
  };
  std::size_t words = static_cast<std::size_t>(three_bands ? 4 : 5) * plane<interleaved>(here.chunk);
  if constexpr (step == LevelKernel::whole) {
    s.wide = here.chunks(), s.lanes = lanes_of(s.wide);
    for (int inner = s.partition.depth; inner < s.partition.total; ++inner)
      words += static_cast<std::size_t>(5 * s.partition.levels[static_cast<std::size_t>(inner)].rows) * s.lanes;
  } else if constexpr (interleaved) {
    s.lanes = lanes_of(threads / 32), s.wide = threads / s.lanes;
  } else {
    s.wide = std::min(here.chunks(), threads), s.lanes = lanes_of(s.wide);
  }
  if constexpr (step == LevelKernel::reduce)
    launch<reduce_kernel<method, three_bands, interleaved, T>>(cuda, s, words * sizeof(T));
  else if constexpr (step == LevelKernel::substitute)
    launch<substitute_kernel<method, three_bands, interleaved, T>>(cuda, s, words * sizeof(T));
  else
    launch<whole_kernel<method, three_bands, interleaved, T>>(cuda, s, words * sizeof(T));
}

template <LevelKernel step, class T>
void run_level(const Cuda& cuda, BandedMethod method, const Level<T>& s) {
  const auto run = [&]<bool interleaved>(std::bool_constant<interleaved>) {
    if (s.level > 0)
      return method == BandedMethod::thomas ? run_level<step, BandedMethod::thomas, false, interleaved>(cuda, s)
                                            : run_level<step, BandedMethod::lu, false, interleaved>(cuda, s);
    switch (method) {
      case BandedMethod::thomas:
        return run_level<step, BandedMethod::thomas, true, interleaved>(cuda, s);
      case BandedMethod::lu:
        return run_level<step, BandedMethod::lu, true, interleaved>(cuda, s);
      case BandedMethod::qr:
        return run_level<step, BandedMethod::qr, true, interleaved>(cuda, s);
    }
  };
  s.interleaved() ? run(std::true_type()) : run(std::false_type());
}

}  // namespace

template <class T>
void run_partitioned(const Cuda& cuda, const BandPartition& partition, BandedMethod method,
                     const PartitionedSolve<T>& s) {
  const std::int32_t batch = s.vectors.batch;
  const auto layout_of = [&](int level) {
    const std::int32_t rows = partition.levels[static_cast<std::size_t>(level)].rows;
    return s.vectors.is_interleaved() ? BandLayout::interleaved(rows, batch) : BandLayout::strided(rows, batch);
  };
  std::array<T*, BandPartition::max_levels> rows_of{};  // left-over rows, where their words begin
  T* place = s.work;
  for (int level = 1; level < partition.depth; ++level) {
    rows_of[static_cast<std::size_t>(level)] = place;
    place += 6 * layout_of(level).unknowns();
  }
  const auto level_of = [&](int level) {
    Level<T> l{};
    l.partition = partition, l.level = level, l.zero_rows = s.zero_rows;
    if (level == 0) {
      l.word[0] = s.a.dl, l.word[1] = s.a.d, l.word[2] = s.a.du, l.word[3] = s.b;
      l.words = s.a.layout, l.rhs = s.vectors, l.x = s.x;
    } else {
      l.words = l.rhs = layout_of(level);
      T* const rows = rows_of[static_cast<std::size_t>(level)];
      for (int w = 0; w < 5; ++w) l.word[w] = rows + w * l.rhs.unknowns();
      l.x = rows + 5 * l.rhs.unknowns();
    }
    if (level + 1 < partition.depth)
      l.next = rows_of[static_cast<std::size_t>(level) + 1], l.left = layout_of(level + 1);
    return l;
  };
  const int last = partition.depth - 1;
  if (last > 0) {
    no_rows_kernel<<<static_cast<unsigned>((batch + threads - 1) / threads), threads, 0, cuda.stream>>>(
        batch, s.zero_rows, cuda.skip);
    check(cudaGetLastError());
  }
  for (int level = 0; level < last; ++level) run_level<LevelKernel::reduce>(cuda, method, level_of(level));
  run_level<LevelKernel::whole>(cuda, method, level_of(last));
  for (int level = last - 1; level >= 0; --level) run_level<LevelKernel::substitute>(cuda, method, level_of(level));
}

KRILL_INSTANTIATE(PartitionKernels);

}  // namespace krill::detail
