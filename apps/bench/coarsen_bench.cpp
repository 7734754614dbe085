// Strong graphs, aggregates of rows, and the coarse matrix that they make.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/bench/job.hpp"
#include "sparse/coarsen/matching.hpp"
#include "sparse/coarsen/work.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::bench {
namespace {

/// What is wrong with aggregates, if anything: one that entries of A do not hold together, or lists that say something
/// else than `of_row`.
template <class T>
std::string wrong_aggregates(const CsrView<const T>& a, const Aggregates& found) {
  const auto of_row = found.of_row.host(), offsets = found.offsets.host(), rows = found.rows.host();
  for (std::size_t k = 0, aggregate = 0; k < rows.size(); ++k) {
    while (offsets[aggregate + 1] <= static_cast<std::int32_t>(k)) ++aggregate;
    if (of_row[static_cast<std::size_t>(rows[k])] != static_cast<std::int32_t>(aggregate))
      return fmt::format("wrong result: row {} is listed in aggregate {}", rows[k], aggregate);
  }
  std::vector<std::int32_t> parents(of_row.size());
  std::iota(parents.begin(), parents.end(), 0);
  const auto parent_of = [&](std::int32_t row) {
    for (auto at = static_cast<std::size_t>(row);; at = static_cast<std::size_t>(row)) {
      if (parents[at] == row) return row;
      row = parents[at] = parents[static_cast<std::size_t>(parents[at])];
    }
  };
  std::int64_t in_some = 0, joined = 0;  // rows; unions of two sets of them
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const std::int32_t own = of_row[static_cast<std::size_t>(i)];
    if (own < -1 || own >= found.count) return fmt::format("wrong result: row {} is in aggregate {}", i, own);
    if (own < 0) continue;
    ++in_some;
    for (std::int32_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      if (of_row[static_cast<std::size_t>(a.col_indices[k])] != own) continue;
      const std::int32_t one = parent_of(i), other = parent_of(a.col_indices[k]);
      if (one == other) continue;
      parents[static_cast<std::size_t>(one)] = other;
      ++joined;
    }
  }
  if (in_some != static_cast<std::int64_t>(rows.size()))
    return fmt::format("wrong result: {} rows are in aggregates, {} are listed", in_some, rows.size());
  if (in_some - joined != found.count)
    return fmt::format("wrong result: {} aggregates fall into {} parts", found.count, in_some - joined);
  return {};
}

/// What is wrong with a strong graph, if anything: it has an edge without a strong entry, or a strong entry has none.
/// Rounding may decide on what is as large as the threshold.
template <class T>
std::string wrong_graph(const CsrView<const T>& a, const StrongGraph<std::int32_t>& graph, double threshold) {
  const auto graph_offsets = graph.row_offsets.host(), graph_cols = graph.col_indices.host();
  std::vector<double> greatest(static_cast<std::size_t>(a.rows));
  for (std::int32_t i = 0; i < a.rows; ++i)
    a.for_entries(i, [&](std::int32_t j, T value) {
      double& own = greatest[static_cast<std::size_t>(i)];
      if (i != j) own = std::max<double>(own, detail::magnitude(value));
    });
  const auto least = [&](std::int32_t i, std::int32_t j) {
    return threshold * std::sqrt(greatest[static_cast<std::size_t>(i)]) *
           std::sqrt(greatest[static_cast<std::size_t>(j)]);
  };
  const auto size_of = [&](std::int32_t i, std::int32_t j) -> double {
    const auto* const end = a.col_indices + a.row_offsets[i + 1];
    const auto* const found = std::lower_bound(a.col_indices + a.row_offsets[i], end, j);
    return found != end && *found == j ? detail::magnitude(a.values[found - a.col_indices]) : 0;
  };
  const auto has_edge = [&](std::int32_t i, std::int32_t j) {
    const auto row = graph_offsets.begin() + i;
    return std::binary_search(graph_cols.begin() + row[0], graph_cols.begin() + row[1], j);
  };
  std::string text;
  for (std::int32_t i = 0; i < a.rows && text.empty(); ++i) {
    a.for_entries(i, [&](std::int32_t j, T value) {
      if (i != j && detail::magnitude(value) > least(i, j) * (1 + 1e-9) && !(has_edge(i, j) && has_edge(j, i)))
        text = fmt::format("wrong result: rows {} and {} have no edge", i, j);
    });
    const auto row = graph_offsets.begin() + i;
    for (std::int32_t k = row[0]; k < row[1]; ++k) {
      const std::int32_t j = graph_cols[static_cast<std::size_t>(k)];
      if (i == j || std::max(size_of(i, j), size_of(j, i)) < least(i, j) * (1 - 1e-9))
        text = fmt::format("wrong result: rows {} and {} have an edge", i, j);
    }
  }
  return text;
}

/// What a step reads and makes.
template <class T>
struct CoarsenStep {
  std::shared_ptr<const AnyMatrix<T>> source;
  StrongGraph<std::int32_t> graph;
  Aggregates aggregates;

  const Csr<T>& matrix() const { return std::get<Csr<T>>(*source); }
};

/// Times run(step) and looks at what it leaves.
template <class T>
void measure_step(const BenchSubject<T>& s, const char* kernel, const char* variant, auto&& run, auto&& work,
                  auto&& fault) {
  Row row = s.row(kernel, variant);
  measure_job<T>(s, row, [&](std::size_t copy) {
    auto made = std::make_shared<CoarsenStep<T>>();
    auto* const step = made.get();
    step->source = source_copy(s, copy);
    step->graph = strong_graph(s.ctx, step->matrix());
    run(*step);
    Job<T> job;
    job.bytes = work(*step).bytes;
    job.task = {.kernel = kernel, .A = step->source.get()};
    job.run = [run, step] { run(*step); };
    job.fault = [fault, step] { return fault(*step); };
    job.keeps = std::move(made);
    return job;
  });
  s.report(row);
}

}  // namespace

template <class T>
void bench_coarsen(const BenchSubject<T>& s) {
  if (!std::holds_alternative<Csr<T>>(*s.A) || rows(*s.A) != cols(*s.A)) return;
  Context& ctx = s.ctx;
  using Step = CoarsenStep<T>;
  measure_step<T>(
      s, "strong_graph", "relative", [&ctx](Step& step) { step.graph = strong_graph(ctx, step.matrix()); },
      [](const Step& step) { return strong_graph_work(step.matrix(), step.graph); },
      [](const Step& step) { return wrong_graph(step.matrix().view(Host{}), step.graph, Strength().threshold); });
  const auto wrong = [](const Step& step) { return wrong_aggregates(step.matrix().view(Host{}), step.aggregates); };
  measure_step<T>(
      s, "aggregates", "mis2", [&ctx](Step& step) { step.aggregates = aggregate_mis2(ctx, step.graph, step.matrix()); },
      [](const Step& step) { return aggregate_work(step.graph, step.aggregates); }, wrong);
  measure_step<T>(
      s, "aggregates", "matching",
      [&ctx](Step& step) { step.aggregates = aggregate_matching(ctx, step.matrix(), matching_passes, {}); },
      [](const Step& step) { return aggregate_work(step.matrix(), step.aggregates); }, wrong);
  bench_contraction(s);
}

template <class T>
struct CoarsenBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_coarsen);
};
KRILL_INSTANTIATE(CoarsenBenchInstances);

}  // namespace krill::apps::bench
