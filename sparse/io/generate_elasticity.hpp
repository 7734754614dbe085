// The stiffness matrix of an element of elasticity3d, in a header of its own for tests.
#pragma once
#include <array>

namespace krill::detail {

/// Stiffness of a unit cube: rows and columns 3 corner + component, corner = x + 2 y + 4 z. Exactly symmetric.
using BrickMatrix = std::array<std::array<double, 24>, 24>;

/// Trilinear shape functions N_a, 2x2x2 Gauss points, Lame's lambda and mu:
/// K(a i, b j) = integral of lambda dN_a/dx_i dN_b/dx_j + mu (dN_a/dx_j dN_b/dx_i + delta_ij grad N_a . grad N_b).
BrickMatrix brick_stiffness(double young, double poisson_ratio);

}  // namespace krill::detail
