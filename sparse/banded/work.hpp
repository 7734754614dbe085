// Bytes and operations of solves with few diagonals.
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

}  // namespace krill
