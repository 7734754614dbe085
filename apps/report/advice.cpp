#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/report/report.hpp"

namespace krill::apps {
namespace {

bool is(std::string_view a, std::string_view b) { return a == b; }

bool is_single(const SolveRecord& record) {
  return record.precision == Precision::float32 || record.precision == Precision::complex64;
}

/// Iterations until the target at the pace of the second half of the history; 0 where it does not fall.
double iterations_needed(const SolveReport& r) {
  if (r.history.size() < 4 || !(r.target_relative > 0)) return 0;
  const std::size_t last = r.history.size() - 1, middle = last / 2;
  const double rate = std::pow(r.history[last] / r.history[middle], 1.0 / static_cast<double>(last - middle));
  if (!(rate > 0) || !(rate < 1)) return 0;
  return static_cast<double>(last) + std::log(r.target_relative / r.history[last]) / std::log(rate);
}

/// Whether that is an incomplete factorization with exact pivots, or one in blocks.
bool is_factorization(std::string_view preconditioner) {
  constexpr std::string_view factorizations[] = {"ilu0", "ic0", "iluk", "ick", "ilut", "ict", "bilu0", "bic0"};
  return std::ranges::find(factorizations, preconditioner) != std::end(factorizations);
}

/// Whether the matrix refused what the rules of auto chose, so that they went on to something weaker.
bool went_on(const SolveRecord& record) {
  return std::ranges::any_of(record.choices, [&](const ChoiceReason& choice) {
    return choice.key == "preconditioner" && !choice.why.starts_with(preconditioner_name(record));
  });
}

/// The next preconditioner that the matrix allows: most of them divide by its diagonal.
std::string stronger_preconditioner(const SolveRecord& record) {
  const MatrixProperties& m = record.matrix;
  const bool matched = !is(matching_name(record), "none"), complete = m.structure && m.structure->rank == m.rows;
  if (m.missing_diagonal + m.zero_diagonal > 0 && !matched)
    return complete ? "try matching: {type: product} with preconditioner: {type: ilu0, shift: {type: nonzero}}"
                    : "compare other methods (krill evaluate)";
  const std::string_view now = preconditioner_name(record);
  if (!went_on(record) && (is(now, "ilu0") || is(now, "iluk"))) return "try preconditioner: {type: ilut}";
  if (!went_on(record) && (is(now, "ic0") || is(now, "ick"))) return "try preconditioner: {type: ict}";
  if (is_factorization(now) || went_on(record)) return "compare other methods (krill evaluate)";
  return fmt::format("try preconditioner: {{type: {}}}", needs_definite(record.settings.solver) ? "ic0" : "ilu0");
}

std::string other_solver(const SolveRecord& record) {
  return restart_of(record.settings.solver) ? "solver: {type: bicgstab}" : "solver: {type: gmres}";
}

/// Names in --set start at the current folder, as that of the results does.
std::string go_on(const SolveRecord& record) {
  if (step_options(record.settings.sequence)) return "";
  if (!record.settings.output.solution || (record.columns.empty() && record.result.kept_initial_guess)) return "";
  return fmt::format(" To go on from here: --set 'initial_guess={{type: file, path: {}/solution.mtx}}'.",
                     record.folder);
}

Advice too_slow(const SolveRecord& record) {
  const SolveReport& r = record.result;
  Advice a;
  a.why = fmt::format("after {} iterations the residual is {:.2e}, the target {:.2e}", r.iterations, r.true_relative,
                      r.target_relative);
  const double needed = iterations_needed(r);
  a.remedy =
      needed > 0 && needed < 1e7
          ? fmt::format("Raise solver.max_iterations (at the rate of the last iterations, to about {:.0f}) or {}.",
                        std::ceil(1.1 * needed), stronger_preconditioner(record))
          : fmt::format("The residual does not fall: {}, or {}.", stronger_preconditioner(record),
                        other_solver(record));
  a.remedy += go_on(record);
  return a;
}

Advice stuck(const SolveRecord& record) {
  const SolveReport& r = record.result;
  const bool single = is_single(record);
  Advice a;
  const bool scaled = scaling_name(record) != "none" || matching_name(record) != "none";
  if (scaled && r.recurrence_relative <= r.target_relative) {
    a.why = fmt::format(
        "the scaled system was solved to {:.2e}, but the residual of the original one stays at {:.2e}, its target is "
        "{:.2e}",
        r.recurrence_relative, r.true_relative, r.target_relative);
    a.remedy = "Use another scaling or matching, or none, or loosen solver.stop.relative.";
    return a;
  }
  if (r.recurrence_relative <= r.target_relative) {
    a.why = fmt::format("the recurrence reached {:.2e}, but the true residual stays at {:.2e}: rounding allows no more",
                        r.recurrence_relative, r.true_relative);
    a.remedy = single
                   ? "Use precision float64 or complex128, or a target (solver.stop.relative) that float32 can reach."
                   : "Loosen solver.stop.relative, or scale the system so that its rows are of one size.";
    return a;
  }
  a.why = fmt::format("for a long time the residual has not fallen by as much as 1 %; it is {:.2e}, the target {:.2e}",
                      r.true_relative, r.target_relative);
  const std::optional<int> restart = restart_of(record.settings.solver);
  constexpr int max_restart = 1000;
  if (restart && *restart < std::min(max_restart, record.matrix.rows))
    a.remedy = fmt::format("Raise solver.restart (it is {}), or {}.", *restart, stronger_preconditioner(record));
  else if (restart)
    a.remedy = stronger_preconditioner(record) + ".";
  else
    a.remedy = fmt::format("{}, or {}.", stronger_preconditioner(record), other_solver(record));
  return a;
}

/// The target is less than what rounding leaves of the residual.
Advice at_limit(const SolveRecord& record) {
  const SolveReport& r = record.result;
  const StopOptions& stop = krill::stop(record.settings.solver);
  const bool would_do = stop.baseline != Baseline::backward_error && record.backward_error <= stop.relative;
  return {
      fmt::format("the target {:.2e} is below what {} reaches: the residual is {:.2e}, rounding x alone changes it by "
                  "about {:.1e}; the backward error is {:.1e}",
                  r.target_relative, precision_names[static_cast<std::size_t>(record.precision)], r.true_relative,
                  r.rounding_relative, record.backward_error),
      fmt::format("{} solver.stop.relative{}.",
                  is_single(record) ? "Use precision float64 or complex128, or loosen" : "Loosen",
                  would_do ? ", or set solver.stop.baseline: backward_error" : "")};
}

/// Whether a solve that was cut short had come there: more iterations would change nothing.
bool is_at_limit(const SolveReport& r) {
  constexpr double far = 8;  // as where a solve is at the limit by itself
  return r.rounding_relative > 0 && r.true_relative <= far * r.rounding_relative &&
         far * r.target_relative < r.rounding_relative;
}

/// What to do about numbers that leave the range of the precision on the way.
std::string more_range(const SolveRecord& record) {
  if (is_single(record)) return "use precision float64 or complex128.";
  if (!is(preconditioner_name(record), "none")) return "use preconditioner: {type: none} with scaling: {type: ruiz}.";
  return is(scaling_name(record), "none") ? "use scaling: {type: ruiz}."
                                          : "look at the sizes of the entries (krill inspect).";
}

Advice by_reason(const SolveRecord& record) {
  const SolveReport& r = record.result;
  const std::string other = other_solver(record);
  switch (r.reason) {
    case Reason::max_iterations:
      return is_at_limit(r) ? at_limit(record) : too_slow(record);
    case Reason::stagnated:
      return stuck(record);
    case Reason::limit_of_accuracy:
      return at_limit(record);
    case Reason::diverged:
      return {fmt::format("the residual grew past {:.0e} times the baseline", stop(record.settings.solver).divergence),
              "Use " + other + "."};
    case Reason::breakdown_rho:
      return {"the residual became orthogonal to the shadow residual, so BiCGStab cannot go on", "Use " + other + "."};
    case Reason::breakdown_omega:
      return {"the stabilizing step of BiCGStab has no length (typical of nearly skew-symmetric matrices)",
              "Use " + other + "."};
    case Reason::breakdown_basis:
      return {"the Krylov space holds no better solution: the matrix is singular, or nearly so",
              "Check that A x = b has a solution; a singular system needs a b in the range of A."};
    case Reason::not_positive_definite:
      return {fmt::format("p'Ap <= 0 in iteration {}: the matrix is not positive definite", r.iterations),
              "PCG is for positive definite matrices only: use solver: {type: gmres} or {type: bicgstab}."};
    case Reason::indefinite_preconditioner:
      return {
          fmt::format("r'Mr <= 0 in iteration {}: the preconditioner is not positive definite", r.iterations),
          is_kept_in_float32(record.settings.preconditioner)
              ? "It is kept in single precision: leave preconditioner.precision out (amg: set it to float64), or use "
                "solver: {type: gmres}, which takes any preconditioner."
              : "Use preconditioner: {type: none}, or solver: {type: gmres}, which takes any preconditioner."};
    case Reason::zero_pivot:
      return {fmt::format("elimination met a pivot of 0 in {} {} of the system that is solved: the matrix is singular",
                          is(solver_name(record), DirectOptions::type) ? "column" : "row", r.pivot_row.value_or(0)),
              "Use solver: {type: gmres}, which finds a solution where there is one."};
    case Reason::not_finite:
      return {fmt::format("a NaN or an infinity came up in iteration {}", r.iterations),
              "The numbers overflow: " + more_range(record)};
    case Reason::not_representable:
      return {fmt::format("x, or a norm that decides, lies outside of what {} can hold",
                          precision_names[static_cast<std::size_t>(record.precision)]),
              "Scale A or b (x changes by the quotient of the two factors), or use a wider precision."};
    case Reason::time_limit:
      if (is_at_limit(r)) return at_limit(record);
      return {fmt::format("the time limit of {} s was over; the residual is {:.2e}, the target {:.2e}",
                          stop(record.settings.solver).time_limit, r.true_relative, r.target_relative),
              "Raise solver.stop.time_limit, or " + stronger_preconditioner(record) + "." + go_on(record)};
    case Reason::interrupted:
      return {fmt::format("a signal (Ctrl-C) ended the solve; the residual is {:.2e}, the target {:.2e}",
                          r.true_relative, r.target_relative),
              go_on(record)};
    case Reason::running:
    case Reason::converged:
      return {};
  }
  return {};
}

/// What the factors of a direct solve that failed, also as a step of a ladder, tell of the condition of A.
std::string condition_text(const SolveRecord& record) {
  double condition = 0;
  for (const Fact& fact : record.result.setup.facts)
    if (fact.name == condition_fact) condition = std::get<double>(fact.value);
  for (const Attempt& attempt : record.attempts) condition = std::max(condition, attempt.condition);
  if (condition == 0) return {};
  if (std::isinf(condition)) return "; a factorization meets a pivot of 0, so the matrix is singular";
  const double epsilon =
      is_single(record) ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  return fmt::format("; the condition number of the matrix is about {:.1e}{}", condition,
                     condition * epsilon < 1
                         ? ""
                         : fmt::format(": in {} the matrix cannot be told from a singular one",
                                       precision_names[static_cast<std::size_t>(record.precision)]));
}

/// What is said of the worst system of a batch.
Advice of_batch(const SolveRecord& record) {
  const SolveReport& r = record.result;
  const std::string system = fmt::format("system {}", r.worst_system);
  const std::string residual =
      fmt::format("the residual of {} is {:.2e}, its target {:.2e}", system, r.true_relative, r.target_relative);
  switch (r.reason) {
    case Reason::running:
    case Reason::converged:
      return {};
    case Reason::zero_pivot:
      return {fmt::format("elimination met a pivot of 0 in row {} of {}, which is singular; other systems have nothing "
                          "to do with it",
                          r.pivot_row.value_or(0), system),
              "Take that system out of the batch; by itself, solver: {type: gmres} finds a solution where there is "
              "one."};
    case Reason::not_finite:
      return {fmt::format("a NaN or an infinity came up in {}; other systems have nothing to do with it", system),
              "Look at its entries, and b; where these are finite, the numbers overflow: " + more_range(record)};
    case Reason::max_iterations:
      return {residual, "Raise solver.max_iterations." + go_on(record)};
    case Reason::time_limit:
      return {residual + "; the time limit was over", "Raise solver.stop.time_limit." + go_on(record)};
    case Reason::interrupted:
      return {residual + "; a signal (Ctrl-C) ended the solve", go_on(record)};
    default:
      return {residual + ", which is less than refinement reaches",
              is_single(record) ? "Use precision float64 or complex128, or loosen solver.stop.relative."
                                : "Loosen solver.stop.relative, or set solver.stop.baseline: backward_error."};
  }
}

/// What is said of the worst of several right-hand sides.
Advice of_columns(const SolveRecord& record) {
  const SolveReport& r = record.result;
  if (r.reason == Reason::converged) return {};
  const std::string column = fmt::format("column {}", r.worst_system);
  if (r.reason == Reason::interrupted)
    return {fmt::format("a signal (Ctrl-C) ended the solve; {} of {} right-hand sides had converged",
                        std::ranges::count(r.systems, Reason::converged, &SystemResult::reason), r.systems.size()),
            go_on(record)};
  if (r.reason == Reason::not_finite && !std::isfinite(r.rhs_norm))
    return {fmt::format("{} of b has an entry that is not finite; other columns have nothing to do with it", column),
            "Correct that column, or leave it out."};
  SolveRecord alone = record;
  alone.result = record.columns[r.worst_system];
  Advice a = by_reason(alone);
  a.why = column + ": " + a.why;
  return a;
}

/// What is said of the worst step of a sequence.
Advice of_steps(const SolveRecord& record) {
  const std::size_t worst = summed(record.steps).worst;
  const StepResult& step = record.steps[worst];
  if (step.good()) return {};
  return {fmt::format("step {} ({}): {}", worst + 1, step.name, step.why), step.remedy};
}

}  // namespace

Advice advice(const SolveRecord& record) {
  if (!record.steps.empty()) return of_steps(record);
  Advice a = !record.columns.empty()         ? of_columns(record)
             : record.result.systems.empty() ? by_reason(record)
                                             : of_batch(record);
  const bool failed = record.result.reason != Reason::converged;
  if (failed && record.singularity.no_solution)
    a = {record.singularity.what, "Take a b that A x can be (rhs: {type: manufactured} is one), or change the matrix."};
  else if (failed && !record.singularity.what.empty())
    a.why += "; " + record.singularity.what;
  if (failed) a.why += condition_text(record);
  if (failed && record.result.kept_initial_guess && std::isfinite(record.result.rhs_norm))
    a.why += "; the initial guess was better and is handed back";
  if (!failed && exit_code(record) != 0) {
    const Verification& v = record.verification;
    const bool finished = v.state == Verification::State::finished;
    a.why = "the solution is not verified: " + (finished ? v.judgement.reason : v.why_not);
    if (v.judgement.verdict == Verdict::fail)
      a.remedy = "Krill and Eigen disagree about this system: please report it with the case and the matrix.";
  }
  const bool may_climb = record.settings.on_failure == OnFailure::stop && record.result.systems.empty() &&
                         record.result.reason != Reason::interrupted && !record.singularity.no_solution;
  if (failed && may_climb && !a.remedy.empty()) a.remedy += " Or set on_failure: ladder, which tries other methods.";
  if (!a.remedy.empty()) {
    a.remedy.erase(0, a.remedy.find_first_not_of(' '));
    a.remedy[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(a.remedy[0])));
  }
  return a;
}

}  // namespace krill::apps
