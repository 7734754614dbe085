#include "apps/inspect/parallelism.hpp"

#include <complex>

#include "sparse/order/coloring.hpp"
#include "sparse/triangular/levels.hpp"

namespace krill::apps {
namespace {

template <class T, class Offset>
OrderLevels levels_of(Context& ctx, std::string_view order, const Csr<T, Offset>& A) {
  const LevelSchedule lower(ctx, A.row_offsets(), A.col_indices(), Fill::lower),
      upper(ctx, A.row_offsets(), A.col_indices(), Fill::upper);
  return {order, lower.levels(), upper.levels(), lower.widest()};
}

}  // namespace

template <class T, class Offset>
std::vector<OrderLevels> levels_by_order(Context& ctx, const Csr<T, Offset>& A) {
  std::vector<OrderLevels> orders{levels_of(ctx, "none", A)};
  const Reordered<T, Offset> banded(ctx, A, reverse_cuthill_mckee(ctx, A));
  orders.push_back(levels_of(ctx, "rcm", banded.matrix()));
  const Coloring coloring = color(ctx, A);
  const Reordered<T, Offset> colored(ctx, A, coloring.ordering);
  orders.push_back(levels_of(ctx, "color", colored.matrix()));
  orders.back().colors = coloring.count;
  return orders;
}

template std::vector<OrderLevels> levels_by_order(Context&, const Csr<double, std::int32_t>&);
template std::vector<OrderLevels> levels_by_order(Context&, const Csr<double, std::int64_t>&);
template std::vector<OrderLevels> levels_by_order(Context&, const Csr<std::complex<double>, std::int32_t>&);
template std::vector<OrderLevels> levels_by_order(Context&, const Csr<std::complex<double>, std::int64_t>&);

}  // namespace krill::apps
