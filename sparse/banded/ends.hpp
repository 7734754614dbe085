// Systems that are eliminated from both ends: what meets in the middle.
#pragma once
#include "sparse/banded/partition.hpp"

namespace krill::detail {

/// The unknowns in the middle, from the `half` equations that each end leaves, each in its own order; the first of them
/// that has no pivot, or 2 half.
template <BandedMethod method, class T, int half>
constexpr int solve_middle(const Equation<T, 2 * half + 1> (&first)[half],
                           const Equation<T, 2 * half + 1> (&last)[half], T (&x)[2 * half]) {
  constexpr int size = 2 * half;
  Equation<T, 2 * size> row[size];
  for (int r = 0; r < half; ++r) {
    for (int k = 0; k < size; ++k) {
      row[r].entry[half + k] = first[r].entry[k];
      row[size - 1 - r].entry[half + size - 1 - k] = last[r].entry[k];
    }
    row[r].rhs = first[r].rhs, row[size - 1 - r].rhs = last[r].rhs;
  }
  return solve_group<method>(row, x);
}

/// The row that has no pivot, from what the first end, the middle and the last end have noted.
constexpr std::int32_t zero_row_of_ends(const BandEnds& ends, std::int32_t first, int middle, std::int32_t last) {
  if (first != no_row) return first;
  if (middle < 2 * ends.half) return ends.middle() + middle;
  return last == no_row ? no_row : ends.rows - 1 - last;
}

/// The methods that factors have; use(std::type_identity of their EliminationSteps).
template <class T, class Use>
void with_factor_steps(int diagonals, BandedMethod method, Use&& use) {
  with_steps<T>(diagonals, method,
                [&]<BandedMethod known, int half>(std::type_identity<EliminationSteps<known, T, half>> steps) {
                  if constexpr (known != BandedMethod::qr) use(steps);
                });
}

}  // namespace krill::detail
