// Solves with tridiagonal and pentadiagonal matrices by elimination.
#pragma once
#include "solvers/richardson.hpp"
#include "sparse/banded/banded_plan.hpp"

namespace krill {

/// x by elimination with pivoting (three diagonals: LU; five: QR), then x += A^-1 (b - A x) until the residual,
/// computed anew each time, meets the target: iterative refinement (Higham 2002, chapter 12). A is one that is stored
/// (in any format) and that has no entry more than two places from its diagonal. The first solve makes the bands, which
/// stay: for new values of A a solver has to be made anew. A pivot that is exactly 0 ends the solve as
/// Reason::zero_pivot, with its row. With options.systems A is a batch, whose systems are eliminated side by side,
/// refined and reported each by itself. Keeps the diagonals, and 3 vectors beside b and x.
template <class T>
class BandedSolver final : public Solver<T> {
 public:
  /// Raises InvalidArgument where no matrix is stored, or its rows are not so many systems of one size.
  explicit BandedSolver(const Operator<T>& A, const BandedOptions& = {});
  ~BandedSolver() override;
  /// Raises InvalidArgument, which names the entry, where A has one outside of five diagonals, or of its system.
  SolveReport solve(Context&, const Array<T>& b, Array<T>& x, const Watch& = {}) override;
  std::size_t bytes() const override;
  /// The memory that a solve takes. A: as it will be, on the host.
  static HeldMemory memory(MemoryLedger&, Context& host, const AnyMatrix<T>& A, const BandedOptions&);

 private:
  class Inverse;
  std::unique_ptr<Solver<T>> make_refinement(Context&) const;
  const Operator<T>& A_;
  BandedOptions options_;
  std::unique_ptr<Inverse> inverse_;
  std::unique_ptr<Solver<T>> refinement_;
};

/// As refinement, and an elimination, counted with five diagonals.
inline SolveWork work(const BandedOptions&, int iterations) {
  return {1.0 * iterations, (7.0 + 7.0) * iterations, 3.0 * iterations, 0};
}

}  // namespace krill
