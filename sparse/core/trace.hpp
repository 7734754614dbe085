// Named ranges on a profiler's time line.
#pragma once

namespace krill {

/// An NVTX range from here to the end of the scope: nsys and ncu show it under this name. Free where no profiler
/// listens; nothing at all in a build without CUDA.
class TraceRange {
 public:
  explicit TraceRange(const char* name);
  ~TraceRange();  // NOLINT(performance-trivially-destructible): trivial without CUDA alone
  TraceRange(const TraceRange&) = delete;
  TraceRange& operator=(const TraceRange&) = delete;
};

}  // namespace krill
