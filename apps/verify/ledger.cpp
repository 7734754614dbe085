#include "apps/verify/ledger.hpp"

#include <algorithm>

namespace krill::apps::verify {

std::string_view verdict_name(Verdict verdict) { return verdict == Verdict::none ? "not checked" : name(verdict); }

std::int64_t Ledger::count(Verdict verdict) const {
  return std::ranges::count_if(checks_, [&](const Check& check) { return check.result.verdict == verdict; });
}

std::vector<GroupSummary> summarize(const std::vector<Check>& checks) {
  std::vector<GroupSummary> groups;
  for (const Check& check : checks) {
    auto group = std::ranges::find(groups, check.group, &GroupSummary::group);
    if (group == groups.end()) {
      group = groups.insert(groups.end(), GroupSummary());
      group->group = check.group;
    }
    ++group->checks;
    group->ms += check.ms;
    if (check.result.verdict == Verdict::none) {
      ++group->not_checked;
      continue;
    }
    group->failed += check.result.verdict == Verdict::fail;
    group->entries += check.result.entries;
    group->ulps += check.result.ulps;
    if (!group->worst || check.result.componentwise > group->worst->result.componentwise) group->worst = &check;
  }
  return groups;
}

}  // namespace krill::apps::verify
