#include "solvers/loop.hpp"

namespace krill {

void iterate(Context& ctx, LoopGraph& graph, Array<Progress>& progress, const Body& body, const Watcher& watcher,
             const Body& whole) {
  ctx.dispatch([&](const auto& where) {
    Progress* record = progress.update(where);
    const Context::SkipScope scope(ctx, &record->reason);
    run_loop(where, {ctx.loop_control, ctx.id(), graph, record, body, watcher, whole});
  });
}

void repeat(Context& ctx, std::int64_t times, const Body& body) {
  ctx.dispatch([&](const auto& where) { run_repeated(where, ctx.loop_control, times, body); });
}

void run_repeated(const Host&, LoopControl, std::int64_t times, const Body& body) {
  for (std::int64_t i = 0; i < times; ++i) body();
}

void run_loop(const Host&, const LoopPlan& plan) {
  plan.graph = {};  // the arrays are the host's now
  while (plan.progress->go_on()) {
    plan.body();
    if (plan.watcher) plan.progress->ask(plan.watcher);
  }
}

}  // namespace krill
