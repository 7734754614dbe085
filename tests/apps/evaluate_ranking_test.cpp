// The arithmetic of recommendations, against numbers made by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "apps/evaluate/evaluation.hpp"
#include "apps/evaluate/ranking.hpp"

namespace krill::apps::evaluate {
namespace {

using Indices = std::vector<std::size_t>;

//                          set-up, solve, bytes
const std::vector<Cost> hand_made{{0, 100, 10},   // 0: no set-up, slow
                                  {30, 40, 20},   // 1: quickest for one: 70
                                  {150, 10, 40},  // 2: pays from 5 on
                                  {160, 12, 50},  // 3: beaten by 2 everywhere
                                  {30, 40, 21}};  // 4: as 1 with more memory

TEST(Ranking, orders_by_the_value_of_each_use) {
  EXPECT_EQ(ranking(hand_made, Use::one_solve), (Indices{1, 4, 0, 2, 3}));
  EXPECT_EQ(ranking(hand_made, Use::many_solves), (Indices{2, 3, 1, 4, 0}));
  EXPECT_EQ(ranking(hand_made, Use::min_memory), (Indices{0, 1, 4, 2, 3}));
}

/// Number 1 was slowed down in two of its three solves, number 5 is beyond twice the best time; of the others four go
/// on.
TEST(Finalists, are_the_quickest_of_those_that_something_slowed_down_too) {
  Evaluation all;
  all.systems.resize(1);
  for (const std::vector<double>& solves :
       {std::vector<double>{10, 10, 10}, {9, 17, 18}, {11, 11, 11}, {12, 12, 12}, {13, 13, 13}, {30, 30, 30}}) {
    evaluate::Run run;
    run.outcome.status = "converged";
    for (const double solve : solves) {
      Sample sample;
      sample.solve = solve;
      run.outcome.samples.push_back(sample);
    }
    all.systems.front().runs.push_back(all.runs.size());
    all.runs.push_back(run);
  }
  EXPECT_EQ(finalists(all, all.systems.front()), (Indices{0, 1, 2, 3}));
  all.runs[3].outcome.status = "max_iterations";
  EXPECT_EQ(finalists(all, all.systems.front()), (Indices{0, 1, 2, 4}));
  all.runs[2].outcome.status = all.runs[4].outcome.status = "max_iterations";
  EXPECT_EQ(finalists(all, all.systems.front()), (Indices{0, 1}));
}

TEST(Ranking, pareto_set_holds_what_nobody_beats) {
  EXPECT_EQ(pareto_set(hand_made), (std::vector<bool>{true, true, true, false, false}));
  const std::vector<Cost> twins{{1, 1, 1}, {1, 1, 1}};
  EXPECT_EQ(pareto_set(twins), (std::vector<bool>{true, true})) << "neither of two equals beats the other";
}

TEST(Ranking, break_even_is_the_first_count_that_pays) {
  // 150 + 10 k < 30 + 40 k from k > 4, so 5; at 4 both take 190.
  EXPECT_EQ(break_even(hand_made[2], hand_made[1]), 5);
  EXPECT_EQ(break_even(hand_made[1], hand_made[0]), 1) << "30 + 40 < 100";
  EXPECT_EQ(break_even(hand_made[0], hand_made[1]), std::nullopt) << "slower in a solve, and for one";
  EXPECT_EQ(break_even(hand_made[4], hand_made[1]), std::nullopt) << "never less, always as much";
  for (const auto& [later, earlier] : {std::pair(2, 1), std::pair(2, 0), std::pair(1, 0)}) {
    const Cost &a = hand_made[static_cast<std::size_t>(later)], &b = hand_made[static_cast<std::size_t>(earlier)];
    const auto k = static_cast<double>(*break_even(a, b));
    EXPECT_LT(a.total(k), b.total(k));
    if (k > 1) {
      EXPECT_GE(a.total(k - 1), b.total(k - 1));
    }
  }
}

TEST(Ranking, envelope_says_who_is_quickest_from_where) {
  const auto steps = envelope(hand_made);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].from, 1);
  EXPECT_EQ(steps[0].index, 1U);
  EXPECT_EQ(steps[1].from, 5);
  EXPECT_EQ(steps[1].index, 2U);
  for (int k = 1; k < 20; ++k) {  // the quickest by trying all
    const auto& step = k >= steps[1].from ? steps[1] : steps[0];
    for (const Cost& other : hand_made) EXPECT_LE(hand_made[step.index].total(k), other.total(k)) << k;
  }
}

TEST(Ranking, ties_go_to_the_simpler) {
  std::vector<Cost> costs{{1, 100, 5, 0, 3, 9}, {1, 102, 5, 0, 3, 2}, {1, 106, 5, 0, 50, 0}};
  const auto choice = choose(costs, Use::many_solves);
  EXPECT_EQ(choice.fastest, 0U);
  EXPECT_EQ(choice.chosen, 1U) << "2 % apart, within the noise of 6, and simpler";
  EXPECT_EQ(choice.ties, Indices{1}) << "6 % is too much for a tie, however noisy";
  costs[0].solve_noise = costs[1].solve_noise = 0.5;
  EXPECT_EQ(choose(costs, Use::many_solves).chosen, 0U) << "2 % apart and sure of it";
}

TEST(Ranking, several_systems_by_geometric_mean_and_failures_last) {
  // Ratios: method 0: 1 and 4 (mean 2), method 1: 2 and 1 (mean 1.414), method 2: 3 once.
  const auto order = standings({{1.0, 2.0, 3.0}, {40.0, 10.0, std::nullopt}});
  ASSERT_EQ(order.size(), 3U);
  EXPECT_EQ(order[0].method, 1U);
  EXPECT_DOUBLE_EQ(order[0].ratio, std::sqrt(2.0));
  EXPECT_EQ(order[1].method, 0U);
  EXPECT_DOUBLE_EQ(order[1].ratio, 2.0);
  EXPECT_EQ(order[2].method, 2U);
  EXPECT_EQ(order[2].solved, 1);
}

TEST(Outcome, median_and_range) {
  EXPECT_EQ(spread({3, 1, 2}).median, 2);
  EXPECT_EQ(spread({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(spread({4, 1, 2, 3}).min, 1);
  EXPECT_EQ(spread({4, 1, 2, 3}).max, 4);
  EXPECT_EQ(spread({}).median, 0);
}

TEST(Outcome, thinned_history_keeps_ends_and_extremes) {
  std::vector<double> history(5001);
  for (std::size_t k = 0; k < history.size(); ++k) history[k] = std::exp(-1e-3 * static_cast<double>(k));
  history[1234] = 77, history[3456] = 1e-9;
  const auto points = thinned(history, 100);
  EXPECT_LE(points.size(), 104U);
  EXPECT_EQ(points.front().iteration, 0);
  EXPECT_EQ(points.back().iteration, 5000);
  int extremes = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (k > 0) {
      EXPECT_LT(points[k - 1].iteration, points[k].iteration);
    }
    EXPECT_EQ(points[k].residual, history[static_cast<std::size_t>(points[k].iteration)]);
    extremes += points[k].iteration == 1234 || points[k].iteration == 3456;
  }
  EXPECT_EQ(extremes, 2);
  EXPECT_EQ(thinned({1, 0.5}).size(), 2U);
  EXPECT_TRUE(thinned({}).empty());
}

TEST(Outcome, survives_json) {
  Outcome o = failure("refused", "a(3, 3) = 0", "reorder");
  o.samples = {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 7}};
  o.rounds = 2, o.iterations = 7, o.memory_bytes = 1234;
  o.true_relative = std::nan(""), o.known_error = 1e-7;
  o.history = {{0, 1.0}, {7, INFINITY}};
  o.matrix = {{"rows", 3}};
  o.format = "csr", o.precision = "float64", o.backend = "host", o.threads = 2;
  const Outcome back = outcome_from(nlohmann::ordered_json::parse(to_json(o).dump()));
  EXPECT_EQ(back.status, "refused");
  EXPECT_EQ(back.why, o.why);
  EXPECT_EQ(back.setup().median, 15);
  EXPECT_EQ(back.solve().median, 6.5);
  EXPECT_EQ(back.total(10), 80);
  EXPECT_TRUE(std::isnan(back.true_relative)) << "what is not finite is null in JSON";
  EXPECT_EQ(back.known_error, 1e-7);
  ASSERT_EQ(back.history.size(), 2U);
  EXPECT_EQ(back.history[1].iteration, 7);
  EXPECT_EQ(to_json(back).dump(), to_json(o).dump());
}

}  // namespace
}  // namespace krill::apps::evaluate
