// Incomplete factorizations as preconditioners: what a user can choose about them, and their makers, which all share.
#pragma once
#include <array>
#include <concepts>
#include <optional>
#include <string_view>

#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"
#include "solvers/range.hpp"
#include "sparse/factor/factorization.hpp"
#include "sparse/triangular/method.hpp"

namespace krill {

/// How the triangles of a factor are solved: as a TriangularPlan does it, by one of its methods, or approximately.
enum class FactorSolveMethod { automatic, natural, by_level, level_kernels, one_block, jacobi, isai };
inline constexpr std::array<std::string_view, 7> triangular_solve_names{
    "automatic", "natural", "by_level", "level_kernels", "one_block", "jacobi", "isai"};
struct FactorSolveOptions {
  FactorSolveMethod method = FactorSolveMethod::automatic;
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

/// What an incomplete factorization does about pivots that it cannot take. value 0: the default of the type.
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
/// doubling, beyond 1 at most, until the factorization exists (Manteuffel 1980).
enum class CholeskyShift { none, positive_definite };
inline constexpr std::array<std::string_view, 2> cholesky_shift_names{"none", "positive_definite"};
template <class Fields>
void describe(Fields& fields, ShiftOptions<CholeskyShift>& o) {
  fields.choice("type", o.type, cholesky_shift_names,
                "none: a pivot that is not positive is an error; positive_definite: the diagonal is multiplied by 1 + "
                "shift until all are (Manteuffel 1980)");
  fields.value("value", o.value, at_least_zero,
               "of positive_definite: the shift to begin with; it grows from 0.001 on by doubling until the "
               "factorization exists, or it exceeds 1");
}
namespace detail {
template <class Fields>
void describe_shift(Fields& fields, auto& o) {
  fields.section("shift", o, "what happens to pivots that the factorization cannot take");
}

/// Where one of two keys about pivots makes the other one ineffective.
template <class Type>
OptionConflict conflict_of(const ShiftOptions<Type>& shift, double boost = 0) {
  if (shift.type == Type::none && shift.value != 0)
    return {{"shift", "value"},
            "preconditioner.shift.value is not used by shift type none; leave it out or change the type"};
  if (shift.type != Type::none && boost != 0)
    return {{"boost"}, "preconditioner.boost and preconditioner.shift both replace pivots; keep one of them"};
  return {};
}

template <class Fields>
void describe_factored_blocks(Fields& fields, int& block_dim) {
  fields.value(
      "block_dim", block_dim, Range{0.0, 64.0},
      "rows of a block; 0: the blocks of a matrix in bsr, else those of 2 to 8 rows that take the least memory");
}

template <class Fields>
void describe_fill_level(Fields& fields, int& level) {
  fields.value("level", level, Range{0.0, 1000.0},
               "of fill that is kept: an entry of A has level 0, one that elimination makes that of the two it is made "
               "of, added, and 1; more levels take more memory and fewer iterations");
}

template <class Fields>
void describe_drops(Fields& fields, int& row_entries, double& tolerance) {
  fields.value("row_entries", row_entries, Range{0.0, 1e6},
               "p: the largest entries that a row of each triangle keeps, beside the diagonal");
  fields.value("drop_tolerance", tolerance, Range{0.0, 1.0},
               "tau: what is smaller than that times the norm of A's row is dropped");
}

template <class Fields>
void describe_growth(Fields& fields, double& fill, int& cycles) {
  fields.value("fill", fill, above_zero,
               "entries of the factor over those of A, parict: over those of its lower triangle; fill_ratio of the "
               "report is no more, unless the diagonal alone is");
  fields.value("cycles", cycles, Range{1.0, 1000.0},
               "that find the pattern: each adds what the factors' product fills and drops the smallest entries");
}

template <class Fields>
void describe_factor_sweeps(Fields& fields, int& sweeps) {
  fields.value("sweeps", sweeps, Range{1.0, 1000.0}, "of the factorization; many of them end in the factor itself");
}
}  // namespace detail

/// An incomplete factorization and the solves with its factor, as the options of a preconditioner ask for them.
struct FactorRecipe {
  std::string_view type;  ///< of the preconditioner
  Factorization kind = Factorization::ilu0;
  int sweeps = 0;                            ///< 0: row after row
  std::optional<int> block_dim = {};         ///< of the blocks that are filled up; 0: chosen by the matrix
  std::optional<int> level = {};             ///< of fill; none: the pattern of A
  std::optional<DropOptions> drops = {};     ///< what rows keep of all fill
  std::optional<GrowthOptions> growth = {};  ///< of a pattern that sweeps choose
  double boost = 0, boost_tolerance = 0;     ///< 0: the shift instead
  ShiftOptions<LuShift> lu_shift = {};
  ShiftOptions<CholeskyShift> cholesky_shift = {};
  FactorSolveOptions solve = {};
};

/// Options of a preconditioner that is an incomplete factorization.
template <class Options>
concept FactorizationOptions = requires(const Options& o) {
  { o.recipe() } -> std::same_as<FactorRecipe>;
};

namespace detail {
template <class T>
MadePreconditioner<T> make_factored(Context&, const FactorRecipe&, const PreconditionerInput<T>&);
template <class T>
HeldMemory factored_memory(MemoryLedger&, Context& host, const FactorRecipe&, const PreconditionerInput<T>&);
}  // namespace detail

template <class T, FactorizationOptions Options>
MadePreconditioner<T> make(Context& ctx, const Options& o, const PreconditionerInput<T>& input) {
  return detail::make_factored(ctx, o.recipe(), input);
}
template <class T, FactorizationOptions Options>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Options& o, const PreconditionerInput<T>& input) {
  return detail::factored_memory(ledger, host, o.recipe(), input);
}

}  // namespace krill
