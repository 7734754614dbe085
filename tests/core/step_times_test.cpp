#include "sparse/core/step_times.hpp"

#include <chrono>
#include <thread>

#include "sparse/vector/vector.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

class TimesOfSteps : public OnBackend {};

TEST_P(TimesOfSteps, are_booked_one_after_the_other) {
  Context ctx = context();
  const Array<double> x(random_vector<double>(3, 100'000));
  Array<double> sum(1);
  norm2(ctx, x, sum);
  ctx.synchronize();
  StepTimes steps(ctx);
  EXPECT_TRUE(steps.times().empty());
  steps.done("nothing");
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  norm2(ctx, x, sum);
  steps.done("sleep and sum");
  steps.done("nothing");
  const auto times = steps.times();
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[0].first, "nothing");
  EXPECT_EQ(times[1].first, "sleep and sum");
  EXPECT_EQ(times[2].first, "nothing");
  for (const auto& [step, ms] : times) EXPECT_GE(ms, 0) << step;
  EXPECT_GE(times[1].second, 20) << "of 40 ms that the step slept";
  EXPECT_EQ(steps.times(), times) << "asked again";
}

INSTANTIATE_TEST_SUITE_P(, TimesOfSteps, backends, param_name);

}  // namespace
}  // namespace krill::test
