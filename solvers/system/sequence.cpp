#include "solvers/system/sequence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "solvers/system/ladder.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {
namespace {

/// A copy whose values may change.
template <class T>
std::shared_ptr<AnyMatrix<T>> copy_of(const AnyMatrix<T>& A) {
  return std::visit(
      []<class Matrix>(const Matrix& a) -> std::shared_ptr<AnyMatrix<T>> {
        if constexpr (is_csr<Matrix>) return std::make_shared<AnyMatrix<T>>(a.clone());
        throw InvalidArgument("sequence: its matrices have to be in CSR; use format: csr or auto");
      },
      A);
}

}  // namespace

template <class T>
SystemSequence<T>::SystemSequence(SolveOptions& options, const ReuseOptions& reuse)
    : options_(options), reuse_(reuse) {}
template <class T>
SystemSequence<T>::~SystemSequence() = default;

/// Brings the values of the next matrix into the arrays that are used, where they have places there.
template <class T>
typename SystemSequence<T>::Values SystemSequence<T>::take_over(Context& ctx, PreparedSystem<T>& next) {
  if (!solver_ || matrix_->index() != next.A->index()) return Values::of_another_pattern;
  const auto of_csr = [&]<class Csr>(Csr& mine) {
    if constexpr (!is_csr<Csr>) {
      return Values::of_another_pattern;
    } else {
      const Csr& other = std::get<Csr>(*next.A);
      if (!std::ranges::equal(mine.row_offsets().host(), other.row_offsets().host()) ||
          !std::ranges::equal(mine.col_indices().host(), other.col_indices().host()))
        return Values::of_another_pattern;
      const bool same = std::ranges::equal(mine.values().host(), other.values().host());
      if (!same) copy_bits(ctx, other.values(), mine.values());
      return same ? Values::same : Values::changed;
    }
  };
  const Values found = std::visit(of_csr, *matrix_);
  if (found == Values::of_another_pattern) return found;
  next.A = matrix_;
  *system_ = std::move(next);
  return found;
}

template <class T>
StepSetup SystemSequence<T>::decide(Values values) const {
  if (!solver_) return {true, why_none_};
  if (values == Values::of_another_pattern) return {true, "another pattern after the transformation"};
  if (!is_good_) return {true, "the step before did not converge"};
  if (values == Values::same) return {false, "the same matrix"};
  if (reuse_.reuse == Reuse::never) return {true, "reuse: never"};
  if (reuse_.reuse == Reuse::slower && last_iterations_ > reuse_.factor * fresh_iterations_)
    return {true, fmt::format("the step before took {} iterations, the one that it was made for {}", last_iterations_,
                              fresh_iterations_)};
  return {false, ""};
}

/// Takes the system as the one whose values will change.
template <class T>
void SystemSequence<T>::keep(PreparedSystem<T> next) {
  solver_.reset();
  system_.reset();
  matrix_ = copy_of(*next.A);
  next.A = matrix_;
  system_ = std::make_unique<PreparedSystem<T>>(std::move(next));
}

/// Without a ladder.
template <class T>
void SystemSequence<T>::solve_by_own_method(Context& ctx, Values values, StepSetup& step, const Array<T>& b,
                                            Array<T>& x, SolveFacts& facts, const std::function<void()>& prepared,
                                            const Watch& watch) {
  if (solver_)
    solver_->update(ctx, facts, !step.made_anew);
  else
    solver_ = std::make_unique<SystemSolver<T>>(ctx, options_, *system_, facts);
  prepared();
  const Array<T> guess = step.made_anew ? Array<T>(0) : x.clone();
  solver_->solve(ctx, b, x, facts, watch);
  const auto failed = [&] {
    return facts.result.reason != Reason::converged && facts.result.reason != Reason::interrupted &&
           facts.result.reason != Reason::time_limit;
  };
  if (step.made_anew || values == Values::same || !failed()) return;
  facts.notes.push_back(fmt::format("{} after {} iterations with the preconditioner of an earlier step; made anew",
                                    name(facts.result.reason), facts.result.iterations));
  const double lost = facts.timings.solve;
  step = {true, "the one of an earlier step did not lead to convergence"};
  solver_->update(ctx, facts, false);
  copy_bits(ctx, guess, x);
  solver_->solve(ctx, b, x, facts, watch);
  facts.timings.solve += lost;
}

template <class T>
StepSetup SystemSequence<T>::solve(Context& ctx, PreparedSystem<T> next, const Array<T>& b, Array<T>& x,
                                   SolveFacts& facts, const std::function<void()>& prepared, const Watch& watch) {
  if (ctx.on_cuda() && std::holds_alternative<DirectOptions>(options_.solver)) {
    Context host = Context::host(ctx.threads());
    return solve(host, std::move(next), b, x, facts, prepared, watch);
  }
  const Values values = take_over(ctx, next);
  StepSetup step = decide(values);
  why_none_ = "the step before was refused", is_good_ = false;  // whatever is raised from here on
  if (values == Values::of_another_pattern) keep(std::move(next));
  SolveOptions own = options_;
  const bool may_climb = options_.on_failure == OnFailure::ladder;
  const FirstSolve<T> first = [&](Array<T>& x_of_own, SolveFacts& facts_of_own) {
    try {
      solve_by_own_method(ctx, values, step, b, x_of_own, facts_of_own, prepared, watch);
    } catch (...) {
      solver_.reset();
      throw;
    }
    own.preconditioner = options_.preconditioner;  // auto may have gone on to a weaker one
    if (may_climb && facts_of_own.result.reason != Reason::converged) solver_.reset();  // makes room for other methods
  };
  try {
    climb_after(ctx, first, options_, *system_, b, x, facts, prepared, watch);
  } catch (...) {
    options_ = std::move(own);
    throw;
  }
  step.method = options_;
  is_good_ = facts.result.reason == Reason::converged;
  if (!solver_) {
    const bool in_double = is_good_ && facts.attempts.back().in_double;
    why_none_ = in_double  ? "the step before was solved in double precision"
                : is_good_ ? "another method solved the step before"
                           : "the step before did not converge";
    if (!is_good_ || in_double) options_ = std::move(own);
    const std::size_t attempts = facts.attempts.size();
    if (attempts > 1)
      step.made_anew = true, step.why = is_good_ ? fmt::format("attempt {} of the ladder", attempts)
                                                 : fmt::format("{} attempts of the ladder", attempts);
  }
  last_iterations_ = facts.result.iterations;
  if (step.made_anew) fresh_iterations_ = last_iterations_;
  return step;
}

KRILL_INSTANTIATE(SystemSequence);

}  // namespace krill
