// Solves by a complete factorization.
#pragma once
#include <optional>

#include "solvers/richardson.hpp"
#include "sparse/direct/factors.hpp"

namespace krill {

/// x by L D L^H or L U (sparse/direct), then x += A^-1 (b - A x) until the residual, computed anew each time, meets the
/// target: iterative refinement (Higham 2002, chapter 12). A is one that is stored, in any format. All of it runs on
/// the host: with a context on CUDA x and b, and A the first time, are copied there, and the device takes no part. The
/// first solve factorizes; for new values of A a solver has to be made anew. A pivot that is exactly 0 ends the solve
/// as Reason::zero_pivot, with its column; where a solve fails otherwise, SolveReport::setup tells the condition
/// number. The time limit and the watcher are asked before and after the orderings and the factorization, which nothing
/// interrupts, and between refinements; a factorization that is predicted to take longer than the limit is not begun.
/// Keeps the factors, and 3 vectors beside b and x while it refines.
template <class T>
class DirectSolver final : public Solver<T> {
 public:
  /// Raises InvalidArgument where no matrix is stored.
  explicit DirectSolver(const Operator<T>& A, const DirectOptions& = {});
  ~DirectSolver() override;
  /// Raises InvalidArgument where method ldlt does not suit A, or the factors have more entries than can be counted;
  /// OutOfMemory where they do not fit.
  SolveReport solve(Context&, const Array<T>& b, Array<T>& x, const Watch& = {}) override;
  std::size_t bytes() const override;
  /// The memory that a solve takes, on the host. A: as it will be, on the host.
  static HeldMemory memory(MemoryLedger&, Context& host, const AnyMatrix<T>& A, const DirectOptions&);

 private:
  class Inverse;
  /// Reason::running, or why the solve ends before it refines.
  /// ask(seconds that are needed) tells.
  Reason prepare(Context& host, const std::function<Reason(double needed)>& ask);
  SolveReport refine(Context& host, const Array<T>& b, Array<T>& x, int max_iterations, double time_limit,
                     const Watch&);

  const Operator<T>& A_;
  DirectOptions options_;
  std::optional<Context> host_;  // where the caller's is on CUDA
  std::unique_ptr<Inverse> inverse_;
  PreconditionerReport setup_;
};

/// As refinement, without what the factors take: nobody knows how many entries they have.
inline SolveWork work(const DirectOptions&, int iterations) { return work(RichardsonOptions{}, iterations); }

}  // namespace krill
