// Bytes and operations of solves with few diagonals.
#pragma once
#include "sparse/banded/banded_plan.hpp"

namespace krill {

/// Bands, b and x move once. Operations as the steps of each method have them (elimination.hpp): a division or a root
/// counts as one multiplication and addition.
template <class T>
Work banded_work(const BandLayout& layout, int diagonals, BandedMethod method) {
  const double unknowns = static_cast<double>(layout.unknowns());
  const int operations = diagonals == 5 ? 69 : method == BandedMethod::thomas ? 5 : method == BandedMethod::lu ? 9 : 27;
  return {unknowns * (diagonals + 2) * static_cast<double>(sizeof(T)), multiply_add<T> * unknowns * operations};
}

}  // namespace krill
