#include "sparse/vector/vector.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/lent.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

class BorrowedArray : public OnBackend {};

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "not refused";
}

TEST_P(BorrowedArray, works_in_place_and_leaves_the_memory_to_its_owner) {
  Context ctx = context();
  const std::vector<double> values = random_vector<double>(11, 1000);
  Lent<double> lent(ctx, values);
  const double* memory = lent.memory();
  {
    Array<double> a = lent.borrow();
    const Counters before = counters();
    const MemoryUse use = ctx.memory_use();
    ctx.dispatch([&](const auto& where) { EXPECT_EQ(a.read(where), memory); });
    axpby(ctx, 1.0, a, 1.0, a);
    Array<double> moved = std::move(a);
    axpby(ctx, 1.0, moved, 1.0, moved);
    moved.sync(ctx);
    EXPECT_EQ(counters(), before);
    EXPECT_EQ(ctx.memory_use().now, use.now);
  }
  const std::vector<double> found = lent.contents();
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(found[i], 4 * values[i]) << i;
}

/// Memory on the host and a context on either side: what the device has written comes by sync() alone.
TEST_P(BorrowedArray, on_the_host_gets_its_values_by_sync) {
  Context ctx = context();
  std::vector<double> memory(1000, 1.0);
  {
    Array<double> a = Array<double>::borrow_host(memory.data(), 1000, "lent");
    axpby(ctx, 2.0, a, 0.0, a);
    a.sync(ctx);
    EXPECT_EQ(memory[999], 2.0);
    axpby(ctx, 2.0, a, 0.0, a);
  }
  ctx.synchronize();
  EXPECT_EQ(memory[999], ctx.on_cuda() ? 2.0 : 4.0) << "the destructor copies nothing";

  Array<double> a = Array<double>::borrow_host(memory.data(), 1000, "lent"), sum(1);
  norm2(ctx, a, sum);
  a.edit()[0] = 1e6;
  max_abs(ctx, a, sum);
  EXPECT_EQ(sum.host()[0], 1e6);
}

/// Memory on the context's side, changed on the host.
TEST_P(BorrowedArray, gets_what_the_host_wrote_by_sync) {
  Context ctx = context();
  Lent<double> lent(ctx, std::vector<double>(100, 1.0));
  Array<double> a = lent.borrow();
  for (double& value : a.edit()) value += 1;
  EXPECT_EQ(lent.contents()[50], ctx.on_cuda() ? 1.0 : 2.0);
  a.sync(ctx);
  EXPECT_EQ(lent.contents()[50], 2.0);
  if (!ctx.on_cuda()) return;
  for (double& value : a.edit()) value += 1;
  Context host = Context::host(1);
  EXPECT_NE(refusal([&] { a.sync(host); }).find("sync() with a context of that device"), std::string::npos);
}

TEST_P(BorrowedArray, of_const_memory_is_read_and_never_written) {
  Context ctx = context();
  Lent<double> lent(ctx, std::vector<double>(10, 3.0));
  Array<double> a = lent.borrow_const(), sum(1);
  max_abs(ctx, a, sum);
  EXPECT_EQ(sum.host()[0], 3.0);
  EXPECT_EQ(a.host()[9], 3.0);
  const std::string said = refusal([&] { axpby(ctx, 2.0, a, 0.0, a); });
  EXPECT_NE(said.find("lent: it was borrowed as const"), std::string::npos) << said;
  EXPECT_NE(refusal([&] { axpby(ctx, 2.0, a, 1.0, a); }).find("borrowed as const"), std::string::npos);
  EXPECT_NE(refusal([&] { a.edit(); }).find("borrowed as const"), std::string::npos);
  Array<double> copy = a.clone();
  copy.edit()[0] = 1;
  EXPECT_EQ(lent.contents(), std::vector<double>(10, 3.0));
}

TEST_P(BorrowedArray, refuses_what_lies_askew) {
  Context ctx = context();
  Lent<double> lent(ctx, std::vector<double>(10, 1.0));
  auto* askew = reinterpret_cast<double*>(reinterpret_cast<char*>(lent.memory()) + 4);
  const std::string said = refusal([&] {
    ctx.on_cuda() ? Array<double>::borrow_device(0, askew, 9, "lent") : Array<double>::borrow_host(askew, 9, "lent");
  });
  EXPECT_NE(said.find("lent: the borrowed memory does not begin at a multiple of 8 bytes"), std::string::npos) << said;
  EXPECT_NE(refusal([] { Array<float>::borrow_host(static_cast<float*>(nullptr), 1); }).find("null"),
            std::string::npos);
  EXPECT_EQ(Array<float>::borrow_host(static_cast<float*>(nullptr), 0).size(), 0);
}

TEST(BorrowedArrayOnDevice, refuses_memory_of_elsewhere) {
  if (device::count() == 0) GTEST_SKIP() << device::absence();
  std::vector<double> on_host(10, 1.0);
  const std::string said = refusal([&] { Array<double>::borrow_device(0, on_host.data(), 10, "lent"); });
  EXPECT_NE(said.find("use borrow_host"), std::string::npos) << said;
  if (device::count() < 2) GTEST_SKIP() << "there is one device";
  Context first = Context::cuda({.device = 0}), second = Context::cuda({.device = 1});
  Lent<double> lent(first, on_host);
  EXPECT_NE(refusal([&] { Array<double>::borrow_device(1, lent.memory(), 10); }).find("lies on CUDA device 0"),
            std::string::npos);
  Array<double> a = lent.borrow(), sum(1);
  EXPECT_NE(refusal([&] { norm2(second, a, sum); }).find("use a context of device 0"), std::string::npos);
}

/// What stands in the caller's stream before comes first, and what Krill enqueues there comes before the caller's next.
TEST(BorrowedArrayOnDevice, is_used_in_the_order_of_the_callers_stream) {
  if (device::count() == 0) GTEST_SKIP() << device::absence();
  constexpr std::int64_t n = 1 << 24;
  Context caller = Context::cuda();
  CUstream_st* stream = nullptr;
  caller.dispatch([&](const auto& where) {
    if (const Cuda* cuda = where.cuda()) stream = cuda->stream;
  });
  Context ctx = Context::cuda({.stream = stream});
  Lent<double> lent(caller, std::vector<double>(n, 1.0));
  Array<double> mine = lent.borrow(), theirs = lent.borrow();
  for (int i = 0; i < 5; ++i) {
    axpby(caller, 2.0, theirs, 0.0, theirs);
    axpby(ctx, 3.0, mine, 0.0, mine);
  }
  const std::vector<double> found = lent.contents();
  for (const std::size_t i : {std::size_t{0}, static_cast<std::size_t>(n / 2), static_cast<std::size_t>(n - 1)})
    EXPECT_EQ(found[i], 7776.0) << i;
}

TEST(BorrowedArrayOnDevice, needs_a_device) {
  if (device::count() > 0) GTEST_SKIP() << "there is a device";
  double memory = 0;
  EXPECT_THROW(Array<double>::borrow_device(0, &memory, 1), NoDevice);
}

INSTANTIATE_TEST_SUITE_P(, BorrowedArray, backends, param_name);

}  // namespace
}  // namespace krill::test
