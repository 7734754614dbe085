#include "sparse/core/kept_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace krill::device {
namespace {

TEST(KeptBlocks, go_to_their_stream_and_size_once) {
  KeptBlocks kept;
  int a = 0, b = 0;
  EXPECT_EQ(KeptBlocks::rounded(1), 512u);
  EXPECT_EQ(KeptBlocks::rounded(512), 512u);
  EXPECT_EQ(KeptBlocks::rounded(513), 1024u);
  EXPECT_TRUE(kept.keep(1, 512, &a));
  EXPECT_TRUE(kept.keep(1, 1024, &b));
  EXPECT_EQ(kept.bytes(), 1536u);
  EXPECT_EQ(kept.take(2, 512), nullptr);
  EXPECT_EQ(kept.take(1, 2048), nullptr);
  EXPECT_EQ(kept.take(1, 512), &a);
  EXPECT_EQ(kept.take(1, 512), nullptr);
  EXPECT_EQ(kept.bytes(), 1024u);
}

TEST(KeptBlocks, are_small_and_not_too_many) {
  KeptBlocks kept;
  int a = 0;
  EXPECT_FALSE(kept.keep(1, KeptBlocks::max_block + KeptBlocks::granularity, &a));
  std::size_t count = 0;
  while (kept.keep(1, KeptBlocks::max_block, &a)) ++count;
  EXPECT_EQ(count, KeptBlocks::max_bytes / 4 * 3 / KeptBlocks::max_block);
  while (kept.keep(1, KeptBlocks::max_small, &a)) ++count;
  EXPECT_EQ(kept.bytes(), KeptBlocks::max_bytes);
}

TEST(KeptBlocks, are_given_up_by_stream) {
  KeptBlocks kept;
  int a = 0, b = 0, c = 0;
  kept.keep(1, 512, &a), kept.keep(2, 512, &b), kept.keep(1, 1024, &c);
  const std::uint64_t first = 1;
  std::vector<void*> given;
  for (const KeptBlocks::Block& block : kept.give_up(&first)) {
    EXPECT_EQ(block.stream_id, first);
    given.push_back(block.memory);
  }
  EXPECT_EQ(given, (std::vector<void*>{&a, &c}));
  EXPECT_EQ(kept.take(1, 512), nullptr);
  EXPECT_EQ(kept.bytes(), 512u);
  EXPECT_EQ(kept.give_up().size(), 1u);
  EXPECT_EQ(kept.bytes(), 0u);
}

}  // namespace
}  // namespace krill::device
