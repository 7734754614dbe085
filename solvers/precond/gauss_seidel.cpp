#include <optional>

#include "krill/solvers/precond/diagonal.hpp"
#include "krill/solvers/precond/gauss_seidel_passes.hpp"
#include "krill/solvers/precond/make.hpp"
#include "krill/solvers/precond/triangular_facts.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/stopwatch.hpp"
#include "krill/sparse/triangular/triangular.hpp"

namespace krill {
namespace {

/// One sweep from zero: a solve with a triangle of A, or one with each. With D + L + U = A and the relaxation w, the
/// symmetric sweep is
///   M = w / (2 - w) (D / w + L) D^-1 (D / w + U), and so M^-1 r = (2 - w) (I + w D^-1 U)^-1 (D / w + L)^-1 r.
template <class T, class Offset>
class Sweep final : public Preconditioner<T> {
 public:
  /// A itself for a sweep one way; with the symmetric one, A as SplitSsor leaves it.
  Sweep(Context& ctx, const Csr<T, Offset>& A, SweepDirection direction, double omega, TriangularMethod method,
        double numeric_ms)
      : factor_(static_cast<real_t<T>>(2 - omega)) {
    const TriangularOptions options{.method = method};
    const bool both = direction == SweepDirection::symmetric;
    if (direction != SweepDirection::backward) lower_.emplace(ctx, A, Triangle{Fill::lower}, options);
    if (direction != SweepDirection::forward)
      upper_.emplace(ctx, A, Triangle{Fill::upper, both ? Diagonal::unit : Diagonal::stored}, options);
    ctx.synchronize();
    report_.symbolic_ms = watch_.milliseconds();
    report_.numeric_ms = numeric_ms;
    if (lower_) tell("lower", *lower_);
    if (upper_) tell("upper", *upper_);
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    if (lower_) lower_->solve(ctx, T(1), r, z);
    if (upper_) upper_->solve(ctx, lower_ ? factor_ : T(1), lower_ ? z : r, z);
    return z;
  }
  PreconditionerReport report() const override { return report_; }

 private:
  using Plan = TriangularPlan<T, Offset>;

  void tell(const std::string& triangle, const Plan& plan) {
    report_.bytes += plan.bytes();
    add_facts(report_, triangle, plan.report());
  }

  Stopwatch watch_;
  T factor_;
  std::optional<Plan> lower_, upper_;
  PreconditionerReport report_;
};

template <class T>
MadePreconditioner<T> make_sweep(Context& ctx, std::string_view type, SweepDirection direction, double omega,
                                 TriangularMethod method, const AnyMatrix<T>& A) {
  require_size("gauss_seidel, ssor: columns of the square matrix", krill::cols(A), krill::rows(A));
  Stopwatch watch;
  const Array<T> inverse = inverse_diagonal(ctx, type, A);
  const auto make = [&]<class Offset>(const Csr<T, Offset>& a) -> MadePreconditioner<T> {
    return std::make_unique<Sweep<T, Offset>>(ctx, a, direction, omega, method, watch.milliseconds());
  };
  return with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& a) -> MadePreconditioner<T> {
    if (direction != SweepDirection::symmetric) return make(a);
    Csr<T, Offset> split(a.cols(), copy_of(ctx, a.row_offsets()), copy_of(ctx, a.col_indices()),
                         Array<T>(a.nnz(), "split matrix"));
    ctx.dispatch([&](const auto& where) {
      const auto from = a.view(where);
      run_pass(where, a.rows(),
               SplitSsor<kernel_t<T>, Offset>{static_cast<real_t<T>>(omega), from, inverse.read(where),
                                              split.values().write(where)});
    });
    ctx.synchronize();
    return make(split);
  });
}

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const GaussSeidelOptions& o, const AnyMatrix<T>& A) {
  return make_sweep(ctx, o.type, o.direction, 1, o.triangular_solve, A);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const SsorOptions& o, const AnyMatrix<T>& A) {
  return make_sweep(ctx, o.type, SweepDirection::symmetric, o.omega, o.triangular_solve, A);
}

#define INSTANTIATE(T)                           \
  KRILL_INSTANTIATE_MAKER(T, GaussSeidelOptions) \
  KRILL_INSTANTIATE_MAKER(T, SsorOptions)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
