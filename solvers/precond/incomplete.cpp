#include "krill/sparse/factor/incomplete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "krill/solvers/precond/block_dim.hpp"
#include "krill/solvers/precond/make.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/stopwatch.hpp"
#include "krill/sparse/triangular/triangular.hpp"

namespace krill {
namespace {

/// Two solves with the triangles of an incomplete factor.
template <class T, class Offset>
class Factored final : public Preconditioner<T> {
 public:
  /// report: of the factorisation.
  Factored(Context& ctx, const IncompleteFactor<T, Offset>& factor, PreconditionerReport report)
      : lower_(ctx, factor.matrix(), {Fill::lower, is_lu(factor) ? Diagonal::unit : Diagonal::stored},
               {.levels = &factor.schedule()}),
        upper_(ctx, factor.matrix(),
               is_lu(factor) ? Triangle{Fill::upper} : Triangle{Fill::lower, Diagonal::stored, Op::adjoint}),
        report_(std::move(report)) {
    ctx.synchronize();
    report_.symbolic_ms += watch_.milliseconds();
    report_.bytes = lower_.bytes() + upper_.bytes();
    report_.facts.push_back({"factor_nonzeros", stored_entries(factor)});
    tell("lower", lower_.report());
    tell("upper", upper_.report());
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    lower_.solve(ctx, T(1), r, z);
    upper_.solve(ctx, T(1), z, z);
    return z;
  }
  PreconditionerReport report() const override { return report_; }

 private:
  static bool is_lu(const IncompleteFactor<T, Offset>& factor) { return factor.kind() == Factorization::ilu0; }
  std::int64_t stored_entries(const IncompleteFactor<T, Offset>& factor) const {
    const std::int64_t beside = lower_.report().entries + (is_lu(factor) ? upper_.report().entries : 0);
    return beside + factor.matrix().rows();
  }
  void tell(const std::string& triangle, const TriangularReport& r) {
    if (r.levels > 0) {
      report_.facts.push_back({triangle + "_levels", std::int64_t{r.levels}});
      report_.facts.push_back({triangle + "_widest_level", std::int64_t{r.widest}});
    }
    report_.facts.push_back({triangle + "_method", std::string(name(r.method))});
  }

  Stopwatch watch_;
  TriangularPlan<T, Offset> lower_, upper_;
  PreconditionerReport report_;
};

/// A factorisation that keeps the time.
template <class T, class Offset>
struct TimedFactor {
  Context& ctx;
  const Csr<T, Offset>& A;
  PreconditionerReport report;
  Stopwatch watch;
  IncompleteFactor<T, Offset> factor;

  TimedFactor(Context& on, const Csr<T, Offset>& a, Factorization kind, std::optional<PivotBoost<T>> boost = {})
      : ctx(on), A(a), factor(IncompleteFactor<T, Offset>::analyze(on, a, kind, boost)) {
    ctx.synchronize();
    report.symbolic_ms = watch.lap();
  }
  void update(double shift = 0) {
    watch.lap();
    factor.update(ctx, A, shift);
    ctx.synchronize();
    report.numeric_ms += watch.lap();
  }
};

void tell(const BlockDim& blocks, PreconditionerReport& report) {
  report.symbolic_ms += blocks.ms;
  if (blocks.from.empty()) return;
  report.facts.push_back({"block_dim", std::int64_t{blocks.dim}});
  report.facts.push_back({"block_dim_from", blocks.from});
}

/// blocks: those that A's entries fill.
template <class T, class Offset, class Options>
MadePreconditioner<T> make_lu(Context& ctx, const Options& o, const Csr<T, Offset>& A, const BlockDim& blocks = {}) {
  std::optional<PivotBoost<T>> boost;
  if (o.boost != 0) boost = {o.boost_tolerance, T(static_cast<real_t<T>>(o.boost))};
  TimedFactor<T, Offset> made(ctx, A, Factorization::ilu0, boost);
  tell(blocks, made.report);
  const auto& factor = made.factor;
  if (const auto row = factor.structural_zero())
    refuse_row(o.type, *row, "there is no entry on the diagonal", "reorder the rows, or use preconditioner none",
               blocks.dim);
  made.update();
  const auto zero = factor.numerical_zero(), bad = factor.not_finite();
  if (zero && (!bad || *zero < *bad))  // what comes after a zero is bad, too
    refuse_row(o.type, *zero, "the pivot is 0", "set its boost, reorder the rows, or use preconditioner jacobi",
               blocks.dim);
  if (bad)
    refuse_row(o.type, *bad, "the pivot is NaN or infinite", "scale the matrix, or use preconditioner jacobi",
               blocks.dim);
  if (boost) {
    const std::int32_t boosts = factor.boosts();
    made.report.facts.push_back({"boosted_pivots", std::int64_t{boosts}});
    if (boosts > 0)
      made.report.notes.push_back(
          fmt::format("preconditioner {}: {} pivot{} became {}", o.type, boosts, boosts == 1 ? "" : "s", o.boost));
  }
  return std::make_unique<Factored<T, Offset>>(ctx, factor, std::move(made.report));
}

template <class T, class Offset, class Options>
MadePreconditioner<T> make_cholesky(Context& ctx, const Options& o, const Csr<T, Offset>& A,
                                    const BlockDim& blocks = {}) {
  constexpr double first_shift = 1e-3, most_shift = 1;
  TimedFactor<T, Offset> made(ctx, A, Factorization::ic0);
  tell(blocks, made.report);
  const auto& factor = made.factor;
  if (const auto row = factor.structural_zero())
    refuse_row(o.type, *row, "there is no entry on the diagonal",
               "the matrix is not positive definite: use ilu0 or none", blocks.dim);
  double shift = o.shift;
  made.update(shift);
  std::optional<std::int32_t> broken = factor.numerical_zero();
  // A root of what is negative makes NaN of later rows; NaN that was there before comes first.
  if (const auto row = factor.not_finite(); row && broken && *row <= *broken)
    refuse_row(o.type, *row, "the pivot is NaN or infinite", "look at the entries of the matrix (krill inspect)",
               blocks.dim);
  const std::int32_t first = broken.value_or(-1);
  while (broken && shift < most_shift) {
    shift = std::max(2 * shift, first_shift);
    made.update(shift);
    broken = factor.numerical_zero();
  }
  if (broken)
    refuse_row(o.type, *broken, "the pivot is not positive, even with the diagonal doubled",
               "the matrix is hardly positive definite: use ilu0, jacobi or none", blocks.dim);
  if (const auto row = factor.not_finite())
    refuse_row(o.type, *row, "the pivot is infinite", "scale the matrix, or use preconditioner jacobi", blocks.dim);
  made.report.facts.push_back({"shift", shift});
  if (first >= 0)
    made.report.notes.push_back(
        fmt::format("preconditioner {}: the diagonal was multiplied by {:.4g}, as row {} had no positive pivot (rows "
                    "count from 0)",
                    o.type, 1 + shift, first));
  return std::make_unique<Factored<T, Offset>>(ctx, factor, std::move(made.report));
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
  KRILL_INSTANTIATE_MAKER(T, Bilu0Options) \
  KRILL_INSTANTIATE_MAKER(T, Bic0Options)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T) KRILL_INSTANTIATE_MAKER(T, Ilu0Options)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T) KRILL_INSTANTIATE_MAKER(T, Ic0Options)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
