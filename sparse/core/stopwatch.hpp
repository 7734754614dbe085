// Wall-clock time.
#pragma once
#include <chrono>

namespace krill {

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }
  /// The time so far, and starts anew.
  double lap() {
    const double time = milliseconds();
    start_ = std::chrono::steady_clock::now();
    return time;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace krill
