#include "sparse/parallel/exchange.hpp"

#include <gtest/gtest.h>

#include "tests/support/thread_team.hpp"

namespace krill::test {
namespace {

struct Letter {
  int from, to, number;
  friend bool operator==(const Letter&, const Letter&) = default;
};

/// Rank r has r + s letters for rank s, and none where that is odd.
std::vector<Letter> letters(int from, int to) {
  std::vector<Letter> all;
  for (int k = 0; k < from + to && (from + to) % 2 == 0; ++k) all.push_back({from, to, k});
  return all;
}

TEST(Exchange, brings_what_is_for_a_rank_in_the_order_of_ranks) {
  for (const int ranks : {1, 2, 3, 5})
    run_team(ranks, [&](Team& team) {
      std::vector<std::vector<Letter>> to;
      std::vector<Letter> expected;
      for (int r = 0; r < ranks; ++r) {
        to.push_back(letters(team.rank(), r));
        for (const Letter& letter : letters(r, team.rank())) expected.push_back(letter);
      }
      EXPECT_EQ(exchange(team, std::move(to)), expected) << team.rank();
    });
}

TEST(Exchange, of_nothing_brings_nothing) {
  run_team(3, [](Team& team) { EXPECT_TRUE(exchange(team, std::vector<std::vector<Letter>>(3)).empty()); });
}

}  // namespace
}  // namespace krill::test
