// What a user can choose about a preconditioner; see solvers/options.hpp for how options are described.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "krill/solvers/range.hpp"
#include "krill/sparse/triangular/method.hpp"

namespace krill {

struct NoPreconditioner {
  static constexpr std::string_view type = "none";
  static constexpr std::string_view doc = "no preconditioner";
};
template <class Fields>
void describe(Fields&, NoPreconditioner&) {}

struct JacobiOptions {
  static constexpr std::string_view type = "jacobi";
  static constexpr std::string_view doc = "the inverse of the diagonal";
};
template <class Fields>
void describe(Fields&, JacobiOptions&) {}

inline constexpr std::int32_t most_block_jacobi_dim = 32;

/// What a preconditioner is kept and applied in.
enum class KeptPrecision { automatic, float32 };
inline constexpr std::array<std::string_view, 2> kept_precision_names{"auto", "float32"};

namespace detail {
template <class Fields>
void describe_precision(Fields& fields, KeptPrecision& o) {
  fields.choice(
      "precision", o, kept_precision_names,
      "float32: kept and applied in single precision inside of a float64 or complex128 solve; auto: in that of "
      "the solve");
}
template <class Fields>
void describe_triangular_solve(Fields& fields, TriangularMethod& o) {
  fields.choice("triangular_solve", o, triangular_method_names,
                "how triangles are solved: by rows as they stand, sorted by level, with a kernel for each level, "
                "or by one block of threads that goes through the levels");
}
}  // namespace detail

/// How the triangles of a factor are solved: as a TriangularPlan does it, by one of its methods, or approximately.
enum class TriangularSolve { automatic, natural, by_level, level_kernels, one_block, jacobi, isai };
inline constexpr std::array<std::string_view, 7> triangular_solve_names{
    "automatic", "natural", "by_level", "level_kernels", "one_block", "jacobi", "isai"};
struct FactorSolveOptions {
  TriangularSolve method = TriangularSolve::automatic;
  int sweeps = 3;
  int corrections = 0;
};
namespace detail {
template <class Fields>
void describe_factor_solve(Fields& fields, FactorSolveOptions& o) {
  fields.choice("triangular_solve", o.method, triangular_solve_names,
                "how the factors are solved with: exactly, by rows as they stand, sorted by level, with a kernel for "
                "each level, or by one block of threads that goes through the levels; or approximately, by Jacobi "
                "sweeps (Anzt, Chow and Dongarra 2015) or incomplete sparse "
                "approximate inverses (Anzt, Huckle, Braeckle and Dongarra 2018)");
  fields.value("solve_sweeps", o.sweeps, Range{1.0, 1000.0},
               "of jacobi: each but the first is a product with the factor");
  fields.value("solve_corrections", o.corrections, Range{0.0, 1000.0},
               "of isai: steps of refinement after the first product, two products each");
}
}  // namespace detail

struct BlockJacobiOptions {
  static constexpr std::string_view type = "block_jacobi";
  static constexpr std::string_view doc = "the inverses of the blocks on the diagonal";
  int block_dim = 0;
  KeptPrecision precision = KeptPrecision::automatic;
};
template <class Fields>
void describe(Fields& fields, BlockJacobiOptions& o) {
  fields.value(
      "block_dim", o.block_dim, Range{0.0, most_block_jacobi_dim},
      "rows of a block; 0: the blocks of a matrix in bsr, else those of 2 to 8 rows that its pattern has, else 8");
  detail::describe_precision(fields, o.precision);
}

struct ChebyshevOptions {
  static constexpr std::string_view type = "chebyshev";
  static constexpr std::string_view doc =
      "a Chebyshev polynomial in D^-1 A (Golub and Varga 1961), for Hermitian positive definite systems; an "
      "application "
      "takes `degree` products with A and no triangular solve";
  int degree = 4;
  double eigenvalue_ratio = 30;
  int eigenvalue_steps = 20;
  KeptPrecision precision = KeptPrecision::automatic;
};
template <class Fields>
void describe(Fields& fields, ChebyshevOptions& o) {
  fields.value("degree", o.degree, Range{1.0, 1000.0}, "of the polynomial: products with A in an application");
  fields.value("eigenvalue_ratio", o.eigenvalue_ratio, Range{1.0, Range{}.most, true},
               "the polynomial is made for eigenvalues from the largest one divided by this up to the largest one");
  fields.value("eigenvalue_steps", o.eigenvalue_steps, Range{1.0, 1000.0},
               "Lanczos steps, a product with A each, that estimate the largest eigenvalue of D^-1 A");
  detail::describe_precision(fields, o.precision);
}

/// Which way a Gauss-Seidel sweep goes: from the first row to the last, from the last to the first, or both ways.
enum class SweepDirection { forward, backward, symmetric };
inline constexpr std::array<std::string_view, 3> sweep_direction_names{"forward", "backward", "symmetric"};

struct GaussSeidelOptions {
  static constexpr std::string_view type = "gauss_seidel";
  static constexpr std::string_view doc =
      "a Gauss-Seidel sweep in the order of rows; with direction symmetric, for Hermitian positive definite systems, "
      "too";
  SweepDirection direction = SweepDirection::symmetric;
  TriangularMethod triangular_solve = TriangularMethod::automatic;
  KeptPrecision precision = KeptPrecision::automatic;
};
template <class Fields>
void describe(Fields& fields, GaussSeidelOptions& o) {
  fields.choice("direction", o.direction, sweep_direction_names,
                "forward: with the lower triangle of A; backward: with the upper one; symmetric: one after the other");
  detail::describe_triangular_solve(fields, o.triangular_solve);
  detail::describe_precision(fields, o.precision);
}

struct SsorOptions {
  static constexpr std::string_view type = "ssor";
  static constexpr std::string_view doc =
      "symmetric successive overrelaxation in the order of rows (Axelsson 1972); omega 1 is symmetric Gauss-Seidel";
  double omega = 1;
  TriangularMethod triangular_solve = TriangularMethod::automatic;
  KeptPrecision precision = KeptPrecision::automatic;
};
template <class Fields>
void describe(Fields& fields, SsorOptions& o) {
  fields.value("omega", o.omega, Range{0.0, 2.0, true, true}, "the relaxation");
  detail::describe_triangular_solve(fields, o.triangular_solve);
  detail::describe_precision(fields, o.precision);
}

struct Ilu0Options {
  static constexpr std::string_view type = "ilu0";
  static constexpr std::string_view doc =
      "incomplete LU factorisation in the pattern of A (Meijerink and van der Vorst 1977), for general systems; in "
      "blocks "
      "(format bsr) the zeros inside them belong to the pattern";
  double boost = 0;
  double boost_tolerance = 0;
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};
};
template <class Fields>
void describe(Fields& fields, Ilu0Options& o) {
  fields.value("boost", o.boost, any_value, "pivots that are too small become this; 0: they do not");
  fields.value("boost_tolerance", o.boost_tolerance, at_least_zero, "too small: of a modulus up to this");
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}

struct Ic0Options {
  static constexpr std::string_view type = "ic0";
  static constexpr std::string_view doc =
      "incomplete Cholesky factorisation in the pattern of A (Meijerink and van der Vorst 1977), for Hermitian "
      "positive "
      "definite systems; where it breaks down, with the diagonal multiplied by 1 + shift (Manteuffel 1980)";
  double shift = 0;
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};
};
template <class Fields>
void describe(Fields& fields, Ic0Options& o) {
  fields.value("shift", o.shift, at_least_zero,
               "the shift to begin with; it grows from 0.001 on by doubling until the factorisation exists");
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}

struct Bilu0Options : Ilu0Options {
  static constexpr std::string_view type = "bilu0";
  static constexpr std::string_view doc =
      "incomplete LU factorisation in the pattern of A's blocks: the zeros inside them belong to it, for general "
      "systems";
  int block_dim = 0;
};
struct Bic0Options : Ic0Options {
  static constexpr std::string_view type = "bic0";
  static constexpr std::string_view doc =
      "incomplete Cholesky factorisation in the pattern of A's blocks: the zeros inside them belong to it, for "
      "Hermitian "
      "positive definite systems; shifts as in ic0";
  int block_dim = 0;
};
namespace detail {
template <class Fields>
void describe_factored_blocks(Fields& fields, int& block_dim) {
  fields.value(
      "block_dim", block_dim, Range{0.0, 64.0},
      "rows of a block; 0: the blocks of a matrix in bsr, else those of 2 to 8 rows that take the least memory");
}
}  // namespace detail
template <class Fields>
void describe(Fields& fields, Bilu0Options& o) {
  detail::describe_factored_blocks(fields, o.block_dim);
  describe(fields, static_cast<Ilu0Options&>(o));
}
template <class Fields>
void describe(Fields& fields, Bic0Options& o) {
  detail::describe_factored_blocks(fields, o.block_dim);
  describe(fields, static_cast<Ic0Options&>(o));
}

struct Parilu0Options {
  static constexpr std::string_view type = "parilu0";
  static constexpr std::string_view doc =
      "ilu0 as the fixed point of sweeps over all entries at once (Chow and Patel 2015), in which no row waits for "
      "another";
  int sweeps = 5;
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};
};
struct Paric0Options {
  static constexpr std::string_view type = "paric0";
  static constexpr std::string_view doc =
      "ic0 as the fixed point of sweeps over all entries at once (Chow and Patel 2015), in which no row waits for "
      "another; shifts as in ic0";
  int sweeps = 5;
  double shift = 0;
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};
};
namespace detail {
template <class Fields>
void describe_factor_sweeps(Fields& fields, int& sweeps) {
  fields.value("sweeps", sweeps, Range{1.0, 1000.0}, "of the factorisation; many of them end in the factor itself");
}
}  // namespace detail
template <class Fields>
void describe(Fields& fields, Parilu0Options& o) {
  detail::describe_factor_sweeps(fields, o.sweeps);
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}
template <class Fields>
void describe(Fields& fields, Paric0Options& o) {
  detail::describe_factor_sweeps(fields, o.sweeps);
  fields.value("shift", o.shift, at_least_zero, "the shift to begin with; it grows as that of ic0");
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}

/// The registry of preconditioners.
using PreconditionerOptions =
    std::variant<NoPreconditioner, JacobiOptions, BlockJacobiOptions, ChebyshevOptions, GaussSeidelOptions, SsorOptions,
                 Ilu0Options, Ic0Options, Bilu0Options, Bic0Options, Parilu0Options, Paric0Options>;

}  // namespace krill
