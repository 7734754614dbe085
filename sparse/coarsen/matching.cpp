#include "sparse/coarsen/matching.hpp"

#include <fmt/format.h>

#include <optional>

#include "sparse/coarsen/contract.hpp"
#include "sparse/coarsen/matching_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spgemm/spgeam.hpp"

namespace krill {

using namespace detail;
namespace {

constexpr int max_rounds = 8;  // Not varied: with aligned ties one is enough on a grid, more find few pairs

/// Of the rows that are their own parents, numbered, and those that have these: not listed.
Aggregates numbered(Context& ctx, const Array<std::int32_t>& parents) {
  const std::int64_t rows = parents.size();
  const auto numbers = scanned<std::int32_t>(ctx, rows, "numbers", [&](const auto& where, std::int32_t* flags) {
    run_pass(where, rows, FlagParents{parents.read(where), flags});
  });
  Array<std::int32_t> of_row(rows, "aggregates of rows");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows, NumberRows{parents.read(where), numbers.read(where), of_row.write(where)});
  });
  return {static_cast<std::int32_t>(last_offset(ctx, numbers)), std::move(of_row), Array<std::int32_t>(0),
          Array<std::int32_t>(0)};
}

/// The pairs of one matrix.
template <class T, class Offset>
struct Pairs {
  std::optional<Csr<T, Offset>> hermitian;  ///< what was matched where |A| is not symmetric
  Array<std::int32_t> mates, parents;       ///< parents where rows are free
  std::int64_t free_rows;                   ///< in no pair, but they may have joined one
  std::int64_t longest_row;                 ///< of what was matched; 0: not known
};

/// In the `first` pass raises where an entry is not finite, and, if it `compares`, takes the Hermitian part where |A|
/// is not symmetric.
template <class T, class Offset>
Pairs<T, Offset> match(Context& ctx, const Csr<T, Offset>& A, const Strength& strength, bool first, bool compares) {
  const std::int32_t rows = A.rows();
  Array<MatchUnits<match_t<kernel_t<T>>>> units(rows, "units of rows");
  Array<std::int32_t> mates(rows, "mates"), best(rows, "best neighbors"), parents(rows, "parents");
  Array<MatchFigures> figures(1, "figures of a matching");
  const auto measure_rows = [&](const Csr<T, Offset>& of) {
    ctx.dispatch([&](const auto& where) {
      reduce_rows(
          where, MeasureForMatching<kernel_t<T>, Offset>{of.view(where), strength.measure, compares, units.write(where),
                                                         mates.write(where), &figures.update(where)->measure});
    });
  };
  std::optional<Csr<T, Offset>> hermitian;
  const auto neighbors = [&](const auto& where) {
    return BestNeighbor<kernel_t<T>, Offset>{(hermitian ? *hermitian : A).view(where), units.read(where),
                                             static_cast<match_t<kernel_t<T>>>(strength.threshold * strength.threshold),
                                             mates.read(where), best.update(where)};
  };
  const auto pair_rows = [&] {
    ctx.dispatch([&](const auto& where) {
      reduce_rows(where, neighbors(where));
      run_pass(where, rows, PairRows{best.read(where), mates.update(where), &figures.update(where)->free});
    });
  };
  measure_rows(A);
  pair_rows();  // of a matrix whose measure is read with the result: one wait for both
  std::int64_t longest_row = 0;
  if (first) {
    const MatchMeasure found = figures.host()[0].measure;
    if (found.fault.row < rows)
      throw InvalidArgument(
          fmt::format("matching: row {} (counted from 0) has an entry that is not finite", found.fault.row));
    longest_row = found.longest_row;
    if (found.difference != 0) {
      longest_row = 0;
      const T half(static_cast<real_t<T>>(0.5));
      hermitian = spgeam(ctx, Op::none, Op::adjoint, half, A, half, A);
      measure_rows(*hermitian);
      pair_rows();
    }
  }
  for (int round = 1; round < max_rounds && figures.host()[0].free.hopeful > 0; ++round) pair_rows();
  const std::int64_t free_rows = figures.host()[0].free.all;
  if (free_rows > 0)
    ctx.dispatch([&](const auto& where) {
      run_pass(where, rows, FindParents{mates.read(where), parents.write(where)});
      auto joins = neighbors(where);
      joins.parents = parents.update(where);
      joins.lone_stay = !first;
      reduce_rows(where, joins);
    });
  return {std::move(hermitian), std::move(mates), std::move(parents), free_rows, longest_row};
}

/// Where no row is free.
Aggregates list_pairs(Context& ctx, const Array<std::int32_t>& mates) {
  const std::int64_t size = mates.size();
  const auto count = static_cast<std::int32_t>(size / 2);
  const auto numbers = scanned<std::int32_t>(ctx, size, "numbers", [&](const auto& where, std::int32_t* flags) {
    run_pass(where, size, FlagPairs{mates.read(where), flags});
  });
  Array<std::int32_t> of_row(size, "aggregates of rows"), offsets(std::int64_t{count} + 1, "offsets of aggregates"),
      rows(size, "rows of aggregates");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, size,
             ListPairs{mates.read(where), numbers.read(where), of_row.write(where), offsets.write(where),
                       rows.write(where)});
  });
  return {count, std::move(of_row), std::move(offsets), std::move(rows), 2};
}

/// Aggregates of `parts` as those of the rows. `alike`: all parts have parts.max_rows rows, and each of them is in a
/// pair; else the rows are not listed.
Aggregates joined(Context& ctx, Aggregates parts, const Aggregates& of_parts, bool alike) {
  const std::int32_t count = of_parts.count, size = parts.max_rows;
  const std::int64_t rows = parts.of_row.size();
  Aggregates made{count, std::move(parts.of_row),
                  Array<std::int32_t>(alike ? std::int64_t{count} + 1 : 0, "offsets of aggregates"),
                  Array<std::int32_t>(alike ? rows : 0, "rows of aggregates"), alike ? 2 * size : 0};
  ctx.dispatch([&](const auto& where) {
    std::int32_t* const of_row = made.of_row.update(where);
    run_pass(where, rows, NumberRows{of_row, of_parts.of_row.read(where), of_row});
    if (alike)
      run_pass(where, count,
               MergePairs{size, of_parts.rows.read(where), parts.rows.read(where), made.offsets.write(where),
                          made.rows.write(where)});
  });
  return made;
}

}  // namespace

Aggregates detail::number_by_least_row(Context& ctx, const Aggregates& aggregates) {
  Array<std::int32_t> least(aggregates.of_row.size(), "least rows");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, least.size(),
             FindLeastRows{aggregates.of_row.read(where), aggregates.offsets.read(where), aggregates.rows.read(where),
                           least.write(where)});
  });
  Aggregates by_least = numbered(ctx, least);
  return list_aggregates(ctx, by_least.count, std::move(by_least.of_row));
}

static HeldMemory list_memory(MemoryLedger& ledger, std::int32_t rows, std::int32_t count) {
  const HeldMemory before = ledger.hold<std::int32_t>(rows + 1LL);
  { const HeldMemory flags = ledger.hold<std::int32_t>(rows); }
  const CsrSizes packed{rows, count, rows, 0, sizeof(std::int32_t)};
  const HeldMemory columns = ledger.hold(packed.columns_bytes());
  return transpose_memory(ledger, packed);
}

HeldMemory matching_memory(MemoryLedger& ledger, const CsrSizes& A, int passes) {
  HeldMemory of_row, listed, contracted;
  CsrSizes m = A;
  for (int pass = 0;; ++pass) {
    const std::int32_t count = m.rows / 2;
    const auto lists = [&](std::int32_t rows) {
      HeldMemory held = ledger.hold<std::int32_t>(count + 1LL);
      held += ledger.hold<std::int32_t>(rows);
      return held;
    };
    const HeldMemory mates = ledger.hold<std::int32_t>(m.rows);
    {
      const std::size_t unit = m.scalar == sizeof(float) ? sizeof(MatchUnits<float>) : sizeof(MatchUnits<double>);
      const HeldMemory units = ledger.hold(unit * static_cast<std::size_t>(m.rows)),
                       best = ledger.hold<std::int32_t>(m.rows);
    }
    HeldMemory numbers = ledger.hold<std::int32_t>(m.rows + 1LL);
    { const HeldMemory flags = ledger.hold<std::int32_t>(m.rows); }
    HeldMemory of_pairs = ledger.hold<std::int32_t>(m.rows), pairs = lists(m.rows);
    numbers = {};
    const bool is_last = pass + 1 == passes || count == 0;
    CsrSizes half = m.with_nnz(m.nnz / 2);
    half.rows = half.cols = count;
    if (!is_last) contracted = contraction_memory(ledger, m, half);
    if (pass == 0)
      of_row = std::move(of_pairs), listed = std::move(pairs);
    else
      listed = lists(A.rows);
    m = half;
    if (is_last) break;
  }
  listed = {};
  of_row += list_memory(ledger, A.rows, m.rows);  // of aggregates that are no pairs of others; it keeps as much
  return of_row;
}

/// `contracts`: A by the aggregates of the last pass, too.
template <class T, class Offset>
static ContractedMatching<T, Offset> matched(Context& ctx, const Csr<T, Offset>& A, int passes,
                                             const Strength& strength, bool is_hermitian, bool contracts) {
  require_size("matching: columns of the matrix", A.cols(), A.rows());
  require(passes > 0, fmt::format("matching: {} passes, 1 is needed", passes));
  require(strength.threshold >= 0,
          fmt::format("matching: the threshold of strength is {}, it may not be negative", strength.threshold));
  std::optional<Csr<T, Offset>> contracted;  // the matrix of this pass, where it is not A
  Aggregates all;                            // of the rows of A, which are listed as long as none was free
  bool has_free_rows = A.rows() == 0, is_of_A = true;
  std::int64_t longest_row = 0;  // of the matrix of this pass; 0: not known
  for (int pass = 0; pass < passes; ++pass) {
    const Csr<T, Offset>& matrix = contracted ? *contracted : A;
    Pairs<T, Offset> pairs = match(ctx, matrix, strength, pass == 0, pass == 0 && !is_hermitian);
    if (pass > 0 && pairs.free_rows == matrix.rows()) break;
    const bool in_pairs = pairs.free_rows == 0;
    has_free_rows = has_free_rows || !in_pairs, is_of_A = is_of_A && !pairs.hermitian;
    if (pass == 0) longest_row = pairs.longest_row;
    Aggregates aggregates = in_pairs ? list_pairs(ctx, pairs.mates) : numbered(ctx, pairs.parents);
    const bool is_last = pass + 1 == passes || aggregates.count == 0;
    if (!in_pairs && !is_last) aggregates = list_aggregates(ctx, aggregates.count, std::move(aggregates.of_row));
    if (!is_last || (contracts && !has_free_rows && is_of_A)) {
      const Csr<T, Offset>& matched = pairs.hermitian ? *pairs.hermitian : matrix;
      ContractionPlan<T, Offset> plan(ctx, matched, aggregates, longest_row);
      longest_row = plan.longest_row();
      contracted = std::move(plan).release();
    }
    all = pass == 0 ? std::move(aggregates) : joined(ctx, std::move(all), aggregates, !has_free_rows);
    if (is_last) break;
  }
  if (has_free_rows) {
    const Aggregates listed = list_aggregates(ctx, all.count, std::move(all.of_row));
    return {number_by_least_row(ctx, listed), std::nullopt};
  }
  if (!is_of_A) contracted.reset();
  return {std::move(all), std::move(contracted)};
}

template <class T, class Offset>
Aggregates aggregate_matching(Context& ctx, const Csr<T, Offset>& A, int passes, const Strength& strength,
                              bool is_hermitian) {
  return matched(ctx, A, passes, strength, is_hermitian, false).aggregates;
}

template <class T, class Offset>
ContractedMatching<T, Offset> contract_matching(Context& ctx, const Csr<T, Offset>& A, int passes,
                                                const Strength& strength, bool is_hermitian) {
  return matched(ctx, A, passes, strength, is_hermitian, true);
}

template <class T, class Offset>
struct MatchingAggregateInstances {
  static constexpr std::tuple list{
      instance<Aggregates(Context&, const Csr<T, Offset>&, int, const Strength&, bool)>(aggregate_matching),
      instance<ContractedMatching<T, Offset>(Context&, const Csr<T, Offset>&, int, const Strength&, bool)>(
          contract_matching)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(MatchingAggregateInstances);

}  // namespace krill
