#include "solvers/distributed_operator.hpp"

#include <algorithm>
#include <cmath>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {
namespace {

template <class T>
double squared_norm(Context& ctx, const AnyMatrix<T>& A) {
  Array<double> norm(1, "||A||_F");
  with_csr(ctx, A, [&](const auto& csr) { norm2(ctx, csr.values(), norm); });
  return norm.host()[0] * norm.host()[0];
}

template <class T>
Array<T> own_rows(const RowShare& share, const Array<T>& all, const char* name) {
  const auto [team, partition] = share;
  require_size("solve: a vector of all rows", all.size(), partition->rows());
  const auto mine = all.host().subspan(static_cast<std::size_t>(partition->begin(team->rank())),
                                       static_cast<std::size_t>(partition->rows(team->rank())));
  return Array<T>(std::vector<T>(mine.begin(), mine.end()), name);
}

}  // namespace

template <class T>
void DistributedOperator<T>::apply(Context& ctx, Op op, const Array<T>& x, Array<T>& y, const Dots<T>& dots) const {
  require_plain(op);
  A_.apply(ctx, x, y, dots);
}

template <class T>
double DistributedOperator<T>::frobenius_norm(Context& ctx) const {
  const Context::TeamScope alone(ctx, nullptr);
  double sum = 0;
  for (const double part : gather_records(A_.team(), squared_norm(ctx, A_.block()) + squared_norm(ctx, A_.border())))
    sum += part;
  return std::sqrt(sum);
}

template <class T>
SolveReport solve_own_rows(Context& ctx, Solver<T>& solver, const RowShare& share, const Array<T>& b, Array<T>& x,
                           const Watch& watch) {
  const Array<T> own_b = own_rows(share, b, "b");
  Array<T> own_x = own_rows(share, x, "x");
  SolveReport report = solver.solve(ctx, own_b, own_x, watch);
  const std::vector<double> seconds = gather_records(*share.team, report.seconds);
  report.seconds = *std::ranges::max_element(seconds);  // what comes after may hang on it, on all ranks
  const std::vector<T> all = gather_rows(*share.team, *share.partition, own_x.host());
  std::ranges::copy(all, x.edit().begin());
  return report;
}

template <class T>
struct SolveOwnRowsInstances {
  static constexpr auto list =
      instance<SolveReport(Context&, Solver<T>&, const RowShare&, const Array<T>&, Array<T>&, const Watch&)>(
          solve_own_rows);
};
KRILL_INSTANTIATE(DistributedOperator);
KRILL_INSTANTIATE(SolveOwnRowsInstances);

}  // namespace krill
