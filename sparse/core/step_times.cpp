#include "sparse/core/step_times.hpp"

#include "sparse/core/events.hpp"

namespace krill {

void StepTimes::DeleteEvent::operator()(CUevent_st* event) const noexcept { device::destroy_event(event); }

StepTimes::StepTimes(Context& ctx) : ctx_(ctx), start_(mark()) {}

StepTimes::Event StepTimes::mark() const {
  return ctx_.dispatch(
      [](const auto& where) { return Event(where.cuda() ? device::record_event(*where.cuda()) : nullptr); });
}

void StepTimes::done(std::string_view step) {
  steps_.emplace_back(step, watch_.lap());
  if (start_) ends_.push_back(mark());
}

std::vector<std::pair<std::string_view, double>> StepTimes::times() const {
  std::vector<std::pair<std::string_view, double>> times = steps_;
  for (std::size_t k = 0; k < ends_.size(); ++k)
    times[k].second = device::milliseconds_between(k ? ends_[k - 1].get() : start_.get(), ends_[k].get());
  return times;
}

}  // namespace krill
