#include <algorithm>

#include "sparse/core/instantiate.hpp"
#include "sparse/triangular/triangular_passes.hpp"
#include "sparse/triangular/turns.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int threads = 256;  ///< of a block. Not varied.
  /// Entries of a row that are asked for at once: of short rows (their mean is no more), of others, and where rows of a
  /// slice wait for each other. 13 is what a row of 27 points has on one side. Not varied.
  static constexpr int short_flight = 4, mixed_flight = 4;
  template <class T>
  static constexpr int long_flight() {
    return sizeof(T) > 8 ? 8 : 13;
  }
  /// Blocks that a multiprocessor is to hold. Not varied.
  template <class T, int flight>
  static constexpr int blocks() {
    return flight > 4 ? 2 : sizeof(T) > 8 ? 3 : 5;
  }
};

/// Marks the results of all rows as missing; they lie in the order of places. Over the results.
template <class T>
struct ClearSolved {
  using Sum = NoSum;
  T* solved;

  constexpr bool begin() const { return true; }
  __device__ NoSum entry(std::int64_t i) const { return Awaited<T>::clear(solved + i), NoSum{}; }
};

/// What a kernel solves: `columns` of b and x, from column `first` on; `solved` has as many.
template <class T>
struct AwaitedSolve {
  TriangularSolve<T> s;
  std::int64_t tasks;
  std::int32_t first, columns;
  T* solved;
};

/// Entries of a row, and the results of other rows that they are multiplied by.
template <class T, int flight>
struct Entries {
  std::int32_t place[flight];
  T factor[flight];
  Awaited<T> other[flight];

  /// Loads the entries at, at + stride, ..., `left` of them at most; all loads are under way at once.
  __device__ void load(const TriangleView<const T>& a, std::int64_t at, int stride, int left) {
#pragma unroll
    for (int u = 0; u < flight; ++u) {
      const std::int64_t k = at + std::int64_t{u < left ? u : 0} * stride;
      const std::int32_t found = a.columns[k];
      factor[u] = a.values[k];
      place[u] = u < left ? found : no_place;
      other[u] = Awaited<T>::none();
    }
  }
  /// Looks once at every result that is still missing; true if none is left.
  __device__ bool look(const T* solved) {
#pragma unroll
    for (int u = 0; u < flight; ++u) other[u].look(solved + place[u], place[u] != no_place);
    bool ready = true;
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if constexpr (flight <= 4)
        ready &= (place[u] == no_place) | other[u].is_there();  // no branch
      else
        ready = ready && (place[u] == no_place || other[u].is_there());  // the first that is missing ends it
    return ready;
  }
  __device__ void subtract_from(T& sum) const {
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if (place[u] != no_place) sum -= factor[u] * other[u].value();
  }
};

/// A column of a solve.
template <class T>
struct AwaitedColumn {
  const AwaitedSolve<T>& w;
  std::int32_t j;
  T* solved;

  __device__ AwaitedColumn(const AwaitedSolve<T>& all, std::int32_t column)
      : w(all), j(all.first + column), solved(all.solved + std::int64_t{column} * all.s.a.rows) {}
  __device__ T right_side(std::int32_t row) const { return w.s.alpha() * w.s.b.at(row, j); }
  __device__ void put(std::int64_t place, std::int32_t row, T result) const {
    Awaited<T>::publish(solved + place, result);
    w.s.x.at(row, j) = result;
  }
};

// Threads: a warp takes a task of a column: 32 rows, a lane each, or one long row. What a row needs of its entries is
//   asked for before it waits. Bytes: entries once a column, for the columns of a task follow each other closely enough
//   to find them in L2; 4 + 4 sizeof T a row; and what is looked at before it is there, from L2.
// Deadlock: none. Tasks are in the order of places, and blocks take them in turn as they run. Of all rows of a column
//   that are not done, the one at the first place waits for none; it is in a task that a running warp has. Inside a
//   warp, a lane that is done publishes its row before any other lane of it looks again; no lane waits for another one
//   inside the loop. In a task that is not mixed, and at its gate, lanes wait together for rows of other warps alone.
// Races: a row is written by one lane, and its words say whether they are there. b may be x: a row's b is read before
//   the same lane writes its x, and rows wait for `solved`, not for x.
template <class T, int flight>
__global__ void __launch_bounds__(Tuning::threads, Tuning::blocks<T, flight>())
    awaited_kernel(AwaitedSolve<T> w, Skip skip, Turns turns) {
  if (skip.now()) return;
  const std::int64_t number = std::int64_t{turns.next()} * (Tuning::threads / 32) + threadIdx.x / 32;
  if (number >= w.tasks * w.columns) return;
  const TriangularTask task = w.s.a.tasks[w.columns == 1 ? number : number / w.columns];
  const AwaitedColumn<T> column(w, w.columns == 1 ? 0 : static_cast<std::int32_t>(number % w.columns));
  const int lane = threadIdx.x % 32;
  const TriangleView<const T>& a = w.s.a;
  if (task.is_one_row()) {
    const std::int64_t place = ~task.place;
    const std::int32_t row = a.order[place];
    const T inverse = a.inverses ? a.inverses[place] : T(1);
    T sum = lane == 0 ? column.right_side(row) : T{};
    for (int k = lane; k < task.width; k += 32 * flight) {
      Entries<T, flight> entries;
      entries.load(a, task.begin + k, 32, (task.width - k + 31) / 32);
      while (!entries.look(column.solved)) {
      }
      entries.subtract_from(sum);
    }
    sum = lanes_sum(sum, 32);
    if (lane == 0) column.put(place, row, sum * inverse);
    return;
  }
  const std::int64_t place = std::int64_t{task.place} + lane;
  const unsigned together = __ballot_sync(~0u, place < a.rows);
  if (place >= a.rows) return;
  const std::int32_t row = a.order[place];
  const T inverse = a.inverses ? a.inverses[place] : T(1);
  T sum = column.right_side(row);
  std::int64_t at = task.begin + lane;
  int left = task.width;
  if (!task.mixed) {
    Entries<T, flight> entries;
    if (left > 0) entries.load(a, at, 32, left);
    if (task.gate != no_place)
      for (Awaited<T> gate = Awaited<T>::none(); !gate.is_there();) gate.look(column.solved + task.gate, true);
    for (; left > 0; left -= flight, at += 32 * flight) {
      if (left < task.width) entries.load(a, at, 32, left);
      // together: a lane that went on alone would leave the others to do the same one after the other
      while (!__all_sync(together, entries.look(column.solved))) {
      }
      entries.subtract_from(sum);
    }
    column.put(place, row, sum * inverse);
    return;
  }
  constexpr int few = Tuning::mixed_flight;
  Entries<T, few> entries;
  if (left > 0) entries.load(a, at, 32, left);
  for (bool done = false; !done;) {
    if (left > 0 && !entries.look(column.solved)) continue;
    if (left > 0) entries.subtract_from(sum);
    left -= few, at += 32 * few;
    if (left > 0) {
      entries.load(a, at, 32, left);
    } else {
      column.put(place, row, sum * inverse);
      done = true;
    }
  }
}

// Threads: one a row of the level. Bytes: as above. Races: rows of earlier levels are written by earlier kernels.
template <class T>
__global__ void __launch_bounds__(Tuning::threads)
    level_kernel(TriangularSolve<T> s, std::int32_t first, std::int32_t end, Skip skip) {
  if (skip.now()) return;
  const T alpha = s.alpha();
  for (std::int64_t place = std::int64_t{first} + blockIdx.x * Tuning::threads + threadIdx.x; place < end;
       place += std::int64_t{gridDim.x} * Tuning::threads)
    s.solve_place(alpha, place);
}

}  // namespace

template <class T>
void run_awaited_solve(const Cuda& cuda, const TriangularSolve<T>& s, std::int64_t tasks) {
  constexpr int short_flight = Tuning::short_flight, long_flight = Tuning::long_flight<T>();
  const std::int32_t max_columns = std::min(s.b.cols, s.a.columns_at_a_time);
  const auto kernel = s.a.mean_width <= short_flight ? awaited_kernel<T, short_flight> : awaited_kernel<T, long_flight>;
  Frame frame(cuda);
  const Turns turns{frame.take<unsigned>(1)};
  AwaitedSolve<T> w{s, tasks, 0, max_columns,
                    frame.take<T>(static_cast<std::size_t>(s.a.rows) * static_cast<std::size_t>(max_columns))};
  for (; w.first < s.b.cols; w.first += max_columns) {
    w.columns = std::min(max_columns, s.b.cols - w.first);
    run_pass(cuda, std::int64_t{s.a.rows} * w.columns, ClearSolved<T>{w.solved});
    turns.begin(cuda);
    const auto blocks = static_cast<unsigned>(ceil_div(w.tasks * w.columns, Tuning::threads / 32));
    kernel<<<blocks, Tuning::threads, 0, cuda.stream>>>(w, cuda.skip, turns);
    check(cudaGetLastError());
  }
}

template <class T>
void run_solve(const Cuda& cuda, const TriangularSolve<T>& s, std::span<const std::int32_t> levels) {
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    const int blocks = grid_blocks(cuda, levels[l + 1] - levels[l], Tuning::threads);
    level_kernel<T><<<blocks, Tuning::threads, 0, cuda.stream>>>(s, levels[l], levels[l + 1], cuda.skip);
  }
  check(cudaGetLastError());
}

template <class T>
struct TriangularCudaInstances {
  static constexpr auto list =
      instance<void(const Cuda&, const TriangularSolve<kernel_t<T>>&, std::int64_t)>(run_awaited_solve);
};
KRILL_INSTANTIATE(TriangularCudaInstances);

KRILL_INSTANTIATE_WITH_OFFSETS(TriangularPasses, Cuda);

}  // namespace krill::detail
