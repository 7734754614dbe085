// Where and how an operation runs.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "sparse/core/arena.hpp"
#include "sparse/core/config.hpp"
#include "sparse/core/device.hpp"
#include "sparse/core/error.hpp"
#include "sparse/core/reason.hpp"

namespace krill {

class Team;

/// Inside a solver loop a kernel is told where the loop's reason lies, on its own side, and does nothing once that is
/// set: so a body may stop half way, and several bodies can stand in one graph. A reason changes only where no other
/// thread of the kernel still looks at it: in a pass's finish() or in a kernel of one thread.
struct Skip {
  const Reason* reason = nullptr;
  constexpr bool now() const { return reason && *reason != Reason::running; }
};

/// The host backend, as a kernel sees it.
struct Host {
  int threads = 1;
  Skip skip;
  Arena* arena = nullptr;
  Team* team = nullptr;  ///< whose ranks' sums are added; null: sums are this rank's own

  /// Threads worth waking for `work` elements: they wait passively, and to wake one costs some 50 us.
  int threads_for(std::int64_t work) const { return work < 131'072 ? 1 : threads; }
  const Cuda* cuda() const { return nullptr; }
};

/// The CUDA backend, as a kernel sees it.
struct Cuda {
  CUstream_st* stream = nullptr;
  Skip skip;
  Arena* arena = nullptr;
  unsigned* ticket = nullptr;  ///< one word on the device, zero between kernels, for sums over the grid
  int device = 0;
  int multiprocessors = 1;
  std::uint64_t stream_id = 0;
  Team* team = nullptr;  ///< as Host's

  const Cuda* cuda() const { return this; }
};

/// How a solver's loop runs on CUDA. graph: a while node on the device repeats the kernels of an iteration.
/// persistent: one kernel holds the loop, for small systems and solvers that have such a kernel. automatic: that where
/// there is one, else a graph. replay: the host launches a graph of a few iterations again and again, one ahead of what
/// it knows, for ranks whose exchanges no while node can hold. host: the host decides after every iteration, for
/// debuggers, profilers and compute-sanitizer's racecheck and synccheck, which do not follow device-side while loops.
/// The environment's KRILL_LOOP asks for one by these names (auto, graph, persistent, replay, host).
enum class LoopControl { automatic, graph, persistent, replay, host };
inline constexpr std::array<std::string_view, 5> loop_control_names{"auto", "graph", "persistent", "replay", "host"};

struct CudaOptions {
  int device = 0;
  CUstream_st* stream = nullptr;  ///< of that device; null: the context makes one of its own
};

/// Not thread-safe: one per thread. Movable.
class Context {
 public:
  static Context host(int threads = 0);   ///< 0: as many as OpenMP gives
  static Context cuda(CudaOptions = {});  ///< Raises NoDevice, and InvalidArgument for a stream of another device.
  static Context automatic();             ///< CUDA where there is a device, else the host
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;
  ~Context();

  LoopControl loop_control = LoopControl::automatic;
  /// The ranks that solve the systems of this context together, each in a context of its own; null: it is alone.
  Team* team = nullptr;

  bool on_cuda() const { return device_ != nullptr; }
  int threads() const { return host_.threads; }
  /// The host side of this context, for work that has no device form; its arena dies with the context.
  const Host& host_tag() const { return host_; }
  /// Different for every context that was ever made: plans that hold graphs ask it whether a graph is this context's.
  std::uint64_t id() const { return id_; }
  void synchronize();
  std::size_t workspace_bytes() const;
  /// Arrays and workspace on the backend's side, of all contexts there; on CUDA that is what the pool hands out.
  MemoryUse memory_use() const;
  void restart_memory_peak();

  /// Calls f(Host) or f(Cuda); the tag's type picks the overload inside f. Every kernel's door is one call of this. On
  /// CUDA the context's device is the thread's current one inside of f, and the former one again after it.
  template <class F>
  decltype(auto) dispatch(F&& f) {
    if constexpr (with_cuda)
      if (on_cuda()) {
        const device::Current current(cuda_.device);
        return std::forward<F>(f)(std::as_const(cuda_));
      }
    return std::forward<F>(f)(std::as_const(host_));
  }

  /// Until the scope ends, kernels skip when `reason` (on the backend's side) is set; then the outer one holds again.
  class SkipScope {
   public:
    SkipScope(Context& ctx, const Reason* reason) : ctx_(ctx), outer_(ctx.host_.skip) {
      ctx.host_.skip = ctx.cuda_.skip = {reason};
    }
    ~SkipScope() { ctx_.host_.skip = ctx_.cuda_.skip = outer_; }
    SkipScope(const SkipScope&) = delete;
    SkipScope& operator=(const SkipScope&) = delete;

   private:
    Context& ctx_;
    Skip outer_;
  };

  /// Until the scope ends, the sums of passes are those of all ranks of the team, each of which runs the same kernels
  /// on its own part: added in the order of ranks, so the same bits on all of them. Null: of this rank alone. The dots
  /// of products with a matrix that no other rank shares are this rank's always.
  class TeamScope {
   public:
    TeamScope(Context& ctx, Team* team) : ctx_(ctx), outer_(ctx.host_.team) { ctx.host_.team = ctx.cuda_.team = team; }
    ~TeamScope() { ctx_.host_.team = ctx_.cuda_.team = outer_; }
    TeamScope(const TeamScope&) = delete;
    TeamScope& operator=(const TeamScope&) = delete;

   private:
    Context& ctx_;
    Team* outer_;
  };

 private:
  struct Device;  // owns the stream, the ticket and the device's arena
  Context();

  std::uint64_t id_;
  std::unique_ptr<Arena> host_arena_;
  Host host_;
  Cuda cuda_;
  std::unique_ptr<Device> device_;
};

}  // namespace krill
