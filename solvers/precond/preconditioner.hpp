// Preconditioners: the interface, what one reports, and how one is made.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "krill/solvers/precond/options.hpp"
#include "krill/sparse/formats/any_matrix.hpp"

namespace krill {

template <class T>
class Operator;

/// What a preconditioner hands back: z = M r and the real r'z. The identity hands back r and r'r themselves, so it
/// costs nothing.
template <class T>
struct Preconditioned {
  const Array<T>& z;
  const Array<double>& rz;
};

/// A figure about a preconditioner for whoever reads a result: {"factor_nonzeros", 1000}, {"ordering", "natural"}.
struct Fact {
  std::string name;
  std::variant<std::int64_t, double, std::string> value;
};

struct PreconditionerReport {
  double symbolic_ms = 0;  ///< what has to be done once a pattern
  double numeric_ms = 0;   ///< what has to be done for new values, too
  std::size_t bytes = 0;   ///< kept on the backend's side
  std::vector<Fact> facts;
  std::vector<std::string> notes;  ///< sentences that a reader should know: boosted pivots, a shift
};

/// z = M r with M an approximation of the inverse of A.
template <class T>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// z: room for the result; the answer is z, or r itself where M is the identity. Asynchronous and capturable.
  virtual const Array<T>& apply(Context&, const Array<T>& r, Array<T>& z) const = 0;
  /// r: residual, rr: r'r; z, rz: room for the result. For Hermitian M. Another pass over r and z, unless the
  /// preconditioner has a better idea.
  virtual Preconditioned<T> apply_dot(Context&, const Array<T>& r, const Array<double>& rr, Array<T>& z,
                                      Array<double>& rz) const;
  virtual PreconditionerReport report() const { return {}; }
};

/// Builds the preconditioner that `options` names for A, which must outlive it: Chebyshev multiplies with A, through
/// `products` where that is given (it must outlive the preconditioner, too), else through an operator of its own. The
/// others do not refer to A afterwards. Raises InvalidArgument that names row and value where A does not allow it: a
/// diagonal entry, a block or a pivot that is missing, zero, not finite, or where A has to be positive definite, not
/// positive; an IC(0) shift that would have to be larger than those that its options allow.
template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context&, const PreconditionerOptions& options,
                                                       const AnyMatrix<T>& A, const Operator<T>* products = nullptr);
/// A temporary would not outlive it.
template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context&, const PreconditionerOptions&, const AnyMatrix<T>&& A,
                                                       const Operator<T>* = nullptr) = delete;

}  // namespace krill
