#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "krill/solvers/krylov_passes.hpp"
#include "krill/solvers/operator.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/factor/incomplete.hpp"
#include "krill/sparse/triangular/triangular.hpp"
#include "krill/sparse/vector/vector.hpp"

namespace krill {
namespace {

template <class T>
class Identity final : public Preconditioner<T> {
 public:
  Preconditioned<T> apply_dot(Context&, const Array<T>& r, const Array<double>& rr, Array<T>&,
                              Array<double>&) const override {
    return {r, rr};
  }
  const Array<T>& apply(Context&, const Array<T>& r, Array<T>&) const override {
    return r;  // NOLINT(bugprone-return-const-ref-from-parameter): the answer is r itself
  }
};

template <class T>
class Jacobi final : public Preconditioner<T> {
 public:
  explicit Jacobi(Array<T> inverse_diagonal) : inverse_diagonal_(std::move(inverse_diagonal)) {}

  Preconditioned<T> apply_dot(Context& ctx, const Array<T>& r, const Array<double>&, Array<T>& z,
                              Array<double>& rz) const override {
    require_size("jacobi: r", r.size(), inverse_diagonal_.size());
    ctx.dispatch([&](const auto& where) {
      run_pass(where, r.size(),
               ScaleDot<kernel_t<T>>{inverse_diagonal_.read(where), r.read(where), z.write(where), rz.write(where)});
    });
    return {z, rz};
  }
  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    multiply(ctx, inverse_diagonal_, r, z);
    return z;
  }

 private:
  Array<T> inverse_diagonal_;
};

/// Two solves with the triangles of an incomplete factor.
template <class T, class Offset>
class Factored final : public Preconditioner<T> {
 public:
  Factored(Context& ctx, const IncompleteFactor<T, Offset>& factor, std::vector<std::string> notes)
      : lower_(ctx, factor.matrix(), {Fill::lower, is_lu(factor) ? Diagonal::unit : Diagonal::stored}),
        upper_(ctx, factor.matrix(),
               is_lu(factor) ? Triangle{Fill::upper} : Triangle{Fill::lower, Diagonal::stored, Op::adjoint}),
        notes_(std::move(notes)) {}

  Preconditioned<T> apply_dot(Context& ctx, const Array<T>& r, const Array<double>&, Array<T>& z,
                              Array<double>& rz) const override {
    apply(ctx, r, z);
    ctx.dispatch([&](const auto& where) {
      run_pass(where, r.size(), RealDot<kernel_t<T>>{r.read(where), z.read(where), rz.write(where)});
    });
    return {z, rz};
  }
  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    lower_.solve(ctx, T(1), r, z);
    upper_.solve(ctx, T(1), z, z);
    return z;
  }
  std::vector<std::string> notes() const override { return notes_; }
  std::size_t bytes() const override { return lower_.bytes() + upper_.bytes(); }

 private:
  static bool is_lu(const IncompleteFactor<T, Offset>& factor) { return factor.kind() == Factorization::ilu0; }

  TriangularPlan<T, Offset> lower_, upper_;
  std::vector<std::string> notes_;
};

/// f(A in CSR).
template <class T, class F>
decltype(auto) with_csr(Context& ctx, const AnyMatrix<T>& A, F&& f) {
  return std::visit(
      [&]<class Matrix>(const Matrix& a) {
        if constexpr (is_csr<Matrix>) {
          return f(a);
        } else {
          const AnyMatrix<T> csr = to_csr(ctx, A);
          if (const auto* narrow = std::get_if<Csr<T, std::int32_t>>(&csr)) return f(*narrow);
          return f(std::get<Csr<T, std::int64_t>>(csr));
        }
      },
      A);
}

[[noreturn]] void refuse(std::string_view type, std::int32_t row, std::string_view what, std::string_view remedy) {
  throw InvalidArgument(
      fmt::format("preconditioner {}: {} in row {} (rows count from 0): {}", type, what, row, remedy));
}

template <class T>
std::unique_ptr<Preconditioner<T>> make(Context& ctx, const Ilu0Options& o, const AnyMatrix<T>& A) {
  return with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) -> std::unique_ptr<Preconditioner<T>> {
    std::optional<PivotBoost<T>> boost;
    if (o.boost != 0) boost = {o.boost_tolerance, T(static_cast<real_t<T>>(o.boost))};
    const IncompleteFactor<T, Offset> factor(ctx, csr, Factorization::ilu0, boost);
    if (const auto row = factor.structural_zero())
      refuse(o.type, *row, "there is no entry on the diagonal", "reorder the rows, or use preconditioner none");
    const auto zero = factor.numerical_zero(), bad = factor.not_finite();
    if (zero && (!bad || *zero < *bad))  // what comes after a zero is bad, too
      refuse(o.type, *zero, "the pivot is 0", "set its boost, reorder the rows, or use preconditioner jacobi");
    if (bad) refuse(o.type, *bad, "the pivot is NaN or infinite", "scale the matrix, or use preconditioner jacobi");
    std::vector<std::string> notes;
    if (const std::int32_t boosts = factor.boosts())
      notes.push_back(
          fmt::format("preconditioner ilu0: {} pivot{} became {}", boosts, boosts == 1 ? "" : "s", o.boost));
    return std::make_unique<Factored<T, Offset>>(ctx, factor, std::move(notes));
  });
}

template <class T>
std::unique_ptr<Preconditioner<T>> make(Context& ctx, const Ic0Options& o, const AnyMatrix<T>& A) {
  constexpr double first_shift = 1e-3, most_shift = 1;
  return with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) -> std::unique_ptr<Preconditioner<T>> {
    IncompleteFactor<T, Offset> factor(ctx, csr, Factorization::ic0);
    if (const auto row = factor.structural_zero())
      refuse(o.type, *row, "there is no entry on the diagonal",
             "the matrix is not positive definite: use ilu0 or none");
    double shift = o.shift;
    if (shift > 0) factor.update(ctx, csr, shift);
    std::optional<std::int32_t> broken = factor.numerical_zero();
    // A root of what is negative makes NaN of later rows; NaN that was there before comes first.
    if (const auto row = factor.not_finite(); row && broken && *row <= *broken)
      refuse(o.type, *row, "the pivot is NaN or infinite", "look at the entries of the matrix (krill inspect)");
    std::vector<std::string> notes;
    const std::int32_t first = broken.value_or(-1);
    while (broken && shift < most_shift) {
      shift = std::max(2 * shift, first_shift);
      factor.update(ctx, csr, shift);
      broken = factor.numerical_zero();
    }
    if (broken)
      refuse(o.type, *broken, "the pivot is not positive, even with the diagonal doubled",
             "the matrix is hardly positive definite: use ilu0, jacobi or none");
    if (const auto row = factor.not_finite())
      refuse(o.type, *row, "the pivot is infinite", "scale the matrix, or use preconditioner jacobi");
    if (first >= 0)
      notes.push_back(
          fmt::format("preconditioner ic0: the diagonal was multiplied by {:.4g}, as row {} had no positive "
                      "pivot (rows count from 0)",
                      1 + shift, first));
    return std::make_unique<Factored<T, Offset>>(ctx, factor, std::move(notes));
  });
}

template <class T>
std::unique_ptr<Preconditioner<T>> make(Context&, const NoPreconditioner&, const AnyMatrix<T>&) {
  return std::make_unique<Identity<T>>();
}

template <class T>
std::unique_ptr<Preconditioner<T>> make(Context& ctx, const JacobiOptions&, const AnyMatrix<T>& A) {
  Array<T> d = diagonal(ctx, A);
  std::int64_t row = 0;
  for (T& value : d.edit()) {
    if (value == T(0) || !std::isfinite(std::abs(value)))
      throw InvalidArgument(fmt::format(
          "preconditioner jacobi: a({0}, {0}) is {1} (rows and columns count from 0); every diagonal entry must be "
          "finite and not 0: use preconditioner none, or reorder the rows",
          row, value == T(0) ? "0 or missing" : "not finite"));
    value = T(1) / value;
    ++row;
  }
  return std::make_unique<Jacobi<T>>(std::move(d));
}

}  // namespace

template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context& ctx, const PreconditionerOptions& options,
                                                       const AnyMatrix<T>& A) {
  return std::visit([&](const auto& o) { return make(ctx, o, A); }, options);
}

#define INSTANTIATE(T)                                                                                    \
  template std::unique_ptr<Preconditioner<T>> make_preconditioner(Context&, const PreconditionerOptions&, \
                                                                  const AnyMatrix<T>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
