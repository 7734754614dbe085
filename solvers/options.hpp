// What a user can choose about a solver. Every option exists once: a member with its default, and one line in
// describe() with its name, range and meaning. Parsing, validation, schema, documentation and the effective case all
// walk that description.
//
// A visitor `Fields` offers:
//   fields.value(name, ref, range, doc)    for int, double, bool and std::string; the ref's value is the default
//   fields.choice(name, ref, names, doc)   for an enum whose values count from 0 in the order of `names`
//   fields.path(name, ref, {}, doc)        for a std::string that names a file, empty where there is none
//   fields.section(name, ref, doc)         for a nested struct that has a describe() of its own
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "solvers/range.hpp"
#include "sparse/direct/method.hpp"

namespace krill {

/// What a relative tolerance is relative to.
enum class Baseline { rhs, initial_residual, backward_error };
inline constexpr std::array<std::string_view, 3> baseline_names{"rhs", "initial_residual", "backward_error"};
/// The norms that these are.
inline constexpr std::array<std::string_view, 3> baseline_norms{"||b||", "||b - A x0||", "(||A||_F ||x|| + ||b||)"};
inline std::string_view norm_of(Baseline baseline) { return baseline_norms[static_cast<std::size_t>(baseline)]; }

/// When a solve ends. All norms are 2-norms of the unpreconditioned residual b - A x.
struct StopOptions {
  double relative = 1e-8;
  Baseline baseline = Baseline::rhs;
  double absolute = 0;
  double time_limit = 0;
  double divergence = 1e10;
  int stagnation = 1000;
};
template <class Fields>
void describe(Fields& fields, StopOptions& o) {
  fields.value("relative", o.relative, at_least_zero, "converged when ||b - A x|| <= relative * baseline");
  fields.choice(
      "baseline", o.baseline, baseline_names,
      "rhs: ||b||; initial_residual: ||b - A x0||; backward_error: ||A||_F ||x|| + ||b||, so that relative is "
      "the normwise backward error (Rigal and Gaches 1967); takes n values more an iteration");
  fields.value("absolute", o.absolute, at_least_zero, "converged as well when ||b - A x|| <= absolute");
  fields.value("time_limit", o.time_limit, at_least_zero, "seconds until the solve is ended as time_limit; 0: none");
  fields.value("divergence", o.divergence, Range{1.0, Range{}.max, true},
               "diverged when the residual norm exceeds this many baselines");
  fields.value("stagnation", o.stagnation, at_least_zero,
               "stagnated when so many iterations lower the least residual norm by less than 1 %; 0: never");
}

/// How PCG is arranged: with two sums an iteration, or with one.
enum class PcgMethod { classic, single_reduction };
inline constexpr std::array<std::string_view, 2> pcg_method_names{"classic", "single_reduction"};

struct PcgOptions {
  static constexpr std::string_view type = "pcg";
  static constexpr std::string_view doc =
      "preconditioned conjugate gradients (Hestenes and Stiefel 1952), for Hermitian positive definite systems";
  static constexpr bool needs_definite = true;
  static constexpr bool takes_preconditioner = true;
  int max_iterations = 2000;
  StopOptions stop = {};
  PcgMethod method = PcgMethod::classic;
  int replacement = 50;
};
template <class Fields>
void describe(Fields& fields, PcgOptions& o) {
  fields.value("max_iterations", o.max_iterations, at_least_zero, "products with A until the solve is given up");
  fields.choice("method", o.method, pcg_method_names,
                "single_reduction: all sums of an iteration at once (Chronopoulos and Gear 1989), a kernel less, for "
                "small systems on a GPU; rounding leaves it a digit or two less");
  fields.value("replacement", o.replacement, at_least_zero,
               "of single_reduction: iterations until the residual is computed anew (van der Vorst and Ye 2000), which "
               "takes two products; 0: never");
  fields.section("stop", o.stop, "when the solve ends");
}

struct FcgOptions {
  static constexpr std::string_view type = "fcg";
  static constexpr std::string_view doc =
      "flexible conjugate gradients (Notay 2000), for Hermitian positive definite systems whose preconditioner "
      "is another one in every iteration";
  static constexpr bool needs_definite = true;
  static constexpr bool takes_preconditioner = true;
  int max_iterations = 2000;
  StopOptions stop = {};
};
template <class Fields>
void describe(Fields& fields, FcgOptions& o) {
  fields.value("max_iterations", o.max_iterations, at_least_zero, "products with A until the solve is given up");
  fields.section("stop", o.stop, "when the solve ends");
}

/// How a new vector of a Krylov basis is made orthogonal to the former ones.
enum class Orthogonalization { one_reduce, cgs2, mgs };
inline constexpr std::array<std::string_view, 3> orthogonalization_names{"one_reduce", "cgs2", "mgs"};

/// What vectors are kept in; never wider than the scalar type of the solve. float16 is IEEE binary16.
enum class BasisPrecision { float64, float32, float16 };
inline constexpr std::array<std::string_view, 3> basis_precision_names{"float64", "float32", "float16"};
inline constexpr std::array<std::string_view, 2> kept_vector_precision_names{"float64", "float32"};

struct GmresOptions {
  static constexpr std::string_view type = "gmres";
  static constexpr std::string_view doc =
      "restarted GMRES, preconditioned from the right (Saad and Schultz 1986), for general systems";
  static constexpr bool needs_definite = false;
  static constexpr bool takes_preconditioner = true;
  int max_iterations = 2000;
  int restart = 50;
  StopOptions stop = {};
  Orthogonalization orthogonalization = Orthogonalization::one_reduce;
  BasisPrecision basis_precision = BasisPrecision::float64;
};
namespace detail {
template <class Fields, class Options>
void describe_basis(Fields& fields, Options& o) {
  fields.value("max_iterations", o.max_iterations, at_least_zero, "products with A until the solve is given up");
  fields.value("restart", o.restart, Range{1.0, 1000.0},
               "vectors of the Krylov basis; memory grows with it. More than there are rows count as the rows");
  fields.choice("orthogonalization", o.orthogonalization, orthogonalization_names,
                "one_reduce: classical Gram-Schmidt twice, the second time with the next vector (Bielich et al. 2022), "
                "reads the basis twice a step; cgs2: twice at once (Giraud et al. 2005), four times; mgs: modified "
                "Gram-Schmidt in compact form (Swirydowicz et al. 2020), twice, less orthogonal");
  fields.choice("basis_precision", o.basis_precision, basis_precision_names,
                "of the basis in memory, where it is not wider than that of the solve: float32 and float16 move half "
                "and a quarter of the bytes, and a cycle gains no more digits than they hold");
}
}  // namespace detail
template <class Fields>
void describe(Fields& fields, GmresOptions& o) {
  detail::describe_basis(fields, o);
  fields.section("stop", o.stop, "when the solve ends");
}

struct FgmresOptions {
  static constexpr std::string_view type = "fgmres";
  static constexpr std::string_view doc =
      "flexible GMRES (Saad 1993), for general systems whose preconditioner is another one in every step; keeps "
      "twice as many vectors as gmres";
  static constexpr bool needs_definite = false;
  static constexpr bool takes_preconditioner = true;
  int max_iterations = 2000;
  int restart = 50;
  StopOptions stop = {};
  Orthogonalization orthogonalization = Orthogonalization::one_reduce;
  BasisPrecision basis_precision = BasisPrecision::float64;
  BasisPrecision kept_precision = BasisPrecision::float64;  ///< not float16
};
template <class Fields>
void describe(Fields& fields, FgmresOptions& o) {
  detail::describe_basis(fields, o);
  fields.choice("kept_precision", o.kept_precision, kept_vector_precision_names,
                "of the preconditioned vectors that it keeps, and makes x of; as basis_precision");
  fields.section("stop", o.stop, "when the solve ends");
}

struct BicgstabOptions {
  static constexpr std::string_view type = "bicgstab";
  static constexpr std::string_view doc =
      "BiCGStab, preconditioned from the right (van der Vorst 1992), for general systems; an iteration takes two "
      "products with A";
  static constexpr bool needs_definite = false;
  static constexpr bool takes_preconditioner = true;
  int max_iterations = 2000;
  StopOptions stop = {};
};
template <class Fields>
void describe(Fields& fields, BicgstabOptions& o) {
  fields.value("max_iterations", o.max_iterations, at_least_zero, "iterations until the solve is given up");
  fields.section("stop", o.stop, "when the solve ends");
}

struct RichardsonOptions {
  static constexpr std::string_view type = "richardson";
  static constexpr std::string_view doc =
      "x += relaxation * M (b - A x) with the preconditioner M (Richardson 1911): iterative refinement where M is a "
      "good "
      "inverse";
  static constexpr bool needs_definite = false;
  static constexpr bool takes_preconditioner = true;
  int max_iterations = 2000;
  double relaxation = 1;
  StopOptions stop = {};
};
template <class Fields>
void describe(Fields& fields, RichardsonOptions& o) {
  fields.value("max_iterations", o.max_iterations, at_least_zero, "products with A until the solve is given up");
  fields.value("relaxation", o.relaxation, above_zero, "factor of each correction");
  fields.section("stop", o.stop, "when the solve ends");
}

struct MultigridSolverOptions : RichardsonOptions {
  static constexpr std::string_view type = "multigrid";
  static constexpr std::string_view doc =
      "cycles by themselves, x += relaxation * M (b - A x) with M preconditioner amg: another name for richardson with "
      "that";
};

struct BandedOptions {
  static constexpr std::string_view type = "banded";
  static constexpr std::string_view doc =
      "elimination with pivoting for matrices of three or five diagonals, then refinement; takes no preconditioner";
  static constexpr bool needs_definite = false;
  static constexpr bool takes_preconditioner = false;
  int max_iterations = 10;
  StopOptions stop = {.stagnation = 3};
  /// A is block diagonal, and each of so many blocks of one size is a system of its own: refined until it has converged
  /// itself, and reported by itself. 0: A is one system. No key of a case, whose matrix says whether it is a batch.
  std::int32_t systems = 0;
};
template <class Fields>
void describe(Fields& fields, BandedOptions& o) {
  fields.value("max_iterations", o.max_iterations, at_least_zero, "eliminations until the solve is given up");
  fields.section("stop", o.stop, "when the solve ends");
}

struct DirectOptions {
  static constexpr std::string_view type = "direct";
  static constexpr std::string_view doc =
      "complete factorization on the host, whatever the backend, by Eigen or SuiteSparse, then refinement; takes no "
      "preconditioner";
  static constexpr bool needs_definite = false;
  static constexpr bool takes_preconditioner = false;
  int max_iterations = 10;
  StopOptions stop = {.stagnation = 3};
  DirectMethod method = DirectMethod::automatic;
  DirectLibrary library = DirectLibrary::automatic;
};
template <class Fields>
void describe(Fields& fields, DirectOptions& o) {
  fields.value("max_iterations", o.max_iterations, at_least_zero,
               "solves with the factors until the solve is given up");
  fields.choice("method", o.method, direct_method_names,
                "lu: rows are exchanged as the values want; ldlt: for Hermitian matrices, half the work, without "
                "exchanges; auto: ldlt where the diagonal has one sign and the pivots turn out to have it, too");
  fields.choice("library", o.library, direct_library_names,
                "eigen: SimplicialLDLT and SparseLU; suitesparse: CHOLMOD and KLU, in builds that have them, in double "
                "precision; auto: CHOLMOD where there is much work for each entry of the factors, KLU where there is "
                "little, eigen else");
  fields.section("stop", o.stop, "when the solve ends; no factorization is interrupted");
}

/// Not chosen yet: once the matrix is known, another alternative takes its place, before a solver is made.
struct AutoSolver {
  static constexpr std::string_view type = "auto";
  static constexpr std::string_view doc =
      "what suits the matrix, by the rules of `krill inspect`; the report says what was chosen and why";
  static constexpr bool needs_definite = false;
  static constexpr bool takes_preconditioner = true;
  int max_iterations = 10'000;
  StopOptions stop = {};
};
template <class Fields>
void describe(Fields& fields, AutoSolver& o) {
  fields.value("max_iterations", o.max_iterations, at_least_zero, "iterations until the solve is given up");
  fields.section("stop", o.stop, "when the solve ends");
}

/// The registry of solvers.
using SolverOptions = std::variant<PcgOptions, FcgOptions, GmresOptions, FgmresOptions, BicgstabOptions,
                                   RichardsonOptions, MultigridSolverOptions, BandedOptions, DirectOptions, AutoSolver>;

/// Options of a solver, with the facts that other parts ask for.
template <class Options>
concept SolverDescriptor = requires(const Options& o) {
  { o.type } -> std::convertible_to<std::string_view>;
  { o.doc } -> std::convertible_to<std::string_view>;
  { o.needs_definite } -> std::convertible_to<bool>;  // A and M have to be Hermitian positive definite
  { o.takes_preconditioner } -> std::convertible_to<bool>;
  { o.max_iterations } -> std::convertible_to<int>;
  { o.stop } -> std::convertible_to<StopOptions>;
};
static_assert([]<SolverDescriptor... Options>(std::type_identity<std::variant<Options...>>) {
  return true;
}(std::type_identity<SolverOptions>()));

inline bool needs_definite(const SolverOptions& options) {
  return std::visit([](const auto& o) { return o.needs_definite; }, options);
}
/// Whether M may be another operator in each iteration.
inline bool takes_varying_preconditioner(const SolverOptions& options) {
  return std::holds_alternative<FcgOptions>(options) || std::holds_alternative<FgmresOptions>(options) ||
         std::holds_alternative<RichardsonOptions>(options) ||
         std::holds_alternative<MultigridSolverOptions>(options) || std::holds_alternative<AutoSolver>(options);
}
inline bool takes_preconditioner(const SolverOptions& options) {
  return std::visit([](const auto& o) { return o.takes_preconditioner; }, options);
}
/// The systems of a batch; 0 where there is one system.
inline std::int32_t systems_of(const SolverOptions& options) {
  const auto* banded = std::get_if<BandedOptions>(&options);
  return banded ? banded->systems : 0;
}
/// Vectors of the basis until a solver restarts; none where it keeps no basis.
inline std::optional<int> restart_of(const SolverOptions& options) {
  return std::visit(
      [](const auto& o) -> std::optional<int> {
        if constexpr (requires { o.restart; }) return o.restart;
        return {};
      },
      options);
}
inline int max_iterations(const SolverOptions& options) {
  return std::visit([](const auto& o) { return o.max_iterations; }, options);
}
inline const StopOptions& stop(const SolverOptions& options) {
  return std::visit([](const auto& o) -> const StopOptions& { return o.stop; }, options);
}

}  // namespace krill
