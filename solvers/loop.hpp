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
  const Progress* around = nullptr;  ///< the record of the outermost loop in whose body it ran
  std::shared_ptr<void> graph;
};

/// Runs `body` until progress.reason is set. On the host: a loop. On CUDA the first call runs the body once directly,
/// which allocates and uploads arrays, and then captures it, several times in a row, into one graph; a while node on
/// the device repeats that graph, in this call and in later ones. Returns without a wait, unless there is a watcher,
/// for whom the host looks at the record through a second stream. The body must do the same work on the same arrays
/// every time. If the host has changed an array that the loop reads, the body first runs directly once more, which
/// uploads it. `whole`, where there is one, enqueues the whole loop as a single kernel on CUDA, and is called in place
/// of all that unless the context wants a graph. Raises InvalidArgument where the body allocates, transfers or
/// synchronises while it is captured, and where the context wants a persistent kernel and there is none.
/// Where ranks solve together (Context::TeamScope), all of them run the loop, as long as it goes on for all: a wish of
/// one host ends it on all of them after the same iteration. No kernel holds such a loop. Where no while node can hold
/// what they exchange (Team::in_graphs), or the context asks for it, the host launches the graph of a few iterations
/// again and again, one launch ahead of what it knows, and steps the loops around it.
/// In the body of another loop of the context this is a loop within it, on CUDA a while node in that body. A wish to
/// end the outer loop ends the inner one, too, with the same reason, after its iteration.
void iterate(Context&, LoopGraph&, Array<Progress>& progress, const Body& body, const Watcher& watcher = {},
             const Body& whole = {});

/// In the body of a loop that the host runs: asks the watcher of that loop, and of those around it. Empty where there
/// is none, and on CUDA, where the records of loops are read on the device.
Watcher watcher_around(const Context&);

/// Runs `body` that many times. On CUDA the first time directly, which allocates and uploads arrays, the rest as
/// launches of a graph that holds it once: a step in time of few short kernels waits for no host. The body is as that
/// of iterate(). Waits for the last where a graph was launched. Raises InvalidArgument as iterate() does.
void repeat(Context&, std::int64_t times, const Body& body);

namespace detail {

/// A loop ends where the outermost one around it is asked to, whose record is all that the host writes to. Null: none.
constexpr void follow(Progress& progress, const Progress* around) {
  if (around && progress.stop_requested == Reason::running) progress.stop_requested = around->stop_requested;
}

/// What the hosts of several ranks wish: the same on all of them.
constexpr Reason strongest(const Reason* wishes, int ranks) {
  Reason strongest = Reason::running;
  for (int r = 0; r < ranks; ++r)
    if (wishes[r] > strongest) strongest = wishes[r];
  return strongest;
}

}  // namespace detail

/// The arguments of run_loop, by which each backend implements iterate(); `progress` points to memory of the backend.
struct LoopPlan {
  LoopControl control;
  std::uint64_t context;
  LoopGraph& graph;
  Progress* progress;
  Progress* around;  // the record of the outermost loop around this one; null: there is none
  const Body& body;
  const Watcher &watcher, &outermost_watcher;
  const Body& whole;
};
void run_loop(const Host&, const LoopPlan&);
void run_loop(const Cuda&, const LoopPlan&);
void run_repeated(const Host&, LoopControl, std::int64_t times, const Body& body);
void run_repeated(const Cuda&, LoopControl, std::int64_t times, const Body& body);

}  // namespace krill
