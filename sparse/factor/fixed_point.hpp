// Incomplete factorizations by sweeps over all entries at once (Chow and Patel 2015).
#pragma once
#include "sparse/factor/incomplete.hpp"

namespace krill {

namespace detail {
template <class Offset>
struct Unknowns;
}

/// ILU(0) or IC(0) as the fixed point of its own equations, an unknown an entry: l_ij = (a_ij - sum l_ik u_kj) / u_jj
/// left of the diagonal, u_ij = a_ij - sum l_ik u_kj elsewhere, sums over k < min(i, j). A sweep puts the values of the
/// sweep before into all right-hand sides, so no row waits for another and the result repeats bitwise.
///
/// The first guess is the triangles of A, L with its columns divided by A's diagonal. That is the guess of the paper,
/// which scales A to a diagonal of ones: the sweeps themselves are the same for a matrix that is scaled from both
/// sides.
///
/// An entry is final once those that it depends on are. Twice as many sweeps as the triangle has levels end it for a
/// symmetric pattern; a few are enough for a preconditioner.
template <class T, class Offset = std::int32_t>
class FixedPointFactor {
 public:
  /// Analysis, then update(). Takes sizeof T + sizeof Offset + 12 bytes an entry. For ilu0 A is transposed once.
  /// Waits; not inside a capture. Raises ShapeMismatch unless A is square, InvalidArgument for less than one sweep and
  /// for IC(0) with a boost. Every sweep boosts the pivots that it finds.
  FixedPointFactor(Context&, const Csr<T, Offset>& A, Factorization, std::int32_t sweeps,
                   std::optional<PivotBoost<T>> = {});

  /// The analysis alone: there is no factor before the first update().
  static FixedPointFactor analyze(Context&, const Csr<T, Offset>& A, Factorization, std::int32_t sweeps,
                                  std::optional<PivotBoost<T>> = {});

  /// What analysis and update take.
  static HeldMemory memory(MemoryLedger&, const Csr<T, Offset>& A, Factorization);

  /// New values of the same pattern. Each sweep moves 3 sizeof T + 8 bytes an entry, and from the caches what the
  /// merging of rows with columns takes. Workspace: 3 sizeof T an entry. No analysis, no wait, capturable after a first
  /// run. With a shift, A's diagonal is multiplied by 1 + shift first. Raises ShapeMismatch where nnz differs,
  /// InvalidArgument on the other backend than that of the constructor.
  void update(Context&, const Csr<T, Offset>& A, double shift = 0);

  /// The same number of sweeps, from values in the pattern of A in place of the first guess: a factor that is near, as
  /// matrix() has it. Raises ShapeMismatch also where they are not as many as the entries.
  void refine(Context&, const Csr<T, Offset>& A, const Array<T>& from, double shift = 0);

  /// In the pattern of A, as IncompleteFactor has it.
  const Csr<T, Offset>& matrix() const { return matrix_; }
  Factorization kind() const { return kind_; }
  std::int32_t sweeps() const { return sweeps_; }
  std::size_t bytes() const;

  /// The nonlinear residual: the Frobenius norm of A - L U, or A - L L^H, in the pattern of A. Zero but for rounding
  /// where the sweeps have converged, and what boosts have added to the diagonal; not scaled. `A` and `shift` as for
  /// the last update(). Waits.
  double residual_norm(Context&, const Csr<T, Offset>& A, double shift = 0) const;

  /// The first row without an entry on its diagonal.
  std::optional<std::int32_t> structural_zero() const;
  /// The first row whose pivot is zero; for IC(0), of which the present values leave no positive number to take the
  /// root of. Waits.
  std::optional<std::int32_t> numerical_zero() const;
  /// The first of both.
  std::optional<std::int32_t> zero_pivot() const;
  /// The first row whose pivot, or for IC(0) what its root is taken of, is NaN or infinite. Waits.
  std::optional<std::int32_t> not_finite() const;
  /// Pivots that the last sweep boosts. Waits.
  std::int32_t boosts() const;

 private:
  struct Analysis {};
  FixedPointFactor(Analysis, Context&, const Csr<T, Offset>& A, Factorization, std::int32_t sweeps,
                   std::optional<PivotBoost<T>>);
  void require_like(const Context&, const Csr<T, Offset>& A) const;
  /// begin: null for the first guess.
  void sweep(Context&, const Csr<T, Offset>& A, const Array<T>* begin, double shift);
  template <class Where>
  detail::Unknowns<Offset> unknowns(const Where&) const;

  Factorization kind_;
  std::int32_t sweeps_;
  std::optional<PivotBoost<T>> boost_;
  bool on_cuda_;
  std::int32_t first_missing_ = 0;
  Csr<T, Offset> matrix_;
  // Entries of L by rows, then for ILU(0) those of U by columns: where a row or column begins, the row and column of
  // each entry, and its place in A.
  Array<Offset> left_{0, "rows of L"}, right_{0, "columns of U"};
  Array<std::int32_t> rows_{0, "rows of entries"}, cols_{0, "columns of entries"};
  Array<Offset> sources_{0, "places of entries"};
  std::int64_t lower_ = 0;
  Array<std::int32_t> events_{3, "pivot events"};
};

}  // namespace krill
