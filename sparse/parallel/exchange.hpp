// What ranks have for each other, where nobody knows beforehand how much that is.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "sparse/core/team.hpp"

namespace krill {

namespace detail {
/// Of each rank, how many records it has for this one; mine[r]: how many this one has for rank r.
std::vector<std::int64_t> exchange_counts(Team&, const std::vector<std::int64_t>& mine);
}  // namespace detail

/// Records for other ranks: to[r] goes to rank r, and what is for this rank itself stays. Returns what came, in the
/// order of ranks, and of each in its order. All ranks take part; two messages between each two of them at most. Raises
/// TeamFailure.
template <class Record>
std::vector<Record> exchange(Team& team, std::vector<std::vector<Record>> to) {
  static_assert(std::is_trivially_copyable_v<Record>);
  std::vector<std::int64_t> counts;
  for (const auto& records : to) counts.push_back(std::ssize(records));
  counts = detail::exchange_counts(team, counts);
  std::int64_t all = 0;
  for (const std::int64_t count : counts) all += count;
  std::vector<Record> came(static_cast<std::size_t>(all));
  std::vector<Team::Outgoing> out;
  std::vector<Team::Incoming> in;
  Record* at = came.data();
  for (int r = 0; r < team.size(); ++r) {
    const std::vector<Record>& records = to[static_cast<std::size_t>(r)];
    const std::int64_t count = counts[static_cast<std::size_t>(r)];
    if (r == team.rank()) std::copy(records.begin(), records.end(), at);
    if (r != team.rank() && !records.empty()) out.push_back({r, records.data(), records.size() * sizeof(Record)});
    if (r != team.rank() && count > 0) in.push_back({r, at, static_cast<std::size_t>(count) * sizeof(Record)});
    at += count;
  }
  team.start(out, in);
  team.finish();
  return came;
}

}  // namespace krill
