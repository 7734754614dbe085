// The approximate inverse as a solver sees it, and what one reports.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sparse/core/work.hpp"
#include "sparse/formats/any_matrix.hpp"

namespace krill {

template <class T>
class SpmvPlan;

/// What a preconditioner hands back: z = M r and the real r'z. The identity hands back r and r'r themselves, so it
/// costs nothing.
template <class T>
struct Preconditioned {
  const Array<T>& z;
  const Array<double>& rz;
};

/// A figure about a preconditioner, for reports: {"factor_nonzeros", 1000}, {"ordering", "natural"}.
struct Fact {
  std::string name;
  std::variant<std::int64_t, double, std::string> value;
};

/// A level of a multigrid method, the finest first.
struct LevelReport {
  std::int64_t rows = 0, entries = 0, longest_row = 0;
  std::string format;          ///< that products with it are made in; "dense inverse" of the last level
  std::size_t bytes = 0;       ///< kept for it, transfers to the next level included
  double max_eigenvalue = 0;   ///< of D^-1 A, as its smoother has it; 0 where that needs none
  std::int32_t block_dim = 1;  ///< rows of a node
  /// Aggregates of nodes, which the next level is made of, and nodes in one and in none. Of a level without a next one
  /// aggregates are 0.
  std::int64_t aggregates = 0, aggregated = 0, not_aggregated = 0;
  std::int32_t least_aggregate = 0, greatest_aggregate = 0;  ///< nodes
  /// Of the matrix that interpolates from the next level; where aggregates themselves do, one for each node in one.
  std::int64_t transfer_entries = 0;
  std::int64_t dead_columns = 0;  ///< of that matrix: zeros, for an aggregate with fewer independent rows than columns
  double setup_ms = 0;
  std::vector<std::pair<std::string_view, double>> steps;  ///< of the set-up, in ms
  double visits = 1;                                       ///< in a cycle
  /// That a cycle goes through: of products with the matrix, or of its dense inverse, and of transfers.
  double cycle_entries = 0;
};

struct PreconditionerReport {
  double symbolic_ms = 0;  ///< what has to be done once a pattern
  double numeric_ms = 0;   ///< what has to be done for new values, too
  std::size_t bytes = 0;   ///< kept on the backend's side
  std::vector<Fact> facts;
  std::vector<std::string> notes;   ///< sentences that a reader should know: boosted pivots, a shift
  std::vector<LevelReport> levels;  ///< of a multigrid method
};

/// What an application moves and computes, `own` beside products with A: the bytes of A's arrays count with each of
/// those, and so do their operations.
struct ApplicationWork {
  Work own;
  double products = 0;
};

/// What M is made of, for kernels that hold a whole solve and apply it themselves. What is pointed to is M's own and
/// follows its updates.
struct UnknownParts {};
struct IdentityParts {};
template <class T>
struct DiagonalParts {
  const Array<T>* entries;
};
template <class T>
struct BlockParts {
  std::int32_t dim;
  const Array<T>* inverses;  ///< as detail::BlockLayout has them
};
/// A product, or two.
template <class T>
struct ProductParts {
  const SpmvPlan<T>*first, *second;  ///< null: there is no second
  Array<T>* between;
};
/// The polynomial of StartChebyshev and StepChebyshev, in D^-1 A.
template <class T>
struct ChebyshevParts {
  int degree;
  const AnyMatrix<T>* A;
  const Array<real_t<T>>*coefficients, *inverse_diagonal;
  Array<T>*d, *w;  ///< rows() entries of scratch each
};
template <class T>
using PreconditionerParts =
    std::variant<UnknownParts, IdentityParts, DiagonalParts<T>, BlockParts<T>, ProductParts<T>, ChebyshevParts<T>>;

/// z = M r with M an approximation of the inverse of A.
template <class T>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// z: room for the result; the answer is z, or r itself where M is the identity. Asynchronous and capturable.
  virtual const Array<T>& apply(Context&, const Array<T>& r, Array<T>& z) const = 0;
  /// r: residual, rr: r'r; z, rz: room for the result. For Hermitian M. By default one more pass over r and z,
  /// which preconditioners that can take the dot with M r avoid.
  virtual Preconditioned<T> apply_dot(Context&, const Array<T>& r, const Array<double>& rr, Array<T>& z,
                                      Array<double>& rz) const;
  /// Whether there is an apply_wide().
  virtual bool takes_wide() const { return false; }
  /// As apply(), where r becomes `wide`, in double precision, in a pass that it takes anyway.
  virtual const Array<T>& apply_wide(Context&, const Array<wide_t<T>>& wide, Array<T>& r, Array<T>& z) const;
  virtual PreconditionerReport report() const { return {}; }
  /// Of apply().
  virtual ApplicationWork work() const = 0;
  /// Whether M is another matrix for another r, so that only flexible solvers take it (require_fixed).
  virtual bool varies() const { return false; }
  /// Solvers inside of each other in an application.
  virtual int nested_solvers() const { return 0; }
  virtual PreconditionerParts<T> parts() const { return {}; }

  /// A has new values in the pattern that M was made of: M becomes what it would be if it were made of this A, bit by
  /// bit, in its old memory, so that solvers that captured it remain valid. The pattern is not analyzed again: what
  /// depends on values is computed anew, choices between forms stay. A preconditioner that multiplies with A has to be
  /// given the same A as before, and an operator that it was given has to be updated first. Waits. Raises
  /// InvalidArgument where the values or the pattern do not allow it; M must not be used then until an update succeeds.
  virtual void update(Context&, const AnyMatrix<T>& A);
  /// Raises InvalidArgument, which names the row, where M is seen not to be positive definite, as pcg needs it,
  /// although A may be. Nothing by default. Waits.
  virtual void require_definite(Context&) const {}
  /// Whether there is an apply_adjoint().
  virtual bool has_adjoint() const { return false; }
  /// As apply(), with M^H. Raises InvalidArgument where there is none.
  virtual const Array<T>& apply_adjoint(Context&, const Array<T>& r, Array<T>& z) const;
};

/// For solvers whose preconditioner has to be the same matrix in every iteration. Raises InvalidArgument where it
/// varies.
template <class T>
void require_fixed(std::string_view solver, const Preconditioner<T>& M);

/// M = I: no preconditioner, for solvers that are made by hand. Costs nothing.
template <class T>
class Identity final : public Preconditioner<T> {
 public:
  const Array<T>& apply(Context&, const Array<T>& r, Array<T>&) const override {
    return r;  // NOLINT(bugprone-return-const-ref-from-parameter): the answer is r itself
  }
  Preconditioned<T> apply_dot(Context&, const Array<T>& r, const Array<double>& rr, Array<T>&,
                              Array<double>&) const override {
    return {r, rr};
  }
  ApplicationWork work() const override { return {}; }
  PreconditionerParts<T> parts() const override { return IdentityParts{}; }
  void update(Context&, const AnyMatrix<T>&) override {}
  bool has_adjoint() const override { return true; }
  const Array<T>& apply_adjoint(Context&, const Array<T>& r, Array<T>&) const override {
    return r;  // NOLINT(bugprone-return-const-ref-from-parameter)
  }
};

}  // namespace krill
