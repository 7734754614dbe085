#include "sparse/core/arena.hpp"

#include "tests/support/backends.hpp"

namespace krill::test {
namespace {

using ArenaOnBackend = OnBackend;

TEST_P(ArenaOnBackend, hands_out_aligned_memory_that_does_not_overlap) {
  Context ctx = context();
  ctx.dispatch([](const auto& where) {
    Frame frame(where);
    char* a = frame.template take<char>(100);
    char* b = frame.template take<char>(1);
    char* c = frame.template take<char>(5'000'000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 256, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(c) % 256, 0u);
    EXPECT_GE(b - a, 100);
    EXPECT_TRUE(c >= b + 1 || c + 5'000'000 <= a);
  });
}

TEST_P(ArenaOnBackend, gives_the_same_memory_again_and_does_not_grow) {
  Context ctx = context();
  ctx.dispatch([&](const auto& where) {
    const auto round = [&] {
      Frame outer(where);
      void* first = outer.template take<char>(3'000'000);
      Frame inner(where);
      inner.template take<char>(7'000'000);
      return first;
    };
    void* first = round();
    round();
    const std::size_t bytes = ctx.workspace_bytes();
    const Counters before = counters();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(round(), first);
    EXPECT_EQ(ctx.workspace_bytes(), bytes);
    EXPECT_EQ(counters(), before);
  });
}

TEST_P(ArenaOnBackend, has_room_for_small_takes_after_large_ones) {
  Context ctx = context();
  ctx.dispatch([&](const auto& where) {
    const std::size_t before = ctx.workspace_bytes();
    for (int i = 0; i < 3; ++i) {
      Frame outer(where);
      char* first = outer.template take<char>(100);
      char* large = outer.template take<char>(40 << 20);
      char* small = nullptr;
      {
        Frame inner(where);
        small = inner.template take<char>(100);
        EXPECT_GE(std::abs(small - first), 100);
        EXPECT_TRUE(small < large || small >= large + (40 << 20));
      }
      EXPECT_EQ(outer.template take<char>(100), small);
    }
    EXPECT_LE(ctx.workspace_bytes(), before + (41 << 20));
  });
}

INSTANTIATE_TEST_SUITE_P(, ArenaOnBackend, backends, param_name);

}  // namespace
}  // namespace krill::test
