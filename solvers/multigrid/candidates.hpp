// What coarse levels have to represent.
#pragma once
#include <cstdint>
#include <optional>

#include "solvers/multigrid/options.hpp"
#include "sparse/core/context.hpp"
#include "sparse/formats/dense.hpp"

namespace krill {

/// The near null space that options ask for, and the unknowns of a node.
template <class T>
struct NearNullSpace {
  std::int32_t block_dim;
  std::optional<Dense<T>> columns;  ///< nothing for constants

  /// coordinates: a row for each node; null: not known. Reads the file that options name. Raises InvalidArgument where
  /// rigid body modes are asked for without coordinates, or a number is not finite; as reading a file does.
  NearNullSpace(Context&, const NearNullSpaceOptions&, const Dense<double>* coordinates);
};

}  // namespace krill
