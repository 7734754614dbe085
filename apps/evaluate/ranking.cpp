#include "apps/evaluate/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace krill::apps::evaluate {
namespace {

constexpr double indistinct = 0.05;

}  // namespace

double value(const Cost& cost, Use use) {
  switch (use) {
    case Use::one_solve:
      return cost.total(1);
    case Use::many_solves:
      return cost.solve;
    case Use::min_memory:
      break;
  }
  return cost.bytes;
}

double noise(const Cost& cost, Use use) {
  if (use == Use::min_memory) return 0;
  return cost.solve_noise + (use == Use::one_solve ? cost.setup_noise : 0);
}

std::vector<std::size_t> ranking(std::span<const Cost> costs, Use use) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t k) { return std::tuple(value(costs[k], use), costs[k].complexity); });
  return order;
}

Recommendation choose(std::span<const Cost> costs, Use use) {
  const auto order = ranking(costs, use);
  Recommendation choice{order.front(), order.front(), {}};
  const Cost& best = costs[choice.fastest];
  for (const std::size_t k : order) {
    const double more = value(costs[k], use) - value(best, use);
    const bool tie = more <= indistinct * value(best, use) && more <= noise(costs[k], use) + noise(best, use);
    if (!tie || k == choice.fastest) continue;
    choice.ties.push_back(k);
    if (costs[k].complexity < costs[choice.chosen].complexity) choice.chosen = k;
  }
  return choice;
}

std::vector<bool> pareto_set(std::span<const Cost> costs) {
  const auto beats = [](const Cost& a, const Cost& b) {
    const bool nowhere_worse = a.setup <= b.setup && a.solve <= b.solve && a.bytes <= b.bytes;
    return nowhere_worse && (a.setup < b.setup || a.solve < b.solve || a.bytes < b.bytes);
  };
  std::vector<bool> in(costs.size());
  for (std::size_t k = 0; k < costs.size(); ++k)
    in[k] = std::ranges::none_of(costs, [&](const Cost& other) { return beats(other, costs[k]); });
  return in;
}

std::optional<std::int64_t> break_even(const Cost& later, const Cost& earlier) {
  if (later.total(1) < earlier.total(1)) return 1;
  if (!(later.solve < earlier.solve)) return {};
  const double solves = std::floor((later.setup - earlier.setup) / (earlier.solve - later.solve)) + 1;
  if (!(solves < 1e15)) return {};
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(solves));
}

std::vector<Step> envelope(std::span<const Cost> costs) {
  std::vector<Step> steps;
  if (costs.empty()) return steps;
  steps.push_back({1, ranking(costs, Use::one_solve).front()});
  for (;;) {
    const Cost& now = costs[steps.back().index];
    Step next{std::numeric_limits<std::int64_t>::max(), 0};
    for (std::size_t k = 0; k < costs.size(); ++k) {
      if (!(costs[k].solve < now.solve)) continue;
      const auto from = break_even(costs[k], now);
      const bool sooner = from && (*from < next.from ||
                                   (*from == next.from && costs[k].total(static_cast<double>(*from)) <
                                                              costs[next.index].total(static_cast<double>(*from))));
      if (sooner) next = {*from, k};
    }
    if (next.from == std::numeric_limits<std::int64_t>::max()) return steps;
    steps.push_back(next);
  }
}

std::vector<Standing> standings(const std::vector<std::vector<std::optional<double>>>& values) {
  std::vector<Standing> all(values.empty() ? 0 : values.front().size());
  for (std::size_t m = 0; m < all.size(); ++m) {
    all[m].method = m;
    double logs = 0;
    for (const auto& system : values) {
      if (!system[m]) continue;
      double best = *system[m];
      for (const auto& other : system)
        if (other) best = std::min(best, *other);
      if (best > 0) logs += std::log(*system[m] / best);
      ++all[m].solved;
    }
    all[m].ratio = all[m].solved ? std::exp(logs / all[m].solved) : 0;
  }
  std::ranges::stable_sort(all, {}, [](const Standing& s) { return std::tuple(-s.solved, s.ratio); });
  return all;
}

}  // namespace krill::apps::evaluate
