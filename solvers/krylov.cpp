#include "krill/solvers/krylov.hpp"

#include <chrono>
#include <cmath>

#include "krill/solvers/krylov_passes.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/trace.hpp"
#include "krill/sparse/vector/vector.hpp"

namespace krill {
namespace {

constexpr int most_restarts_from_truth = 10;
constexpr double worth_going_on = 0.25;  // of the squared true residual: a restart has to halve the norm

/// Reasons after which the method can start anew from the residual of what it has.
bool can_go_on(Reason reason) {
  return reason == Reason::converged || reason == Reason::breakdown_rho || reason == Reason::breakdown_omega;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double ratio_of_roots(double part2, double whole2) { return part2 == 0 ? 0 : std::sqrt(part2) / std::sqrt(whole2); }

}  // namespace

template <class T>
Krylov<T>::Krylov(const Operator<T>& A, const Preconditioner<T>& M, int max_iterations, const StopOptions& stop)
    : A_(A),
      M_(M),
      x_(A.size(), "solver x"),
      r_(A.size(), "solver r"),
      rr_(1, "solver r'r"),
      progress_(1, "solver progress"),
      max_iterations_(max_iterations),
      stop_(stop),
      b_(A.size(), "solver b"),
      most_(1, "solver max |b|"),
      rhs2_(1, "solver b'b"),
      history_(max_iterations + std::int64_t{1}, "solver history") {}

template <class T>
std::size_t Krylov<T>::bytes() const {
  return static_cast<std::size_t>(size() * (3 + own_vectors())) * sizeof(T) +
         static_cast<std::size_t>(history_.size()) * sizeof(double);
}

template <class T>
SolveReport Krylov<T>::solve(Context& ctx, const Array<T>& b, Array<T>& x, const Watch& watch) {
  require_size("solve: b", b.size(), size());
  require_size("solve: x", x.size(), size());
  require_disjoint("solve: b and x", b, x);
  const TraceRange range("krill solve");
  const auto begun = std::chrono::steady_clock::now();
  const Watcher watcher = [&](const Progress& p) {
    const double seconds = seconds_since(begun);
    if (stop_.time_limit > 0 && seconds > stop_.time_limit) return Reason::time_limit;
    const Sight sight{p.iteration, ratio_of_roots(p.residual2, p.baseline2), ratio_of_roots(p.target2, p.baseline2),
                      seconds};
    return watch && !watch(sight) ? Reason::interrupted : Reason::running;
  };

  import(ctx, b, x);
  Progress end;
  double true2 = 0;
  int restarts = 0;
  for (double last2 = std::numeric_limits<double>::infinity();; last2 = true2, ++restarts) {
    start(ctx);
    iterate(
        ctx, graph_, progress_, [&] { iterate_once(ctx); }, watch || stop_.time_limit > 0 ? watcher : Watcher());
    settle(ctx);
    residual(ctx);
    end = progress_.host()[0];
    true2 = rr_.host()[0];
    if (true2 <= end.target2 || !can_go_on(end.reason) || !(true2 <= worth_going_on * last2) ||
        restarts == most_restarts_from_truth)
      break;
    ctx.dispatch([&](const auto& where) {
      run_pass(where, 0, ResumeRecord{rr_.read(where), progress_.update(where)});
    });
  }

  SolveReport result = report(end, true2);
  result.restarts_from_truth = restarts;
  if (result.reason != Reason::converged && !(true2 < end.initial2)) {
    result.kept_initial_guess = true;
    result.true_relative = result.initial_relative;
  } else {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, size(), ExportSolution<kernel_t<T>>{most_.read(where), x_.read(where), x.write(where)});
    });
  }
  ctx.synchronize();
  result.seconds = seconds_since(begun);
  return result;
}

template <class T>
void Krylov<T>::import(Context& ctx, const Array<T>& b, const Array<T>& x) {
  max_abs(ctx, b, most_);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, size(),
             ImportSystem<kernel_t<T>>{most_.read(where), b.read(where), x.read(where), b_.write(where),
                                       x_.write(where), rhs2_.write(where)});
  });
  residual(ctx);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, 0,
             StartRecord{most_.read(where), rhs2_.read(where), rr_.read(where), progress_.write(where),
                         history_.write(where), stop_, max_iterations_});
  });
}

template <class T>
void Krylov<T>::residual(Context& ctx) {
  A_.apply(ctx, x_, r_);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, size(), SubtractFrom<kernel_t<T>>{b_.read(where), r_.update(where), rr_.write(where)});
  });
}

/// The truth decides: an x that meets the tolerance is a solution whatever ended the loop, and nothing else is.
template <class T>
SolveReport Krylov<T>::report(const Progress& end, double true2) const {
  SolveReport result;
  result.iterations = end.iteration;
  result.reason = true2 <= end.target2              ? Reason::converged
                  : end.reason == Reason::converged ? Reason::stagnated
                                                    : end.reason;
  const double unscale = 1 / scale_of(most_.host()[0]);
  result.rhs_norm = std::sqrt(end.rhs2) * unscale;
  result.baseline = std::sqrt(end.baseline2) * unscale;
  result.initial_relative = ratio_of_roots(end.initial2, end.baseline2);
  result.recurrence_relative = ratio_of_roots(end.residual2, end.baseline2);
  result.true_relative = ratio_of_roots(true2, end.baseline2);
  result.target_relative = ratio_of_roots(end.target2, end.baseline2);
  for (const double norm2 : history_.host().first(static_cast<std::size_t>(end.iteration) + 1))
    result.history.push_back(ratio_of_roots(norm2, end.baseline2));
  return result;
}

#define INSTANTIATE(T) template class Krylov<T>;
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
