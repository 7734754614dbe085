// The passes of a dense inverse. Matrices lie by rows, n to each.
#pragma once
#include <cmath>
#include <limits>

#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/convert/reduce_rows.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

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
    const Offset end = a.row_offsets[i + 1],
                 at = lower_entry(a.col_indices, a.row_offsets[i], end, static_cast<std::int32_t>(i));
    const double size = at < end && a.col_indices[at] == i ? double(magnitude(a.values[at])) : 0;
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
/// scaled diagonal is 1. A null kernel is none. Over the rows' entries.
template <class T, class Offset>
struct FindKernel {
  struct Item {
    wide_t<T> image{};
    double sum = 0;
    constexpr Item& operator+=(const Item& other) { return image += other.image, sum += other.sum, *this; }
  };
  using Sum = KernelSum;
  CsrView<const T, Offset> a;
  const double* scale;
  const T* kernel;
  DenseFacts* facts;

  constexpr bool wants(std::int64_t) const { return true; }
  constexpr Item entry(std::int64_t, std::int64_t k) const {
    const std::int32_t j = a.col_indices[k];
    Item item{{}, double(magnitude(a.values[k])) * scale[j]};
    if (kernel) item.image = wide(a.values[k]) * wide(kernel[j]);
    return item;
  }
  constexpr Sum finish_row(std::int64_t i, const Item& item) const {
    const double u = kernel ? double(magnitude(kernel[i])) / scale[i] : 0;
    return {double(magnitude(item.image)) * scale[i], item.sum * scale[i], u, u * u,
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

/// work += S A S, each row in its own place. Over `lanes` a row.
template <class T, class Offset>
struct ScatterDense {
  using Sum = NoSum;
  static constexpr std::int64_t lanes = 16;  // Not varied
  CsrView<const T, Offset> a;
  const double* scale;
  wide_t<T>* work;
  std::int32_t* sources;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t at) const {
    const std::int64_t i = at / lanes;
    wide_t<T>* row = work + i * a.rows;
    for (std::int64_t k = a.row_offsets[i] + at % lanes; k < a.row_offsets[i + 1]; k += lanes) {
      const std::int32_t j = a.col_indices[k];
      row[j] += wide(a.values[k]) * wide_t<T>(scale[i] * scale[j]);
    }
    if (at % lanes == 0) sources[i] = static_cast<std::int32_t>(i);
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
  static constexpr auto list = passes<Where, ScaleDense<T, Offset>, ScatterDense<T, Offset>>;
  static constexpr std::tuple of_rows{instance<void(const Where&, FindKernel<T, Offset>)>(reduce_rows)};
};
template <class Value, class Where, class T = kernel_t<Value>>
struct DensePasses {
  static constexpr auto list = passes<Where, FillDense<T>, TakeInverse<T>>;
};

}  // namespace krill::detail
