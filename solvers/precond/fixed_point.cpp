#include "krill/sparse/factor/fixed_point.hpp"

#include "krill/solvers/precond/factored.hpp"
#include "krill/sparse/convert/convert.hpp"

namespace krill {
namespace {

template <class T, class Offset>
using Made = TimedFactor<FixedPointFactor<T, Offset>, Csr<T, Offset>>;

/// The factor as a preconditioner, with the nonlinear residual over the norm of A in its report.
template <class T, class Offset>
MadePreconditioner<T> finished(Made<T, Offset>& made, const FactorSolveOptions& o, double shift) {
  Array<double> norm(1, "norm of the matrix");
  norm2(made.ctx, made.A.values(), norm);
  const double size = norm.host()[0];
  made.report.facts.push_back({"sweeps", std::int64_t{made.factor.sweeps()}});
  if (size > 0)
    made.report.facts.push_back({"nonlinear_residual", made.factor.residual_norm(made.ctx, made.A, shift) / size});
  return std::make_unique<Factored<T, Offset>>(made.ctx, made.factor.matrix(), made.factor.kind(), o,
                                               std::move(made.report));
}

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const Parilu0Options& o, const AnyMatrix<T>& A) {
  return with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    const auto boost = shift_boost(ctx, o.shift, csr);
    Made<T, Offset> made(ctx, csr, Factorization::ilu0, o.sweeps, boost);
    factor_lu(made, o.type, boost);
    return finished<T, Offset>(made, o.solve, 0);
  });
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Paric0Options& o, const AnyMatrix<T>& A) {
  return with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    Made<T, Offset> made(ctx, csr, Factorization::ic0, o.sweeps);
    const double shift = factor_cholesky(made, o.type, o.shift);
    return finished<T, Offset>(made, o.solve, shift);
  });
}

#define INSTANTIATE(T)                       \
  KRILL_INSTANTIATE_MAKER(T, Parilu0Options) \
  KRILL_INSTANTIATE_MAKER(T, Paric0Options)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
