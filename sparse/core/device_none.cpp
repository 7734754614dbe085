// The build without CUDA: there is never a device, so nothing below count() is reached.
#include "sparse/core/context.hpp"
#include "sparse/core/events.hpp"
#include "sparse/core/trace.hpp"

namespace krill {

void check(int, std::source_location) {}

TraceRange::TraceRange(const char*) {}
TraceRange::~TraceRange() = default;

namespace device {

Current::Current(int device) noexcept : former_(device), device_(device) {}
Current::~Current() = default;

int count() { return 0; }
std::string absence() {
  return "no CUDA device: this build has no CUDA; install the CUDA Toolkit 13.0 or later and build again with "
         "`cmake --preset release -DKRILL_CUDA=ON`, or use the host backend";
}
MemoryUse memory_use(int) { return {}; }
void restart_peak(int) {}
std::size_t free_memory(int) { return 0; }
DeviceInfo info(int) { throw NoDevice(absence()); }
void* allocate(const Cuda&, std::size_t, const char*) { throw NoDevice(absence()); }
void copy_in(const Cuda&, void*, const void*, std::size_t) {}
void copy_out(const Cuda&, void*, const void*, std::size_t) {}
void copy(const Cuda&, void*, const void*, std::size_t) {}
void fill_zero(const Cuda&, void*, std::size_t) {}
void release(int, std::uint64_t, void*, std::size_t) noexcept {}
void require_memory_of(int, const void*, const char*) { throw NoDevice(absence()); }
void forbid_in_capture(const Cuda&, const char*) {}
void wait_for(const Cuda&, std::uint64_t) {}
CUstream_st* create_stream(int) { throw NoDevice(absence()); }
void destroy_stream(CUstream_st*) noexcept {}
void require_stream_of(int, CUstream_st*) { throw NoDevice(absence()); }
void synchronize(CUstream_st*) {}
bool is_done(CUstream_st*) { return true; }
CUevent_st* record_event(const Cuda&) { throw NoDevice(absence()); }
void destroy_event(CUevent_st*) noexcept {}
double milliseconds_between(CUevent_st*, CUevent_st*) { return 0; }
std::uint64_t enlist_stream(int, CUstream_st*) { return 0; }
void strike_stream(std::uint64_t) noexcept {}
bool find_stream(std::uint64_t, Cuda&) { return false; }

}  // namespace device
}  // namespace krill
