// Kernels that hold a whole loop: what their blocks keep, how they wait for each other, and how they run passes.
#pragma once
#include "solvers/progress.hpp"
#include "sparse/core/grid_barrier.cuh"

namespace krill::detail {

struct PersistentTuning {
  static constexpr int threads = 512;     ///< of the one block that a multiprocessor holds
  static constexpr int min_rows = 64;     ///< of a block: fewer rows are not worth the wait for one more block
  static constexpr int max_cluster = 16;  ///< blocks of a cluster, where the device lets a kernel have so many
  static constexpr int max_rows_of_cluster = 12'000;  ///< measured: at 10,000 a cluster is quicker, at 20,000 the grid
  static constexpr unsigned flight = 5;  ///< partial sums that a thread loads at a time: 160 blocks are one round
};

/// A sum's place for each block, twice: a block may be one sum ahead of another.
inline constexpr std::size_t persistent_slot_bytes = 64;

/// What all blocks of a persistent kernel share, and the matrix. Blocks have `rows_per_block` consecutive rows each.
template <class T>
struct PersistentGrid {
  int rows, rows_per_block, lanes;  // lanes of a warp that share a row
  bool one_cluster;                 // whose barriers are of the hardware; else blocks count arrivals in memory
  const std::int32_t *offsets, *columns;
  const T* values;
  unsigned char* slots;
  unsigned* arrivals;  // zero at the start
  Progress* progress;
};

/// Rows of a matrix in CSR: row i begins at offsets[i - first].
template <class T>
struct PersistentRows {
  int first;
  const std::int32_t *offsets, *columns;
  const T* values;
};

/// A block of such a kernel. Every thread of the grid calls the same members in the same order.
template <class T>
class PersistentBlock {
 public:
  /// Shared memory: the block's rows of A. `record` is in static shared memory.
  __device__ PersistentBlock(const PersistentGrid<T>& grid, unsigned char* shared, Progress& record)
      : grid_(grid),
        record_(record),
        barrier_(grid.arrivals),
        begin_(min(static_cast<int>(blockIdx.x) * grid.rows_per_block, grid.rows)),
        end_(min(begin_ + grid.rows_per_block, grid.rows)) {
    const int first_entry = grid.offsets[begin_], entries = grid.offsets[end_] - first_entry;
    T* const values = reinterpret_cast<T*>(shared);
    auto* const columns = reinterpret_cast<std::int32_t*>(values + entries);
    std::int32_t* const offsets = columns + entries;
    for (int k = static_cast<int>(threadIdx.x); k < entries; k += PersistentTuning::threads) {
      values[k] = grid.values[first_entry + k];
      columns[k] = grid.columns[first_entry + k];
    }
    for (int i = static_cast<int>(threadIdx.x); i <= end_ - begin_; i += PersistentTuning::threads)
      offsets[i] = grid.offsets[begin_ + i] - first_entry;
    A_ = {begin_, offsets, columns, values};
    if (threadIdx.x == 0) {
      record_ = *grid.progress;
      record_.go_on();
      if (blockIdx.x != 0) record_.history = nullptr;  // one block writes it
    }
    __syncthreads();
  }

  /// Between two iterations; the first block tells the host's watcher how far the solve is.
  __device__ bool go_on() {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      grid_.progress->iteration = record_.iteration;
      grid_.progress->residual2 = record_.residual2;
    }
    return running();
  }

  /// Whether there is no reason to end yet.
  __device__ bool running() const { return record_.reason == Reason::running; }

  /// The pass on the block's rows; where it adds up, every block gets the sum of all. As run_pass() does, it does
  /// nothing once there is a reason to end.
  template <class Pass>
  __device__ void run(Pass pass) {
    if (!running() || !pass.begin()) return;
    const auto sum = part(pass);
    if constexpr (!std::is_same_v<typename Pass::Sum, NoSum>) add_up(sum, pass);
  }

  /// Entries of a pass that has begun on the block's rows: the thread's part of its sum.
  template <class Pass>
  __device__ typename Pass::Sum part(const Pass& pass) const {
    typename Pass::Sum sum{};
    for (int i = begin_ + static_cast<int>(threadIdx.x); i < end_; i += PersistentTuning::threads) sum += pass.entry(i);
    return sum;
  }

  /// put(i, row i of A times x) for the block's rows, and finish(their sum over all blocks). x: what [] has entries of.
  template <class Entries, class Product>
  __device__ void multiply(const Entries& x, const Product& product) {
    if (running()) add_up(product_part(A_, x, product), product);
  }

  /// put(i, row i of a times x) for the block's rows: the thread's part of their sum.
  template <class Entries, class Product>
  __device__ typename Product::Sum product_part(const PersistentRows<T>& a, const Entries& x,
                                                const Product& product) const {
    typename Product::Sum sum{};
    const int lanes = grid_.lanes, lane = static_cast<int>(threadIdx.x) % lanes,
              side = PersistentTuning::threads / lanes;
    for (int first = begin_; first < end_; first += side) {  // all lanes of a warp take part in its sums
      const int i = first + static_cast<int>(threadIdx.x) / lanes;
      T row{};
      if (i < end_)
#pragma unroll 4
        for (int k = a.offsets[i - a.first] + lane; k < a.offsets[i - a.first + 1]; k += lanes)
          row += a.values[k] * x[a.columns[k]];
      row = lanes_sum(row, lanes);
      if (i < end_ && lane == 0) sum += product.put(i, row);
    }
    return sum;
  }
  /// The block's rows of A, in shared memory.
  __device__ const PersistentRows<T>& A() const { return A_; }

  /// finish(the sum over all blocks), in every block, on scalars of its own, with the same bits: each adds up all
  /// blocks' sums in one order. A barrier.
  template <class Sum, class Pass>
  __device__ void add_up(Sum mine, const Pass& pass) {
    static_assert(sizeof(Slot<Sum>) <= persistent_slot_bytes);
    auto* slots = reinterpret_cast<Slot<Sum>*>(grid_.slots + (odd_ ? persistent_slot_bytes * gridDim.x : 0));
    const Sum block = block_sum(mine);
    if (threadIdx.x == 0) slots[blockIdx.x] = {block, load_relaxed(grid_.progress->stop_requested)};
    exchange();
    odd_ = !odd_;
    if (threadIdx.x < 32) {
      const Reason stop = load_through(&slots[0].stop);
      Sum sum{};
      for (unsigned first = 0; first < gridDim.x; first += 32 * PersistentTuning::flight) {
        Sum of_blocks[PersistentTuning::flight] = {};
#pragma unroll
        for (unsigned u = 0; u < PersistentTuning::flight; ++u)
          if (const unsigned b = first + u * 32 + threadIdx.x; b < gridDim.x)
            of_blocks[u] = load_through(&slots[b].sum);
#pragma unroll
        for (const Sum& of_block : of_blocks) sum += of_block;
      }
      sum = lanes_sum(sum, 32);
      if (threadIdx.x == 0) {
        pass.finish(sum);
        record_.stop_requested = stop;
        record_.go_on();
      }
    }
    __syncthreads();
  }

  /// A barrier: what blocks have written before it, all blocks read after it.
  __device__ void exchange() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (grid_.one_cluster) {
      asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
      asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
      return;
    }
#endif
    barrier_.wait();
  }

  /// Once the loop is over: the record goes back.
  __device__ void leave() const {
    if (blockIdx.x == 0 && threadIdx.x == 0) *grid_.progress = record_;
  }

 private:
  template <class Sum>
  struct Slot {
    Sum sum;
    Reason stop;  // the first block's word for all: the host may write it at any time
  };

  const PersistentGrid<T>& grid_;
  Progress& record_;
  GridBarrier barrier_;
  int begin_, end_;
  PersistentRows<T> A_;
  bool odd_ = false;
};

}  // namespace krill::detail
