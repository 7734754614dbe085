#include "solvers/precond/block_dim.hpp"
#include "solvers/precond/factored.hpp"
#include "solvers/precond/options.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/factor/fixed_point.hpp"
#include "sparse/factor/incomplete.hpp"

namespace krill {

using namespace detail;
namespace {

template <class Factor>
inline constexpr bool by_sweeps = false;
template <class T, class Offset>
inline constexpr bool by_sweeps<FixedPointFactor<T, Offset>> = true;

void tell(const BlockDim& blocks, PreconditionerReport& report) {
  report.symbolic_ms += blocks.ms;
  if (blocks.from.empty()) return;
  report.facts.push_back({"block_dim", std::int64_t{blocks.dim}});
  report.facts.push_back({"block_dim_from", blocks.from});
}

/// The nonlinear residual of sweeps over the norm of A.
template <class T, class Offset>
void tell_residual(Context& ctx, const Csr<T, Offset>& A, double shift, auto& made) {
  Array<double> norm(1, "norm of the matrix");
  norm2(ctx, A.values(), norm);
  const double size = norm.host()[0];
  made.report.facts.push_back({"sweeps", std::int64_t{made.factor.sweeps()}});
  if (size > 0) made.report.facts.push_back({"nonlinear_residual", made.factor.residual_norm(ctx, A, shift) / size});
}

/// Factors A, with the analysis of an earlier one where there is one. blocks: those that A's entries fill.
template <class Factor, class T, class Offset>
void factor(Context& ctx, const FactorRecipe& o, const BlockDim& blocks, const Csr<T, Offset>& A,
            std::optional<TimedFactor<Factor, Csr<T, Offset>>>& made) {
  const std::optional<PivotBoost<T>> boost = pivot_boost(ctx, o, A);
  if (!made || made->boost != boost) {
    if constexpr (by_sweeps<Factor>)
      made.emplace(ctx, A, o.kind, boost, o.sweeps);
    else
      made.emplace(ctx, A, o.kind, boost);
  }
  tell(blocks, made->report);
  double shift = 0;
  if (o.kind == Factorization::ilu0)
    factor_lu(*made, o.type, boost, blocks.dim);
  else
    shift = factor_cholesky(*made, o.type, o.cholesky_shift, blocks.dim);
  if constexpr (by_sweeps<Factor>) tell_residual(ctx, A, shift, *made);
}

/// use(A in CSR), with the zeros that fill up its blocks where there are some.
template <class T, class Use>
decltype(auto) with_entries(Context& ctx, const BlockDim& blocks, const AnyMatrix<T>& A, Use&& use) {
  if (blocks.from.empty()) return with_csr(ctx, A, use);
  const AnyMatrix<T> filled = with_csr(ctx, A, [&](const auto& csr) {
    return AnyMatrix<T>(to_bsr(ctx, csr, Blocking{blocks.dim, blocks.dim}));
  });
  return with_csr(ctx, filled, use);
}

template <class T>
BlockDim blocks_of(Context& ctx, const FactorRecipe& o, const AnyMatrix<T>& A) {
  return o.block_dim ? choose_block_dim(ctx, *o.block_dim, largest_block_dim, A) : BlockDim();
}

template <class Factor, class T, class Offset>
MadePreconditioner<T> make_from(Context& ctx, const FactorRecipe& o, const BlockDim& blocks, const Csr<T, Offset>& A) {
  using Made = TimedFactor<Factor, Csr<T, Offset>>;
  std::optional<Made> made;
  factor<Factor>(ctx, o, blocks, A, made);
  auto refactor = refactor_by<Made, T, Offset>(
      o.type, [blocks](Context& on, const AnyMatrix<T>& a, const auto& use) { with_entries(on, blocks, a, use); },
      [o, blocks](Context& on, const Csr<T, Offset>& a, auto& again) { factor<Factor>(on, o, blocks, a, again); });
  const LevelSchedule* levels = nullptr;
  Made& first = made.value();  // NOLINT(bugprone-unchecked-optional-access): factor() has made it
  if constexpr (!by_sweeps<Factor>) levels = &first.factor.schedule();
  return std::make_unique<Factored<T, Offset>>(ctx, first.factor.matrix(), o.kind, o.solve, std::move(first.report),
                                               std::move(refactor), levels);
}

template <class T, class Offset>
HeldMemory memory_from(MemoryLedger& ledger, Context& host, const FactorRecipe& o, const Csr<T, Offset>& A) {
  using Made = Factored<T, Offset>;
  if (o.sweeps > 0) {
    const HeldMemory factor = FixedPointFactor<T, Offset>::memory(ledger, A, o.kind);
    return Made::memory(ledger, host, A, o.kind, o.solve);
  }
  const LevelSchedule schedule = IncompleteFactor<T, Offset>::find_schedule(host, A, ledger.on_cuda());
  const HeldMemory factor = IncompleteFactor<T, Offset>::memory(ledger, host, A, o.kind, schedule);
  return Made::memory(ledger, host, A, o.kind, o.solve, &schedule);
}

}  // namespace

namespace detail {

template <class T>
MadePreconditioner<T> make_factored(Context& ctx, const FactorRecipe& o, const PreconditionerInput<T>& input) {
  const Stopwatch watch;
  BlockDim blocks = blocks_of(ctx, o, input.A);
  return with_entries(ctx, blocks, input.A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    if (o.block_dim) ctx.synchronize(), blocks.ms = watch.milliseconds();
    return o.sweeps > 0 ? make_from<FixedPointFactor<T, Offset>>(ctx, o, blocks, csr)
                        : make_from<IncompleteFactor<T, Offset>>(ctx, o, blocks, csr);
  });
}

template <class T>
HeldMemory factored_memory(MemoryLedger& ledger, Context& host, const FactorRecipe& o,
                           const PreconditionerInput<T>& input) {
  const auto of_entries = [&](const AnyMatrix<T>& A) {
    return with_csr_memory(ledger, host, A, [&](const auto& csr) { return memory_from(ledger, host, o, csr); });
  };
  if (!o.block_dim) return of_entries(input.A);
  const std::int32_t dim = blocks_of(host, o, input.A).dim;
  std::optional<AnyMatrix<T>> filled;
  const HeldMemory blocks = with_csr_memory(ledger, host, input.A, [&](const auto& csr) {
    filled.emplace(to_bsr(host, csr, Blocking{dim, dim}));
    return ledger.hold(bytes(*filled));
  });
  return of_entries(filled.value());  // NOLINT(bugprone-unchecked-optional-access): filled above
}

template <class T>
struct FactoredInstances {
  static constexpr std::tuple list{instance<Maker<T, FactorRecipe>>(make_factored),
                                   instance<MemoryOf<T, FactorRecipe>>(factored_memory)};
};
KRILL_INSTANTIATE(FactoredInstances);

}  // namespace detail
}  // namespace krill
