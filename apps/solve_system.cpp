#include "krill/apps/solve_system.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "krill/apps/machine.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/stopwatch.hpp"
#include "krill/sparse/core/trace.hpp"

namespace krill::apps {
namespace {

template <class T>
double relative_error(std::span<const T> x, std::span<const T> known) {
  std::vector<T> difference(x.begin(), x.end());
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= known[i];
  const double size = norm(known);
  return norm(std::span<const T>(difference)) / (size > 0 ? size : 1);
}

template <class T>
std::size_t bytes_on_backend(const LinearSystem<T>& system, std::size_t solver, const Context& ctx) {
  const std::size_t matrix = bytes(system.A) + (system.original ? bytes(*system.original) : 0);
  return matrix + solver + ctx.workspace_bytes() +
         sizeof(T) * static_cast<std::size_t>(system.b.size() + system.x.size());
}

template <class T>
void measure(const LinearSystem<T>& system, SolveRecord& record) {
  const SolveReport& r = record.result;
  record.residual_norm = r.baseline > 0 ? r.true_relative * r.baseline : 0;
  record.solution_norm = norm(system.x.host());
  const double scale = record.matrix.frobenius_norm * record.solution_norm + r.rhs_norm;
  record.backward_error = scale > 0 ? record.residual_norm / scale : 0;
  if (system.known) record.known_error = relative_error(system.x.host(), system.known->host());
}

}  // namespace

void begin_record(SolveRecord& record, const Context& ctx) {
  record.started_at = utc_now();
  record.precision = resolve_precision(record.settings);
  record.on_cuda = ctx.on_cuda();
  record.threads = ctx.threads();
  if (ctx.on_cuda()) record.device = device::info(record.settings.device);
}

template <class T>
void note_system(SolveRecord& record, const LinearSystem<T>& system) {
  record.settings = system.settings;
  record.choices = system.choices;
  record.matrix = system.properties;
  record.origin = system.origin;
  record.notes = system.notes;
  record.transformation = system.transformed;
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context& ctx, SolveRecord& record, const LinearSystem<T>& system,
                                                       const Operator<T>& products) {
  PreconditionerOptions& options = record.settings.preconditioner;
  try {
    return krill::make_preconditioner<T>(ctx, options, system.A, &products);
  } catch (const InvalidArgument& error) {
    const bool chosen = std::ranges::any_of(record.choices, [](const auto& c) { return c.key == "preconditioner"; });
    if (const auto next = chosen ? weaker(options, record.matrix) : std::nullopt) {
      options = *next;
      record.notes.push_back(fmt::format("{}; auto went on to {}", error.what(), preconditioner_name(record)));
      return make_preconditioner(ctx, record, system, products);
    }
    if (!system.transformation->reorders()) throw;
    throw InvalidArgument(
        fmt::format("{}\n  rows are those of the system in the ordering {}", error.what(), ordering_name(record)));
  }
}

template <class T>
void solve_system(Context& ctx, LinearSystem<T>& system, SolveRecord& record, const std::function<void()>& prepared,
                  const Watch& watch) {
  Stopwatch clock;
  // The matrix comes to the device with the products, so that its way there is no part of the setup.
  const MatrixOperator<T> A(system.A,
                            record.settings.format == Format::automatic ? SpmvMethod::automatic : SpmvMethod::in_place);
  const SpmvPlan<T>& products = A.prepare(ctx);
  ctx.synchronize();
  record.products = products.report();
  record.timings.convert += clock.lap();
  const auto preconditioner = make_preconditioner(ctx, record, system, A);
  ctx.synchronize();
  record.timings.preconditioner_setup = clock.lap();
  record.preconditioner = preconditioner->report();
  for (const std::string& note : record.preconditioner.notes) record.notes.push_back(note);

  prepared();
  clock.lap();
  std::size_t solver_bytes = 0;
  {
    const TraceRange range("solve");
    record.result =
        solve_transformed(ctx, record.settings.solver, A, *preconditioner, *system.transformation,
                          system.original ? &*system.original : nullptr, system.b, system.x, solver_bytes, watch);
  }
  ctx.synchronize();
  record.timings.solve = clock.lap();
  record.memory_bytes = bytes_on_backend(system, solver_bytes, ctx) + products.bytes() + record.preconditioner.bytes;
  record.memory_peak_bytes = ctx.memory_use().peak;
  measure(system, record);
}

#define INSTANTIATE(T)                                                                                            \
  template void note_system(SolveRecord&, const LinearSystem<T>&);                                                \
  template std::unique_ptr<Preconditioner<T>> make_preconditioner(Context&, SolveRecord&, const LinearSystem<T>&, \
                                                                  const Operator<T>&);                            \
  template void solve_system(Context&, LinearSystem<T>&, SolveRecord&, const std::function<void()>&, const Watch&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill::apps
