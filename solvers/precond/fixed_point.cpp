#include "sparse/factor/fixed_point.hpp"

#include "solvers/precond/factored.hpp"
#include "sparse/convert/convert.hpp"

namespace krill {

using namespace detail;
namespace {

template <class T, class Offset>
using Made = TimedFactor<FixedPointFactor<T, Offset>, Csr<T, Offset>>;

/// Factors A, with the analysis of an earlier one where there is one. The report has the nonlinear residual over the
/// norm of A.
template <class T, class Offset, class Options>
void factor(Context& ctx, const Options& o, const Csr<T, Offset>& A, std::optional<Made<T, Offset>>& made) {
  double shift = 0;
  if constexpr (std::is_same_v<Options, Parilu0Options>) {
    const auto boost = shift_boost(ctx, o.shift, A);
    if (!made || made->boost != boost) made.emplace(ctx, A, Factorization::ilu0, boost, o.sweeps);
    factor_lu(*made, o.type, boost);
  } else {
    if (!made) made.emplace(ctx, A, Factorization::ic0, std::nullopt, o.sweeps);
    shift = factor_cholesky(*made, o.type, o.shift);
  }
  Array<double> norm(1, "norm of the matrix");
  norm2(ctx, A.values(), norm);
  const double size = norm.host()[0];
  made->report.facts.push_back({"sweeps", std::int64_t{made->factor.sweeps()}});
  if (size > 0) made->report.facts.push_back({"nonlinear_residual", made->factor.residual_norm(ctx, A, shift) / size});
}

template <class T, class Options>
MadePreconditioner<T> make_factored(Context& ctx, const Options& o, const AnyMatrix<T>& A) {
  return with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) -> MadePreconditioner<T> {
    std::optional<Made<T, Offset>> made;
    factor(ctx, o, csr, made);
    auto refactor = refactor_by<Made<T, Offset>, T, Offset>(
        o.type, [](Context& on, const AnyMatrix<T>& a, const auto& use) { with_csr(on, a, use); },
        [o](Context& on, const Csr<T, Offset>& a, auto& again) { factor(on, o, a, again); });
    return std::make_unique<Factored<T, Offset>>(ctx, made->factor.matrix(), made->factor.kind(), o.solve,
                                                 std::move(made->report), std::move(refactor));
  });
}

template <class T>
HeldMemory memory_of(MemoryLedger& ledger, Context& host, Factorization kind, const FactorSolveOptions& o,
                     const AnyMatrix<T>& A) {
  return with_csr_memory(ledger, host, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    const HeldMemory factor = FixedPointFactor<T, Offset>::memory(ledger, csr, kind);
    return Factored<T, Offset>::memory(ledger, host, csr, kind, o);
  });
}

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const Parilu0Options& o, const PreconditionerInput<T>& input) {
  return make_factored(ctx, o, input.A);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Paric0Options& o, const PreconditionerInput<T>& input) {
  return make_factored(ctx, o, input.A);
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Parilu0Options& o, const PreconditionerInput<T>& input) {
  return memory_of(ledger, host, Factorization::ilu0, o.solve, input.A);
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const Paric0Options& o, const PreconditionerInput<T>& input) {
  return memory_of(ledger, host, Factorization::ic0, o.solve, input.A);
}

template <class T>
struct SweepMakers {
  static constexpr std::tuple list{
      instance<Maker<T, Parilu0Options>>(make), instance<MemoryOf<T, Parilu0Options>>(memory),
      instance<Maker<T, Paric0Options>>(make), instance<MemoryOf<T, Paric0Options>>(memory)};
};
KRILL_INSTANTIATE(SweepMakers);

}  // namespace krill
