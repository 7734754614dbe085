// The passes of a dense inverse. Matrices lie by rows, n to each.
#pragma once
#include <cmath>
#include <limits>

#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// The row of a column's pivot, and its modulus.
struct Pivot {
  double size = -1;
  std::int32_t row = 0, unused = 0;
  constexpr Pivot& operator+=(const Pivot& other) {
    if (other.size > size || (other.size == size && other.row < row)) *this = other;
    return *this;
  }
};

struct DenseFacts {
  double shift = 0;              ///< of u u^H with u the scaled kernel, not of unit length; 0: none was added
  double smallest = 0;           ///< a pivot that is not larger is none
  std::int32_t singular = 0;     ///< columns without a pivot
  std::int32_t longest_row = 0;  ///< entries
};

/// scale_i = 1 / sqrt |a_ii|, or 1 where there is none. Over the rows.
template <class T, class Offset>
struct ScaleDense {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  double* scale;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    double size = 0;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      if (a.col_indices[k] == i) size = std::sqrt(squared(a.values[k]));
    scale[i] = size > 0 && is_finite(size) ? 1 / std::sqrt(size) : 1;
    return {};
  }
};

/// What a search for a kernel adds up.
struct KernelSum {
  double image = 0, row_sum = 0, largest = 0, squares = 0;
  std::int32_t longest_row = 0, unused = 0;
  constexpr KernelSum& operator+=(const KernelSum& other) {
    image = other.image > image ? other.image : image;
    row_sum = other.row_sum > row_sum ? other.row_sum : row_sum;
    largest = other.largest > largest ? other.largest : largest;
    squares += other.squares;
    longest_row = other.longest_row > longest_row ? other.longest_row : longest_row;
    return *this;
  }
};

/// Whether the scaled matrix S A S maps u = S^-1 kernel to nothing but rounding: then the shift is 1 / u'u, for the
/// scaled diagonal is 1. A null kernel is none. Over the rows.
template <class T, class Offset>
struct FindKernel {
  using Sum = KernelSum;
  CsrView<const T, Offset> a;
  const double* scale;
  const T* kernel;
  DenseFacts* facts;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    wide_t<T> image{};
    double sum = 0;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const std::int32_t j = a.col_indices[k];
      sum += std::sqrt(squared(a.values[k])) * scale[j];
      if (kernel) image += wide(a.values[k]) * wide(kernel[j]);
    }
    const double u = kernel ? std::sqrt(squared(kernel[i])) / scale[i] : 0;
    return {std::sqrt(squared(image)) * scale[i], sum * scale[i], u, u * u,
            static_cast<std::int32_t>(a.row_offsets[i + 1] - a.row_offsets[i])};
  }
  constexpr void finish(const Sum& sum) const {
    constexpr double eps = std::numeric_limits<real_t<T>>::epsilon();
    const bool found = sum.squares > 0 && sum.image <= 64 * eps * sum.row_sum * sum.largest;
    *facts = {found ? 1 / sum.squares : 0, 16 * eps, 0, sum.longest_row};
  }
};

/// work = shift u u^H. Over n^2 entries.
template <class T>
struct FillDense {
  using Sum = NoSum;
  std::int32_t n;
  const DenseFacts* facts;
  const double* scale;
  const T* kernel;
  wide_t<T>* work;
  double shift{};

  constexpr bool begin() { return shift = facts->shift, true; }
  constexpr NoSum entry(std::int64_t e) const {
    wide_t<T> value{};
    if (shift != 0) {
      const auto i = e / n, j = e % n;
      value = wide(kernel[i]) * conj(wide(kernel[j])) * wide_t<T>(shift / scale[i] / scale[j]);
    }
    work[e] = value;
    return {};
  }
};

/// work += S A S, each row in its own place. Over the rows.
template <class T, class Offset>
struct ScatterDense {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  const double* scale;
  wide_t<T>* work;
  std::int32_t* sources;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    wide_t<T>* row = work + i * a.rows;
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const std::int32_t j = a.col_indices[k];
      row[j] += wide(a.values[k]) * wide_t<T>(scale[i] * scale[j]);
    }
    sources[i] = static_cast<std::int32_t>(i);
    return {};
  }
};

/// inverse = S work S with its columns where `sources` has them. Over n^2 entries.
template <class T>
struct TakeInverse {
  using Sum = NoSum;
  std::int32_t n;
  bool by_rows;
  const wide_t<T>* work;
  const double* scale;
  const std::int32_t* sources;
  T* inverse;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t e) const {
    const auto i = e / n, j = std::int64_t{sources[e % n]};
    inverse[by_rows ? i * n + j : i + j * n] = T(work[e] * wide_t<T>(scale[i] * scale[j]));
    return {};
  }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct DenseSetupPasses {
  static constexpr auto list = passes<Where, ScaleDense<T, Offset>, FindKernel<T, Offset>, ScatterDense<T, Offset>>;
};
template <class Value, class Where, class T = kernel_t<Value>>
struct DensePasses {
  static constexpr auto list = passes<Where, FillDense<T>, TakeInverse<T>>;
};

}  // namespace krill::detail
