// The parts of an incomplete factorisation: what is found once, and what kernels get.
#pragma once
#include <limits>

#include "krill/sparse/convert/lower_entry.hpp"
#include "krill/sparse/convert/structure.hpp"
#include "krill/sparse/factor/incomplete.hpp"

namespace krill {

/// Where pivots are told of: events[zero_pivot] and events[bad_pivot] are the least rows, events[boosted_pivots] a
/// count.
enum PivotEvent { zero_pivot_event, bad_pivot_event, boosted_pivots_event, pivot_events };
inline constexpr std::int32_t no_row = std::numeric_limits<std::int32_t>::max();

/// What is counted of the rows to be factored.
struct RowFacts {
  std::int32_t missing = no_row;  ///< the first without a diagonal
  std::int32_t longest = 0;
  constexpr RowFacts& operator+=(RowFacts other) {
    if (other.missing < missing) missing = other.missing;
    if (other.longest > longest) longest = other.longest;
    return *this;
  }
};

/// diagonals, and the facts. Over the rows.
template <class Offset>
struct FindDiagonals {
  using Sum = RowFacts;
  CsrView<const NoValue, Offset> a;
  bool lower_alone;
  Offset* diagonals;
  RowFacts* facts;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const Offset near = lower_entry(a, i, i), end = a.row_offsets[i + 1];
    const bool has = near < end && a.col_indices[near] == i;
    diagonals[i] = near;
    const Offset past = lower_alone ? near + (has ? 1 : 0) : end;
    return {has ? no_row : static_cast<std::int32_t>(i), static_cast<std::int32_t>(past - a.row_offsets[i])};
  }
  constexpr void finish(const Sum& sum) const { *facts = sum; }
};

/// Whether `rows_together` rows that follow each other in `order` wait for each other. Over such groups.
template <class Offset>
struct FindMixed {
  using Sum = NoSum;
  CsrView<const NoValue, Offset> a;
  const Offset* diagonals;
  const std::int32_t *order, *places;
  std::int32_t rows_together;
  std::uint8_t* mixed;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t group) const {
    const std::int64_t first = group * rows_together, end = first + rows_together, past = end < a.rows ? end : a.rows;
    mixed[group] = 0;
    for (std::int64_t place = first; place < past; ++place) {
      const std::int32_t i = order[place];
      for (Offset k = a.row_offsets[i]; k < diagonals[i]; ++k)
        if (places[a.col_indices[k]] >= first) mixed[group] = 1;
    }
    return {};
  }
};

/// No events yet.
struct ClearEvents {
  using Sum = NoSum;
  std::int32_t* events;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t e) const { return events[e] = e == boosted_pivots_event ? 0 : no_row, NoSum{}; }
};

/// A factorisation, as kernels see it. Rows that a warp takes together: rows_together, one after the other in `order`.
template <class T, class Offset>
struct FactorTask {
  CsrView<const T, Offset> a;  ///< the pattern, and the values to be factored
  T* to = nullptr;             ///< the factor's values, another array
  const Offset* diagonals = nullptr;
  const std::int32_t* order = nullptr;
  const std::uint8_t* mixed = nullptr;
  std::int32_t rows_together = 1;
  bool has_long_rows = false;  ///< of more than 32 entries
  bool cholesky = false, boosted = false;
  double tolerance = 0;
  T boost{};
  double diagonal_factor = 1;  ///< of A's diagonal
  std::int32_t* events = nullptr;

  /// Entry k of A, which is in row i, as it is factored.
  constexpr T entry(std::int32_t i, Offset k) const {
    return a.col_indices[k] == i ? scaled(a.values[k], static_cast<real_t<T>>(diagonal_factor)) : a.values[k];
  }
};

/// The entries of a row that are factored end here.
template <class T, class Offset>
constexpr Offset factored_end(const FactorTask<T, Offset>& f, std::int32_t i) {
  const Offset near = f.diagonals[i], end = f.a.row_offsets[i + 1];
  if (!f.cholesky) return end;
  return near + (near < end && f.a.col_indices[near] == i ? 1 : 0);
}

template <class T, class Offset>
void run_factorization(const Host&, const FactorTask<T, Offset>&);
template <class T, class Offset>
void run_factorization(const Cuda&, const FactorTask<T, Offset>&);

}  // namespace krill
