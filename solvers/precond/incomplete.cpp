#include "krill/sparse/factor/incomplete.hpp"

#include "krill/solvers/precond/block_dim.hpp"
#include "krill/solvers/precond/factored.hpp"
#include "krill/sparse/convert/convert.hpp"

namespace krill {
namespace {

void tell(const BlockDim& blocks, PreconditionerReport& report) {
  report.symbolic_ms += blocks.ms;
  if (blocks.from.empty()) return;
  report.facts.push_back({"block_dim", std::int64_t{blocks.dim}});
  report.facts.push_back({"block_dim_from", blocks.from});
}

/// blocks: those that A's entries fill.
template <class T, class Offset, class Options>
MadePreconditioner<T> make_lu(Context& ctx, const Options& o, const Csr<T, Offset>& A, const BlockDim& blocks = {}) {
  const std::optional<PivotBoost<T>> boost = pivot_boost(ctx, o, A);
  TimedFactor<IncompleteFactor<T, Offset>, Csr<T, Offset>> made(ctx, A, Factorization::ilu0, boost);
  tell(blocks, made.report);
  factor_lu(made, o.type, boost, blocks.dim);
  return std::make_unique<Factored<T, Offset>>(ctx, made.factor.matrix(), Factorization::ilu0, o.solve,
                                               std::move(made.report), &made.factor.schedule());
}

template <class T, class Offset, class Options>
MadePreconditioner<T> make_cholesky(Context& ctx, const Options& o, const Csr<T, Offset>& A,
                                    const BlockDim& blocks = {}) {
  TimedFactor<IncompleteFactor<T, Offset>, Csr<T, Offset>> made(ctx, A, Factorization::ic0);
  tell(blocks, made.report);
  factor_cholesky(made, o.type, o.shift, blocks.dim);
  return std::make_unique<Factored<T, Offset>>(ctx, made.factor.matrix(), Factorization::ic0, o.solve,
                                               std::move(made.report), &made.factor.schedule());
}

/// make(A in CSR with the zeros that fill up its blocks, the blocks).
template <class T, class F>
MadePreconditioner<T> with_blocks(Context& ctx, std::int32_t block_dim, const AnyMatrix<T>& A, F&& make) {
  const Stopwatch watch;
  BlockDim blocks = choose_block_dim(ctx, block_dim, largest_block_dim, A);
  const AnyMatrix<T> filled = with_csr(ctx, A, [&](const auto& csr) {
    return AnyMatrix<T>(to_bsr(ctx, csr, Blocking{blocks.dim, blocks.dim}));
  });
  return with_csr(ctx, filled, [&](const auto& csr) {
    ctx.synchronize();
    blocks.ms = watch.milliseconds();
    return make(csr, blocks);
  });
}

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const Ilu0Options& o, const AnyMatrix<T>& A) {
  return with_csr(ctx, A, [&](const auto& csr) { return make_lu(ctx, o, csr); });
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Ic0Options& o, const AnyMatrix<T>& A) {
  return with_csr(ctx, A, [&](const auto& csr) { return make_cholesky(ctx, o, csr); });
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Bilu0Options& o, const AnyMatrix<T>& A) {
  return with_blocks(ctx, o.block_dim, A,
                     [&](const auto& csr, const BlockDim& blocks) { return make_lu(ctx, o, csr, blocks); });
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const Bic0Options& o, const AnyMatrix<T>& A) {
  return with_blocks(ctx, o.block_dim, A,
                     [&](const auto& csr, const BlockDim& blocks) { return make_cholesky(ctx, o, csr, blocks); });
}

#define INSTANTIATE(T)                     \
  KRILL_INSTANTIATE_MAKER(T, Ilu0Options)  \
  KRILL_INSTANTIATE_MAKER(T, Ic0Options)   \
  KRILL_INSTANTIATE_MAKER(T, Bilu0Options) \
  KRILL_INSTANTIATE_MAKER(T, Bic0Options)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
