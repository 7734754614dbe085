#include "sparse/factor/incomplete.hpp"

#include "solvers/precond/block_dim.hpp"
#include "solvers/precond/factored.hpp"
#include "sparse/convert/convert.hpp"

namespace krill {

using namespace detail;
namespace {

void tell(const BlockDim& blocks, PreconditionerReport& report) {
  report.symbolic_ms += blocks.ms;
  if (blocks.from.empty()) return;
  report.facts.push_back({"block_dim", std::int64_t{blocks.dim}});
  report.facts.push_back({"block_dim_from", blocks.from});
}

template <class T, class Offset>
using Made = TimedFactor<IncompleteFactor<T, Offset>, Csr<T, Offset>>;

/// Factors A, with the analysis of an earlier one where there is one. blocks: those that A's entries fill.
template <class T, class Offset, class Options>
void factor(Context& ctx, const Options& o, const BlockDim& blocks, const Csr<T, Offset>& A,
            std::optional<Made<T, Offset>>& made) {
  if constexpr (requires { o.boost; }) {
    const std::optional<PivotBoost<T>> boost = pivot_boost(ctx, o, A);
    if (!made || made->boost != boost) made.emplace(ctx, A, Factorization::ilu0, boost);
    tell(blocks, made->report);
    factor_lu(*made, o.type, boost, blocks.dim);
  } else {
    if (!made) made.emplace(ctx, A, Factorization::ic0);
    tell(blocks, made->report);
    factor_cholesky(*made, o.type, o.shift, blocks.dim);
  }
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

template <class T, class Options>
MadePreconditioner<T> make_factored(Context& ctx, const Options& o, const AnyMatrix<T>& A, BlockDim blocks = {},
                                    const Stopwatch& watch = {}) {
  return with_entries(ctx, blocks, A, [&]<class Offset>(const Csr<T, Offset>& csr) -> MadePreconditioner<T> {
    if (!blocks.from.empty()) ctx.synchronize(), blocks.ms = watch.milliseconds();
    std::optional<Made<T, Offset>> made;
    factor(ctx, o, blocks, csr, made);
    auto refactor = refactor_by<Made<T, Offset>, T, Offset>(
        o.type, [blocks](Context& on, const AnyMatrix<T>& a, const auto& use) { with_entries(on, blocks, a, use); },
        [o, blocks](Context& on, const Csr<T, Offset>& a, auto& again) { factor(on, o, blocks, a, again); });
    return std::make_unique<Factored<T, Offset>>(ctx, made->factor.matrix(), made->factor.kind(), o.solve,
                                                 std::move(made->report), std::move(refactor),
                                                 &made->factor.schedule());
  });
}

template <class T, class Options>
MadePreconditioner<T> make_in_blocks(Context& ctx, const Options& o, const AnyMatrix<T>& A) {
  const Stopwatch watch;
  return make_factored(ctx, o, A, choose_block_dim(ctx, o.block_dim, largest_block_dim, A), watch);
}

template <class T, class Offset>
HeldMemory factored_memory(MemoryLedger& ledger, Context& host, Factorization kind, const FactorSolveOptions& o,
                           const Csr<T, Offset>& A) {
  using Factor = IncompleteFactor<T, Offset>;
  const LevelSchedule schedule = Factor::find_schedule(host, A, ledger.on_cuda());
  const HeldMemory factor = Factor::memory(ledger, host, A, kind, schedule);
  return Factored<T, Offset>::memory(ledger, host, A, kind, o, &schedule);
}

template <class T>
HeldMemory memory_of(MemoryLedger& ledger, Context& host, Factorization kind, const FactorSolveOptions& o,
                     const AnyMatrix<T>& A) {
  return with_csr_memory(ledger, host, A, [&](const auto& csr) { return factored_memory(ledger, host, kind, o, csr); });
}

template <class T>
HeldMemory memory_in_blocks(MemoryLedger& ledger, Context& host, Factorization kind, const FactorSolveOptions& o,
                            std::int32_t block_dim, const AnyMatrix<T>& A) {
  const std::int32_t dim = choose_block_dim(host, block_dim, largest_block_dim, A).dim;
  std::optional<AnyMatrix<T>> filled;
  const HeldMemory blocks = with_csr_memory(ledger, host, A, [&](const auto& csr) {
    filled.emplace(to_bsr(host, csr, Blocking{dim, dim}));
    return ledger.hold(bytes(*filled));
  });
  return memory_of(ledger, host, kind, o, *filled);
}

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const Ilu0Options& o, const PreconditionerInput<T>& input) {
  return make_factored(ctx, o, input.A);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Ic0Options& o, const PreconditionerInput<T>& input) {
  return make_factored(ctx, o, input.A);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Bilu0Options& o, const PreconditionerInput<T>& input) {
  return make_in_blocks(ctx, o, input.A);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Bic0Options& o, const PreconditionerInput<T>& input) {
  return make_in_blocks(ctx, o, input.A);
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Ilu0Options& o, const PreconditionerInput<T>& input) {
  return memory_of(ledger, host, Factorization::ilu0, o.solve, input.A);
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Ic0Options& o, const PreconditionerInput<T>& input) {
  return memory_of(ledger, host, Factorization::ic0, o.solve, input.A);
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Bilu0Options& o, const PreconditionerInput<T>& input) {
  return memory_in_blocks(ledger, host, Factorization::ilu0, o.solve, o.block_dim, input.A);
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Bic0Options& o, const PreconditionerInput<T>& input) {
  return memory_in_blocks(ledger, host, Factorization::ic0, o.solve, o.block_dim, input.A);
}

template <class T>
struct IncompleteMakers {
  static constexpr std::tuple list{instance<Maker<T, Ilu0Options>>(make),  instance<MemoryOf<T, Ilu0Options>>(memory),
                                   instance<Maker<T, Ic0Options>>(make),   instance<MemoryOf<T, Ic0Options>>(memory),
                                   instance<Maker<T, Bilu0Options>>(make), instance<MemoryOf<T, Bilu0Options>>(memory),
                                   instance<Maker<T, Bic0Options>>(make),  instance<MemoryOf<T, Bic0Options>>(memory)};
};
KRILL_INSTANTIATE(IncompleteMakers);

}  // namespace krill
