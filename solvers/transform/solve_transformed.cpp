#include "solvers/transform/solve_transformed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "solvers/batch.hpp"
#include "solvers/distributed_operator.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

template <class T>
double norm(std::span<const T> v) {
  double greatest = 0, sum = 0;
  for (const T& entry : v) greatest = std::max(greatest, static_cast<double>(std::abs(entry)));
  if (!(greatest > 0) || !std::isfinite(greatest)) return greatest;
  for (const T& entry : v) {
    const double part = static_cast<double>(std::abs(entry)) / greatest;
    sum += part * part;
  }
  return greatest * std::sqrt(sum);
}

namespace {

/// How often the tolerance of the transformed system is tightened, each time by what the original system still misses.
/// A solve whose residual does not halve ends earlier; this bounds the others. A rule, not varied.
constexpr int max_tightenings = 10;

/// The system that judges an x in T: the original one, or that which it was rounded from, in W.
template <class T, class W>
class Judge {
 public:
  Judge(Context& ctx, const AnyMatrix<W>& A, const Array<W>& b, const Array<T>& x, const StopOptions& stop)
      : ctx_(ctx),
        stop_(stop),
        A_(A),
        b_(b),
        r_(b.size(), "b - A x"),
        wide_(std::is_same_v<T, W> ? 0 : x.size(), "x as W") {
    rhs_norm = norm(b.host());
    initial_norm = residual_norm(x);
    if (stop.baseline == Baseline::backward_error) matrix_norm_ = A_.frobenius_norm(ctx);
    measure(x);
  }

  /// Baseline and target where x is the solution.
  void measure(const Array<T>& x) {
    baseline = stop_.baseline == Baseline::rhs ? rhs_norm
               : stop_.baseline == Baseline::initial_residual
                   ? initial_norm
                   : detail::backward_error_scale(matrix_norm_, norm(x.host()), rhs_norm);
    target = std::max(stop_.relative * baseline, stop_.absolute);
  }

  /// What rounding x to T changes of b - A x, about.
  double rounding_norm(const Array<T>& x) {
    Array<W> perturbed(x.size(), "D x");
    const auto from = x.host();
    double sum = 0;
    for (int pattern = 0; pattern < detail::rounding_patterns; ++pattern) {
      const auto to = perturbed.edit();
      for (std::size_t i = 0; i < from.size(); ++i)
        to[i] = W(from[i]) * static_cast<real_t<W>>(detail::random_factor(static_cast<std::int64_t>(i), pattern));
      A_.apply(ctx_, perturbed, r_);
      sum += norm(r_.host());
    }
    return sum / detail::rounding_patterns * detail::unit_roundoff<T>;
  }

  /// ||b - A x||, NaN where an entry is.
  double residual_norm(const Array<T>& x) {
    if constexpr (std::is_same_v<T, W>) {
      A_.apply(ctx_, x, r_);
    } else {
      std::ranges::copy(x.host(), wide_.edit().begin());
      A_.apply(ctx_, wide_, r_);
    }
    const auto r = r_.edit();
    const auto b = b_.host();
    bool finite = true;
    for (std::size_t i = 0; i < r.size(); ++i) {
      r[i] = b[i] - r[i];
      finite = finite && std::isfinite(std::abs(r[i]));
    }
    return finite ? norm(std::span<const W>(r)) : std::numeric_limits<double>::quiet_NaN();
  }
  double relative(double residual) const { return residual == 0 ? 0 : residual / baseline; }

  double rhs_norm = 0, initial_norm = 0, baseline = 0, target = 0;

 private:
  Context& ctx_;
  StopOptions stop_;
  double matrix_norm_ = 0;
  MatrixOperator<W> A_;
  const Array<W>& b_;
  Array<W> r_, wide_;
};

/// Whether a finite y became an x that overflows, or vanishes, in its type.
template <class T>
bool out_of_range(std::span<const T> y, std::span<const T> x) {
  const double before = norm(y), after = norm(x);
  return std::isfinite(before) && (!std::isfinite(after) || (after == 0 && before > 0));
}

StopOptions& stop_of(SolverOptions& options) {
  return std::visit([](auto& o) -> StopOptions& { return o.stop; }, options);
}

/// What one more solve adds to the report of those before it, whose baseline stays.
void append(SolveReport& whole, const SolveReport& part) {
  const double unit = whole.baseline > 0 ? part.baseline / whole.baseline : 1;
  whole.iterations += part.iterations;
  whole.restarts_from_truth += part.restarts_from_truth + 1;
  whole.reason = part.reason;
  whole.recurrence_relative = unit * part.recurrence_relative;
  for (std::size_t i = 1; i < part.history.size(); ++i) {
    whole.history.push_back(unit * part.history[i]);
    whole.history_seconds.push_back(whole.seconds + part.history_seconds[i]);
  }
  whole.seconds += part.seconds;
}

/// Solves the transformed system until `judge` is content. around: where the transformation works.
template <class T, class J>
SolveReport solve_judged(Context& ctx, Context& around, KeptSolver<T>& solver, const Transformation<T>& transformation,
                         J judge, const Array<T>& rhs, Array<T>& x, const Watch& watch) {
  const SolverOptions& options = solver.options();
  // An absolute tolerance is one of the original system, whose baseline is another one for each right-hand side.
  const bool is_relative = krill::stop(options).absolute == 0;
  Array<T> y = transformation.solution(around, x);
  SolverOptions current = options;
  StopOptions& stop = stop_of(current);
  if (judge.baseline > 0) stop.relative = judge.target / judge.baseline;
  stop.absolute = 0;
  const bool rhs_vanished = judge.rhs_norm > 0 && norm(rhs.host()) == 0;
  SolveReport whole;
  Array<T> found(x.size(), "solution");
  double residual = 0;
  bool moved = false;
  for (int tightened = 0;; ++tightened) {
    const SolveReport part =
        tightened == 0 && is_relative ? solver.solve(ctx, rhs, y, watch) : solver.solve(ctx, current, rhs, y, watch);
    const double reached = part.true_relative * part.baseline, last = residual,
                 time_left = stop.time_limit - part.seconds;
    if (tightened == 0)
      whole = part;
    else
      append(whole, part);
    moved = moved || !part.kept_initial_guess;
    transformation.bring_back(around, y, found);
    residual = judge.residual_norm(found);
    judge.measure(found);
    if (residual <= judge.target) {
      whole.reason = Reason::converged;
      break;
    }
    const bool was_stopped = part.reason == Reason::max_iterations || part.reason == Reason::time_limit ||
                             part.reason == Reason::interrupted;
    if (part.reason != Reason::converged && (tightened == 0 || was_stopped)) break;
    whole.reason = rhs_vanished || out_of_range(y.host(), found.host()) ? Reason::not_representable
                   : std::isfinite(residual)                            ? Reason::stagnated
                                                                        : Reason::not_finite;
    if (part.reason != Reason::converged || tightened == max_tightenings || !std::isfinite(residual) ||
        (tightened > 0 && 2 * residual > last))
      break;
    const int left = max_iterations(options) - whole.iterations;
    if (left <= 0 || (stop.time_limit > 0 && time_left <= 0)) {
      whole.reason = left <= 0 ? Reason::max_iterations : Reason::time_limit;
      break;
    }
    if (stop.time_limit > 0) stop.time_limit = time_left;
    std::visit([&](auto& o) { o.max_iterations = left; }, current);
    stop.relative = 0;
    stop.absolute = 0.5 * reached * (judge.target / residual);
  }
  whole.rounding_relative = 0;
  Truth truth;
  truth.keeps_guess = whole.reason != Reason::converged && !(moved && residual < judge.initial_norm);
  if (!truth.keeps_guess && whole.reason != Reason::converged) {
    const double change = judge.rounding_norm(found);
    Progress unit;  // the initial residual, so that no square overflows
    unit.initial2 = 1;
    truth.residual2 = std::pow(residual / judge.initial_norm, 2);
    truth.note_rounding(std::pow(change / judge.initial_norm, 2), unit);
    whole.rounding_relative = truth.keeps_guess ? 0 : judge.relative(change);
  }
  whole.reason = truth.by_rounding(whole.reason);
  whole.kept_initial_guess = truth.keeps_guess;
  if (truth.keeps_guess) {
    residual = judge.initial_norm;
    judge.measure(x);
  } else {
    copy_bits(around, found, x);
  }
  whole.baseline = judge.baseline, whole.rhs_norm = judge.rhs_norm;
  whole.initial_relative = judge.relative(judge.initial_norm);
  whole.true_relative = judge.relative(residual), whole.target_relative = judge.relative(judge.target);
  return whole;
}

/// Every system of a batch by the one that it was rounded from: what the report of the rounded batch becomes. guess: x
/// before the solve.
template <class T>
void judge_systems(Context& host, const StopOptions& stop, const GivenSystem<T>& given, const Array<T>& guess,
                   const Array<T>& x, SolveReport& report) {
  using W = wide_t<T>;
  const MatrixOperator<W> A(*given.A);
  const auto systems = std::ssize(report.systems);
  const auto norms = [&](const Array<W>& v) { return norms_of_systems(host, v, systems); };
  const auto widened = [](const Array<T>& v) { return Array<W>(std::vector<W>(v.host().begin(), v.host().end())); };
  Array<W> r(x.size(), "b - A x");
  const auto residuals = [&](const Array<W>& v) {
    A.apply(host, v, r);
    axpby(host, W(1), given.b, W(-1), r);
    return norms(r);
  };
  const Array<W> solution = widened(x);
  const std::vector<double> initial = residuals(widened(guess)), found = residuals(solution), rhs = norms(given.b);
  Array<W> perturbed(x.size(), "D x");
  const auto entries = perturbed.edit();
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i] = solution.host()[i] * static_cast<real_t<W>>(detail::random_factor(static_cast<std::int64_t>(i), 0));
  A.apply(host, perturbed, r);
  const std::vector<double> change = norms(r);
  for (std::size_t j = 0; j < report.systems.size(); ++j) {
    SystemResult& system = report.systems[j];
    if (stop.baseline != Baseline::backward_error)  // that one hardly changes
      system.baseline = stop.baseline == Baseline::rhs ? rhs[j] : initial[j];
    const auto relative = [&](double norm) { return norm == 0 ? 0 : norm / system.baseline; };
    const double target = std::max(stop.relative * system.baseline, stop.absolute);
    const double rounding = change[j] * detail::unit_roundoff<T>;
    system.rhs_norm = rhs[j];
    system.initial_relative = relative(initial[j]), system.true_relative = relative(found[j]);
    system.target_relative = relative(target);
    system.rounding_relative = found[j] <= target ? 0 : relative(rounding);
    if (found[j] <= target)
      system.reason = Reason::converged;
    else if (system.reason == Reason::converged)
      system.reason = Truth::is_of_rounding(found[j] * found[j], rounding * rounding) ? Reason::limit_of_accuracy
                      : std::isfinite(found[j])                                       ? Reason::stagnated
                                                                                      : Reason::not_finite;
  }
  take_worst(report);
}

}  // namespace

template <class T>
KeptSolver<T>::KeptSolver(const SolverOptions& options, const Operator<T>& A, const Preconditioner<T>& M)
    : options_(options), A_(A), M_(M) {}

template <class T>
SolveReport KeptSolver<T>::solve(Context& ctx, const Array<T>& b, Array<T>& x, const Watch& watch) {
  if (!solver_) solver_ = make_solver(options_, A_, M_);
  return run(ctx, *solver_, b, x, watch);
}

template <class T>
SolveReport KeptSolver<T>::solve(Context& ctx, const SolverOptions& options, const Array<T>& b, Array<T>& x,
                                 const Watch& watch) {
  forget();
  return run(ctx, *make_solver(options, A_, M_), b, x, watch);
}

template <class T>
SolveReport KeptSolver<T>::run(Context& ctx, Solver<T>& solver, const Array<T>& b, Array<T>& x, const Watch& watch) {
  SolveReport report =
      A_.share().team ? solve_own_rows(ctx, solver, A_.share(), b, x, watch) : solver.solve(ctx, b, x, watch);
  bytes_ = solver.bytes();
  return report;
}

template <class T>
SolveReport solve_transformed(Context& ctx, KeptSolver<T>& solver, const Transformation<T>& transformation,
                              const AnyMatrix<T>* original, const GivenSystem<T>* given, const Array<T>& b, Array<T>& x,
                              const Watch& watch) {
  const SolverOptions& options = solver.options();
  if (!transformation.scales() && !transformation.moves_rows() && !given) return solver.solve(ctx, b, x, watch);
  // Vectors of all rows of ranks that solve together stay on the host, and with them the matrix that judges.
  std::optional<Context> host;
  if (ctx.on_cuda() && (given || ctx.team)) host.emplace(Context::host(ctx.threads()));
  Context& around = host && ctx.team ? *host : ctx;
  if (given && systems_of(options) > 0) {
    const Array<T> guess = x.clone();
    SolveReport report = solver.solve(ctx, b, x, watch);
    judge_systems(host ? *host : ctx, stop(options), *given, guess, x, report);
    return report;
  }
  const Array<T> rhs = transformation.rhs(around, b);
  if (given) {
    return solve_judged(ctx, around, solver, transformation,
                        Judge<T, wide_t<T>>(host ? *host : ctx, *given->A, given->b, x, stop(options)), rhs, x, watch);
  }
  if (transformation.scales())
    return solve_judged(ctx, around, solver, transformation, Judge<T, T>(around, *original, b, x, stop(options)), rhs,
                        x, watch);
  Array<T> y = transformation.solution(around, x);  // norms do not know the order
  SolveReport report = solver.solve(ctx, rhs, y, watch);
  if (!report.kept_initial_guess) transformation.bring_back(around, y, x);
  return report;
}

template <class T>
struct SolveTransformedInstances {
  static constexpr std::tuple list{
      instance<double(std::span<const T>)>(norm),
      instance<SolveReport(Context&, KeptSolver<T>&, const Transformation<T>&, const AnyMatrix<T>*,
                           const GivenSystem<T>*, const Array<T>&, Array<T>&, const Watch&)>(solve_transformed)};
};
KRILL_INSTANTIATE(KeptSolver);
KRILL_INSTANTIATE(SolveTransformedInstances);

}  // namespace krill
