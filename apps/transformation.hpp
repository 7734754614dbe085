// The system that is solved in the place of the one that a case describes: scaled, then reordered.
#pragma once
#include <optional>
#include <utility>

#include "krill/apps/report/record.hpp"
#include "krill/sparse/order/ordering.hpp"
#include "krill/sparse/scale/scaling.hpp"

namespace krill::apps {

/// (P D_r A D_c P^T) y = P D_r b with x = D_c P^T y; D_r, D_c and P are the identity where the case asks for none.
template <class T>
class Transformation {
 public:
  /// From the matrix in CSR. Fills in what reports tell and the times. Raises InvalidArgument where a scaling has
  /// nothing to divide by, or an ordering cannot be made.
  Transformation(Context&, const Case&, const AnyMatrix<T>& A, TransformationReport&, Timings&);

  bool scales() const { return scaling_.has_value(); }
  bool reorders() const { return ordering_.has_value(); }

  /// The matrix of the new system, in CSR, once; nothing where nothing changes.
  std::optional<AnyMatrix<T>> take_matrix() { return std::exchange(matrix_, std::nullopt); }
  Array<T> rhs(Context&, const Array<T>& b) const;
  Array<T> solution(Context&, const Array<T>& x) const;
  /// What solution() has made is undone.
  void bring_back(Context&, const Array<T>& y, Array<T>& x) const;

 private:
  std::optional<Scaling<T>> scaling_;
  std::optional<Ordering> ordering_;
  std::optional<AnyMatrix<T>> matrix_;
};

/// Solves the original system by way of the transformed one: `A` and `M` are of the latter, `original` is the matrix of
/// the former, which is needed (and multiplied with) only where the transformation scales. The report's norms, target
/// and reason are those of the original system: it has converged if and only if ||b - original x|| says so, computed
/// anew. Where the scaled system has reached its target and the original one has not, the solve goes on to a smaller
/// target, as long as each time at least halves the residual; then it has stagnated. The history and the recurrence's
/// residual are those of the scaled system. Iterations count together.
template <class T>
SolveReport solve_transformed(Context&, const SolverOptions&, const Operator<T>& A, const Preconditioner<T>& M,
                              const Transformation<T>&, const AnyMatrix<T>* original, const Array<T>& b, Array<T>& x,
                              std::size_t& solver_bytes, const Watch&);

/// ||v|| without overflow or underflow on the way.
template <class T>
double norm(std::span<const T> v);

}  // namespace krill::apps
