#include <algorithm>

#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"
#include "sparse/triangular/triangular_passes.hpp"

namespace krill::detail {
namespace {

// Together they take 0.19 us a level of a tridiagonal matrix and 0.41 of one with 40 rows a level on an H200
// (docs/performance.md, triangular solves). Not varied one by one.
struct Tuning {
  static constexpr int max_chunk = 512;             ///< places that are staged at a time, a thread each
  static constexpr int max_staged_entries = 32;     ///< of a row; longer ones are taken from memory by a warp
  static constexpr int max_columns_at_a_time = 32;  ///< blocks, each with a solution in the order of places
  static constexpr int group_entries = 4;           ///< that a lane loads from shared memory at a time
  template <class T>
  static constexpr int flight() {  ///< entries of a row that are asked for at once
    return sizeof(T) > 8 ? 4 : 8;
  }
};

/// Some entries of a row, as lanes load them at a time; zeros times the ring's zero fill the last group up.
template <class T>
struct alignas(16) EntryGroup {
  static constexpr int size = Tuning::group_entries;
  std::int32_t other[size];  // slots of the results that they need
  T factor[size];
};

/// A right-hand side, less what earlier chunks contribute to it, and the inverse of the diagonal.
template <class T>
struct alignas(sizeof(T) > 4 ? 16 : 8) RowHead {
  T sum, inverse;
};

/// What blocks solve, a column of b and x at a time.
template <class T>
struct OneBlockSolve {
  TriangularSolve<T> s;
  const std::int32_t* bounds;  // level l has the places bounds[l] to bounds[l + 1] - 1
  std::int32_t levels;
  std::int32_t chunk;   // a power of two
  std::int32_t groups;  // of entries that can be staged of a row
  T* solved = nullptr;  // of each block, in the order of places

  constexpr std::int32_t room() const { return groups * EntryGroup<T>::size; }
  constexpr bool has_long_rows() const { return s.a.longest > room(); }
  std::size_t shared_bytes() const {
    return sizeof(T) + 2 * static_cast<std::size_t>(chunk) *
                           (static_cast<std::size_t>(groups) * sizeof(EntryGroup<T>) + sizeof(RowHead<T>) + sizeof(T) +
                            sizeof(std::int32_t));
  }
};

/// Shared memory for two chunks of places; place p has slot p mod 2 chunk.
template <class T>
struct Ring {
  std::int32_t slots;
  EntryGroup<T>* groups;  // the k-th of slot s is at k slots + s
  RowHead<T>* heads;
  T* results;            // and a zero
  std::int32_t* counts;  // of entries

  __device__ Ring(const OneBlockSolve<T>& w, unsigned char* memory)
      : slots(2 * w.chunk),
        groups(reinterpret_cast<EntryGroup<T>*>(memory)),
        heads(reinterpret_cast<RowHead<T>*>(groups + slots * w.groups)),
        results(reinterpret_cast<T*>(heads + slots)),
        counts(reinterpret_cast<std::int32_t*>(results + slots + 1)) {}
  __device__ std::int32_t slot(std::int64_t place) const { return static_cast<std::int32_t>(place & (slots - 1)); }
};

constexpr std::int32_t long_row = -1;  // in place of a count: none of the row's entries is staged

/// One of the threads that prepare chunks; it has the same place in every chunk.
template <class T>
struct Stager {
  const OneBlockSolve<T>& w;
  const Ring<T>& ring;
  const T alpha;
  const std::int32_t mine;
  std::int32_t column;
  T* solved;
  // Loaded a step before they are used, so that no step waits for one load after the other. Of the slice in the chunk
  // after the next: its first task, and the number of that; and the number in the chunk behind.
  TriangularTask task;
  std::int32_t first, first_after;
  std::int32_t row, next, present,
      previous;  // of the chunk after the next, the next, the present, and the previous one

  __device__ Stager(const OneBlockSolve<T>& all, const Ring<T>& memory, std::int32_t number)
      : w(all), ring(memory), alpha(all.s.alpha()), mine(number) {}

  __device__ void begin(std::int32_t j, T* solution) {
    column = j, solved = solution;
    next = present = previous = 0;
    if (mine < w.s.a.rows) first_after = first_task(mine);
    look_ahead(mine);
  }
  /// To be done while chunk c is solved: chunk c - 1 is taken to x, chunk c + 1 is staged.
  __device__ void step(std::int64_t c) {
    previous = present, present = next, next = row;
    const std::int64_t done = (c - 1) * w.chunk + mine, ahead = (c + 1) * w.chunk + mine;
    if (done >= 0 && done < w.s.a.rows) {
      const T result = ring.results[ring.slot(done)];
      solved[done] = result;
      w.s.x.at(previous, column) = result;
    }
    TriangularTask now = task;
    if (ahead < w.s.a.rows && now.is_one_row()) now = w.s.a.tasks[first + ahead % task_rows];
    look_ahead(ahead + w.chunk);
    stage(ahead, now, c * w.chunk);
  }

 private:
  __device__ std::int32_t first_task(std::int64_t place) const {
    return static_cast<std::int32_t>(w.s.a.slice_tasks[place / task_rows]);
  }
  /// Loads what the next step starts with.
  __device__ void look_ahead(std::int64_t place) {
    if (place >= w.s.a.rows) return;
    first = first_after;
    task = w.s.a.tasks[first];
    row = w.s.a.order[place];
    if (place + w.chunk < w.s.a.rows) first_after = first_task(place + w.chunk);
  }
  __device__ void put(std::int32_t slot, std::int32_t k, std::int32_t other, T factor) const {
    constexpr int size = EntryGroup<T>::size;
    EntryGroup<T>& group = ring.groups[k / size * ring.slots + slot];
    group.other[k % size] = other, group.factor[k % size] = factor;
  }
  /// The result at a place before the present chunk.
  __device__ T known(std::int32_t place, std::int64_t present_begin) const {
    return place >= present_begin - w.chunk ? ring.results[ring.slot(place)] : solved[place];
  }
  /// The entries of a row that are known are taken out of its right-hand side; the others, from place `near` on, are
  /// listed.
  __device__ void stage(std::int64_t place, const TriangularTask& t, std::int64_t near) {
    const TriangleView<const T>& a = w.s.a;
    const bool there = place < a.rows;
    const bool is_long = there && t.width > w.room();
    const std::int32_t slot = ring.slot(place);
    T sum = there ? alpha * w.s.b.at(next, column) : T{};
    const T inverse = there && a.inverses ? a.inverses[place] : T(1);
    std::int32_t count = 0;
    if (there && !is_long) {
      constexpr int flight = Tuning::flight<T>();
      const int stride = t.is_one_row() ? 1 : task_rows;
      std::int64_t at = t.begin + (t.is_one_row() ? 0 : place % task_rows);
      for (std::int32_t left = t.width; left > 0; left -= flight, at += flight * stride) {
        std::int32_t other[flight];
        T factor[flight], value[flight];
#pragma unroll
        for (int u = 0; u < flight; ++u) {
          other[u] = u < left ? a.columns[at + u * stride] : no_place;
          factor[u] = u < left ? a.values[at + u * stride] : T{};
        }
#pragma unroll
        for (int u = 0; u < flight; ++u)
          value[u] = other[u] != no_place && other[u] < near ? known(other[u], near) : T{};
#pragma unroll
        for (int u = 0; u < flight; ++u)
          if (other[u] != no_place && other[u] < near) {
            sum -= factor[u] * value[u];
          } else if (other[u] != no_place) {
            put(slot, count, ring.slot(other[u]), factor[u]);
            ++count;
          }
      }
    }
    for (unsigned left = __ballot_sync(~0u, is_long); left != 0; left &= left - 1) {
      const int source = __ffs(static_cast<int>(left)) - 1;
      const std::int64_t begin = shuffle_from(t.begin, source);
      const std::int32_t width = shuffle_from(t.width, source);
      T part{};
      for (std::int32_t k = threadIdx.x % 32; k < width; k += 32) {
        const std::int32_t other = a.columns[begin + k];
        if (other < near) part += a.values[begin + k] * known(other, near);
      }
      part = shuffle_from(lanes_sum(part, 32), 0);
      if (threadIdx.x % 32 == source) sum -= part;
    }
    if (!there) return;
    for (std::int32_t k = is_long ? 0 : count; k == 0 || k % EntryGroup<T>::size != 0; ++k)
      put(slot, k, ring.slots, T{});
    ring.heads[slot] = {sum, inverse};
    ring.counts[slot] = is_long ? long_row : count;
  }
};

/// What the solving warp knows of a row before it needs its entries' results.
template <class T>
struct StagedRow {
  std::int32_t count;
  RowHead<T> head;
  EntryGroup<T> group;

  __device__ StagedRow(const Ring<T>& ring, std::int32_t slot, bool there)
      : count(there ? ring.counts[slot] : 0), head(ring.heads[slot]), group(ring.groups[slot]) {}
  __device__ void subtract(const T* results) {
    T value[EntryGroup<T>::size];
#pragma unroll
    for (int u = 0; u < EntryGroup<T>::size; ++u) value[u] = results[group.other[u]];
#pragma unroll
    for (int u = 0; u < EntryGroup<T>::size; ++u) head.sum -= group.factor[u] * value[u];
  }
};

/// The warp that solves, level after level.
template <class T>
struct Walker {
  const OneBlockSolve<T>& w;
  const Ring<T>& ring;
  const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % 32);
  std::int32_t end, end_after;   // of the present level, and of the one after it
  std::uint32_t after;           // number of the latter
  std::int32_t ends, more_ends;  // a lane each: of the 32 levels around that one, and of the 32 behind those

  __device__ Walker(const OneBlockSolve<T>& all, const Ring<T>& memory) : w(all), ring(memory) {}

  __device__ void begin() {
    ends = ends_from(0), more_ends = ends_from(32);
    end = __shfl_sync(~0u, ends, 0), end_after = __shfl_sync(~0u, ends, 1);
    after = 1;
  }
  /// The chunk from place `first` on, 32 places at a time, or fewer at the end of a level. What is staged of the next
  /// ones is loaded before the present ones need their entries' results.
  __device__ void walk(std::int32_t first) {
    // Places count from the first one from here on.
    const std::int32_t slot = ring.slot(first), chunk_end = min(w.chunk, w.s.a.rows - first);
    // Lanes without a row do the first one, too; behind the chunk's end, its last one.
    const auto staged = [&](std::int32_t from, std::int32_t to) {
      const bool there = from + lane < to;
      return StagedRow<T>(ring, slot + (there ? from + lane : min(from, chunk_end - 1)), there);
    };
    std::int32_t place = 0, stop = min(end - first, chunk_end);
    StagedRow<T> row = staged(place, stop);
    while (place < chunk_end) {
      const std::int32_t here = place + lane;
      const bool there = here < stop;
      const std::int64_t warp_first = std::int64_t{first} + place;
      place += 32;
      if (place >= stop) {
        place = stop;
        if (place == end - first) next_level();
        stop = min(end - first, chunk_end);
      }
      const StagedRow<T> row_after = staged(place, stop);
      const T result = solved(row, slot + here, warp_first, first - w.chunk);
      if (there) ring.results[slot + here] = result;
      __syncwarp();
      row = row_after;
    }
  }

 private:
  __device__ std::int32_t ends_from(std::int64_t level) const {
    return w.bounds[min(level + 1 + lane, std::int64_t{w.levels})];
  }
  __device__ void next_level() {
    end = end_after;
    if (++after % 32 == 0) ends = more_ends, more_ends = ends_from(std::int64_t{after} + 32);
    end_after = __shfl_sync(~0u, ends, after % 32);
  }
  __device__ T solved(StagedRow<T>& row, std::int32_t slot, std::int64_t warp_first, std::int32_t near) const {
    constexpr int size = EntryGroup<T>::size;
    row.subtract(ring.results);
    for (std::int32_t k = size, at = slot; k < row.count; k += size) {
      row.group = ring.groups[at += ring.slots];
      row.subtract(ring.results);
    }
    if (w.has_long_rows())
      for (unsigned left = __ballot_sync(~0u, row.count == long_row); left != 0; left &= left - 1) {
        const int source = __ffs(static_cast<int>(left)) - 1;
        const TriangularTask task = w.s.a.task_of(warp_first + source);
        T part{};
        for (std::int32_t k = lane; k < task.width; k += 32) {
          const std::int32_t other = w.s.a.columns[task.begin + k];
          if (other >= near) part += w.s.a.values[task.begin + k] * ring.results[ring.slot(other)];
        }
        part = shuffle_from(lanes_sum(part, 32), 0);
        if (lane == source) row.head.sum -= part;
      }
    return row.head.sum * row.head.inverse;
  }
};

// Threads: a block has a column. Its first warp solves a chunk of places, 32 rows of a level at a time, with shared
//   memory alone. The other threads have a place of each chunk: meanwhile they take the results of the chunk before to
//   x, and stage the chunk after; what its rows need of chunks before the present one is known, so they subtract it. A
//   level costs what it takes to load a result of another lane from shared memory, to use it and to store the next one.
// Bytes: entries once a column, 4 + 5 sizeof T a row and column, and sizeof T an entry whose row is two chunks away.
// Deadlock: none. Threads wait at barriers of the block alone, and all of them meet every barrier.
// Races: between two of the block's barriers the first warp writes results of chunk c, and reads those and the ones of
//   chunk c - 1 with what was staged for c; the others read results of chunk c - 1, write what is staged for c + 1, in
//   the other half of the ring, write `solved` for chunk c - 1 and read it for earlier ones. Rows of a level do not
//   need each other, and the warp is synchronised before the next 32. b may be x: b is read for chunk c + 1, x written
//   for c - 1, and rows belong to one place.
template <class T>
__global__ void __launch_bounds__(Tuning::max_chunk + 32) one_block_kernel(OneBlockSolve<T> w, Skip skip) {
  extern __shared__ __align__(16) unsigned char ring_memory[];
  if (skip.now()) return;
  const Ring<T> ring(w, ring_memory);
  const bool solves = threadIdx.x < 32;
  if (threadIdx.x == 0) ring.results[ring.slots] = T{};
  const std::int64_t chunks = (std::int64_t{w.s.a.rows} + w.chunk - 1) / w.chunk;
  Walker<T> walker(w, ring);
  Stager<T> stager(w, ring, static_cast<std::int32_t>(threadIdx.x) - 32);
  for (std::int32_t j = static_cast<std::int32_t>(blockIdx.x); j < w.s.b.cols;
       j += static_cast<std::int32_t>(gridDim.x)) {
    solves ? walker.begin() : stager.begin(j, w.solved + std::int64_t{blockIdx.x} * w.s.a.rows);
    for (std::int64_t c = -1; c <= chunks; ++c) {
      if (!solves)
        stager.step(c);
      else if (c >= 0 && c < chunks)
        walker.walk(static_cast<std::int32_t>(c * w.chunk));
      __syncthreads();
    }
  }
}

}  // namespace

template <class T>
void run_one_block_solve(const Cuda& cuda, const TriangularSolve<T>& s, const std::int32_t* bounds,
                         std::int32_t levels) {
  constexpr int size = EntryGroup<T>::size;
  const std::int32_t staged = std::clamp(s.a.longest, 1, int{Tuning::max_staged_entries});
  OneBlockSolve<T> w{s, bounds, levels, Tuning::max_chunk, (staged + size - 1) / size};
  const std::size_t most = max_shared(cuda);
  while (w.chunk > 32 && w.shared_bytes() > most) w.chunk /= 2;
  const int threads = w.chunk + 32;
  resident_blocks<one_block_kernel<T>>(cuda, w.shared_bytes(), threads);  // allows so much shared memory
  const std::int32_t blocks = std::min(s.b.cols, int{Tuning::max_columns_at_a_time});
  Frame frame(cuda);
  w.solved = frame.take<T>(static_cast<std::size_t>(s.a.rows) * static_cast<std::size_t>(blocks));
  one_block_kernel<T><<<blocks, threads, w.shared_bytes(), cuda.stream>>>(w, cuda.skip);
  check(cudaGetLastError());
}

template <class T>
struct OneBlockCudaInstances {
  static constexpr auto list =
      instance<void(const Cuda&, const TriangularSolve<kernel_t<T>>&, const std::int32_t*, std::int32_t)>(
          run_one_block_solve);
};
KRILL_INSTANTIATE(OneBlockCudaInstances);

}  // namespace krill::detail
