// How the kernels of products end: a row's sum becomes y, and what it adds to the dots is kept.
#pragma once
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmv/product.hpp"

namespace krill::detail {

/// How a thread stores its rows and keeps its part of the dots. Kernels without dots save the registers.
/// keeps_factors: they are read once, which pays where a thread has many rows.
template <bool with_dots, class View, bool keeps_factors = false>
class RowBook {
  using T = typename View::Value;
  using Sum = typename DotsView<T>::Sum;

 public:
  __device__ explicit RowBook(const Product<View>& product) : product_(product) {
    if constexpr (keeps_factors) kept_ = product.read_factors();
  }

  /// Whether a kernel asks for a row's operands before it adds up the row: one wait for memory, not two. Larger values
  /// are read when they are needed, for registers that hold them would be spilled.
  static constexpr bool asks_early = sizeof(T) <= 4;
  struct Nothing {};
  using Operands = std::conditional_t<asks_early, LoadedOperands<T>, Nothing>;

  /// Nothing where the row is not `mine`.
  __device__ Operands fetch(std::int64_t row, bool mine = true) const {
    if constexpr (asks_early) {
      if (mine) return product_.fetch(row, factors());
    }
    return {};
  }
  __device__ void put(std::int64_t row, T sum, const Operands& own) {
    T y;
    if constexpr (asks_early)
      y = product_.put(row, sum, own, factors());
    else
      y = product_.put(row, sum, typename Product<View>::Operands{&product_, row}, factors());
    if constexpr (with_dots) dots_ += product_.dots.row(row, product_.y, y);
  }
  __device__ void put(std::int64_t row, T sum) { put(row, sum, fetch(row)); }

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
  using Factors = typename Product<View>::Factors;
  __device__ Factors factors() const {
    if constexpr (keeps_factors)
      return kept_;
    else
      return product_.read_factors();
  }

  const Product<View>& product_;
  std::conditional_t<keeps_factors, Factors, Nothing> kept_;
  std::conditional_t<with_dots, Sum, NoSum> dots_;
};

}  // namespace krill::detail
