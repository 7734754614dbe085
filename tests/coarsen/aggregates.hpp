// Aggregates and strong graphs that tests make by themselves.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "sparse/coarsen/aggregate.hpp"
#include "sparse/coarsen/strength.hpp"

namespace krill::test {

/// The aggregates that `of_row` names, -1 for none.
inline Aggregates make_aggregates(std::vector<std::int32_t> of_row) {
  std::map<std::int32_t, std::vector<std::int32_t>> members;
  for (std::size_t i = 0; i < of_row.size(); ++i)
    if (of_row[i] >= 0) members[of_row[i]].push_back(static_cast<std::int32_t>(i));
  const std::int32_t count = members.empty() ? 0 : members.rbegin()->first + 1;
  std::vector<std::int32_t> offsets{0}, rows;
  for (std::int32_t a = 0; a < count; ++a) {
    rows.insert(rows.end(), members[a].begin(), members[a].end());
    offsets.push_back(static_cast<std::int32_t>(rows.size()));
  }
  return {count, Array(std::move(of_row)), Array(std::move(offsets)), Array(std::move(rows))};
}

/// Pairs (i, j) of a symmetric graph without a diagonal.
using Edges = std::set<std::pair<std::int32_t, std::int32_t>>;

template <class Offset>
StrongGraph<Offset> make_graph(std::int32_t nodes, const Edges& edges) {
  std::vector<Offset> offsets(static_cast<std::size_t>(nodes) + 1);
  std::vector<std::int32_t> columns;
  for (const auto& [i, j] : edges) ++offsets[static_cast<std::size_t>(i) + 1], columns.push_back(j);
  for (std::size_t i = 0; i < static_cast<std::size_t>(nodes); ++i) offsets[i + 1] += offsets[i];
  return {Array(std::move(offsets)), Array(std::move(columns))};
}

}  // namespace krill::test
