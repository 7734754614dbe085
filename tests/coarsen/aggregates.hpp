// Aggregates and strong graphs that tests make by themselves.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "sparse/coarsen/aggregate.hpp"
#include "sparse/coarsen/strength.hpp"
#include "sparse/formats/dense.hpp"
#include "tests/support/random.hpp"

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

template <class T>
Dense<T> random_candidates(std::uint64_t seed, std::int64_t rows, std::int64_t cols) {
  return {rows, cols, Array<T>(random_vector<T>(seed, rows * cols))};
}

/// `nodes` of which one in ten is in no aggregate; aggregate 0 has `large` nodes, the others about four.
inline std::vector<std::int32_t> scattered(std::int32_t nodes, std::int32_t large) {
  const auto order = shuffled(7, nodes);
  std::vector<std::int32_t> of_row(static_cast<std::size_t>(nodes), -1);
  for (std::int32_t t = 0; t < nodes; ++t)
    of_row[static_cast<std::size_t>(order[static_cast<std::size_t>(t)])] = t < large ? 0
                                                                           : t < nodes - nodes / 10
                                                                               ? 1 + (t - large) / 4
                                                                               : -1;
  return of_row;
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
