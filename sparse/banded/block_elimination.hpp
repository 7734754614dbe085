// The steps by which a team of threads solves a block tridiagonal system, or a chunk of one: block rows from the first
// to the last, then back. On the host a team is one thread, on CUDA lanes of a warp that have a column of each block.
#pragma once
#include <utility>

#include "sparse/banded/block_partition.hpp"
#include "sparse/banded/elimination.hpp"

namespace krill::detail {

/// What a thread has of size x size blocks that stand side by side: columns. A vector is a column that all threads of a
/// team have.
template <class T, int size, int count>
struct BlockColumns {
  T at[count][size] = {};
};
template <class Team, class T>
using BlockPart = BlockColumns<T, Team::size, Team::columns>;
/// Of [B b], or in divided systems of [B C b].
template <class Team, class T, bool divided>
using BlockRowPart = BlockColumns<T, Team::size, (divided ? 2 : 1) * Team::columns + 1>;

/// The team of one. Others have the same members.
template <int size_>
struct OneThread {
  static constexpr int size = size_, columns = size_;  // of a block, and of those that are this thread's

  constexpr int column(int c) const { return c; }  // which one the thread's c-th is
  constexpr bool has(int) const { return true; }   // whether there is one
  constexpr bool has_rows() const { return true; }
  template <class Part>
  constexpr auto entry(const Part& block, int r, int c) const {  // of a block, for all threads
    return block.at[c][r];
  }
  template <class T>
  constexpr T sum(T mine) const {  // over the threads
    return mine;
  }
};

/// use(k), k = 0 to n - 1 as constants: arrays stay in registers.
template <int n, class Use>
constexpr void for_constants(Use&& use) {
  [&]<int... k>(std::integer_sequence<int, k...>) { (use(std::integral_constant<int, k>()), ...); }
  (std::make_integer_sequence<int, n>());
}

template <class T>
constexpr void exchange_if(bool chosen, T& a, T& b) {
  const T kept = a;
  a = chosen ? b : a;
  b = chosen ? kept : b;
}

/// values[i], by comparisons: the index of an array in registers has to be known to the compiler.
template <class T, int size>
constexpr T chosen_entry(const T (&values)[size], int i) {
  T found{};
  for_constants<size>([&](auto r) { found = r == i ? values[r] : found; });
  return found;
}

/// to -= block * from.
template <class Team, class T, int count>
constexpr void subtract_product(const Team& team, const BlockPart<Team, T>& block,
                                const BlockColumns<T, Team::size, count>& from,
                                BlockColumns<T, Team::size, count>& to) {
  for_constants<Team::size>([&](auto k) {
    T column[Team::size];
    for (int r = 0; r < Team::size; ++r) column[r] = team.entry(block, r, k);
    for (int q = 0; q < count; ++q)
      for (int r = 0; r < Team::size; ++r) to.at[q][r] -= column[r] * from.at[q][k];
  });
}

/// b = block^-1 b by elimination with partial pivoting, which uses the block up; whether all pivots are there.
template <class Team, class T, int count>
constexpr bool solve_with_block(const Team& team, BlockPart<Team, T>& block, BlockColumns<T, Team::size, count>& b) {
  constexpr int size = Team::size;
  bool regular = true;
  T inverse[size];
  for_constants<size>([&](auto step) {
    constexpr int k = step;
    T column[size];
    for (int r = k; r < size; ++r) column[r] = team.entry(block, r, k);
    bool exchanged[size];
    for (int r = k + 1; r < size; ++r) {
      exchanged[r] = precedes(column[k], column[r]);
      exchange_if(exchanged[r], column[k], column[r]);
    }
    if (no_pivot(column[k])) regular = false;
    inverse[k] = T(1) / column[k];
    for (int r = k + 1; r < size; ++r) column[r] = column[r] * inverse[k];
    const auto eliminate_in = [&](T(&of)[size]) {
      for (int r = k + 1; r < size; ++r) exchange_if(exchanged[r], of[k], of[r]);
      for (int r = k + 1; r < size; ++r) of[r] -= column[r] * of[k];
    };
    // A thread that has all columns is done with the first ones; one that has a single column goes on with the others.
    for (int c = Team::columns == size ? k + 1 : 0; c < Team::columns; ++c) eliminate_in(block.at[c]);
    for (int q = 0; q < count; ++q) eliminate_in(b.at[q]);
  });
  for_constants<size>([&](auto step) {
    constexpr int k = size - 1 - step;
    T column[size];
    for (int r = 0; r < k; ++r) column[r] = team.entry(block, r, k);
    for (int q = 0; q < count; ++q) {
      b.at[q][k] = b.at[q][k] * inverse[k];
      for (int r = 0; r < k; ++r) b.at[q][r] -= column[r] * b.at[q][k];
    }
  });
  return regular;
}

/// Where the rows lie that chunks leave over, the unknowns of the next level. Chunk c adds to row c what it has above,
/// and the next chunk `more_`: a row has two writers, but no place has.
template <class T>
struct LeftBlocks {
  BandLayout layout;
  T *lower = nullptr, *diagonal = nullptr, *upper = nullptr, *more_diagonal = nullptr;
  T *x = nullptr, *more_rhs = nullptr;  // x has right-hand sides first
};

/// The systems of a level. Row i becomes x_i = y_i - W_i x_(i+1) - V_i x_p, where p is the row left over before its
/// chunk: W in above, V in spike, y in x.
template <class T>
struct BlockLevel {
  BlockDivision division;
  BandLayout blocks, vectors, kept;  // of the matrices, of rhs and x, of W and V
  const T *lower, *diagonal, *upper, *rhs;
  const T *more_diagonal, *more_rhs;  // to be added in all rows but the last, or null
  T *x, *above, *spike;
  LeftBlocks<T> left;
};

/// A block, zeros where it is not there.
template <class Team, class T>
constexpr void load_block(const Team& team, bool there, const T* block, T (*columns)[Team::size]) {
  for (int c = 0; c < Team::columns; ++c)
    for (int r = 0; r < Team::size; ++r)
      columns[c][r] = there && team.has(c) ? block[r * Team::size + team.column(c)] : T(0);
}
template <class Team, class T>
constexpr void store_block(const Team& team, const T (*columns)[Team::size], T* block) {
  for (int c = 0; c < Team::columns; ++c)
    for (int r = 0; r < Team::size; ++r)
      if (team.has(c)) block[r * Team::size + team.column(c)] = columns[c][r];
}
/// A vector, in all threads.
template <class Team, class T>
constexpr void load_vector(const Team& team, bool there, const T* vector, T (&to)[Team::size]) {
  for (int r = 0; r < Team::size; ++r) to[r] = there && team.has_rows() ? vector[r] : T(0);
}
template <class Team, class T>
constexpr void store_vector(const Team& team, const T (&from)[Team::size], T* vector) {
  for (int c = 0; c < Team::columns; ++c)
    if (team.has(c)) vector[team.column(c)] = chosen_entry(from, team.column(c));
}

/// Rows of a level, as a team loads them.
template <class Team, class T>
struct BlockRows {
  static constexpr int size = Team::size, entries = size * size;
  const BlockLevel<T>& l;
  const Team& team;
  std::int64_t system;

  constexpr bool is_last(std::int32_t i) const { return i + 1 >= l.division.rows; }
  constexpr std::int64_t block(std::int32_t i) const { return l.blocks.at(i, system) * entries; }
  constexpr std::int64_t vector(std::int32_t i) const { return l.vectors.at(i, system) * size; }
  constexpr std::int64_t kept(std::int32_t i) const { return l.kept.at(i, system) * entries; }

  constexpr void load_lower(bool there, std::int32_t i, T (*to)[size]) const {
    load_block(team, there && i > 0, l.lower + block(i), to);
  }
  constexpr void load_upper(bool there, std::int32_t i, T (*to)[size]) const {
    load_block(team, there && !is_last(i), l.upper + block(i), to);
  }
  /// The diagonal block, and the right-hand side as the last column of a row.
  template <int count>
  constexpr void load_row(bool there, std::int32_t i, BlockColumns<T, size, count>& row) const {
    load_block(team, there, l.diagonal + block(i), row.at);
    load_vector(team, there, l.rhs + vector(i), row.at[count - 1]);
    if (!l.more_diagonal) return;
    BlockPart<Team, T> more;
    T more_rhs[size];
    load_block(team, there && !is_last(i), l.more_diagonal + block(i), more.at);
    load_vector(team, there && !is_last(i), l.more_rhs + vector(i), more_rhs);
    for (int c = 0; c < Team::columns; ++c)
      for (int r = 0; r < size; ++r) row.at[c][r] += more.at[c][r];
    for (int r = 0; r < size; ++r) row.at[count - 1][r] += more_rhs[r];
  }
};

/// Eliminates the unknowns of chunk c but the last row's, or, where a level is not divided, all of its system. All
/// teams of a warp go through as many rows. Returns the first row whose diagonal block has no inverse, or no_row.
template <bool divided, class Team, class T>
constexpr std::int32_t eliminate_blocks(const Team& team, const BlockLevel<T>& l, std::int64_t system, std::int32_t c) {
  constexpr int size = Team::size, columns = Team::columns;
  constexpr int rhs = (divided ? 2 : 1) * columns, entries = size * size;
  using Row = BlockRowPart<Team, T, divided>;
  const BlockRows<Team, T> rows{l, team, system};
  const BlockDivision& division = l.division;
  const std::int32_t first = divided ? division.first(c) : 0;
  const std::int32_t end = divided ? division.left_over(c) : division.rows;
  const std::int32_t turns = divided ? division.chunk - 1 : division.rows;
  std::int32_t zero_row = no_row;

  Row known;  // [W V y] of the row above: of the row left over before, x_p = -(-1) x_p
  if constexpr (divided)
    for (int q = 0; q < columns; ++q)
      for (int r = 0; r < size; ++r) known.at[columns + q][r] = T(r == team.column(q) ? -1 : 0);
  // The row left over before, U x_i = ...: what becomes of U, of its diagonal block and of its right-hand side.
  BlockPart<Team, T> beside;
  Row before;
  if constexpr (divided) rows.load_upper(c > 0, first - 1, beside.at);

  BlockPart<Team, T> block;
  for (std::int32_t i = first; i < first + turns; ++i) {
    const bool inner = i < end;
    Row row;
    rows.load_lower(inner, i, block.at);
    rows.load_row(inner, i, row);
    subtract_product(team, block, known, row);
    for (int q = 0; q < columns; ++q)
      for (int r = 0; r < size; ++r) block.at[q][r] = row.at[q][r];
    rows.load_upper(inner, i, row.at);
    const bool regular = solve_with_block(team, block, row);
    if (!regular && inner && zero_row == no_row) zero_row = i;
    if (inner) {
      known = row;
      store_block(team, row.at, l.above + rows.kept(i));
      if constexpr (divided) store_block(team, row.at + columns, l.spike + rows.kept(i));
      store_vector(team, row.at[rhs], l.x + rows.vector(i));
    }
    if constexpr (divided) {
      Row next = before;
      for (int q = 0; q < columns; ++q)
        for (int r = 0; r < size; ++r) next.at[q][r] = T(0);
      subtract_product(team, beside, row, next);
      if (!inner) continue;
      before = next;
      for (int q = 0; q < columns; ++q)
        for (int r = 0; r < size; ++r) beside.at[q][r] = next.at[q][r];
    }
  }
  if constexpr (divided) {
    Row row;
    rows.load_lower(true, end, block.at);
    rows.load_row(true, end, row);
    subtract_product(team, block, known, row);
    const std::int64_t at = l.left.layout.at(c, system);
    store_block(team, row.at, l.left.diagonal + at * entries);
    store_block(team, row.at + columns, l.left.lower + at * entries);
    store_vector(team, row.at[rhs], l.left.x + at * size);
    if (c > 0) {
      const std::int64_t last = l.left.layout.at(c - 1, system);
      store_block(team, beside.at, l.left.upper + last * entries);
      store_block(team, before.at + columns, l.left.more_diagonal + last * entries);
      store_vector(team, before.at[rhs], l.left.more_rhs + last * size);
    }
  }
  return zero_row;
}

/// The unknowns of chunk c, from the last row to the first, once those left over are known.
template <bool divided, class Team, class T>
constexpr void substitute_blocks(const Team& team, const BlockLevel<T>& l, std::int64_t system, std::int32_t c) {
  constexpr int size = Team::size, columns = Team::columns;
  const BlockRows<Team, T> rows{l, team, system};
  const BlockDivision& division = l.division;
  const std::int32_t first = divided ? division.first(c) : 0;
  const std::int32_t end = divided ? division.left_over(c) : division.rows;
  const std::int32_t turns = divided ? division.chunk - 1 : division.rows;
  T x[columns] = {}, before[columns] = {};
  if constexpr (divided)
    for (int q = 0; q < columns; ++q) {
      if (!team.has(q)) continue;
      x[q] = l.left.x[l.left.layout.at(c, system) * size + team.column(q)];
      if (c > 0) before[q] = l.left.x[l.left.layout.at(c - 1, system) * size + team.column(q)];
      l.x[rows.vector(end) + team.column(q)] = x[q];
    }
  for (std::int32_t i = first + turns - 1; i >= first; --i) {
    const bool inner = i < end;
    BlockPart<Team, T> above, spike;
    load_block(team, inner, l.above + rows.kept(i), above.at);
    if constexpr (divided) load_block(team, inner, l.spike + rows.kept(i), spike.at);
    T sums[size] = {};
    for (int q = 0; q < columns; ++q)
      for (int r = 0; r < size; ++r) {
        sums[r] += above.at[q][r] * x[q];
        if constexpr (divided) sums[r] += spike.at[q][r] * before[q];
      }
    for_constants<size>([&](auto r) { sums[r] = team.sum(sums[r]); });
    for (int q = 0; q < columns; ++q) {
      if (!inner || !team.has(q)) continue;
      T& at = l.x[rows.vector(i) + team.column(q)];
      x[q] = at - chosen_entry(sums, team.column(q));
      at = x[q];
    }
  }
}

/// What a solve gets.
template <class T>
struct BlockSolve {
  BlockTridiagonalView<const T> a;
  BandLayout vectors;  // of blocks of b and x
  const T* b;
  T *x, *work;
  std::int32_t* zero_rows;
};

/// Entries of workspace: W and V of each level, and the rows that chunks leave over.
constexpr std::int64_t block_workspace(const BlockPartition& p, std::int64_t batch, int size) {
  std::int64_t entries = 0;
  for (int level = 0; level <= p.last; ++level) {
    const int blocks = (level < p.last ? 2 : 1) + (level > 0 ? 4 : 0), vectors = level > 0 ? 2 : 0;
    entries += p.levels[static_cast<std::size_t>(level)].rows * batch * (blocks * size * size + vectors * size);
  }
  return entries;
}

/// All levels, in their places of the workspace.
template <class T>
std::array<BlockLevel<T>, BlockPartition::max_levels> block_levels(const BlockPartition& p, const BlockSolve<T>& s) {
  std::array<BlockLevel<T>, BlockPartition::max_levels> levels{};
  T* place = s.work;
  const auto taken = [&](std::int64_t entries) { return std::exchange(place, place + entries); };
  LeftBlocks<T> left;
  for (int n = 0; n <= p.last; ++n) {
    BlockLevel<T>& l = levels[static_cast<std::size_t>(n)];
    l.division = p.levels[static_cast<std::size_t>(n)];
    const std::int64_t rows = std::int64_t{l.division.rows} * s.vectors.batch, entries = rows * s.a.size * s.a.size;
    if (n == 0) {
      l.blocks = s.a.layout, l.vectors = s.vectors, l.kept = s.vectors.compact();
      l.lower = s.a.lower, l.diagonal = s.a.diagonal, l.upper = s.a.upper, l.rhs = s.b, l.x = s.x;
    } else {
      l.blocks = l.vectors = l.kept = left.layout;
      l.lower = left.lower, l.diagonal = left.diagonal, l.upper = left.upper, l.more_diagonal = left.more_diagonal;
      l.rhs = l.x = left.x, l.more_rhs = left.more_rhs;
    }
    l.above = taken(entries);
    if (n == p.last) break;
    l.spike = taken(entries);
    const std::int32_t chunks = l.division.chunks();
    const std::int64_t unknowns = std::int64_t{chunks} * s.vectors.batch * s.a.size, of_blocks = unknowns * s.a.size;
    left.layout = BandLayout::strided(chunks, s.vectors.batch);
    left.lower = taken(of_blocks), left.diagonal = taken(of_blocks), left.upper = taken(of_blocks);
    left.more_diagonal = taken(of_blocks), left.x = taken(unknowns), left.more_rhs = taken(unknowns);
    l.left = left;
  }
  return levels;
}

/// use(std::integral_constant<int, size>()).
template <class Use>
void with_block_size(int size, Use&& use) {
  for_constants<largest_tridiagonal_block>([&](auto k) {
    if (size == k + 1) use(std::integral_constant<int, k + 1>());
  });
}

template <class T>
void run_blocks(const Host&, const BlockPartition&, const BlockSolve<T>&);
template <class T>
void run_blocks(const Cuda&, const BlockPartition&, const BlockSolve<T>&);

template <class T, class Where>
struct BlockKernels {
  static constexpr std::tuple list{
      instance<void(const Where&, const BlockPartition&, const BlockSolve<kernel_t<T>>&)>(run_blocks)};
};

}  // namespace krill::detail
