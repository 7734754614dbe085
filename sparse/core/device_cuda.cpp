#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "sparse/core/context.hpp"
#include "sparse/core/cuda_toolkit.hpp"
#include "sparse/core/events.hpp"
#include "sparse/core/kept_blocks.hpp"
#include "sparse/core/read_back.hpp"
#include "sparse/core/staging.hpp"
#include "sparse/core/trace.hpp"

namespace krill {

void check(int status, std::source_location where) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // reported here, so not again by the next check
  throw CudaError(
      fmt::format("{} ({}:{})", cudaGetErrorString(static_cast<cudaError_t>(status)), where.file_name(), where.line()));
}

TraceRange::TraceRange(const char* name) { nvtxRangePushA(name); }
TraceRange::~TraceRange() { nvtxRangePop(); }

namespace device {
namespace {

struct Enlisted {
  int device;
  CUstream_st* stream;
};
struct Register {
  std::mutex mutex;
  std::uint64_t last = 0;
  std::unordered_map<std::uint64_t, Enlisted> streams;
};
Register& streams() {
  static Register all;
  return all;
}

/// The memory of a device.
struct DeviceMemory {
  cudaMemPool_t pool = nullptr;  ///< none where it has none; gives nothing back to the driver until memory is short
  std::mutex mutex;              ///< for what follows
  KeptBlocks kept;
  MemoryUse use;
};

cudaMemPool_t new_pool(int device) {
  int supported = 0;
  check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
  if (!supported) return nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, device};
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties));
  std::uint64_t threshold = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  return pool;
}

DeviceMemory& memory_of(int device) {
  static std::mutex mutex;
  static std::unordered_map<int, std::unique_ptr<DeviceMemory>> devices;
  const std::lock_guard lock(mutex);
  std::unique_ptr<DeviceMemory>& memory = devices[device];
  if (!memory) {
    auto made = std::make_unique<DeviceMemory>();
    made->pool = new_pool(device);
    memory = std::move(made);
  }
  return *memory;
}

/// Not where tools watch memory, to whom a block that is kept would be one that is still used.
bool keeps_blocks() {
  static const bool keeps = [] {
    const char* source = std::getenv("KRILL_MEMORY");
    return !source || std::string_view(source) != "driver";
  }();
  return keeps;
}

cudaError_t try_allocate(const Cuda& where, cudaMemPool_t pool, std::size_t bytes, void** memory) {
  return pool ? cudaMallocFromPoolAsync(memory, bytes, pool, where.stream) : cudaMalloc(memory, bytes);
}

/// In the order of that stream; where it is gone, its work is done. cudaFree would leave memory booked as the pool's.
void free_behind(const DeviceMemory& of, std::uint64_t stream_id, void* memory) {
  Cuda last;
  find_stream(stream_id, last);
  of.pool ? cudaFreeAsync(memory, last.stream) : cudaFree(memory);
}

void give_back_blocks(DeviceMemory& of, const std::uint64_t* stream_id = nullptr) {
  std::vector<KeptBlocks::Block> blocks;
  {
    const std::lock_guard lock(of.mutex);
    blocks = of.kept.give_up(stream_id);
  }
  for (const KeptBlocks::Block& block : blocks) free_behind(of, block.stream_id, block.memory);
}

/// The pool as large again, at most a sixteenth of the device's memory more, where an array does not fit: pieces that
/// arrays of all sizes share. A pool that grew by arrays has gaps of their sizes, and maps memory anew in each set-up,
/// at a millisecond a gigabyte.
void grow_pool(const Cuda& where, DeviceMemory& of, std::size_t bytes) {
  std::uint64_t reserved = 0, used = 0;
  check(cudaMemPoolGetAttribute(of.pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  check(cudaMemPoolGetAttribute(of.pool, cudaMemPoolAttrUsedMemCurrent, &used));
  if (used + bytes <= reserved) return;
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  const std::size_t piece = std::min<std::size_t>(reserved, total / 16);
  if (piece <= bytes || piece > free / 4) return;
  void* memory = nullptr;
  if (try_allocate(where, of.pool, piece, &memory) == cudaSuccess)
    check(cudaFreeAsync(memory, where.stream));
  else
    cudaGetLastError();
}

/// What was released may lie in other sizes, so that it is given back before there is no memory.
void* allocate_from_driver(const Cuda& where, DeviceMemory& of, std::size_t bytes, const char* what) {
  void* memory = nullptr;
  if (of.pool && bytes > KeptBlocks::max_block) grow_pool(where, of, bytes);
  cudaError_t status = try_allocate(where, of.pool, bytes, &memory);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    give_back_blocks(of);
    check(cudaDeviceSynchronize());
    if (of.pool) check(cudaMemPoolTrimTo(of.pool, 0));
    status = try_allocate(where, of.pool, bytes, &memory);
  }
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total));
    throw OutOfMemory(what, bytes, free, where.device);
  }
  check(status);
  return memory;
}

/// As nvidia-smi writes it.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (std::size_t k = 0; k < sizeof uuid.bytes; ++k)
    text += fmt::format("{}{:02x}", k == 0 || k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "",
                        static_cast<unsigned char>(uuid.bytes[k]));
  return text;
}

/// Pinned memory of a thread, for what it reads of a device by a few words: a count, a flag. A kernel brings them and
/// says so there, which the host sees 5 us earlier than the end of a copy.
class Slip {
 public:
  static constexpr std::size_t bytes = 1024;
  Slip() {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, bytes + sizeof(unsigned), cudaHostAllocPortable | cudaHostAllocMapped) == cudaSuccess)
      words_ = static_cast<unsigned*>(memory), *sign() = 0;
    else
      cudaGetLastError();
  }
  ~Slip() { cudaFreeHost(words_); }
  Slip(const Slip&) = delete;
  Slip& operator=(const Slip&) = delete;

  /// Whether read() serves for that.
  bool takes(const void* from, std::size_t size) const {
    return words_ && size <= bytes && size % sizeof(unsigned) == 0 &&
           reinterpret_cast<std::uintptr_t>(from) % sizeof(unsigned) == 0;
  }
  void read(const Cuda& where, void* to, const void* from, std::size_t size) {
    post_words(where, static_cast<const unsigned*>(from), size / sizeof(unsigned), words_, sign(), ++posted_);
    if (!has_come()) check(cudaStreamSynchronize(where.stream));
    std::memcpy(to, words_, size);
  }

 private:
  static constexpr int looks = 2'000'000;  // before the driver waits, which also hears of faults. Not varied.
  unsigned* sign() const { return words_ + bytes / sizeof(unsigned); }
  bool has_come() const {
    const std::atomic_ref<unsigned> said(*sign());
    for (int look = 0; look < looks; ++look)
      if (said.load(std::memory_order_acquire) == posted_) return true;
    return false;
  }

  unsigned* words_ = nullptr;
  unsigned posted_ = 0;
};
Slip& slip() {
  thread_local Slip mine;
  return mine;
}

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

}  // namespace

Current::Current(int device) noexcept : former_(device), device_(device) {
  if (cudaGetDevice(&former_) == cudaSuccess && former_ != device_) cudaSetDevice(device_);
}
Current::~Current() {
  if (former_ != device_) cudaSetDevice(former_);
}

int count() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess) return devices;
  cudaGetLastError();
  return 0;
}

std::string absence() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  cudaGetLastError();
  return fmt::format("no CUDA device: {}; install a driver for CUDA {} or later, or use the host backend",
                     status == cudaSuccess ? "the driver finds none" : cudaGetErrorString(status),
                     version(CUDART_VERSION));
}

DeviceInfo info(int device) {
  if (device < 0 || device >= count()) throw NoDevice(absence());
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device));
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver));
  check(cudaRuntimeGetVersion(&runtime));
  return {properties.name,
          fmt::format("{}.{}", properties.major, properties.minor),
          uuid_text(properties.uuid),
          version(driver),
          version(runtime),
          properties.totalGlobalMem,
          properties.multiProcessorCount};
}

MemoryUse memory_use(int device) {
  const Current current(device);
  DeviceMemory& memory = memory_of(device);
  const std::lock_guard lock(memory.mutex);
  return memory.use;
}

void restart_peak(int device) {
  const Current current(device);
  DeviceMemory& memory = memory_of(device);
  const std::lock_guard lock(memory.mutex);
  memory.use.peak = memory.use.now;
}

std::size_t free_memory(int device) {
  const Current current(device);
  std::size_t free = 0, total = 0;
  std::uint64_t reserved = 0, used = 0;
  check(cudaMemGetInfo(&free, &total));
  DeviceMemory& memory = memory_of(device);
  if (memory.pool) {
    check(cudaMemPoolGetAttribute(memory.pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    check(cudaMemPoolGetAttribute(memory.pool, cudaMemPoolAttrUsedMemCurrent, &used));
  }
  const std::lock_guard lock(memory.mutex);
  return free + static_cast<std::size_t>(reserved - used) + memory.kept.bytes();
}

void* allocate(const Cuda& where, std::size_t bytes, const char* what) {
  ++counters().allocations;
  const Current current(where.device);
  DeviceMemory& of = memory_of(where.device);
  const std::size_t size = KeptBlocks::rounded(bytes);
  void* memory = nullptr;
  {
    const std::lock_guard lock(of.mutex);
    memory = of.kept.take(where.stream_id, size);
  }
  if (!memory) memory = allocate_from_driver(where, of, size, what);
  const std::lock_guard lock(of.mutex);
  of.use.now += size;
  of.use.peak = std::max(of.use.peak, of.use.now);
  return memory;
}

void copy_in(const Cuda& where, void* to, const void* from, std::size_t bytes) {
  ++counters().transfers;
  const Current current(where.device);
  if (bytes >= min_staged_bytes && copy_in_by_threads(where, to, from, bytes)) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, where.stream));
}

void copy_out(const Cuda& where, void* to, const void* from, std::size_t bytes) {
  ++counters().transfers;
  const Current current(where.device);
  if (slip().takes(from, bytes)) {
    ++counters().synchronizations;
    return slip().read(where, to, from, bytes);
  }
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, where.stream));
  synchronize(where.stream);
}

void copy(const Cuda& where, void* to, const void* from, std::size_t bytes) {
  const Current current(where.device);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, where.stream));
}

void fill_zero(const Cuda& where, void* to, std::size_t bytes) {
  const Current current(where.device);
  check(cudaMemsetAsync(to, 0, bytes, where.stream));
}

void release(int device, std::uint64_t last_stream_id, void* memory, std::size_t bytes) noexcept {
  const Current current(device);
  DeviceMemory& of = memory_of(device);
  const std::size_t size = KeptBlocks::rounded(bytes);
  Cuda last;
  const bool is_there = find_stream(last_stream_id, last);
  {
    const std::lock_guard lock(of.mutex);
    of.use.now -= size;
    if (keeps_blocks() && is_there && of.kept.keep(last_stream_id, size, memory)) return;
  }
  free_behind(of, last_stream_id, memory);
}

void require_memory_of(int device, const void* memory, const char* what) {
  if (device < 0 || device >= count()) info(device);  // raises NoDevice
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory));
  if (attributes.type == cudaMemoryTypeManaged) return;
  if (attributes.type != cudaMemoryTypeDevice)
    throw InvalidArgument(
        fmt::format("{}: the memory lies on the host, not on CUDA device {}: use borrow_host", what, device));
  if (attributes.device != device)
    throw InvalidArgument(
        fmt::format("{}: the memory lies on CUDA device {}, not on device {}: name the device that it lies on", what,
                    attributes.device, device));
}

void forbid_in_capture(const Cuda& where, const char* what) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(where.stream, &status));
  if (status != cudaStreamCaptureStatusNone)
    throw InvalidArgument(
        fmt::format("{}: an allocation, a transfer or a wait for another stream is not possible while a CUDA graph is "
                    "captured; run the operation once before it is captured",
                    what));
}

void wait_for(const Cuda& where, std::uint64_t other) {
  Cuda tag;
  if (other == where.stream_id || !find_stream(other, tag)) return;
  forbid_in_capture(where, "waiting for another stream");
  cudaEvent_t event = nullptr;
  {
    const Current current(tag.device);  // an event and what it stands behind are of one device
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    check(cudaEventRecord(event, tag.stream));
  }
  const Current current(where.device);
  check(cudaStreamWaitEvent(where.stream, event));
  check(cudaEventDestroy(event));  // the runtime keeps it until the wait is over
}

CUstream_st* create_stream(int device) {
  const Current current(device);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

void destroy_stream(CUstream_st* stream) noexcept { cudaStreamDestroy(stream); }

void require_stream_of(int device, CUstream_st* stream) {
  const Current current(device);  // the two default streams are the current device's
  int owner = device;
  check(detail::get_stream_device(stream, &owner));
  if (owner != device)
    throw InvalidArgument(
        fmt::format("the stream belongs to CUDA device {}, the context to device {}: pass "
                    "CudaOptions{{.device = {}, .stream = stream}}",
                    owner, device, owner));
}

void synchronize(CUstream_st* stream) {
  ++counters().synchronizations;
  check(cudaStreamSynchronize(stream));
}

bool is_done(CUstream_st* stream) {
  const cudaError_t status = cudaStreamQuery(stream);
  if (status != cudaErrorNotReady) check(status);
  return status == cudaSuccess;
}

CUevent_st* record_event(const Cuda& where) {
  const Current current(where.device);
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event));
  check(cudaEventRecord(event, where.stream));
  return event;
}

void destroy_event(CUevent_st* event) noexcept { cudaEventDestroy(event); }

double milliseconds_between(CUevent_st* begin, CUevent_st* end) {
  float ms = 0;
  cudaError_t status = cudaEventElapsedTime(&ms, begin, end);
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    check(cudaEventSynchronize(end));
    status = cudaEventElapsedTime(&ms, begin, end);
  }
  check(status);
  return ms;
}

std::uint64_t enlist_stream(int device, CUstream_st* stream) {
  const std::lock_guard lock(streams().mutex);
  streams().streams[++streams().last] = {device, stream};
  return streams().last;
}

void strike_stream(std::uint64_t id) noexcept {
  if (Cuda tag; find_stream(id, tag)) {
    const Current current(tag.device);
    give_back_blocks(memory_of(tag.device), &id);
  }
  const std::lock_guard lock(streams().mutex);
  const auto found = streams().streams.find(id);
  if (found == streams().streams.end()) return;
  cudaStreamSynchronize(found->second.stream);
  streams().streams.erase(found);
}

bool find_stream(std::uint64_t id, Cuda& tag) {
  const std::lock_guard lock(streams().mutex);
  const auto found = streams().streams.find(id);
  if (found == streams().streams.end()) return false;
  tag.device = found->second.device, tag.stream = found->second.stream, tag.stream_id = id;
  return true;
}

}  // namespace device
}  // namespace krill
