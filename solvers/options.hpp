// What a user can choose about a solver. Every option exists once: a member with its default, and one line in
// describe() with its name, range and meaning. Parsing, validation, schema, documentation and the effective case all
// walk that description.
//
// A visitor `Fields` offers:
//   fields.value(name, ref, range, doc)    for int, double, bool and std::string; the ref's value is the default
//   fields.choice(name, ref, names, doc)   for an enum whose values count from 0 in the order of `names`
//   fields.section(name, ref, doc)         for a nested struct that has a describe() of its own
#pragma once
#include <array>
#include <limits>
#include <string_view>
#include <variant>

namespace krill {

/// The values that an option may take: [least, most], the ends excluded where the flag says so.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool without_least = false, without_most = false;
};
inline constexpr Range any_value{};
inline constexpr Range at_least_zero{0.0};
inline constexpr Range at_least_one{1.0};
inline constexpr Range above_zero{0.0, std::numeric_limits<double>::infinity(), true};

/// What a relative tolerance is relative to.
enum class Baseline { rhs, initial_residual };
inline constexpr std::array<std::string_view, 2> baseline_names{"rhs", "initial_residual"};

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
  fields.choice("baseline", o.baseline, baseline_names, "rhs: ||b||; initial_residual: ||b - A x0||");
  fields.value("absolute", o.absolute, at_least_zero, "converged as well when ||b - A x|| <= absolute");
  fields.value("time_limit", o.time_limit, at_least_zero, "seconds until the solve is ended as time_limit; 0: none");
  fields.value("divergence", o.divergence, Range{1.0, Range{}.most, true},
               "diverged when the residual norm exceeds this many baselines");
  fields.value("stagnation", o.stagnation, at_least_zero,
               "stagnated when so many iterations lower the least residual norm by less than 1 %; 0: never");
}

struct PcgOptions {
  static constexpr std::string_view type = "pcg";
  static constexpr std::string_view doc =
      "preconditioned conjugate gradients (Hestenes and Stiefel 1952), for Hermitian positive definite systems";
  int max_iterations = 2000;
  StopOptions stop;
};
template <class Fields>
void describe(Fields& fields, PcgOptions& o) {
  fields.value("max_iterations", o.max_iterations, at_least_zero, "products with A until the solve is given up");
  fields.section("stop", o.stop, "when the solve ends");
}

struct GmresOptions {
  static constexpr std::string_view type = "gmres";
  static constexpr std::string_view doc =
      "restarted GMRES, preconditioned from the right (Saad and Schultz 1986), for general systems";
  int max_iterations = 2000;
  int restart = 50;
  StopOptions stop;
};
template <class Fields>
void describe(Fields& fields, GmresOptions& o) {
  fields.value("max_iterations", o.max_iterations, at_least_zero, "products with A until the solve is given up");
  fields.value("restart", o.restart, Range{1.0, 1000.0}, "vectors of the Krylov basis; memory grows with it");
  fields.section("stop", o.stop, "when the solve ends");
}

struct BicgstabOptions {
  static constexpr std::string_view type = "bicgstab";
  static constexpr std::string_view doc =
      "BiCGStab, preconditioned from the right (van der Vorst 1992), for general systems; an iteration takes two "
      "products with A";
  int max_iterations = 2000;
  StopOptions stop;
};
template <class Fields>
void describe(Fields& fields, BicgstabOptions& o) {
  fields.value("max_iterations", o.max_iterations, at_least_zero, "iterations until the solve is given up");
  fields.section("stop", o.stop, "when the solve ends");
}

/// The registry of solvers.
using SolverOptions = std::variant<PcgOptions, GmresOptions, BicgstabOptions>;

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

struct Ilu0Options {
  static constexpr std::string_view type = "ilu0";
  static constexpr std::string_view doc =
      "incomplete LU factorisation in the pattern of A (Meijerink and van der Vorst 1977), for general systems; in "
      "blocks "
      "(format bsr) the zeros inside them belong to the pattern";
  double boost = 0;
  double boost_tolerance = 0;
};
template <class Fields>
void describe(Fields& fields, Ilu0Options& o) {
  fields.value("boost", o.boost, any_value, "pivots that are too small become this; 0: they do not");
  fields.value("boost_tolerance", o.boost_tolerance, at_least_zero, "too small: of a modulus up to this");
}

struct Ic0Options {
  static constexpr std::string_view type = "ic0";
  static constexpr std::string_view doc =
      "incomplete Cholesky factorisation in the pattern of A (Meijerink and van der Vorst 1977), for Hermitian "
      "positive "
      "definite systems; where it breaks down, with the diagonal multiplied by 1 + shift (Manteuffel 1980)";
  double shift = 0;
};
template <class Fields>
void describe(Fields& fields, Ic0Options& o) {
  fields.value("shift", o.shift, at_least_zero,
               "the shift to begin with; it grows from 0.001 on by doubling until the factorisation exists");
}

/// The registry of preconditioners.
using PreconditionerOptions = std::variant<NoPreconditioner, JacobiOptions, Ilu0Options, Ic0Options>;

inline int max_iterations(const SolverOptions& options) {
  return std::visit([](const auto& o) { return o.max_iterations; }, options);
}
inline const StopOptions& stop(const SolverOptions& options) {
  return std::visit([](const auto& o) -> const StopOptions& { return o.stop; }, options);
}

}  // namespace krill
