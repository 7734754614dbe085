#include "sparse/parallel/exchange.hpp"

namespace krill::detail {

std::vector<std::int64_t> exchange_counts(Team& team, const std::vector<std::int64_t>& mine) {
  std::vector<std::int64_t> theirs = mine;  // what stays here stays
  std::vector<Team::Outgoing> out;
  std::vector<Team::Incoming> in;
  for (int r = 0; r < team.size(); ++r) {
    const auto at = static_cast<std::size_t>(r);
    if (r == team.rank()) continue;
    out.push_back({r, &mine[at], sizeof mine[at]});
    in.push_back({r, &theirs[at], sizeof theirs[at]});
  }
  team.start(out, in);
  team.finish();
  return theirs;
}

}  // namespace krill::detail
