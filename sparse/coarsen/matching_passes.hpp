// What matchings are made of, on both backends.
#pragma once
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "sparse/coarsen/matching.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/convert/mirror_hash.hpp"
#include "sparse/convert/reduce_rows.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/first_row.hpp"
#include "sparse/core/pass.hpp"

namespace krill::detail {

/// What entries of such a matrix are compared in: double takes CUDA twice as long.
template <class T>
using match_t = std::conditional_t<sizeof(T) == sizeof(float), float, double>;

/// 1 over what entries of a row are compared with.
template <class Real>
struct MatchUnits {
  Real strength;
  Real weight;  ///< negative where the diagonal entry's real part is
};

/// What is seen of a matrix before rows are matched: `difference` is zero if |A| is symmetric; if not, another number,
/// but for a chance of 2^-64.
struct MatchMeasure {
  std::uint64_t difference = 0;
  FirstRow fault;
  std::int32_t longest_row = 0;
  constexpr MatchMeasure& operator+=(const MatchMeasure& other) {
    difference += other.difference, fault += other.fault;
    if (other.longest_row > longest_row) longest_row = other.longest_row;
    return *this;
  }
};

template <class T>
struct MatchedRow {
  T diagonal{};
  match_t<T> largest = 0;  ///< modulus off the diagonal
  MatchMeasure measure;
  constexpr MatchedRow& operator+=(const MatchedRow& other) {
    diagonal += other.diagonal, measure += other.measure;
    if (other.largest > largest) largest = other.largest;
    return *this;
  }
};

/// The units of each row, which is free. Over the rows.
template <class T, class Offset>
struct MeasureForMatching {
  using Item = MatchedRow<T>;
  using Sum = MatchMeasure;
  CsrView<const T, Offset> a;
  StrengthMeasure strength;
  bool compares;  ///< |A| with its transpose
  MatchUnits<match_t<T>>* units;
  std::int32_t* mates;
  MatchMeasure* measure;

  constexpr bool wants(std::int64_t) const { return true; }
  constexpr Item entry(std::int64_t row, std::int64_t k) const {
    const std::int64_t col = a.col_indices[k];
    const T value = a.values[k];
    Item item;
    if (!is_finite(value)) {
      item.measure.fault.row = static_cast<std::int32_t>(row);
    } else if (col == row) {
      item.diagonal = value;
    } else {
      item.largest = match_t<T>(magnitude(value));
      if (compares) item.measure.difference = mirror_hash(row, col, magnitude(value));
    }
    return item;
  }
  constexpr Sum finish_row(std::int64_t row, const Item& item) const {
    const auto diagonal = match_t<T>(magnitude(item.diagonal)), weight = 1 / (diagonal > 0 ? diagonal : item.largest);
    units[row] = {1 / (strength == StrengthMeasure::relative ? item.largest : diagonal),
                  real(item.diagonal) < 0 ? -weight : weight};
    mates[row] = -1;
    Sum sum = item.measure;
    sum.longest_row = static_cast<std::int32_t>(a.row_offsets[row + 1] - a.row_offsets[row]);
    return sum;
  }
  constexpr void finish(const Sum& sum) const { *measure = sum; }
};

/// A neighbor, and in which order rows prefer them; 0: none.
struct PreferredNeighbor {
  std::uint64_t key = 0;
  std::int32_t row = -1, unused = 0;
  constexpr PreferredNeighbor& operator+=(const PreferredNeighbor& other) {
    if (other.key > key) *this = other;
    return *this;
  }
};

/// best[row] = the neighbor that a free row likes best of those that are free; -1: there is none. With `parents`, once
/// no more pairs are made: parents[row] = the first row of the pair that the row joins; the row itself if its neighbors
/// are in no pair, `and where it has no candidates, -1 unless `lone_stay`.
template <class T, class Offset>
struct BestNeighbor {
  using Item = PreferredNeighbor;
  using Sum = NoSum;
  static constexpr std::uint64_t is_paired = std::uint64_t{1} << 63;
  using Real = match_t<T>;
  CsrView<const T, Offset> a;
  const MatchUnits<Real>* units;
  Real threshold_squared;
  const std::int32_t* mates;  // -1: the row is free
  std::int32_t* best;
  std::int32_t* parents = nullptr;
  bool lone_stay = false;

  constexpr bool wants(std::int64_t row) const { return mates[row] < 0; }
  constexpr Item entry(std::int64_t row, std::int64_t k) const {
    // all is loaded before anything is decided, so that the loads of several entries go ahead together
    const std::int32_t col = a.col_indices[k];
    const T value = a.values[k];
    const MatchUnits<Real> own = units[row], other = units[col];
    const bool paired = mates[col] >= 0, is_negative = std::signbit(real(value));
    const auto size = Real(magnitude(value));
    const Real strength = (size * own.strength) * (size * other.strength);
    const Real weight = std::abs((size * own.weight) * (size * other.weight));
    const bool repels =
        real(value) != 0 && is_negative == std::signbit(own.weight) && is_negative == std::signbit(other.weight);
    if (col == row || (paired && !parents) || repels || !(strength >= threshold_squared) || !(weight > 0)) return {};
    const auto first = static_cast<std::uint32_t>(row < col ? row : col);
    const auto stride = static_cast<std::uint32_t>(row < col ? col - row : row - col);
    const std::uint32_t place = (~(first / stride) << 31) | (0x7fffffffu - stride);  // aligned first, then short
    return {(paired ? is_paired : 0) | order(weight) << 32 | place, col, 0};
  }
  constexpr Sum finish_row(std::int64_t row, const Item& item) const {
    if (!parents) {
      best[row] = item.row;
    } else if (item.key & is_paired) {
      parents[row] = mates[item.row] < item.row ? mates[item.row] : item.row;
    } else {
      parents[row] = item.row >= 0 || lone_stay ? static_cast<std::int32_t>(row) : -1;
    }
    return {};
  }

 private:
  /// The exponent and three bits more, rounded.
  static constexpr std::uint64_t order(Real weight) {
    using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
    constexpr int dropped = std::numeric_limits<Real>::digits - 1 - 3;
    return (std::bit_cast<Bits>(weight) + (Bits{1} << (dropped - 1))) >> dropped;
  }
};

/// Rows that are not in pairs: all of them, and those that have a free neighbor.
struct FreeRows {
  std::int64_t all = 0, hopeful = 0;
  constexpr FreeRows& operator+=(const FreeRows& other) {
    all += other.all, hopeful += other.hopeful;
    return *this;
  }
};

/// What a round of a matching needs the host to know.
struct MatchFigures {
  MatchMeasure measure;
  FreeRows free;
};

/// Rows that like each other best are pairs. Over the rows.
struct PairRows {
  using Sum = FreeRows;
  const std::int32_t* best;
  std::int32_t* mates;
  FreeRows* free;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t row) const {
    if (mates[row] >= 0) return {};
    const std::int32_t other = best[row];
    if (other < 0) return {1, 0};
    if (best[other] != row) return {1, 1};
    mates[row] = other;
    return {};
  }
  constexpr void finish(const Sum& sum) const { *free = sum; }
};

/// parents[row] = the first row of its pair. Over the rows.
struct FindParents {
  using Sum = NoSum;
  const std::int32_t* mates;
  std::int32_t* parents;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    const std::int32_t mate = mates[row];
    parents[row] = mate >= 0 && mate < row ? mate : static_cast<std::int32_t>(row);
    return {};
  }
};

/// flags[row] = 1 where the row is the first of its pair. Over the rows.
struct FlagPairs {
  using Sum = NoSum;
  const std::int32_t* mates;
  std::int32_t* flags;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const { return flags[row] = row < mates[row], NoSum{}; }
};

/// Pairs as aggregates, which their first rows have the numbers of. Over the rows.
struct ListPairs {
  using Sum = NoSum;
  const std::int32_t *mates, *numbers;
  std::int32_t *of_row, *offsets, *rows;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    const std::int32_t mate = mates[row], pair = numbers[row < mate ? row : mate];
    of_row[row] = pair;
    if (mate < row) return {};
    if (pair == 0) offsets[0] = 0;
    offsets[pair + 1] = 2 * (pair + 1);
    rows[2 * pair] = static_cast<std::int32_t>(row), rows[2 * pair + 1] = mate;
    return {};
  }
};

/// The rows of aggregates that are pairs of others, all of `size` rows: ascending, as theirs are. Over the pairs.
struct MergePairs {
  using Sum = NoSum;
  std::int64_t size;
  const std::int32_t *pairs, *rows;  // two aggregates each; `size` rows each
  std::int32_t *offsets, *merged;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t pair) const {
    const std::int32_t *first = rows + pairs[2 * pair] * size, *second = rows + pairs[2 * pair + 1] * size;
    const std::int32_t *const first_end = first + size, *const second_end = second + size;
    const std::int64_t begin = 2 * size * pair, end = begin + 2 * size;
    for (std::int64_t at = begin; at < end; ++at)
      merged[at] = second == second_end || (first != first_end && *first < *second) ? *first++ : *second++;
    if (pair == 0) offsets[0] = 0;
    offsets[pair + 1] = static_cast<std::int32_t>(end);
    return {};
  }
};

/// flags[row] = 1 where the row is its own parent. Over the rows.
struct FlagParents {
  using Sum = NoSum;
  const std::int32_t* parents;
  std::int32_t* flags;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const { return flags[row] = parents[row] == row, NoSum{}; }
};

/// of_row[row] = the number of its parent, -1 where it has none. Over the rows.
struct NumberRows {
  using Sum = NoSum;
  const std::int32_t *parents, *numbers;
  std::int32_t* of_row;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    of_row[row] = parents[row] < 0 ? -1 : numbers[parents[row]];
    return {};
  }
};

/// parents[row] = the least row of its aggregate, -1 where it is in none. Over the rows.
struct FindLeastRows {
  using Sum = NoSum;
  const std::int32_t *of_row, *offsets, *rows;
  std::int32_t* parents;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    parents[row] = of_row[row] < 0 ? -1 : rows[offsets[of_row[row]]];
    return {};
  }
};

/// What is compiled for each backend.
template <class Where>
struct PairingPasses {
  static constexpr auto list =
      passes<Where, PairRows, FindParents, FlagPairs, ListPairs, MergePairs, FlagParents, NumberRows, FindLeastRows>;
};
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct MatchingKernels {
  template <class RowPass>
  using Reduce = void(const Where&, RowPass);
  static constexpr std::tuple list{instance<Reduce<MeasureForMatching<T, Offset>>>(reduce_rows),
                                   instance<Reduce<BestNeighbor<T, Offset>>>(reduce_rows)};
};

}  // namespace krill::detail
