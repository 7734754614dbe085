// How long one call takes.
#pragma once
#include <cstddef>
#include <functional>

#include "sparse/core/context.hpp"

namespace krill::apps::bench {

struct Timing {
  double ms = 0;      ///< of one call: the median over the rounds
  double spread = 0;  ///< (slowest round - fastest) / median
};

/// Times call(i), i going round over [0, copies). Every copy is called once before the clock starts, so that data are
/// where they belong and workspace is there. A round is as many calls as last some 20 ms, on CUDA at least 20 of them,
/// enqueued at once and waited for once.
Timing measure(Context&, std::size_t copies, const std::function<void(std::size_t)>& call);

/// The time of one call, waited for; for work that happens once, like a conversion.
double once_ms(Context&, const std::function<void()>& work);

/// Bytes that a cold measurement goes round over: four times the last cache, so that little of what a call reads is
/// still there from its last turn.
double cold_bytes(const Context&);

/// Copies of a working set of `bytes` that a cold measurement needs.
struct Rotation {
  std::size_t copies = 1;
  bool cold = false;  ///< false: warm was asked for, or so small a set would need too many copies
};
Rotation rotation(double bytes, double cold_bytes, bool warm);

}  // namespace krill::apps::bench
