// What prolongators are made of, on both backends.
#pragma once
#include "sparse/coarsen/near_null_space_passes.hpp"
#include "sparse/coarsen/prolongator.hpp"
#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/convert/reduce_rows.hpp"
#include "sparse/core/first_row.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/spgemm/block_pattern.hpp"
#include "sparse/vector/vector_passes.hpp"

namespace krill::detail {

/// What a column is measured in: its greatest modulus, or 1 where that is 0.
struct ColumnUnit {
  double size, inverse;
  FirstRow fault;
  std::int32_t unused;
};

/// From the squares of moduli. Over the rows of a column.
template <class T>
struct MeasureColumn {
  using Sum = GreatestFinite;
  DenseView<const T> b;
  std::int32_t column;
  ColumnUnit* units;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const double size = squared(b.at(i, column));
    if (is_finite(size)) return {size, {}, 0};
    return {0, {static_cast<std::int32_t>(i)}, 0};
  }
  constexpr void finish(const Sum& sum) const {
    const double size = sum.size > 0 ? square_root(sum.size) : 1;
    units[column] = {size, 1 / size, sum.fault, 0};
  }
};

/// Entries of P0 in each row. Over the rows.
struct CountTentative {
  using Sum = NoSum;
  const std::int32_t* of_node;
  std::int32_t block_dim;
  std::int64_t columns;
  std::int64_t* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    counts[i] = of_node[i / block_dim] < 0 ? 0 : columns;
    return {};
  }
};

/// Columns of P0. Over the rows.
template <class Offset>
struct ListTentative {
  using Sum = NoSum;
  const std::int32_t* of_node;
  std::int32_t block_dim, columns;
  const Offset* row_offsets;
  std::int32_t* col_indices;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int32_t aggregate = of_node[i / block_dim];
    for (std::int32_t j = 0; aggregate >= 0 && j < columns; ++j)
      col_indices[row_offsets[i] + j] = aggregate * columns + j;
    return {};
  }
};

/// The orthogonal factorization of the candidates on each aggregate. A team has `lanes` threads, of which this one is
/// `lane`, and adds over them by sum(), which every thread calls as often as all others of its warp. A lane goes
/// through the same rows in every step, so no thread reads what another one writes. Of one candidate only the length is
/// needed before P0 is written, once.
template <class T, class Offset>
struct AggregateBasis {
  const std::int32_t *offsets, *nodes;  // of aggregates
  std::int32_t block_dim;
  DenseView<const T> b;
  const ColumnUnit* units;
  double dead_below;          // squared
  const Offset* row_offsets;  // of P0
  T* values;
  DenseView<T> r;
  std::uint8_t* dead;

  /// use(row, its entries of P0) for the lane's rows.
  template <class Team, class Use>
  constexpr void for_rows(const Team& team, std::int64_t begin, std::int64_t end, Use&& use) const {
    for (std::int64_t t = begin * block_dim + team.lane; t < end * block_dim; t += team.lanes) {
      const std::int64_t at = block_dim == 1 ? t : t / block_dim,
                         row = std::int64_t{nodes[at]} * block_dim + (t - at * block_dim);
      use(row, values + row_offsets[row]);
    }
  }
  /// The factorization of one aggregate; where it is not `there` the team only takes part in the sums.
  template <class Team>
  constexpr void factor(const Team& team, std::int64_t aggregate, bool there) const {
    const std::int64_t begin = there ? offsets[aggregate] : 0, end = there ? offsets[aggregate + 1] : 0;
    const std::int32_t columns = b.cols;
    const bool writes = there && team.lane == 0;
    if (columns == 1) {
      double left = 0;
      for_rows(team, begin, end, [&](std::int64_t row, const T*) { left += squared(in_units(row, 0)); });
      const double factor = finish_column(aggregate, 0, team.sum(left), 0, writes);
      for_rows(team, begin, end, [&](std::int64_t row, T* q) { *q = T(scaled(wide(in_units(row, 0)), factor)); });
      return;
    }
    for_rows(team, begin, end, [&](std::int64_t row, T* q) {
      for (std::int32_t j = 0; j < columns; ++j) q[j] = in_units(row, j);
    });
    double longest = 0;
    for (std::int32_t j = 0; j < columns; ++j) {
      const double length = length_squared(team, begin, end, j);
      if (length > longest) longest = length;
    }
    for (std::int32_t j = 0; j < columns; ++j) {
      const double size = units[j].size;
      T* const column_of_r = &r.at(0, j);
      const auto r_at = [&](std::int32_t k) -> T& { return column_of_r[aggregate * columns + k]; };
      for (int sweep = 0; sweep < 2; ++sweep)
        for (std::int32_t k = 0; k < j; ++k) {
          wide_t<T> dot{};
          for_rows(team, begin, end, [&](std::int64_t, const T* q) { dot += conj(wide(q[k])) * wide(q[j]); });
          dot = team.sum(dot);
          for_rows(team, begin, end, [&](std::int64_t, T* q) { q[j] = T(wide(q[j]) - dot * wide(q[k])); });
          if (!writes) continue;
          const T part = T(scaled(dot, size));
          r_at(k) = sweep == 0 ? part : r_at(k) + part;
        }
      const double left = length_squared(team, begin, end, j);
      const double factor = finish_column(aggregate, j, left, dead_below * longest, writes);
      for_rows(team, begin, end, [&](std::int64_t, T* q) { q[j] = T(scaled(wide(q[j]), factor)); });
    }
  }

 private:
  constexpr T in_units(std::int64_t row, std::int32_t j) const {
    return T(scaled(wide(b.at(row, j)), units[j].inverse));
  }
  /// What the rest of column j, of that length squared, is multiplied with; 0 where it is dead. The one thread that
  /// `writes` writes the diagonal of R, what is below it, and whether the column is dead.
  constexpr double finish_column(std::int64_t aggregate, std::int32_t j, double left, double least, bool writes) const {
    const bool live = left > least;
    const double length = live ? square_root(left) : 0;
    if (writes) {
      T* const column_of_r = &r.at(aggregate * b.cols, j);
      column_of_r[j] = T(static_cast<real_t<T>>(length * units[j].size));
      for (std::int32_t k = j + 1; k < b.cols; ++k) column_of_r[k] = T{};
      dead[aggregate * b.cols + j] = !live;
    }
    return live ? 1 / length : 0;
  }
  template <class Team>
  constexpr double length_squared(const Team& team, std::int64_t begin, std::int64_t end, std::int32_t j) const {
    double sum = 0;
    for_rows(team, begin, end, [&](std::int64_t, const T* q) { sum += squared(q[j]); });
    return team.sum(sum);
  }
};

/// How many columns are dead. Over them.
struct CountDead {
  using Sum = std::int64_t;
  const std::uint8_t* dead;
  std::int64_t* count;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t j) const { return dead[j]; }
  constexpr void finish(Sum sum) const { *count = sum; }
};

/// a_jj = 1 for dead columns. Over them.
template <class T, class Offset>
struct SetDeadDiagonal {
  using Sum = NoSum;
  const std::uint8_t* dead;
  CsrView<const NoValue, Offset> a;
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t j) const {
    if (!dead[j]) return {};
    const Offset at = lower_entry(a, j, j);
    if (at < a.row_offsets[j + 1] && a.col_indices[at] == j) values[at] = T(static_cast<real_t<T>>(1));
    return {};
  }
};

/// The first row that is not one of a tentative prolongator's: no entries, or `columns` side by side, from a multiple
/// of that on, as in all rows of its node. Over the rows.
template <class Offset>
struct CheckTentative {
  using Sum = FirstRow;
  CsrView<const NoValue, Offset> p0;
  std::int32_t block_dim, columns;
  FirstRow* fault;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const std::int64_t leader = i / block_dim * block_dim;
    const Offset begin = p0.row_offsets[i], size = p0.row_offsets[i + 1] - begin, other = p0.row_offsets[leader];
    bool fine = size == p0.row_offsets[leader + 1] - other && (size == 0 || size == columns);
    if (fine && size > 0)
      fine = p0.col_indices[begin] % columns == 0 && p0.col_indices[begin] == p0.col_indices[other] &&
             p0.col_indices[begin + size - 1] - p0.col_indices[begin] == columns - 1;
    return fine ? FirstRow{} : FirstRow{static_cast<std::int32_t>(i)};
  }
  constexpr void finish(const Sum& sum) const { *fault = sum; }
};

/// The aggregate of each node, by the columns of its rows in P0. Over the nodes.
template <class Offset>
struct FindAggregates {
  using Sum = NoSum;
  static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  CsrView<const NoValue, Offset> p0;
  std::int32_t block_dim, columns;
  std::int32_t* of_node;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t node) const {
    const Offset begin = p0.row_offsets[node * block_dim];
    const bool empty = begin == p0.row_offsets[node * block_dim + 1];
    of_node[node] = empty ? none : p0.col_indices[begin] / columns;
    return {};
  }
};

/// Which aggregates a node of the smoothed prolongator meets: its own, and those of its neighbors.
template <class Offset>
struct NodeUnion {
  static constexpr std::int32_t none = FindAggregates<Offset>::none;
  CsrView<const NoValue, Offset> strong;  // of nodes
  const std::int32_t* of_node;            // aggregates

  /// The least aggregate beyond `last` among that of the node, and those of its neighbors number lane, lane + lanes...
  constexpr std::int32_t next(std::int64_t node, std::int32_t last, int lane, int lanes) const {
    std::int32_t least = of_node[node];
    if (least <= last) least = none;
    for (std::int64_t s = std::int64_t{strong.row_offsets[node]} + lane; s < strong.row_offsets[node + 1]; s += lanes) {
      const std::int32_t other = of_node[strong.col_indices[s]];
      if (other > last && other < least) least = other;
    }
    return least;
  }
};

/// What is done with the aggregates of each node, in ascending order, `at` counted from 0: they are counted,
struct CountNodeUnion {
  std::int64_t* counts;

  constexpr void entry(std::int64_t, std::int64_t, std::int32_t) const {}
  constexpr void finish(std::int64_t node, std::int64_t count) const { counts[node] = count; }
};
/// or listed as columns of the node's rows of P.
template <class Offset>
struct ListNodeUnion {
  std::int32_t block_dim, columns;
  const Offset* row_offsets;
  std::int32_t* col_indices;

  constexpr void entry(std::int64_t node, std::int64_t at, std::int32_t aggregate) const {
    for (std::int64_t row = node * block_dim; row < (node + 1) * block_dim; ++row)
      for (std::int32_t j = 0; j < columns; ++j)
        col_indices[row_offsets[row] + at * columns + j] = aggregate * columns + j;
  }
  constexpr void finish(std::int64_t, std::int64_t) const {}
};

/// A, row by row, as the strong graph divides it.
template <class T, class Offset>
struct DividedRows {
  CsrView<const T, Offset> a;
  CsrView<const NoValue, Offset> strong;  // of nodes
  std::int32_t block_dim;

  /// use(column, value, whether the entry is strong, or inside of its node) for the entries of a row.
  template <class Use>
  constexpr void for_entries(std::int64_t row, Use&& use) const {
    const std::int32_t node = node_of(row);
    Offset s = strong.row_offsets[node];
    const Offset s_end = strong.row_offsets[node + 1];
    for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
      const std::int32_t column = a.col_indices[k], other = node_of(column);
      while (s < s_end && strong.col_indices[s] < other) ++s;
      use(column, a.values[k], other == node || (s < s_end && strong.col_indices[s] == other));
    }
  }
  /// Whether entry k of a row is strong, or inside of its node. Where all are, it stands in the graph as it does here.
  constexpr bool is_strong(std::int64_t row, std::int64_t k) const {
    const std::int32_t node = node_of(row), other = node_of(a.col_indices[k]);
    if (other == node) return true;
    const Offset begin = strong.row_offsets[node], end = strong.row_offsets[node + 1];
    const std::int64_t likely = begin + node_of(k - a.row_offsets[row]) - (other > node);
    if (likely >= begin && likely < end && strong.col_indices[likely] == other) return true;
    const Offset at = lower_entry(strong.col_indices, begin, end, other);
    return at < end && strong.col_indices[at] == other;
  }

 private:
  constexpr std::int32_t node_of(std::int64_t row) const {
    const auto narrow = static_cast<std::int32_t>(row);  // divisions of 64 bits take several times as long
    return block_dim == 1 ? narrow : narrow / block_dim;
  }
};

/// What the weak part s of a row of A_F P0 adds to the diagonal entry: the number whose product with p0_i is nearest
/// to s.
template <class T>
constexpr T diagonal_of_weak(const T* s, const T* p0, std::int32_t columns) {
  T dot{};
  real_t<T> square{};
  for (std::int32_t j = 0; j < columns; ++j) {
    dot += s[j] * conj(p0[j]);
    square += real(p0[j] * conj(p0[j]));
  }
  return square > 0 ? scaled(dot, 1 / square) : T{};
}

/// s := s R^-1, the weak part of a row of A_F P0 from its sums s, R from that row of coarse_b on, where what stands
/// before dead columns is 0; zeros where the row would lose its diagonal entry, `own`.
template <class T>
constexpr void settle_weak(T* s, T own, const T* p0, std::int32_t columns, const DenseView<const T>& coarse_b,
                           std::int32_t begin) {
  bool is_zero = true;
  for (std::int32_t j = 0; j < columns; ++j) is_zero = is_zero && s[j] == T{};
  if (is_zero) return;
  for (std::int32_t j = 0; j < columns; ++j) {
    T left = s[j];
    for (std::int32_t k = 0; k < j; ++k) left -= s[k] * coarse_b.at(begin + k, j);
    const T pivot = coarse_b.at(begin + j, j);
    s[j] = pivot == T{} ? T{} : left / pivot;
  }
  const T sum = own + diagonal_of_weak(s, p0, columns);
  if (own == T{} || !(real(sum / own) >= real_t<T>(0.1)))
    for (std::int32_t j = 0; j < columns; ++j) s[j] = T{};
}

/// The weak part of A_F P0, m entries a row, in the columns of the row's own aggregate: s with s R = the sum of weak
/// a_ij b_j, R the aggregate's rows of B_c. Zeros where a row has none, or drops them. Sums of candidates [first, first
/// + width); with the last of them, s. Not for rows of no aggregate.
template <class T, class Offset>
struct ReplaceWeak : DividedRows<T, Offset> {
  static constexpr int width = 3;  // Not varied
  using Sum = NoSum;
  struct Item {
    T own{}, sums[width] = {};
    constexpr Item& operator+=(const Item& other) {
      own += other.own;
      for (int j = 0; j < width; ++j) sums[j] += other.sums[j];
      return *this;
    }
  };
  using DividedRows<T, Offset>::a;
  CsrView<const T, Offset> p0;
  DenseView<const T> b, coarse_b;
  std::int32_t first;
  T* weak;

  constexpr bool wants(std::int64_t i) const { return p0.row_offsets[i] < p0.row_offsets[i + 1]; }
  constexpr Item entry(std::int64_t i, std::int64_t k) const {
    Item item;
    const std::int32_t column = a.col_indices[k];
    if (column == i)
      item.own = a.values[k];
    else if (!this->is_strong(i, k))
      for (int j = 0; j < width; ++j)
        if (first + j < b.cols) item.sums[j] = a.values[k] * b.at(column, first + j);
    return item;
  }
  constexpr NoSum finish_row(std::int64_t i, const Item& item) const {
    T* const s = weak + i * b.cols;
    for (int j = 0; j < width; ++j)
      if (first + j < b.cols) s[first + j] = item.sums[j];
    if (first + width < b.cols) return {};
    const Offset begin = p0.row_offsets[i];
    settle_weak(s, item.own, p0.values + begin, b.cols, coarse_b, p0.col_indices[begin]);
    return {};
  }
};

/// The smoothed prolongator, a few entries of a row at a time. The weak part of several candidates is there already, by
/// ReplaceWeak; that of one is added up beside the rest.
template <class T, class Offset, bool one_candidate>
struct Smoothing {
  DividedRows<T, Offset> rows;
  CsrView<const T, Offset> p0;
  DenseView<const T> b, coarse_b;
  const T* weak;
  ScalarView<double> omega, lambda;
  CsrView<const NoValue, Offset> p;
  T* values;

  constexpr std::int32_t columns() const { return one_candidate ? 1 : b.cols; }
  /// What p0_i and the sum of the others, a_ij p0_j and the weak part, are multiplied with in p_i.
  struct Factors {
    T own, sum;  // where the diagonal entry of A is 0, those of P0 itself
  };
  /// Where P0 has its entries of a row, and the first one's column; one beyond all where it has none.
  struct Start {
    Offset at;
    std::int32_t column;
  };
  /// Where A has that entry on the diagonal.
  constexpr Factors factors(const Start& from, T entry, const T* weak_part) const {
    if (entry == T{}) return {T(1), T{}};
    T diagonal = entry;
    if (from.column != none) diagonal += diagonal_of_weak(weak_part, p0.values + from.at, columns());
    const T damping = T(static_cast<real_t<T>>(omega() / lambda()));
    return {T(1) - damping * (entry / diagonal), -(damping / diagonal)};
  }
  constexpr Start start(std::int64_t row) const {
    if (p0.nnz == std::int64_t{p0.rows} * columns()) {  // offsets are known: a load less for each entry of A
      const auto at = static_cast<Offset>(row * columns());
      return {at, p0.col_indices[at]};
    }
    const Offset begin = p0.row_offsets[row];
    return {begin, begin < p0.row_offsets[row + 1] ? p0.col_indices[begin] : none};
  }

  /// Entries [first, first + width) of a row of P, as far as the row goes: sums in registers.
  template <int width>
  constexpr void fill(std::int64_t row, std::int64_t first) const {
    const std::int64_t end = p.row_offsets[row + 1];
    T sums[width] = {};
    std::int32_t targets[width] = {};
    for (int q = 0; q < width; ++q) targets[q] = first + q < end ? p.col_indices[first + q] : -1;
    T weak_sum{};
    const T diagonal = for_strong(row, weak_sum, [&](std::int64_t column, T value) {
      const Start from = start(column);
      for (int q = 0; q < width; ++q)
        if (const std::int32_t j = targets[q] - from.column; j >= 0 && j < columns())
          sums[q] += value * p0.values[from.at + j];
    });
    const Start from = start(row);
    const T* const weak_part = settled(row, from, diagonal, weak_sum);
    const Factors by = factors(from, diagonal, weak_part);
    for (int q = 0; q < width && first + q < end; ++q) {
      const std::int32_t j = targets[q] - from.column;
      T own{};
      if (j >= 0 && j < columns()) own = p0.values[from.at + j] * by.own + by.sum * weak_part[j];
      values[first + q] = own + by.sum * sums[q];
    }
  }

  /// A whole row of P, summed in its own memory.
  constexpr void fill(std::int64_t row) const {
    const Offset begin = p.row_offsets[row], end = p.row_offsets[row + 1];
    for (Offset at = begin; at < end; ++at) values[at] = T{};
    const auto place = [&](std::int32_t column) {
      if (end - begin > 16 * columns()) return lower_entry(p.col_indices, begin, end, column);
      Offset at = begin;
      while (p.col_indices[at] != column) at += columns();
      return at;
    };
    T weak_sum{};
    const T diagonal = for_strong(row, weak_sum, [&](std::int64_t column, T value) {
      const Start from = start(column);
      if (from.column == none) return;
      T* const sums = values + place(from.column);
      for (std::int32_t j = 0; j < columns(); ++j) sums[j] += value * p0.values[from.at + j];
    });
    const Start from = start(row);
    const T* const weak_part = settled(row, from, diagonal, weak_sum);
    const Factors by = factors(from, diagonal, weak_part);
    for (Offset at = begin; at < end; ++at) values[at] = by.sum * values[at];
    if (from.column == none) return;
    T* const own = values + place(from.column);
    for (std::int32_t j = 0; j < columns(); ++j) own[j] += p0.values[from.at + j] * by.own + by.sum * weak_part[j];
  }

 private:
  static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();

  /// use(column, value) for the strong entries beside the diagonal, whose entry is returned; of one candidate, the sum
  /// of weak a_ij b_j goes to weak_sum.
  template <class Use>
  constexpr T for_strong(std::int64_t row, T& weak_sum, Use&& use) const {
    T own{};
    rows.for_entries(row, [&](std::int32_t column, T value, bool is_strong) {
      if (column == row)
        own += value;
      else if (is_strong)
        use(column, value);
      else if constexpr (one_candidate)
        weak_sum += value * b.at(column, 0);
    });
    return own;
  }
  /// The weak part of a row: of one candidate from that sum, where it stays.
  constexpr const T* settled(std::int64_t row, const Start& from, T diagonal, T& weak_sum) const {
    if constexpr (!one_candidate) return weak + row * columns();
    if (from.column != none) settle_weak(&weak_sum, diagonal, p0.values + from.at, 1, coarse_b, from.column);
    return &weak_sum;
  }
};

// Kernels, on views.
/// factor() of every aggregate.
template <class T, class Offset>
void factor_aggregates(const Host&, std::int64_t aggregates, const AggregateBasis<T, Offset>&);
template <class T, class Offset>
void factor_aggregates(const Cuda&, std::int64_t aggregates, const AggregateBasis<T, Offset>&);

template <class Offset, class Sink>
void unite_nodes(const Host&, const NodeUnion<Offset>&, Sink);
template <class Offset, class Sink>
void unite_nodes(const Cuda&, const NodeUnion<Offset>&, Sink);

template <class T, class Offset, bool one_candidate>
void smooth(const Host&, const Smoothing<T, Offset, one_candidate>&);
template <class T, class Offset, bool one_candidate>
void smooth(const Cuda&, const Smoothing<T, Offset, one_candidate>&);

/// What is compiled for each backend.
template <class Where>
struct TentativePasses {
  static constexpr auto list = passes<Where, CountTentative, CountDead, FindBox>;
};
template <class Offset, class Where>
struct ProlongatorPatternKernels {
  template <class Sink>
  using Unite = void(const Where&, const NodeUnion<Offset>&, Sink);
  static constexpr auto list = passes<Where, ListTentative<Offset>, CheckTentative<Offset>,
                                      SpreadBlockOffsets<std::int64_t, Offset>, FindAggregates<Offset>>;
  static constexpr std::tuple kernels{instance<Unite<CountNodeUnion>>(unite_nodes),
                                      instance<Unite<ListNodeUnion<Offset>>>(unite_nodes)};
};
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct ProlongatorKernels {
  template <bool one_candidate>
  using Smooth = void(const Where&, const Smoothing<T, Offset, one_candidate>&);
  static constexpr auto list = passes<Where, SetDeadDiagonal<T, Offset>>;
  static constexpr std::tuple kernels{
      instance<void(const Where&, std::int64_t, const AggregateBasis<T, Offset>&)>(factor_aggregates),
      instance<void(const Where&, ReplaceWeak<T, Offset>)>(reduce_rows), instance<Smooth<true>>(smooth),
      instance<Smooth<false>>(smooth)};
};
template <class Value, class Where, class T = kernel_t<Value>>
struct CandidateKernels {
  static constexpr auto list = passes<Where, FillConstants<T>, FillMotions<T>, MeasureColumn<T>>;
};

}  // namespace krill::detail
