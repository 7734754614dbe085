#include "solvers/distributed_operator.hpp"

#include <algorithm>
#include <cmath>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"
#include "sparse/spmv/product.hpp"

namespace krill {
namespace {

/// The dots of a y that is there.
template <class T>
struct TakeDots {
  using Sum = typename DotsView<T>::Sum;
  DotsView<T> dots;
  const T* y;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const { return dots.row(i, y, y[i]); }
  constexpr void finish(const Sum& sum) const { dots.finish(sum); }
};

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
  A_.apply(ctx, x, y);
  if (!dots.first && !dots.second) return;
  const Context::TeamScope over(ctx, &A_.team());
  const Host& host = ctx.host_tag();
  using K = kernel_t<T>;
  const auto partner = [&](const Array<T>* with) { return with ? with->read(host) : nullptr; };
  const auto result = [&](Array<wide_t<T>>* sum) { return sum ? sum->write(host) : nullptr; };
  const DotsView<K> view{partner(dots.with_first), result(dots.first), partner(dots.with_second), result(dots.second)};
  run_pass(host, y.size(), TakeDots<K>{view, y.read(host)});
}

template <class T>
double DistributedOperator<T>::frobenius_norm(Context& ctx) const {
  const Context::TeamScope alone(ctx, nullptr);
  double sum = 0;
  for (const double part : gather_records(A_.team(), squared_norm(ctx, A_.interior()) + squared_norm(ctx, A_.border())))
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
