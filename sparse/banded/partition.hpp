// Systems of few diagonals divided among threads (Wang 1981; recursively: Klein and Strzodka 2021). `half` is how many
// diagonals stand on each side: 1 or 2. A system's rows stand in chunks. A chunk eliminates all of its unknowns but the
// first `half` and the last, by equations of its own alone, for no others have them. 2 half equations are left over,
// with the chunk's first and last unknowns, the last of the chunk before and the first of the next: such groups are a
// system of their own, smaller by what a chunk eliminates, which is divided into chunks of groups in the same way. With
// its solution every chunk goes through its elimination again, now without unknowns of others, and back.
//
// That is Gaussian elimination in another order of columns. With partial pivoting it is as stable as in the order of
// rows: the candidates for a pivot are all equations that have the column.
#pragma once
#include <array>

#include "sparse/banded/elimination.hpp"

namespace krill::detail {

/// What the rows of a chunk are: of a matrix (its diagonals from left to right), or groups that chunks have left over
/// (2 half rows each, with the unknowns before the group, its own, and those after it). Then comes the right-hand side.
enum class ChunkOf { bands, groups };

/// Unknowns of a matrix that are eliminated together. With three diagonals one by one was 15 % slower on an H200; not
/// varied with five.
constexpr int band_stride(int half) { return half == 1 ? 2 : 1; }

/// Where the words of a chunk's rows lie: word w of row i at base[w * plane + i * step]; Index is wide enough for that.
template <class T, int row_half, ChunkOf row_kind, class Index = int>
struct ChunkRows {
  static constexpr int half = row_half;
  static constexpr ChunkOf kind = row_kind;
  static constexpr int entries = kind == ChunkOf::bands ? 2 * half + 1 : 4 * half;
  static constexpr int words = entries + 1;
  static constexpr int x_word = entries;  ///< which the unknowns replace
  /// Unknowns that are eliminated together, with as many new equations.
  static constexpr int stride = kind == ChunkOf::bands ? band_stride(half) : 2 * half;

  T* base;
  Index plane, step;

  constexpr T& at(int word, int i) const { return base[word * plane + i * step]; }
  constexpr T& x(int i) const { return at(x_word, i); }
  /// Row i, whose words begin in column `column` of the equation where it is of a matrix, else in the first.
  template <int width>
  constexpr void load(int i, int column, Equation<T, width>& to) const {
    for (int k = 0; k < entries; ++k) to.entry[kind == ChunkOf::bands ? column + k : k] = at(k, i);
    to.rhs = at(entries, i);
  }
  /// Of one of the first 2 half rows, the coefficient of unknown q, counted from the first of those before the chunk.
  constexpr T at_start(int i, int q) const {
    if constexpr (kind == ChunkOf::groups) return at(q, i);
    return i <= q && q - i < entries ? at(q - i, i) : T{};
  }
};

/// use(std::integral_constant<int, j>) for j = 0 to count - 1.
template <int count, class Use>
constexpr void for_each_constant(Use&& use) {
  [&]<int... j>(std::integer_sequence<int, j...>) { (use(std::integral_constant<int, j>()), ...); }
  (std::make_integer_sequence<int, count>());
}

/// The equations that a chunk carries on. First those with its last unknowns so far as natural pivots, then those with
/// its first. Columns: its last unknowns so far and as many after them, then, where sides is 2 half and not 0, the
/// unknowns before the chunk and its first.
template <class T, int half, int sides>
using Carried = Equation<T, 2 * half + sides>[2 * half];

/// What equations do not have while unknown j of a stride is eliminated. Of a matrix, new row r begins in column r; and
/// where nobody pivots, that unknown's row ends `half` columns after it.
template <BandedMethod method, class Rows>
struct ZerosOfStride {
  int j;
  static constexpr int half = Rows::half, stride = Rows::stride, window = stride + 2 * half;
  static constexpr bool bands = Rows::kind == ChunkOf::bands;

  constexpr bool lacks_column(int equation) const { return bands && half + j < equation && equation < half + stride; }
  constexpr bool pivot_lacks(int column) const {
    return bands && method == BandedMethod::thomas && j + half < column && column < window;
  }
};

/// Takes in rows up to n. keep(v, constant j, pivot row): of unknown v, whose column is j; columns j + 1 to stride + 2
/// half - 1 are those of the unknowns after it, then come the sides.
template <BandedMethod method, int sides, class Rows, class T, class Keep>
constexpr void eliminate_inner(const Rows& rows, int n, Equation<T, 2 * Rows::half + sides> (&carried)[2 * Rows::half],
                               Keep&& keep) {
  constexpr int half = Rows::half, stride = Rows::stride, window = stride + 2 * half;
  for (int base = half; base < n - half; base += stride) {
    // In this order the natural pivots come first.
    Equation<T, window + sides> e[window];
    for (int r = 0; r < 2 * half; ++r) {
      Equation<T, window + sides>& to = e[r < half ? r : stride + r];
      for (int k = 0; k < 2 * half; ++k) to.entry[k] = carried[r].entry[k];
      for (int k = 0; k < sides; ++k) to.entry[window + k] = carried[r].entry[2 * half + k];
      to.rhs = carried[r].rhs;
    }
    for (int r = 0; r < stride; ++r) rows.load(base + half + r, r, e[half + r]);
    for_each_constant<stride>([&](auto j) {
      eliminate<method, j>(e, ZerosOfStride<method, Rows>{j});
      keep(base + j, j, e[j]);
    });
    for (int r = 0; r < 2 * half; ++r) {
      for (int k = 0; k < 2 * half + sides; ++k) carried[r].entry[k] = e[stride + r].entry[stride + k];
      carried[r].rhs = e[stride + r].rhs;
    }
  }
}

/// Which row the r-th carried equation begins as.
constexpr int carried_row(int r, int half) { return r < half ? half + r : r - half; }
/// The row of a chunk of n rows that unknown r of the group it leaves is: its first ones, then its last.
constexpr std::int32_t end_row(std::int32_t r, std::int32_t n, int half) { return r < half ? r : n - 2 * half + r; }

/// The equations that a chunk of n rows, at least 2 half, leaves: a group of the next system. zero_row becomes the
/// first row of the chunk whose unknown has no pivot.
template <BandedMethod method, class T, int half, ChunkOf kind>
constexpr void reduce_chunk(const ChunkRows<T, half, kind>& rows, int n, Equation<T, 4 * half> (&left)[2 * half],
                            std::int32_t& zero_row) {
  constexpr int sides = 2 * half;
  Carried<T, half, sides> carried;
  for (int r = 0; r < 2 * half; ++r) {
    const int i = carried_row(r, half);
    for (int k = 0; k < 2 * half; ++k)
      carried[r].entry[k] = rows.at_start(i, 2 * half + k), carried[r].entry[2 * half + k] = rows.at_start(i, k);
    carried[r].rhs = rows.at(rows.entries, i);
  }
  eliminate_inner<method, sides>(rows, n, carried, [&](int v, auto j, const auto& row) {
    if (zero_row == no_row && no_pivot(row.entry[j])) zero_row = v;
  });
  for (int r = 0; r < 2 * half; ++r) {
    const Equation<T, 4 * half>& from = carried[carried_row(r, half)];
    for (int k = 0; k < 2 * half; ++k)
      left[r].entry[k] = from.entry[2 * half + k], left[r].entry[2 * half + k] = from.entry[k];
    left[r].rhs = from.rhs;
  }
}

/// The unknowns of a system of one group; the first that has no pivot, or 2 half.
template <BandedMethod method, class T, int half_of_it>
constexpr int solve_group(const Equation<T, 2 * half_of_it> (&row)[half_of_it], T (&x)[half_of_it]) {
  constexpr int size = half_of_it, half = size / 2;
  Equation<T, size> e[size];
  for (int r = 0; r < size; ++r) {
    for (int k = 0; k < size; ++k) e[r].entry[k] = row[r].entry[half + k];
    e[r].rhs = row[r].rhs;
  }
  for_each_constant<size - 1>([&](auto j) { eliminate<method, j>(e); });
  int first = size;
  for (int i = size - 1; i >= 0; --i) {
    T sum = e[i].rhs;
    for (int k = i + 1; k < size; ++k) sum -= e[i].entry[k] * x[k];
    x[i] = sum * (T(1) / e[i].entry[i]);
    if (no_pivot(e[i].entry[i])) first = i;
  }
  return first;
}

/// The unknowns around a chunk and at its ends.
template <class T, int half>
struct ChunkEnds {
  T before[half], first[half], last[half], after[half];
};

/// The unknowns of a chunk of n rows, from those at its ends, into its rows, whose other words are overwritten.
template <BandedMethod method, class T, int half, ChunkOf kind>
constexpr void substitute_chunk(const ChunkRows<T, half, kind>& rows, int n, const ChunkEnds<T, half>& ends) {
  using Rows = ChunkRows<T, half, kind>;
  constexpr int stride = Rows::stride, window = stride + 2 * half;
  Carried<T, half, 0> carried;
  for (int r = 0; r < 2 * half; ++r) {
    const int i = carried_row(r, half);
    carried[r].rhs = rows.at(rows.entries, i);
    for (int k = 0; k < 2 * half; ++k) carried[r].entry[k] = rows.at_start(i, 2 * half + k);
    for (int k = 0; k < half; ++k)
      carried[r].rhs -= rows.at_start(i, k) * ends.before[k] + rows.at_start(i, half + k) * ends.first[k];
  }
  // Divided by its pivot, in the row of its unknown: the entries after it, then the right-hand side.
  eliminate_inner<method, 0>(rows, n, carried, [&](int v, auto j, const auto& row) {
    const T inverse = T(1) / row.entry[j];
    for (int k = j + 1; k < window; ++k) rows.at(k - j - 1, v) = row.entry[k] * inverse;
    rows.at(window - j - 1, v) = row.rhs * inverse;
  });
  T known[window - 1] = {};  // the unknowns after the present one
  for (int k = 0; k < half; ++k) known[k] = ends.last[k], known[half + k] = ends.after[k];
  for (int base = n - half - stride; base >= half; base -= stride)
    for_each_constant<stride>([&](auto from_end) {
      constexpr int j = stride - 1 - from_end, count = window - 1 - j;
      const int v = base + j;
      T sum = rows.at(count, v);
      for (int k = 0; k < count; ++k) sum -= rows.at(k, v) * known[k];
      for (int k = window - 2; k > 0; --k) known[k] = known[k - 1];
      known[0] = rows.x(v) = sum;
    });
  for (int k = 0; k < half; ++k) rows.x(k) = ends.first[k], rows.x(n - half + k) = ends.last[k];
}

/// How a system is divided, as it was quickest on an H200 in float64.
template <int half>
struct BandPartitionTuning {
  static constexpr int threads = 64;  ///< of a block: of a part of a system, or of systems of at most so many chunks
  static constexpr int few_systems = 256;       ///< that are held by blocks of most_threads() if they have more chunks
  static constexpr int chunk_bytes = 128;       ///< of a band, that a thread takes
  static constexpr int inner_chunk = 8 * half;  ///< rows that a thread takes of a system in shared memory
  static constexpr int min_lanes = 8;           ///< interleaved systems of a block that holds whole ones
  /// So that the words of its rows, and of those left over, fit into its shared memory.
  static constexpr int most_threads(std::size_t entry_bytes) {
    return (half == 1 ? 256 : 128) / (entry_bytes > 8 ? 2 : 1);
  }
  static constexpr int chunk(std::size_t entry_bytes) {
    const auto rows = static_cast<int>(chunk_bytes / entry_bytes);
    return rows > 4 * half ? rows : 4 * half;
  }
};

/// A system divided into chunks: its rows, and how many of them a chunk has. The next one has 2 half rows a chunk.
struct BandLevel {
  std::int32_t rows = 0, chunk = 0;

  constexpr std::int32_t chunks() const { return (rows - 1) / chunk + 1; }
  /// With rows x = 0 where the last chunk would have fewer than 2 half, or inner ones that do not go in strides.
  constexpr std::int32_t rows_of(std::int32_t c, int half) const {
    const std::int32_t left = rows - c * chunk, stride = band_stride(half);
    return left >= chunk ? chunk : left < 2 * half ? 2 * half : left + (left - 2 * half) % stride;
  }
  constexpr std::int32_t padded_rows(int half) const { return (chunks() - 1) * chunk + rows_of(chunks() - 1, half); }
};

/// The systems from the given one to one that a single thread solves: each has as its rows what the chunks of the one
/// before it leave. From level depth - 1 on a block of threads keeps them in its shared memory; from depth on chunks
/// are inner ones.
struct BandPartition {
  static constexpr int max_levels = 32;
  std::array<BandLevel, max_levels> levels;
  int depth = 0, total = 0, half = 1;

  /// The row of the given system that row `row` of level `level` is.
  constexpr std::int32_t given_row(int level, std::int32_t row) const {
    for (int above = level - 1; above >= 0; --above) {
      const std::int32_t c = row / (2 * half);
      row = c * levels[above].chunk + end_row(row % (2 * half), levels[above].rows_of(c, half), half);
    }
    return row;
  }
};

/// What the levels of a partition are solved with, beside the workspace.
template <class T>
struct PartitionedSolve {
  BandedView<const T> a;
  bool conjugated;     ///< a's entries are to be taken so
  BandLayout vectors;  ///< of b and x
  const T* b;
  T* x;
  T* work;  ///< of partition_work() entries
  std::int32_t* zero_rows;
};

/// Divides systems of that layout, with 3 or 5 diagonals and entries of so many bytes, for blocks of threads on CUDA.
BandPartition make_partition(const BandLayout&, int diagonals, std::size_t entry_bytes);
/// Entries of workspace: for each level but the first the words of all its rows, and its solution.
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
