// What can be said of a matrix by looking at its entries.
#pragma once
#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "sparse/core/team.hpp"
#include "sparse/formats/any_matrix.hpp"
#include "sparse/io/structural_rank.hpp"

namespace krill {

/// An entry and the one at the mirrored place (0 where none is stored).
struct EntryPair {
  std::int32_t row = 0, col = 0;
  std::complex<double> value, mirror;
};

/// What is known without a factorization, to rounding.
enum class Definiteness {
  not_finite,             ///< a NaN or an infinity: nothing can be said
  not_hermitian,          ///< the question makes no sense; not square counts as well
  not_positive_definite,  ///< proven: a_ii <= 0, or |a_ij|^2 >= a_ii a_jj
  positive_definite,      ///< proven: positive diagonal, |a_ii| >= the sum of the others' |a_ij| in every row, and from
                          ///< every row a path of entries leads to a row where it is > (Shivakumar and Chew 1974)
  possibly                ///< nothing speaks against it
};

/// What ranks tell each other of their rows. Rows and columns count from 0, "first" means by row, then by column. Sums
/// run in double.
struct MatrixFigures {
  std::int32_t rows = 0, cols = 0;
  std::int64_t nnz = 0;
  bool complex = false;  ///< the scalar type is; imaginary parts may be zero all the same

  // The mirror of an entry (i, j) is (j, i). A matrix that is not square is neither symmetric nor skew nor Hermitian;
  // no entry is named for that. Comparisons are exact; an entry that is not stored counts as 0, so the values can be
  // symmetric where the pattern is not. A real matrix is Hermitian where it is symmetric.
  double pattern_symmetry = 0;  ///< share of the off-diagonal entries whose mirror is stored; 1 without such entries
  bool symmetric_pattern = false;
  bool symmetric = false, skew = false, hermitian = false;
  std::optional<EntryPair> not_symmetric, not_skew, not_hermitian;  ///< the first entry that shows it
  double symmetry_error = 0, hermitian_error = 0;  ///< max |a_ij - mirror| / max |a_ij|; rounding makes some eps
  /// The first entry that is further from the conjugate of its mirror than sqrt(eps) max |a_ij|.
  std::optional<EntryPair> far_from_hermitian;

  std::int64_t missing_diagonal = 0, zero_diagonal = 0;  ///< not stored; stored as 0
  std::optional<std::int32_t> first_missing_diagonal, first_zero_diagonal;
  bool positive_diagonal = false;  ///< every a_ii is stored, real and > 0
  std::optional<std::int32_t> first_not_positive_diagonal;
  std::complex<double> not_positive_diagonal;      ///< what stands there; 0 where nothing is stored
  std::int64_t negative_diagonal = 0;              ///< real parts below 0
  double min_diagonal = 0, greatest_diagonal = 0;  ///< |a_ii| without zeros; 0 where there are none
  std::int64_t dominant_rows = 0;           ///< |a_ii| >= the sum of the others' |a_ij|, give or take its rounding
  std::int64_t strictly_dominant_rows = 0;  ///< |a_ii| > the sum and its rounding
  std::int64_t small_diagonal = 0;          ///< a_ii missing, or below a hundredth of the row's or column's greatest
  bool indefinite_pair = false;             ///< some |a_ij|^2 >= |a_ii| |a_jj|, i != j: not definite if Hermitian
  Definiteness definiteness = Definiteness::not_hermitian;

  std::int64_t shortest_row = 0, longest_row = 0;  ///< in entries
  double mean_row = 0;
  std::int64_t empty_rows = 0, empty_cols = 0;
  std::int64_t lower_bandwidth = 0, upper_bandwidth = 0;  ///< max i - j, max j - i; 0 where there are none

  std::int64_t stored_zeros = 0;
  std::int64_t non_finite = 0;  ///< NaN or infinite; the figures below leave these out
  std::optional<EntryPair> first_non_finite;
  double min_magnitude = 0, greatest_magnitude = 0;  ///< of the entries other than 0; 0 without such entries
  double frobenius_norm = 0, infinity_norm = 0;
  double min_row_norm = 0;     ///< least sum of |a_ij| over a row, of sums other than 0; infinity_norm is the greatest
  std::int64_t null_rows = 0;  ///< rows whose entries add up to 0, but for rounding; where all do, A 1 = 0

  /// Constraints of a saddle point [H F; G -C], in any order: its rows whose a_ii is missing, 0 or negative, at most as
  /// many as the others. Each meets one of the others, and its entries among the constraints add up to no more than
  /// -a_ii, so C is 0 or semidefinite; the pattern is symmetric, the values as well where some a_ii is negative. 0: the
  /// matrix is no such one.
  std::int64_t constraint_rows = 0;
};
struct MatrixProperties : MatrixFigures {
  std::string definiteness_reason;  ///< "not positive definite: a(7, 7) = -1 is not positive"
  /// Of a square matrix with finite entries, stored zeros left out; nothing where it takes too long.
  std::optional<StructuralRank> structure;
};

/// Repeatable bitwise for any number of threads. O(nnz log(longest row)), in parallel (and a search of the graph in
/// sequence where only that can prove definiteness, and for the structural rank where the diagonal has zeros); rows +
/// cols words of memory, and for the structural rank what that takes.
template <class T>
MatrixProperties analyze(const Host&, const AnyMatrix<T>&);

/// Rows of a square matrix of which several ranks have some each, in the order of ranks. What a rank looks at is square
/// as well: it has its own rows, those of the columns that these have entries in, and those that have entries in
/// columns of its rows. Of the latter two, which are others' rows, entries in columns of its own rows are there.
struct AnalyzedRows {
  Team& team;
  std::int64_t rows;                      ///< of the whole matrix
  std::int64_t begin, end;                ///< own rows, among those that the rank looks at
  std::span<const std::int64_t> numbers;  ///< in the whole matrix, ascending, of those that it looks at
  /// Replace the entries of others' rows by what their owners have. All ranks take part.
  std::function<void(std::span<double>)> refresh_values;
  std::function<void(std::span<char>)> refresh_marks;
};

/// What analyze() would say of the whole matrix; but structure, which is told only where the diagonal is full, and the
/// last bits of frobenius_norm, whose sum is that of the ranks' sums. The same on all ranks. `A` in CSR. Raises
/// TeamFailure.
template <class T>
MatrixProperties analyze(const Host&, const AnyMatrix<T>& A, const AnalyzedRows&);

}  // namespace krill
