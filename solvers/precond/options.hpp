// All preconditioners. A new one is a header of its own and a word in the list below; solvers/options.hpp says how
// options are described.
#pragma once
#include <type_traits>
#include <variant>

#include "solvers/options.hpp"
#include "solvers/precond/amg.hpp"
#include "solvers/precond/bic0.hpp"
#include "solvers/precond/bilu0.hpp"
#include "solvers/precond/block_jacobi.hpp"
#include "solvers/precond/chebyshev.hpp"
#include "solvers/precond/gauss_seidel.hpp"
#include "solvers/precond/ic0.hpp"
#include "solvers/precond/ick.hpp"
#include "solvers/precond/ict.hpp"
#include "solvers/precond/ilu0.hpp"
#include "solvers/precond/iluk.hpp"
#include "solvers/precond/ilut.hpp"
#include "solvers/precond/inner.hpp"
#include "solvers/precond/isai.hpp"
#include "solvers/precond/jacobi.hpp"
#include "solvers/precond/line.hpp"
#include "solvers/precond/none.hpp"
#include "solvers/precond/paric0.hpp"
#include "solvers/precond/parict.hpp"
#include "solvers/precond/parilu0.hpp"
#include "solvers/precond/parilut.hpp"
#include "solvers/precond/schur.hpp"
#include "solvers/precond/schwarz.hpp"
#include "solvers/precond/ssor.hpp"
#include "solvers/precond/tridiagonal.hpp"

namespace krill {

/// The registry of preconditioners.
using PreconditionerOptions =
    std::variant<NoPreconditioner, JacobiOptions, BlockJacobiOptions, ChebyshevOptions, GaussSeidelOptions, SsorOptions,
                 Ilu0Options, Ic0Options, IlukOptions, IckOptions, IlutOptions, IctOptions, Bilu0Options, Bic0Options,
                 Parilu0Options, Paric0Options, ParilutOptions, ParictOptions, IsaiOptions, TridiagonalOptions,
                 LineOptions, AmgOptions, SchurOptions, SchwarzOptions, InnerSolverOptions, AutoPreconditioner>;

struct InnerMethod {
  SolverOptions solver = GmresOptions{};
  PreconditionerOptions preconditioner = NoPreconditioner{};
};
template <class Fields>
void describe(Fields& fields, InnerMethod& o) {
  fields.variant("solver", "type", o.solver, {},
                 "pcg, fcg, gmres, fgmres, bicgstab or richardson, of few iterations: its max_iterations and stop are "
                 "those of one application");
  fields.variant("preconditioner", "type", o.preconditioner, {},
                 "of the solver inside; again a solver where that one is fcg, fgmres or richardson, and no deeper");
}

struct PartInverse {
  PreconditionerOptions options = AutoPreconditioner{};
};
template <class Fields>
void describe_inside(Fields& fields, PartInverse& o, std::string_view doc) {
  fields.variant("inner", "type", o.options, {}, doc);
}

static_assert([]<PreconditionerDescriptor... Options>(std::type_identity<std::variant<Options...>>) {
  return true;
}(std::type_identity<PreconditionerOptions>()));

/// That of the innermost solver, or of parts, where preconditioners stand inside of each other; else the one itself.
template <class Options>  // PreconditionerOptions, const where they are
Options& innermost(Options& options) {
  if (auto* inner = std::get_if<InnerSolverOptions>(&options)) return innermost<Options>(inner->inner->preconditioner);
  if (auto* parts = std::get_if<SchwarzOptions>(&options)) return innermost<Options>(parts->inner->options);
  return options;
}
/// Whether an application solves with triangles, which take longer the longer their chains of rows are; in parts they
/// are short.
inline bool solves_triangles(const PreconditionerOptions& options) {
  if (const auto* inner = std::get_if<InnerSolverOptions>(&options))
    return solves_triangles(inner->inner->preconditioner);
  return std::visit([](const auto& o) { return o.solves_triangles; }, options);
}
/// The rows of a block that the innermost preconditioner works with, as far as options say; 1: it has no blocks, or
/// looks for them in the pattern.
std::int32_t block_dim_of(const PreconditionerOptions&);
/// Whether rows have to stand in the order of A as it is given, so that no matching or ordering may move them.
inline bool needs_given_order(const PreconditionerOptions& given) {
  const PreconditionerOptions& options = innermost(given);
  if (const auto* amg = std::get_if<AmgOptions>(&options))
    return amg->near_null_space.type != CandidateKind::constant || amg->near_null_space.block_dim > 1;
  return std::holds_alternative<LineOptions>(options);
}
/// Whether M is Hermitian positive definite where A is, as solver pcg needs it.
inline PcgFit suits_pcg(const PreconditionerOptions& options) {
  return std::visit([](const auto& o) { return o.suits_pcg(); }, options);
}
/// What makes M depend on the residual, so that only flexible solvers take it; empty where it does not.
inline std::string_view varies(const PreconditionerOptions& options) {
  return std::visit(
      [](const auto& o) -> std::string_view {
        if constexpr (requires { o.varies(); }) return o.varies();
        return {};
      },
      options);
}
/// The first solver, the outer one or one inside, that needs A and M to be Hermitian positive definite; empty where
/// none does.
inline std::string_view needs_definite(const SolverOptions& solver, const PreconditionerOptions& M) {
  if (needs_definite(solver)) return std::visit([](const auto& o) { return o.type; }, solver);
  const auto* parts = std::get_if<SchwarzOptions>(&M);
  const auto* inner = std::get_if<InnerSolverOptions>(parts ? &parts->inner->options : &M);
  return inner ? needs_definite(inner->inner->solver, inner->inner->preconditioner) : std::string_view();
}
/// Options that do not go together.
inline OptionConflict conflict(const PreconditionerOptions& options) {
  return std::visit([](const auto& o) { return o.conflict(); }, options);
}
/// Why the solver cannot take the preconditioner, whose path of keys is `path`; the key in the answer starts there.
OptionConflict conflict(const SolverOptions&, const PreconditionerOptions&, std::string_view path);
/// Whether it is kept and applied in single precision, which makes a difference only in solves in double precision.
template <class Options>
bool is_kept_in_float32(const Options& o) {
  if constexpr (requires { Options::float32_by_default; })
    return o.precision != KeptPrecision::float64;
  else
    return o.precision == KeptPrecision::float32;
}
inline bool is_kept_in_float32(const PreconditionerOptions& options) {
  return std::visit([](const auto& o) { return is_kept_in_float32(o); }, options);
}

}  // namespace krill
