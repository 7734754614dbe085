#include "sparse/factor/incomplete_passes.hpp"
#include "sparse/factor/team_row.cuh"
#include "sparse/triangular/turns.cuh"

namespace krill::detail {
namespace {

// Chosen on an H200 (docs/performance.md, incomplete factorizations: "What helped, one after the other"). 16 warps a
// multiprocessor with more registers took 8.6 ms in place of 7.2 for the 27-point matrix.
struct Tuning {
  static constexpr int threads = 256;  ///< of a block. Not varied.
  /// Items that a lane has under way at once: few, where rows have no more (1024^2: 1.90 ms in place of 2.12), or as
  /// many as there are registers for.
  static constexpr int short_flight = 4;
  template <class T>
  static constexpr int long_flight() {
    return sizeof(T) > 8 ? 4 : 8;
  }
  /// Blocks that a multiprocessor is to hold, without spilled registers (1024^2: 2.12 ms in place of 4.05).
  template <class T, int lanes, int flight>
  static constexpr int blocks() {
    return sizeof(T) > 8 || (lanes == 1 && flight > 4) ? 2 : 3;
  }
  static constexpr unsigned gate_nanoseconds = 100;  ///< between two looks at a gate. Not varied.
};

/// Marks all values that rows publish as missing. Over these values.
template <class T>
struct ClearPublished {
  using Sum = NoSum;
  T* published;

  constexpr bool begin() const { return true; }
  __device__ NoSum entry(std::int64_t k) const { return Awaited<T>::clear(published + k), NoSum{}; }
};

/// Copies all entries, so that those above the diagonal keep the values of A. Over the entries.
template <class T>
struct CopyValues {
  using Sum = NoSum;
  const T* from;
  T* to;

  constexpr bool begin() const { return true; }
  __device__ NoSum entry(std::int64_t k) const { return to[k] = from[k], NoSum{}; }
};

/// Waits for a value that is published some levels before those that matter; it sleeps between looks, which all go
/// through L2.
template <class T>
__device__ void pass_gate(const T* published, std::int64_t gate) {
  Awaited<T> value = Awaited<T>::none();
  for (value.look(published + gate, true); !value.is_there(); value.look(published + gate, true))
    __nanosleep(Tuning::gate_nanoseconds);
}

// Threads: a warp takes the next slice of 32 / lanes rows in the order of levels, a team of lanes each; a long row by
//   itself. All that a row waits for is asked for at once. Bytes: entries of A and of the factor, positions and codes
//   of items once, and of the rows above what L2 has not.
// Deadlock: none. Warps take slices in turn as they run, and a row waits for earlier ones alone; rows of one slice that
//   are of different levels come one level after the other. A gate is of a level before the slice's.
// Races: an entry is written by one lane, and its words say whether they are there. Slots of a row belong to its team,
//   and those of one pivot's items differ. Pivot events are least rows and a count: the order of atomics does not
//   matter.
template <int lanes, int flight, class T, class Offset>
__global__ void __launch_bounds__(Tuning::threads, Tuning::blocks<T, lanes, flight>())
    factor_kernel(FactorTask<T, Offset> f, T* published, Skip skip, Turns turns) {
  extern __shared__ double shared[];
  if (skip.now()) return;
  constexpr int rows = 32 / lanes;
  const std::int64_t slice = std::int64_t{turns.next()} * (Tuning::threads / 32) + threadIdx.x / 32;
  if (slice * rows >= f.p.a.rows) return;
  const std::int64_t place = slice * rows + threadIdx.x % 32 / lanes;
  const bool there = place < f.p.a.rows;
  FactorRow<Offset> row = f.items.rows[there ? place : f.p.a.rows - 1];
  if (!there) row.turn = 0, row.is_long = true;
  const std::int64_t at = f.items.slices[slice] + threadIdx.x % 32;
  const Offset gate = f.items.gates[slice];
  T* value = reinterpret_cast<T*>(shared) + static_cast<int>(threadIdx.x / lanes) * f.items.room;
  TeamRow<lanes, flight, T, Offset> team_row(f, row, at, published, value);
  if (gate >= 0) pass_gate(published, gate);
  const unsigned last = __reduce_max_sync(~0u, row.turn);
  for (unsigned turn = 0; turn <= last; ++turn) {
    const bool mine = row.turn == turn && !row.is_long;
    const unsigned together = __ballot_sync(~0u, mine);
    if (mine) team_row.finish(together);
    __syncwarp();
    if (f.items.has_long_rows)
      for (int r = 0; r < rows; ++r)
        if (__shfl_sync(~0u, there && row.is_long && row.turn == turn, r * lanes))
          factor_long_row(f, published, f.items.rows[slice * rows + r]);
  }
}

}  // namespace

template <class T, class Offset>
void run_factorization(const Cuda& cuda, const FactorTask<T, Offset>& f) {
  Frame frame(cuda);
  const Turns turns = take_turns(cuda, frame);
  T* published = frame.take<T>(static_cast<std::size_t>(f.items.published));
  run_pass(cuda, f.items.published, ClearPublished<T>{published});
  if (f.p.cholesky) run_pass(cuda, f.p.a.nnz, CopyValues<T>{f.values, f.to});
  const auto kernel = f.items.lanes > 1 ? factor_kernel<team_lanes, Tuning::long_flight<T>(), T, Offset>
                      : f.items.max_of_a_row <= Tuning::short_flight
                          ? factor_kernel<1, Tuning::short_flight, T, Offset>
                          : factor_kernel<1, Tuning::long_flight<T>(), T, Offset>;
  const std::int64_t rows_a_block = Tuning::threads / f.items.lanes;
  const std::size_t shared = static_cast<std::size_t>(rows_a_block * f.items.room) * sizeof(T);
  const auto blocks = static_cast<unsigned>(ceil_div(f.p.a.rows, rows_a_block));
  kernel<<<blocks, Tuning::threads, shared, cuda.stream>>>(f, published, cuda.skip, turns);
  check(cudaGetLastError());
}

KRILL_INSTANTIATE_WITH_OFFSETS(IncompletePasses, Cuda);

}  // namespace krill::detail
