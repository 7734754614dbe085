#include "apps/system/solve_system.hpp"

#include "apps/support/machine.hpp"
#include "solvers/system/ladder.hpp"
#include "solvers/transform/solve_transformed.hpp"
#include "sparse/core/instantiate.hpp"

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
void note_error(const LinearSystem<T>& system, SolveRecord& record) {
  if (system.known) record.known_error = relative_error(system.x.host(), system.known->host());
}

}  // namespace

void begin_record(SolveRecord& record) {
  record.started_at = utc_now();
  record.precision = resolve_precision(record.settings);
}

void record_backend(SolveRecord& record, const Context& ctx) {
  record.on_cuda = ctx.on_cuda();
  record.threads = ctx.threads();
  if (ctx.on_cuda()) record.device = device::info(record.settings.device);
}

template <class T>
void solve_system(Context& ctx, LinearSystem<T>& system, SolveRecord& record, const std::function<void()>& prepared,
                  const Watch& watch, const ColumnWatch& solved) {
  climb(ctx, record.settings, system.prepared, system.b, system.x, record, prepared, watch, solved);
  note_error(system, record);
}

template <class T>
StepSetup solve_step(Context& ctx, SystemSequence<T>& sequence, LinearSystem<T>& system, SolveRecord& record,
                     const std::function<void()>& prepared, const Watch& watch) {
  StepSetup setup = sequence.solve(ctx, std::move(system.prepared), system.b, system.x, record, prepared, watch);
  note_error(system, record);
  return setup;
}

template <class T>
struct SolveSystemInstances {
  static constexpr std::tuple list{instance<void(Context&, LinearSystem<T>&, SolveRecord&, const std::function<void()>&,
                                                 const Watch&, const ColumnWatch&)>(solve_system),
                                   instance<StepSetup(Context&, SystemSequence<T>&, LinearSystem<T>&, SolveRecord&,
                                                      const std::function<void()>&, const Watch&)>(solve_step)};
};
KRILL_INSTANTIATE(SolveSystemInstances);

}  // namespace krill::apps
