// What a user can choose about a preconditioner; see solvers/options.hpp for how options are described.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "krill/solvers/range.hpp"
#include "krill/sparse/inverse/form.hpp"
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

/// What an incomplete factorisation does about pivots that it cannot take. value 0: the default of the type.
template <class Type>
struct ShiftOptions {
  Type type{};
  double value = 0;
};

/// nonzero: a pivot of modulus <= `value` (0: the root of machine epsilon) times the largest |re| or |im| in A gets
/// that modulus, and keeps its sign or phase (static pivoting: Li and Demmel 1998).
enum class LuShift { none, nonzero };
inline constexpr std::array<std::string_view, 2> lu_shift_names{"none", "nonzero"};
template <class Fields>
void describe(Fields& fields, ShiftOptions<LuShift>& o) {
  fields.choice("type", o.type, lu_shift_names,
                "none: a pivot of zero is an error; nonzero: pivots that vanish are replaced, with their sign or phase "
                "kept (Li and Demmel 1998)");
  fields.value(
      "value", o.value, Range{0.0, 1.0},
      "of nonzero: the modulus up to which a pivot vanishes, and that it gets, over the largest entry of A; 0: "
      "the square root of machine epsilon, 1.5e-8 in float64 and 3.5e-4 in float32");
}

/// positive_definite: the diagonal is multiplied by 1 + shift; the shift grows from `value` to 0.001 and on by
/// doubling, beyond 1 at most, until the factorisation exists (Manteuffel 1980).
enum class CholeskyShift { none, positive_definite };
inline constexpr std::array<std::string_view, 2> cholesky_shift_names{"none", "positive_definite"};
template <class Fields>
void describe(Fields& fields, ShiftOptions<CholeskyShift>& o) {
  fields.choice("type", o.type, cholesky_shift_names,
                "none: a pivot that is not positive is an error; positive_definite: the diagonal is multiplied by 1 + "
                "shift until all are (Manteuffel 1980)");
  fields.value("value", o.value, at_least_zero,
               "of positive_definite: the shift to begin with; it grows from 0.001 on by doubling until the "
               "factorisation exists, or it exceeds 1");
}
namespace detail {
template <class Fields>
void describe_shift(Fields& fields, auto& o) {
  fields.section("shift", o, "what happens to pivots that the factorisation cannot take");
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

/// A boost other than 0 takes the place of the shift.
struct Ilu0Options {
  static constexpr std::string_view type = "ilu0";
  static constexpr std::string_view doc =
      "incomplete LU factorisation in the pattern of A (Meijerink and van der Vorst 1977), for general systems; in "
      "blocks "
      "(format bsr) the zeros inside them belong to the pattern";
  double boost = 0;
  double boost_tolerance = 0;
  ShiftOptions<LuShift> shift = {};
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};
};
template <class Fields>
void describe(Fields& fields, Ilu0Options& o) {
  fields.value("boost", o.boost, any_value, "pivots that are too small become this; 0: they do not");
  fields.value("boost_tolerance", o.boost_tolerance, at_least_zero, "too small: of a modulus up to this");
  detail::describe_shift(fields, o.shift);
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}

struct Ic0Options {
  static constexpr std::string_view type = "ic0";
  static constexpr std::string_view doc =
      "incomplete Cholesky factorisation in the pattern of A (Meijerink and van der Vorst 1977), for Hermitian "
      "positive "
      "definite systems; where it breaks down, with the diagonal multiplied by 1 + shift (Manteuffel 1980)";
  ShiftOptions<CholeskyShift> shift{CholeskyShift::positive_definite};
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};
};
template <class Fields>
void describe(Fields& fields, Ic0Options& o) {
  detail::describe_shift(fields, o.shift);
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
  ShiftOptions<LuShift> shift = {};
  KeptPrecision precision = KeptPrecision::automatic;
  FactorSolveOptions solve = {};
};
struct Paric0Options {
  static constexpr std::string_view type = "paric0";
  static constexpr std::string_view doc =
      "ic0 as the fixed point of sweeps over all entries at once (Chow and Patel 2015), in which no row waits for "
      "another; shifts as in ic0";
  int sweeps = 5;
  ShiftOptions<CholeskyShift> shift{CholeskyShift::positive_definite};
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
  detail::describe_shift(fields, o.shift);
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}
template <class Fields>
void describe(Fields& fields, Paric0Options& o) {
  detail::describe_factor_sweeps(fields, o.sweeps);
  detail::describe_shift(fields, o.shift);
  detail::describe_factor_solve(fields, o.solve);
  detail::describe_precision(fields, o.precision);
}

/// Which inverse: M ~ A^-1, or G^H G ~ A^-1 for Hermitian positive definite A.
enum class IsaiForm { automatic, general, factored };
inline constexpr std::array<std::string_view, 3> isai_form_names{"auto", "general", "factored"};

struct IsaiOptions {
  static constexpr std::string_view type = "isai";
  static constexpr std::string_view doc =
      "an incomplete sparse approximate inverse in the pattern of A (Anzt, Huckle, Braeckle and Dongarra 2018), for "
      "Hermitian positive definite systems in factors (Kolotilina and Yeremin 1993); an application is one product, or "
      "two, and no triangular solve";
  IsaiForm form = IsaiForm::automatic;
  int most_entries = 256;
  KeptPrecision precision = KeptPrecision::automatic;
};
template <class Fields>
void describe(Fields& fields, IsaiOptions& o) {
  fields.choice(
      "form", o.form, isai_form_names,
      "general: M, with M A the identity inside of the pattern; factored: G in the lower triangle's pattern, "
      "with G A G^H near the identity, which a positive definite A needs for solver pcg; auto: factored where "
      "A is Hermitian with a positive diagonal");
  fields.value(
      "most_entries", o.most_entries, Range{1.0, most_inverse_entries},
      "of a row of the inverse, each of which costs a dense system of so many unknowns; longer rows keep those "
      "next to the diagonal");
  detail::describe_precision(fields, o.precision);
}

/// Not chosen yet: whoever knows the matrix puts another one in its place before it is made.
struct AutoPreconditioner {
  static constexpr std::string_view type = "auto";
  static constexpr std::string_view doc =
      "what suits the matrix, the solver and the backend, by the rules of `krill inspect`; the report says what was "
      "chosen and why";
};
template <class Fields>
void describe(Fields&, AutoPreconditioner&) {}

/// The registry of preconditioners.
using PreconditionerOptions = std::variant<NoPreconditioner, JacobiOptions, BlockJacobiOptions, ChebyshevOptions,
                                           GaussSeidelOptions, SsorOptions, Ilu0Options, Ic0Options, Bilu0Options,
                                           Bic0Options, Parilu0Options, Paric0Options, IsaiOptions, AutoPreconditioner>;

}  // namespace krill
