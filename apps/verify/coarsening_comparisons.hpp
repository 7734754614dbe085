// What the steps of coarsening made, beside what they should have.
#pragma once
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/verify/comparison.hpp"
#include "apps/verify/references/coarsening.hpp"
#include "sparse/coarsen/aggregate.hpp"

namespace krill::apps::verify {

inline constexpr std::string_view by_definition = "the definition, whatever the order";
inline constexpr std::string_view running_error =
    "running error analysis of the definition, one operation after the other (Higham 2002, section 3.3)";

/// Something that holds or does not.
inline Comparison holds(std::string wrong) {
  if (!wrong.empty()) return failed(std::move(wrong));
  constexpr std::int32_t yes[]{1};
  return compare_bits<std::int32_t>(yes, yes);
}

template <class T, class Offset>
EdgeLists<Offset> graph_of(const Csr<T, Offset>& A) {
  return {A.row_offsets().host(), A.col_indices().host()};
}
inline EdgeLists<std::int32_t> graph_of(const StrongGraph<std::int32_t>& graph) {
  return {graph.row_offsets.host(), graph.col_indices.host()};
}
inline DisjointRows partition_of(const Aggregates& found) {
  return {found.count, found.of_row.host(), found.offsets.host(), found.rows.host()};
}

/// A column for each aggregate, ones in its rows.
template <class T>
Rows<T> ones_of(const DisjointRows& aggregates) {
  Rows<T> P{static_cast<std::int32_t>(aggregates.of_row.size()), aggregates.count, {0}, {}, {}};
  for (const std::int32_t own : aggregates.of_row) {
    if (own >= 0) P.col.push_back(own), P.value.push_back(T(1));
    P.offsets.push_back(P.col.size());
  }
  return P;
}

/// Entries of a matrix against those that a map has; one has no others than the other.
template <class T, class Expected>
Comparison compare_entries(const Rows<T>& made, const Expected& expected) {
  std::vector<T> values;
  BoundedVector<T> wanted;
  std::size_t met = 0;
  made.for_places([&](std::int32_t i, std::size_t k) {
    const Bounded<T>* const found = expected(i, made.col[k]);
    met += found != nullptr;
    values.push_back(made.value[k]);
    wanted.push_back(found ? *found : Bounded<T>(T(0)));
  });
  Comparison c = compare<T>(values, wanted);
  if (met != expected.size()) return failed(fmt::format("{} of {} entries are there", met, expected.size()));
  return c;
}
template <class T>
struct EntriesOfRows {
  const std::vector<std::map<std::int32_t, Bounded<T>>>& rows;
  const Bounded<T>* operator()(std::int32_t i, std::int32_t j) const {
    const auto found = rows[as_size(i)].find(j);
    return found == rows[as_size(i)].end() ? nullptr : &found->second;
  }
  std::size_t size() const {
    std::size_t sum = 0;
    for (const auto& row : rows) sum += row.size();
    return sum;
  }
};
template <class T>
struct EntriesOfProduct {
  const std::map<std::pair<std::int32_t, std::int32_t>, Bounded<T>>& entries;
  const Bounded<T>* operator()(std::int32_t i, std::int32_t j) const {
    const auto found = entries.find({i, j});
    return found == entries.end() ? nullptr : &found->second;
  }
  std::size_t size() const { return entries.size(); }
};

}  // namespace krill::apps::verify
