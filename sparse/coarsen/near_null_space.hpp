// What an operator takes to almost nothing, known beforehand: candidates for the range of a prolongator.
#pragma once
#include "sparse/formats/dense.hpp"

namespace krill {

/// A constant of each of `block_dim` unknowns a node: rows x block_dim, b_ij = 1 where i mod block_dim = j, else 0.
/// O(rows block_dim), no wait. Raises InvalidArgument unless block_dim is positive and divides rows.
template <class T>
Dense<T> constant_candidates(Context&, std::int64_t rows, std::int32_t block_dim);

/// The motions of a rigid body, by columns: in two dimensions x, y and the rotation (-y, x); in three x, y, z and the
/// rotations (-y, x, 0), (0, -z, y), (z, 0, -x). Row d i + k is component k of node i, for `coordinates` of nodes x d.
/// Coordinates are taken from the middle of the nodes' bounding box, in units of half its longest edge, so that all
/// columns are of one size. O(nodes), waits; the same bits on the host and on CUDA. Raises InvalidArgument unless there
/// are two or three coordinates a node, which are finite and not the same for all of several nodes.
template <class T>
Dense<T> rigid_body_modes(Context&, const Dense<double>& coordinates);

}  // namespace krill
