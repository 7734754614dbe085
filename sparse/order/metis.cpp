#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/order/joined_pattern.hpp"
#include "sparse/order/ordering.hpp"

namespace krill {

namespace {

/// The pattern as METIS takes it; its arrays are not const there.
struct MetisGraph {
  idx_t rows;
  std::vector<idx_t> begins, neighbors;

  template <class T, class Offset>
  MetisGraph(Context& ctx, std::string_view what, const Csr<T, Offset>& A) : rows(A.rows()) {
    require_size(fmt::format("{}: columns of the matrix", what), A.cols(), A.rows());
    const JoinedPattern pattern = join_pattern(ctx, A);
    if (std::ssize(pattern.neighbors) > std::numeric_limits<idx_t>::max())
      throw InvalidArgument(
          fmt::format("{}: the joined pattern has {} entries, more than METIS counts", what, pattern.neighbors.size()));
    begins.assign(pattern.begins.begin(), pattern.begins.end());
    neighbors.assign(pattern.neighbors.begin(), pattern.neighbors.end());
  }
  bool has_edges() const { return !neighbors.empty(); }  // METIS wants one
};

struct MetisOptions {
  idx_t list[METIS_NOPTIONS];
  MetisOptions() {
    METIS_SetDefaultOptions(list);
    list[METIS_OPTION_SEED] = 1;
  }
};

/// So that their sum, which METIS takes, too, is an idx_t.
std::vector<idx_t> metis_weights(std::span<const std::int64_t> costs) {
  constexpr std::int64_t max_sum = std::int64_t{1} << 30;
  const std::int64_t unit = std::accumulate(costs.begin(), costs.end(), std::int64_t{0}) / max_sum + 1;
  std::vector<idx_t> weights;
  weights.reserve(costs.size());
  for (const std::int64_t cost : costs) weights.push_back(static_cast<idx_t>(std::max<std::int64_t>(1, cost / unit)));
  return weights;
}

/// METIS draws from rand(), which all threads share: calls at a time would not give the same in every run.
std::mutex one_at_a_time;

void require_success(int status, const char* what, std::size_t words) {
  if (status != METIS_OK) throw OutOfMemory(what, words * sizeof(idx_t), 0);
}

}  // namespace

template <class T, class Offset>
Ordering nested_dissection(Context& ctx, const Csr<T, Offset>& A) {
  MetisGraph graph(ctx, "nested dissection", A);
  const auto n = static_cast<std::size_t>(A.rows());
  std::vector<idx_t> order(n), inverse(n);
  std::iota(order.begin(), order.end(), 0);
  MetisOptions options;
  const std::lock_guard lock(one_at_a_time);
  if (graph.has_edges())
    require_success(METIS_NodeND(&graph.rows, graph.begins.data(), graph.neighbors.data(), nullptr, options.list,
                                 order.data(), inverse.data()),
                    "nested dissection by METIS", 2 * n + graph.neighbors.size());
  return Ordering(Array<std::int32_t>(std::vector<std::int32_t>(order.begin(), order.end()), "ordering"));
}

template <class T, class Offset>
std::vector<std::int32_t> partition_graph(Context& ctx, const Csr<T, Offset>& A, std::int32_t parts,
                                          std::span<const std::int64_t> costs) {
  if (parts < 1) throw InvalidArgument(fmt::format("partition: {} parts, expected 1 or more", parts));
  if (!costs.empty()) require_size("partition: costs", std::ssize(costs), A.rows());
  MetisGraph graph(ctx, "partition", A);
  std::vector<idx_t> part_of(static_cast<std::size_t>(A.rows()));
  for (std::size_t i = 0; i < part_of.size(); ++i) part_of[i] = static_cast<idx_t>(i) % parts;
  MetisOptions options;
  idx_t conditions = 1, cut = 0, count = parts;
  std::vector<idx_t> weights = metis_weights(costs);
  const std::lock_guard lock(one_at_a_time);
  if (graph.has_edges() && parts > 1 && parts < A.rows())
    require_success(METIS_PartGraphKway(&graph.rows, &conditions, graph.begins.data(), graph.neighbors.data(),
                                        costs.empty() ? nullptr : weights.data(), nullptr, nullptr, &count, nullptr,
                                        nullptr, options.list, &cut, part_of.data()),
                    "partition by METIS", part_of.size() + graph.neighbors.size());
  return {part_of.begin(), part_of.end()};
}

HeldMemory nested_dissection_memory(MemoryLedger& ledger, const CsrSizes& A) {
  { const HeldMemory transposed = transpose_memory(ledger, A); }
  return Ordering::memory(ledger, A.rows);
}

template <class T, class Offset>
struct NestedDissectionInstances {
  static constexpr std::tuple list{
      instance<Ordering(Context&, const Csr<T, Offset>&)>(nested_dissection),
      instance<std::vector<std::int32_t>(Context&, const Csr<T, Offset>&, std::int32_t, std::span<const std::int64_t>)>(
          partition_graph)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(NestedDissectionInstances);

}  // namespace krill
