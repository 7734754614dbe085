// The passes of sparse approximate inverses: their pattern, the small systems, and the rows without a solution.
#pragma once
#include <algorithm>

#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/mirror_hash.hpp"
#include "sparse/convert/reduce_rows.hpp"
#include "sparse/core/first_row.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/inverse/sparse_inverse.hpp"

namespace krill::detail {

inline constexpr std::int32_t inverse_classes = SparseInverse<float>::classes;
inline constexpr std::int32_t min_lanes = 4, max_lanes = 32;

// Systems of more than max_lanes unknowns on CUDA: each block of threads has one of its own in the workspace.
inline constexpr std::size_t long_workspace = std::size_t{64} << 20;  ///< bytes, unless one system needs more
/// Equations with their right-hand sides.
constexpr std::size_t long_system_size(std::size_t longest) { return longest * (longest + 1); }
/// Blocks that solve so many rows. A multiprocessor takes 6 or 5 at a time, as many as its registers on an H200.
constexpr std::size_t long_system_blocks(std::size_t longest, std::size_t value_bytes, std::size_t rows,
                                         int multiprocessors) {
  const std::size_t fitting = std::max<std::size_t>(1, long_workspace / (long_system_size(longest) * value_bytes));
  const std::size_t resident = static_cast<std::size_t>(multiprocessors) * (value_bytes == sizeof(float) ? 6 : 5);
  return std::min({fitting, resident, rows});
}

/// Which class a row of so many entries belongs to, from 0.
constexpr std::int32_t inverse_class(std::int64_t entries) {
  std::int32_t c = 0;
  for (std::int64_t lanes = min_lanes; lanes <= max_lanes && lanes < entries; lanes *= 2) ++c;
  return c;
}

/// Counts over the rows of an inverse.
struct InverseFacts {
  std::int32_t missing = no_row, longest = 0, shortened = 0;
  std::int32_t in_class[inverse_classes] = {};
  constexpr InverseFacts& operator+=(const InverseFacts& other) {
    if (other.missing < missing) missing = other.missing;
    if (other.longest > longest) longest = other.longest;
    shortened += other.shortened;
    for (std::int32_t c = 0; c < inverse_classes; ++c) in_class[c] += other.in_class[c];
    return *this;
  }
};

/// Which entries of A's rows are the pattern: `counts` of them from begins[i] on; and their class, from 1. Over the
/// rows.
template <class Offset>
struct CountInverse {
  using Sum = InverseFacts;
  CsrView<const NoValue, Offset> a;
  RowRange wanted;
  bool lower;
  std::int32_t most;
  Offset *begins, *counts;
  std::int32_t* classes;
  InverseFacts* facts;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    Sum sum;
    if (i < wanted.begin || i >= wanted.end) return begins[i] = counts[i] = 0, classes[i] = 1, ++sum.in_class[0], sum;
    Offset first = a.row_offsets[i], end = a.row_offsets[i + 1];
    const Offset near = lower_entry(a, i, i);
    const bool has_diagonal = near < end && a.col_indices[near] == i;
    if (lower) end = near + (has_diagonal ? 1 : 0);
    if (!has_diagonal) sum.missing = static_cast<std::int32_t>(i);
    if (end - first > most) {  // the diagonal in the middle, where there is room on both sides
      const Offset middle = near - most / 2 > first ? static_cast<Offset>(near - most / 2) : first;
      first = middle < end - most ? middle : static_cast<Offset>(end - most);
      end = first + most;
      sum.shortened = 1;
    }
    begins[i] = first, counts[i] = end - first;
    sum.longest = static_cast<std::int32_t>(end - first);
    const std::int32_t c = inverse_class(sum.longest);
    classes[i] = 1 + c, sum.in_class[c] = 1;
    return sum;
  }
  constexpr void finish(const Sum& sum) const { *facts = sum; }
};

/// The columns of the pattern. Over the rows.
template <class Offset>
struct InverseColumns {
  using Sum = NoSum;
  CsrView<const NoValue, Offset> a;
  const Offset *begins, *offsets;
  std::int32_t* columns;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    Offset from = begins[i];
    for (Offset to = offsets[i]; to < offsets[i + 1]; ++to) columns[to] = a.col_indices[from++];
    return {};
  }
};

/// a_ij; zero where nothing is stored.
template <class T, class Offset>
constexpr T entry_or_zero(const CsrView<const T, Offset>& a, std::int32_t i, std::int32_t j) {
  const Offset k = lower_entry(a, i, j);
  return k < a.row_offsets[i + 1] && a.col_indices[k] == j ? a.values[k] : T{};
}

/// How the system of a row ended.
enum class InverseOutcome : std::uint8_t { solved, singular, not_finite };

/// The systems of all rows, as kernels see them.
template <class T, class Offset>
struct InverseTask {
  CsrView<const T, Offset> a;
  bool factored = false;
  const Offset* offsets = nullptr;  ///< the pattern's
  const std::int32_t* columns = nullptr;
  T* values = nullptr;
  std::uint8_t* outcomes = nullptr;
  // For CUDA.
  std::int32_t longest = 0;
  const std::int32_t* order = nullptr;  ///< rows by class
  std::array<std::int32_t, inverse_classes + 1> class_offsets = {};

  /// The entry of A(J, J)^T in the equation of column `equation` and for the unknown of column `unknown`.
  constexpr T entry(std::int32_t equation, std::int32_t unknown) const {
    if (!factored || equation < unknown) return entry_or_zero(a, unknown, equation);
    const T value = entry_or_zero(a, equation, unknown);
    return equation == unknown ? T(real(value)) : conj(value);
  }
  /// Whether elimination ends at this pivot. NaN passes, and shows in the solution.
  constexpr bool refuses(T pivot) const { return factored ? real(pivot) <= real_t<T>(0) : pivot == T(0); }
};

/// Solves the system of each row.
template <class T, class Offset>
void solve_inverse(const Host&, const InverseTask<T, Offset>&);
template <class T, class Offset>
void solve_inverse(const Cuda&, const InverseTask<T, Offset>&);

/// The first rows without a solution.
struct BadInverses {
  std::int32_t singular = no_row, not_finite = no_row;
  constexpr BadInverses& operator+=(BadInverses other) {
    if (other.singular < singular) singular = other.singular;
    if (other.not_finite < not_finite) not_finite = other.not_finite;
    return *this;
  }
};
enum { singular_inverse, not_finite_inverse };

/// Over the rows.
struct FindBadInverses {
  using Sum = BadInverses;
  const std::uint8_t* outcomes;
  std::int32_t* bad_rows;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const {
    const auto row = static_cast<std::int32_t>(i);
    const auto outcome = static_cast<InverseOutcome>(outcomes[i]);
    return {outcome == InverseOutcome::singular ? row : no_row, outcome == InverseOutcome::not_finite ? row : no_row};
  }
  constexpr void finish(const Sum& sum) const {
    bad_rows[singular_inverse] = sum.singular, bad_rows[not_finite_inverse] = sum.not_finite;
  }
};

/// The first row with an entry that is too far from its mirror, or without a positive diagonal. Over the rows from
/// `begin_row` on.
template <class T, class Offset>
struct FindNotHermitian {
  using Sum = FirstRow;
  CsrView<const T, Offset> a;
  std::int64_t begin_row;
  double eps;
  FirstRow* first;

  constexpr bool begin() const { return true; }
  constexpr double diagonal(std::int64_t i) const {
    const auto row = static_cast<std::int32_t>(i);
    return double(real(entry_or_zero(a, row, row)));
  }
  constexpr Sum entry(std::int64_t i) const {
    const auto row = static_cast<std::int32_t>(begin_row + i);
    const double mine = diagonal(row);
    if (!(mine > 0)) return {row};
    for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
      const std::int32_t j = a.col_indices[k];
      const T difference = a.values[k] - conj(entry_or_zero(a, j, row));
      if (difference == T(0)) continue;
      if (!(squared(difference) <= eps * mine * diagonal(j))) return {row};
    }
    return {};
  }
  constexpr void finish(const Sum& sum) const { *first = sum; }
};

/// The sum of mirror_hash, and how many diagonal entries are positive and how many rows have what no Hermitian positive
/// definite matrix has.
struct MirrorSum {
  std::uint64_t balance = 0;
  std::int64_t positive = 0, wrong = 0;
  constexpr MirrorSum& operator+=(const MirrorSum& other) {
    balance += other.balance, positive += other.positive, wrong += other.wrong;
    return *this;
  }
};

/// Whether entries are exactly their mirrors, are finite, and positive on the diagonal: what tells most Hermitian
/// matrices, at the speed of the memory. Over the rows' entries.
template <class T, class Offset>
struct CompareMirrors {
  using Item = MirrorSum;
  using Sum = MirrorSum;
  CsrView<const T, Offset> a;
  MirrorSum* all;

  constexpr bool wants(std::int64_t) const { return true; }
  constexpr Item entry(std::int64_t row, std::int64_t k) const {
    const std::int32_t col = a.col_indices[k];
    const T value = a.values[k];
    const bool positive = col == row && real(value) > 0 && value == conj(value);
    return {mirror_hash(row, col, value), positive, !is_finite(value)};
  }
  constexpr Sum finish_row(std::int64_t, const Item& item) const {
    return {item.balance, item.positive, item.wrong + (item.positive != 1)};
  }
  constexpr void finish(const Sum& sum) const { *all = sum; }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct SparseInversePasses {
  static constexpr auto mirrors = instance<void(const Where&, CompareMirrors<T, Offset>)>(reduce_rows);
  static constexpr auto list =
      passes<Where, FindBadInverses, CountInverse<Offset>, InverseColumns<Offset>, FindNotHermitian<T, Offset>>;
  static constexpr auto kernel = instance<void(const Where&, const InverseTask<T, Offset>&)>(solve_inverse);
};

}  // namespace krill::detail
