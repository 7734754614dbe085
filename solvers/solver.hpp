// The one interface of all solvers, and what a solve reports.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "solvers/operator.hpp"
#include "solvers/options.hpp"
#include "solvers/preconditioner.hpp"
#include "solvers/progress.hpp"

namespace krill {

/// How the solve of one system ended. `reason` is Reason::converged only when ||b - A x|| was recomputed and meets the
/// tolerance.
struct SystemResult {
  Reason reason = Reason::running;
  int iterations = 0;
  double seconds = 0;               ///< from the call to the answer; 0 for a system that is solved together with others
  double baseline = 0;              ///< the norm that relative figures are relative to, of stop.baseline
  double rhs_norm = 0;              ///< ||b||
  double initial_relative = 0;      ///< ||b - A x0|| / baseline
  double true_relative = 0;         ///< ||b - A x|| / baseline, computed anew from the x that is handed back
  double target_relative = 0;       ///< what had to be reached, absolute tolerance included
  double rounding_relative = 0;     ///< what rounding x to its type changes of the residual, about, over the baseline;
                                    ///< asked for where the target was missed, else 0
  bool kept_initial_guess = false;  ///< the solve failed and the initial guess was the better x, so x is that
  std::optional<std::int64_t> pivot_row = {};  ///< of the system that was solved, where a pivot is 0; rows count from 0
};

/// How a solve ended. Of a batch of systems, or of several right-hand sides, what is said of one of them is said of the
/// worst: one that has not converged where there is any, and of these the one with the greatest residual beside its
/// baseline. Iterations and seconds are those of all together.
struct SolveReport : SystemResult {
  double recurrence_relative = 0;  ///< ||r|| / baseline as the iteration carried it
  int restarts_from_truth = 0;  ///< how often the solve went on from the true residual after the recurrence had drifted
  std::vector<double> history;  ///< ||r|| / baseline after 0, 1, ... iterations; of a batch, the greatest one
  std::vector<double> history_seconds;     ///< from the first residual to each of them, by the backend's clock
  std::vector<SystemResult> systems = {};  ///< of a batch, or of several right-hand sides, one after the other; empty
                                           ///< where there is one system
  std::size_t worst_system = 0;            ///< of these
  PreconditionerReport setup = {};         ///< of a solver that factorizes; empty where it does not
};

/// Of a direct solve that failed: the fact that tells ||A||_1 ||A^-1||_1, estimated with the factors.
inline constexpr const char* condition_fact = "condition_estimate";
/// Of a direct solve: the fact that tells which one of direct_method_names.
inline constexpr const char* factorization_fact = "factorization";

/// The report of systems that are reported: the worst of them, and its reason.
void take_worst(SolveReport&);

/// A solver is a plan: it owns its vectors and, on CUDA, its instantiated graph, so that ten right-hand sides cost ten
/// solves and one set-up. Operator and preconditioner must outlive it.
template <class T>
class Solver {
 public:
  virtual ~Solver() = default;
  /// x: initial guess in, solution out. Where the solve does not converge, x is the better of the iterate and the
  /// guess. Raises ShapeMismatch. Never hangs and never reports `converged` wrongly, whatever the numbers are.
  virtual SolveReport solve(Context&, const Array<T>& b, Array<T>& x, const Watch& = {}) = 0;
  /// Bytes of the vectors that the solver keeps.
  virtual std::size_t bytes() const = 0;
};

/// The solver that `options` names.
template <class T>
std::unique_ptr<Solver<T>> make_solver(const SolverOptions& options, const Operator<T>& A, const Preconditioner<T>& M);

/// The memory that a solve takes. A: as it will be, on the host. preconditioned: the preconditioner is not the
/// identity.
template <class T>
HeldMemory solver_memory(MemoryLedger&, Context& host, const SolverOptions& options, const AnyMatrix<T>& A,
                         bool preconditioned);

}  // namespace krill
