// What multigrid by aggregates is made of, step by step, as applications call it, with new values.
#include <fmt/format.h>

#include <algorithm>

#include "apps/verify/coarsening_comparisons.hpp"
#include "apps/verify/trial.hpp"
#include "sparse/coarsen/contract.hpp"
#include "sparse/coarsen/matching.hpp"
#include "sparse/coarsen/near_null_space.hpp"
#include "sparse/coarsen/prolongator.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spgemm/spgemm.hpp"

namespace krill::apps::verify {
namespace {

constexpr int matching_passes = 3;

/// The columns of P0 for a constant: 1 / sqrt(n) in the n rows of an aggregate. Gram-Schmidt adds n squares and
/// divides.
template <class T>
Comparison compare_tentative(const Rows<T>& P0, const DisjointRows& aggregates) {
  BoundedVector<T> wanted;
  for (std::int32_t i = 0; i < P0.rows; ++i) {
    const std::int32_t own = aggregates.of_row[as_size(i)];
    const bool as_told = P0.end(i) - P0.begin(i) == (own >= 0 ? 1u : 0u) && (own < 0 || P0.col[P0.begin(i)] == own);
    if (!as_told) return failed(fmt::format("row {} of P0 has other columns than its aggregate", i));
    if (own < 0) continue;
    const auto n = static_cast<std::int64_t>(aggregates.members(own).size());
    const long double entry = 1 / std::sqrt(static_cast<long double>(n));
    wanted.push_back({Exact<T>(entry), gamma<T>(2 * n + 16) * entry});
  }
  return compare<T>(P0.value, wanted);
}

template <class T>
void check_plain(Ledger& ledger, Context& ctx, const Subject<T>& s) {
  const Aggregates pairs = aggregate_matching(ctx, s.A, matching_passes, {});
  const DisjointRows partition = partition_of(pairs);
  ledger.check("aggregates by matching", by_definition, [&] {
    std::string wrong = wrong_aggregates(graph_of(s.A), partition);
    for (std::int32_t set = 0; set < partition.count && wrong.empty(); ++set)
      if (partition.members(set).empty()) wrong = fmt::format("aggregate {} is empty", set);
    return holds(std::move(wrong));
  });
  ContractionPlan<T> plan(ctx, with_other_values(s.A), pairs);
  plan.update(ctx, s.A, pairs);
  if (pairs.rows.size() != s.A.rows()) return;  // else entries of rows in no aggregate stand in the pattern, too
  const Rows<T> P = ones_of<T>(partition);
  ledger.check("contracted matrix", running_error, [&] {
    const auto expected = triple_product(P, s.rows, P);
    return compare_entries(rows_of(plan.matrix()), EntriesOfProduct<T>{expected});
  });
}

template <class T>
void check_smoothed(Ledger& ledger, Context& ctx, const Subject<T>& s, const StrongGraph<std::int32_t>& graph) {
  const Aggregates aggregates = aggregate_mis2(ctx, graph, s.A);
  const DisjointRows partition = partition_of(aggregates);
  ledger.check("aggregates around roots", by_definition, [&] {
    const std::string wrong = wrong_aggregates(graph_of(graph), partition);
    return holds(wrong.empty() ? wrong_roots(graph_of(graph), partition) : wrong);
  });
  if (aggregates.count == 0) return;
  const auto b = constant_candidates<T>(ctx, s.A.rows(), 1);
  const auto tentative = tentative_prolongator<T>(ctx, aggregates, 1, b);
  const Rows<T> P0 = rows_of(tentative.P);
  ledger.check("tentative prolongator", running_error, [&] { return compare_tentative<T>(P0, partition); });

  constexpr double omega = 4.0 / 3, lambda = 2;
  SmoothedProlongator<T> smoothed(ctx, graph, 1, tentative);
  smoothed.update(ctx, with_other_values(s.A), graph, tentative, b, omega, lambda);
  smoothed.update(ctx, s.A, graph, tentative, b, omega, lambda);
  const Rows<T> P = rows_of(smoothed.matrix());
  ledger.check("smoothed prolongator", running_error, [&] {
    const long double factor = omega / lambda;
    SmoothedReference<T, std::int32_t> expected(s.rows, graph_of(graph), 1, P0, b.host(),
                                                tentative.coarse_candidates.host(),
                                                {Exact<T>(factor), gamma<T>(2) * factor});
    P.for_places([&](std::int32_t i, std::size_t k) {  // rounding decides
      if (expected.undecided[as_size(i)]) expected.rows[as_size(i)][P.col[k]] = Bounded<T>(P.value[k]);
    });
    return compare_entries(P, EntriesOfRows<T>{expected.rows});
  });

  TripleProductPlan<T> product(ctx, Op::adjoint, smoothed.matrix(), s.A, smoothed.matrix());
  product.update(ctx, T(1), smoothed.matrix(), s.A, smoothed.matrix());
  ledger.check("coarse matrix R A P", running_error, [&] {
    const auto expected = triple_product(P, s.rows, P);
    return compare_entries(rows_of(product.matrix()), EntriesOfProduct<T>{expected});
  });
}

}  // namespace

template <class T>
void check_coarsening(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  const bool wanted =
      selection.whole_library && std::ranges::any_of(selection.preconditioners, [](const PreconditionerOptions& o) {
        return std::holds_alternative<AmgOptions>(o);
      });
  if (!s.is_square() || !wanted) return;
  const auto graph = strong_graph(ctx, s.A);
  ledger.check("strong graph", by_definition, [&] {
    return holds(wrong_graph(graph_of(s.A), s.A.values().host(), graph_of(graph), Strength().threshold,
                             8 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon())));
  });
  check_smoothed(ledger, ctx, s, graph);
  check_plain(ledger, ctx, s);
}

template <class T>
struct CoarseningSuiteInstances {
  static constexpr auto list = instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_coarsening);
};
KRILL_INSTANTIATE(CoarseningSuiteInstances);

}  // namespace krill::apps::verify
