// The frame of the CUDA kernels that go by rows: a few lanes a row, and the dots.
#pragma once
#include "sparse/spmv/launch.cuh"
#include "sparse/spmv/row_book.cuh"

namespace krill::detail {

/// Of kernels that go row by row, unless they say otherwise.
struct RowTuning {
  static constexpr int flight = 4;  ///< entries that a thread asks for before it uses the first. Not varied.
  /// Blocks that a multiprocessor is to hold. `narrow`: of a kernel for up to 8 bytes a value, without dots; with dots
  /// registers that keep loads in flight count more than blocks (docs/performance.md, "With a dot in the same pass").
  template <class T, bool with_dots>
  static constexpr int blocks(int narrow) {
    return sizeof(T) > 8 ? 4 : with_dots ? narrow * 3 / 4 : narrow;
  }
};

// Threads: `lanes` neighboring ones a stored row, striding over the grid; part(view, s, lane, x) is what a lane adds up
//   of stored row s. Whole warps stay together: rows beyond the last one add nothing.
// Bytes: what `part` says, y once. Races: each y_i is written by one lane.
template <bool with_dots, int lanes, class View, class Part>
__global__ void __launch_bounds__(sum_threads, RowTuning::blocks<typename View::Value, with_dots>(Part::resident))
    row_kernel(Product<View> p, Part part, Skip skip,
               GridScratch<typename DotsView<typename View::Value>::Sum> scratch) {
  if (skip.now()) return;
  using T = typename View::Value;
  RowBook<with_dots, View> book(p);
  constexpr unsigned rows_a_block = sum_threads / lanes;
  const auto count = static_cast<unsigned>(p.a.stored_rows());  // below 2^31, so that `s` cannot wrap
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  for (unsigned first = blockIdx.x * rows_a_block; first < count; first += gridDim.x * rows_a_block) {
    const unsigned s = first + threadIdx.x / lanes;
    const auto row = [&] { return std::int64_t{p.a.row_of(static_cast<std::int32_t>(s))}; };  // a register less
    const bool mine = s < count && lane == 0;
    const auto own = book.fetch(mine ? row() : 0, mine);
    T sum{};
    if (s < count) sum = part(p.a, static_cast<std::int32_t>(s), lane, p.x);
    sum = lanes_sum(sum, lanes);
    if (mine) book.put(row(), sum, own);
  }
  book.finish(scratch);
}

template <int lanes, class View, class Part>
void launch_rows(const Cuda& cuda, const Product<View>& p, Part part) {
  const ProductGrid grid{grid_blocks(cuda, std::int64_t{p.a.stored_rows()} * lanes)};
  p.dots.wanted() ? launch_product<row_kernel<true, lanes, View, Part>>(cuda, p, grid, part)
                  : launch_product<row_kernel<false, lanes, View, Part>>(cuda, p, grid, part);
}

/// A load of what is read once: it leaves the caches to x.
template <class T>
__device__ T load_streaming(const T* from) {
  static_assert(sizeof(T) % 4 == 0 && sizeof(T) <= 16);
  T value;
  if constexpr (sizeof(T) == 4) {
    const int word = __ldcs(reinterpret_cast<const int*>(from));
    memcpy(&value, &word, sizeof value);
  } else if constexpr (sizeof(T) == 8) {
    const double word = __ldcs(reinterpret_cast<const double*>(from));
    memcpy(&value, &word, sizeof value);
  } else {
    const double words[2] = {__ldcs(reinterpret_cast<const double*>(from)),
                             __ldcs(reinterpret_cast<const double*>(from) + 1)};
    memcpy(&value, words, sizeof value);
  }
  return value;
}

}  // namespace krill::detail
