#include "sparse/core/array.hpp"

#include <array>
#include <random>
#include <thread>

#include "sparse/vector/vector.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using ArrayOnBackend = OnBackend;

TEST_P(ArrayOnBackend, trap_25_crosses_once_however_often_it_is_read) {
  Context ctx = context();
  const Array<double> a(random_vector<double>(1, 1000));
  Array<double> sum(1);
  norm2(ctx, a, sum);
  const Counters before = counters();
  for (int i = 0; i < 10; ++i) norm2(ctx, a, sum);
  EXPECT_EQ(counters(), before);
}

TEST_P(ArrayOnBackend, comes_back_when_the_host_asks) {
  Context ctx = context();
  Array<double> a(std::vector<double>(1000, 1.0));
  axpby(ctx, 2.0, a, 1.0, a);
  EXPECT_EQ(a.host()[999], 3.0);
  const Counters before = counters();
  EXPECT_EQ(a.host()[0], 3.0);
  EXPECT_EQ(counters(), before);
}

/// Few bytes of a device come by another way than many.
TEST_P(ArrayOnBackend, comes_back_whole_at_any_size) {
  Context ctx = context();
  for (const std::int64_t n : {1, 127, 128, 129, 1000}) {
    const std::vector<double> values = random_vector<double>(7, n);
    Array<double> a(values);
    axpby(ctx, 2.0, a, 1.0, a);
    const auto found = a.host();
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(found[i], 2 * values[i] + values[i]) << i << " of " << n;
  }
}

TEST_P(ArrayOnBackend, forgets_the_device_copy_when_the_host_edits) {
  Context ctx = context();
  Array<double> a(std::vector<double>(10, 1.0)), sum(1);
  norm2(ctx, a, sum);
  a.edit()[0] = 5.0;
  max_abs(ctx, a, sum);
  EXPECT_EQ(sum.host()[0], 5.0);
}

TEST_P(ArrayOnBackend, is_not_fetched_to_be_overwritten) {
  Context ctx = context();
  Array<double> x(std::vector<double>(10, 1.0)), y(std::vector<double>(10, std::numeric_limits<double>::quiet_NaN()));
  axpby(ctx, 1.0, x, 1.0, x);  // x is where it is needed
  const Counters before = counters();
  axpby(ctx, 1.0, x, 0.0, y);
  EXPECT_EQ(counters().transfers, before.transfers);
  EXPECT_EQ(y.host()[3], 2.0);
}

/// Sizes around the one from which several threads copy, and of several chunks with a rest; from two contexts at once.
TEST_P(ArrayOnBackend, arrives_whole_however_large) {
  const auto copy = [&](std::int64_t size, std::uint64_t seed) {
    Context ctx = context();
    Array<std::uint64_t> a(size), b(size);
    std::mt19937_64 next(seed);
    for (std::uint64_t& value : a.edit()) value = next();
    ctx.dispatch([&](const auto& where) {
      copy_bytes(where, b.write(where), a.read(where), static_cast<std::size_t>(size) * sizeof(std::uint64_t));
    });
    next.seed(seed);
    std::int64_t wrong = 0;
    for (const std::uint64_t value : b.host()) wrong += value != next();
    EXPECT_EQ(wrong, 0) << size;
  };
  constexpr std::int64_t mib = (1 << 20) / sizeof(std::uint64_t);
  for (const std::int64_t size : {16 * mib - 1, 16 * mib, 40 * mib + 123}) copy(size, 7);
  std::thread other([&] { copy(33 * mib + 1, 8); });
  copy(29 * mib - 1, 9);
  other.join();
}

TEST_P(ArrayOnBackend, gives_its_memory_back_before_and_after_the_context_ends) {
  Context watcher = context();
  const std::size_t before = watcher.memory_use().now;
  {
    Array<double> sum(1);
    {
      Context ctx = context();
      const Array<double> a(std::vector<double>(1000, 1.0));
      norm2(ctx, a, sum);
      EXPECT_GT(watcher.memory_use().now, before);
    }
    EXPECT_GT(watcher.memory_use().now, before);
  }
  EXPECT_EQ(watcher.memory_use().now, before);
}

TEST_P(ArrayOnBackend, has_what_was_written_in_a_block_that_was_another_ones) {
  Context ctx = context();
  Array<double> sum(1);
  for (int i = 1; i <= 50; ++i) {  // the same memory, on CUDA, while kernels are still under way
    Array<double> a(1000), b(999);
    fill(ctx, double(i), a);
    fill(ctx, -1.0, b);
    axpby(ctx, 2.0, a, 1.0, a);
    EXPECT_EQ(contents(a), std::vector<double>(1000, 3.0 * i));
    fill(ctx, 7.0, b);
  }
  norm2(ctx, Array<double>(std::vector<double>(1000, 2.0)), sum);
  EXPECT_DOUBLE_EQ(sum.host()[0], std::sqrt(4000.0));
}

TEST_P(ArrayOnBackend, brings_any_number_of_values_to_the_host) {
  Context ctx = context();
  for (const std::int64_t size : {1, 2, 127, 128, 129, 255, 256, 1025, 5000}) {
    Array<double> values(std::vector<double>(static_cast<std::size_t>(size), 0.5));
    axpby(ctx, 1.0, values, 1.0, values);
    EXPECT_EQ(contents(values), std::vector<double>(static_cast<std::size_t>(size), 1.0));
  }
}

TEST_P(ArrayOnBackend, is_seen_by_another_context) {
  Context one = context(), two = context();
  Array<double> a(std::vector<double>(1 << 20, 1.0));
  for (int i = 0; i < 20; ++i) {
    axpby(one, 1.0, a, 1.0, a);
    axpby(two, 0.5, a, 0.0, a);  // waits for the other stream
  }
  EXPECT_EQ(a.host()[12345], 1.0);
  Array<double> b(std::vector<double>(100, 1.0));
  {
    Context three = context();
    axpby(three, 2.0, b, 0.0, b);
  }
  EXPECT_EQ(b.host()[0], 2.0);  // the stream that wrote it is gone
}

TEST_P(ArrayOnBackend, survives_moves_and_clones) {
  Context ctx = context();
  Array<double> a(random_vector<double>(2, 100));
  const std::vector<double> was(a.host().begin(), a.host().end());
  Array<double> b = a.clone();
  axpby(ctx, 2.0, a, 0.0, a);
  Array<double> c = std::move(a);
  EXPECT_EQ(c.host()[7], 2 * was[7]);
  EXPECT_EQ(b.host()[7], was[7]);
  b = std::move(c);
  EXPECT_EQ(b.host()[99], 2 * was[99]);
}

TEST_P(ArrayOnBackend, may_be_empty) {
  Context ctx = context();
  Array<double> none(0), sum(1);
  axpby(ctx, 2.0, none, 0.0, none);
  norm2(ctx, none, sum);
  EXPECT_EQ(sum.host()[0], 0.0);
  EXPECT_TRUE(none.host().empty());
}

TEST(Context, without_a_device_says_what_to_do) {
  if (device::count() > 0) GTEST_SKIP() << "there is a device";
  EXPECT_FALSE(Context::automatic().on_cuda());
  try {
    Context::cuda();
    FAIL();
  } catch (const NoDevice& e) {
    EXPECT_NE(std::string(e.what()).find("use the host backend"), std::string::npos) << e.what();
  }
}

TEST(Context, refuses_a_device_that_does_not_exist) {
  if (device::count() == 0) GTEST_SKIP() << device::absence();
  EXPECT_THROW(Context::cuda({.device = 99}), NoDevice);
}

TEST(Context, serves_a_thread_each) {
  std::array<std::thread, 4> threads;
  for (std::thread& thread : threads)
    thread = std::thread([] {
      Context ctx = Context::automatic();
      Array<double> a(std::vector<double>(1000, 1.0)), sum(1);
      for (int i = 0; i < 50; ++i) dot(ctx, a, a, sum);
      EXPECT_EQ(sum.host()[0], 1000.0);
    });
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(, ArrayOnBackend, backends, param_name);

}  // namespace
}  // namespace krill::test
