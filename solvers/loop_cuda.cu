#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "solvers/loop.hpp"
#include "sparse/core/cuda_toolkit.hpp"
#include "sparse/core/pass_cuda.cuh"

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

// Threads: one. Bytes: the record, and a word of that of the loop around it. Races: the host writes one word of a
// record, stop_requested, which is read once.
__global__ void keep_going(cudaGraphConditionalHandle handle, Progress* progress, const Progress* around) {
  detail::follow(*progress, around);
  cudaGraphSetConditional(handle, progress->go_on());
}

// The same, for a loop that the host steps.
__global__ void settle(Progress* progress, const Progress* around) {
  detail::follow(*progress, around);
  progress->go_on();
}

// A wish of one rank's host becomes everyone's. Threads: one. Bytes: a word of each rank. Races: the host writes its
// word, which is read once.
__global__ void share_wish(Progress* outermost, TeamSlots* slots) {
  Reason strongest = Reason::running;
  exchange_records(slots, load_relaxed(outermost->own_wish), [&](Reason wish) {
    if (wish > strongest) strongest = wish;
  });
  if (outermost->stop_requested == Reason::running) outermost->stop_requested = strongest;
}

// The same where a gathering stands between the two.
// What this rank's host wishes at this moment, for the other ranks. Threads: one. Bytes: two words. Races: the host
// writes the word, which is read once.
__global__ void tell_wish(const Progress* outermost, Reason* wish) { *wish = load_relaxed(outermost->own_wish); }

// What all of them wish. Threads: one. Bytes: a word of each rank. Races: none.
__global__ void heed_wishes(Progress* outermost, const Reason* wishes, int ranks) {
  if (outermost->stop_requested == Reason::running) outermost->stop_requested = detail::strongest(wishes, ranks);
}

/// Where ranks solve together, a wish of one is heard by all, in the same iteration.
void hear_wishes(const Cuda& cuda, const LoopPlan& plan) {
  if (!cuda.team) return;
  Progress* const outermost = plan.around ? plan.around : plan.progress;
  if (TeamSlots* slots = cuda.team->slots()) {
    share_wish<<<1, 1, 0, cuda.stream>>>(outermost, slots);
    return check(cudaGetLastError());
  }
  Frame frame(cuda);
  auto* mine = frame.take<Reason>(1);
  tell_wish<<<1, 1, 0, cuda.stream>>>(outermost, mine);
  check(cudaGetLastError());
  const Reason* wishes = gather_over_team(cuda, frame, mine);
  heed_wishes<<<1, 1, 0, cuda.stream>>>(outermost, wishes, cuda.team->size());
  check(cudaGetLastError());
}

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

/// The records behind a launch of a graph that is replayed, and when they are there.
struct Seen {
  Progress own, outermost;
};
using PinnedSeen = Owned<Seen*, cudaFreeHost>;

/// The graph of a loop, and the stream from which the host looks on, once the loop's record is there.
struct CapturedLoop {
  GraphExec exec;
  Stream aside;
  Event begin;
  PinnedSeen seen;               ///< two, of a loop that is replayed
  std::array<Event, 2> arrived;  ///< when each of them is there
};

/// Where the next node of a graph goes: behind these.
struct Place {
  cudaGraph_t graph = nullptr;
  std::vector<cudaGraphNode_t> after = {};
};

/// Where a stream is captured to; no graph where it is not.
Place capture_place(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  Place place;
  const cudaGraphNode_t* after = nullptr;
  std::size_t count = 0;
  check(detail::get_capture(stream, &status, &place.graph, &after, &count));
  if (status == cudaStreamCaptureStatusNone) return {};
  place.after.assign(after, after + count);
  return place;
}

cudaError_t begin_capture(cudaStream_t stream, const Place& place) {
  return cudaStreamBeginCaptureToGraph(stream, place.graph, place.after.data(), nullptr, place.after.size(),
                                       cudaStreamCaptureModeThreadLocal);
}

/// Ends the capture that it began, also when an exception leaves its scope.
class Capture {
 public:
  Capture(cudaStream_t stream, const Place& place) : stream_(stream) { check(begin_capture(stream, place)); }
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

/// As many of them as pay, behind what the stream is captured to.
void capture_iterations(const LoopPlan& plan, cudaGraph_t graph) {
  const std::size_t before = nodes(graph);
  std::size_t per_iteration = 0;
  for (int i = 0; i < Tuning::max_iterations_per_body; ++i) {
    plan.body();
    const std::size_t now = nodes(graph) - before;
    if (i == 0) per_iteration = now;
    if (now + per_iteration > Tuning::enough_nodes) break;
  }
}

/// keep_going; while (it says so) { body(); ...; body(); keep_going }. The place after that. The stream is not
/// captured.
Place add_loop(const Cuda& cuda, const Place& place, const LoopPlan& plan) {
  cudaGraphConditionalHandle handle = 0;
  check(cudaGraphConditionalHandleCreate(&handle, place.graph, 0, cudaGraphCondAssignDefault));

  Capture entry(cuda.stream, place);
  hear_wishes(cuda, plan);
  keep_going<<<1, 1, 0, cuda.stream>>>(handle, plan.progress, plan.around);
  check(cudaGetLastError());
  const Place entered = capture_place(cuda.stream);
  entry.end();

  cudaGraphNodeParams loop = {};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  loop.conditional.handle = handle;
  cudaGraphNode_t node = nullptr;
  check(detail::add_graph_node(&node, place.graph, entered.after.data(), entered.after.size(), &loop));
  cudaGraph_t inside = loop.conditional.phGraph_out[0];

  Capture iterations(cuda.stream, {inside});
  capture_iterations(plan, inside);
  hear_wishes(cuda, plan);
  keep_going<<<1, 1, 0, cuda.stream>>>(handle, plan.progress, plan.around);
  check(cudaGetLastError());
  iterations.end();
  return {place.graph, {node}};
}

Graph new_graph() {
  cudaGraph_t graph = nullptr;
  check(cudaGraphCreate(&graph, 0));
  return Graph(graph);
}

GraphExec instantiate(const Graph& graph) {
  cudaGraphExec_t exec = nullptr;
  check(cudaGraphInstantiate(&exec, graph.get(), 0));
  return GraphExec(exec);
}

GraphExec capture_loop(const Cuda& cuda, const LoopPlan& plan) {
  const Graph graph = new_graph();
  add_loop(cuda, {graph.get()}, plan);
  return instantiate(graph);
}

/// Until the scope ends, a stream that is captured is not; then its capture goes on at `place`. Where it cannot,
/// whoever ends that capture is told.
class Suspended {
 public:
  Suspended(cudaStream_t stream, Place at) : place(std::move(at)), stream_(stream) {
    cudaGraph_t same = nullptr;
    check(cudaStreamEndCapture(stream, &same));
  }
  ~Suspended() { begin_capture(stream_, place); }
  Suspended(const Suspended&) = delete;
  Suspended& operator=(const Suspended&) = delete;

  Place place;

 private:
  cudaStream_t stream_;
};

/// The loop becomes a node of the graph that the stream is captured to.
void add_inner_loop(const Cuda& cuda, const LoopPlan& plan, Place place) {
  Suspended outer(cuda.stream, std::move(place));
  outer.place = add_loop(cuda, outer.place, plan);
}

GraphExec capture_once(const Cuda& cuda, const Body& body) {
  const Graph graph = new_graph();
  Capture capture(cuda.stream, {graph.get()});
  body();
  capture.end();
  return instantiate(graph);
}

/// The one word that the host writes into a running solve.
void request_stop(const Cuda& cuda, cudaStream_t stream, Progress* progress, Reason why) {
  Reason* const word = cuda.team ? &progress->own_wish : &progress->stop_requested;
  check(cudaMemcpyAsync(word, &why, sizeof why, cudaMemcpyHostToDevice, stream));
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
    if (wish != Reason::running) request_stop(cuda, aside, progress, wish);
    if (cuda.team) cuda.team->look_for_failures(seen.iteration);
    std::this_thread::sleep_for(std::clamp<nanoseconds>((steady_clock::now() - start) / Tuning::part_of_time,
                                                        Tuning::min_wait, Tuning::max_wait));
  }
}

/// Waits for what the query asks for, with an eye on the other ranks.
template <class Query>
void watch_until_done(const Cuda& cuda, int iteration, const Query& query) {
  while (cuda.team && query() == cudaErrorNotReady) {
    cuda.team->look_for_failures(iteration);
    std::this_thread::yield();
  }
}
void wait_for(const Cuda& cuda, cudaEvent_t event, int iteration) {
  watch_until_done(cuda, iteration, [&] { return cudaEventQuery(event); });
  check(cudaEventSynchronize(event));
}
void wait_for_stream(const Cuda& cuda, int iteration) {
  watch_until_done(cuda, iteration, [&] { return cudaStreamQuery(cuda.stream); });
  check(cudaStreamSynchronize(cuda.stream));
}

/// The same body, one iteration at a time.
void step_loop(const Cuda& cuda, const LoopPlan& plan) {
  plan.graph = {};
  for (Progress seen{};;) {
    hear_wishes(cuda, plan);
    settle<<<1, 1, 0, cuda.stream>>>(plan.progress, plan.around);
    check(cudaGetLastError());
    if (cuda.team) wait_for_stream(cuda, seen.iteration);  // copies to memory that is not pinned wait without a look
    check(cudaMemcpyAsync(&seen, plan.progress, sizeof seen, cudaMemcpyDeviceToHost, cuda.stream));
    check(cudaStreamSynchronize(cuda.stream));
    if (seen.reason != Reason::running) return;
    plan.body();
    const Reason wish = plan.watcher ? plan.watcher(seen) : Reason::running;
    if (wish != Reason::running) request_stop(cuda, cuda.stream, plan.progress, wish);
  }
}

Event new_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return Event(event);
}

std::shared_ptr<CapturedLoop> not_captured_yet() {
  auto loop = std::make_shared<CapturedLoop>();
  cudaStream_t aside = nullptr;
  check(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking));
  loop->aside.reset(aside);
  loop->begin = new_event();
  return loop;
}

/// What was kept of the loop. Whoever looks on can do so from here on.
std::shared_ptr<CapturedLoop> kept(const Cuda& cuda, const LoopPlan& plan) {
  const bool known = plan.graph.context == plan.context && plan.graph.around == plan.around;
  auto loop = known ? std::static_pointer_cast<CapturedLoop>(plan.graph.graph) : not_captured_yet();
  if (plan.outermost_watcher) {
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
  if (!captured) loop.exec = capture_loop(cuda, plan);
}

/// Loops that this thread has run or captured.
thread_local std::uint64_t loops_begun = 0;

/// The graph that is replayed: no iteration where a host wishes none or there is a reason, else a few.
GraphExec capture_replay(const Cuda& cuda, const LoopPlan& plan) {
  const Graph graph = new_graph();
  Capture capture(cuda.stream, {graph.get()});
  hear_wishes(cuda, plan);
  settle<<<1, 1, 0, cuda.stream>>>(plan.progress, plan.around);
  check(cudaGetLastError());
  capture_iterations(plan, graph.get());
  capture.end();
  return instantiate(graph);
}

void make_room_for_records(CapturedLoop& loop) {
  if (loop.seen) return;
  Seen* seen = nullptr;
  check(cudaMallocHost(&seen, 2 * sizeof(Seen)));
  loop.seen.reset(seen);
  for (Event& event : loop.arrived) event = new_event();
}

/// A graph of a few iterations, launched again and again. The host launches one before it has seen what the last one
/// came to, so one is always waiting; the ranks of a team have the same reasons, so they launch as many. Once there is
/// a reason, iterations skip. A loop with others in its body is stepped, and those are replayed.
void replay_loop(const Cuda& cuda, const LoopPlan& plan) {
  const auto loop = kept(cuda, plan);
  plan.graph = {};  // until it is whole again
  const bool captured = loop->exec != nullptr;
  if (!captured || detail::stale_in_loops() > 0) {
    const std::uint64_t before = loops_begun;
    plan.body();
    if (loops_begun != before) return step_loop(cuda, plan);
  }
  if (!captured) loop->exec = capture_replay(cuda, plan);
  make_room_for_records(*loop);
  Progress* const outermost = plan.around ? plan.around : plan.progress;
  int iteration = 0;
  for (std::size_t launch = 0;; ++launch) {
    Seen& seen = loop->seen.get()[launch % 2];
    const Event& arrived = loop->arrived[launch % 2];
    if (launch >= 2) {
      wait_for(cuda, arrived.get(), iteration);
      iteration = seen.outermost.iteration;
      if (seen.own.reason != Reason::running) break;
      const Reason wish = plan.outermost_watcher ? plan.outermost_watcher(seen.outermost) : Reason::running;
      if (wish != Reason::running) request_stop(cuda, loop->aside.get(), outermost, wish);
    }
    detail::count_loop_launch();
    check(cudaGraphLaunch(loop->exec.get(), cuda.stream));
    check(cudaMemcpyAsync(&seen.own, plan.progress, sizeof(Progress), cudaMemcpyDeviceToHost, cuda.stream));
    check(cudaMemcpyAsync(&seen.outermost, outermost, sizeof(Progress), cudaMemcpyDeviceToHost, cuda.stream));
    check(cudaEventRecord(arrived.get(), cuda.stream));
  }
  wait_for_stream(cuda, iteration);  // for the one that was waiting
  plan.graph = {plan.context, plan.around, loop};
}

/// Whether the host launches the iterations, for the context asks for that, or no while node can hold them.
bool is_replayed(const Cuda& cuda, const LoopPlan& plan) {
  return plan.control == LoopControl::replay ||
         (cuda.team && cuda.team->in_graphs() == Team::InGraphs::but_while_nodes);
}

}  // namespace

void run_loop(const Cuda& cuda, const LoopPlan& plan) {
  ++loops_begun;
  if (Place place = capture_place(cuda.stream); place.graph) return add_inner_loop(cuda, plan, std::move(place));
  if (plan.control == LoopControl::host || (cuda.team && cuda.team->in_graphs() == Team::InGraphs::none))
    return step_loop(cuda, plan);
  if (is_replayed(cuda, plan)) return replay_loop(cuda, plan);
  if (plan.control == LoopControl::persistent && !plan.whole)
    throw InvalidArgument("loop persistent: this solver, matrix and preconditioner have no such kernel; use loop auto");
  const auto loop = kept(cuda, plan);
  plan.graph = {};  // until it is whole again
  if (plan.whole && plan.control != LoopControl::graph && !cuda.team) {
    plan.whole();
  } else {
    capture(cuda, plan, *loop);
    detail::count_loop_launch();
    check(cudaGraphLaunch(loop->exec.get(), cuda.stream));
  }
  plan.graph = {plan.context, plan.around, loop};
  // An inner loop that is not captured, as in the first run of a body: kernels that are used for the first time after
  // it would wait for its end, and the host with them, so the host looks on here.
  if (!plan.outermost_watcher) return;
  look_on(cuda, loop->aside.get(), plan.around ? plan.around : plan.progress, plan.outermost_watcher);
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
