// The entry-by-entry parts of candidates.
#pragma once
#include <limits>

#include "sparse/core/first_row.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/formats/dense.hpp"

namespace krill::detail {

/// b_ij = 1 where i mod cols = j. Over the entries, by columns.
template <class T>
struct FillConstants {
  using Sum = NoSum;
  DenseView<T> b;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t e) const {
    const std::int64_t j = e / b.rows, i = e - j * b.rows;
    b.at(i, j) = T(static_cast<real_t<T>>(i % b.cols == j ? 1 : 0));
    return {};
  }
};

/// The bounding box of nodes, and the first with a coordinate that is not finite.
struct Box {
  static constexpr double beyond = std::numeric_limits<double>::infinity();
  double low[3] = {beyond, beyond, beyond}, high[3] = {-beyond, -beyond, -beyond};
  FirstRow fault;
  std::int32_t unused = 0;

  constexpr Box& operator+=(const Box& other) {
    for (int k = 0; k < 3; ++k) {
      if (other.low[k] < low[k]) low[k] = other.low[k];
      if (other.high[k] > high[k]) high[k] = other.high[k];
    }
    fault += other.fault;
    return *this;
  }
};

/// Over the nodes.
struct FindBox {
  using Sum = Box;
  DenseView<const double> coordinates;
  Box* box;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    Box mine;
    for (int k = 0; k < coordinates.cols; ++k) {
      const double x = coordinates.at(i, k);
      if (!is_finite(x)) mine.fault.row = static_cast<std::int32_t>(i);
      mine.low[k] = mine.high[k] = x;
    }
    return mine;
  }
  constexpr void finish(const Sum& sum) const { *box = sum; }
};

/// The rows of a node: its translations, then its rotations. Over the nodes.
template <class T>
struct FillMotions {
  using Sum = NoSum;
  DenseView<const double> coordinates;
  double middle[3], unit;
  DenseView<T> b;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const int d = coordinates.cols;
    double x[3] = {};
    for (int k = 0; k < d; ++k) x[k] = (coordinates.at(i, k) - middle[k]) / unit;
    for (int k = 0; k < d; ++k)
      for (int j = 0; j < b.cols; ++j) put(i * d + k, j, k == j ? 1 : 0);
    for (int j = d; j < b.cols; ++j) {
      const int first = (j - d) % d, second = (first + 1) % d;  // the plane of the rotation
      put(i * d + first, j, -x[second]);
      put(i * d + second, j, x[first]);
    }
    return {};
  }
  constexpr void put(std::int64_t row, int col, double value) const {
    b.at(row, col) = T(static_cast<real_t<T>>(value));
  }
};

}  // namespace krill::detail
