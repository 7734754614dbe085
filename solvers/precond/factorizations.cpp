#include "solvers/precond/block_dim.hpp"
#include "solvers/precond/factored.hpp"
#include "solvers/precond/options.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/factor/fixed_point.hpp"
#include "sparse/factor/incomplete.hpp"

namespace krill {

using namespace detail;
namespace {

// What the options of a factorization say of it by the members that they have.
template <class Options>
inline constexpr bool by_sweeps = requires(Options o) {
  o.sweeps;
};
template <class Options>
inline constexpr bool in_blocks = requires(Options o) {
  o.block_dim;
};
template <class Options>
inline constexpr Factorization kind_of =
    std::is_same_v<decltype(Options::shift), ShiftOptions<LuShift>> ? Factorization::ilu0 : Factorization::ic0;

template <class T, class Offset, class Options>
using FactorOf = std::conditional_t<by_sweeps<Options>, FixedPointFactor<T, Offset>, IncompleteFactor<T, Offset>>;
template <class T, class Offset, class Options>
using Made = TimedFactor<FactorOf<T, Offset, Options>, Csr<T, Offset>>;

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
template <class T, class Offset, class Options>
void factor(Context& ctx, const Options& o, const BlockDim& blocks, const Csr<T, Offset>& A,
            std::optional<Made<T, Offset, Options>>& made) {
  constexpr Factorization kind = kind_of<Options>;
  std::optional<PivotBoost<T>> boost;
  if constexpr (kind == Factorization::ilu0) boost = pivot_boost(ctx, o, A);
  if (!made || made->boost != boost) {
    if constexpr (by_sweeps<Options>)
      made.emplace(ctx, A, kind, boost, o.sweeps);
    else
      made.emplace(ctx, A, kind, boost);
  }
  tell(blocks, made->report);
  double shift = 0;
  if constexpr (kind == Factorization::ilu0)
    factor_lu(*made, o.type, boost, blocks.dim);
  else
    shift = factor_cholesky(*made, o.type, o.shift, blocks.dim);
  if constexpr (by_sweeps<Options>) tell_residual(ctx, A, shift, *made);
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
BlockDim blocks_of(Context& ctx, const Options& o, const AnyMatrix<T>& A) {
  if constexpr (in_blocks<Options>)
    return choose_block_dim(ctx, o.block_dim, largest_block_dim, A);
  else
    return {};
}

template <class T, class Options>
MadePreconditioner<T> make_factored(Context& ctx, const Options& o, const PreconditionerInput<T>& input) {
  const Stopwatch watch;
  BlockDim blocks = blocks_of(ctx, o, input.A);
  return with_entries(ctx, blocks, input.A, [&]<class Offset>(const Csr<T, Offset>& csr) -> MadePreconditioner<T> {
    if (in_blocks<Options>) ctx.synchronize(), blocks.ms = watch.milliseconds();
    std::optional<Made<T, Offset, Options>> made;
    factor(ctx, o, blocks, csr, made);
    auto refactor = refactor_by<Made<T, Offset, Options>, T, Offset>(
        o.type, [blocks](Context& on, const AnyMatrix<T>& a, const auto& use) { with_entries(on, blocks, a, use); },
        [o, blocks](Context& on, const Csr<T, Offset>& a, auto& again) { factor(on, o, blocks, a, again); });
    const LevelSchedule* levels = nullptr;
    if constexpr (!by_sweeps<Options>) levels = &made->factor.schedule();
    return std::make_unique<Factored<T, Offset>>(ctx, made->factor.matrix(), made->factor.kind(), o.solve,
                                                 std::move(made->report), std::move(refactor), levels);
  });
}

template <class T, class Options>
HeldMemory memory_of(MemoryLedger& ledger, Context& host, const Options& o, const PreconditionerInput<T>& input) {
  const auto of_entries = [&](const AnyMatrix<T>& A) {
    return with_csr_memory(ledger, host, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
      using Factor = FactorOf<T, Offset, Options>;
      if constexpr (by_sweeps<Options>) {
        const HeldMemory factor = Factor::memory(ledger, csr, kind_of<Options>);
        return Factored<T, Offset>::memory(ledger, host, csr, kind_of<Options>, o.solve);
      } else {
        const LevelSchedule schedule = Factor::find_schedule(host, csr, ledger.on_cuda());
        const HeldMemory factor = Factor::memory(ledger, host, csr, kind_of<Options>, schedule);
        return Factored<T, Offset>::memory(ledger, host, csr, kind_of<Options>, o.solve, &schedule);
      }
    });
  };
  if constexpr (!in_blocks<Options>) {
    return of_entries(input.A);
  } else {
    const std::int32_t dim = blocks_of(host, o, input.A).dim;
    std::optional<AnyMatrix<T>> filled;
    const HeldMemory blocks = with_csr_memory(ledger, host, input.A, [&](const auto& csr) {
      filled.emplace(to_bsr(host, csr, Blocking{dim, dim}));
      return ledger.hold(bytes(*filled));
    });
    return of_entries(*filled);
  }
}

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const Ilu0Options& o, const PreconditionerInput<T>& input) {
  return make_factored(ctx, o, input);
}
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Ilu0Options& o, const PreconditionerInput<T>& input) {
  return memory_of(ledger, host, o, input);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Ic0Options& o, const PreconditionerInput<T>& input) {
  return make_factored(ctx, o, input);
}
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Ic0Options& o, const PreconditionerInput<T>& input) {
  return memory_of(ledger, host, o, input);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Bilu0Options& o, const PreconditionerInput<T>& input) {
  return make_factored(ctx, o, input);
}
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Bilu0Options& o, const PreconditionerInput<T>& input) {
  return memory_of(ledger, host, o, input);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Bic0Options& o, const PreconditionerInput<T>& input) {
  return make_factored(ctx, o, input);
}
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Bic0Options& o, const PreconditionerInput<T>& input) {
  return memory_of(ledger, host, o, input);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Parilu0Options& o, const PreconditionerInput<T>& input) {
  return make_factored(ctx, o, input);
}
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Parilu0Options& o, const PreconditionerInput<T>& input) {
  return memory_of(ledger, host, o, input);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Paric0Options& o, const PreconditionerInput<T>& input) {
  return make_factored(ctx, o, input);
}
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Paric0Options& o, const PreconditionerInput<T>& input) {
  return memory_of(ledger, host, o, input);
}

template <class T, class... Options>
constexpr std::tuple factorization_makers{instance<Maker<T, Options>>(make)...,
                                          instance<MemoryOf<T, Options>>(memory)...};

template <class T>
struct FactorizationMakers {
  static constexpr auto list =
      factorization_makers<T, Ilu0Options, Ic0Options, Bilu0Options, Bic0Options, Parilu0Options, Paric0Options>;
};
KRILL_INSTANTIATE(FactorizationMakers);

}  // namespace krill
