#include <bit>

#include "sparse/banded/rearrange.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

constexpr int threads = 256;
/// Entries of a thread: tiles of 16 KiB; with 8 and 32 the same took 10 and 20 % longer.
template <class T>
constexpr int each = 16384 / threads / static_cast<int>(sizeof(T));

/// Rows and systems of a tile, powers of two whose product is what a block moves: a square one, or as many as there are
/// in the direction that has few.
struct Tile {
  int row_bits, system_bits;
  std::int64_t down;  ///< tiles

  Tile(const BandLayout& l, int entries) {
    const int bits = std::countr_zero(static_cast<unsigned>(entries));
    const auto bits_of = [](std::int32_t n) { return std::countr_zero(std::bit_ceil(static_cast<unsigned>(n))); };
    system_bits = std::max(bits - std::min(bits / 2, bits_of(l.rows)), 0);
    system_bits = std::min(system_bits, bits_of(l.batch));
    row_bits = bits - system_bits;
    down = ceil_div(l.rows, rows());
  }
  __host__ __device__ int rows() const { return 1 << row_bits; }
  __host__ __device__ int systems() const { return 1 << system_bits; }
  /// A row of the tile in shared memory: neighboring rows of neighboring systems lie in banks of their own.
  __host__ __device__ int pitch() const { return systems() + (row_bits < 5 ? 32 >> row_bits : 1); }
};

/// use(row, system, place in the tile) for the entries of this thread, in the order in which they lie in memory.
template <int each, class Use>
__device__ void for_entries(const BandLayout& l, const Tile& tile, std::int64_t first_row, std::int64_t first_system,
                            Use&& use) {
  const bool interleaved = l.is_interleaved();
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const int q = static_cast<int>(threadIdx.x) + e * threads;
    const int i = interleaved ? q >> tile.system_bits : q & (tile.rows() - 1);
    const int j = interleaved ? q & (tile.systems() - 1) : q >> tile.row_bits;
    if (first_row + i < l.rows && first_system + j < l.batch)
      use(first_row + i, first_system + j, i * tile.pitch() + j);
  }
}

/// Threads: blocks take a tile each, in the order of memory on both sides; between them it lies in shared memory.
/// Bytes: every entry once in, once out, in whole lines where a line holds rows, or systems, side by side. Races: none,
/// an entry is one thread's on either side of the barrier.
template <class T>
__global__ void __launch_bounds__(threads) rearrange_kernel(Rearrangement<T> r, Tile tile, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  T* const shared = reinterpret_cast<T*>(memory);
  const std::int64_t first_row = blockIdx.x % tile.down << tile.row_bits;
  const std::int64_t first_system = blockIdx.x / tile.down << tile.system_bits;
  for_entries<each<T>>(r.from_layout, tile, first_row, first_system, [&](std::int64_t i, std::int64_t j, int place) {
    shared[place] = r.from[r.from_layout.at(i, j)];
  });
  __syncthreads();
  for_entries<each<T>>(r.to_layout, tile, first_row, first_system,
                       [&](std::int64_t i, std::int64_t j, int place) { r.to[r.to_layout.at(i, j)] = shared[place]; });
}

}  // namespace

template <class T>
void run_rearrangement(const Cuda& cuda, const Rearrangement<T>& r) {
  const Tile tile(r.from_layout, threads * each<T>);
  const std::int64_t across = ceil_div(r.from_layout.batch, tile.systems());
  const std::size_t shared = static_cast<std::size_t>(tile.rows()) * static_cast<std::size_t>(tile.pitch()) * sizeof(T);
  resident_blocks<rearrange_kernel<T>>(cuda, shared, threads);  // allows so much shared memory
  rearrange_kernel<<<static_cast<unsigned>(tile.down * across), threads, shared, cuda.stream>>>(r, tile, cuda.skip);
  check(cudaGetLastError());
}

KRILL_INSTANTIATE(RearrangementKernels, Cuda);

}  // namespace krill::detail
