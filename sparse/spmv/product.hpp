// A product as kernels get it: pointers on the tag's side, any format's view, any index base.
#pragma once
#include <cstdint>
#include <limits>

#include "sparse/formats/any_matrix.hpp"
#include "sparse/spmv/dots_meeting.hpp"
#ifdef __CUDACC__
#include "sparse/spmv/dots_meeting.cuh"
#endif

namespace krill {

/// What the kernels get of Dots: pointers on the tag's side; results that are null are not wanted.
template <class T>
struct DotsView {
  const T* with_first = nullptr;
  wide_t<T>* first = nullptr;
  const T* with_second = nullptr;
  wide_t<T>* second = nullptr;
  const std::uint32_t* left_out = nullptr;  ///< see Dots
  /// The first of its kept rows, and how many they are: all where no row is left out.
  std::uint32_t begin_kept = 0, kept = std::numeric_limits<std::uint32_t>::max();
  DotsMeeting<T>* meeting = nullptr;
  int half = 0;  ///< of the meeting

  using Sum = DotsSum<T>;  ///< what rows add up to

  constexpr bool wanted() const { return first || second; }
  /// For a part of a product before the last: the same rows.
  constexpr DotsView without_sums() const { return {.left_out = left_out, .begin_kept = begin_kept, .kept = kept}; }
  /// Whether row i is the product's: one comparison for most of them.
  constexpr bool keeps(std::int64_t i) const {
    return static_cast<std::uint32_t>(i) - begin_kept < kept || !(left_out[i >> 5] >> (i & 31) & 1);
  }
  /// The part of row i, whose y is known already.
  constexpr Sum row(std::int64_t i, const T* y, T y_i) const {
    Sum part;
    if (first) part.first = conj(wide(with_first == y ? y_i : with_first[i])) * wide(y_i);
    if (second) part.second = conj(wide(with_second == y ? y_i : with_second[i])) * wide(y_i);
    return part;
  }
  constexpr void finish(Sum sum) const {
#ifdef __CUDA_ARCH__
    if (meeting) {
      meeting->halves[half] = sum;
      if (!completes(meeting)) return;
      sum = load_through(&meeting->halves[0]);
    }
#endif
    if (first) *first = sum.first;
    if (second) *second = sum.second;
  }
};

/// y = alpha A x + beta z, where z is y itself unless it is given, and the dots of the new y.
template <class View>
struct Product {
  using T = typename View::Value;

  ScalarView<T> alpha;
  View a;
  const T* x;
  ScalarView<T> beta;
  T* y;
  DotsView<T> dots;
  const T* z = nullptr;
  const std::int32_t* mask =
      nullptr;  ///< for blocks: only these block rows (counted from the matrix's base) are touched
  std::int32_t mask_size = 0;

  constexpr std::int32_t block_row(std::int64_t b) const {
    return mask ? mask[b] - static_cast<std::int32_t>(a.base) : static_cast<std::int32_t>(b);
  }
  /// Stores y_i for the sum of row i.
  constexpr void put(std::int64_t i, T sum) const {
    if (dots.keeps(i)) y[i] = value(i, sum);
  }
  /// The same, but returns what the row adds to the dots.
  constexpr DotsSum<T> store(std::int64_t i, T sum) const {
    if (!dots.keeps(i)) return {};
    return dots.row(i, y, y[i] = value(i, sum));
  }

 private:
  constexpr T value(std::int64_t i, T sum) const {
    T result = alpha() * sum;
    if (const T factor = beta(); !(factor == T(0))) result += factor * (z ? z[i] : y[i]);
    return result;
  }
};

// The kernels behind the doors, for callers who own their memory, too. Rows of padding, zeros in blocks and diagonals
// that leave the matrix take no part. All are repeatable bitwise. On CUDA, values lie at multiples of their size.
template <class T, class Offset>
void run_product(const Host&, const Product<CsrView<const T, Offset>>&);
template <class T, class Offset>
void run_product(const Cuda&, const Product<CsrView<const T, Offset>>&);
template <class T>
void run_product(const Host&, const Product<SellView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<SellView<const T>>&);
/// By way of CSR: row offsets in the workspace, each time.
template <class T>
void run_product(const Host&, const Product<CooView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<CooView<const T>>&);
/// The ELL part, then the other one added, by way of CSR. Both have their own index base.
template <class T>
void run_product(const Host&, const Product<HybView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<HybView<const T>>&);
template <class T>
void run_product(const Host&, const Product<DiaView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<DiaView<const T>>&);
template <class T>
void run_product(const Host&, const Product<BlockedEllView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<BlockedEllView<const T>>&);
template <class T>
void run_product(const Host&, const Product<BsrView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<BsrView<const T>>&);

}  // namespace krill
