#include "sparse/coarsen/near_null_space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/coarsen/prolongator_passes.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;

template <class T>
Dense<T> constant_candidates(Context& ctx, std::int64_t rows, std::int32_t block_dim) {
  require(block_dim > 0 && rows % block_dim == 0,
          fmt::format("constant candidates: {} rows in blocks of {}, a positive divisor is needed", rows, block_dim));
  Dense<T> b(rows, block_dim);
  ctx.dispatch(
      [&](const auto& where) { run_pass(where, rows * block_dim, FillConstants<kernel_t<T>>{b.write(where)}); });
  return b;
}

template <class T>
Dense<T> rigid_body_modes(Context& ctx, const Dense<double>& coordinates) {
  const std::int32_t nodes = coordinates.rows(), d = coordinates.cols();
  require(d == 2 || d == 3, fmt::format("rigid body modes: {} coordinates a node, 2 or 3 are needed", d));
  Array<Box> found(1, "bounding box");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, nodes, FindBox{coordinates.view(where), found.write(where)});
  });
  const Box box = found.host()[0];
  if (box.fault.row < nodes)
    throw InvalidArgument(
        fmt::format("rigid body modes: a coordinate of node {} (counted from 0) is not finite", box.fault.row));
  double middle[3] = {}, unit = 0;
  for (std::int32_t k = 0; k < d && nodes > 0; ++k) {
    middle[k] = box.low[k] / 2 + box.high[k] / 2;
    unit = std::max(unit, box.high[k] / 2 - box.low[k] / 2);
  }
  require(nodes <= 1 || unit > 0,
          fmt::format("rigid body modes: all {} nodes have the same coordinates, so there are no rotations", nodes));
  if (nodes <= 1) unit = 1;
  Dense<T> b(std::int64_t{nodes} * d, d == 2 ? 3 : 6);
  ctx.dispatch([&](const auto& where) {
    run_pass(
        where, nodes,
        FillMotions<kernel_t<T>>{coordinates.view(where), {middle[0], middle[1], middle[2]}, unit, b.write(where)});
  });
  return b;
}

template <class T>
struct CandidateInstances {
  static constexpr std::tuple list{instance<Dense<T>(Context&, std::int64_t, std::int32_t)>(constant_candidates),
                                   instance<Dense<T>(Context&, const Dense<double>&)>(rigid_body_modes)};
};
KRILL_INSTANTIATE(CandidateInstances);

}  // namespace krill
