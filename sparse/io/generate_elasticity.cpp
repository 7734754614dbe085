#include "sparse/io/generate_elasticity.hpp"

#include <numbers>
#include <vector>

#include "sparse/io/generate_grid.hpp"
#include "sparse/io/generate_rows.hpp"

namespace krill::detail {
namespace {

using Gradient = std::array<double, 3>;

/// Of the corner's shape function, at a point of the unit cube.
Gradient shape_gradient(int corner, const std::array<double, 3>& at) {
  Gradient gradient{1, 1, 1};
  for (unsigned axis = 0; axis < 3; ++axis) {
    const bool high = corner >> axis & 1;
    for (unsigned i = 0; i < 3; ++i) gradient[i] *= i == axis ? (high ? 1 : -1) : (high ? at[axis] : 1 - at[axis]);
  }
  return gradient;
}

void add_point(BrickMatrix& K, const std::array<Gradient, 8>& gradients, double lambda, double mu) {
  for (unsigned row = 0; row < 24; ++row)
    for (unsigned col = 0; col <= row; ++col) {
      const unsigned i = row % 3, j = col % 3;
      const Gradient &a = gradients[row / 3], &b = gradients[col / 3];
      const double dot = i == j ? a[0] * b[0] + a[1] * b[1] + a[2] * b[2] : 0;
      K[row][col] += lambda * a[i] * b[j] + mu * (a[j] * b[i] + dot);
    }
}

/// The corners of one element at which a node and its neighbor lie.
struct Corners {
  unsigned node, neighbor;
  bool exist;
};

/// `place` and `neighbor` are numbers of three digits to base 3, one an axis: the node lies at the low end (0: it has
/// an element on its high side only), inside (1) or at the high end (2); the neighbor is one before, level, one behind.
/// Bit `axis` of `element` tells on which side of the node the element lies.
Corners corners(unsigned place, unsigned neighbor, unsigned element) {
  Corners found{0, 0, true};
  for (unsigned axis = 0; axis < 3; ++axis, place /= 3, neighbor /= 3) {
    const unsigned high_side = element >> axis & 1;
    const int corner = high_side ? 0 : 1, other = corner + static_cast<int>(neighbor % 3) - 1;
    if (place % 3 == (high_side ? 2 : 0) || other < 0 || other > 1) return {0, 0, false};
    found.node |= static_cast<unsigned>(corner) << axis;
    found.neighbor |= static_cast<unsigned>(other) << axis;
  }
  return found;
}

/// The couplings [place][neighbor][3 i + j] of a node's component i with its neighbor's component j. Both nodes of a
/// pair see their common elements in the same order, so the sums round alike and the matrix is exactly symmetric.
std::vector<std::array<std::array<double, 9>, 27>> node_couplings(const BrickMatrix& element) {
  std::vector<std::array<std::array<double, 9>, 27>> couplings(27);
  for (unsigned place = 0; place < 27; ++place)
    for (unsigned neighbor = 0; neighbor < 27; ++neighbor)
      for (unsigned e = 0; e < 8; ++e) {
        const Corners at = corners(place, neighbor, e);
        if (!at.exist) continue;
        for (unsigned ij = 0; ij < 9; ++ij)
          couplings[place][neighbor][ij] += element[3 * at.node + ij / 3][3 * at.neighbor + ij % 3];
      }
  return couplings;
}

}  // namespace

BrickMatrix brick_stiffness(double young, double poisson_ratio) {
  const double mu = young / (2 * (1 + poisson_ratio)), lambda = 2 * mu * poisson_ratio / (1 - 2 * poisson_ratio);
  const double low = (1 - std::numbers::inv_sqrt3) / 2;
  BrickMatrix K{};
  for (int point = 0; point < 8; ++point) {
    const auto gauss = [&](int axis) { return point >> axis & 1 ? 1 - low : low; };
    std::array<Gradient, 8> gradients;
    for (int corner = 0; corner < 8; ++corner)
      gradients[static_cast<std::size_t>(corner)] = shape_gradient(corner, {gauss(0), gauss(1), gauss(2)});
    add_point(K, gradients, lambda / 8, mu / 8);
  }
  for (unsigned row = 0; row < 24; ++row)
    for (unsigned col = row + 1; col < 24; ++col) K[row][col] = K[col][row];
  return K;
}

/// The nodes of the clamped face, x = 0, are left out.
static Grid free_nodes(const Elasticity3dOptions& o) { return {o.nx, extent(o.ny, o.nx) + 1, extent(o.nz, o.nx) + 1}; }

Dense<double> coordinates_of(const Elasticity3dOptions& o) {
  const Grid nodes = free_nodes(o);
  Dense<double> coordinates(checked_rows(o.type, nodes.nx, nodes.ny, nodes.nz, 3) / 3, 3);
  const auto out = coordinates.edit();
  for_each_index(all_threads(), out.rows, [&](std::int64_t i) {
    const auto at = nodes.point(i);
    out.at(i, 0) = static_cast<double>(at.x + 1);
    out.at(i, 1) = static_cast<double>(at.y);
    out.at(i, 2) = static_cast<double>(at.z);
  });
  return coordinates;
}

template <class T>
AnyMatrix<T> generate_matrix(const Elasticity3dOptions& o, const ChooseRows& choose) {
  using K = kernel_t<T>;
  const Grid nodes = free_nodes(o);
  const std::int64_t rows = checked_rows(o.type, nodes.nx, nodes.ny, nodes.nz, 3);
  const auto neighbors = box_stencil([](int, int, int) { return 0.0; });
  const auto first = [&](std::int64_t row) {
    const std::int64_t node = row / 3, before = nodes.neighbors_before(node, neighbors);
    if (row % 3 == 0) return 9 * before;
    return 9 * before + row % 3 * 3 * (nodes.neighbors_before(node + 1, neighbors) - before);
  };
  const auto couplings = node_couplings(brick_stiffness(o.young, o.poisson_ratio));
  const auto place = [](std::int64_t i, std::int64_t n) { return i == 0 ? 0u : i + 1 == n ? 2u : 1u; };

  return build_rows<T>(o.type, rows, choose, first, [&](std::int64_t row, std::int32_t* cols, K* values) {
    const std::int64_t node = row / 3;
    const auto component = static_cast<std::size_t>(row % 3);
    const auto at = nodes.point(node);
    // An element lies between the clamped face and the first nodes that are left: none is at the low end of x.
    const auto& mine = couplings[place(at.x + 1, nodes.nx + 1) + 3 * place(at.y, nodes.ny) + 9 * place(at.z, nodes.nz)];
    int length = 0;
    for (std::size_t n = 0; n < neighbors.size(); ++n) {
      if (!nodes.has(at, neighbors[n])) continue;
      for (std::size_t j = 0; j < 3; ++j) {
        cols[length] = static_cast<std::int32_t>(3 * (node + nodes.step(neighbors[n])) + static_cast<std::int64_t>(j));
        values[length++] = scalar<K>(mine[n][3 * component + j]);
      }
    }
    return length;
  });
}

template <class T>
struct GenerateElasticityInstances {
  static constexpr auto list = instance<AnyMatrix<T>(const Elasticity3dOptions&, const ChooseRows&)>(generate_matrix);
};
KRILL_INSTANTIATE(GenerateElasticityInstances);

}  // namespace krill::detail
