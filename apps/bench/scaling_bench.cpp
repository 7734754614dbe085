// Ranks that share a matrix beside one rank alone: b = 1, from x = 0, as many iterations as it says below, whatever
// they come to. Strong: the same matrix for both; weak: as many times the rows as there are ranks.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "apps/bench/job.hpp"
#include "solvers/distributed_operator.hpp"
#include "solvers/method/refusal.hpp"
#include "solvers/method/type_name.hpp"
#include "solvers/precond/preconditioner.hpp"
#include "solvers/solver.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/analyze.hpp"
#include "sparse/parallel/share_rows.hpp"
#include "sparse/vector/vector.hpp"

namespace krill::apps::bench {
namespace {

/// Enough that the beginning and the end of a solve, which are no steps, are little beside them.
constexpr int steps_on_host = 40, steps_on_device = 400;
constexpr std::size_t rounds = 5;

template <class Options>
SolverOptions endless(int steps) {
  Options options;
  options.max_iterations = steps;
  options.stop.relative = 0, options.stop.stagnation = 0;
  options.stop.divergence = std::numeric_limits<double>::max();
  return options;
}

PreconditionerOptions options_of(std::string_view name) {
  if (name == JacobiOptions::type) return JacobiOptions{};
  return NoPreconditioner{};
}

/// An iteration.
struct MeasuredStep {
  double ms, spread;  ///< the median over the rounds; (slowest - fastest) / median
  std::int64_t steps;
};

/// Of one solve in ms, from a tenth of the iterations on, by the backend's clock.
double ms_a_step(const SolveReport& report) {
  const std::vector<double>& seconds = report.history_seconds;
  const std::size_t last = seconds.size() - 1, first = last / 10;
  if (last == first)
    throw Error(fmt::format("the solve ended as {} before there was an iteration to time", name(report.reason)));
  return 1e3 * (seconds[last] - seconds[first]) / static_cast<double>(last - first);
}

/// team: null where one rank works alone. Of several ranks the slowest one counts, which all of them hear of.
template <class T>
MeasuredStep time_steps(Context& ctx, Team* team, const SolverOptions& options, const Operator<T>& A,
                        const Preconditioner<T>& M) {
  const auto solver = make_solver<T>(options, A, M);
  const Array<T> b(std::vector<T>(static_cast<std::size_t>(A.rows()), T(1)), "b");
  Array<T> x(A.rows(), "x");
  MeasuredStep time{};
  std::vector<double> times;
  for (std::size_t round = 0; round <= rounds; ++round) {
    fill(ctx, T(0), x);
    const SolveReport report = solver->solve(ctx, b, x);
    double ms = ms_a_step(report);
    if (team) ms = std::ranges::max(gather_records(*team, ms));
    if (round > 0) times.push_back(ms);  // the first one finds caches, graphs and the device's memory unprepared
    time.steps = report.iterations;
  }
  std::ranges::sort(times);
  time.ms = times[rounds / 2];
  time.spread = (times.back() - times.front()) / time.ms;
  return time;
}

/// Products with rows that the ranks share.
template <class T>
struct SharedMatrix {
  SharedMatrix(Context& ctx, Team& team, const AnyMatrix<T>& A)
      : rows(share_rows(A, team)), shared(ctx, team, rows.partition, rows.own, Format::automatic), products(shared) {}

  OwnRows<T> rows;
  Distributed<T> shared;
  DistributedOperator<T> products;
};

template <class T>
class ScalingBench {
 public:
  explicit ScalingBench(const BenchSubject<T>& subject)
      : s_(subject),
        team_(*subject.team),
        solvers_(subject.ctx.on_cuda() ? solvers_for(steps_on_device) : solvers_for(steps_on_host)) {}

  void run() {
    measure(*s_.A, s_.name, true);
    const auto larger = s_.source ? enlarged(*s_.source, team_.size()) : std::nullopt;
    if (!larger) return;
    const MadeMatrix<T> made = make_matrix<T>(*larger, {1});
    measure(made.A, made.name, false);
  }

 private:
  static std::vector<SolverOptions> solvers_for(int steps) {
    return {endless<PcgOptions>(steps), endless<BicgstabOptions>(steps), endless<GmresOptions>(steps)};
  }

  /// strong: the matrix that one rank has, too, which is timed first.
  void measure(const AnyMatrix<T>& A, const std::string& name, bool strong) {
    require_one_matrix(A);
    std::optional<MatrixOperator<T>> whole;
    if (strong && team_.rank() == 0) whole.emplace(A, SpmvMethod::automatic);
    const SharedMatrix<T> shared(s_.ctx, team_, A);
    const MatrixProperties properties = analyze(Host{}, A);
    for (const SolverOptions& solver : solvers_) {
      const std::string_view method = type_name(solver);
      const auto row_of = [&](std::string_view variant) {
        Row row = s_.row(scaling_kernel, variant);
        row.matrix = fmt::format("{} on {} ranks", name, team_.size());
        row.rows = krill::rows(A), row.nnz = krill::nnz(A);
        row.ranks = team_.size();
        return row;
      };
      if (std::string why = refusal(solver, properties); !why.empty()) {
        Row row = row_of(method);
        row.error = std::move(why);
        if (strong) s_.report(row);
        continue;
      }
      for (const std::string_view preconditioner : scaling_preconditioners) {
        const auto& named = s_.preconditioners;
        if (!named.empty() && std::ranges::find(named, preconditioner) == named.end()) continue;
        Row row = row_of(fmt::format("{}, {}", method, preconditioner));
        // The others wait for what rank 0 takes alone.
        if (strong) one_[row.variant] = gather_records(team_, whole ? alone(solver, preconditioner, *whole) : 0)[0];
        fill_in(row, time_shared(solver, preconditioner, shared), shared);
        s_.report(row);
      }
    }
  }

  /// The same on all ranks, for it is a matter of the matrix.
  std::string refusal(const SolverOptions& solver, const MatrixProperties& properties) const {
    return failure_of([&] {
      require_solvable(s_.name, properties);
      if (properties.missing_diagonal + properties.zero_diagonal > 0)
        throw InvalidArgument("the matrix has zeros on its diagonal, by which jacobi divides");
      require_suitable(s_.name, {.solver = solver}, properties);
    });
  }

  void require_one_matrix(const AnyMatrix<T>& A) {
    struct Size {
      std::int64_t rows, cols, nnz;
      bool operator==(const Size&) const = default;
    };
    const auto all = gather_records(team_, Size{krill::rows(A), krill::cols(A), krill::nnz(A)});
    if (std::ranges::any_of(all, [&](const Size& other) { return other != all[0]; }))
      throw InvalidArgument(
          fmt::format("{}: ranks have different matrices; all of them have to be started with the same arguments and "
                      "files",
                      s_.name));
  }

  double alone(const SolverOptions& solver, std::string_view preconditioner, const MatrixOperator<T>& A) const {
    A.prepare(s_.ctx);
    const auto M = make_preconditioner<T>(s_.ctx, options_of(preconditioner), *s_.A, &A);
    return time_steps<T>(s_.ctx, nullptr, solver, A, *M).ms;
  }

  MeasuredStep time_shared(const SolverOptions& solver, std::string_view preconditioner,
                           const SharedMatrix<T>& shared) const {
    const auto M = make_preconditioner<T>(s_.ctx, options_of(preconditioner), shared.shared.block(), &shared.products);
    return time_steps<T>(s_.ctx, &team_, solver, shared.products, *M);
  }

  void fill_in(Row& row, const MeasuredStep& time, const SharedMatrix<T>& shared) {
    row.cache = "warm";  // a solve goes over its data again and again
    row.ms = time.ms, row.spread = time.spread, row.iterations = time.steps;
    row.one_rank_ms = one_.at(row.variant);
    const double share = static_cast<double>(*row.rows) / static_cast<double>(krill::rows(*s_.A));
    row.speed_up = share * *row.one_rank_ms / time.ms;
    row.efficiency = *row.speed_up / team_.size();
    const auto entries = gather_records(team_, shared.shared.part().ghosts);
    row.halo_bytes = std::ranges::max(entries) * static_cast<std::int64_t>(sizeof(T));
  }

  const BenchSubject<T>& s_;
  Team& team_;
  std::vector<SolverOptions> solvers_;
  std::map<std::string, double> one_;  // ms of an iteration on one rank, by variants
};

}  // namespace

template <class T>
void bench_scaling(const BenchSubject<T>& s) {
  ScalingBench<T>(s).run();
}

template <class T>
struct ScalingBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_scaling);
};
KRILL_INSTANTIATE(ScalingBenchInstances);

}  // namespace krill::apps::bench
