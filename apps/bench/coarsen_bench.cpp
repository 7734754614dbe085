// Strong graphs, aggregates of rows, and the coarse matrix that they make.
#include "apps/bench/job.hpp"
#include "apps/verify/references/coarsening.hpp"
#include "sparse/coarsen/matching.hpp"
#include "sparse/coarsen/work.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::bench {
namespace {

/// "wrong result: ..." of what a reference says is wrong.
std::string told(const std::string& wrong) { return wrong.empty() ? wrong : "wrong result: " + wrong; }

/// What a step reads and makes.
template <class T>
struct CoarsenStep {
  std::shared_ptr<const AnyMatrix<T>> source;
  StrongGraph<std::int32_t> graph;
  Aggregates aggregates;

  const Csr<T>& matrix() const { return std::get<Csr<T>>(*source); }
  verify::EdgeLists<std::int32_t> pattern() const {
    return {matrix().row_offsets().host(), matrix().col_indices().host()};
  }
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
      [](const Step& step) {
        const verify::EdgeLists<std::int32_t> graph{step.graph.row_offsets.host(), step.graph.col_indices.host()};
        return told(verify::wrong_graph(step.pattern(), step.matrix().values().host(), graph, Strength().threshold,
                                        8 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon())));
      });
  const auto wrong = [](const Step& step) {
    const Aggregates& a = step.aggregates;
    return told(verify::wrong_aggregates(step.pattern(), {a.count, a.of_row.host(), a.offsets.host(), a.rows.host()}));
  };
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
