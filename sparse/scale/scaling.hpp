// Scalings of square systems: (D_r A D_c) (D_c^-1 x) = D_r b, with D_r and D_c diagonal.
#pragma once
#include <array>
#include <string_view>

#include "sparse/formats/csr_sizes.hpp"

namespace krill {

/// diagonal:  d_r = d_c, d_i = 1 / sqrt |a_ii|, so that every diagonal entry has the modulus 1.
/// symmetric: d_r = d_c, d_i = 1 / sqrt of the greatest modulus in row i and column i together.
/// ruiz:      ten rounds in which every row and column is divided by the root of its greatest modulus (Ruiz 2001), so
///            that all of these tend to 1; d_r = d_c where |A| is symmetric.
/// negative:  D_r = -I, D_c = I: (-A) x = -b. The other factors are positive.
enum class ScalingMethod { diagonal, symmetric, ruiz, negative };
inline constexpr std::array<std::string_view, 4> scaling_method_names{"diagonal", "symmetric", "ruiz", "negative"};

/// The factors of rows and columns.
template <class T>
class Scaling {
 public:
  /// O(nnz), for symmetric and ruiz with a transposition of A; a row is one thread's. Waits. The same in every run.
  /// Raises ShapeMismatch unless A is square, and InvalidArgument, which names the row or column, where there is
  /// nothing to divide by: zeros alone, or a number that is not finite.
  Scaling(Context&, const Csr<T, std::int32_t>& A, ScalingMethod);
  Scaling(Context&, const Csr<T, std::int64_t>& A, ScalingMethod);
  /// By factors that are known: finite, none of them 0, as many of rows as of columns; of these the last alone is
  /// checked.
  Scaling(Array<real_t<T>> rows, Array<real_t<T>> cols) : rows_(std::move(rows)), cols_(std::move(cols)) {
    require_size("scaling: factors of columns", cols_.size(), rows_.size());
  }
  static HeldMemory memory(MemoryLedger&, const CsrSizes& A, ScalingMethod);

  std::int32_t size() const { return static_cast<std::int32_t>(rows_.size()); }
  const Array<real_t<T>>& rows() const { return rows_; }  ///< d_r
  const Array<real_t<T>>& cols() const { return cols_; }  ///< d_c

  // Between vectors of the system and of the scaled one; two arrays of size(), not the same. Asynchronous, capturable
  // after a first run. Each raises ShapeMismatch and InvalidArgument.
  /// scaled = D_r b.
  void scale_rhs(Context&, const Array<T>& b, Array<T>& scaled) const;
  /// scaled = D_c^-1 x.
  void scale_solution(Context&, const Array<T>& x, Array<T>& scaled) const;
  /// x = D_c scaled.
  void unscale_solution(Context&, const Array<T>& scaled, Array<T>& x) const;

 private:
  template <class Offset>
  void find(Context&, const Csr<T, Offset>& A, ScalingMethod);

  Array<real_t<T>> rows_, cols_;
};

/// D_r A D_c, which follows new values of A. Hermitian where A is and the factors of rows and columns are the same: an
/// entry is multiplied by the product of its two factors.
template <class T, class Offset>
class Scaled {
 public:
  /// O(nnz), without a wait. Raises ShapeMismatch.
  Scaled(Context&, const Csr<T, Offset>& A, const Scaling<T>&);
  static HeldMemory memory(MemoryLedger& ledger, const CsrSizes& A) { return csr_memory(ledger, A); }

  const Csr<T, Offset>& matrix() const { return matrix_; }
  /// New values of the same pattern, with the factors that were found first. Raises ShapeMismatch.
  void update(Context&, const Csr<T, Offset>& A, const Scaling<T>&);

  Csr<T, Offset> release() && { return std::move(matrix_); }

 private:
  Csr<T, Offset> matrix_;
};

}  // namespace krill
