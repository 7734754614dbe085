// How long steps take that follow each other, without a wait between them.
#pragma once
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "sparse/core/context.hpp"
#include "sparse/core/stopwatch.hpp"

struct CUevent_st;

namespace krill {

/// Books the time of each step, from the end of the one before: on CUDA between events in the context's stream, of
/// which the host knows after a wait. Not inside of captures. The context has to stay.
class StepTimes {
 public:
  explicit StepTimes(Context&);
  /// What the context was given since the last step, or since this was made. `step` has to stay.
  void done(std::string_view step);
  /// The steps so far, in ms. Waits.
  std::vector<std::pair<std::string_view, double>> times() const;

 private:
  struct DeleteEvent {
    void operator()(CUevent_st* event) const noexcept;
  };
  using Event = std::unique_ptr<CUevent_st, DeleteEvent>;
  Event mark() const;

  Context& ctx_;
  Stopwatch watch_;
  Event start_;
  std::vector<std::pair<std::string_view, double>> steps_;
  std::vector<Event> ends_;
};

}  // namespace krill
