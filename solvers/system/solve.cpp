#include "solvers/system/solve.hpp"

#include "solvers/system/ladder.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill {
namespace {

/// A itself, which stays the caller's, or A in CSR.
template <class T>
std::shared_ptr<const AnyMatrix<T>> in_csr(Context& ctx, const AnyMatrix<T>& A) {
  const bool is_there = std::visit([]<class Matrix>(const Matrix&) { return is_csr<Matrix>; }, A);
  if (is_there) return {std::shared_ptr<void>(), &A};
  return std::make_shared<const AnyMatrix<T>>(to_csr(ctx, A));
}

}  // namespace

template <class T>
SystemReport solve(Context& ctx, const AnyMatrix<T>& A, const Array<T>& b, Array<T>& x, const SolveOptions& options,
                   const Watch& watch) {
  const Stopwatch all;
  const std::int64_t columns = columns_of("solve: b", b.size(), rows(A));
  require_size("solve: x", x.size(), columns * cols(A));
  SystemReport report;
  report.options = options;
  Stopwatch clock;
  auto csr = in_csr(ctx, A);
  report.timings.assemble = clock.lap();
  report.matrix = analyze(Host{ctx.threads(), {}, nullptr}, *csr);
  report.timings.analyze = clock.lap();
  require_solvable("A", report.matrix);
  report.choices = choose_for(report.options, report.matrix, ctx.on_cuda());
  require_suitable("A", report.options, report.matrix);
  report.singularity = singularity(report.matrix, b, stop(report.options.solver));
  report.timings.choose = clock.lap();
  const PreparedSystem<T> system = prepare(ctx, report.options, std::move(csr), report);
  climb(
      ctx, report.options, system, b, x, report, [] {}, watch);
  report.timings.total = all.milliseconds();
  return report;
}

template <class T>
struct SolveInstances {
  static constexpr auto list = instance<SystemReport(Context&, const AnyMatrix<T>&, const Array<T>&, Array<T>&,
                                                     const SolveOptions&, const Watch&)>(solve);
};
KRILL_INSTANTIATE(SolveInstances);

}  // namespace krill
