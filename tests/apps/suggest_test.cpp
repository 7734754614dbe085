#include "apps/case/suggest.hpp"

#include <gtest/gtest.h>

namespace krill::apps {
namespace {

using Words = std::vector<std::string>;

TEST(Suggest, a_swap_of_neighbors_is_one_change) { EXPECT_EQ(edit_distance("tpye", "type"), 1); }
TEST(Suggest, insertion_deletion_and_substitution_are_one_change_each) {
  EXPECT_EQ(edit_distance("restar", "restart"), 1);
  EXPECT_EQ(edit_distance("restartt", "restart"), 1);
  EXPECT_EQ(edit_distance("rastart", "restart"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}
TEST(Suggest, case_and_hyphens_do_not_count) {
  EXPECT_EQ(edit_distance("Max-Iterations", "max_iterations"), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
}
TEST(Suggest, ties_are_all_proposed) { EXPECT_EQ(nearest("nq", Words{"nx", "ny", "stencil"}), (Words{"nx", "ny"})); }
TEST(Suggest, nothing_far_away_is_proposed) {
  EXPECT_TRUE(nearest("volume", Words{"restart", "stop", "type"}).empty());
  EXPECT_TRUE(nearest("a", Words{"b"}).empty());
  EXPECT_TRUE(nearest(std::string(100'000, 'x'), Words{"restart"}).empty());
}
TEST(Suggest, sentences_read_well) {
  EXPECT_EQ(did_you_mean("restrat", Words{"restart", "stop"}), "; did you mean 'restart'?");
  EXPECT_EQ(did_you_mean("volume", Words{"restart", "stop"}), "");
  EXPECT_EQ(enumerate(Words{"a", "b", "c"}), "a, b or c");
  EXPECT_EQ(one_of(Words{"a", "b"}), "a or b");
  EXPECT_EQ(one_of(Words{"a", "b", "c"}), "one of a, b or c");
}

}  // namespace
}  // namespace krill::apps
