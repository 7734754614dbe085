// Points in the order of a stream, as device.hpp: device_cuda.cpp has them, device_none.cpp has none.
#pragma once

struct CUevent_st;  // the CUDA runtime's event: this header needs no CUDA

namespace krill {

struct Cuda;

namespace device {

/// An event behind all that stands in the tag's stream, which is to be destroyed.
CUevent_st* record_event(const Cuda&);
void destroy_event(CUevent_st*) noexcept;
/// Waits for the second one.
double milliseconds_between(CUevent_st*, CUevent_st*);

}  // namespace device
}  // namespace krill
