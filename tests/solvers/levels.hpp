// What tests of multigrid share: a cycle, and the judge of a hierarchy's levels.
#pragma once
#include <utility>
#include <vector>

#include "solvers/multigrid/hierarchy.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/multigrid_oracle.hpp"

namespace krill::test {

/// The cycle applied to b.
template <class T>
std::vector<T> answer(Context& ctx, const Hierarchy<T>& hierarchy, const Array<T>& b) {
  Array<T> x(b.size());
  hierarchy.cycle().apply(ctx, b, x, nullptr);
  return contents(x);
}

/// What smoothed aggregation around roots does from A to the next level, for the judge.
template <class T>
CoarseningStep step_of(Context& ctx, const Csr<T>& A, std::int32_t block_dim, double damping) {
  CoarseningStep step;
  step.block_dim = block_dim, step.damping = damping;
  const auto take = [&](const auto& nodes) {
    const auto graph = strong_graph(ctx, nodes);
    const Aggregates aggregates = aggregate_mis2(ctx, graph, nodes);
    step.of_node.assign(aggregates.of_row.host().begin(), aggregates.of_row.host().end());
    for (std::int32_t i = 0; i < graph.rows(); ++i)
      for (auto k = graph.row_offsets.host()[static_cast<std::size_t>(i)];
           k < graph.row_offsets.host()[static_cast<std::size_t>(i) + 1]; ++k)
        step.strong.insert({i, graph.col_indices.host()[static_cast<std::size_t>(k)]});
  };
  if (block_dim > 1)
    take(node_matrix(ctx, A, block_dim));
  else
    take(A);
  return step;
}

/// Aggregates and strong connections are those of the hierarchy's own levels. A in CSR with block_dim rows a node.
template <class T>
MultigridJudge judge_of(Context& ctx, const Hierarchy<T>& hierarchy, const Csr<T>& A, std::int32_t block_dim,
                        const Dense<T>& candidates) {
  std::vector<std::vector<Z>> columns;
  for (std::int64_t j = 0; j < candidates.cols(); ++j) {
    columns.emplace_back();
    for (std::int64_t i = 0; i < candidates.rows(); ++i) columns.back().push_back(Z(candidates.host().at(i, j)));
  }
  std::vector<CoarseningStep> steps;
  for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
    const auto& level = *hierarchy.levels()[l];
    const Csr<T>& matrix = l ? std::get<Csr<T>>(*level.A) : A;
    steps.push_back(step_of(ctx, matrix, l == 0 ? block_dim : static_cast<std::int32_t>(candidates.cols()),
                            hierarchy.options().interpolation_damping / level.report.max_eigenvalue));
    steps.back().restricts_by_adjoint = hierarchy.restricts_by_adjoint();
  }
  return {reference(A), columns, steps};
}

}  // namespace krill::test
