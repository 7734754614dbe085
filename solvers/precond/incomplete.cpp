#include "krill/sparse/factor/incomplete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

template <class T, class Offset>
MadePreconditioner<T> make_lu(Context& ctx, const Ilu0Options& o, const Csr<T, Offset>& A) {
  std::optional<PivotBoost<T>> boost;
  if (o.boost != 0) boost = {o.boost_tolerance, T(static_cast<real_t<T>>(o.boost))};
  TimedFactor<T, Offset> made(ctx, A, Factorization::ilu0, boost);
  const auto& factor = made.factor;
  if (const auto row = factor.structural_zero())
    refuse_row(o.type, *row, "there is no entry on the diagonal", "reorder the rows, or use preconditioner none");
  made.update();
  const auto zero = factor.numerical_zero(), bad = factor.not_finite();
  if (zero && (!bad || *zero < *bad))  // what comes after a zero is bad, too
    refuse_row(o.type, *zero, "the pivot is 0", "set its boost, reorder the rows, or use preconditioner jacobi");
  if (bad) refuse_row(o.type, *bad, "the pivot is NaN or infinite", "scale the matrix, or use preconditioner jacobi");
  if (boost) {
    const std::int32_t boosts = factor.boosts();
    made.report.facts.push_back({"boosted_pivots", std::int64_t{boosts}});
    if (boosts > 0)
      made.report.notes.push_back(
          fmt::format("preconditioner {}: {} pivot{} became {}", o.type, boosts, boosts == 1 ? "" : "s", o.boost));
  }
  return std::make_unique<Factored<T, Offset>>(ctx, factor, std::move(made.report));
}

template <class T, class Offset>
MadePreconditioner<T> make_cholesky(Context& ctx, const Ic0Options& o, const Csr<T, Offset>& A) {
  constexpr double first_shift = 1e-3, most_shift = 1;
  TimedFactor<T, Offset> made(ctx, A, Factorization::ic0);
  const auto& factor = made.factor;
  if (const auto row = factor.structural_zero())
    refuse_row(o.type, *row, "there is no entry on the diagonal",
               "the matrix is not positive definite: use ilu0 or none");
  double shift = o.shift;
  made.update(shift);
  std::optional<std::int32_t> broken = factor.numerical_zero();
  // A root of what is negative makes NaN of later rows; NaN that was there before comes first.
  if (const auto row = factor.not_finite(); row && broken && *row <= *broken)
    refuse_row(o.type, *row, "the pivot is NaN or infinite", "look at the entries of the matrix (krill inspect)");
  const std::int32_t first = broken.value_or(-1);
  while (broken && shift < most_shift) {
    shift = std::max(2 * shift, first_shift);
    made.update(shift);
    broken = factor.numerical_zero();
  }
  if (broken)
    refuse_row(o.type, *broken, "the pivot is not positive, even with the diagonal doubled",
               "the matrix is hardly positive definite: use ilu0, jacobi or none");
  if (const auto row = factor.not_finite())
    refuse_row(o.type, *row, "the pivot is infinite", "scale the matrix, or use preconditioner jacobi");
  made.report.facts.push_back({"shift", shift});
  if (first >= 0)
    made.report.notes.push_back(
        fmt::format("preconditioner {}: the diagonal was multiplied by {:.4g}, as row {} had no positive pivot (rows "
                    "count from 0)",
                    o.type, 1 + shift, first));
  return std::make_unique<Factored<T, Offset>>(ctx, factor, std::move(made.report));
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

#define INSTANTIATE(T) KRILL_INSTANTIATE_MAKER(T, Ilu0Options)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T) KRILL_INSTANTIATE_MAKER(T, Ic0Options)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
