// What Krill asks of the CUDA runtime, in one place. device_cuda.cpp does it; device_none.cpp stands in its place in a
// build without CUDA, where no device is ever found. No other file needs to know which of the two was built.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "sparse/core/memory_use.hpp"

struct CUstream_st;  // the CUDA runtime's stream: this header needs no CUDA

namespace krill {

struct Cuda;

/// What this thread has asked of its devices so far; tests assert on differences.
struct Counters {
  std::int64_t transfers = 0;
  std::int64_t allocations = 0;
  std::int64_t synchronizations = 0;
  friend bool operator==(const Counters&, const Counters&) = default;
};
Counters& counters();

/// A device as reports name it.
struct DeviceInfo {
  std::string name;
  std::string compute_capability;  ///< "9.0"
  std::string uuid;                ///< "GPU-5f0c...", another one for every device
  std::string driver, runtime;     ///< CUDA versions, "13.0"
  std::size_t memory_bytes = 0;
  int multiprocessors = 0;
};

namespace device {

/// Makes `device` the thread's current one, and the former one again at the end; costs a look where it is that already.
/// Never throws: where a device cannot be made current, the call that needs it says so.
class Current {
 public:
  explicit Current(int device) noexcept;
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  int former_, device_;
};

/// What Krill has on a device, of all contexts.
MemoryUse memory_use(int device);
void restart_peak(int device);
/// Bytes that can still be allocated, those that are kept for it included.
std::size_t free_memory(int device);

/// Usable CUDA devices: 0 without a driver, without a device, or in a build without CUDA. Never throws.
int count();
DeviceInfo info(int device);  ///< Raises NoDevice.
/// Why count() is 0, and what to do about it.
std::string absence();

// All on the tag's device, whichever is current, in the order of its stream; copy_out also waits for it.
/// From a pool that keeps what is released, so that a plan costs its kernels and not its allocations; small blocks that
/// its stream used last come first (KeptBlocks), unless KRILL_MEMORY=driver is in the environment, for tools that watch
/// memory. Raises OutOfMemory with the bytes asked and free; `what` names the asker.
void* allocate(const Cuda&, std::size_t bytes, const char* what);
void copy_in(const Cuda&, void* to, const void* from, std::size_t bytes);
void copy_out(const Cuda&, void* to, const void* from, std::size_t bytes);
void copy(const Cuda&, void* to, const void* from, std::size_t bytes);
void fill_zero(const Cuda&, void* to, std::size_t bytes);
/// Once the work is done that stands in the stream that used the memory last; `bytes` as they were asked.
void release(int device, std::uint64_t last_stream_id, void*, std::size_t bytes) noexcept;

/// Raises InvalidArgument, in the name of `what`, unless the memory is that device's, or managed.
void require_memory_of(int device, const void*, const char* what);

/// Raises InvalidArgument where `what` would happen inside a stream capture, in which it cannot.
void forbid_in_capture(const Cuda&, const char* what);

/// What follows in the tag's stream waits for the work that stands in the other one; nothing where that stream is gone
/// (a context synchronises its stream before it goes).
void wait_for(const Cuda&, std::uint64_t other_stream_id);

// The stream of a context. Ids are never used twice.
CUstream_st* create_stream(int device);
void destroy_stream(CUstream_st*) noexcept;
/// Raises InvalidArgument where the stream is another device's.
void require_stream_of(int device, CUstream_st*);
void synchronize(CUstream_st*);
bool is_done(CUstream_st*);                             ///< whether synchronize() would not wait
std::uint64_t enlist_stream(int device, CUstream_st*);  ///< from now on wait_for finds it
void strike_stream(std::uint64_t id) noexcept;
/// The tag of a stream that is still enlisted; false where it is gone.
bool find_stream(std::uint64_t id, Cuda& tag);

}  // namespace device
}  // namespace krill
