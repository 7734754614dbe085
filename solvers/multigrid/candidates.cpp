#include "solvers/multigrid/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "sparse/coarsen/near_null_space.hpp"
#include "sparse/core/error.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/read.hpp"

namespace krill {
namespace {

/// The columns of a file as a dense matrix.
template <class T>
Dense<T> columns_of(const std::string& path) {
  Columns<T> columns = read_vector<T>(path);
  const auto wrong = std::ranges::find_if(columns.values, [](const T& value) {
    return !std::isfinite(std::real(value)) || !std::isfinite(std::imag(value));
  });
  if (wrong != columns.values.end())
    throw InvalidArgument(
        fmt::format("preconditioner amg: near_null_space.path: {}: entry {} (counted from 0, column by column) is not "
                    "finite, or beyond the range of the precision",
                    path, wrong - columns.values.begin()));
  return Dense<T>(columns.rows, columns.cols, Array<T>(std::move(columns.values), "near null space"));
}

}  // namespace

template <class T>
NearNullSpace<T>::NearNullSpace(Context& ctx, const NearNullSpaceOptions& o, const Dense<double>* coordinates)
    : block_dim(o.block_dim) {
  if (o.type == CandidateKind::file) columns = columns_of<T>(o.path);
  if (o.type != CandidateKind::rigid_body) return;
  std::optional<Dense<double>> read;
  if (!o.path.empty()) coordinates = &read.emplace(columns_of<double>(o.path));
  if (!coordinates)
    throw InvalidArgument(
        "preconditioner amg: near_null_space rigid_body needs the coordinates of nodes: set near_null_space.path or "
        "matrix.coordinates to a file of them");
  block_dim = coordinates->cols();
  columns = rigid_body_modes<T>(ctx, *coordinates);
}

KRILL_INSTANTIATE(NearNullSpace);

}  // namespace krill
