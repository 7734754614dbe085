#include "sparse/core/team.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "sparse/core/pass_host.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/thread_team.hpp"

namespace krill::test {
namespace {

struct Found {
  double part;
  int rank;
};

TEST(Teams, gather_records_in_the_order_of_ranks) {
  for (const int ranks : {1, 2, 3, 4, 16})
    run_team(ranks, [&](Team& team) {
      for (int round = 0; round < 3; ++round) {
        const auto all = gather_records(team, Found{team.rank() + 0.5 * round, team.rank()});
        ASSERT_EQ(std::ssize(all), ranks);
        for (int r = 0; r < ranks; ++r) {
          EXPECT_EQ(all[static_cast<std::size_t>(r)].rank, r);
          EXPECT_EQ(all[static_cast<std::size_t>(r)].part, r + 0.5 * round);
        }
      }
    });
}

TEST(Teams, agree_only_where_all_do) {
  run_team(3, [](Team& team) {
    EXPECT_TRUE(agree(team, true));
    EXPECT_FALSE(agree(team, team.rank() != 1));
    EXPECT_FALSE(agree(team, false));
  });
}

TEST(Teams, carry_messages_in_the_order_of_their_lists) {
  run_team(4, [](Team& team) {
    const int me = team.rank(), next = (me + 1) % 4, former = (me + 3) % 4;
    const std::vector<int> first{me, me + 10}, second{me + 20};
    std::vector<int> got(2), got_then(1);
    const std::vector<Team::Outgoing> out{{next, first.data(), 8}, {next, second.data(), 4}};
    const std::vector<Team::Incoming> in{{former, got.data(), 8}, {former, got_then.data(), 4}};
    team.start(out, in);
    team.finish();
    EXPECT_EQ(got, (std::vector<int>{former, former + 10}));
    EXPECT_EQ(got_then, std::vector<int>{former + 20});
  });
}

TEST(Teams, hear_that_a_rank_gave_up) {
  const auto run = [](auto wait) {
    return complaint<InvalidArgument>([&] {
      run_team(3, [&](Team& team) {
        if (team.rank() == 1) throw InvalidArgument("the second rank has no file");
        EXPECT_THROW(wait(team), TeamFailure);
      });
    });
  };
  EXPECT_EQ(run([](Team& team) { agree(team, true); }), "the second rank has no file");
  EXPECT_EQ(run([](Team& team) {
              int got = 0;
              team.start({}, std::vector<Team::Incoming>{{1, &got, sizeof got}});
              team.finish();
            }),
            "the second rank has no file");
}

/// sum x_i^2.
struct SumOfSquares {
  using Sum = double;
  const double* x;
  double* sum;
  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const { return x[i] * x[i]; }
  constexpr void finish(double all) const { *sum = all; }
};

TEST(Teams, add_up_the_sums_of_passes_in_the_order_of_ranks) {
  std::vector<double> alone(3);
  const auto part_of = [](int rank) {
    std::vector<double> x(static_cast<std::size_t>(rank == 1 ? 0 : 1000 + rank));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i + 3 + static_cast<std::size_t>(rank));
    return x;
  };
  for (int r = 0; r < 3; ++r) {
    Context ctx = Context::host(1);
    const auto x = part_of(r);
    run_pass(ctx.host_tag(), std::ssize(x), SumOfSquares{x.data(), &alone[static_cast<std::size_t>(r)]});
  }
  const double expected = ((0.0 + alone[0]) + alone[1]) + alone[2];
  run_team(3, [&](Team& team) {
    Context ctx = Context::host(1);
    const auto x = part_of(team.rank());
    const auto sum = [&] {
      double found = 0;
      run_pass(ctx.host_tag(), std::ssize(x), SumOfSquares{x.data(), &found});
      return found;
    };
    EXPECT_EQ(sum(), alone[static_cast<std::size_t>(team.rank())]) << "without a scope each rank is alone";
    {
      const Context::TeamScope over(ctx, &team);
      EXPECT_EQ(sum(), expected);
      const Context::TeamScope local(ctx, nullptr);
      EXPECT_EQ(sum(), alone[static_cast<std::size_t>(team.rank())]);
    }
    EXPECT_EQ(sum(), alone[static_cast<std::size_t>(team.rank())]);
  });
}

}  // namespace
}  // namespace krill::test
