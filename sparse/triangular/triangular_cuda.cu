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
  /// Blocks that a multiprocessor is to hold where a lane waits for as many values at once. Not varied.
  template <class T, int awaited>
  static constexpr int blocks() {
    return awaited > 4 ? 2 : sizeof(T) > 8 ? 3 : 5;
  }
  /// Columns of a lane, and lanes that share a row, where there are several columns. 8 columns of the lower triangle
  /// on an H200, ms, at 7-point 256^3, 128^3, 5-point 1024^2, 27-point 160^3, with 16 random columns a row:
  ///   2 x 4: 4.91, 0.75, 1.33, 3.14, 0.73; 4 x 2: 4.94, 1.00, 1.77, 3.70, 0.69; 1 x 8: 5.56, 0.76, 1.35, 2.85, 0.85;
  ///   2 x 2, twice: 5.12, 0.91, 2.33, 5.56, 0.79; 4 x 1, twice: 5.89, 1.22, 3.08, 6.24, 0.86;
  ///   1 x 8 with the long flight: 9.26, 1.20, 1.81, 2.57, 1.26.
  static constexpr int values = 2, lanes = 4;
  /// Rows that need more than two short flights take the long one. Twice as many of them are under way in 2 x 4, where
  /// two columns fit a lane's registers (of complex numbers they do not), as in 1 x 8. Not varied.
  template <class T>
  static constexpr int long_values() {
    return is_complex<T> ? 1 : 2;
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

/// What a kernel solves: columns of b and x from `first` on; those of a row lie side by side in `solved`. Where they
/// are several, so they do in `sides`, for rows that are neighbors in a level are none in b and x: of a sector of a
/// column there, one entry would be wanted at a time.
template <class T>
struct AwaitedSolve {
  TriangularSolve<T> s;
  std::int64_t tasks;
  const std::int32_t* place_of;  ///< of each row
  std::int32_t first;
  T* solved;
  T* sides = nullptr;  ///< alpha b, in the order of places
};

/// 16 bytes of the columns of a place, moved at once. Threads side by side have those of a row: what they read of b and
/// write of x are whole sectors of some rows in each column, what they move at the place is one line.
template <class T>
struct alignas(16) PartOfLine {
  static constexpr int values = 16 / sizeof(T);
  T value[values];
};

/// The right-hand sides of a row to its place; zeros where there are no more columns. Over the parts of the rows.
template <class T, int stride>
struct GatherSides {
  using Sum = NoSum;
  using Part = PartOfLine<T>;
  static constexpr int parts = stride / Part::values;
  AwaitedSolve<T> w;
  T alpha{};

  __device__ bool begin() { return alpha = w.s.alpha(), true; }
  __device__ NoSum entry(std::int64_t i) const {
    const std::int64_t row = i / parts, part = i % parts;
    Part sides;
#pragma unroll
    for (int j = 0; j < Part::values; ++j) {
      const auto column = w.first + static_cast<std::int32_t>(part) * Part::values + j;
      sides.value[j] = column < w.s.b.cols ? alpha * w.s.b.at(row, column) : T{};
    }
    reinterpret_cast<Part*>(w.sides)[std::int64_t{w.place_of[row]} * parts + part] = sides;
    return {};
  }
};

/// The results of a row from its place to x. Over the parts of the rows.
template <class T, int stride>
struct PutSolutions {
  using Sum = NoSum;
  using Part = PartOfLine<T>;
  static constexpr int parts = stride / Part::values;
  AwaitedSolve<T> w;

  constexpr bool begin() const { return true; }
  __device__ NoSum entry(std::int64_t i) const {
    const std::int64_t row = i / parts, part = i % parts;
    const Part results = reinterpret_cast<const Part*>(w.solved)[std::int64_t{w.place_of[row]} * parts + part];
#pragma unroll
    for (int j = 0; j < Part::values; ++j)
      if (const auto column = w.first + static_cast<std::int32_t>(part) * Part::values + j; column < w.s.b.cols)
        w.s.x.at(row, column) = results.value[j];
    return {};
  }
};

/// Entries of a row, and the results of other rows that they are multiplied by: `values` columns of them.
template <class T, int flight, int values>
struct Entries {
  std::int32_t place[flight];
  T factor[flight];
  AwaitedValues<T, values> other[flight];

  /// Loads the entries at, at + stride, ..., `left` of them at most; all loads are under way at once.
  __device__ void load(const TriangleView<const T>& a, std::int64_t at, int stride, int left) {
#pragma unroll
    for (int u = 0; u < flight; ++u) {
      const std::int64_t k = at + std::int64_t{u < left ? u : 0} * stride;
      const std::int32_t found = a.columns[k];
      factor[u] = a.values[k];
      place[u] = u < left ? found : no_place;
      other[u] = AwaitedValues<T, values>::none();
    }
  }
  /// Looks once at every result that is still missing; true if none is left. Results of neighboring places are `stride`
  /// values apart.
  __device__ bool look(const T* solved, int stride) {
#pragma unroll
    for (int u = 0; u < flight; ++u) other[u].look(solved + std::int64_t{place[u]} * stride, place[u] != no_place);
    bool ready = true;
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if constexpr (flight <= 4)
        ready &= (place[u] == no_place) | other[u].is_there();  // no branch
      else
        ready = ready && (place[u] == no_place || other[u].is_there());  // the first that is missing ends it
    return ready;
  }
  __device__ void subtract_from(T (&sums)[values]) const {
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if (place[u] != no_place)
#pragma unroll
        for (int v = 0; v < values; ++v) sums[v] -= factor[u] * other[u].value(v);
  }
};

/// Columns of a place, moved at once.
template <class T, int count>
struct alignas(count * sizeof(T) < 16 ? count * sizeof(T) : 16) Line {
  T value[count];
};

/// The columns of a solve that a lane has: `values` of the `stride` that are solved at a time.
template <class T, int values, int stride>
struct AwaitedColumns {
  const AwaitedSolve<T>& w;
  std::int32_t first;  ///< column of b
  T* solved;

  __device__ AwaitedColumns(const AwaitedSolve<T>& all, int part)
      : w(all), first(all.first + part * values), solved(all.solved + part * values) {}
  __device__ void right_sides(std::int64_t place, std::int32_t row, T (&sums)[values]) const {
    if constexpr (stride == 1) {
      sums[0] = w.s.alpha() * w.s.b.at(row, first);
    } else {
      const auto line = *reinterpret_cast<const Line<T, values>*>(w.sides + place * stride + (first - w.first));
#pragma unroll
      for (int v = 0; v < values; ++v) sums[v] = line.value[v];
    }
  }
  __device__ void put(std::int64_t place, std::int32_t row, const T (&sums)[values], T inverse) const {
    T results[values];
#pragma unroll
    for (int v = 0; v < values; ++v) results[v] = sums[v] * inverse;
    AwaitedValues<T, values>::publish(solved + place * stride, results);
    if constexpr (stride == 1) w.s.x.at(row, first) = results[0];
  }
};

// Threads: a task is 32 rows or a long one, and `lanes` warps take it. Of 32 rows a warp has 32 / lanes, a row being
//   shared by `lanes` lanes, each with the sums of `values` columns; of a long row it has that many columns, and all
//   lanes go along the row. What a row needs of its entries is asked for before it waits. Bytes: entries once; 4 a row,
//   4 sizeof T a row and column (3 where there are several); and what is looked at before it is there, from L2.
// Deadlock: none. Tasks are in the order of places, and blocks take them in turn as they run. Of all rows that are not
//   done, the one at the first place waits for none; it is in a task that a running warp has. Inside a warp, a lane
//   that is done publishes its row before any other lane of it looks again; no lane waits for another one inside the
//   loop. In a task that is not mixed, and at its gate, lanes wait together for rows of other warps alone.
// Races: a row and column is written by one lane, and its words say whether they are there. b may be x: a row's b is
//   read before the same lane writes its x, and rows wait for `solved`, not for x.
template <class T, int flight, int values, int lanes>
__global__ void __launch_bounds__(Tuning::threads, Tuning::blocks<T, flight * values>())
    awaited_kernel(AwaitedSolve<T> w, Skip skip, Turns turns) {
  if (skip.now()) return;
  constexpr int stride = values * lanes;
  const std::int64_t number = std::int64_t{turns.next()} * (Tuning::threads / 32) + threadIdx.x / 32;
  if (number >= w.tasks * lanes) return;
  const TriangularTask task = w.s.a.tasks[number / lanes];
  const int lane = threadIdx.x % 32, part = static_cast<int>(number % lanes);
  const TriangleView<const T>& a = w.s.a;
  if (task.is_one_row()) {
    const AwaitedColumns<T, values, stride> columns(w, part);
    const std::int64_t place = ~task.place;
    const std::int32_t row = a.order[place];
    const T inverse = a.inverses ? a.inverses[place] : T(1);
    T sums[values] = {};
    if (lane == 0) columns.right_sides(place, row, sums);
    for (int k = lane; k < task.width; k += 32 * flight) {
      Entries<T, flight, values> entries;
      entries.load(a, task.begin + k, 32, (task.width - k + 31) / 32);
      while (!entries.look(columns.solved, stride)) {
      }
      entries.subtract_from(sums);
    }
#pragma unroll
    for (int v = 0; v < values; ++v) sums[v] = lanes_sum(sums[v], 32);
    if (lane == 0) columns.put(place, row, sums, inverse);
    return;
  }
  const AwaitedColumns<T, values, stride> columns(w, lane % lanes);
  const int in_slice = part * (task_rows / lanes) + lane / lanes;
  const std::int64_t place = std::int64_t{task.place} + in_slice;
  const unsigned together = __ballot_sync(~0u, place < a.rows);
  if (place >= a.rows) return;
  const std::int32_t row = a.order[place];
  const T inverse = a.inverses ? a.inverses[place] : T(1);
  T sums[values];
  columns.right_sides(place, row, sums);
  std::int64_t at = task.begin + in_slice;
  int left = task.width;
  if (lane % lanes == 0) {
    if constexpr (stride > 1) prefetch_to_l2(w.solved + place * stride);  // others look there before the row is solved
    for (int k = flight; k < left; ++k) prefetch_to_l2(a.columns + at + 32 * k), prefetch_to_l2(a.values + at + 32 * k);
  }
  if (!task.mixed) {
    Entries<T, flight, values> entries;
    if (left > 0) entries.load(a, at, 32, left);
    if (task.gate != no_place)
      for (auto gate = AwaitedValues<T, values>::none(); !gate.is_there();)
        gate.look(columns.solved + std::int64_t{task.gate} * stride, true);
    for (; left > 0; left -= flight, at += 32 * flight) {
      if (left < task.width) entries.load(a, at, 32, left);
      // together: a lane that went on alone would leave the others to do the same one after the other
      while (!__all_sync(together, entries.look(columns.solved, stride))) {
      }
      entries.subtract_from(sums);
    }
    columns.put(place, row, sums, inverse);
    return;
  }
  constexpr int few = Tuning::mixed_flight;
  Entries<T, few, values> entries;
  if (left > 0) entries.load(a, at, 32, left);
  for (bool done = false; !done;) {
    if (left > 0 && !entries.look(columns.solved, stride)) continue;
    if (left > 0) entries.subtract_from(sums);
    left -= few, at += 32 * few;
    if (left > 0) {
      entries.load(a, at, 32, left);
    } else {
      columns.put(place, row, sums, inverse);
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
       place += std::int64_t{gridDim.x} * Tuning::threads) {
    const std::int32_t row = s.a.order[place];
    for (std::int32_t j = 0; j < s.b.cols; ++j) {
      T sum = alpha * s.b.at(row, j);
      s.a.for_entries(place, [&](std::int32_t col, T value) { sum -= value * s.x.at(col, j); });
      s.x.at(row, j) = s.a.inverses ? sum * s.a.inverses[place] : sum;
    }
  }
}

}  // namespace

namespace {

/// Solves for as many columns at a time as `lanes` lanes have, from w.first on.
template <int flight, int values, int lanes, class T>
void launch(const Cuda& cuda, Turns turns, AwaitedSolve<T>& w) {
  constexpr int stride = values * lanes;
  run_pass(cuda, std::int64_t{w.s.a.rows} * stride, ClearSolved<T>{w.solved});
  const std::int64_t parts = std::int64_t{w.s.a.rows} * stride / PartOfLine<T>::values;
  if constexpr (stride > 1) run_pass(cuda, parts, GatherSides<T, stride>{w});
  turns.begin(cuda);
  const auto blocks = static_cast<unsigned>(ceil_div(w.tasks * lanes, Tuning::threads / 32));
  awaited_kernel<T, flight, values, lanes><<<blocks, Tuning::threads, 0, cuda.stream>>>(w, cuda.skip, turns);
  check(cudaGetLastError());
  if constexpr (stride > 1) run_pass(cuda, parts, PutSolutions<T, stride>{w});
  w.first += stride;
}

}  // namespace

template <class T>
void run_awaited_solve(const Cuda& cuda, const TriangularSolve<T>& s, const std::int32_t* place_of,
                       std::int64_t tasks) {
  constexpr int values = Tuning::values, lanes = Tuning::lanes, long_values = Tuning::long_values<T>();
  Frame frame(cuda);
  const Turns turns{frame.take<unsigned>(1)};
  constexpr int half = values * lanes / 2;
  const int width = s.b.cols == 1 ? 1 : s.b.cols <= half ? half : values * lanes;
  const auto rows = static_cast<std::size_t>(s.a.rows), values_of_all = rows * static_cast<std::size_t>(width);
  AwaitedSolve<T> w{s, tasks, place_of, 0, frame.take<T>(values_of_all)};
  if (width > 1) w.sides = frame.take<T>(values_of_all);
  while (w.first < s.b.cols) {
    const std::int32_t left = s.b.cols - w.first;
    if (left > half && s.a.mean_width > 2 * Tuning::short_flight)
      launch<Tuning::long_flight<T>(), long_values, values * lanes / long_values>(cuda, turns, w);
    else if (left > half)
      launch<Tuning::short_flight, values, lanes>(cuda, turns, w);
    else if (left > 1)
      launch<Tuning::short_flight, values, lanes / 2>(cuda, turns, w);
    else if (s.a.mean_width <= Tuning::short_flight)
      launch<Tuning::short_flight, 1, 1>(cuda, turns, w);
    else
      launch<Tuning::long_flight<T>(), 1, 1>(cuda, turns, w);
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
      instance<void(const Cuda&, const TriangularSolve<kernel_t<T>>&, const std::int32_t*, std::int64_t)>(
          run_awaited_solve);
};
KRILL_INSTANTIATE(TriangularCudaInstances);

KRILL_INSTANTIATE_WITH_OFFSETS(TriangularPasses, Cuda);

}  // namespace krill::detail
