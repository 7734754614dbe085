#include "solvers/system/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <type_traits>

#include "solvers/method/ladder.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill {
namespace {

/// Seconds that a factorization at the end of a ladder may be predicted to take where there is no time limit: nothing
/// interrupts it.
constexpr double max_seconds_of_factorization = 600;

StopOptions& stop_of(SolveOptions& options) {
  return std::visit([](auto& o) -> StopOptions& { return o.stop; }, options.solver);
}

template <class To, class From>
Array<To> converted(const Array<From>& from) {
  Array<To> to(from.size(), "values");
  std::ranges::transform(from.host(), to.edit().begin(), [](const From& value) { return static_cast<To>(value); });
  return to;
}

/// What one method came to.
template <class T>
struct Trial {
  SolveOptions options;
  SolveFacts facts;
  Array<T> x;
  bool ran = false;
};

template <class T>
class Climber {
 public:
  using W = wide_t<T>;

  Climber(Context& ctx, const PreparedSystem<T>& first, const Array<T>& b, const Array<T>& guess,
          const SolveFacts& begun, double time_limit, const std::function<void()>& prepared, const Watch& watch)
      : ctx_(ctx),
        first_(first),
        b_(b),
        guess_(guess.clone()),
        begun_(begun),
        choices_(begun.choices),
        time_limit_(time_limit),
        prepared_(prepared),
        watch_(watch) {}

  /// Tries a method in place of `options`, which the callers of prepared() look at. use(trial) solves.
  template <class Use>
  void attempt(SolveOptions& options, const LadderStep& step, const Use& use) {
    const Stopwatch clock;
    Trial<T> trial{step.method, begun_, guess_.clone()};
    StopOptions& stop = stop_of(trial.options);
    const bool direct = std::holds_alternative<DirectOptions>(trial.options.solver);
    if (time_limit_ > 0)
      stop.time_limit = std::max(1e-9, time_limit_ - seconds());
    else if (direct && !attempts_.empty())
      stop.time_limit = max_seconds_of_factorization;
    Attempt attempt;
    attempt.why = step.why, attempt.in_double = step.in_double;
    try {
      options = trial.options;
      use(options, trial);
      stop_of(options).time_limit = time_limit_;
      trial.options = options;
      trial.ran = true;
      const SolveReport& r = trial.facts.result;
      attempt.reason = r.reason, attempt.iterations = r.iterations, attempt.true_relative = r.true_relative;
      for (const Fact& fact : r.setup.facts)
        if (fact.name == condition_fact) attempt.condition = std::get<double>(fact.value);
      if (direct && r.reason == Reason::zero_pivot) attempt.condition = std::numeric_limits<double>::infinity();
    } catch (const InvalidArgument& refusal) {
      attempt.refusal = refusal.what();
      if (!refused_) refused_ = std::current_exception();
    } catch (const OutOfMemory& refusal) {
      attempt.refusal = refusal.what();
      if (!refused_) refused_ = std::current_exception();
    }
    attempt.method = options;
    attempt.milliseconds = clock.milliseconds();
    attempts_.push_back(std::move(attempt));
    begun_.choices.clear();
    if (trial.ran && (!best_.ran || is_better(trial.facts.result, best_.facts.result))) best_ = std::move(trial);
  }
  void attempt_in_one_precision(SolveOptions& options, const LadderStep& step) {
    attempt(options, step, [&](SolveOptions& method, Trial<T>& trial) {
      PreparedSystem<T> system = prepare(ctx_, method, first_.source, trial.facts);
      system.given = first_.given, system.coordinates = first_.coordinates;
      solve_prepared(ctx_, method, system, b_, trial.x, trial.facts, prepared_, watch_);
    });
  }
  /// The system in double precision, whose solution is rounded and judged anew.
  void attempt_in_double(SolveOptions& options, const LadderStep& step) {
    if constexpr (!std::is_same_v<T, W>)
      attempt(options, step, [&](SolveOptions& method, Trial<T>& trial) {
        const auto A = first_.given ? first_.given->A : widened(*first_.source);
        const Array<W> b = first_.given ? first_.given->b.clone() : converted<W>(b_);
        Array<W> x = converted<W>(guess_);
        const PreparedSystem<W> system = prepare(ctx_, method, A, trial.facts);
        solve_prepared(ctx_, method, system, b, x, trial.facts, prepared_, watch_);
        trial.x = converted<T>(x);
        judge(*A, b, trial);
      });
  }

  bool has_converged() const { return best_.ran && best_.facts.result.reason == Reason::converged; }
  double seconds() const { return 1e-3 * clock_.milliseconds(); }
  const std::vector<Attempt>& attempts() const { return attempts_; }

  /// Hands the best one over. Raises what the first method raised where no other one could begin either.
  void finish(SolveOptions& options, Array<T>& x, SolveFacts& facts) {
    if (!best_.ran) std::rethrow_exception(refused_);
    if (attempts_.back().reason == Reason::interrupted) best_.facts.result.reason = Reason::interrupted;
    options = std::move(best_.options), facts = std::move(best_.facts);
    copy_bits(ctx_, best_.x, x);
    facts.choices = choices_, facts.attempts = std::move(attempts_);
  }

 private:
  static bool is_better(const SolveReport& a, const SolveReport& b) {
    if (a.reason == Reason::converged || b.reason == Reason::converged) return b.reason != Reason::converged;
    return a.true_relative < b.true_relative || !std::isfinite(b.true_relative);
  }

  static std::shared_ptr<const AnyMatrix<W>> widened(const AnyMatrix<T>& A) {
    const auto wide = [](const auto& csr) -> AnyMatrix<W> {
      using Offset = std::remove_cvref_t<decltype(csr.row_offsets().host()[0])>;
      return Csr<W, Offset>(csr.cols(), csr.row_offsets().clone(), csr.col_indices().clone(),
                            converted<W>(csr.values()));
    };
    Context host = Context::host(1);
    return std::make_shared<const AnyMatrix<W>>(with_csr(host, A, wide));
  }

  /// The residual of the rounded x.
  void judge(const AnyMatrix<W>& A, const Array<W>& b, Trial<T>& trial) {
    Context host = Context::host(ctx_.threads());
    Array<W> r(b.size(), "b - A x");
    MatrixOperator<W>(A, SpmvMethod::in_place).apply(host, converted<W>(trial.x), r);
    const auto entries = r.edit();
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = b.host()[i] - entries[i];
    SolveFacts& facts = trial.facts;
    SolveReport& report = facts.result;
    const double residual = norm(std::span<const W>(r.host()));
    report.true_relative = residual == 0 ? 0 : residual / report.baseline;
    if (report.reason == Reason::converged && !(report.true_relative <= report.target_relative))
      report.reason = std::isfinite(residual) ? Reason::limit_of_accuracy : Reason::not_representable;
    facts.residual_norm = residual;
    facts.solution_norm = norm(trial.x.host());
    const double scale =
        detail::backward_error_scale(facts.matrix.frobenius_norm, facts.solution_norm, report.rhs_norm);
    facts.backward_error = scale > 0 ? residual / scale : 0;
  }

  Context& ctx_;
  const PreparedSystem<T>& first_;
  const Array<T>& b_;
  Array<T> guess_;
  SolveFacts begun_;
  std::vector<ChoiceReason> choices_;  // of the first method; what a step names is not chosen
  double time_limit_;
  const std::function<void()>& prepared_;
  const Watch& watch_;
  Stopwatch clock_;
  std::vector<Attempt> attempts_;
  Trial<T> best_{{}, {}, Array<T>(0, "x")};
  std::exception_ptr refused_;
};

/// Whether a step may do better than what has been tried.
bool is_worth_it(const LadderStep& step, const std::vector<Attempt>& attempts) {
  bool definite = true, at_limit = false;
  for (const Attempt& a : attempts) {
    definite = definite && a.reason != Reason::not_positive_definite && a.reason != Reason::indefinite_preconditioner;
    at_limit = at_limit || a.reason == Reason::limit_of_accuracy || a.reason == Reason::not_representable;
  }
  const bool direct = std::holds_alternative<DirectOptions>(step.method.solver);
  return (definite || !step.for_definite) && (!at_limit || direct || step.in_double);
}

}  // namespace

template <class T>
void climb(Context& ctx, SolveOptions& options, const PreparedSystem<T>& system, const Array<T>& b, Array<T>& x,
           SolveFacts& facts, const std::function<void()>& prepared, const Watch& watch, const ColumnWatch& solved) {
  const FirstSolve<T> first = [&](Array<T>& x_of_first, SolveFacts& facts_of_first) {
    solve_prepared(ctx, options, system, b, x_of_first, facts_of_first, prepared, watch, solved);
  };
  climb_after(ctx, first, options, system, b, x, facts, prepared, watch);
}

template <class T>
void climb_after(Context& ctx, const FirstSolve<T>& first_solve, SolveOptions& options, const PreparedSystem<T>& system,
                 const Array<T>& b, Array<T>& x, SolveFacts& facts, const std::function<void()>& prepared,
                 const Watch& watch) {
  if (options.on_failure != OnFailure::ladder || !system.source || b.size() != rows(*system.A)) {
    first_solve(x, facts);
    const Reason worst = facts.result.reason;
    if (options.on_failure == OnFailure::ladder && worst != Reason::converged && worst != Reason::interrupted)
      facts.notes.emplace_back(ctx.team ? "on_failure: ladder does not run on several ranks: one process would try "
                                          "other methods"
                                        : "on_failure: ladder is for one right-hand side: the columns that failed "
                                          "climb it where each is solved by itself");
    return;
  }
  const double time_limit = stop(options.solver).time_limit;
  Climber<T> climber(ctx, system, b, x, facts, time_limit, prepared, watch);
  const SolveOptions first = options;
  climber.attempt(options, {"the first method", first},
                  [&](SolveOptions&, Trial<T>& trial) { first_solve(trial.x, trial.facts); });
  constexpr bool single = !std::is_same_v<T, wide_t<T>>;
  for (const LadderStep& step : ladder(first, facts.matrix, single)) {
    const Reason last = climber.attempts().back().reason;
    const bool is_over = climber.has_converged() || last == Reason::interrupted || facts.singularity.no_solution ||
                         (time_limit > 0 && climber.seconds() >= time_limit);
    if (is_over) break;
    if (!is_worth_it(step, climber.attempts())) continue;
    step.in_double ? climber.attempt_in_double(options, step) : climber.attempt_in_one_precision(options, step);
  }
  climber.finish(options, x, facts);
}

template <class T>
struct LadderInstances {
  static constexpr std::tuple list{
      instance<void(Context&, SolveOptions&, const PreparedSystem<T>&, const Array<T>&, Array<T>&, SolveFacts&,
                    const std::function<void()>&, const Watch&, const ColumnWatch&)>(climb<T>),
      instance<void(Context&, const FirstSolve<T>&, SolveOptions&, const PreparedSystem<T>&, const Array<T>&, Array<T>&,
                    SolveFacts&, const std::function<void()>&, const Watch&)>(climb_after<T>)};
};
KRILL_INSTANTIATE(LadderInstances);

}  // namespace krill
