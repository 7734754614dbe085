// Dense matrices whose rows are brought together in memory, so that a row is read as whole lines.
#pragma once
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmm/few.cuh"

namespace krill::detail {

/// Entries of a row that are brought together at a time.
template <class T>
constexpr int line_entries = 256 / sizeof(T);

constexpr int gather_rows = 32, gather_threads = 256;

// Threads: a block takes 32 rows, through shared memory, so that both sides are read and written side by side.
// Bytes: the matrix once in, once out, and zeros up to the end of each line. Races: none, an entry is one thread's on
//   either side of the barrier.
template <class T>
__global__ void __launch_bounds__(gather_threads) gather_lines_kernel(DenseView<const T> from, T* to, Skip skip) {
  constexpr int width = line_entries<T>;
  __shared__ __align__(16) unsigned char memory[gather_rows * (width + 1) * sizeof(T)];
  if (skip.now()) return;
  T* const tile = reinterpret_cast<T*>(memory);
  const std::int64_t first = std::int64_t{blockIdx.x} * gather_rows;
#pragma unroll
  for (int q = static_cast<int>(threadIdx.x); q < gather_rows * width; q += gather_threads) {
    const int i = q % gather_rows, j = q / gather_rows;
    tile[i * (width + 1) + j] = first + i < from.rows && j < from.cols ? from.at(first + i, j) : T{};
  }
  __syncthreads();
#pragma unroll
  for (int q = static_cast<int>(threadIdx.x); q < gather_rows * width; q += gather_threads) {
    const int i = q / width, j = q % width;
    if (first + i < from.rows) to[(first + i) * width + j] = tile[i * (width + 1) + j];
  }
}

/// The same matrix, of at most line_entries<T> columns, in row-major order: copied to `room`, which has that many
/// entries for each row.
template <class T>
DenseView<const T> in_lines(const Cuda& cuda, const DenseView<const T>& from, T* room) {
  gather_lines_kernel<<<static_cast<unsigned>(ceil_div(from.rows, gather_rows)), gather_threads, 0, cuda.stream>>>(
      from, room, cuda.skip);
  check(cudaGetLastError());
  return {from.rows, from.cols, line_entries<T>, Order::row_major, room};
}

}  // namespace krill::detail
