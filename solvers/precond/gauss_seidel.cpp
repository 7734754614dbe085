#include <optional>

#include "solvers/precond/diagonal.hpp"
#include "solvers/precond/gauss_seidel_passes.hpp"
#include "solvers/precond/make.hpp"
#include "solvers/precond/triangular_facts.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/triangular/triangular.hpp"

namespace krill {

using namespace detail;
namespace {

/// One sweep from zero: a solve with a triangle of A, or one with each. With D + L + U = A and the relaxation w, the
/// symmetric sweep is
///   M = w / (2 - w) (D / w + L) D^-1 (D / w + U), and so M^-1 r = (2 - w) (I + w D^-1 U)^-1 (D / w + L)^-1 r.
struct SweepPlan {
  std::string_view type;
  SweepDirection direction;
  double omega;
  TriangularMethod method;
  bool both() const { return direction == SweepDirection::symmetric; }
};

/// use(A) for a sweep one way; with the symmetric one, use(A as SplitSsor leaves it).
template <class T, class Use>
decltype(auto) with_triangles(Context& ctx, const SweepPlan& plan, const AnyMatrix<T>& A, Use&& use) {
  const Array<T> inverse = inverse_diagonal(ctx, plan.type, A);
  return with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& a) {
    if (!plan.both()) return use(a);
    Csr<T, Offset> split(a.cols(), copy_of(ctx, a.row_offsets()), copy_of(ctx, a.col_indices()),
                         Array<T>(a.nnz(), "split matrix"));
    ctx.dispatch([&](const auto& where) {
      const auto from = a.view(where);
      run_pass(where, a.rows(),
               SplitSsor<kernel_t<T>, Offset>{static_cast<real_t<T>>(plan.omega), from, inverse.read(where),
                                              split.values().write(where)});
    });
    ctx.synchronize();
    return use(split);
  });
}

template <class T, class Offset>
class SweepPreconditioner final : public Preconditioner<T> {
 public:
  /// A: as with_triangles() has it.
  SweepPreconditioner(Context& ctx, const Csr<T, Offset>& A, const SweepPlan& plan, double numeric_ms)
      : plan_(plan), factor_(static_cast<real_t<T>>(2 - plan.omega)) {
    const TriangularOptions options{.method = plan.method};
    if (plan.direction != SweepDirection::backward) lower_.emplace(ctx, A, Triangle{Fill::lower}, options);
    if (plan.direction != SweepDirection::forward)
      upper_.emplace(ctx, A, Triangle{Fill::upper, plan.both() ? Diagonal::unit : Diagonal::stored}, options);
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
  ApplicationWork work() const override {
    ApplicationWork both;
    if (lower_) both.own += lower_->work();
    if (upper_) both.own += upper_->work();
    return both;
  }

  void update(Context& ctx, const AnyMatrix<T>& A) override {
    const Stopwatch watch;
    with_triangles(ctx, plan_, A, [&]<class Other>(const Csr<T, Other>& a) {
      if constexpr (std::is_same_v<Other, Offset>) {
        if (lower_) lower_->update(ctx, a);
        if (upper_) upper_->update(ctx, a);
        ctx.synchronize();
      } else {
        refuse_pattern(plan_.type);
      }
    });
    report_.numeric_ms = watch.milliseconds();
  }

 private:
  using Plan = TriangularPlan<T, Offset>;

  void tell(const std::string& triangle, const Plan& plan) {
    report_.bytes += plan.bytes();
    add_facts(report_, triangle, plan.report());
  }

  Stopwatch watch_;
  SweepPlan plan_;
  T factor_;
  std::optional<Plan> lower_, upper_;
  PreconditionerReport report_;
};

template <class T>
MadePreconditioner<T> make_sweep(Context& ctx, const SweepPlan& plan, const AnyMatrix<T>& A) {
  require_size("gauss_seidel, ssor: columns of the square matrix", krill::cols(A), krill::rows(A));
  Stopwatch watch;
  return with_triangles(ctx, plan, A, [&]<class Offset>(const Csr<T, Offset>& a) -> MadePreconditioner<T> {
    return std::make_unique<SweepPreconditioner<T, Offset>>(ctx, a, plan, watch.milliseconds());
  });
}

template <class T>
HeldMemory sweep_memory(MemoryLedger& ledger, Context& host, SweepDirection direction, TriangularMethod method,
                        const AnyMatrix<T>& A) {
  const bool both = direction == SweepDirection::symmetric;
  const HeldMemory inverse = diagonal_memory(ledger, host, A);
  ledger.scratch({1});  // of the first bad entry
  return with_csr_memory(ledger, host, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    using Plan = TriangularPlan<T, Offset>;
    const HeldMemory split = both ? csr_memory(ledger, csr) : HeldMemory();
    HeldMemory kept;
    if (direction != SweepDirection::backward)
      kept += Plan::memory(ledger, host, csr, {Fill::lower}, {.method = method});
    if (direction != SweepDirection::forward)
      kept +=
          Plan::memory(ledger, host, csr, {Fill::upper, both ? Diagonal::unit : Diagonal::stored}, {.method = method});
    return kept;
  });
}

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const GaussSeidelOptions& o, const PreconditionerInput<T>& input) {
  return make_sweep(ctx, {o.type, o.direction, 1, o.triangular_solve}, input.A);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const SsorOptions& o, const PreconditionerInput<T>& input) {
  return make_sweep(ctx, {o.type, SweepDirection::symmetric, o.omega, o.triangular_solve}, input.A);
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const GaussSeidelOptions& o,
                  const PreconditionerInput<T>& input) {
  return sweep_memory(ledger, host, o.direction, o.triangular_solve, input.A);
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const SsorOptions& o, const PreconditionerInput<T>& input) {
  return sweep_memory(ledger, host, SweepDirection::symmetric, o.triangular_solve, input.A);
}

template <class T>
struct GaussSeidelMakers {
  static constexpr std::tuple list{instance<Maker<T, GaussSeidelOptions>>(make),
                                   instance<MemoryOf<T, GaussSeidelOptions>>(memory),
                                   instance<Maker<T, SsorOptions>>(make), instance<MemoryOf<T, SsorOptions>>(memory)};
};
KRILL_INSTANTIATE(GaussSeidelMakers);

}  // namespace krill
