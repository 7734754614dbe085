// A team whose ranks are threads of one process.
#pragma once
#include <functional>

#include "sparse/core/team.hpp"

namespace krill::test {

/// Calls f with the team's end of each of `ranks` threads, and waits for all of them. A rank whose f throws gives up;
/// of what the ranks threw, the first in their order that is no TeamFailure is thrown again, or else the first one.
/// Waits of 30 s, or of 240 s under ThreadSanitizer, end as TeamFailure, so that a test that would hang fails.
void run_team(int ranks, const std::function<void(Team&)>& f);

}  // namespace krill::test
