// Repeats an iteration until its Progress gives a reason.
#pragma once
#include <functional>
#include <memory>

#include "krill/solvers/progress.hpp"
#include "krill/sparse/core/array.hpp"

namespace krill {

using Body = std::function<void()>;

/// Looks at a running loop every now and then; anything but Reason::running is the reason to end it with.
using Watcher = std::function<Reason(const Progress&)>;

/// What a loop keeps from one solve to the next: on CUDA the instantiated graph, good for the context that made it.
struct LoopGraph {
  std::uint64_t context = 0;
  std::shared_ptr<void> graph;
};

/// Runs `body` until progress.reason is set. On the host: a loop. On CUDA: the body runs once directly (arrays are
/// allocated and uploaded then), is captured several times over into one graph, and a while node on the device repeats
/// that; the host only looks on, through a second stream. The body must do the same work on the same arrays every time.
/// Raises InvalidArgument where the body allocates, transfers or synchronises after its first run.
void iterate(Context&, LoopGraph&, Array<Progress>& progress, const Body& body, const Watcher& watcher = {});

/// What the loops behind the door work with; `progress` is on the tag's side.
struct LoopPlan {
  LoopControl control;
  std::uint64_t context;
  LoopGraph& graph;
  Progress* progress;
  const Body& body;
  const Watcher& watcher;
};
void run_loop(const Host&, const LoopPlan&);
void run_loop(const Cuda&, const LoopPlan&);

}  // namespace krill
