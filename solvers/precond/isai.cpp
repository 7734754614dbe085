#include <fmt/format.h>

#include <optional>

#include "krill/solvers/precond/isai_form.hpp"
#include "krill/solvers/precond/make.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/stopwatch.hpp"
#include "krill/sparse/spmv/plan.hpp"

namespace krill {
namespace {

/// Refuses the first row whose small system has no solution.
template <class T, class Offset>
void require_solved(std::string_view type, const SparseInverse<T, Offset>& inverse) {
  const auto singular = inverse.singular(), bad = inverse.not_finite();
  if (bad && (!singular || *bad < *singular))
    refuse_row(type, *bad, "A(J, J) of its columns J, or the inverse of that, is not finite",
               "look at the entries of the matrix (krill inspect), or scale it");
  if (!singular) return;
  if (inverse.form() == InverseForm::general)
    refuse_row(type, *singular, "A(J, J) of its columns J is singular",
               "reorder the rows, or use preconditioner jacobi or none");
  const auto first = inverse.matrix().row_offsets().host()[static_cast<std::size_t>(*singular)];
  const auto pivot = std::real(inverse.matrix().values().host()[static_cast<std::size_t>(first)]);
  refuse_row(type, *singular, fmt::format("A(J, J) of its columns J is not positive definite (a pivot is {})", pivot),
             "use form general with a solver for general systems, or preconditioner jacobi");
}

/// z = M r, or z = G^H (G r).
template <class T>
class Isai final : public Preconditioner<T> {
 public:
  template <class Offset>
  Isai(Context& ctx, const IsaiOptions& o, const Csr<T, Offset>& A)
      : inverse_(inverse_of(ctx, o, A)), products_(ctx, inverse_) {
    if (factored_) adjoint_.emplace(ctx, inverse_, Op::adjoint), work_ = Array<T>(A.rows(), "work of isai");
    ctx.synchronize();
    report_.symbolic_ms += watch_.lap();
    report_.bytes = krill::bytes(inverse_) + products_.bytes();
    if (adjoint_) report_.bytes += adjoint_->bytes() + detail::bytes_of(work_);
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    multiply(ctx, r, z, {});
    return z;
  }
  Preconditioned<T> apply_dot(Context& ctx, const Array<T>& r, const Array<double>& rr, Array<T>& z,
                              Array<double>& rz) const override {
    if constexpr (is_complex<T>) {
      return Preconditioner<T>::apply_dot(ctx, r, rr, z, rz);
    } else {
      multiply(ctx, r, z, {&r, &rz});
      return {z, rz};
    }
  }
  PreconditionerReport report() const override { return report_; }

 private:
  void multiply(Context& ctx, const Array<T>& r, Array<T>& z, const Dots<T>& dots) const {
    if (!factored_) return products_.apply(ctx, T(1), r, T(0), z, dots);
    products_.apply(ctx, T(1), r, T(0), work_);
    adjoint_->apply(ctx, T(1), work_, T(0), z, dots);
  }

  template <class Offset>
  AnyMatrix<T> inverse_of(Context& ctx, const IsaiOptions& o, const Csr<T, Offset>& A) {
    const InverseForm form = inverse_form(ctx, o, A);
    factored_ = form == InverseForm::factored;
    auto inverse = SparseInverse<T, Offset>::analyze(ctx, A, form, o.most_entries);
    ctx.synchronize();
    report_.symbolic_ms = watch_.lap();
    if (const auto row = inverse.structural_zero())
      refuse_row(o.type, *row, "there is no entry on the diagonal", "reorder the rows, or use preconditioner none");
    inverse.update(ctx, A);
    require_solved(o.type, inverse);
    report_.numeric_ms = watch_.lap();
    tell(o, inverse);
    return std::move(inverse).matrix();
  }

  void tell(const IsaiOptions& o, const auto& inverse) {
    report_.facts = {
        {"form",
         std::string(isai_form_names[static_cast<std::size_t>(factored_ ? IsaiForm::factored : IsaiForm::general)])},
        {"inverse_nonzeros", inverse.matrix().nnz()},
        {"longest_row", std::int64_t{inverse.longest_row()}},
        {"shortened_rows", std::int64_t{inverse.shortened_rows()}}};
    if (inverse.shortened_rows() > 0)
      report_.notes.push_back(fmt::format(
          "preconditioner {}: {} of the inverse kept {} entries next to the diagonal (most_entries)", o.type,
          inverse.shortened_rows() == 1 ? "1 row" : fmt::format("{} rows", inverse.shortened_rows()), o.most_entries));
  }

  Stopwatch watch_;
  PreconditionerReport report_;
  bool factored_ = false;
  AnyMatrix<T> inverse_;  // M or G
  SpmvPlan<T> products_;
  std::optional<SpmvPlan<T>> adjoint_;
  mutable Array<T> work_{0, "work of isai"};  // G r
};

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const IsaiOptions& o, const AnyMatrix<T>& A) {
  return with_csr(ctx, A,
                  [&](const auto& csr) -> MadePreconditioner<T> { return std::make_unique<Isai<T>>(ctx, o, csr); });
}

#define INSTANTIATE(T) KRILL_INSTANTIATE_MAKER(T, IsaiOptions)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
