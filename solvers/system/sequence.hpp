// Systems whose matrices share a pattern, one after the other: the steps of a simulation, say.
#pragma once
#include <memory>
#include <string>

#include "solvers/method/reuse.hpp"
#include "solvers/system/stages.hpp"

namespace krill {

/// What a step did with the preconditioner, and why, and by which method it was solved.
struct StepSetup {
  bool made_anew = true;
  std::string why;
  SolveOptions method = {};  ///< that the facts are of
};

/// Keeps what one step can leave to the next: products, whose values follow, the preconditioner, and the memory of
/// both. Matrices have one pattern, after the transformation, too; where a matching or a scaling changes it, and where
/// a preconditioner takes no new values, all is made anew.
template <class T>
class SystemSequence {
 public:
  /// The options must outlive it; what is chosen among them for the first step holds for all, but for a step of a
  /// ladder (on_failure) that solves a system: its method takes their place.
  SystemSequence(SolveOptions&, const ReuseOptions&);
  ~SystemSequence();

  /// Solves the next system, which is in CSR. b and x as SystemSolver::solve has them; x is the guess. `prepared` is
  /// called before the first iteration. A preconditioner of an earlier step that does not lead to convergence is made
  /// anew, and the step solved once more from the same guess; a note says so. Where values did not change at all, it
  /// stays. A system that fails climbs the ladder from there, as climb() does. What solves it is the method of the
  /// systems that follow, so that not each of them begins with one that fails; only a method that needed double
  /// precision is for that system alone. Where nothing solves it, the options stay. Solver direct works on the host,
  /// whatever the context. Raises InvalidArgument where the matrix is not in CSR, or does not allow the preconditioner;
  /// the next step begins anew then.
  StepSetup solve(Context&, PreparedSystem<T> next, const Array<T>& b, Array<T>& x, SolveFacts&,
                  const std::function<void()>& prepared, const Watch&);

 private:
  enum class Values { changed, same, of_another_pattern };
  Values take_over(Context&, PreparedSystem<T>& next);
  StepSetup decide(Values) const;
  void keep(PreparedSystem<T> next);
  void solve_by_own_method(Context&, Values, StepSetup&, const Array<T>& b, Array<T>& x, SolveFacts&,
                           const std::function<void()>& prepared, const Watch&);

  SolveOptions& options_;
  ReuseOptions reuse_;
  std::shared_ptr<AnyMatrix<T>> matrix_;  ///< which the solver multiplies with, and whose values change
  std::unique_ptr<PreparedSystem<T>> system_;
  std::unique_ptr<SystemSolver<T>> solver_;
  std::string why_none_ = "the first step";  ///< there is no solver
  bool is_good_ = false;                     ///< the preconditioner led to convergence
  int fresh_iterations_ = 0, last_iterations_ = 0;
};

}  // namespace krill
