// A complete factorization of a sparse matrix on the host, by a library.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "sparse/direct/analysis.hpp"

namespace krill {

/// A = L U or A = L D L^H, of rows and columns that were scaled by powers of two (without a rounding) and ordered by
/// the analysis. Eigen's SparseLU and SimplicialLDLT compute it, or KLU and CHOLMOD (which makes L L^H of A or of -A),
/// as the analysis says: on the host, on one thread but for CHOLMOD's BLAS; nothing can interrupt them. Solves with one
/// object may not run at the same time.
template <class T>
class DirectFactors {
 public:
  /// O(analysis.operations). A: what was analyzed. Raises OutOfMemory where less than the analysis predicts is free,
  /// InvalidArgument where it is not possible at all. A pivot of 0 is no exception but zero_pivot().
  DirectFactors(Context& host, const AnyMatrix<T>& A, const DirectAnalysis&);
  ~DirectFactors();

  /// z = A^-1 r, to rounding. r and z may be the same. With a zero_pivot() z is 0, and NaN where A is not finite.
  void solve(std::span<const T> r, std::span<T> z) const;
  /// z = A^-H r.
  void solve_adjoint(std::span<const T> r, std::span<T> z) const;

  /// The column of A, with LDLT also the row, in which elimination found nothing but zeros: A is singular.
  std::optional<std::int32_t> zero_pivot() const { return zero_pivot_; }
  /// The least pivot's modulus over the greatest one's, of the scaled matrix, and its column in A.
  double pivot_ratio() const { return pivot_ratio_; }
  std::int32_t least_pivot() const { return least_pivot_; }
  /// With LDLT: whether all pivots have one sign, so that A is definite. Without it the factors may be unstable.
  bool is_definite() const { return is_definite_; }
  std::int64_t entries() const { return entries_; }
  /// Whose factors they are: "Eigen", "KLU" or "CHOLMOD".
  std::string_view library() const { return library_; }
  std::size_t bytes() const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
  std::optional<std::int32_t> zero_pivot_;
  double pivot_ratio_ = 0;
  std::int32_t least_pivot_ = 0;
  bool is_definite_ = false;
  std::int64_t entries_ = 0;
  std::string_view library_;
};

/// ||A||_1 ||A^-1||_1, of which the second is estimated from below (Hager 1984; Higham 1988), mostly to a factor of 3:
/// the condition number in the 1-norm. Takes up to ten solves. Infinite with a zero_pivot().
template <class T>
double condition_estimate(Context& host, const AnyMatrix<T>& A, const DirectFactors<T>&);

}  // namespace krill
