#include "solvers/precond/inner.hpp"

#include <fmt/format.h>

#include "solvers/inner_solver.hpp"
#include "solvers/precond/make.hpp"

namespace krill {
namespace {

std::string_view name(const auto& variant) {
  return std::visit([](const auto& o) { return o.type; }, variant);
}
int depth_of(const PreconditionerOptions& options) {
  if (const auto* parts = std::get_if<SchwarzOptions>(&options)) return depth_of(parts->inner->options);
  const auto* inner = std::get_if<InnerSolverOptions>(&options);
  return inner ? 1 + depth_of(inner->inner->preconditioner) : 0;
}

}  // namespace

OptionConflict InnerSolverOptions::conflict() const {
  const auto& [solver, M] = inner.value();
  if (std::holds_alternative<AutoSolver>(solver))
    return {{"inner", "solver"}, "preconditioner.inner.solver is auto, expected a solver by name"};
  if (!takes_preconditioner(solver))
    return {
        {"inner", "solver"},
        fmt::format("preconditioner.inner.solver is {}, which does not iterate; expected pcg, gmres or bicgstab, say",
                    name(solver))};
  if (std::holds_alternative<AutoPreconditioner>(M))
    return {{"inner", "preconditioner"}, "preconditioner.inner.preconditioner is auto, expected one by name"};
  if (1 + depth_of(M) > max_nested_solvers)
    return {{"inner", "preconditioner"},
            fmt::format("solvers stand inside of each other {} deep, expected at most {}", 1 + depth_of(M),
                        max_nested_solvers)};
  if (stop(solver).time_limit > 0)
    return {{"inner", "solver", "stop", "time_limit"},
            "preconditioner.inner.solver.stop.time_limit is for the outer solver, whose limit ends this one, too"};
  if (stop(solver).baseline == Baseline::backward_error)
    return {{"inner", "solver", "stop", "baseline"},
            "preconditioner.inner.solver.stop.baseline is backward_error, expected rhs or initial_residual"};
  OptionConflict of_both = krill::conflict(solver, M, "preconditioner.inner.preconditioner");
  if (of_both.message.empty()) of_both = krill::conflict(M);
  if (!of_both.message.empty()) of_both.key.insert(of_both.key.begin(), {"inner", "preconditioner"});
  return of_both;
}

OptionConflict conflict(const SolverOptions& solver, const PreconditionerOptions& M, std::string_view path) {
  if (const auto* parts = std::get_if<SchwarzOptions>(&M)) {
    OptionConflict inside = conflict(solver, parts->inner->options, fmt::format("{}.inner", path));
    inside.key.insert(inside.key.begin(), "inner");
    if (!inside.message.empty()) return inside;
  }
  if (const PcgFit fit = suits_pcg(M); !fit.holds && !fit.key.empty() && needs_definite(solver))
    return {{fit.key},
            fmt::format("{}.{} is {}, expected {} for solver {}, which needs a Hermitian preconditioner", path, fit.key,
                        fit.value, fit.expected, name(solver))};
  if (const std::string_view why = varies(M); !why.empty() && !takes_varying_preconditioner(solver))
    return {{},
            fmt::format("with {} {} {} is another one in each iteration, and solver {} needs one that stays; expected "
                        "solver fcg or fgmres",
                        why, path, name(M), name(solver))};
  return {};
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const InnerSolverOptions& o, const PreconditionerInput<T>& input) {
  const auto& [solver, preconditioner] = o.inner.value();
  auto own = input.products ? nullptr : std::make_unique<MatrixOperator<T>>(input.A);
  if (own) own->prepare(ctx);
  const Operator<T>& A = own ? *own : *input.products;
  auto M = make_preconditioner<T>(ctx, preconditioner, input.A, &A, input.coordinates);
  if (needs_definite(solver)) M->require_definite(ctx);
  if (own) return std::make_unique<InnerSolver<T>>(solver, std::move(own), std::move(M));
  return std::make_unique<InnerSolver<T>>(solver, A, std::move(M));
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const InnerSolverOptions& o,
                  const PreconditionerInput<T>& input) {
  const auto& [solver, preconditioner] = o.inner.value();
  HeldMemory kept = input.products ? HeldMemory() : SpmvPlan<T>::memory(ledger, host, input.A);
  kept += preconditioner_memory<T>(ledger, host, preconditioner, input.A, input.coordinates);
  const bool preconditioned = !std::holds_alternative<NoPreconditioner>(preconditioner);
  kept += solver_memory<T>(ledger, host, solver, input.A, preconditioned);
  return kept;
}

template <class T>
struct InnerMakers {
  static constexpr std::tuple list{instance<Maker<T, InnerSolverOptions>>(make),
                                   instance<MemoryOf<T, InnerSolverOptions>>(memory)};
};
KRILL_INSTANTIATE(InnerMakers);

}  // namespace krill
