#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include <cstring>
#include <mutex>
#include <unordered_map>

#include "sparse/core/context.hpp"
#include "sparse/core/cuda_toolkit.hpp"
#include "sparse/core/events.hpp"
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

/// The pool of a device; null where it has none. It gives nothing back to the driver until memory is short.
cudaMemPool_t pool_of(int device) {
  static std::mutex mutex;
  static std::unordered_map<int, cudaMemPool_t> pools;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = pools.try_emplace(device, nullptr);
  int supported = 0;
  if (is_new) check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
  if (supported) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, device};
    check(cudaMemPoolCreate(&place->second, &properties));
    std::uint64_t kept = ~std::uint64_t{0};
    check(cudaMemPoolSetAttribute(place->second, cudaMemPoolAttrReleaseThreshold, &kept));
  }
  return place->second;
}

cudaError_t try_allocate(const Cuda& where, cudaMemPool_t pool, std::size_t bytes, void** memory) {
  return pool ? cudaMallocFromPoolAsync(memory, bytes, pool, where.stream) : cudaMalloc(memory, bytes);
}

/// As nvidia-smi writes it.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (std::size_t k = 0; k < sizeof uuid.bytes; ++k)
    text += fmt::format("{}{:02x}", k == 0 || k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "",
                        static_cast<unsigned char>(uuid.bytes[k]));
  return text;
}

/// Pinned memory of a thread, for what it reads of a device by a few bytes: a count, a flag. The driver copies to such
/// memory at once, to other by way of its own.
class Slip {
 public:
  static constexpr std::size_t bytes = 1024;
  Slip() {
    if (cudaHostAlloc(&memory_, bytes, cudaHostAllocPortable) == cudaSuccess) return;
    cudaGetLastError();
    memory_ = nullptr;
  }
  ~Slip() { cudaFreeHost(memory_); }
  Slip(const Slip&) = delete;
  Slip& operator=(const Slip&) = delete;
  void* memory() const { return memory_; }

 private:
  void* memory_ = nullptr;
};
void* slip() {
  thread_local const Slip mine;
  return mine.memory();
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
  cudaMemPool_t pool = pool_of(device);
  std::uint64_t now = 0, peak = 0;
  if (!pool) return {};
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &now));
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &peak));
  return {static_cast<std::size_t>(now), static_cast<std::size_t>(peak)};
}

void restart_peak(int device) {
  const Current current(device);
  cudaMemPool_t pool = pool_of(device);
  std::uint64_t from_now = 0;  // the only value that the runtime takes
  if (pool) check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &from_now));
}

std::size_t free_memory(int device) {
  const Current current(device);
  std::size_t free = 0, total = 0;
  std::uint64_t reserved = 0, used = 0;
  check(cudaMemGetInfo(&free, &total));
  if (cudaMemPool_t pool = pool_of(device)) {
    check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  }
  return free + static_cast<std::size_t>(reserved - used);
}

void* allocate(const Cuda& where, std::size_t bytes, const char* what) {
  ++counters().allocations;
  const Current current(where.device);
  cudaMemPool_t pool = pool_of(where.device);
  void* memory = nullptr;
  cudaError_t status = try_allocate(where, pool, bytes, &memory);
  if (status == cudaErrorMemoryAllocation && pool) {  // what was released may lie in other sizes
    cudaGetLastError();
    check(cudaDeviceSynchronize());
    check(cudaMemPoolTrimTo(pool, 0));
    status = try_allocate(where, pool, bytes, &memory);
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

void copy_in(const Cuda& where, void* to, const void* from, std::size_t bytes) {
  ++counters().transfers;
  const Current current(where.device);
  if (bytes >= min_staged_bytes && copy_in_by_threads(where, to, from, bytes)) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, where.stream));
}

void copy_out(const Cuda& where, void* to, const void* from, std::size_t bytes) {
  ++counters().transfers;
  const Current current(where.device);
  void* const pinned = bytes <= Slip::bytes ? slip() : nullptr;
  check(cudaMemcpyAsync(pinned ? pinned : to, from, bytes, cudaMemcpyDeviceToHost, where.stream));
  synchronize(where.stream);
  if (pinned) std::memcpy(to, pinned, bytes);
}

void copy(const Cuda& where, void* to, const void* from, std::size_t bytes) {
  const Current current(where.device);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, where.stream));
}

void fill_zero(const Cuda& where, void* to, std::size_t bytes) {
  const Current current(where.device);
  check(cudaMemsetAsync(to, 0, bytes, where.stream));
}

void release(int device, std::uint64_t last_stream_id, void* memory) noexcept {
  const Current current(device);
  if (!pool_of(device)) {
    cudaFree(memory);
    return;
  }
  // Where that stream is gone, its work is done. cudaFree would leave the memory booked as used by the pool.
  Cuda last;
  find_stream(last_stream_id, last);
  cudaFreeAsync(memory, last.stream);
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
  check(cudaEventSynchronize(end));
  check(cudaEventElapsedTime(&ms, begin, end));
  return ms;
}

std::uint64_t enlist_stream(int device, CUstream_st* stream) {
  const std::lock_guard lock(streams().mutex);
  streams().streams[++streams().last] = {device, stream};
  return streams().last;
}

void strike_stream(std::uint64_t id) noexcept {
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
