// Which part of a square matrix an operation takes as a triangle, and which way its rows depend on each other.
#pragma once
#include "sparse/core/types.hpp"

namespace krill {

enum class Fill { lower, upper };

/// Where a triangle's diagonal comes from: the matrix, or all ones whatever the matrix holds there.
enum class Diagonal { stored, unit };

/// The triangle of A that is solved with, as op(A): the other triangle's entries are ignored, so that A may hold the
/// two factors of a factorization at once.
struct Triangle {
  Fill fill = Fill::lower;
  Diagonal diagonal = Diagonal::stored;
  Op op = Op::none;

  /// Of op(A): a lower triangle's transpose is solved from the last row to the first.
  constexpr Fill solved() const {
    const bool lower = (fill == Fill::lower) == (op == Op::none);
    return lower ? Fill::lower : Fill::upper;
  }
};

namespace detail {

/// The rows of a triangle in an order in which each comes after all rows that it depends on: step 0 is the first row of
/// a lower triangle and the last one of an upper one.
struct Steps {
  std::int32_t rows = 0;
  Fill fill = Fill::lower;

  constexpr std::int32_t row(std::int64_t step) const {
    return static_cast<std::int32_t>(fill == Fill::lower ? step : rows - 1 - step);
  }
  constexpr std::int32_t step(std::int32_t row) const { return fill == Fill::lower ? row : rows - 1 - row; }
};

}  // namespace detail

}  // namespace krill
