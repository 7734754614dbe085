// The stages of a whole solve, for callers who do something between them. solve() of solve.hpp goes through all:
//   choose_for and require_suitable (solvers/method), prepare, solve_prepared.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "solvers/method/choose.hpp"
#include "solvers/method/refusal.hpp"
#include "solvers/precond/preconditioner.hpp"
#include "solvers/solver.hpp"
#include "solvers/transform/solve_transformed.hpp"
#include "sparse/io/analyze.hpp"
#include "sparse/parallel/distributed.hpp"

namespace krill {

/// Milliseconds of wall-clock time, the device's work included.
struct Timings {
  double read = 0;      ///< reading or generating matrix and vectors; 0 where the caller brought them
  double assemble = 0;  ///< what was read, or the caller's matrix, to CSR in the precision of the solve
  double analyze = 0;   ///< looking at the entries
  double choose = 0;    ///< checking what was asked for, choosing what was left open
  double match = 0;
  double scale = 0;
  double order = 0;
  double convert = 0;   ///< to the format that was asked for
  double products = 0;  ///< the plan of the products, the choice of its format by `auto` and the upload included
  double preconditioner_setup = 0;
  double solve = 0;
  double total = 0;  ///< from the call to the report; of the program, verification and files included
};

/// A method that was tried.
struct Attempt {
  SolveOptions method;
  std::string why;                  ///< it was tried: a clause
  bool in_double = false;           ///< where the solve is in single precision
  std::string refusal;              ///< why it could not begin; empty where it ran
  Reason reason = Reason::running;  ///< how it ended, where it ran
  int iterations = 0;
  double true_relative = 0;
  double condition = 0;     ///< by a direct solve that failed, estimated; 0: not known
  double milliseconds = 0;  ///< with its set-up
};

/// What a rank of a team had to do.
struct RankReport : SharedPart {
  double setup_ms = 0;  ///< of products and preconditioner
  double solve_ms = 0;
};

/// The greatest cost of a rank's part over the mean one, by the measure of RowPartition::by_cost.
double imbalance(std::span<const RankReport>);

/// What is known of a whole solve when it is over.
struct SolveFacts {
  std::vector<ChoiceReason> choices;  ///< why what was auto became what it is; empty where everything was named
  MatrixProperties matrix;
  Singularity singularity;  ///< what was known before the first iteration
  TransformationReport transformation;
  SpmvReport products;  ///< how A x was computed
  PreconditionerReport preconditioner;
  SolveReport result;
  double residual_norm = 0;           ///< ||b - A x||; of a batch, as in the result, of the worst system
  double solution_norm = 0;           ///< ||x||
  double backward_error = 0;          ///< ||b - A x|| / (||A||_F ||x|| + ||b||); of a batch NaN
  std::size_t memory_bytes = 0;       ///< matrix, vectors and workspace on the backend's side
  std::size_t memory_peak_bytes = 0;  ///< the most of arrays and workspace on the backend's side, setup included
  Timings timings;
  std::vector<Attempt> attempts;       ///< of a ladder, one after the other; empty where there was none
  std::vector<RankReport> ranks = {};  ///< of a team, in their order; empty without one
  std::vector<std::string> notes;      ///< sentences that a reader of the result should know
};

/// The matrix that is solved with, and how its system comes from the one that is given.
template <class T>
struct PreparedSystem {
  std::shared_ptr<const AnyMatrix<T>> A;         ///< in the format of the products
  std::shared_ptr<const AnyMatrix<T>> original;  ///< where the system was scaled
  Transformation<T> transformation;
  std::shared_ptr<const GivenSystem<T>> given = {};       ///< which judges, where A and b were rounded
  std::shared_ptr<const Dense<double>> coordinates = {};  ///< of the given system's nodes; null: not known
  std::shared_ptr<const AnyMatrix<T>> source = {};  ///< as it was given, in CSR, for the steps of a ladder; else null
};

/// Matches, scales and reorders A, which is in CSR, and brings it into the format of the products. Of the options only
/// the format may be auto. Releases its share in A as soon as A is not needed any more, which steps of a ladder do
/// need. Raises InvalidArgument as Transformation and the conversions do.
template <class T>
PreparedSystem<T> prepare(Context&, const SolveOptions&, std::shared_ptr<const AnyMatrix<T>> A, SolveFacts&);

/// Makes the preconditioner of the options. If the rules of `auto` chose it and the matrix does not allow it, or ilu0
/// or isai turns out to be unstable (which costs a product and an application), a weaker one takes its place, in the
/// options, too, and a note says so. Raises InvalidArgument with the row of the system that is solved.
template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context&, SolveOptions&, SolveFacts&, const PreparedSystem<T>&,
                                                       const Operator<T>& products);

/// Makes the products and the preconditioner, solves, and fills in the facts: result and residuals, bytes, and the
/// times, to which it adds. b and x are those of the given system. `prepared` is called before the first iteration; it
/// may still change limits of the solver in the options. Raises InvalidArgument where the matrix does not allow the
/// preconditioner. With a team in the context as solve_in_team() does it.
template <class T>
void solve_prepared(Context&, SolveOptions&, const PreparedSystem<T>&, const Array<T>& b, Array<T>& x, SolveFacts&,
                    const std::function<void()>& prepared, const Watch&);

}  // namespace krill
