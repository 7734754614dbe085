#include "sparse/core/context.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "sparse/core/team.hpp"

namespace krill {
namespace {

std::uint64_t new_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

Counters& counters() {
  thread_local Counters mine;
  return mine;
}

struct Context::Device {
  Device(int index, CUstream_st* user_stream)
      : arena(index),
        stream(user_stream ? user_stream : device::create_stream(index)),
        owns_stream(user_stream == nullptr),
        stream_id(device::enlist_stream(index, stream)) {}
  ~Device() {
    device::strike_stream(stream_id);
    if (owns_stream) device::destroy_stream(stream);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  Arena arena;
  CUstream_st* stream;
  bool owns_stream;
  std::uint64_t stream_id;
};

Context::Context() : id_(new_id()), host_arena_(std::make_unique<Arena>()) {
  const char* loop = std::getenv("KRILL_LOOP");
  if (!loop) return;
  const auto named = std::find(loop_control_names.begin(), loop_control_names.end(), loop);
  if (named == loop_control_names.end())
    throw InvalidArgument(std::string("KRILL_LOOP: ") + loop + " is none of auto, graph, persistent, replay, host");
  loop_control = static_cast<LoopControl>(named - loop_control_names.begin());
}
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;
Context::~Context() = default;

Context Context::host(int threads) {
  Context ctx;
  ctx.host_ = {threads > 0 ? threads : omp_get_max_threads(), {}, ctx.host_arena_.get()};
  return ctx;
}

Context Context::cuda(CudaOptions options) {
  const int devices = device::count();
  if (devices == 0) throw NoDevice(device::absence());
  if (options.device < 0 || options.device >= devices)
    throw NoDevice("CUDA device " + std::to_string(options.device) + " does not exist: there are " +
                   std::to_string(devices) + ", counted from 0");
  Context ctx = host();
  if (options.stream) device::require_stream_of(options.device, options.stream);
  ctx.device_ = std::make_unique<Device>(options.device, options.stream);
  Device& own = *ctx.device_;
  ctx.cuda_ = {own.stream,   {}, &own.arena, nullptr, options.device, device::info(options.device).multiprocessors,
               own.stream_id};
  ctx.cuda_.ticket = static_cast<unsigned*>(own.arena.take(sizeof(unsigned), &ctx.cuda_));
  device::fill_zero(ctx.cuda_, ctx.cuda_.ticket, sizeof(unsigned));
  return ctx;
}

Context Context::automatic() { return device::count() > 0 ? cuda() : host(); }

void Context::synchronize() {
  if (!on_cuda()) return;
  if (cuda_.team)  // the work may wait for ranks that are gone
    while (!device::is_done(cuda_.stream)) {
      cuda_.team->look_for_failures(-1);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  device::synchronize(cuda_.stream);
}

MemoryUse Context::memory_use() const { return on_cuda() ? device::memory_use(cuda_.device) : host_memory::use(); }

void Context::restart_memory_peak() {
  if (!on_cuda()) return host_memory::restart_peak();
  synchronize();
  device::restart_peak(cuda_.device);
}

std::size_t Context::workspace_bytes() const { return on_cuda() ? cuda_.arena->bytes() : host_arena_->bytes(); }

}  // namespace krill
