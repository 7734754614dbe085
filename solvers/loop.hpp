// Repeats an iteration until its Progress gives a reason.
#pragma once
#include <functional>
#include <memory>

#include "solvers/progress.hpp"
#include "sparse/core/array.hpp"

namespace krill {

using Body = std::function<void()>;

/// Called with the record of a running loop now and then; returns Reason::running, or the reason to end the loop with.
using Watcher = std::function<Reason(const Progress&)>;

/// What a loop keeps from one solve to the next: on CUDA the instantiated graph, good for the context that made it as
/// long as no other one runs the loop in between.
struct LoopGraph {
  std::uint64_t context = 0;
  std::shared_ptr<void> graph;
};

/// Runs `body` until progress.reason is set. On the host: a loop. On CUDA: the first time the body runs once directly
/// (arrays are allocated and uploaded then) and is captured several times over into one graph; a while node on the
/// device repeats that, then and every later time. Returns without a wait, unless there is a watcher: then the host
/// looks on, through a second stream. The body must do the same work on the same arrays every time. Where the host
/// has changed an array that loops read, the body runs directly once more first, which brings it to the device. Raises
/// InvalidArgument where the body allocates, transfers or synchronises while it is captured.
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
