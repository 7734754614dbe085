// How the systems of a batch are divided among threads.
#pragma once
#include "sparse/banded/elimination.hpp"

namespace krill::detail {

/// chunks: a system over the threads of a block or of many (partition.hpp), on CUDA alone. one_end, two_ends: a thread,
/// or two, for a system.
enum class BandDivision { chunks, one_end, two_ends };

/// How plans divide systems. On CUDA they go in chunks, unless they are so short that a thread has one as quickly, or
/// so many that all threads have some. Of systems one after the other that pays for the shortest, as neighbors do not
/// read what lies beside it, and where chunks take the most arithmetic.
BandDivision division_of(bool on_cuda, const BandLayout& vectors, int diagonals, BandedMethod);

/// How factors do. A step of a solve that has its factor waits for one multiplication in place of a division, so a
/// thread goes through its rows several times as quickly, and fewer systems have to lie side by side.
BandDivision factor_division_of(bool on_cuda, const BandLayout& vectors, int diagonals, BandedMethod);

constexpr BandEnds ends_of(BandDivision division, std::int32_t rows, int diagonals) {
  return {rows, diagonals / 2, division == BandDivision::two_ends ? 2 : 1};
}

}  // namespace krill::detail
