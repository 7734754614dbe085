// The matrix and the preconditioner as a solver sees them.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "krill/solvers/options.hpp"
#include "krill/sparse/spmv/plan.hpp"

namespace krill {

/// A square linear operator.
template <class T>
class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::int64_t size() const = 0;
  /// y = A x, and the dots in the same pass where the format can. x and y are different arrays.
  virtual void apply(Context&, const Array<T>& x, Array<T>& y, const Dots<T>& = {}) const = 0;
};

/// The operator of a stored matrix, which must outlive it. Products go through an SpmvPlan that the first one makes, or
/// prepare() before; each context has one of its own, which stays as long as the operator. Raises ShapeMismatch where
/// the matrix is not square.
template <class T>
class MatrixOperator final : public Operator<T> {
 public:
  explicit MatrixOperator(const AnyMatrix<T>& A, SpmvMethod method = SpmvMethod::in_place);
  explicit MatrixOperator(const AnyMatrix<T>&&, SpmvMethod = SpmvMethod::in_place) = delete;  // it would not outlive it
  std::int64_t size() const override { return rows(A_); }
  void apply(Context&, const Array<T>& x, Array<T>& y, const Dots<T>& = {}) const override;
  /// The plan of that context.
  const SpmvPlan<T>& prepare(Context& ctx) const { return plan(ctx); }
  /// The matrix has new values: without this call, formats whose plan keeps a copy go on with the old ones. Solvers
  /// that have captured products of such a plan have to be made anew.
  void update(Context& ctx) { plan(ctx).update(ctx); }

 private:
  SpmvPlan<T>& plan(Context&) const;

  const AnyMatrix<T>& A_;
  SpmvMethod method_;
  mutable std::map<std::uint64_t, SpmvPlan<T>> plans_;  // captured graphs hold pointers into them: none goes
};

/// What a preconditioner hands back: z = M r and the real r'z. The identity hands back r and r'r themselves, so it
/// costs nothing.
template <class T>
struct Preconditioned {
  const Array<T>& z;
  const Array<double>& rz;
};

/// z = M r with M an approximation of the inverse of A.
template <class T>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// r: residual, rr: r'r; z, rz: room for the result. For Hermitian M.
  virtual Preconditioned<T> apply_dot(Context&, const Array<T>& r, const Array<double>& rr, Array<T>& z,
                                      Array<double>& rz) const = 0;
  /// z: room for the result; the answer is z, or r itself where M is the identity.
  virtual const Array<T>& apply(Context&, const Array<T>& r, Array<T>& z) const = 0;
  /// Sentences that a reader of the result should know: boosted pivots, a shift.
  virtual std::vector<std::string> notes() const { return {}; }
  /// What it keeps on the backend's side.
  virtual std::size_t bytes() const { return 0; }
};

/// Builds the preconditioner that `options` names for A, which it does not refer to afterwards. Raises InvalidArgument
/// that names row and value where A does not allow it (Jacobi: a zero, missing or non-finite diagonal entry; ILU(0),
/// IC(0): a pivot that is missing, zero or not finite, or a shift that would have to be larger than 1).
template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context&, const PreconditionerOptions& options,
                                                       const AnyMatrix<T>& A);

}  // namespace krill
