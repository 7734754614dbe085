#include "solvers/system/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/contraction.hpp"
#include "solvers/method/type_name.hpp"
#include "solvers/system/team_stages.hpp"
#include "sparse/convert/to_format.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/core/trace.hpp"

namespace krill {
namespace {

template <class T>
std::size_t bytes_on_backend(const PreparedSystem<T>& system, const Array<T>& b, const Array<T>& x, std::size_t solver,
                             const Context& ctx) {
  const std::size_t matrix = bytes(*system.A) + (system.original ? bytes(*system.original) : 0);
  const std::int64_t of_one = 2 * std::int64_t{rows(*system.A)}, of_all = b.size() + x.size();
  const std::int64_t vectors = of_all == of_one ? of_one : of_one + (ctx.on_cuda() ? 0 : of_all);
  return matrix + solver + ctx.workspace_bytes() + sizeof(T) * static_cast<std::size_t>(vectors);
}

/// One of several vectors that lie one after the other on the host.
template <class T>
Array<T> one_of(const Array<T>& all, std::int64_t rows, std::size_t j, const char* name) {
  const auto part = all.host().subspan(j * static_cast<std::size_t>(rows), static_cast<std::size_t>(rows));
  return Array<T>(std::vector<T>(part.begin(), part.end()), name);
}

/// Of a right-hand side that nobody began to solve.
SolveReport not_begun() {
  SolveReport report;
  report.reason = Reason::interrupted;
  report.kept_initial_guess = true;
  report.true_relative = report.initial_relative = std::numeric_limits<double>::quiet_NaN();
  return report;
}

/// The report of all columns together: that of the worst one.
SolveReport together(const std::vector<SolveReport>& columns) {
  SolveReport all;
  for (const SolveReport& column : columns) all.systems.push_back(column);
  take_worst(all);
  // After a stop the first that is interrupted is the one that had begun, and has figures.
  if (all.reason == Reason::interrupted)
    all.worst_system = static_cast<std::size_t>(std::ranges::find(columns, Reason::interrupted, &SolveReport::reason) -
                                                columns.begin());
  SolveReport worst = columns[all.worst_system];
  worst.systems = std::move(all.systems), worst.worst_system = all.worst_system;
  worst.iterations = 0, worst.seconds = 0;
  for (const SolveReport& column : columns) worst.iterations += column.iterations, worst.seconds += column.seconds;
  return worst;
}

template <class T>
void measure(const Array<T>& x, SolveFacts& facts) {
  const SolveReport& r = facts.result;
  const std::size_t rows = static_cast<std::size_t>(x.size()) / std::max<std::size_t>(1, r.systems.size());
  facts.residual_norm = r.baseline > 0 ? r.true_relative * r.baseline : 0;
  facts.solution_norm = norm(x.host().subspan(r.worst_system * rows, rows));
  if (!r.systems.empty() && facts.columns.empty()) {  // ||A||_F is known of all systems of a batch together
    facts.backward_error = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  const double scale = detail::backward_error_scale(facts.matrix.frobenius_norm, facts.solution_norm, r.rhs_norm);
  facts.backward_error = scale > 0 ? facts.residual_norm / scale : 0;
}

/// ILU(0) of real matrices and Helmholtz problems: with 1e10 and more they were better off without it, with 2e8 and
/// less those that were compared took fewer iterations, one a fifth more.
constexpr double max_distortion = 1e9;

bool is_chosen(const SolveFacts& facts) {
  return std::ranges::any_of(facts.choices, [](const auto& c) { return c.key == "preconditioner"; });
}

/// ||M^-1 A e - e|| / ||e|| with e = (1, ..., 1), where M^-1 is what the preconditioner applies. Far above 1, the
/// factors are unstable (Chow and Saad 1997): their inverse is large where that of A is not.
template <class T>
double distortion(Context& ctx, const Operator<T>& A, const Preconditioner<T>& M) {
  const Array<T> ones(std::vector<T>(static_cast<std::size_t>(A.rows()), T(1)), "ones");
  Array<T> product(ones.size(), "A e"), room(ones.size(), "M^-1 A e");
  A.apply(ctx, ones, product);
  const Array<T>& image = M.apply(ctx, product, room);
  std::vector<T> difference(image.host().begin(), image.host().end());
  for (T& entry : difference) entry -= T(1);
  return norm(std::span<const T>(difference)) / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, A.rows())));
}

}  // namespace

std::int64_t columns_of(std::string_view what, std::int64_t size, std::int64_t rows) {
  if (size == rows) return 1;
  if (rows == 0 || size == 0 || size % rows != 0)
    throw ShapeMismatch(
        fmt::format("{} has {} entries, {} are needed, or several right-hand sides of as many", what, size, rows));
  return size / rows;
}

template <class T>
PreparedSystem<T> prepare(Context& ctx, const SolveOptions& options, std::shared_ptr<const AnyMatrix<T>> A,
                          SolveFacts& facts) {
  if (ctx.team && ctx.on_cuda()) {  // ranks bring their own rows to the device, and nothing else
    Context host = Context::host(ctx.threads());
    host.team = ctx.team;
    return prepare(host, options, std::move(A), facts);
  }
  Transformation<T> transformation(ctx, options, *A, facts.transformation, ctx.team ? ctx.team->size() : 1);
  facts.timings.match += facts.transformation.match_ms;
  facts.timings.scale += facts.transformation.scale_ms;
  facts.timings.order += facts.transformation.order_ms;
  PreparedSystem<T> system{std::move(A), nullptr, std::move(transformation)};
  if (options.on_failure == OnFailure::ladder && !ctx.team) system.source = system.A;
  if (auto made = system.transformation.take_matrix()) {
    if (system.transformation.scales()) system.original = std::move(system.A);
    system.A = std::make_shared<const AnyMatrix<T>>(std::move(*made));
  }
  Stopwatch watch;
  if (options.format != Format::csr && options.format != Format::automatic && !ctx.team)  // ranks convert their rows
    system.A = with_csr(ctx, *system.A, [&](const auto& csr) {
      return std::make_shared<const AnyMatrix<T>>(convert_format(ctx, csr, options.format, options.layout));
    });
  facts.timings.convert += watch.lap();
  return system;
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context& ctx, SolveOptions& options, SolveFacts& facts,
                                                       const PreparedSystem<T>& system, const Operator<T>& products) {
  try {
    auto made = make_preconditioner<T>(ctx, options.preconditioner, *system.A, &products, system.coordinates.get());
    if (needs_definite(options.solver) && options.assume != Assume::spd) made->require_definite(ctx);
    const bool may_be_unstable = std::holds_alternative<Ilu0Options>(options.preconditioner) ||
                                 std::holds_alternative<IsaiOptions>(options.preconditioner);
    if (!may_be_unstable || !is_chosen(facts) || needs_definite(options.solver)) return made;
    if (const double far = distortion<T>(ctx, products, *made); !(far <= max_distortion))
      throw InvalidArgument(
          fmt::format("preconditioner {}: it is unstable, M^-1 A e is {:.1e} ||e|| away from e = (1, "
                      "..., 1)",
                      type_name(options.preconditioner), far));
    return made;
  } catch (const InvalidArgument& error) {
    if (const auto next = is_chosen(facts) ? weaker(options, facts.matrix) : std::nullopt) {
      options.preconditioner = *next;
      facts.notes.push_back(fmt::format("{}; auto went on to {}", error.what(), type_name(*next)));
      return make_preconditioner(ctx, options, facts, system, products);
    }
    if (!system.transformation.moves_rows()) throw;
    const std::string_view matching = type_name(options.matching), ordering = type_name(options.ordering);
    throw InvalidArgument(fmt::format("{}\n  rows are those of the system{}{}", error.what(),
                                      matching == "none" ? "" : fmt::format(" after the matching {}", matching),
                                      ordering == "none" ? "" : fmt::format(" in the ordering {}", ordering)));
  }
}

template <class T>
void measure_contraction(Context& ctx, const SolveOptions& options, const Operator<T>& products,
                         const Preconditioner<T>& M, SolveFacts& facts) {
  if (options.contraction_steps == 0) return;
  if (!takes_preconditioner(options.solver)) {
    facts.notes.push_back(fmt::format("contraction_steps: solver {} takes no preconditioner, so nothing was measured",
                                      type_name(options.solver)));
    return;
  }
  const bool may_be_singular = !facts.singularity.what.empty() || facts.matrix.null_rows == facts.matrix.rows;
  facts.preconditioner.facts.push_back(
      {"contraction", contraction<T>(ctx, products, M, options.contraction_steps, may_be_singular)});
}

template <class T>
void solve_columns(Context& ctx, KeptSolver<T>& solver, const PreparedSystem<T>& system, const Array<T>& b, Array<T>& x,
                   SolveFacts& facts, const Watch& watch, const ColumnWatch& solved) {
  const std::int64_t size = cols(*system.A);  // ranks may have fewer rows
  if (b.size() == size) {
    facts.result =
        solve_transformed(ctx, solver, system.transformation, system.original.get(), system.given.get(), b, x, watch);
    return;
  }
  const auto count = static_cast<std::size_t>(columns_of("solve: b", b.size(), size));
  require_size("solve: x", x.size(), b.size());
  bool goes_on = true;
  for (std::size_t j = 0; j < count; ++j) {
    if (!goes_on) {
      facts.columns.push_back(not_begun());
      continue;
    }
    const Array<T> b_j = one_of(b, size, j, "b");
    Array<T> x_j = one_of(x, size, j, "x");
    std::optional<GivenSystem<T>> given;
    if (system.given) given = GivenSystem<T>{system.given->A, one_of(system.given->b, size, j, "given b")};
    facts.columns.push_back(solve_transformed(ctx, solver, system.transformation, system.original.get(),
                                              given ? &*given : nullptr, b_j, x_j, watch));
    const SolveReport& report = facts.columns.back();
    std::ranges::copy(x_j.host(), x.edit().begin() + static_cast<std::ptrdiff_t>(j) * size);
    goes_on = report.reason != Reason::interrupted;
    if (solved) solved(j, report);
  }
  facts.result = together(facts.columns);
}

template <class T>
SystemSolver<T>::SystemSolver(Context& ctx, SolveOptions& options, const PreparedSystem<T>& system, SolveFacts& facts)
    : options_(options),
      system_(system),
      products_(*system.A, options.format == Format::automatic ? SpmvMethod::automatic : SpmvMethod::in_place) {
  Stopwatch clock;
  // The matrix comes to the device with the products, so that its way there is no part of the setup.
  const SpmvPlan<T>& products = products_.prepare(ctx);
  ctx.synchronize();
  facts.products = products.report();
  facts.timings.products += clock.lap();
  preconditioner_ = make_preconditioner<T>(ctx, options, facts, system, products_);
  ctx.synchronize();
  facts.timings.preconditioner_setup = clock.lap();
  report_setup(ctx, facts);
  solver_.emplace(options_.solver, products_, *preconditioner_);
}

template <class T>
void SystemSolver<T>::report_setup(Context& ctx, SolveFacts& facts) const {
  facts.preconditioner = preconditioner_->report();
  for (const std::string& note : facts.preconditioner.notes) facts.notes.push_back(note);
  measure_contraction<T>(ctx, options_, products_, *preconditioner_, facts);
}

template <class T>
void SystemSolver<T>::update(Context& ctx, SolveFacts& facts, bool keeps_preconditioner) {
  Stopwatch clock;
  products_.update(ctx);
  ctx.synchronize();
  facts.products = products_.prepare(ctx).report();
  facts.timings.products += clock.lap();
  solver_->forget();
  if (!keeps_preconditioner) {
    try {
      preconditioner_->update(ctx, *system_.A);
      if (needs_definite(options_.solver) && options_.assume != Assume::spd) preconditioner_->require_definite(ctx);
    } catch (
        const InvalidArgument&) {  // ilut and ict, whose patterns follow values, and values that ask for another one
      solver_.reset();
      preconditioner_.reset();
      preconditioner_ = make_preconditioner<T>(ctx, options_, facts, system_, products_);
      solver_.emplace(options_.solver, products_, *preconditioner_);
    }
    ctx.synchronize();
    facts.timings.preconditioner_setup += clock.lap();
  }
  report_setup(ctx, facts);
}

template <class T>
void SystemSolver<T>::solve(Context& ctx, const Array<T>& b, Array<T>& x, SolveFacts& facts, const Watch& watch,
                            const ColumnWatch& solved) {
  Stopwatch clock;
  {
    const TraceRange range("solve");
    solve_columns(ctx, *solver_, system_, b, x, facts, watch, solved);
  }
  ctx.synchronize();
  facts.timings.solve = clock.lap();
  const double factorized = facts.result.setup.symbolic_ms + facts.result.setup.numeric_ms;  // once a matrix
  facts.timings.preconditioner_setup += factorized, facts.timings.solve -= factorized;
  for (const std::string& note : facts.result.setup.notes) facts.notes.push_back(note);
  if (!facts.result.setup.facts.empty()) facts.preconditioner = facts.result.setup;
  facts.memory_bytes = bytes_on_backend(system_, b, x, solver_->bytes(), ctx) + products_.prepare(ctx).bytes() +
                       facts.preconditioner.bytes;
  facts.memory_peak_bytes = ctx.memory_use().peak;
  measure(x, facts);
}

template <class T>
void solve_prepared(Context& ctx, SolveOptions& options, const PreparedSystem<T>& system, const Array<T>& b,
                    Array<T>& x, SolveFacts& facts, const std::function<void()>& prepared, const Watch& watch,
                    const ColumnWatch& solved) {
  if (ctx.team) {
    solve_in_team(ctx, options, system, b, x, facts, prepared, watch, solved);
    measure(x, facts);
    return;
  }
  if (ctx.on_cuda() && std::holds_alternative<DirectOptions>(options.solver)) {
    facts.notes.emplace_back(
        "solver direct works on the host, whatever the backend: the device takes no part in this solve");
    Context host = Context::host(ctx.threads());
    return solve_prepared(host, options, system, b, x, facts, prepared, watch, solved);
  }
  SystemSolver<T> solver(ctx, options, system, facts);
  prepared();
  solver.solve(ctx, b, x, facts, watch, solved);
}

template <class T>
struct StagesInstances {
  static constexpr std::tuple list{
      instance<PreparedSystem<T>(Context&, const SolveOptions&, std::shared_ptr<const AnyMatrix<T>>, SolveFacts&)>(
          prepare),
      instance<std::unique_ptr<Preconditioner<T>>(Context&, SolveOptions&, SolveFacts&, const PreparedSystem<T>&,
                                                  const Operator<T>&)>(make_preconditioner),
      instance<void(Context&, const SolveOptions&, const Operator<T>&, const Preconditioner<T>&, SolveFacts&)>(
          measure_contraction),
      instance<void(Context&, KeptSolver<T>&, const PreparedSystem<T>&, const Array<T>&, Array<T>&, SolveFacts&,
                    const Watch&, const ColumnWatch&)>(solve_columns),
      instance<void(Context&, SolveOptions&, const PreparedSystem<T>&, const Array<T>&, Array<T>&, SolveFacts&,
                    const std::function<void()>&, const Watch&, const ColumnWatch&)>(solve_prepared)};
};
KRILL_INSTANTIATE(SystemSolver);
KRILL_INSTANTIATE(StagesInstances);

}  // namespace krill
