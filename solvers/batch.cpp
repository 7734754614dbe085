#include "solvers/batch.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/batch_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/core/trace.hpp"

namespace krill {

using namespace detail;
namespace {

/// How a system is divided for its norm. Reasoned, not varied.
struct Tuning {
  static constexpr std::int64_t part_rows = 32, max_parts = 1024;
};
std::int64_t parts_of(std::int64_t rows) {
  return std::min(Tuning::max_parts, (rows + Tuning::part_rows - 1) / Tuning::part_rows);
}

double over(double norm, double baseline) { return norm == 0 ? 0 : norm / baseline; }

}  // namespace

template <class T>
std::vector<double> norms_of_systems(Context& ctx, const Array<T>& v, std::int64_t systems) {
  const std::int64_t rows = v.size() / systems, count = parts_of(rows);
  Array<ScaledSquares> parts(systems * count, "squares of parts");
  Array<double> norms(systems, "norms of systems");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, systems * count, MeasureParts<kernel_t<T>>{v.read(where), parts.write(where), rows, count});
    run_pass(where, systems, MergeParts{parts.read(where), norms.write(where), count});
  });
  return {norms.host().begin(), norms.host().end()};
}

template <class T>
struct BatchRefinement<T>::State : SystemResult {
  double unscale = 1;  // what brings its norms back
  double norm = 0;     // of the residual
  double target = 0;
  double solution = 0;  // norm, where the baseline is the backward error's
  double initial = 0;   // norm of the first residual
  double best = 0;      // norm, when it last fell by 1 %
  int best_iteration = 0;
  bool accepted = false, moved = false;

  /// Whether the residual ends it.
  void judge(const StopOptions& stop, int iteration, int limit) {
    if (norm <= target)
      reason = Reason::converged;
    else if (!std::isfinite(norm))
      reason = Reason::not_finite;
    else if (iteration >= limit)
      reason = Reason::max_iterations;
    else if (stop.stagnation > 0 && iteration - best_iteration >= stop.stagnation)
      reason = Reason::stagnated;
  }
};

template <class T>
BatchRefinement<T>::BatchRefinement(const Operator<T>& A, const Preconditioner<T>& M, std::int32_t systems,
                                    int max_iterations, const StopOptions& stop, std::vector<double> matrix_norms)
    : A_(A),
      inverse_(M),
      systems_(systems),
      max_iterations_(max_iterations),
      stop_(stop),
      matrix_norms_(std::move(matrix_norms)),
      b_(A.rows(), "batch b"),
      x_(A.rows(), "batch x"),
      r_(A.rows(), "batch r"),
      z_(A.rows(), "batch z"),
      s_(A.rows(), "batch s"),
      rhs_norms_(systems, "batch ||b||"),
      accepted_(systems, "batch accepted") {
  require(systems > 0 && A.rows() % systems == 0,
          "batch: the rows of the matrix are not a multiple of the number of systems");
}

template <class T>
std::size_t BatchRefinement<T>::bytes() const {
  return 5 * sizeof(T) * static_cast<std::size_t>(x_.size()) +
         static_cast<std::size_t>(systems_) * (sizeof(double) + sizeof(std::int32_t));
}

template <class T>
HeldMemory BatchRefinement<T>::memory(MemoryLedger& ledger, std::int64_t size, std::int32_t systems) {
  HeldMemory kept = ledger.hold<double>(systems);
  kept += ledger.hold<std::int32_t>(systems);
  for (int vector = 0; vector < 5; ++vector) kept += ledger.hold<T>(size);
  const HeldMemory parts = ledger.hold<ScaledSquares>(systems * parts_of(size / systems));
  const HeldMemory norms = ledger.hold<double>(systems);
  return kept;
}

template <class T>
std::vector<double> BatchRefinement<T>::residual_norms(Context& ctx, const Array<T>& x, Array<T>& r) {
  A_.apply(ctx, x, r);
  axpby(ctx, T(1), b_, T(-1), r);
  return norms_of_systems(ctx, r, systems_);
}

template <class T>
void BatchRefinement<T>::set_targets(Context& ctx, std::vector<State>& states, const Array<T>& x) const {
  const bool follows_x = stop_.baseline == Baseline::backward_error;
  const std::vector<double> solutions = follows_x ? norms_of_systems(ctx, x, systems_) : std::vector<double>();
  for (std::size_t j = 0; j < states.size(); ++j) {
    State& state = states[j];
    if (follows_x) state.solution = solutions[j];
    const double rhs = state.rhs_norm / state.unscale;
    const double baseline = follows_x ? backward_error_scale(matrix_norms_[j], state.solution, rhs)
                            : stop_.baseline == Baseline::rhs ? rhs
                                                              : state.initial;
    state.baseline = baseline * state.unscale;
    state.target = std::max(stop_.relative * baseline, stop_.absolute / state.unscale);
  }
}

template <class T>
std::vector<typename BatchRefinement<T>::State> BatchRefinement<T>::begin(Context& ctx, const Array<T>& b,
                                                                          const Array<T>& x) {
  std::vector<State> states(static_cast<std::size_t>(systems_));
  const std::vector<double> rhs = norms_of_systems(ctx, b, systems_);
  std::ranges::copy(rhs, rhs_norms_.edit().begin());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x_.size(),
             ImportSystems<kernel_t<T>>{rhs_norms_.read(where), b.read(where), x.read(where), b_.write(where),
                                        x_.write(where), rows()});
  });
  const std::vector<double> norms = residual_norms(ctx, x_, r_);
  for (std::size_t j = 0; j < states.size(); ++j) {
    State& state = states[j];
    state.unscale = 1 / scale_of(rhs[j]), state.rhs_norm = rhs[j];
    state.norm = state.initial = state.best = norms[j];
    state.moved = rhs[j] == 0;  // to x = 0, which solves it
  }
  set_targets(ctx, states, x_);
  for (State& state : states) state.judge(stop_, 0, max_iterations_);
  return states;
}

template <class T>
void BatchRefinement<T>::step(Context& ctx, std::vector<State>& states, int iteration) {
  const Array<T>& correction = inverse_.apply(ctx, r_, z_);
  if (&correction != &z_) copy(ctx, correction, z_);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x_.size(),
             StepSystems<kernel_t<T>>{rhs_norms_.read(where), x_.read(where), z_.update(where), rows()});
  });
  const std::vector<double> norms = residual_norms(ctx, z_, s_);
  const auto accepted = accepted_.edit();
  for (std::size_t j = 0; j < states.size(); ++j) {
    State& state = states[j];
    accepted[j] = state.reason == Reason::running && norms[j] < state.norm;
    state.accepted = accepted[j];
    if (state.accepted) state.norm = norms[j], state.moved = true;
    if (state.norm <= 0.99 * state.best) state.best = state.norm, state.best_iteration = iteration;
  }
  ctx.dispatch([&](const auto& where) {
    const std::int32_t* which = accepted_.read(where);
    const kernel_t<T>*z = z_.read(where), *s = s_.read(where);
    run_pass(where, x_.size(), AcceptSystems<kernel_t<T>>{which, z, s, x_.update(where), r_.update(where), rows()});
  });
  set_targets(ctx, states, x_);
  for (State& state : states) {
    if (state.reason != Reason::running) continue;
    state.iterations = iteration;
    state.judge(stop_, iteration, max_iterations_);
    // The next step would be the same one.
    if (state.reason == Reason::running && !state.accepted) state.reason = Reason::stagnated;
  }
}

template <class T>
void BatchRefinement<T>::judge_by_rounding(Context& ctx, std::vector<State>& states) {
  const auto missed = [](const State& state) { return state.reason != Reason::converged && state.moved; };
  if (std::ranges::none_of(states, missed)) return;
  std::vector<double> change(states.size());
  for (int pattern = 0; pattern < rounding_patterns; ++pattern) {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, x_.size(), Perturb<kernel_t<T>>{x_.read(where), z_.write(where), pattern});
    });
    A_.apply(ctx, z_, s_);
    const std::vector<double> norms = norms_of_systems(ctx, s_, systems_);
    for (std::size_t j = 0; j < norms.size(); ++j)
      change[j] += norms[j] * norms[j] / rounding_patterns * unit_roundoff<T> * unit_roundoff<T>;
  }
  for (std::size_t j = 0; j < states.size(); ++j) {
    State& state = states[j];
    if (!missed(state)) continue;
    Truth truth;
    Progress start;
    start.initial2 = state.initial * state.initial;
    truth.residual2 = state.norm * state.norm;
    truth.note_rounding(change[j], start);
    state.reason = truth.by_rounding(state.reason);
    state.kept_initial_guess = truth.keeps_guess;
    if (!truth.keeps_guess) state.rounding_relative = over(std::sqrt(change[j]) * state.unscale, state.baseline);
  }
}

template <class T>
void BatchRefinement<T>::hand_over(Context& ctx, const std::vector<State>& states, Array<T>& x) {
  const auto accepted = accepted_.edit();
  for (std::size_t j = 0; j < states.size(); ++j) accepted[j] = states[j].moved && !states[j].kept_initial_guess;
  ctx.dispatch([&](const auto& where) {
    const double* norms = rhs_norms_.read(where);
    const std::int32_t* which = accepted_.read(where);
    run_pass(where, x_.size(), ExportSystems<kernel_t<T>>{norms, which, x_.read(where), x.update(where), rows()});
  });
}

template <class T>
SolveReport BatchRefinement<T>::solve(Context& ctx, const Array<T>& b, Array<T>& x, const Watch& watch) {
  require_size("solve: b", b.size(), x_.size());
  require_size("solve: x", x.size(), x_.size());
  require_disjoint("solve: b and x", b, x);
  const TraceRange range("krill solve");
  const Stopwatch clock;
  const auto seconds = [&] { return clock.milliseconds() / 1000; };
  SolveReport report;
  std::vector<State> states = begin(ctx, b, x);
  const auto runs = [](const State& state) { return state.reason == Reason::running; };
  for (;; ++report.iterations) {
    if (report.iterations > 0) step(ctx, states, report.iterations);
    Sight sight{report.iterations, 0, 0, seconds()};
    for (const State& state : states)
      if (const double relative = over(state.norm * state.unscale, state.baseline); relative >= sight.relative)
        sight.relative = relative, sight.target_relative = over(state.target * state.unscale, state.baseline);
    report.history.push_back(sight.relative);
    report.history_seconds.push_back(sight.seconds);
    if (std::ranges::none_of(states, runs)) break;
    const bool late = stop_.time_limit > 0 && sight.seconds > stop_.time_limit;
    if (!late && (!watch || watch(sight))) continue;
    for (State& state : states)
      if (runs(state)) state.reason = late ? Reason::time_limit : Reason::interrupted;
    break;
  }
  judge_by_rounding(ctx, states);
  hand_over(ctx, states, x);
  for (State& state : states) {
    if (state.reason != Reason::converged && !state.moved) state.kept_initial_guess = true;
    state.initial_relative = over(state.initial * state.unscale, state.baseline);
    state.true_relative =
        state.kept_initial_guess ? state.initial_relative : over(state.norm * state.unscale, state.baseline);
    state.target_relative = over(state.target * state.unscale, state.baseline);
    report.systems.push_back(state);
  }
  take_worst(report);
  report.recurrence_relative = report.true_relative;
  ctx.synchronize();
  report.seconds = seconds();
  return report;
}

template <class T>
struct BatchInstances {
  static constexpr auto list = instance<std::vector<double>(Context&, const Array<T>&, std::int64_t)>(norms_of_systems);
};
KRILL_INSTANTIATE(BatchInstances);
KRILL_INSTANTIATE(BatchRefinement);

}  // namespace krill
