// Dense matrices whose rows are brought together in memory, so that a row is read as whole lines.
#pragma once
#include <algorithm>
#include <bit>

#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmm/few.cuh"

namespace krill::detail {

/// Entries of a row that are brought together at a time, at most.
template <class T>
constexpr int line_entries = 256 / sizeof(T);
/// Those of a line that has `columns` of them: a power of two, and of whole 16 bytes.
template <class T>
int line_entries_for(int columns) {
  return std::clamp(static_cast<int>(std::bit_ceil(static_cast<unsigned>(columns))), few<T>, line_entries<T>);
}

constexpr int gather_rows = 32, gather_threads = 256;

// Threads: a block takes 32 rows, through shared memory, so that both sides are read and written side by side.
// Bytes: the matrix once in, once out, and zeros up to the end of each line. Races: none, an entry is one thread's on
//   either side of the barrier.
template <class T>
__global__ void __launch_bounds__(gather_threads)
    gather_lines_kernel(DenseView<const T> from, T* to, int line_bits, Skip skip) {
  __shared__ __align__(16) unsigned char memory[gather_rows * (line_entries<T> + 1) * sizeof(T)];
  if (skip.now()) return;
  T* const tile = reinterpret_cast<T*>(memory);
  const std::int64_t first = std::int64_t{blockIdx.x} * gather_rows;
  const int line = 1 << line_bits, pitch = line + 1;
#pragma unroll 4
  for (int q = static_cast<int>(threadIdx.x); q < gather_rows * line; q += gather_threads) {
    const int i = q % gather_rows, j = q / gather_rows;
    tile[i * pitch + j] = first + i < from.rows && j < from.cols ? from.at(first + i, j) : T{};
  }
  __syncthreads();
#pragma unroll 4
  for (int q = static_cast<int>(threadIdx.x); q < gather_rows * line; q += gather_threads) {
    const int i = q >> line_bits, j = q & line - 1;
    if (first + i < from.rows) to[first * line + q] = tile[i * pitch + j];
  }
}

/// What is moved in the place of an entry, so that types of one size share a kernel.
template <class T>
using moved_t =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                                             std::conditional_t<sizeof(T) == 8, std::uint64_t, T>>>>;

/// The same matrix, of at most line_entries<T> columns, in row-major order: copied to `room`, a line for each row.
template <class T>
DenseView<const T> in_lines(const Cuda& cuda, const DenseView<const T>& from, T* room) {
  using Word = moved_t<T>;
  const int line = line_entries_for<T>(from.cols);
  const DenseView<const Word> words{from.rows, from.cols, from.leading_dimension, from.order,
                                    reinterpret_cast<const Word*>(from.values)};
  if (from.rows > 0)
    gather_lines_kernel<<<static_cast<unsigned>(ceil_div(from.rows, gather_rows)), gather_threads, 0, cuda.stream>>>(
        words, reinterpret_cast<Word*>(room), std::countr_zero(static_cast<unsigned>(line)), cuda.skip);
  check(cudaGetLastError());
  return {from.rows, from.cols, line, Order::row_major, room};
}

}  // namespace krill::detail
