// Which variant is best for what: plain arithmetic on measured costs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace krill::apps::evaluate {

/// What a variant that converged costs. Times in milliseconds.
struct Cost {
  double setup = 0, solve = 0;
  double bytes = 0;
  double setup_noise = 0, solve_noise = 0;  ///< half of the measured range
  int complexity = 0;                       ///< the simpler of two that tie has less

  /// For so many right-hand sides, one after the other.
  double total(double solves) const { return setup + solves * solve; }
};

/// What a variant can be best for.
enum class Use { one_solve, many_solves, min_memory };
inline constexpr Use all_uses[] = {Use::one_solve, Use::many_solves, Use::min_memory};
/// What it counts: the time of set-up and a solve, that of a solve, or bytes.
double value(const Cost&, Use);

/// The indices of costs, best first; equal values by complexity.
std::vector<std::size_t> ranking(std::span<const Cost>, Use);

/// What may be wrong with it: the halves of the measured ranges that go into it.
double noise(const Cost&, Use);

/// Whom to recommend, of one or more: the simplest of those that cannot be told from the best. Two cannot be told apart
/// where their values differ by less than their noise together, and by less than 5 %.
struct Recommendation {
  std::size_t chosen = 0, fastest = 0;
  std::vector<std::size_t> ties;  ///< the others that cannot be told from the fastest
};
Recommendation choose(std::span<const Cost>, Use);

/// Those that no other one beats or equals in set-up, solve and bytes together while it is better in one of them.
std::vector<bool> pareto_set(std::span<const Cost>);

/// The least number of right-hand sides for which `later` takes less time than `earlier`; nothing where there is none.
std::optional<std::int64_t> break_even(const Cost& later, const Cost& earlier);

/// Who is quickest from how many right-hand sides on.
struct Step {
  std::int64_t from = 1;
  std::size_t index = 0;
};
std::vector<Step> envelope(std::span<const Cost>);

/// One method over several systems: its value divided by the best one's, by geometric mean over the systems that it
/// solved.
struct Standing {
  std::size_t method = 0;
  int solved = 0;
  double ratio = 0;
};
/// `values[s][m]` of method m on system s, nothing where it failed there or was not run. Best first: by systems solved,
/// then by ratio.
std::vector<Standing> standings(const std::vector<std::vector<std::optional<double>>>& values);

}  // namespace krill::apps::evaluate
