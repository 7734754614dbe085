// What changed between two results.
#pragma once
#include <string>
#include <vector>

#include "apps/bench/result.hpp"

namespace krill::apps::bench {

struct Change {
  enum class Kind { slower, fails, faster, same, gone, added };
  Kind kind;
  Row before, after;  ///< of `gone` and `added` one only
};

/// Row by row, which belong together by kernel, case, precision, variant and cache. Slower: more than 1 + tolerance
/// times as long, and more than the rounds of either row spread; faster: the other way round. Fails: had a time, and
/// has an error now.
std::vector<Change> compare(const std::vector<Result>& before, const std::vector<Result>& after, double tolerance);

/// Whether any row became slower or fails.
bool got_worse(const std::vector<Change>&);

/// The changes, the bad ones first, and a summary.
std::string difference_text(const std::vector<Change>&, double tolerance);

}  // namespace krill::apps::bench
