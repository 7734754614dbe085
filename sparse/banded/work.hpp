// Bytes and operations of solves with few diagonals, of entries or of blocks.
#pragma once
#include "sparse/banded/banded_plan.hpp"

namespace krill {

/// Bands, b and x move once; one matrix for many vectors, too, which caches keep. Operations as the steps of each
/// method have them (elimination.hpp): a division or a root counts as one multiplication and addition.
template <class T>
Work banded_work(const BandLayout& matrices, const BandLayout& vectors, int diagonals, BandedMethod method) {
  const auto entries = static_cast<double>(matrices.unknowns()), unknowns = static_cast<double>(vectors.unknowns());
  const int operations = diagonals == 5 ? 69 : method == BandedMethod::thomas ? 5 : method == BandedMethod::lu ? 9 : 27;
  return {(entries * diagonals + 2 * unknowns) * static_cast<double>(sizeof(T)),
          multiply_add<T> * unknowns * operations};
}

/// A factor and b once, what goes down written and read, x once; a factor that stands for many vectors once, too, as
/// caches keep it. Each entry of it takes a multiplication and an addition.
template <class T>
Work banded_factored_work(const BandLayout& matrices, const BandLayout& vectors, int diagonals, BandedMethod method) {
  const auto rows = static_cast<double>(matrices.unknowns()), unknowns = static_cast<double>(vectors.unknowns());
  const int above = method == BandedMethod::thomas ? diagonals / 2 : diagonals - 1, words = diagonals / 2 + 1 + above;
  const double bytes = static_cast<double>(sizeof(T));
  return {(rows * words + 4 * unknowns) * bytes + (method == BandedMethod::lu ? rows : 0),
          multiply_add<T> * unknowns * words};
}

/// Blocks, b and x move once. A block row takes a product of two blocks, an elimination and a solve with as many
/// columns, and three products of a block and a vector.
template <class T>
Work block_tridiagonal_work(const BandLayout& matrices, const BandLayout& vectors, int size) {
  const double blocks = 3.0 * size * size * static_cast<double>(matrices.unknowns());
  const auto rows = static_cast<double>(vectors.unknowns());
  return {(blocks + 2.0 * size * rows) * static_cast<double>(sizeof(T)),
          multiply_add<T> * rows * size * size * (7.0 / 3 * size + 3)};
}

}  // namespace krill
