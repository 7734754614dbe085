#include "solvers/krylov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "solvers/krylov_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/team.hpp"
#include "sparse/core/trace.hpp"
#include "sparse/io/host_memory.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;
namespace {

constexpr std::size_t worth_asking = std::size_t{1} << 24;  // bytes, whether so many are free

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of all ranks: the same on each of them, so that no loop ends on one alone.
Reason strongest_wish(Team& team, Reason mine) {
  const std::vector<Reason> all = gather_records(team, mine);
  return *std::ranges::max_element(all);
}

double ratio_of_roots(double part2, double whole2) { return part2 == 0 ? 0 : std::sqrt(part2) / std::sqrt(whole2); }

}  // namespace

template <class T>
Krylov<T>::Krylov(const Operator<T>& A, const Preconditioner<T>& M, int max_iterations, const StopOptions& stop)
    : A_(A),
      M_(M),
      x_(A.rows(), "solver x"),
      r_(A.rows(), "solver r"),
      rr_(1, "solver r'r"),
      ss_(1, "solver s'A'A s"),
      progress_(std::vector<Progress>{{.reason = Reason::converged}}, "solver progress"),  // no solve has begun
      max_iterations_(max_iterations),
      stop_(stop),
      b_(A.rows(), "solver b"),
      largest_(1, "solver max |b|"),
      rhs2_(1, "solver b'b"),
      history_(max_iterations + std::int64_t{1}, "solver history"),
      truth_(1, "solver truth") {
  require_size("solver: columns of the square operator", A.cols(), A.rows());
}

template <class T>
std::size_t Krylov<T>::bytes() const {
  return static_cast<std::size_t>(size() * (3 + own_vectors())) * sizeof(T) +
         static_cast<std::size_t>(history_.size()) * sizeof(HistoryEntry);
}

template <class T>
HeldMemory Krylov<T>::memory(MemoryLedger& ledger, std::int64_t size, int max_iterations, std::int64_t own_vectors) {
  HeldMemory kept = ledger.hold<HistoryEntry>(max_iterations + std::int64_t{1});                   // history
  for (std::int64_t vector = 0; vector < 3 + own_vectors; ++vector) kept += ledger.hold<T>(size);  // b, x, r
  ledger.scratch({1});                                                                             // of dots
  return kept;
}

template <class T>
SolveReport Krylov<T>::solve(Context& ctx, const Array<T>& b, Array<T>& x, const Watch& watch) {
  require_size("solve: b", b.size(), size());
  require_size("solve: x", x.size(), size());
  require_disjoint("solve: b and x", b, x);
  find_memory(ctx);
  const TraceRange range("krill solve");
  Team* team = A_.share().team;
  const Context::TeamScope over(ctx, team);
  const auto begun = std::chrono::steady_clock::now();
  const auto wish = [&](const Progress& p) {
    const double seconds = seconds_since(begun);
    if (stop_.time_limit > 0 && seconds > stop_.time_limit) return Reason::time_limit;
    const Sight sight{p.iteration, ratio_of_roots(p.residual2, p.baseline2), ratio_of_roots(p.target2, p.baseline2),
                      seconds};
    return watch && !watch(sight) ? Reason::interrupted : Reason::running;
  };
  // On CUDA the loops carry the wishes of all ranks.
  Team* const asked = ctx.on_cuda() ? nullptr : team;
  const Watcher looks_on = [&](const Progress& p) { return asked ? strongest_wish(*asked, wish(p)) : wish(p); };

  matrix_norm_ = stop_.baseline == Baseline::backward_error ? A_.frobenius_norm(ctx) : 0;
  watcher_ = watch || stop_.time_limit > 0 || team ? looks_on : Watcher();
  max_abs(ctx, b, largest_);
  solve_scaled(ctx, b, x);
  if (initial_residual_overflowed()) {
    residual(ctx, b, x);
    max_abs(ctx, r_, largest_);
    solve_scaled(ctx, b, x);
  }

  ask_for_rounding(ctx);
  hand_over(ctx, x);
  SolveReport result = report();
  ctx.synchronize();
  result.seconds = seconds_since(begun);
  return result;
}

/// A basis that is larger than what is free would else be met in the middle of a solve, on the host by the system's
/// killer of processes.
template <class T>
void Krylov<T>::find_memory(Context& ctx) {
  bool& fits = fits_[ctx.on_cuda() ? 1 : 0];
  if (fits || bytes() < worth_asking) return;
  ctx.dispatch([&](const auto& where) {
    const Cuda* cuda = where.cuda();
    const std::size_t free = cuda ? device::free_memory(cuda->device) : available_memory();
    if (bytes() > free)
      throw OutOfMemory(fmt::format("a solver of {} rows", size()), bytes(), free, cuda ? cuda->device : -1);
  });
  fits = true;
}

template <class T>
void Krylov<T>::approximate(Context& ctx, const Array<T>& r, Array<T>& z) {
  require_size("solver: r", r.size(), size());
  require_size("solver: z", z.size(), size());
  require_disjoint("solver: r and z", r, z);
  find_memory(ctx);
  watcher_ = watcher_around(ctx);
  max_abs(ctx, r, largest_);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, size(),
             ImportResidual<kernel_t<T>>{largest_.read(where), r.read(where), b_.write(where), r_.write(where),
                                         x_.write(where), rhs2_.write(where), rr_.write(where)});
    // Where all this is skipped, the record of the last time stays, and no loop runs.
    run_pass(where, 0,
             StartRecord{largest_.read(where), rhs2_.read(where), rr_.read(where), progress_.update(where),
                         history_.write(where), truth_.update(where), stop_, 0, max_iterations_});
  });
  start(ctx);
  iterate(
      ctx, graph_, progress_, [&] { iterate_once(ctx); }, watcher_);
  settle(ctx);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, size(),
             ExportSolution<kernel_t<T>>{largest_.read(where), truth_.read(where), x_.read(where), z.write(where)});
  });
}

template <class T>
void Krylov<T>::solve_scaled(Context& ctx, const Array<T>& b, const Array<T>& x) {
  import(ctx, b, x);
  do {
    attempt(ctx);
    if (A_.share().team) ctx.synchronize();  // with an eye on the others
  } while (truth_.host()[0].goes_on);
}

template <class T>
bool Krylov<T>::initial_residual_overflowed() const {
  const Progress end = progress_.host()[0];
  return end.iteration == 0 && std::isfinite(end.rhs2) && !std::isfinite(end.initial2);
}

template <class T>
void Krylov<T>::import(Context& ctx, const Array<T>& b, const Array<T>& x) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, size(),
             ImportSystem<kernel_t<T>>{largest_.read(where), b.read(where), x.read(where), b_.write(where),
                                       x_.write(where), rhs2_.write(where)});
  });
  residual(ctx);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, 0,
             StartRecord{largest_.read(where), rhs2_.read(where), rr_.read(where), progress_.write(where),
                         history_.write(where), truth_.write(where), stop_, matrix_norm_, max_iterations_});
  });
  measure(ctx);
}

template <class T>
void Krylov<T>::attempt(Context& ctx) {
  start(ctx);
  const Body once = [&] { iterate_once(ctx), measure(ctx); };
  // A kernel that holds the loop is prepared where it may run; none of them follows x, as measure() does.
  const bool may_hold = !A_.share().team && stop_.baseline != Baseline::backward_error &&
                        (ctx.loop_control == LoopControl::automatic || ctx.loop_control == LoopControl::persistent);
  iterate(ctx, graph_, progress_, once, watcher_, may_hold ? whole(ctx) : Body());
  settle(ctx);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, size(), RoundAsExported<kernel_t<T>>{largest_.read(where), x_.update(where), truth_.update(where)});
  });
  residual(ctx);
  measure(ctx);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, 0, DecideByTruth{rr_.read(where), progress_.update(where), truth_.update(where)});
  });
}

template <class T>
void Krylov<T>::hand_over(Context& ctx, Array<T>& x) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, size(),
             ExportSolution<kernel_t<T>>{largest_.read(where), truth_.read(where), x_.read(where), x.update(where)});
  });
}

template <class T>
void Krylov<T>::look(const Host& where) {
  if (watcher_) progress_.update(where)->ask(watcher_);
}

template <class T>
void Krylov<T>::residual(Context& ctx) {
  residual(ctx, b_, x_);
}

template <class T>
void Krylov<T>::residual(Context& ctx, const Array<T>& b, const Array<T>& x) {
  A_.apply(ctx, x, r_);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, size(), SubtractFrom<kernel_t<T>>{b.read(where), r_.update(where), rr_.write(where)});
  });
}

template <class T>
void Krylov<T>::measure(Context& ctx) {
  if (stop_.baseline != Baseline::backward_error) return;
  ctx.dispatch([&](const auto& where) {
    run_pass(where, size(), MeasureSolution<kernel_t<T>>{x_.read(where), progress_.update(where)});
  });
}

template <class T>
void Krylov<T>::perturb(Context& ctx, const Array<T>& x, Array<T>& s, int pattern, Array<T>& product,
                        Array<wide_t<T>>& ss) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, size(), Perturb<kernel_t<T>>{x.read(where), s.write(where), pattern});
  });
  A_.apply(ctx, s, product, {&product, &ss});
}

template <class T>
void Krylov<T>::ask_for_rounding(Context& ctx) {
  const Progress& end = progress_.host()[0];
  if (const Truth& truth = truth_.host()[0]; truth.met || truth.keeps_guess) return;
  double sum = 0;
  for (int pattern = 0; pattern < rounding_patterns; ++pattern) {
    perturb(ctx, x_, b_, pattern, r_, ss_);
    sum += std::real(ss_.host()[0]);
  }
  truth_.edit()[0].note_rounding(sum / rounding_patterns * unit_roundoff<T> * unit_roundoff<T>, end);
}

template <class T>
SolveReport Krylov<T>::report() const {
  Progress end = progress_.host()[0];
  const Truth truth = truth_.host()[0];
  if (truth.keeps_guess && stop_.baseline == Baseline::backward_error) detail::measure(end, end.initial_solution2);
  SolveReport result;
  result.iterations = end.iteration;
  result.reason = truth.verdict(end);
  const double unscale = 1 / scale_of(largest_.host()[0]);
  result.rhs_norm = std::sqrt(end.rhs2) * unscale;
  result.baseline = std::sqrt(end.baseline2) * unscale;
  result.initial_relative = ratio_of_roots(end.initial2, end.baseline2);
  result.recurrence_relative = ratio_of_roots(end.residual2, end.baseline2);
  result.kept_initial_guess = truth.keeps_guess;
  result.true_relative = truth.keeps_guess ? result.initial_relative : ratio_of_roots(truth.residual2, end.baseline2);
  result.target_relative = ratio_of_roots(end.target2, end.baseline2);
  if (!truth.keeps_guess) result.rounding_relative = ratio_of_roots(truth.rounding2, end.baseline2);
  result.restarts_from_truth = truth.restarts;
  for (const auto& [norm2, seconds] : history_.host().first(static_cast<std::size_t>(end.iteration) + 1)) {
    result.history.push_back(ratio_of_roots(norm2, end.baseline2));
    result.history_seconds.push_back(seconds);
  }
  return result;
}

KRILL_INSTANTIATE(Krylov);

}  // namespace krill
