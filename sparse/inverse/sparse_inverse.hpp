// Incomplete sparse approximate inverses of a matrix: a small dense system for each row, and no row waits for another.
#pragma once
#include <array>
#include <optional>

#include "sparse/core/row_range.hpp"
#include "sparse/formats/csr_sizes.hpp"
#include "sparse/inverse/form.hpp"

namespace krill {

/// An approximate inverse that follows new values of the same pattern.
///
/// A row of more than `max_entries` keeps that many, those next to the diagonal: the small systems are dense, and the
/// cost of each is the third power of its entries.
///
/// Systems that have no solution raise nothing: ask singular().
template <class T, class Offset = std::int32_t>
class SparseInverse {
 public:
  static constexpr std::int32_t classes = 5;  ///< of rows of up to 4, 8, 16, 32 and more entries, for CUDA

  /// Analysis, then update(). Takes sizeof T + 4 bytes an entry of the inverse, and sizeof Offset + 5 bytes a row.
  /// Waits; not inside a capture. Raises ShapeMismatch unless A is square, InvalidArgument unless max_entries is in 1
  /// to max_inverse_entries.
  SparseInverse(Context&, const Csr<T, Offset>& A, InverseForm, std::int32_t max_entries = 256);

  /// The analysis alone: there is no inverse before the first update(). Rows of the inverse outside of the range are
  /// empty, and the others what they are without one; those of A are read where systems need them.
  static SparseInverse analyze(Context&, const Csr<T, Offset>& A, InverseForm, std::int32_t max_entries = 256,
                               RowRange = {});

  /// What analysis and update take; matrix(), which is `made`, stays.
  static HeldMemory memory(MemoryLedger&, Context& host, const Csr<T, Offset>& A, InverseForm, std::int32_t max_entries,
                           CsrSizes& made);

  /// New values of the same pattern. O(k^2 log k + k^3) for a row of k entries. On CUDA a team of 4 to 32 lanes solves
  /// a system in shared memory; one of more than 32 unknowns is a block's, in up to 64 MiB of workspace, or what one
  /// system needs. No wait, repeatable bitwise, capturable after a first run. Raises ShapeMismatch where
  /// nnz differs, InvalidArgument on the other backend than that of the constructor.
  void update(Context&, const Csr<T, Offset>& A);

  /// M or G. A row whose system has no solution holds the pivot at which elimination ended, then zeros.
  const Csr<T, Offset>& matrix() const& { return matrix_; }
  Csr<T, Offset> matrix() && { return std::move(matrix_); }
  InverseForm form() const { return form_; }
  std::int32_t longest_row() const { return longest_; }
  /// Rows that kept a part of their entries.
  std::int32_t shortened_rows() const { return shortened_; }
  std::size_t bytes() const;

  /// The first row without an entry on its diagonal.
  std::optional<std::int32_t> structural_zero() const;
  /// The first row whose system is singular (a zero pivot); for the factored form, not positive definite. Waits.
  std::optional<std::int32_t> singular() const;
  /// The first row whose system, or the solution of it, is not finite. Waits.
  std::optional<std::int32_t> not_finite() const;

 private:
  struct Analysis {};
  SparseInverse(Analysis, Context&, const Csr<T, Offset>& A, InverseForm, std::int32_t max_entries, RowRange = {});

  InverseForm form_;
  bool on_cuda_;
  std::int64_t a_nnz_;
  std::int32_t first_missing_ = 0, longest_ = 0, shortened_ = 0;
  Csr<T, Offset> matrix_;
  Array<std::uint8_t> outcomes_;
  Array<std::int32_t> bad_rows_{2, "rows without an inverse"};
  // For CUDA: rows by class, and where each class begins.
  Array<std::int32_t> order_{0, "rows by length"};
  std::array<std::int32_t, classes + 1> class_offsets_{};
};

/// The first row of the range that shows that the square matrix A is not Hermitian with a positive diagonal. Entries
/// may differ by rounding, as those of files with few digits do: |a_ij - conj(a_ji)|^2 <= eps a_ii a_jj with the eps of
/// T. O(nnz) where entries are exactly their mirrors and the range has all rows, found by a sum of 64-bit hashes; else
/// O(nnz log(longest row)). Waits.
template <class T, class Offset>
std::optional<std::int32_t> first_not_hermitian(Context&, const Csr<T, Offset>& A, RowRange = {});

}  // namespace krill
