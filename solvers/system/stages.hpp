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
#include "solvers/operator.hpp"
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

/// What is known of a whole solve when it is over.
struct SolveFacts {
  std::vector<ChoiceReason> choices;  ///< why what was auto became what it is; empty where everything was named
  MatrixProperties matrix;
  Singularity singularity;  ///< what was known before the first iteration
  TransformationReport transformation;
  SpmvReport products;  ///< how A x was computed
  PreconditionerReport preconditioner;
  SolveReport result;
  std::vector<SolveReport> columns;   ///< of each right-hand side, where there are several; the result is the worst one
  double residual_norm = 0;           ///< ||b - A x||; of several systems, as in the result, of the worst one
  double solution_norm = 0;           ///< ||x||
  double backward_error = 0;          ///< ||b - A x|| / (||A||_F ||x|| + ||b||); of a batch NaN
  std::size_t memory_bytes = 0;       ///< matrix, vectors and workspace on the backend's side
  std::size_t memory_peak_bytes = 0;  ///< the most of arrays and workspace on the backend's side, setup included
  Timings timings;
  std::vector<Attempt> attempts;       ///< of a ladder, one after the other; empty where there was none
  std::vector<RankReport> ranks = {};  ///< of a team, in their order; empty without one
  std::vector<std::string> notes;      ///< sentences that a reader of the result should know
};

/// The matrix that is solved with, and how its system comes from the one that is given. Of a team, every rank has the
/// whole matrix, or its own rows.
template <class T>
struct PreparedSystem {
  std::shared_ptr<const AnyMatrix<T>> A;         ///< in the format of the products; own rows in CSR, all columns
  std::shared_ptr<const AnyMatrix<T>> original;  ///< where the system was scaled
  Transformation<T> transformation;
  std::shared_ptr<const GivenSystem<T>> given = {};       ///< which judges, where A and b were rounded
  std::shared_ptr<const Dense<double>> coordinates = {};  ///< of the given system's nodes; null: not known
  std::shared_ptr<const AnyMatrix<T>> source = {};  ///< as it was given, in CSR, for the steps of a ladder; else null
  std::optional<RowPartition> partition = {};       ///< of a team whose ranks have their own rows of A only
};

/// How many right-hand sides of so many rows a vector holds. Raises ShapeMismatch, which calls it `what`, where it is
/// not at least one, or not whole ones.
std::int64_t columns_of(std::string_view what, std::int64_t size, std::int64_t rows);

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

/// Measures the contraction of a preconditioner where the options ask for it, and adds it to the facts of that, from
/// where reports have it; a note says so where the solver takes no preconditioner.
template <class T>
void measure_contraction(Context&, const SolveOptions&, const Operator<T>& products, const Preconditioner<T>&,
                         SolveFacts&);

/// The right-hand side of that number is solved.
using ColumnWatch = std::function<void(std::size_t column, const SolveReport&)>;

/// Solves with the right-hand side b, or several of them, one after the other, and reports it in the facts' result and
/// columns. b and x are those of the given system. Each is solved by itself: one with a NaN, say, harms no other. Of
/// several only the one at work is on a device. Where `watch` ends one, the rest are not begun: they are interrupted,
/// their x is the guess, and what is not known of their residuals is NaN. A time limit is for each. Raises
/// ShapeMismatch where b or x is no multiple of the system.
template <class T>
void solve_columns(Context&, KeptSolver<T>&, const PreparedSystem<T>&, const Array<T>& b, Array<T>& x, SolveFacts&,
                   const Watch&, const ColumnWatch& solved);

/// A system that is set up: products, preconditioner, and a solver that stays from one right-hand side to the next.
template <class T>
class SystemSolver {
 public:
  /// Makes the products and the preconditioner, whose reports and times it adds to the facts. Options and system must
  /// outlive it; limits of the solver may still change before the first solve. Raises InvalidArgument where the matrix
  /// does not allow the preconditioner.
  SystemSolver(Context&, SolveOptions&, const PreparedSystem<T>&, SolveFacts&);
  SystemSolver(const SystemSolver&) = delete;
  SystemSolver& operator=(const SystemSolver&) = delete;

  /// solve_columns(), and fills in the other facts: residuals, bytes, and the times, to which it adds.
  void solve(Context&, const Array<T>& b, Array<T>& x, SolveFacts&, const Watch&, const ColumnWatch& solved = {});

  /// The matrix has new values in the same arrays: products follow, and unless it is kept the preconditioner
  /// (Preconditioner::update), which is made anew where it takes no new values. Adds to the facts as the constructor. A
  /// preconditioner that is kept while it multiplies with A (chebyshev, say) has the new products and old bounds.
  /// Raises InvalidArgument where the values do not allow the preconditioner; then this must not be used any more.
  void update(Context&, SolveFacts&, bool keeps_preconditioner);

 private:
  void report_setup(Context&, SolveFacts&) const;

  SolveOptions& options_;
  const PreparedSystem<T>& system_;
  MatrixOperator<T> products_;
  std::unique_ptr<Preconditioner<T>> preconditioner_;
  std::optional<KeptSolver<T>> solver_;
};

/// Makes a SystemSolver and solves; with a team in the context solve_in_team() does. `prepared` is called before the
/// first iteration; it may still change limits of the solver in the options. Raises as both do.
template <class T>
void solve_prepared(Context&, SolveOptions&, const PreparedSystem<T>&, const Array<T>& b, Array<T>& x, SolveFacts&,
                    const std::function<void()>& prepared, const Watch&, const ColumnWatch& solved = {});

}  // namespace krill
