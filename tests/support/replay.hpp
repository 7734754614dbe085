// Operations as a solver's loop runs them.
#pragma once
#include "solvers/loop.hpp"

namespace krill::test {

/// Runs `body` directly and then, on CUDA, from a captured graph that the device repeats until the host stops it.
/// Raises InvalidArgument where the body allocates, transfers or waits after its first run.
inline void replay(Context& ctx, const Body& body) {
  Array<Progress> progress(std::vector<Progress>(1));
  LoopGraph graph;
  iterate(ctx, graph, progress, body, [](const Progress&) { return Reason::interrupted; });
}

/// Runs `body` with a reason set, so that it should do nothing.
inline void run_skipped(Context& ctx, const Body& body) {
  const Array<Reason> reason(std::vector<Reason>{Reason::converged});
  ctx.dispatch([&](const auto& where) {
    const Context::SkipScope scope(ctx, reason.read(where));
    body();
  });
}

}  // namespace krill::test
