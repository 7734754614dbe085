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
  const auto [team, partition] = share;
  require_size("solve: b of all rows", b.size(), partition->rows());
  require_size("solve: x of all rows", x.size(), partition->rows());
  const std::int64_t begin = partition->begin(team->rank()), own = partition->rows(team->rank());
  const std::span<T> all = x.edit();
  const Array<T> own_b = Array<T>::borrow_host(b.host().data() + begin, own, "b");
  Array<T> own_x = Array<T>::borrow_host(all.data() + begin, own, "x");
  SolveReport report = solver.solve(ctx, own_b, own_x, watch);
  own_x.sync(ctx);
  const std::vector<double> seconds = gather_records(*team, report.seconds);
  report.seconds = *std::ranges::max_element(seconds);  // what comes after may hang on it, on all ranks
  gather_other_rows(*team, *partition, all);
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
