#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "solvers/loop.hpp"
#include "sparse/core/cuda_toolkit.hpp"

namespace krill {
namespace {

// A while node costs 4.5 us an iteration on an H200, a further kernel in its body 0.5 us: several iterations share one,
// until the body has about as many nodes as hide that.
struct Tuning {
  static constexpr int max_iterations_per_body = 8;
  static constexpr std::size_t enough_nodes = 64;
  // Between two looks of the host at the record: a part of the time that has passed, within these. Not varied.
  static constexpr std::chrono::nanoseconds min_wait = std::chrono::microseconds(20),
                                            max_wait = std::chrono::milliseconds(50);
  static constexpr int part_of_time = 50;
};

// Threads: one. Bytes: the record. Races: the host writes one word of it, stop_requested, which is read once.
__global__ void keep_going(cudaGraphConditionalHandle handle, Progress* progress) {
  cudaGraphSetConditional(handle, progress->go_on());
}

// The same, for a loop that the host steps.
__global__ void settle(Progress* progress) { progress->go_on(); }

template <auto destroy>
struct Destroy {
  template <class P>
  void operator()(P p) const {
    destroy(p);
  }
};
template <class Handle, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<destroy>>;
using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;
using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;

/// The graph of a loop, and the stream from which the host looks on, once the loop's record is there.
struct CapturedLoop {
  GraphExec exec;
  Stream aside;
  Event begin;
};

/// Ends the capture that it began, also when an exception leaves its scope.
class Capture {
 public:
  Capture(cudaStream_t stream, cudaGraph_t into, const cudaGraphNode_t* after, std::size_t count) : stream_(stream) {
    check(cudaStreamBeginCaptureToGraph(stream, into, after, nullptr, count, cudaStreamCaptureModeThreadLocal));
  }
  ~Capture() {
    if (stream_) cudaStreamEndCapture(stream_, &ignored_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  void end() { check(cudaStreamEndCapture(std::exchange(stream_, nullptr), &ignored_)); }

 private:
  cudaStream_t stream_;
  cudaGraph_t ignored_ = nullptr;
};

std::size_t nodes(cudaGraph_t graph) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count));
  return count;
}

/// keep_going; while (it says so) { body(); ...; body(); keep_going }
GraphExec capture_loop(const Cuda& cuda, Progress* progress, const Body& body) {
  cudaGraph_t raw = nullptr;
  check(cudaGraphCreate(&raw, 0));
  const Graph graph(raw);
  cudaGraphConditionalHandle handle = 0;
  check(cudaGraphConditionalHandleCreate(&handle, graph.get(), 0, cudaGraphCondAssignDefault));

  Capture entry(cuda.stream, graph.get(), nullptr, 0);
  keep_going<<<1, 1, 0, cuda.stream>>>(handle, progress);
  check(cudaGetLastError());
  entry.end();
  cudaGraphNode_t first = nullptr;
  std::size_t one = 1;
  check(cudaGraphGetNodes(graph.get(), &first, &one));

  cudaGraphNodeParams loop = {};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  loop.conditional.handle = handle;
  cudaGraphNode_t node = nullptr;
  check(detail::add_graph_node(&node, graph.get(), &first, 1, &loop));
  cudaGraph_t inside = loop.conditional.phGraph_out[0];

  std::size_t per_iteration = 0;
  {
    Capture iterations(cuda.stream, inside, nullptr, 0);
    for (int i = 0; i < Tuning::max_iterations_per_body; ++i) {
      body();
      const std::size_t now = nodes(inside);
      if (i == 0) per_iteration = now;
      if (now + per_iteration > Tuning::enough_nodes) break;
    }
    keep_going<<<1, 1, 0, cuda.stream>>>(handle, progress);
    check(cudaGetLastError());
    iterations.end();
  }
  cudaGraphExec_t exec = nullptr;
  check(cudaGraphInstantiate(&exec, graph.get(), 0));
  return GraphExec(exec);
}

GraphExec capture_once(const Cuda& cuda, const Body& body) {
  cudaGraph_t raw = nullptr;
  check(cudaGraphCreate(&raw, 0));
  const Graph graph(raw);
  Capture capture(cuda.stream, graph.get(), nullptr, 0);
  body();
  capture.end();
  cudaGraphExec_t exec = nullptr;
  check(cudaGraphInstantiate(&exec, graph.get(), 0));
  return GraphExec(exec);
}

/// The one word that the host writes into a running solve.
void request_stop(cudaStream_t stream, Progress* progress, Reason why) {
  check(cudaMemcpyAsync(&progress->stop_requested, &why, sizeof why, cudaMemcpyHostToDevice, stream));
  check(cudaStreamSynchronize(stream));
}

/// Looks at the record until the stream is done, through a stream of its own, and carries a wish to stop to the device.
/// The wait between looks grows with the time that has passed: short solves do not wait for their watcher.
void look_on(const Cuda& cuda, cudaStream_t aside, Progress* progress, const Watcher& watcher) {
  using namespace std::chrono;
  const auto start = steady_clock::now();
  for (Progress seen; cudaStreamQuery(cuda.stream) == cudaErrorNotReady;) {
    check(cudaMemcpyAsync(&seen, progress, sizeof seen, cudaMemcpyDeviceToHost, aside));
    check(cudaStreamSynchronize(aside));
    const Reason wish = watcher(seen);
    if (wish != Reason::running) request_stop(aside, progress, wish);
    std::this_thread::sleep_for(std::clamp<nanoseconds>((steady_clock::now() - start) / Tuning::part_of_time,
                                                        Tuning::min_wait, Tuning::max_wait));
  }
}

/// The same body, one iteration at a time.
void step_loop(const Cuda& cuda, const LoopPlan& plan) {
  plan.graph = {};
  for (Progress seen;;) {
    settle<<<1, 1, 0, cuda.stream>>>(plan.progress);
    check(cudaGetLastError());
    check(cudaMemcpyAsync(&seen, plan.progress, sizeof seen, cudaMemcpyDeviceToHost, cuda.stream));
    check(cudaStreamSynchronize(cuda.stream));
    if (seen.reason != Reason::running) return;
    plan.body();
    const Reason wish = plan.watcher ? plan.watcher(seen) : Reason::running;
    if (wish != Reason::running) request_stop(cuda.stream, plan.progress, wish);
  }
}

std::shared_ptr<CapturedLoop> not_captured_yet() {
  auto loop = std::make_shared<CapturedLoop>();
  cudaStream_t aside = nullptr;
  check(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking));
  loop->aside.reset(aside);
  cudaEvent_t begin = nullptr;
  check(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming));
  loop->begin.reset(begin);
  return loop;
}

/// What was kept of the loop. Whoever looks on can do so from here on.
std::shared_ptr<CapturedLoop> kept(const Cuda& cuda, const LoopPlan& plan) {
  const bool known = plan.graph.context == plan.context;
  auto loop = known ? std::static_pointer_cast<CapturedLoop>(plan.graph.graph) : not_captured_yet();
  if (plan.watcher) {
    check(cudaEventRecord(loop->begin.get(), cuda.stream));
    check(cudaStreamWaitEvent(loop->aside.get(), loop->begin.get()));
  }
  return loop;
}

/// Makes the graph of the loop where there is none. What the body needs is on the device afterwards: the first direct
/// run has brought it, and another one brings what the host has changed since.
void capture(const Cuda& cuda, const LoopPlan& plan, CapturedLoop& loop) {
  const bool captured = loop.exec != nullptr;
  if (!captured || detail::stale_in_loops() > 0) plan.body();
  if (!captured) loop.exec = capture_loop(cuda, plan.progress, plan.body);
}

}  // namespace

void run_loop(const Cuda& cuda, const LoopPlan& plan) {
  if (plan.control == LoopControl::host) return step_loop(cuda, plan);
  if (plan.control == LoopControl::persistent && !plan.whole)
    throw InvalidArgument("loop persistent: this solver, matrix and preconditioner have no such kernel; use loop auto");
  const auto loop = kept(cuda, plan);
  plan.graph = {};  // until it is whole again
  if (plan.whole && plan.control != LoopControl::graph) {
    plan.whole();
  } else {
    capture(cuda, plan, *loop);
    detail::count_loop_launch();
    check(cudaGraphLaunch(loop->exec.get(), cuda.stream));
  }
  plan.graph = {plan.context, loop};
  if (!plan.watcher) return;
  look_on(cuda, loop->aside.get(), plan.progress, plan.watcher);
  check(cudaStreamSynchronize(cuda.stream));
}

void run_repeated(const Cuda& cuda, LoopControl control, std::int64_t times, const Body& body) {
  if (control == LoopControl::host || times < 3) {
    for (std::int64_t i = 0; i < times; ++i) body();
    return;
  }
  body();
  const GraphExec step = capture_once(cuda, body);
  for (std::int64_t i = 1; i < times; ++i) check(cudaGraphLaunch(step.get(), cuda.stream));
  check(cudaStreamSynchronize(cuda.stream));  // the graph goes
}

}  // namespace krill
