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

/// How many rows are their own parents, and of_row by these.
struct Numbering {
  std::int32_t count;
  Array<std::int32_t> of_row;
};
/// in_pairs: all rows are, so that their number needs no wait.
Numbering numbered(Context& ctx, const Array<std::int32_t>& parents, bool in_pairs) {
  const std::int64_t rows = parents.size();
  const auto numbers = scanned<std::int32_t>(ctx, rows, "numbers", [&](const auto& where, std::int32_t* flags) {
    run_pass(where, rows, FlagParents{parents.read(where), flags});
  });
  Array<std::int32_t> of_row(rows, "aggregates of rows");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows, NumberRows{parents.read(where), numbers.read(where), of_row.write(where)});
  });
  return {static_cast<std::int32_t>(in_pairs ? rows / 2 : last_offset(ctx, numbers)), std::move(of_row)};
}

/// The pairs of one matrix.
template <class T, class Offset>
struct Pairs {
  std::optional<Csr<T, Offset>> hermitian;  ///< what was matched where |A| is not symmetric
  Array<std::int32_t> mates, parents;
  std::int64_t free_rows;    ///< in no pair, but they may have joined one
  std::int64_t longest_row;  ///< of what was matched; 0: not known
};

/// In the `first` pass raises where an entry is not finite, and takes the Hermitian part where |A| is not symmetric.
template <class T, class Offset>
Pairs<T, Offset> match(Context& ctx, const Csr<T, Offset>& A, const Strength& strength, bool first) {
  const std::int32_t rows = A.rows();
  Array<MatchUnits> units(rows, "units of rows");
  Array<std::int32_t> mates(rows, "mates"), best(rows, "best neighbors"), parents(rows, "parents");
  Array<MatchFigures> figures(1, "figures of a matching");
  const auto measure_rows = [&](const Csr<T, Offset>& of) {
    ctx.dispatch([&](const auto& where) {
      reduce_rows(where,
                  MeasureForMatching<kernel_t<T>, Offset>{of.view(where), strength.measure, first, units.write(where),
                                                          mates.write(where), &figures.update(where)->measure});
    });
  };
  std::optional<Csr<T, Offset>> hermitian;
  const auto neighbors = [&](const auto& where) {
    return BestNeighbor<kernel_t<T>, Offset>{(hermitian ? *hermitian : A).view(where), units.read(where),
                                             strength.threshold * strength.threshold, mates.read(where),
                                             best.update(where)};
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
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows, FindParents{mates.read(where), parents.write(where)});
    if (free_rows == 0) return;
    auto joins = neighbors(where);
    joins.parents = parents.update(where);
    joins.lone_stay = !first;
    reduce_rows(where, joins);
  });
  return {std::move(hermitian), std::move(mates), std::move(parents), free_rows, longest_row};
}

/// Where no row is free.
Aggregates list_pairs(Context& ctx, const Array<std::int32_t>& mates, Numbering numbers) {
  Array<std::int32_t> offsets(std::int64_t{numbers.count} + 1, "offsets of aggregates"),
      rows(mates.size(), "rows of aggregates");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, mates.size(),
             ListPairs{mates.read(where), numbers.of_row.read(where), offsets.write(where), rows.write(where)});
  });
  return {numbers.count, std::move(numbers.of_row), std::move(offsets), std::move(rows), 2};
}

}  // namespace

Aggregates detail::number_by_least_row(Context& ctx, const Aggregates& aggregates) {
  Array<std::int32_t> least(aggregates.of_row.size(), "least rows");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, least.size(),
             FindLeastRows{aggregates.of_row.read(where), aggregates.offsets.read(where), aggregates.rows.read(where),
                           least.write(where)});
  });
  Numbering by_least = numbered(ctx, least, false);
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
  HeldMemory all, contracted;
  CsrSizes m = A;
  for (int pass = 0;; ++pass) {
    const std::int32_t count = m.rows / 2;
    const HeldMemory mates = ledger.hold<std::int32_t>(m.rows), parents = ledger.hold<std::int32_t>(m.rows);
    { const HeldMemory units = ledger.hold<MatchUnits>(m.rows), best = ledger.hold<std::int32_t>(m.rows); }
    HeldMemory of_row;
    {
      const HeldMemory numbers = ledger.hold<std::int32_t>(m.rows + 1LL);
      { const HeldMemory flags = ledger.hold<std::int32_t>(m.rows); }
      of_row = ledger.hold<std::int32_t>(m.rows);
    }
    if (pass == 0) all = ledger.hold<std::int32_t>(A.rows);
    if (pass + 1 == passes || count == 0) {
      m.rows = count;
      break;
    }
    const HeldMemory offsets = ledger.hold<std::int32_t>(count + 1LL), listed = ledger.hold<std::int32_t>(m.rows);
    CsrSizes half = m.with_nnz(m.nnz / 2);
    half.rows = half.cols = count;
    contracted = contraction_memory(ledger, m, half);
    m = half;
  }
  all += list_memory(ledger, A.rows, m.rows);
  return all;
}

template <class T, class Offset>
Aggregates aggregate_matching(Context& ctx, const Csr<T, Offset>& A, int passes, const Strength& strength) {
  require_size("matching: columns of the matrix", A.cols(), A.rows());
  require(passes > 0, fmt::format("matching: {} passes, 1 is needed", passes));
  require(strength.threshold >= 0,
          fmt::format("matching: the threshold of strength is {}, it may not be negative", strength.threshold));
  std::optional<Csr<T, Offset>> contracted;         // the matrix of this pass, where it is not A
  Numbering all{A.rows(), Array<std::int32_t>(0)};  // of the rows of A
  bool has_free_rows = false;
  std::int64_t longest_row = 0;  // of the matrix of this pass; 0: not known
  std::int32_t max_rows = 1;     // of an aggregate, as long as no row is free
  for (int pass = 0; pass < passes; ++pass) {
    const Csr<T, Offset>& matrix = contracted ? *contracted : A;
    Pairs<T, Offset> pairs = match(ctx, matrix, strength, pass == 0);
    if (pass > 0 && pairs.free_rows == matrix.rows()) break;
    has_free_rows = has_free_rows || pairs.free_rows > 0;
    if (pass == 0) longest_row = pairs.longest_row;
    max_rows *= 2;
    Numbering step = numbered(ctx, pairs.parents, pairs.free_rows == 0);
    if (pass == 0)
      all.of_row = copy_of(ctx, step.of_row);
    else
      ctx.dispatch([&](const auto& where) {
        std::int32_t* const of_row = all.of_row.update(where);
        run_pass(where, A.rows(), NumberRows{of_row, step.of_row.read(where), of_row});
      });
    all.count = step.count;
    if (pass + 1 == passes || step.count == 0) break;
    const Aggregates aggregates = pairs.free_rows == 0 ? list_pairs(ctx, pairs.mates, std::move(step))
                                                       : list_aggregates(ctx, step.count, std::move(step.of_row));
    const Csr<T, Offset>& matched = pairs.hermitian ? *pairs.hermitian : matrix;
    ContractionPlan<T, Offset> plan(ctx, matched, aggregates, longest_row);
    longest_row = plan.longest_row();
    contracted = std::move(plan).release();
  }
  Aggregates made = list_aggregates(ctx, all.count, std::move(all.of_row), !has_free_rows);
  if (has_free_rows) return number_by_least_row(ctx, made);
  made.max_rows = max_rows;
  return made;
}

template <class T, class Offset>
struct MatchingAggregateInstances {
  static constexpr auto list =
      instance<Aggregates(Context&, const Csr<T, Offset>&, int, const Strength&)>(aggregate_matching);
};
KRILL_INSTANTIATE_WITH_OFFSETS(MatchingAggregateInstances);

}  // namespace krill
