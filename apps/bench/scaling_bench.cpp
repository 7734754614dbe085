// Ranks that share a matrix beside one rank alone: b = 1, from x = 0, as many iterations as it says below, whatever
// they come to. Strong: the same matrix for both; weak: as many times the rows as there are ranks.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "apps/bench/job.hpp"
#include "apps/system/own_rows.hpp"
#include "solvers/method/refusal.hpp"
#include "solvers/method/type_name.hpp"
#include "solvers/precond/preconditioner.hpp"
#include "solvers/solver.hpp"
#include "solvers/system/team_stages.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/analyze.hpp"
#include "sparse/parallel/analyze_rows.hpp"
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
  if (name == ChebyshevOptions::type) return ChebyshevOptions{};
  if (name == IsaiOptions::type) return IsaiOptions{};
  if (name == SchwarzOptions::type) return SchwarzOptions{};
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

/// The rows that a rank has of a matrix: those that it makes, or its share of the whole one.
template <class T>
class SharedMatrix {
 public:
  SharedMatrix(Context& ctx, Team& team, const GeneratorOptions& options)
      : made_(generate_own_rows<T>(options, team, unit_of_rows(NoPreconditioner{}))),
        rows_(with_csr(made_->rows,
                       [&](const auto& rows) {
                         return OwnRows<T>{made_->partition, slice_rows(rows, 0, rows.rows())};
                       })),
        products_(ctx, team, rows_.partition, rows_.own, Format::automatic) {
    Context host = Context::host(ctx.threads());
    properties_ = analyze_rows(host, team, rows_.partition, rows_.own);
  }
  SharedMatrix(Context& ctx, Team& team, const AnyMatrix<T>& whole)
      : rows_(share_rows(whole, team)),
        products_(ctx, team, rows_.partition, rows_.own, Format::automatic),
        properties_(analyze(Host{}, whole)) {}

  const RowSlice<T>& own() const { return rows_.own; }
  const Distributed<T>& products() const { return products_; }
  const MatrixProperties& properties() const { return properties_; }  ///< of the whole matrix

 private:
  std::optional<GeneratedRows<T>> made_;
  OwnRows<T> rows_;
  Distributed<T> products_;
  MatrixProperties properties_;
};

template <class T>
class ScalingBench {
 public:
  explicit ScalingBench(const BenchSubject<T>& subject)
      : s_(subject),
        team_(*subject.team),
        solvers_(subject.ctx.on_cuda() ? solvers_for(steps_on_device) : solvers_for(steps_on_host)) {}

  void run() {
    const GeneratorOptions* own = s_.source ? own_rows_of(*s_.source) : nullptr;
    if (!own) require_one_matrix(*s_.A);
    measure(own ? SharedMatrix<T>(s_.ctx, team_, *own) : SharedMatrix<T>(s_.ctx, team_, *s_.A), s_.name, true);
    const auto larger = s_.source ? enlarged(*s_.source, team_.size()) : std::nullopt;
    if (!larger) return;
    if (const GeneratorOptions* options = own_rows_of(*larger)) {
      measure(SharedMatrix<T>(s_.ctx, team_, *options), larger->name, false);
    } else {
      const MadeMatrix<T> made = make_matrix<T>(*larger, {1});
      measure(SharedMatrix<T>(s_.ctx, team_, made.A), made.name, false);
    }
  }

 private:
  static std::vector<SolverOptions> solvers_for(int steps) {
    return {endless<PcgOptions>(steps), endless<BicgstabOptions>(steps), endless<GmresOptions>(steps)};
  }

  /// strong: the matrix that one rank has, too, which is timed first.
  void measure(const SharedMatrix<T>& shared, const std::string& name, bool strong) {
    std::optional<MatrixOperator<T>> whole;
    if (strong && team_.rank() == 0) whole.emplace(*s_.A, SpmvMethod::automatic);
    const MatrixProperties& properties = shared.properties();
    if (strong) rows_of_one_ = properties.rows;
    for (const SolverOptions& solver : solvers_) {
      const auto row_of = [&](std::string variant) {
        Row row = s_.row(scaling_kernel, variant);
        row.matrix = fmt::format("{} on {} ranks", name, team_.size());
        row.rows = properties.rows, row.nnz = properties.nnz;
        row.ranks = team_.size();
        return row;
      };
      if (std::string why = refusal(solver, properties); !why.empty()) {
        Row row = row_of(std::string(type_name(solver)));
        row.error = std::move(why);
        if (strong) s_.report(row);
        continue;
      }
      for (const std::string_view preconditioner : preconditioners()) {
        Row row = row_of(fmt::format("{}, {}", type_name(solver), preconditioner));
        const SolveOptions options{.solver = solver, .preconditioner = options_of(preconditioner)};
        // The others wait for what rank 0 takes alone.
        if (strong) one_[row.variant] = gather_records(team_, whole ? alone(options, *whole) : 0)[0];
        fill_in(row, time_shared(options, shared), shared);
        s_.report(row);
      }
    }
  }

  /// Those that the command names, else those that need nothing beside the matrix.
  std::vector<std::string_view> preconditioners() const {
    if (s_.preconditioners.empty()) return {scaling_preconditioners.begin(), scaling_preconditioners.begin() + 2};
    return {s_.preconditioners.begin(), s_.preconditioners.end()};
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

  double alone(const SolveOptions& options, const MatrixOperator<T>& A) const {
    A.prepare(s_.ctx);
    const auto M = make_preconditioner<T>(s_.ctx, options.preconditioner, *s_.A, &A);
    return time_steps<T>(s_.ctx, nullptr, options.solver, A, *M).ms;
  }

  MeasuredStep time_shared(const SolveOptions& options, const SharedMatrix<T>& shared) const {
    const RankSystem<T> mine(s_.ctx, options, shared.products(), shared.own());
    return time_steps<T>(s_.ctx, &team_, options.solver, mine.products(), mine.preconditioner());
  }

  void fill_in(Row& row, const MeasuredStep& time, const SharedMatrix<T>& shared) {
    row.cache = "warm";  // a solve goes over its data again and again
    row.ms = time.ms, row.spread = time.spread, row.iterations = time.steps;
    row.one_rank_ms = one_.at(row.variant);
    const double share = static_cast<double>(*row.rows) / static_cast<double>(rows_of_one_);
    row.speed_up = share * *row.one_rank_ms / time.ms;
    row.efficiency = *row.speed_up / team_.size();
    const auto entries = gather_records(team_, shared.products().part().ghosts);
    row.halo_bytes = std::ranges::max(entries) * static_cast<std::int64_t>(sizeof(T));
  }

  const BenchSubject<T>& s_;
  Team& team_;
  std::vector<SolverOptions> solvers_;
  std::int64_t rows_of_one_ = 0;
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
