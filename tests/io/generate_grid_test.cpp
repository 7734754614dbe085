// The matrices of differential equations against eigenvectors, exactness on polynomials, and element energies.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "sparse/io/generate_elasticity.hpp"
#include "tests/io/dense.hpp"

namespace krill::test {
namespace {

/// f(x, y, z) at the points of a grid, which count from 1 as the boundary has 0.
template <class F>
Vector on_grid(int nx, int ny, int nz, const F& f) {
  Vector values;
  for (int z = 1; z <= nz; ++z)
    for (int y = 1; y <= ny; ++y)
      for (int x = 1; x <= nx; ++x) values.push_back(f(x, y, z));
  return values;
}

bool inside(std::int64_t i, int nx, int ny) {
  const std::int64_t x = i % nx, y = i / nx;
  return x > 0 && x + 1 < nx && y > 0 && y + 1 < ny;
}

// --- Poisson ---------------------------------------------------------------------------------------------------------

/// Products of sines are eigenvectors of every constant symmetric stencil with Dirichlet boundary;
/// eigenvalue(cos a, cos b, cos c) of theirs. All of them are checked, so the matrix is determined.
template <class F>
void expect_sine_eigenvectors(const Reference& A, int nx, int ny, int nz, const F& eigenvalue) {
  ASSERT_EQ(A.rows, nx * ny * nz);
  for (int i = 1; i <= nx; ++i)
    for (int j = 1; j <= ny; ++j)
      for (int k = 1; k <= nz; ++k) {
        const double a = i * std::numbers::pi / (nx + 1), b = j * std::numbers::pi / (ny + 1),
                     c = k * std::numbers::pi / (nz + 1);
        const Vector v = on_grid(
            nx, ny, nz, [&](int x, int y, int z) { return std::sin(a * x) * std::sin(b * y) * std::sin(c * z); });
        const Vector Av = times(A, v);
        const double lambda = eigenvalue(std::cos(a), std::cos(b), std::cos(c));
        for (std::size_t n = 0; n < v.size(); ++n) EXPECT_NEAR(std::abs(Av[n] - lambda * v[n]), 0, 60 * 30 * eps);
      }
}

TEST(GeneratePoisson, has_the_eigenvectors_of_the_laplacian) {
  expect_sine_eigenvectors(made(Poisson1dOptions{7}), 7, 1, 1, [](double a, double, double) { return 2 - 2 * a; });
  expect_sine_eigenvectors(made(Poisson2dOptions{4, 3}), 4, 3, 1,
                           [](double a, double b, double) { return 4 - 2 * a - 2 * b; });
  expect_sine_eigenvectors(made(Poisson2dOptions{4, 3, Stencil2d::nine}), 4, 3, 1,
                           [](double a, double b, double) { return 20 - 8 * a - 8 * b - 4 * a * b; });
  expect_sine_eigenvectors(made(Poisson3dOptions{3, 4, 2}), 3, 4, 2,
                           [](double a, double b, double c) { return 6 - 2 * a - 2 * b - 2 * c; });
  expect_sine_eigenvectors(made(Poisson3dOptions{3, 4, 2, Stencil3d::twenty_seven}), 3, 4, 2,
                           [](double a, double b, double c) { return 27 - (1 + 2 * a) * (1 + 2 * b) * (1 + 2 * c); });
}

TEST(GeneratePoisson, works_on_grids_one_point_wide) {
  for (const auto& [nx, ny, nz] : {std::array{1, 1, 1}, {5, 1, 2}, {1, 4, 1}, {1, 1, 3}}) {
    expect_sine_eigenvectors(made(Poisson3dOptions{nx, ny, nz}), nx, ny, nz,
                             [](double a, double b, double c) { return 6 - 2 * a - 2 * b - 2 * c; });
    expect_sine_eigenvectors(made(Poisson3dOptions{nx, ny, nz, Stencil3d::twenty_seven}), nx, ny, nz,
                             [](double a, double b, double c) { return 27 - (1 + 2 * a) * (1 + 2 * b) * (1 + 2 * c); });
  }
}

TEST(GeneratePoisson, extents_left_out_are_those_of_x) {
  EXPECT_EQ(made(Poisson2dOptions{6}).rows, 36);
  EXPECT_EQ(made(Poisson3dOptions{4}).rows, 64);
  EXPECT_EQ(made(Elasticity3dOptions{2}).rows, 3 * 2 * 3 * 3);
}

// --- slow flow -------------------------------------------------------------------------------------------------------

/// Symmetric, with a definite block of velocities, a zero block of pressures, and between them a divergence that sees
/// no change of a constant flow but where it comes in, and a gradient that sees the slope of the pressure.
TEST(GenerateStokes, is_a_saddle_point_whose_blocks_know_constants_and_slopes) {
  for (const auto& [nx, ny] : {std::pair{5, 4}, {4, 5}, {3, 1}, {1, 3}, {1, 1}})
    for (const double reaction : {0.0, 0.75}) {
      const Reference A = made(Stokes2dOptions{nx, ny, reaction});
      const int cells = nx * ny, v = nx * (ny - 1), velocities = cells + v;
      ASSERT_EQ(A.rows, velocities + cells);
      EXPECT_TRUE(exactly_hermitian(A));
      std::vector<Vector> H = dense(A);
      for (int i = velocities; i < A.rows; ++i)
        for (int j = velocities; j < A.rows; ++j)
          EXPECT_EQ(H[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], 0.0);
      H.resize(static_cast<std::size_t>(velocities));
      for (Vector& row : H) row.resize(static_cast<std::size_t>(velocities));
      EXPECT_EQ(positive_pivots(H), velocities);
      Vector flow(static_cast<std::size_t>(A.rows)), pressure = flow;
      for (int i = 0; i < cells; ++i)
        flow[static_cast<std::size_t>(i)] = 1,
        pressure[static_cast<std::size_t>(velocities + i)] = 2 * (i % nx) + 3 * (i / nx);
      const Vector of_flow = times(A, flow), of_pressure = times(A, pressure);
      for (int i = 0; i < cells; ++i) {
        EXPECT_EQ(of_flow[static_cast<std::size_t>(velocities + i)], i % nx == 0 ? -1.0 : 0.0) << i;
        if (i % nx + 1 < nx) {
          EXPECT_EQ(of_pressure[static_cast<std::size_t>(i)], 2.0) << i;
        }
        if (i < v) {
          EXPECT_EQ(of_pressure[static_cast<std::size_t>(cells + i)], 3.0) << i;
        }
      }
    }
}

/// Flow that changes with the square of the height is the same along a channel: H u is its second derivative, but at
/// the walls, whose value lies half a cell beyond.
TEST(GenerateStokes, viscosity_is_exact_for_quadratic_flow) {
  constexpr int nx = 4, ny = 6;
  const Reference A = made(Stokes2dOptions{nx, ny});
  Vector flow(static_cast<std::size_t>(A.rows));
  for (int i = 0; i < nx * ny; ++i) {
    const double y = i / nx + 0.5;
    flow[static_cast<std::size_t>(i)] = y * (ny - y);
  }
  const Vector forces = times(A, flow);
  for (int i = 0; i < nx * ny; ++i) {
    const int x = i % nx, y = i / nx;
    if (x > 0 && y > 0 && y + 1 < ny) {
      EXPECT_EQ(forces[static_cast<std::size_t>(i)], x + 1 < nx ? 2.0 : 1.0) << i;
    }
  }
}

// --- convection, anisotropy, waves -----------------------------------------------------------------------------------

TEST(GenerateConvection, without_flow_is_the_poisson_matrix) {
  for (const auto scheme : {Convection::upwind, Convection::central}) {
    EXPECT_EQ(dense(made(ConvectionDiffusion2dOptions{5, 4, 0, scheme})), dense(made(Poisson2dOptions{5, 4})));
    EXPECT_EQ(dense(made(ConvectionDiffusion3dOptions{3, 4, 2, 0, scheme})), dense(made(Poisson3dOptions{3, 4, 2})));
  }
}

TEST(GenerateConvection, is_exact_for_linear_functions) {
  constexpr int n = 5;
  constexpr double peclet = 30, c = peclet / (n + 1) / std::numbers::sqrt2;
  for (const auto scheme : {Convection::upwind, Convection::central}) {
    const Vector Au = times(made(ConvectionDiffusion2dOptions{n, n, peclet, scheme}),
                            on_grid(n, n, 1, [](int x, int y, int) { return 2.0 * x + 3.0 * y; }));
    for (std::size_t i = 0; i < Au.size(); ++i)
      if (inside(static_cast<std::int64_t>(i), n, n)) {
        EXPECT_NEAR(Au[i].real(), c * (2 + 3), 5 * 100 * eps);
      }
  }
}

TEST(GenerateConvection, upwind_is_an_m_matrix_for_any_speed) {
  const Reference A = made(ConvectionDiffusion3dOptions{3, 4, 5, 1e6, Convection::upwind});
  for (std::size_t k = 0; k < A.value.size(); ++k)
    EXPECT_EQ(A.value[k].real() > 0, A.row[k] == A.col[k]) << A.row[k] << ' ' << A.col[k];
  for (const Z sum : times(A, Vector(static_cast<std::size_t>(A.rows), 1))) EXPECT_GE(sum.real(), -7 * eps * 1e6);
}

TEST(GenerateConvection, the_symmetric_part_of_central_is_the_poisson_matrix) {
  const auto a = dense(made(ConvectionDiffusion2dOptions{5, 4, 100, Convection::central}));
  const auto poisson = dense(made(Poisson2dOptions{5, 4}));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j)
      EXPECT_NEAR(((a[i][j] + a[j][i]) / 2.0 - poisson[i][j]).real(), 0, 10 * eps);
}

TEST(GenerateAnisotropic, is_exact_for_quadratic_functions) {
  constexpr int n = 5;
  for (const double angle : {0.0, 30.0, 45.0, 90.0, 110.0}) {
    constexpr double epsilon = 0.01;
    const double t = angle * std::numbers::pi / 180, c = std::cos(t), s = std::sin(t);
    const Reference A = made(Anisotropic2dOptions{n, n, epsilon, angle});
    const Vector Au = times(
        A, on_grid(n, n, 1, [](int x, int y, int) { return 1.0 + x - y + 2.0 * x * x + 3.0 * x * y + 5.0 * y * y; }));
    // div K grad u = kxx u_xx + 2 kxy u_xy + kyy u_yy
    const double expected =
        4 * (c * c + epsilon * s * s) + 2 * 3 * (1 - epsilon) * c * s + 10 * (s * s + epsilon * c * c);
    for (std::size_t i = 0; i < Au.size(); ++i)
      if (inside(static_cast<std::int64_t>(i), n, n)) {
        EXPECT_NEAR(Au[i].real(), -expected, 11 * 300 * eps) << angle;
      }
    EXPECT_TRUE(exactly_hermitian(A));
    EXPECT_TRUE(positive_definite(A));
  }
}

TEST(GenerateAnisotropic, without_anisotropy_the_angle_has_no_effect) {
  const auto plain = dense(made(Anisotropic2dOptions{4, 4, 1, 0})),
             turned = dense(made(Anisotropic2dOptions{4, 4, 1, 77}));
  EXPECT_NEAR(plain[5][5].real(), 8.0 / 3, 4 * eps);
  EXPECT_NEAR(plain[5][0].real(), -1.0 / 3, 4 * eps);
  for (std::size_t i = 0; i < plain.size(); ++i)
    for (std::size_t j = 0; j < plain.size(); ++j) EXPECT_NEAR((plain[i][j] - turned[i][j]).real(), 0, 8 * eps);
}

TEST(GenerateAnisotropic, has_the_eigenvectors_of_the_laplacian_in_three_dimensions) {
  const Reference A = made(Anisotropic3dOptions{3, 4, 2, 0.25, 1e-3});
  expect_sine_eigenvectors(
      A, 3, 4, 2, [](double a, double b, double c) { return 2 * (1 - a) + 0.25 * 2 * (1 - b) + 1e-3 * 2 * (1 - c); });
  EXPECT_TRUE(exactly_hermitian(A));
}

TEST(GenerateJumps, with_one_coefficient_are_a_multiple_of_the_poisson_matrix) {
  const auto poisson = dense(made(Poisson3dOptions{4, 3, 5}));
  EXPECT_EQ(dense(made(Jumps3dOptions{4, 3, 5, 2, 0})), poisson);
  const auto one_block = dense(made(Jumps3dOptions{4, 3, 5, 5, 6}));
  for (std::size_t i = 0; i < poisson.size(); ++i)
    for (std::size_t j = 0; j < poisson.size(); ++j) EXPECT_EQ(one_block[i][j], poisson[i][j] * -one_block[0][1]);
}

/// Couplings inside of a block show its coefficient; all others follow from those.
TEST(GenerateJumps, couple_blocks_by_harmonic_means) {
  constexpr int nx = 6, ny = 4, nz = 8, block = 2, decades = 3;
  const Reference A = made(Jumps3dOptions{nx, ny, nz, block, decades});
  const auto a = dense(A);
  const auto row_of = [](int x, int y, int z) { return static_cast<std::size_t>(x + nx * (y + ny * z)); };
  const auto coefficient = [&](int x, int y, int z) {
    x -= x % block;
    return -a[row_of(x, y, z)][row_of(x + 1, y, z)].real();
  };
  std::set<double> found;
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        const double own = coefficient(x, y, z);
        found.insert(own);
        EXPECT_EQ(own, coefficient(x, y - y % block, z - z % block));
        double sum = 0;
        for (const auto& [dx, dy, dz] :
             {std::array{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}) {
          const int u = x + dx, v = y + dy, w = z + dz;
          const bool is_inside = u >= 0 && u < nx && v >= 0 && v < ny && w >= 0 && w < nz;
          const double expected = is_inside ? 2 / (1 / own + 1 / coefficient(u, v, w)) : own;
          sum += expected;
          if (is_inside) {
            EXPECT_NEAR(-a[row_of(x, y, z)][row_of(u, v, w)].real(), expected, 4 * eps * expected);
          }
        }
        EXPECT_NEAR(a[row_of(x, y, z)][row_of(x, y, z)].real(), sum, 12 * eps * sum);
      }
  EXPECT_EQ(found, (std::set<double>{1, 10, 100, 1000}));
  EXPECT_TRUE(exactly_hermitian(A));
  EXPECT_TRUE(positive_definite(A));
  EXPECT_NE(dense(made(Jumps3dOptions{nx, ny, nz, block, decades, 2})), a);
}

TEST(GenerateHelmholtz, is_the_poisson_matrix_with_a_complex_shift) {
  constexpr double k = 3, damping = 0.2;
  const auto check = [&](const Reference& wave, const Reference& poisson, int nx) {
    const Z shift = Z(1, -damping) * (k / (nx + 1)) * (k / (nx + 1));
    ASSERT_EQ(wave.col, poisson.col);
    for (std::size_t e = 0; e < wave.value.size(); ++e) {
      const Z expected = poisson.value[e] - (wave.row[e] == wave.col[e] ? shift : 0);
      EXPECT_NEAR(std::abs(wave.value[e] - expected), 0, 8 * eps);
    }
  };
  check(made<Z>(Helmholtz2dOptions{5, 4, k, damping}), made<Z>(Poisson2dOptions{5, 4}), 5);
  check(made<Z>(Helmholtz3dOptions{3, 4, 5, k, damping}), made<Z>(Poisson3dOptions{3, 4, 5}), 3);
}

// --- elasticity ------------------------------------------------------------------------------------------------------

using detail::BrickMatrix;

/// Energy u'Ku of the displacement u(corner) = G corner.
double energy(const BrickMatrix& K, const std::array<std::array<double, 3>, 3>& G,
              std::array<double, 24>* force = nullptr) {
  std::array<double, 24> u{};
  for (unsigned a = 0; a < 8; ++a)
    for (unsigned i = 0; i < 3; ++i)
      for (unsigned j = 0; j < 3; ++j) u[3 * a + i] += G[i][j] * (a >> j & 1);
  double sum = 0;
  for (unsigned r = 0; r < 24; ++r)
    for (unsigned c = 0; c < 24; ++c) {
      if (force) (*force)[r] += K[r][c] * u[c];
      sum += u[r] * K[r][c] * u[c];
    }
  return sum;
}

TEST(GenerateElasticity, the_element_resists_all_but_six_rigid_motions) {
  const BrickMatrix K = detail::brick_stiffness(2, 0.3);
  std::vector<Vector> full(24, Vector(24));
  for (unsigned r = 0; r < 24; ++r)
    for (unsigned c = 0; c < 24; ++c) {
      full[r][c] = K[r][c];
      EXPECT_EQ(K[r][c], K[c][r]);
    }
  EXPECT_EQ(positive_pivots(full), 18);
  for (unsigned r = 0; r < 24; ++r)
    for (unsigned i = 0; i < 3; ++i) {  // translations
      double sum = 0;
      for (unsigned a = 0; a < 8; ++a) sum += K[r][3 * a + i];
      EXPECT_NEAR(sum, 0, 24 * eps);
    }
  for (const auto& G : {std::array<std::array<double, 3>, 3>{{{0, -1, 0}, {1, 0, 0}, {0, 0, 0}}},
                        {{{0, 0, -1}, {0, 0, 0}, {1, 0, 0}}},
                        {{{0, 0, 0}, {0, 0, -1}, {0, 1, 0}}}}) {  // rotations
    std::array<double, 24> force{};
    energy(K, G, &force);
    for (const double f : force) EXPECT_NEAR(f, 0, 24 * eps);
  }
}

TEST(GenerateElasticity, the_element_has_the_energy_of_uniform_strain) {
  constexpr double young = 2, nu = 0.3, mu = young / (2 * (1 + nu)), lambda = young * nu / ((1 + nu) * (1 - 2 * nu));
  const std::array<std::array<double, 3>, 3> G{{{0.1, 0.5, -0.2}, {0.3, -0.4, 0.7}, {0.6, 0.2, 0.9}}};
  double trace = 0, square = 0;
  for (unsigned i = 0; i < 3; ++i) {
    trace += G[i][i];
    for (unsigned j = 0; j < 3; ++j) square += (G[i][j] + G[j][i]) * (G[i][j] + G[j][i]) / 4;
  }
  EXPECT_NEAR(energy(detail::brick_stiffness(young, nu), G), lambda * trace * trace + 2 * mu * square, 24 * 24 * eps);
}

TEST(GenerateElasticity, is_the_sum_of_its_elements) {
  constexpr int nx = 2, ny = 3, nz = 1;
  const BrickMatrix K = detail::brick_stiffness(2, 0.25);
  const Reference A = made(Elasticity3dOptions{nx, ny, nz, 2, 0.25});
  std::vector<Vector> sum(static_cast<std::size_t>(A.rows), Vector(static_cast<std::size_t>(A.rows)));
  const auto unknown = [&](int x, int y, int z, unsigned corner) {  // of a corner's first component; clamped: below 0
    const int cx = x + int(corner & 1), cy = y + int(corner >> 1 & 1), cz = z + int(corner >> 2);
    return cx == 0 ? -1 : 3 * (cx - 1 + nx * (cy + (ny + 1) * cz));
  };
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x)
        for (unsigned r = 0; r < 24; ++r)
          for (unsigned c = 0; c < 24; ++c) {
            const int row = unknown(x, y, z, r / 3), col = unknown(x, y, z, c / 3);
            if (row >= 0 && col >= 0)
              sum[static_cast<std::size_t>(row) + r % 3][static_cast<std::size_t>(col) + c % 3] += K[r][c];
          }
  const auto a = dense(A);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) EXPECT_NEAR(a[i][j].real(), sum[i][j].real(), 8 * eps);
  EXPECT_TRUE(exactly_hermitian(A));
  EXPECT_TRUE(positive_definite(A));
}

}  // namespace
}  // namespace krill::test
