// Tridiagonal systems divided among threads (Wang 1981; recursively: Klein and Strzodka 2021). A system's rows stand in
// pairs, and pairs in chunks. A chunk eliminates all of its unknowns but the first and the last, by equations of its
// own alone, for no others have them. Two equations are left over, with the chunk's first and last unknown, the last of
// the chunk before and the first of the next: such pairs are a system of the same kind, smaller by half the rows of a
// chunk. With its solution every chunk goes through its elimination again, now without unknowns of others, and back.
//
// That is Gaussian elimination in another order of columns. With partial pivoting it is as stable as in the order of
// rows: the candidates for a pivot are all equations that have the column.
#pragma once
#include <array>

#include "sparse/banded/elimination.hpp"

namespace krill::detail {

/// Where the words of a chunk's rows lie: word w of row i at base[w * plane + i * step]. Rows of matrices have four
/// words (below, on and right of the diagonal, right-hand side); left-over rows five (the unknown before the pair, the
/// two of the pair, the one after it, right-hand side).
template <class T, bool three_bands>
struct ChunkRows {
  T* base;
  std::int64_t plane, step;

  constexpr T& at(int word, int i) const { return base[word * plane + i * step]; }

  /// The equations of pair p: the unknown before it, its own two, the one after it.
  constexpr void pair(int p, Equation<T, 4> (&row)[2]) const {
    if constexpr (three_bands) {
      row[0] = {{at(0, 2 * p), at(1, 2 * p), at(2, 2 * p), T{}}, at(3, 2 * p)};
      row[1] = {{T{}, at(0, 2 * p + 1), at(1, 2 * p + 1), at(2, 2 * p + 1)}, at(3, 2 * p + 1)};
    } else {
      for (int r = 0; r < 2; ++r)
        row[r] = {{at(0, 2 * p + r), at(1, 2 * p + r), at(2, 2 * p + r), at(3, 2 * p + r)}, at(4, 2 * p + r)};
    }
  }
};

/// Eliminates the first column from all equations but the first, into which the pivot comes. Only the first
/// `candidates` have that column.
template <BandedMethod method, int candidates, class T, int width, int equations>
constexpr void eliminate(Equation<T, width> (&e)[equations]) {
  if constexpr (method == BandedMethod::qr) {
    for (int r = 1; r < candidates; ++r) rotate_out(e[0], e[r]);
    return;
  }
  if constexpr (method == BandedMethod::lu)
    for (int r = 1; r < candidates; ++r)
      if (pivot_size(e[r].entry[0]) > pivot_size(e[0].entry[0])) {
        const Equation<T, width> larger = e[r];
        e[r] = e[0], e[0] = larger;
      }
  const T inverse = T(1) / e[0].entry[0];
  for (int r = 1; r < candidates; ++r) {
    const T factor = e[r].entry[0] == T(0) ? T(0) : e[r].entry[0] * inverse;
    for (int k = 1; k < width; ++k) e[r].entry[k] -= factor * e[0].entry[k];
    e[r].rhs -= factor * e[0].rhs;
  }
}

/// The two equations that a chunk carries on: its last unknown so far and the one after it, then, where sides == 2, the
/// unknown before the chunk and its first.
template <class T, int sides>
using Carried = Equation<T, 2 + sides>[2];

/// The equation with its window moved on by one column.
template <class T, int width>
constexpr Equation<T, width - 1> moved_on(const Equation<T, width>& e) {
  Equation<T, width - 1> moved;
  for (int k = 1; k < width; ++k) moved.entry[k - 1] = e.entry[k];
  moved.rhs = e.rhs;
  return moved;
}

/// Takes up pair after pair. keep(p, first, second): the pivot rows of the last unknown of pair p - 1 (with the two of
/// p, the one after it and the sides) and of the first unknown of p (with the second, the one after and the sides).
template <BandedMethod method, int sides, class T, bool three_bands, class Keep>
constexpr void eliminate_inner(const ChunkRows<T, three_bands>& rows, int pairs, Carried<T, sides>& carried,
                               Keep&& keep) {
  // Row 2 p + 1 of three bands has no entry left of the first unknown of its pair.
  constexpr int with_column = three_bands ? 3 : 4;
  for (int p = 1; p < pairs; ++p) {
    Equation<T, 4> fresh[2];
    rows.pair(p, fresh);
    // In this order the natural pivots come first.
    Equation<T, 4 + sides> e[4];
    for (int r = 0; r < 2; ++r) {
      const Equation<T, 2 + sides>& old = carried[1 - r];
      Equation<T, 4 + sides>&of_old = e[2 * r], &of_fresh = e[2 * r + 1];
      for (int k = 0; k < 2; ++k) of_old.entry[k] = old.entry[k];
      for (int k = 0; k < sides; ++k) of_old.entry[4 + k] = old.entry[2 + k];
      for (int k = 0; k < 4; ++k) of_fresh.entry[k] = fresh[r].entry[k];
      of_old.rhs = old.rhs, of_fresh.rhs = fresh[r].rhs;
    }
    eliminate<method, with_column>(e);
    Equation<T, 3 + sides> rest[3] = {moved_on(e[1]), moved_on(e[2]), moved_on(e[3])};
    eliminate<method, 3>(rest);
    keep(p, e[0], rest[0]);
    carried[0] = moved_on(rest[1]), carried[1] = moved_on(rest[2]);
  }
}

/// The equations that a chunk leaves, as rows of the next system. zero_row becomes the first row of the chunk whose
/// unknown has no pivot.
template <BandedMethod method, class T, bool three_bands>
constexpr void reduce_chunk(const ChunkRows<T, three_bands>& rows, int pairs, Equation<T, 4> (&left)[2],
                            std::int32_t& zero_row) {
  Equation<T, 4> first[2];
  rows.pair(0, first);
  Carried<T, 2> carried;
  for (int r = 0; r < 2; ++r)
    carried[r] = {{first[r].entry[2], first[r].entry[3], first[r].entry[0], first[r].entry[1]}, first[r].rhs};
  eliminate_inner<method, 2>(rows, pairs, carried, [&](int p, const auto& of_last, const auto& of_first) {
    if (zero_row != no_row) return;
    if (no_pivot(of_last.entry[0]))
      zero_row = 2 * p - 1;
    else if (no_pivot(of_first.entry[0]))
      zero_row = 2 * p;
  });
  for (int r = 0; r < 2; ++r)
    left[r] = {{carried[r].entry[2], carried[r].entry[3], carried[r].entry[0], carried[r].entry[1]}, carried[r].rhs};
}

/// The two unknowns of a system of one pair; which of them have no pivot: bit 0 and 1.
template <BandedMethod method, class T>
constexpr int solve_pair(const Equation<T, 4> (&row)[2], T& x_first, T& x_last) {
  Equation<T, 2> e[2];
  for (int r = 0; r < 2; ++r) e[r] = {{row[r].entry[1], row[r].entry[2]}, row[r].rhs};
  eliminate<method, 2>(e);
  x_last = e[1].rhs / e[1].entry[1];
  x_first = (e[0].rhs - e[0].entry[1] * x_last) / e[0].entry[0];
  return (no_pivot(e[0].entry[0]) ? 1 : 0) + (no_pivot(e[1].entry[1]) ? 2 : 0);
}

/// The unknowns of a chunk, from its first and last, the one before and the one after it, into word 3 of its rows,
/// whose other words are overwritten.
template <BandedMethod method, class T, bool three_bands>
constexpr void substitute_chunk(const ChunkRows<T, three_bands>& rows, int pairs, T x_before, T x_first, T x_last,
                                T x_after) {
  Equation<T, 4> first[2];
  rows.pair(0, first);
  Carried<T, 0> carried;
  for (int r = 0; r < 2; ++r)
    carried[r] = {{first[r].entry[2], first[r].entry[3]},
                  first[r].rhs - first[r].entry[0] * x_before - first[r].entry[1] * x_first};
  // Seven words a pair: of_last in row 2 p, of_first in row 2 p + 1.
  eliminate_inner<method, 0>(rows, pairs, carried, [&](int p, const auto& of_last, const auto& of_first) {
    const T inverse_last = T(1) / of_last.entry[0], inverse_first = T(1) / of_first.entry[0];
    for (int k = 1; k < 4; ++k) rows.at(k - 1, 2 * p) = of_last.entry[k] * inverse_last;
    rows.at(3, 2 * p) = of_last.rhs * inverse_last;
    for (int k = 1; k < 3; ++k) rows.at(k - 1, 2 * p + 1) = of_first.entry[k] * inverse_first;
    rows.at(2, 2 * p + 1) = of_first.rhs * inverse_first;
  });
  rows.at(3, 2 * pairs - 1) = x_last;
  T x_second = x_last;  // of pair p
  for (int p = pairs - 1; p > 0; --p) {
    const T x_of_first = rows.at(2, 2 * p + 1) - rows.at(0, 2 * p + 1) * x_second - rows.at(1, 2 * p + 1) * x_after;
    const T x_of_last =
        rows.at(3, 2 * p) - rows.at(0, 2 * p) * x_of_first - rows.at(1, 2 * p) * x_second - rows.at(2, 2 * p) * x_after;
    rows.at(3, 2 * p) = x_of_first, rows.at(3, 2 * p - 1) = x_of_last;
    x_after = x_of_first, x_second = x_of_last;
  }
  rows.at(3, 0) = x_first;
}

struct BandPartitionTuning {
  static constexpr int threads = 128;      ///< of a block. Not varied.
  static constexpr int chunk_bytes = 128;  ///< of a band, that a thread takes. Not varied.
  static constexpr int inner_chunk = 8;    ///< rows that a thread takes of a system in shared memory. Not varied.
  static constexpr int min_lanes = 8;      ///< interleaved systems of a block that holds whole ones. Not varied.
};

/// A system divided into chunks: its rows, and how many of them a chunk has. The next one has two rows a chunk.
struct BandLevel {
  std::int32_t rows = 0, chunk = 0;

  constexpr std::int32_t chunks() const { return (rows - 1) / chunk + 1; }
  constexpr std::int32_t rows_of(std::int32_t c) const {
    const std::int32_t left = rows - c * chunk;
    return left < chunk ? left : chunk;
  }
  constexpr int pairs_of(std::int32_t c) const { return (rows_of(c) + 1) / 2; }
};

/// The systems from the given one to one that a single thread solves: each has as its rows what the chunks of the one
/// before it leave. From level depth - 1 on a block of threads keeps them in its shared memory.
struct BandPartition {
  static constexpr int max_levels = 20;
  std::array<BandLevel, max_levels> levels;
  int depth = 0, total = 0;

  /// The row of the given system that row `row` of level `level` is.
  constexpr std::int32_t given_row(int level, std::int32_t row) const {
    for (int above = level - 1; above >= 0; --above) {
      const std::int32_t c = row / 2, base = c * levels[above].chunk;
      row = row % 2 == 0 ? base : base + levels[above].rows_of(c) - 1;
    }
    return row;
  }
};

/// What the levels of a partition are solved with, beside the workspace.
template <class T>
struct PartitionedSolve {
  BandedView<const T> a;
  BandLayout vectors;  ///< of b and x
  const T* b;
  T* x;
  T* work;  ///< of partition_work() entries
  std::int32_t* zero_rows;
};

/// Divides systems of that layout, whose entries have so many bytes, for blocks of threads on CUDA.
BandPartition make_partition(const BandLayout&, std::size_t entry_bytes);
/// Entries of workspace: for each level but the first five words and the solution of all its rows.
std::int64_t partition_work(const BandPartition&, std::int64_t batch);

template <class T>
void run_partitioned(const Cuda&, const BandPartition&, BandedMethod, const PartitionedSolve<T>&);

template <class T>
struct PartitionKernels {
  static constexpr std::tuple list{
      instance<void(const Cuda&, const BandPartition&, BandedMethod, const PartitionedSolve<kernel_t<T>>&)>(
          run_partitioned)};
};

}  // namespace krill::detail
