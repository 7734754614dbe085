// Solvers with their preconditioners: b = 1, from x = 0 to a relative residual of 1e-8 (1e-5 in single precision).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"
#include "apps/bench/timing.hpp"
#include "apps/samples/preconditioners.hpp"
#include "solvers/method/refusal.hpp"
#include "solvers/method/type_name.hpp"
#include "solvers/precond/preconditioner.hpp"
#include "solvers/solver.hpp"
#include "solvers/work.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/order/coloring.hpp"
#include "sparse/order/ordering.hpp"
#include "sparse/vector/vector.hpp"

namespace krill::apps::bench {
namespace {

constexpr int max_iterations = 20'000;
constexpr double max_seconds = 20;  ///< of one solve

std::string_view name_of(const PreconditionerSample& variant) {
  return variant.bench_name.empty() ? type_name(variant.options) : variant.bench_name;
}

template <class T>
double wanted_residual() {
  return std::numeric_limits<real_t<T>>::digits10 > 10 ? 1e-8 : 1e-5;
}

template <class T, class Options>
SolverOptions limited(Options options) {
  options.max_iterations = max_iterations;
  options.stop.relative = wanted_residual<T>();
  options.stop.time_limit = max_seconds;
  return options;
}

/// P A P^T with the rows of a color together.
template <class T>
std::unique_ptr<AnyMatrix<T>> in_color_order(Context& ctx, const AnyMatrix<T>& A) {
  return with_csr(A, [&]<class Offset>(const Csr<T, Offset>& a) {
    const Coloring coloring = color(ctx, a);
    return std::make_unique<AnyMatrix<T>>(Reordered<T, Offset>(ctx, a, coloring.ordering).release());
  });
}

/// What is made once a matrix: its order, the products with it, the preconditioner.
template <class T>
class Setup {
 public:
  Setup(Context& ctx, const AnyMatrix<T>& A, const PreconditionerSample& variant)
      : reordered_(variant.colored ? in_color_order(ctx, A) : nullptr),
        products_(reordered_ ? *reordered_ : A, SpmvMethod::automatic) {
    products_.prepare(ctx);
    preconditioner_ = make_preconditioner<T>(ctx, variant.options, reordered_ ? *reordered_ : A, &products_);
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  const MatrixOperator<T>& products() const { return products_; }
  const Preconditioner<T>& preconditioner() const { return *preconditioner_; }

 private:
  std::unique_ptr<AnyMatrix<T>> reordered_;
  MatrixOperator<T> products_;
  std::unique_ptr<Preconditioner<T>> preconditioner_;
};

template <class T>
class SolverBench {
 public:
  SolverBench(const BenchSubject<T>& subject, SolverOptions options)
      : s_(subject),
        options_(std::move(options)),
        kernel_(type_name(options_)),
        b_(std::vector<T>(static_cast<std::size_t>(rows(*s_.A)), T(1)), "b"),
        x_(rows(*s_.A), "x") {}

  void run() {
    const bool definite = needs_definite(options_);
    const std::string refusal = failure_of([&] { require_system(); });
    for (const PreconditionerSample& variant : preconditioner_samples(in_bench)) {
      if (definite ? !variant.with_pcg() : !variant.with_others()) continue;
      const auto& named = s_.preconditioners;
      if (!named.empty() && std::ranges::find(named, name_of(variant)) == named.end()) continue;
      Row row = s_.row(kernel_, name_of(variant));
      row.error = refusal.empty() ? failure_of([&] { measure_variant(variant, row); }) : refusal;
      s_.report(row);
      if (!refusal.empty()) return;  // it says the same of all
    }
  }

 private:
  void require_system() const {
    const MatrixProperties properties = analyze(Host{}, *s_.A);
    require_solvable(s_.name, properties);
    if (properties.missing_diagonal + properties.zero_diagonal > 0)
      throw InvalidArgument("the matrix has zeros on its diagonal, by which most of these preconditioners divide");
    require_suitable(s_.name, {.solver = options_}, properties);
  }

  void measure_variant(const PreconditionerSample& variant, Row& row) {
    std::optional<Setup<T>> setup;
    // The quicker of two times: the first one finds caches and the device's memory unprepared.
    double setup_ms = std::numeric_limits<double>::infinity();
    for (int turn = 0; turn < 2; ++turn) {
      setup.reset();
      setup_ms = std::min(setup_ms, once_ms(s_.ctx, [&] { setup.emplace(s_.ctx, *s_.A, variant); }));
    }
    const auto solver = make_solver<T>(options_, setup->products(), setup->preconditioner());
    const SolveReport report = solve(*solver);
    if (report.reason != Reason::converged)
      throw Error(fmt::format("{} after {} iterations and {:.3g} s; the relative residual is {:.2e}, {:.0e} was wanted",
                              name(report.reason), report.iterations, report.seconds, report.true_relative,
                              wanted_residual<T>()));
    const Timing timing = measure(s_.ctx, 1, [&](std::size_t) { solve(*solver); });
    row.cache = "warm";  // a solve goes over its data again and again
    row.ms = timing.ms, row.spread = timing.spread;
    row.setup_ms = setup_ms;
    row.total_ms = setup_ms + timing.ms;
    row.iterations = report.iterations;
    if (report.iterations > 0) row.iteration_ms = timing.ms / report.iterations;
    count(*setup, row);
    if (s_.rival) compete(variant, row);
  }

  SolveReport solve(Solver<T>& solver) {
    fill(s_.ctx, T(0), x_);
    return solver.solve(s_.ctx, b_, x_);
  }

  void count(const Setup<T>& setup, Row& row) const {
    const auto matrix = static_cast<double>(setup.products().prepare(s_.ctx).report().bytes);
    const Work work = total<T>(work_of(options_, static_cast<int>(*row.iterations)), setup.preconditioner().work(),
                               matrix, rows(*s_.A), nnz(*s_.A));
    row.bytes = work.bytes;
    row.flops = work.flops;
    row.gbps = *row.bytes / *row.ms * 1e-6;
    if (s_.ceiling > 0) row.ceiling_share = *row.gbps / s_.ceiling;
  }

  void compete(const PreconditionerSample& variant, Row& row) const {
    const SolveTask<T> task{
        kernel_, name_of(variant), *s_.A, b_, wanted_residual<T>(), max_iterations, restart_of(options_).value_or(0)};
    row.rival_error = failure_of([&] {
      std::unique_ptr<SolveRun> run;
      const double setup_ms = once_ms(s_.ctx, [&] { run = s_.rival->prepare_solve(s_.ctx, task); });
      if (!run) return;
      row.rival = s_.rival->name(), row.rival_variant = run->variant();
      (*run)();
      if (!run->iterations()) throw Error(run->variant() + " did not converge");
      row.rival_ms = measure(s_.ctx, 1, [&](std::size_t) { (*run)(); }).ms;
      row.rival_iterations = run->iterations();
      row.rival_setup_ms = setup_ms;
      row.ratio = *row.rival_ms / *row.ms;
    });
  }

  const BenchSubject<T>& s_;
  SolverOptions options_;
  std::string_view kernel_;
  Array<T> b_, x_;
};

}  // namespace

std::vector<std::string> solver_preconditioners() {
  std::vector<std::string> names;
  for (const PreconditionerSample& variant : preconditioner_samples(in_bench)) names.emplace_back(name_of(variant));
  return names;
}

template <class T, class Options>
void bench_solver(const BenchSubject<T>& s) {
  SolverBench<T>(s, limited<T>(Options{})).run();
}

template <class T>
struct SolverBenchInstances {
  static constexpr std::tuple list{&bench_solver<T, PcgOptions>, &bench_solver<T, GmresOptions>,
                                   &bench_solver<T, BicgstabOptions>};
};
KRILL_INSTANTIATE(SolverBenchInstances);

}  // namespace krill::apps::bench
