#include "krill/apps/verify/preconditioner_reference.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "krill/apps/verify/factor.hpp"
#include "krill/apps/verify/inverse_reference.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

template <class Number>
Number fact(const PreconditionerReport& report, std::string_view name) {
  for (const Fact& f : report.facts)
    if (f.name == name) return std::get<Number>(f.value);
  throw Error(fmt::format("the report of the preconditioner has no {}", name));
}

template <class T>
Bounded<T> entry(const Rows<T>& A, std::int32_t i, std::int32_t j) {
  return Bounded<T>(A.at(i, j));
}

/// A double that kernels round to the precision.
template <class T>
Bounded<T> factor(double value) {
  const auto exact_value = static_cast<long double>(value);
  return {Exact<T>(exact_value), gamma<T>(1) * std::fabs(exact_value)};
}

template <class T>
class Reference {
 public:
  Reference(Context& ctx, const AnyMatrix<T>& matrix, const PreconditionerReport& report, const BoundedVector<T>& r)
      : ctx_(ctx),
        matrix_(matrix),
        report_(report),
        r_(r),
        A_(with_csr(ctx, matrix, [](const auto& csr) { return rows_of(csr); })) {}

  BoundedVector<T> apply(const NoPreconditioner&) const { return r_; }

  BoundedVector<T> apply(const JacobiOptions&) const {
    BoundedVector<T> z(r_.size());
    for (std::int32_t i = 0; i < A_.rows; ++i) z[at(i)] = quotient(r_[at(i)], entry(A_, i, i));
    return z;
  }

  BoundedVector<T> apply(const BlockJacobiOptions&) const {
    const auto dim = static_cast<std::int32_t>(fact<std::int64_t>(report_, "block_dim"));
    BoundedVector<T> z(r_.size());
    for (std::int32_t first = 0; first < A_.rows; first += dim) solve_block(first, std::min(dim, A_.rows - first), z);
    return z;
  }

  /// Golub and Varga (1961).
  BoundedVector<T> apply(const ChebyshevOptions& o) const {
    const auto most = fact<double>(report_, "interval_most"), least = fact<double>(report_, "interval_least");
    const double center = 0.5 * (most + least), radius = 0.5 * (most - least), sigma = center / radius;
    BoundedVector<T> inverse(r_.size()), d(r_.size()), z(r_.size());
    for (std::int32_t i = 0; i < A_.rows; ++i) {
      Bounded<T> pivot = entry(A_, i, i);
      if constexpr (is_complex<T>) pivot.value.im = 0;
      inverse[at(i)] = quotient(Bounded<T>(T(1)), pivot);
      z[at(i)] = d[at(i)] = times(times(factor<T>(1 / center), inverse[at(i)]), r_[at(i)]);
    }
    double rho = 1 / sigma;
    for (int k = 1; k <= o.degree; ++k) {
      const BoundedVector<T> w = product<T>(A_, z);
      const double next = 1 / (2 * sigma - rho), old = next * rho, fresh = 2 * next / radius;
      rho = next;
      for (std::size_t i = 0; i < z.size(); ++i) {
        const Bounded<T> residual = Sum<T>().add(r_[i]).subtract(w[i], Bounded<T>(T(1))).result();
        d[i] = Sum<T>().add(factor<T>(old), d[i]).add(times(factor<T>(fresh), inverse[i]), residual).result();
        z[i] = Sum<T>().add(z[i]).add(d[i]).result();
      }
    }
    return z;
  }

  BoundedVector<T> apply(const GaussSeidelOptions& o) const {
    if (o.direction == SweepDirection::symmetric) return symmetric_sweep(1);
    const Triangle triangle{o.direction == SweepDirection::forward ? Fill::lower : Fill::upper};
    return substitute(triangle_of(A_, triangle), triangle.fill, T(1), r_);
  }
  BoundedVector<T> apply(const SsorOptions& o) const { return symmetric_sweep(o.omega); }

  /// M r, or G^H (G r).
  BoundedVector<T> apply(const IsaiOptions& o) const {
    const bool factored = fact<std::string>(report_, "form") == "factored";
    const Rows<Bounded<T>> inverse =
        sparse_inverse(A_, factored ? InverseForm::factored : InverseForm::general, o.most_entries);
    const BoundedVector<T> once = product<T>(inverse, r_);
    return factored ? product<T>(transposed(inverse, Op::adjoint), once) : once;
  }

  /// Incomplete factorizations.
  BoundedVector<T> apply(const auto& o) const {
    const FactorRecipe recipe = factor_recipe(o).value_or(FactorRecipe());
    return solve_with_factor(recipe, make_factor(ctx_, recipe, matrix_, report_), r_);
  }

 private:
  /// (2 - omega) (I + omega D^-1 U)^-1 (D / omega + L)^-1 r (Axelsson 1972).
  BoundedVector<T> symmetric_sweep(double omega) const {
    Rows<Bounded<T>> split{A_.rows, A_.cols, A_.offsets, A_.col, {}};
    for (std::int32_t i = 0; i < A_.rows; ++i)
      for (std::size_t k = A_.begin(i); k < A_.end(i); ++k) {
        const Bounded<T> a(A_.value[k]);
        split.value.push_back(A_.col[k] < i    ? a
                              : A_.col[k] == i ? quotient(a, factor<T>(omega))
                                               : times(factor<T>(omega), quotient(a, entry(A_, i, i))));
      }
    const BoundedVector<T> y = substitute(triangle_of(split, {Fill::lower}), Fill::lower, T(1), r_);
    const auto weight = static_cast<real_t<T>>(2 - omega);
    return substitute(triangle_of(split, {Fill::upper, Diagonal::unit}), Fill::upper, T(weight), y);
  }

  /// The inverse by Gauss and Jordan with partial pivoting, times r.
  void solve_block(std::int32_t first, std::int32_t dim, BoundedVector<T>& z) const {
    const std::size_t n = at(dim);
    std::vector<BoundedVector<T>> a(n, BoundedVector<T>(2 * n));
    for (std::int32_t i = 0; i < dim; ++i) {
      for (std::int32_t j = 0; j < dim; ++j) a[at(i)][at(j)] = entry(A_, first + i, first + j);
      a[at(i)][n + at(i)] = Bounded<T>(T(1));
    }
    for (std::size_t k = 0; k < n; ++k) {
      const auto pivot = std::max_element(a.begin() + static_cast<std::ptrdiff_t>(k), a.end(),
                                          [&](auto& x, auto& y) { return modulus(x[k].value) < modulus(y[k].value); });
      std::swap(a[k], *pivot);
      const Bounded<T> diagonal = a[k][k];
      for (Bounded<T>& value : a[k]) value = quotient(value, diagonal);
      for (std::size_t i = 0; i < n; ++i) {
        if (i == k) continue;
        const Bounded<T> multiple = a[i][k];
        for (std::size_t j = 0; j < 2 * n; ++j) a[i][j] = Sum<T>().add(a[i][j]).subtract(multiple, a[k][j]).result();
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      Sum<T> sum;
      for (std::size_t j = 0; j < n; ++j) sum.add(a[i][n + j], r_[at(first) + j]);
      z[at(first) + i] = sum.result();
    }
  }

  Context& ctx_;
  const AnyMatrix<T>& matrix_;
  const PreconditionerReport& report_;
  const BoundedVector<T>& r_;
  Rows<T> A_;
};

}  // namespace

template <class T>
BoundedVector<T> preconditioned(Context& ctx, const PreconditionerOptions& options, const AnyMatrix<T>& A,
                                const PreconditionerReport& report, const BoundedVector<T>& r) {
  const Reference<T> reference(ctx, A, report, r);
  return std::visit([&](const auto& o) { return reference.apply(o); }, options);
}

#define INSTANTIATE(T)                                                                                  \
  template BoundedVector<T> preconditioned(Context&, const PreconditionerOptions&, const AnyMatrix<T>&, \
                                           const PreconditionerReport&, const BoundedVector<T>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill::apps::verify
