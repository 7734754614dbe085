// Algebraic multigrid by itself: its set-up by steps, one cycle, and what new values of the matrix cost.
#include <fmt/format.h>

#include <algorithm>

#include "apps/bench/job.hpp"
#include "apps/bench/timing.hpp"
#include "solvers/operator.hpp"
#include "solvers/precond/amg.hpp"
#include "solvers/precond/preconditioner.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/vector/vector.hpp"

namespace krill::apps::bench {
namespace {

/// The times of a set-up's steps, summed over levels, in the order in which they first occur.
std::vector<std::pair<std::string, double>> steps_of(const PreconditionerReport& report) {
  std::vector<std::pair<std::string, double>> sums;
  for (const LevelReport& level : report.levels)
    for (const auto& [step, ms] : level.steps) {
      const auto known = std::ranges::find(sums, step, &std::pair<std::string, double>::first);
      if (known == sums.end())
        sums.emplace_back(step, ms);
      else
        known->second += ms;
    }
  return sums;
}

template <class T>
class AmgBench {
 public:
  AmgBench(const BenchSubject<T>& subject, MultigridMethod method)
      : s_(subject),
        name_(multigrid_method_names[static_cast<std::size_t>(method)]),
        products_(*s_.A, SpmvMethod::automatic) {
    options_.method = method;
    products_.prepare(s_.ctx);
  }

  void run() {
    const std::string failure = failure_of([&] {
      set_up();
      apply();
      update();
    });
    if (!failure.empty()) {
      Row row = s_.row("amg", name_);
      row.error = failure;
      s_.report(row);
    }
  }

 private:
  std::unique_ptr<Preconditioner<T>> made() const {
    return make_preconditioner<T>(s_.ctx, options_, *s_.A, &products_);
  }
  Row row(std::string_view what, double ms) const {
    Row row = s_.row("amg", fmt::format("{} {}", name_, what));
    row.cache = "warm";
    row.ms = ms;
    return row;
  }

  /// The quicker of two set-ups, for the first one finds memory and kernels unprepared.
  void set_up() {
    double best = 0;
    for (int turn = 0; turn < 2; ++turn) {
      amg_.reset();
      const double ms = once_ms(s_.ctx, [&] { amg_ = made(); });
      best = turn == 0 ? ms : std::min(best, ms);
    }
    s_.report(row("set-up", best));
    for (const auto& [step, ms] : steps_of(amg_->report())) s_.report(row("set-up: " + step, ms));
  }

  void apply() {
    const std::int64_t n = krill::rows(*s_.A);
    Array<T> r(n, "r"), z(n, "z");
    fill(s_.ctx, T(1), r);
    const Timing timing = measure(s_.ctx, 1, [&](std::size_t) { amg_->apply(s_.ctx, r, z); });
    Row cycle = row("cycle", timing.ms);
    cycle.spread = timing.spread;
    const ApplicationWork work = amg_->work();
    cycle.bytes = work.own.bytes + work.products * static_cast<double>(products_.prepare(s_.ctx).report().bytes);
    cycle.gbps = *cycle.bytes / timing.ms * 1e-6;
    if (s_.ceiling > 0) cycle.ceiling_share = *cycle.gbps / s_.ceiling;
    s_.report(cycle);
  }

  /// The first time finds what is kept for updates, so it is not counted.
  void update() {
    options_.reuse = HierarchyReuse::interpolation;
    amg_.reset();
    amg_ = made();
    amg_->update(s_.ctx, *s_.A);
    s_.report(row("new values", once_ms(s_.ctx, [&] { amg_->update(s_.ctx, *s_.A); })));
  }

  const BenchSubject<T>& s_;
  std::string name_;
  AmgOptions options_;
  MatrixOperator<T> products_;
  std::unique_ptr<Preconditioner<T>> amg_;
};

}  // namespace

template <class T>
void bench_amg(const BenchSubject<T>& s) {
  if (rows(*s.A) != cols(*s.A)) return;
  for (const MultigridMethod method : {MultigridMethod::smoothed_aggregation, MultigridMethod::aggregation})
    AmgBench<T>(s, method).run();
}

template <class T>
struct AmgBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_amg);
};
KRILL_INSTANTIATE(AmgBenchInstances);

}  // namespace krill::apps::bench
