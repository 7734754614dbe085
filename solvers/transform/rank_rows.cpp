#include "solvers/transform/rank_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sparse/core/context.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/team.hpp"
#include "sparse/io/checksum.hpp"

namespace krill {
namespace {

std::vector<std::int32_t> checked(const GivenPartition& given, std::int64_t rows, int ranks) {
  if (!given.ranks) throw InvalidArgument("partition: no ranks are given; one for each row is needed");
  require_size("partition: ranks of rows", std::ssize(*given.ranks), rows);
  for (std::size_t i = 0; i < given.ranks->size(); ++i)
    if (const std::int32_t rank = (*given.ranks)[i]; rank < 0 || rank >= ranks)
      throw InvalidArgument(
          fmt::format("partition: row {} is given to rank {}; there are ranks 0 to {}", i, rank, ranks - 1));
  return *given.ranks;
}

template <class T, class Offset>
std::vector<std::int32_t> graph_parts(Context& ctx, const Csr<T, Offset>& A, int ranks) {
  const auto offsets = A.row_offsets().host();
  std::vector<std::int64_t> costs(static_cast<std::size_t>(A.rows()));
  for (std::size_t i = 0; i < costs.size(); ++i)
    costs[i] = RowPartition::bytes_an_entry * std::int64_t{offsets[i + 1] - offsets[i]} + RowPartition::bytes_a_row;
  return partition_graph(ctx, A, ranks, costs);
}

void require_same(Team& team, const std::vector<std::int32_t>& rank_of) {
  const auto all = gather_records(
      team, xxh64({reinterpret_cast<const char*>(rank_of.data()), rank_of.size() * sizeof(std::int32_t)}));
  const auto other = std::ranges::find_if(all, [&](std::uint64_t each) { return each != all.front(); });
  if (other != all.end())
    throw InvalidArgument(
        fmt::format("partition: rank {} has other ranks of rows than rank 0; all need the same", other - all.begin()));
}

}  // namespace

template <class T, class Offset>
RankRows rows_of_ranks(Context& ctx, const PartitionOptions& options, const Csr<T, Offset>& A, const Ordering* first,
                       int ranks, std::int32_t block) {
  const auto* given = std::get_if<GivenPartition>(&options);
  std::vector<std::int32_t> rank_of = given ? checked(*given, A.rows(), ranks) : graph_parts(ctx, A, ranks);
  std::vector<std::int32_t> order(rank_of.size());
  if (first)
    std::ranges::copy(first->order().host(), order.begin());
  else
    std::iota(order.begin(), order.end(), 0);

  const auto rank_at = [&](std::size_t k) -> std::int32_t& { return rank_of[static_cast<std::size_t>(order[k])]; };
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t first_of_block = k - k % static_cast<std::size_t>(block);
    const std::int32_t of_block = rank_at(first_of_block);
    if (given && rank_at(k) != of_block)
      throw InvalidArgument(fmt::format(
          "partition: rows {} and {} are of one block of the preconditioner, of {} rows, but are given to ranks "
          "{} and {}; give the rows of a block to one rank, or set block_dim",
          order[first_of_block], order[k], block, of_block, rank_at(k)));
    rank_at(k) = of_block;
  }

  if (ctx.team) require_same(*ctx.team, rank_of);

  std::vector<std::int64_t> offsets(static_cast<std::size_t>(ranks) + 1);
  for (const std::int32_t rank : rank_of) ++offsets[static_cast<std::size_t>(rank) + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  const auto rank_of_row = [&](std::int32_t row) { return rank_of[static_cast<std::size_t>(row)]; };
  RankRows made{RowPartition(std::move(offsets)), {}};
  if (std::ranges::is_sorted(order, {}, rank_of_row)) return made;
  std::ranges::stable_sort(order, {}, rank_of_row);
  made.ordering.emplace(Array<std::int32_t>(std::move(order), "rows of ranks"));
  return made;
}

HeldMemory rows_of_ranks_memory(MemoryLedger& ledger, const PartitionOptions& options, const CsrSizes& A) {
  if (std::holds_alternative<RowsPartition>(options)) return {};
  if (std::holds_alternative<GraphPartition>(options)) return nested_dissection_memory(ledger, A);  // by METIS, too
  return Ordering::memory(ledger, A.rows);
}

template <class T, class Offset>
struct RankRowsInstances {
  static constexpr auto list =
      instance<RankRows(Context&, const PartitionOptions&, const Csr<T, Offset>&, const Ordering*, int, std::int32_t)>(
          rows_of_ranks);
};
KRILL_INSTANTIATE_WITH_OFFSETS(RankRowsInstances);

}  // namespace krill
