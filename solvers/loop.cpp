#include "solvers/loop.hpp"

#include <utility>

namespace krill {
namespace {

/// The loop whose body this thread runs.
struct Running {
  std::uint64_t context;
  Progress *progress, *outermost;  // on the backend's side
  const Watcher *watcher, *outermost_watcher;
};
thread_local const Running* running = nullptr;

/// Until the scope ends, a loop is the one whose body runs; then the outer one is again.
class RunningScope {
 public:
  explicit RunningScope(const Running* inner) : outer_(std::exchange(running, inner)) {}
  ~RunningScope() { running = outer_; }
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;

 private:
  const Running* outer_;
};

const Running* loop_around(const Context& ctx) { return running && running->context == ctx.id() ? running : nullptr; }

}  // namespace

void iterate(Context& ctx, LoopGraph& graph, Array<Progress>& progress, const Body& body, const Watcher& watcher,
             const Body& whole) {
  ctx.dispatch([&](const auto& where) {
    Progress* record = progress.update(where);
    const Context::SkipScope scope(ctx, &record->reason);
    const Running* around = loop_around(ctx);
    Progress* outermost = around ? around->outermost : record;
    const Watcher& outermost_watcher = around ? *around->outermost_watcher : watcher;
    const Running self{ctx.id(), record, outermost, &watcher, &outermost_watcher};
    const RunningScope within(&self);
    run_loop(where, {ctx.loop_control, ctx.id(), graph, record, around ? outermost : nullptr, body, watcher,
                     outermost_watcher, whole});
  });
}

Watcher watcher_around(const Context& ctx) {
  const Running* around = loop_around(ctx);
  if (ctx.on_cuda() || !around || !*around->watcher) return {};
  return [around](const Progress&) {
    around->progress->ask(*around->watcher);
    return around->progress->stop_requested;
  };
}

void repeat(Context& ctx, std::int64_t times, const Body& body) {
  ctx.dispatch([&](const auto& where) { run_repeated(where, ctx.loop_control, times, body); });
}

void run_repeated(const Host&, LoopControl, std::int64_t times, const Body& body) {
  for (std::int64_t i = 0; i < times; ++i) body();
}

void run_loop(const Host&, const LoopPlan& plan) {
  plan.graph = {};  // the arrays are the host's now
  for (;;) {
    detail::follow(*plan.progress, plan.around);
    if (!plan.progress->go_on()) return;
    plan.body();
    if (plan.watcher) plan.progress->ask(plan.watcher);
  }
}

}  // namespace krill
