// How the kernels of products end: a row's sum becomes y, and what it adds to the dots is kept.
#pragma once
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmv/product.hpp"

namespace krill::detail {

/// How a thread stores its rows and keeps its part of the dots. Kernels without dots save the registers.
template <bool with_dots, class View>
class RowBook {
  using T = typename View::Value;
  using Sum = typename DotsView<T>::Sum;

 public:
  __device__ explicit RowBook(const Product<View>& product) : product_(product) {}

  __device__ void put(std::int64_t row, T sum) {
    if constexpr (with_dots)
      dots_ += product_.store(row, sum);
    else
      product_.put(row, sum);
  }

  /// Adds the part of rows that were stored elsewhere.
  __device__ void add(const Sum& part) {
    if constexpr (with_dots) dots_ += part;
  }

  /// Adds up the dots over the grid; all threads of it. late(): see grid_sum.
  template <class Late>
  __device__ void finish(const GridScratch<Sum>& scratch, Late&& late) const {
    if constexpr (with_dots)
      grid_sum(
          dots_, scratch, [&](const Sum& total) { product_.dots.finish(total); }, late);
  }
  __device__ void finish(const GridScratch<Sum>& scratch) const {
    finish(scratch, [] { return Sum{}; });
  }

 private:
  const Product<View>& product_;
  std::conditional_t<with_dots, Sum, NoSum> dots_;
};

}  // namespace krill::detail
