#include <fmt/format.h>

#include "solvers/chebyshev_passes.hpp"
#include "solvers/operator.hpp"
#include "solvers/precond/application_work.hpp"
#include "solvers/precond/make.hpp"
#include "solvers/spectrum.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill {

using namespace detail;
namespace {

/// z = p(D^-1 A) D^-1 r, where 1 - x p(x) is the Chebyshev polynomial of degree + 1 that is 1 at 0 and least on an
/// interval of eigenvalues.
template <class T>
class Chebyshev final : public Preconditioner<T> {
 public:
  Chebyshev(Context& ctx, const ChebyshevOptions& o, const AnyMatrix<T>& A, const Operator<T>* products)
      : options_(o),
        own_(products ? nullptr : std::make_unique<MatrixOperator<T>>(A)),
        A_(products ? *products : *own_),
        matrix_(&A),
        inverse_(A_.rows(), "inverse diagonal"),
        coefficients_(2 * o.degree + std::int64_t{1}, "chebyshev coefficients"),
        d_(A_.rows(), "chebyshev d"),
        w_(A_.rows(), "chebyshev w") {
    require_size("chebyshev: columns of the square matrix", krill::cols(A), A_.rows());
    if (own_) own_product_bytes_ = static_cast<double>(own_->prepare(ctx).report().bytes);
    ctx.synchronize();
    report_.symbolic_ms = watch_.lap();
    find_interval(ctx);
    report_.bytes = detail::bytes_of(inverse_, d_, w_) + (own_ ? own_->prepare(ctx).bytes() : 0);
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    run(ctx, Op::none, r, z, nullptr);
    return z;
  }
  Preconditioned<T> apply_dot(Context& ctx, const Array<T>& r, const Array<double>&, Array<T>& z,
                              Array<double>& rz) const override {
    run(ctx, Op::none, r, z, &rz);
    return {z, rz};
  }
  PreconditionerReport report() const override { return report_; }
  /// The first term reads r and writes d and z; a step multiplies z, reads r and w, and goes over d and z.
  ApplicationWork work() const override {
    ApplicationWork all = chebyshev_work<T>(static_cast<double>(A_.rows()), options_.degree);
    if (!own_) return all;
    all.own +=
        {all.products * own_product_bytes_, all.products * multiply_add<T> * static_cast<double>(krill::nnz(*matrix_))};
    all.products = 0;
    return all;
  }
  PreconditionerParts<T> parts() const override {
    return ChebyshevParts<T>{options_.degree, matrix_, &coefficients_, &inverse_, &d_, &w_};
  }

  void update(Context& ctx, const AnyMatrix<T>& A) override {
    if (&A != matrix_)
      throw InvalidArgument(
          "preconditioner chebyshev: it multiplies with the matrix that it was made of: give new "
          "values to that one");
    if (own_) own_->update(ctx);
    watch_.lap();
    find_interval(ctx);
  }
  bool has_adjoint() const override { return true; }
  const Array<T>& apply_adjoint(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    run(ctx, Op::adjoint, r, z, nullptr);
    return z;
  }

 private:
  using K = kernel_t<T>;
  using R = real_t<T>;

  /// Golub and Varga (1961), the residual by a product with A, or for the adjoint with A^H: D is real.
  void run(Context& ctx, Op op, const Array<T>& r, Array<T>& z, Array<double>* rz) const {
    require_size("chebyshev: r", r.size(), A_.rows());
    require_size("chebyshev: z", z.size(), A_.rows());
    require_disjoint("chebyshev: r and z", r, z);
    ctx.dispatch([&](const auto& where) {
      run_pass(where, r.size(),
               StartChebyshev<K>{coefficients_.read(where), inverse_.read(where), r.read(where), d_.write(where),
                                 z.write(where)});
    });
    for (int k = 1; k <= options_.degree; ++k) {
      A_.apply(ctx, op, z, w_);
      ctx.dispatch([&](const auto& where) {
        const StepChebyshev<K> step{coefficients_.read(where) + (2 * k - 1),
                                    inverse_.read(where),
                                    r.read(where),
                                    w_.read(where),
                                    d_.update(where),
                                    z.update(where)};
        if (rz && k == options_.degree)
          run_pass(where, r.size(), EndChebyshev<K>{step, rz->write(where)});
        else
          run_pass(where, r.size(), step);
      });
    }
  }

  /// 1 / center, and two for each step. They lie where kernels read them, so that captured ones follow an update.
  void find_coefficients(Context& ctx) {
    const double center = 0.5 * (max_ + min_), radius = 0.5 * (max_ - min_), sigma = center / radius;
    std::span<R> coefficients = coefficients_.edit();
    coefficients[0] = R(1 / center);
    double rho = 1 / sigma;
    for (std::size_t k = 1; k < coefficients.size(); k += 2) {
      const double next = 1 / (2 * sigma - rho);
      coefficients[k] = R(next * rho), coefficients[k + 1] = R(2 * next / radius);
      rho = next;
    }
    ctx.dispatch([&](const auto& where) { coefficients_.read(where); });
  }

  void find_interval(Context& ctx) {
    invert_diagonal(ctx, *matrix_);
    if (A_.all_rows()) estimate(ctx);
    find_coefficients(ctx);
    report_.numeric_ms = watch_.lap();
  }

  void invert_diagonal(Context& ctx, const AnyMatrix<T>& A) {
    const Array<T> values = diagonal(ctx, A);
    Array<BadRow> bad(1, "bad diagonal entry");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, values.size(), InvertPositive<K>{values.read(where), inverse_.write(where), bad.write(where)});
    });
    const auto [row, is_zero] = bad.host()[0];
    if (row != BadRow::none)
      refuse_row(options_.type, row,
                 is_zero ? "the diagonal entry is 0 or missing" : "the diagonal entry is not positive, or not finite,",
                 "the matrix is not positive definite: use preconditioner none with solver gmres");
  }

  void estimate(Context& ctx) {
    const RowSums rows = greatest_row_sum(ctx, A_, *matrix_, inverse_);
    if (rows.bad_row != BadRow::none)
      refuse_row(options_.type, rows.bad_row, "there is an entry that is not finite, or too large beside the diagonal,",
                 "look at the entries of the matrix (krill inspect)");
    Array<double> upper{rows.greatest};
    LanczosProcess<T> process(A_.rows(), options_.eigenvalue_steps);
    process.run(ctx, A_, inverse_, d_, w_, upper, true);
    if (A_.share().team) ctx.synchronize();  // with an eye on the other ranks
    const LanczosFound found = process.found().host()[0];
    if (found.is_bad)
      throw InvalidArgument(
          fmt::format("preconditioner {}: p'Ap is {} for the direction p of step {} of the estimate of the largest "
                      "eigenvalue: the matrix is not positive definite: use preconditioner jacobi with solver gmres",
                      options_.type, found.bad_curvature, found.products));
    max_ = upper.host()[0];
    min_ = max_ / options_.eigenvalue_ratio;
    report_.facts = {{"eigenvalue_estimate", found.ritz},
                     {"eigenvalue_bound", rows.greatest},
                     {"interval_least", min_},
                     {"interval_most", max_},
                     {"estimation_products", found.products}};
  }

  Stopwatch watch_;
  ChebyshevOptions options_;
  std::unique_ptr<MatrixOperator<T>> own_;
  const Operator<T>& A_;
  const AnyMatrix<T>* matrix_;
  Array<R> inverse_, coefficients_;
  mutable Array<T> d_, w_;
  double min_ = 1, max_ = 2, own_product_bytes_ = 0;
  PreconditionerReport report_;
};

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const ChebyshevOptions& o, const PreconditionerInput<T>& input) {
  return std::make_unique<Chebyshev<T>>(ctx, o, input.A, input.products);
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const ChebyshevOptions&, const PreconditionerInput<T>& input) {
  const std::int64_t size = rows(input.A);
  HeldMemory kept = input.products ? HeldMemory() : SpmvPlan<T>::memory(ledger, host, input.A);
  { const HeldMemory values = diagonal_memory(ledger, host, input.A); }
  kept += ledger.hold<real_t<T>>(size);  // inverse diagonal
  with_csr_memory(ledger, host, input.A, [](const auto&) {});
  kept += ledger.hold<T>(2 * size);  // d, w
  const HeldMemory residual = ledger.hold<T>(size);
  return kept;
}

template <class T>
struct ChebyshevMakers {
  static constexpr std::tuple list{instance<Maker<T, ChebyshevOptions>>(make),
                                   instance<MemoryOf<T, ChebyshevOptions>>(memory)};
};
KRILL_INSTANTIATE(ChebyshevMakers);

}  // namespace krill
