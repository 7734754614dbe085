// Matrices made by formula: model problems of any size, the same bits for any number of threads. Random ones draw from
// counters and not from a stateful generator, so a seed means the same matrix everywhere.
//
// A family of matrices is an options struct, described once by describe() as solvers' options are (the visitor is told
// of in solvers/options.hpp; ranges stand in braces because their type belongs to the visitor).
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <variant>

#include "sparse/core/row_range.hpp"
#include "sparse/formats/any_matrix.hpp"
#include "sparse/formats/dense.hpp"

namespace krill {

namespace detail {
template <class Fields, class Options>
void describe_extents(Fields& fields, Options& o, std::string_view of_x) {
  fields.value("nx", o.nx, {.min = 1}, of_x);
  if constexpr (requires { o.ny; }) fields.value("ny", o.ny, {.min = 0}, "the same along y; 0: as nx");
  if constexpr (requires { o.nz; }) fields.value("nz", o.nz, {.min = 0}, "the same along z; 0: as nx");
}
template <class Fields>
void describe_seed(Fields& fields, int& seed) {
  fields.value("seed", seed, {.min = 0}, "the same seed gives the same matrix");
}
inline constexpr std::string_view grid_points = "grid points along x";
}  // namespace detail

/// h^2 (-u''): tridiagonal -1, 2, -1. Eigenvalues 4 sin^2(k pi / (2 (nx + 1))).
struct Poisson1dOptions {
  static constexpr std::string_view type = "poisson1d";
  static constexpr std::string_view doc = "minus the Laplacian on a line, Dirichlet ends: -1, 2, -1";
  int nx = 10000;
};
template <class Fields>
void describe(Fields& fields, Poisson1dOptions& o) {
  detail::describe_extents(fields, o, detail::grid_points);
}

enum class Stencil2d { five, nine };
inline constexpr std::array<std::string_view, 2> stencil2d_names{"5", "9"};

/// 5: h^2 (-Laplacian), 4 and -1. 9: the fourth-order compact stencil, times 6 h^2: 20, -4 and -1 at the corners.
struct Poisson2dOptions {
  static constexpr std::string_view type = "poisson2d";
  static constexpr std::string_view doc = "minus the Laplacian on a square grid, Dirichlet boundary";
  int nx = 100, ny = 0;
  Stencil2d stencil = Stencil2d::five;
};
template <class Fields>
void describe(Fields& fields, Poisson2dOptions& o) {
  detail::describe_extents(fields, o, detail::grid_points);
  fields.choice("stencil", o.stencil, stencil2d_names, "points: 5 (4, -1) or 9 (20, -4, -1: fourth order)");
}

enum class Stencil3d { seven, twenty_seven };
inline constexpr std::array<std::string_view, 2> stencil3d_names{"7", "27"};

/// 7: h^2 (-Laplacian), 6 and -1. 27: 26 and -1, the matrix of the HPCG benchmark.
struct Poisson3dOptions {
  static constexpr std::string_view type = "poisson3d";
  static constexpr std::string_view doc = "minus the Laplacian on a cubic grid, Dirichlet boundary";
  int nx = 32, ny = 0, nz = 0;
  Stencil3d stencil = Stencil3d::seven;
};
template <class Fields>
void describe(Fields& fields, Poisson3dOptions& o) {
  detail::describe_extents(fields, o, detail::grid_points);
  fields.choice("stencil", o.stencil, stencil3d_names, "points: 7 (6, -1) or 27 (26, -1: as HPCG)");
}

/// How the first derivative is discretized.
enum class Convection { upwind, central };
inline constexpr std::array<std::string_view, 2> convection_names{"upwind", "central"};

namespace detail {
template <class Fields, class Options>
void describe_convection(Fields& fields, Options& o) {
  describe_extents(fields, o, grid_points);
  fields.value("peclet", o.peclet, {.min = 0}, "speed times width along x over diffusivity; 0: the Poisson matrix");
  fields.choice("scheme", o.scheme, convection_names,
                "upwind: an M-matrix always; central: second order, no M-matrix where a component of the flow exceeds "
                "2 (nx + 1)");
}
}  // namespace detail

/// h^2 (-Laplacian u + peclet b . grad u), h = 1 / (nx + 1), b the unit vector along the diagonal of the axes.
struct ConvectionDiffusion2dOptions {
  static constexpr std::string_view type = "convection_diffusion2d";
  static constexpr std::string_view doc = "constant flow along (1, 1) with diffusion, 5 points, nonsymmetric";
  int nx = 100, ny = 0;
  double peclet = 100;
  Convection scheme = Convection::upwind;
};
template <class Fields>
void describe(Fields& fields, ConvectionDiffusion2dOptions& o) {
  detail::describe_convection(fields, o);
}

/// As in two dimensions, with 7 points.
struct ConvectionDiffusion3dOptions {
  static constexpr std::string_view type = "convection_diffusion3d";
  static constexpr std::string_view doc = "constant flow along (1, 1, 1) with diffusion, 7 points, nonsymmetric";
  int nx = 32, ny = 0, nz = 0;
  double peclet = 100;
  Convection scheme = Convection::upwind;
};
template <class Fields>
void describe(Fields& fields, ConvectionDiffusion3dOptions& o) {
  detail::describe_convection(fields, o);
}

/// -div(K grad u), K = R diag(1, epsilon) R', R the rotation by `angle`; bilinear (Q1) finite elements on square cells,
/// integrated exactly, Dirichlet boundary; 9 points.
struct Anisotropic2dOptions {
  static constexpr std::string_view type = "anisotropic2d";
  static constexpr std::string_view doc =
      "rotated anisotropic diffusion on a square grid, Q1 finite elements, 9 points";
  int nx = 100, ny = 0;
  double epsilon = 0.001;
  double angle = 30;
};
template <class Fields>
void describe(Fields& fields, Anisotropic2dOptions& o) {
  detail::describe_extents(fields, o, detail::grid_points);
  fields.value("epsilon", o.epsilon, {.min = 0, .without_min = true}, "diffusivity across the main direction");
  fields.value("angle", o.angle, {}, "degrees from the x axis to the main direction, where the diffusivity is 1");
}

/// h^2 (-u_xx - epsilon_y u_yy - epsilon_z u_zz), Dirichlet boundary, 7 points.
struct Anisotropic3dOptions {
  static constexpr std::string_view type = "anisotropic3d";
  static constexpr std::string_view doc =
      "diffusion on a cubic grid, unlike along its axes, Dirichlet boundary, 7 points";
  int nx = 32, ny = 0, nz = 0;
  double epsilon_y = 1;
  double epsilon_z = 0.001;
};
template <class Fields>
void describe(Fields& fields, Anisotropic3dOptions& o) {
  detail::describe_extents(fields, o, detail::grid_points);
  fields.value("epsilon_y", o.epsilon_y, {.min = 0, .without_min = true}, "diffusivity along y; along x it is 1");
  fields.value("epsilon_z", o.epsilon_z, {.min = 0, .without_min = true}, "diffusivity along z");
}

/// h^2 (-div(k grad u)), Dirichlet boundary, 7 points: k = 10^d is constant in cubes of block^3 points, d random of 0
/// to `decades`, each as likely. What couples two points is the harmonic mean of their k; a point at the boundary is
/// coupled with it by its own. A symmetric positive definite M-matrix.
struct Jumps3dOptions {
  static constexpr std::string_view type = "jumps3d";
  static constexpr std::string_view doc =
      "diffusion on a cubic grid with a coefficient that jumps by powers of ten, Dirichlet boundary, 7 points";
  int nx = 32, ny = 0, nz = 0;
  int block = 8;
  int decades = 6;
  int seed = 1;
};
template <class Fields>
void describe(Fields& fields, Jumps3dOptions& o) {
  detail::describe_extents(fields, o, detail::grid_points);
  fields.value("block", o.block, {.min = 1}, "edge of a cube of one coefficient, in points; 1: each point has its own");
  fields.value("decades", o.decades, {.min = 0, .max = 15},
               "powers of ten that the coefficients span; 0: the Poisson matrix");
  detail::describe_seed(fields, o.seed);
}

/// -div(sigma(u)) of an isotropic elastic bar of unit cubes (trilinear Q1 elements, 2x2x2 Gauss points, which is exact
/// for them). The face x = 0 is clamped and its nodes are left out, so there are 3 nx (ny + 1) (nz + 1) unknowns:
/// 3 node + component, nodes in the order of x, then y, then z. Entries that happen to be zero are kept.
struct Elasticity3dOptions {
  static constexpr std::string_view type = "elasticity3d";
  static constexpr std::string_view doc = "linear elasticity, Q1 bricks, 3 unknowns a node, the face x = 0 clamped";
  int nx = 16, ny = 0, nz = 0;
  double young = 1;
  double poisson_ratio = 0.3;
};
template <class Fields>
void describe(Fields& fields, Elasticity3dOptions& o) {
  detail::describe_extents(fields, o, "bricks along x");
  fields.value("young", o.young, {.min = 0, .without_min = true}, "Young's modulus");
  fields.value("poisson_ratio", o.poisson_ratio, {.min = -1, .max = 0.5, .without_min = true, .without_max = true},
               "Poisson's ratio; towards 0.5 the material becomes incompressible and the matrix ill-conditioned");
}

/// Slow flow through a channel of nx x ny square cells, [H B^H; B 0]: times the area of a cell and over the viscosity,
/// -Laplacian u + reaction u / h^2 + grad p and -div u, with h p in the place of p, on a staggered grid (Harlow and
/// Welch 1965). The flow is given on the left, 0 at the walls, and leaves on the right. Unknowns: u on the right face
/// of each cell, then v on the upper face of each but the uppermost ones, then p of each cell. Symmetric, indefinite.
struct Stokes2dOptions {
  static constexpr std::string_view type = "stokes2d";
  static constexpr std::string_view doc =
      "slow flow through a channel on a staggered grid, a saddle point: symmetric, indefinite, zeros on the diagonal";
  int nx = 64, ny = 0;
  double reaction = 0;
};
template <class Fields>
void describe(Fields& fields, Stokes2dOptions& o) {
  detail::describe_extents(fields, o, "cells along x");
  fields.value("reaction", o.reaction, {.min = 0},
               "what a time step adds to the diagonal of velocities: h^2 over viscosity and step; 0: steady flow");
}

namespace detail {
template <class Fields, class Options>
void describe_helmholtz(Fields& fields, Options& o) {
  describe_extents(fields, o, grid_points);
  fields.value("wavenumber", o.wavenumber, {.min = 0},
               "k; 2 pi (nx + 1) / k grid points make a wavelength, ten are few");
  fields.value("damping", o.damping, {.min = 0}, "absorption; 0: real entries, indefinite");
}
}  // namespace detail

/// h^2 (-Laplacian u - (1 - i damping) k^2 u), h = 1 / (nx + 1), Dirichlet boundary, 5 points: complex symmetric, not
/// Hermitian.
struct Helmholtz2dOptions {
  static constexpr std::string_view type = "helmholtz2d";
  static constexpr std::string_view doc = "damped waves on a square grid, 5 points, complex symmetric";
  int nx = 100, ny = 0;
  double wavenumber = 20;
  double damping = 0.1;
};
template <class Fields>
void describe(Fields& fields, Helmholtz2dOptions& o) {
  detail::describe_helmholtz(fields, o);
}

/// As in two dimensions, with 7 points.
struct Helmholtz3dOptions {
  static constexpr std::string_view type = "helmholtz3d";
  static constexpr std::string_view doc = "damped waves on a cubic grid, 7 points, complex symmetric";
  int nx = 32, ny = 0, nz = 0;
  double wavenumber = 10;
  double damping = 0.1;
};
template <class Fields>
void describe(Fields& fields, Helmholtz3dOptions& o) {
  detail::describe_helmholtz(fields, o);
}

/// Hermitian: rows (row_entries - 1) / 2 random pairs of indices, values uniform in [-1, 1) (both parts, where
/// complex); a_ii = sum of |a_ij| + shift, so every eigenvalue is at least `shift`.
struct RandomSpdOptions {
  static constexpr std::string_view type = "random_spd";
  static constexpr std::string_view doc = "random, symmetric (Hermitian) positive definite by diagonal dominance";
  int rows = 10000;
  int row_entries = 10;
  double shift = 1;
  int seed = 1;
};
template <class Fields>
void describe(Fields& fields, RandomSpdOptions& o) {
  fields.value("rows", o.rows, {.min = 1}, "rows and columns");
  fields.value("row_entries", o.row_entries, {.min = 1, .max = 10000},
               "mean entries of a row with its diagonal; fewer where two fall on the same place");
  fields.value("shift", o.shift, {.min = 0, .without_min = true}, "a_ii less the sum of the others of its row");
  detail::describe_seed(fields, o.seed);
}

/// Nonsymmetric: one random column in each of row_entries - 1 equal parts of a row, values uniform in [-1, 1) (both
/// parts, where complex); a_ii = dominance times the sum of |a_ij|, or 1 where there are none.
struct RandomDominantOptions {
  static constexpr std::string_view type = "random_dominant";
  static constexpr std::string_view doc = "random, nonsymmetric, diagonally dominant by rows";
  int rows = 10000;
  int row_entries = 10;
  double dominance = 1.1;
  int seed = 1;
};
template <class Fields>
void describe(Fields& fields, RandomDominantOptions& o) {
  fields.value("rows", o.rows, {.min = 1}, "rows and columns");
  fields.value("row_entries", o.row_entries, {.min = 1, .max = 10000},
               "entries of a row with its diagonal; at most `rows`");
  fields.value("dominance", o.dominance, {.min = 0, .without_min = true},
               "a_ii over the sum of the others of its row; up to 1 the matrix is not dominant any more");
  detail::describe_seed(fields, o.seed);
}

enum class DiagonalCount { three, five };
inline constexpr std::array<std::string_view, 2> diagonal_count_names{"3", "5"};

/// `systems` nonsymmetric matrices of three or five diagonals along the diagonal of one: values uniform in [-1, 1)
/// (both parts, where complex), a_ii as in random_dominant.
struct BandedBatchOptions {
  static constexpr std::string_view type = "banded_batch";
  static constexpr std::string_view doc =
      "a batch of random tridiagonal or pentadiagonal systems, diagonally dominant by rows; each is solved, judged and "
      "reported by itself, by solver banded";
  int rows = 64;
  int systems = 1000;
  DiagonalCount diagonals = DiagonalCount::three;
  double dominance = 1.1;
  int seed = 1;
};
template <class Fields>
void describe(Fields& fields, BandedBatchOptions& o) {
  fields.value("rows", o.rows, {.min = 1}, "rows of a system");
  fields.value("systems", o.systems, {.min = 1}, "how many; rows times systems is at most 2147483647");
  fields.choice("diagonals", o.diagonals, diagonal_count_names, "of a system: 3 or 5");
  fields.value("dominance", o.dominance, {.min = 0, .without_min = true},
               "a_ii over the sum of the others of its row; up to 1 the matrix is not dominant any more");
  detail::describe_seed(fields, o.seed);
}

/// L + shift I, L = D - W the Laplacian of a graph that grows by preferential attachment (Barabasi and Albert 1999):
/// degrees follow a power law with exponent 3, so a few rows are very long. Made edge by edge without communication
/// (Sanders and Schulz 2016). Double edges count once, every node but the first has an edge to an older one.
struct PowerLawLaplacianOptions {
  static constexpr std::string_view type = "power_law_laplacian";
  static constexpr std::string_view doc = "Laplacian of a random graph with power-law degrees, some rows very long";
  int rows = 10000;
  int edges_per_node = 4;
  double shift = 0.01;
  int seed = 1;
};
template <class Fields>
void describe(Fields& fields, PowerLawLaplacianOptions& o) {
  fields.value("rows", o.rows, {.min = 1}, "nodes of the graph");
  fields.value("edges_per_node", o.edges_per_node, {.min = 1, .max = 10000}, "edges that a new node brings");
  fields.value("shift", o.shift, {.min = 0},
               "added to the diagonal; 0: singular, the constant vector is in the kernel");
  detail::describe_seed(fields, o.seed);
}

/// The conductance matrix (nodal analysis) of a grid of resistors with wires between random far nodes. Resistors are
/// drawn from the E12 series over `decades` decades from 1 ohm; node 0 and a share of the others are tied to ground.
/// A symmetric positive definite M-matrix.
struct ResistorNetworkOptions {
  static constexpr std::string_view type = "resistor_network";
  static constexpr std::string_view doc = "circuit-like: grid and random far resistors, values over decades";
  int nx = 100, ny = 0;
  double far = 0.1;
  double grounded = 0.01;
  int decades = 4;
  int seed = 1;
};
template <class Fields>
void describe(Fields& fields, ResistorNetworkOptions& o) {
  detail::describe_extents(fields, o, "nodes along x");
  fields.value("far", o.far, {.min = 0, .max = 1}, "share of the nodes that have a wire to a random other node");
  fields.value("grounded", o.grounded, {.min = 0, .max = 1}, "share of the nodes that have a resistor to ground");
  fields.value("decades", o.decades, {.min = 1, .max = 15}, "powers of ten that the resistors span");
  detail::describe_seed(fields, o.seed);
}

/// The registry of generators.
using GeneratorOptions =
    std::variant<Poisson1dOptions, Poisson2dOptions, Poisson3dOptions, ConvectionDiffusion2dOptions,
                 ConvectionDiffusion3dOptions, Anisotropic2dOptions, Anisotropic3dOptions, Jumps3dOptions,
                 Elasticity3dOptions, Stokes2dOptions, Helmholtz2dOptions, Helmholtz3dOptions, RandomSpdOptions,
                 RandomDominantOptions, BandedBatchOptions, PowerLawLaplacianOptions, ResistorNetworkOptions>;

/// Whether the matrix has entries that are not real, so that generate() refuses float and double.
bool needs_complex(const GeneratorOptions&);

/// The systems of a batch, which are the blocks of a block diagonal matrix; 0 where the matrix is one system's.
std::int32_t systems_of(const GeneratorOptions&);

/// The places of the nodes whose unknowns stand side by side in the matrix, nodes x dimensions, in units of an
/// element's edge; none for a family with one unknown a point. In parallel. Raises InvalidArgument as generate().
std::optional<Dense<double>> node_coordinates(const GeneratorOptions&);

/// The matrix in canonical CSR form; 64-bit offsets from 2^31 entries on. Grid unknowns are numbered x first, then y,
/// then z. Repeatable bitwise for any number of threads. O(nnz), in parallel, straight into the arrays. Raises
/// InvalidArgument for options out of range, more than 2^31 - 1 rows, or a complex matrix with T real, and OutOfMemory,
/// both before anything large is allocated.
template <class T>
AnyMatrix<T> generate(const GeneratorOptions&);

/// Which rows are made of so many; entries_before(i) counts the entries of the rows before i, also for i = rows.
using ChooseRows =
    std::function<RowRange(std::int64_t rows, const std::function<std::int64_t(std::int64_t)>& entries_before)>;

/// Whether rows are made one by one. Of the others, which are random graphs, no row is known before all edges are.
bool makes_own_rows(const GeneratorOptions&);

/// Rows of what generate() makes, in columns of the whole matrix, with the same bits. `choose` is called once; what it
/// raises is raised. Takes the time and the memory of these rows where makes_own_rows(), else those of the graph, too.
/// Raises as generate(), and InvalidArgument where there are no such rows.
template <class T>
AnyMatrix<T> generate_rows(const GeneratorOptions&, const ChooseRows& choose);

}  // namespace krill
