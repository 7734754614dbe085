#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "solvers/operator.hpp"
#include "solvers/precond/chebyshev_passes.hpp"
#include "solvers/precond/make.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill {

using namespace detail;
namespace {

/// A symmetric tridiagonal matrix: the operator, as Lanczos saw it.
struct Tridiagonal {
  std::vector<double> diagonal, beside;  ///< beside[k]: between k and k + 1; the last one is that of the next step

  /// The last pivot of x - T and its derivative; nullopt where x is not above all eigenvalues.
  std::optional<std::pair<double, double>> last_pivot(double x) const {
    double pivot = 0, slope = 0;
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      const double ratio = k ? beside[k - 1] / pivot : 0;
      slope = 1 + ratio * ratio * slope;
      pivot = x - diagonal[k] - (k ? ratio * beside[k - 1] : 0);
      if (!(pivot > 0)) return std::nullopt;
    }
    return std::pair(pivot, slope);
  }
};

/// The largest eigenvalue of T from above, by bisection, and what the operator's own is unlikely to exceed: the
/// residual of the Ritz vector, which is its last component times the next entry beside the diagonal, added (Zhou and
/// Li 2011).
std::pair<double, double> largest_eigenvalue(const Tridiagonal& t) {
  double low = *std::ranges::max_element(t.diagonal), high = 0;
  for (std::size_t k = 0; k < t.diagonal.size(); ++k)
    high = std::max(high, t.diagonal[k] + t.beside[k] + (k ? t.beside[k - 1] : 0));
  high *= 1 + 1e-12;
  for (double middle = 0.5 * (low + high); low < middle && middle < high; middle = 0.5 * (low + high))
    (t.last_pivot(middle) ? high : low) = middle;
  const auto last = t.last_pivot(high);
  return {high, high + t.beside.back() / std::sqrt(last ? last->second : 1)};  // 1 / slope: the component squared
}

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
    const auto n = static_cast<double>(A_.rows()), degree = static_cast<double>(options_.degree);
    const Work passes{n * (3 * sizeof(T) + sizeof(R)) + degree * n * ((2 + 6) * sizeof(T) + sizeof(R)),
                      multiply_add<T> * n * (1 + 3 * degree)};
    if (!own_) return {passes, degree};
    ApplicationWork all{passes};
    all.own += {degree * own_product_bytes_, degree * multiply_add<T> * static_cast<double>(krill::nnz(*matrix_))};
    return all;
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
    const double bound = with_csr(ctx, *matrix_, [&](const auto& csr) { return row_bound(ctx, csr); });
    if (A_.rows()) estimate(ctx, bound);
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

  template <class Offset>
  double row_bound(Context& ctx, const Csr<T, Offset>& A) {
    Array<RowBound> bound(1, "bound of eigenvalues");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, A.rows(), BoundRows<K, Offset>{A.view(where), inverse_.read(where), bound.write(where)});
    });
    const RowBound found = bound.host()[0];
    if (found.bad.row != BadRow::none)
      refuse_row(options_.type, found.bad.row,
                 "there is an entry that is not finite, or too large beside the diagonal,",
                 "look at the entries of the matrix (krill inspect)");
    return found.max;
  }

  /// Conjugate gradients from a random residual: their coefficients are those of Lanczos' process.
  void estimate(Context& ctx, double bound) {
    Array<T> r(A_.rows(), "lanczos r");
    Array<double> rz(1, "lanczos r'z");
    Array<wide_t<T>> pq(1, "lanczos p'q");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, r.size(),
               StartLanczos<K>{inverse_.read(where), r.write(where), d_.write(where), rz.write(where)});
    });
    Tridiagonal t;
    const double start = rz.host()[0];
    double size = start, beta = 0, alpha = 1;
    const int steps = static_cast<int>(std::min<std::int64_t>(options_.eigenvalue_steps, A_.rows()));
    for (int k = 0; k < steps && size > 1e-20 * start; ++k) {
      ctx.dispatch([&](const auto& where) {
        run_pass(where, r.size(), LanczosDirection<K>{R(beta), inverse_.read(where), r.read(where), d_.update(where)});
      });
      A_.apply(ctx, d_, w_, {&d_, &pq});
      const double curvature = std::real(pq.host()[0]), before = beta / alpha;
      if (!(curvature > 0) || !std::isfinite(curvature))
        throw InvalidArgument(
            fmt::format("preconditioner {}: p'Ap is {} for the direction p of step {} of the estimate of the largest "
                        "eigenvalue: the matrix is not positive definite: use preconditioner jacobi with solver gmres",
                        options_.type, curvature, k + 1));
      alpha = size / curvature;
      ctx.dispatch([&](const auto& where) {
        run_pass(where, r.size(),
                 LanczosResidual<K>{R(alpha), inverse_.read(where), w_.read(where), r.update(where), rz.write(where)});
      });
      beta = rz.host()[0] / size;
      size = rz.host()[0];
      t.diagonal.push_back(1 / alpha + before);
      t.beside.push_back(std::sqrt(beta) / alpha);
    }
    const auto [ritz, guarded] = largest_eigenvalue(t);
    max_ = std::min(bound, std::max(guarded, 1.1 * ritz));
    min_ = max_ / options_.eigenvalue_ratio;
    report_.facts = {{"eigenvalue_estimate", ritz},
                     {"eigenvalue_bound", bound},
                     {"interval_least", min_},
                     {"interval_most", max_},
                     {"estimation_products", std::int64_t{static_cast<std::int64_t>(t.diagonal.size())}}};
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
