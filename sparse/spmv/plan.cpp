#include "krill/sparse/spmv/plan.hpp"

#include <optional>
#include <variant>

#include "krill/sparse/convert/convert_passes.hpp"
#include "krill/sparse/convert/sort.hpp"
#include "krill/sparse/convert/to_format.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/overloaded.hpp"
#include "krill/sparse/core/stopwatch.hpp"
#include "krill/sparse/spmv/automatic.hpp"
#include "krill/sparse/spmv/csr_tiles.hpp"

namespace krill {
namespace {

/// The arrays of a matrix in CSR, whoever owns them, and its tiles.
template <class T>
struct Rows {
  std::int32_t rows = 0, cols = 0;
  std::variant<const Array<std::int32_t>*, const Array<std::int64_t>*> offsets;
  const Array<std::int32_t>* columns = nullptr;
  const Array<T>* values = nullptr;
  CsrTiles tiles = {};

  template <class Offset>
  static Rows of(Context& ctx, const MatrixShape& a, const Array<Offset>& offsets, const Array<std::int32_t>& columns,
                 const Array<T>& values) {
    return {a.rows(), a.cols(), &offsets, &columns, &values, CsrTiles::of(ctx, a.rows(), offsets, values)};
  }

  template <class Where>
  void multiply(const Where& where, const SpmvCall<T>& call) const {
    std::visit([&](const auto* array) { multiply(where, array->read(where), call); }, offsets);
  }

 private:
  template <class Where, class Offset>
  void multiply(const Where& where, const Offset* row_offsets, const SpmvCall<T>& call) const {
    const CsrView<const kernel_t<T>, Offset> view{
        rows, cols, values->size(), row_offsets, columns->read(where), values->read(where)};
    if constexpr (std::is_same_v<Where, Cuda>)
      if (!tiles.empty()) return run_product(where, call.product(where, view), tiles.view(where));
    run_product(where, call.product(where, view));
  }
};

template <class T>
std::string format_name(const AnyMatrix<T>& A) {
  return std::visit(
      Overloaded{[](const Coo<T>&) { return "coo"; }, [](const CooAos<T>&) { return "coo_aos"; },
                 [](const Csc<T>&) { return "csc"; }, [](const Bsr<T>&) { return "bsr"; },
                 [](const Bsrx<T>&) { return "bsrx"; }, [](const Gebsc<T>&) { return "gebsc"; },
                 [](const Ell<T>&) { return "ell"; }, [](const Sell<T>&) { return "sell"; },
                 [](const Hyb<T>&) { return "hyb"; }, [](const Dia<T>& a) { return a.hack_rows() ? "hdia" : "dia"; },
                 [](const BlockedEll<T>&) { return "blocked_ell"; }, [](const auto&) { return "csr"; }},
      A);
}

/// The transpose of a matrix that stays where it is, and follows its values.
template <class T, class Offset>
struct Transposed {
  const Csr<T, Offset>* from;
  bool conjugate;
  Array<Offset> permutation;  ///< entry k is entry permutation[k] of `from`
  Csr<T, Offset> csr;

  static Transposed of(Context& ctx, const Csr<T, Offset>& a, Op op) {
    Array<Offset> permutation;
    Csr<T, Offset> csr = transpose(ctx, a, op, &permutation);
    return {&a, op == Op::adjoint, std::move(permutation), std::move(csr)};
  }
  void update(Context& ctx) {
    ctx.dispatch([&](const auto& where) {
      apply_permutation(where, csr.nnz(), from->values().read(where), permutation.read(where),
                        csr.values().write(where), conjugate);
    });
  }
  std::size_t bytes() const { return csr.bytes() + detail::bytes_of(permutation); }
};

}  // namespace

template <class T>
struct SpmvPlan<T>::Body {
  const AnyMatrix<T>& A;
  Op op;
  SpmvReport report = {};

  // what multiplies: other, else rows, else A's own kernel
  std::optional<Rows<T>> rows = {};
  std::optional<OtherForm<T>> other = {};
  CsrTiles block_tiles = {};  // of A's block rows

  // what `rows` points to beside A's arrays
  Array<std::int64_t> offsets{0, "plan row_offsets"};
  Array<std::int32_t> columns{0, "plan col_indices"};
  const Array<T>* unconjugated = nullptr;
  Array<T> conjugated{0, "plan values"};  // of *unconjugated
  std::variant<std::monostate, Transposed<T, std::int32_t>, Transposed<T, std::int64_t>, Csr<T, std::int64_t>> own = {};

  void make_in_place(Context& ctx) {
    std::visit([&](const auto& a) { make_in_place(ctx, a); }, A);
  }

  template <class Matrix>
  void make_in_place(Context& ctx, const Matrix& a) {
    if constexpr (is_csr<Matrix>)
      op == Op::none ? multiply_with(ctx, a) : make_transpose(ctx, a, op);
    else if constexpr (std::is_same_v<Matrix, Csc<T>>)
      make_by_columns(ctx, a.transposed());
    else if constexpr (std::is_same_v<Matrix, Gebsc<T>>)
      make_by_block_columns(ctx, a.transposed());
    else if (op != Op::none)
      make_from_csr(ctx, entries_of(ctx, a));
    else if constexpr (std::is_same_v<Matrix, Coo<T>>)
      make_offsets(ctx, a, a.row_indices(), a.col_indices(), a.values());
    else if constexpr (std::is_same_v<Matrix, CooAos<T>>)
      make_from_pairs(ctx, a);
    else if constexpr (std::is_same_v<Matrix, Hyb<T>>)
      make_offsets(ctx, a, a.coo().row_indices(), a.coo().col_indices(), a.coo().values());
    else if constexpr (std::is_same_v<Matrix, Bsr<T>>)
      block_tiles = CsrTiles::of(ctx, a);
  }

  /// A is stored as its transpose.
  void make_by_columns(Context& ctx, const Csr<T>& transposed) {
    if (op == Op::none) return make_transpose(ctx, transposed, Op::transpose);
    if (op == Op::transpose || !is_complex<T>) return multiply_with(ctx, transposed);
    unconjugated = &transposed.values();
    conjugated = Array<T>(transposed.nnz(), "plan values");
    conjugate(ctx);
    rows = Rows<T>::of(ctx, transposed, transposed.row_offsets(), transposed.col_indices(), conjugated);
  }
  void conjugate(Context& ctx) {
    if constexpr (is_complex<T>)
      ctx.dispatch([&](const auto& where) {
        run_pass(where, conjugated.size(), Conjugate<kernel_t<T>>{unconjugated->read(where), conjugated.write(where)});
      });
  }
  template <class Offset>
  void make_transpose(Context& ctx, const Csr<T, Offset>& a, Op with) {
    multiply_with(ctx, own.template emplace<Transposed<T, Offset>>(Transposed<T, Offset>::of(ctx, a, with)).csr);
  }
  void make_by_block_columns(Context& ctx, const Bsr<T>& transposed) {
    Csr<T, std::int64_t> csr = to_csr_without_zeros(ctx, transposed);
    if (op == Op::transpose) return keep(ctx, std::move(csr));
    make_from_csr(ctx, transpose(ctx, csr));
  }
  template <class Matrix>
  static Csr<T, std::int64_t> entries_of(Context& ctx, const Matrix& a) {
    if constexpr (requires { to_csr_without_zeros(ctx, a); })
      return to_csr_without_zeros(ctx, a);
    else
      return to_csr<T, std::int64_t>(ctx, a);
  }
  void make_from_csr(Context& ctx, Csr<T, std::int64_t> csr) {
    keep(ctx, op == Op::none ? std::move(csr) : transpose(ctx, csr, op));
  }
  void make_offsets(Context& ctx, const MatrixShape& a, const Array<std::int32_t>& row_indices,
                    const Array<std::int32_t>& col_indices, const Array<T>& values) {
    offsets = Array<std::int64_t>(a.rows() + std::int64_t{1}, "plan row_offsets");
    ctx.dispatch([&](const auto& where) {
      compress_rows(where, a.rows(), values.size(), row_indices.read(where), offsets.write(where));
    });
    rows = Rows<T>::of(ctx, a, offsets, col_indices, values);
  }
  void make_from_pairs(Context& ctx, const CooAos<T>& a) {
    const Coo<T> split = to_coo(ctx, a);
    columns = copy_of(ctx, split.col_indices());
    make_offsets(ctx, a, split.row_indices(), columns, a.values());
  }
  template <class Offset>
  void multiply_with(Context& ctx, const Csr<T, Offset>& csr) {
    rows = Rows<T>::of(ctx, csr, csr.row_offsets(), csr.col_indices(), csr.values());
  }
  void keep(Context& ctx, Csr<T, std::int64_t> csr) {
    multiply_with(ctx, own.template emplace<Csr<T, std::int64_t>>(std::move(csr)));
  }

  std::size_t bytes() const {
    std::size_t sum = detail::bytes_of(offsets, columns, conjugated) + block_tiles.bytes();
    if (rows) sum += rows->tiles.bytes();
    std::visit(Overloaded{[](std::monostate) {}, [&](const auto& made) { sum += made.bytes(); }}, own);
    return other ? sum + other->bytes() : sum;
  }

  void update(Context& ctx) {
    if (other) return with_csr([&](const auto& a) { other->update(ctx, a); });
    if (unconjugated) return conjugate(ctx);
    std::visit(Overloaded{[](std::monostate) {}, [&](Csr<T, std::int64_t>&) { make_in_place(ctx); },
                          [&](auto& transposed) { transposed.update(ctx); }},
               own);
  }

  /// Calls f with A, which has to be in CSR.
  template <class F>
  void with_csr(F&& f) const {
    std::visit(
        [&]<class Matrix>(const Matrix& a) {
          if constexpr (is_csr<Matrix>) f(a);
        },
        A);
  }

  void multiply(Context& ctx, const SpmvCall<T>& call) const {
    if (other) return other->multiply(ctx, call);
    if (const auto* hyb = std::get_if<Hyb<T>>(&A); hyb && op == Op::none) return multiply_hyb(ctx, *hyb, call);
    if (rows) return ctx.dispatch([&](const auto& where) { rows->multiply(where, call); });
    run_call(ctx, A, block_tiles, call);
  }

  void multiply_hyb(Context& ctx, const Hyb<T>& hyb, const SpmvCall<T>& call) const {
    const Dots<T> no_dots;
    const Scalar<T> one(1);
    const bool alone = hyb.coo().nnz() == 0;
    const SpmvCall<T> first{call.alpha, call.x, call.beta, call.y, alone ? call.dots : no_dots, call.z};
    ctx.dispatch([&](const auto& where) { run_product(where, first.product(where, hyb.ell().view(where))); });
    if (alone) return;
    const SpmvCall<T> second{call.alpha, call.x, one, call.y, call.dots};
    ctx.dispatch([&](const auto& where) { rows->multiply(where, second); });
  }

  void choose(Context& ctx) {
    report.why = "only a matrix in csr, not transposed, is looked at";
    const auto in_place = [&](const SpmvCall<T>& call) { multiply(ctx, call); };
    if (op == Op::none) with_csr([&](const auto& a) { other = choose_form(ctx, a, in_place, report); });
    ctx.synchronize();
  }
};

template <class T>
SpmvPlan<T>::SpmvPlan(Context& ctx, const AnyMatrix<T>& A, Op op, SpmvMethod method)
    : body_(std::make_unique<Body>(Body{A, op})) {
  const Context::SkipScope never(ctx, nullptr);  // a plan that was left half made would stay so
  const Stopwatch watch;
  body_->make_in_place(ctx);
  SpmvReport& report = body_->report;
  report.method = format_name(A);
  report.csr_bytes = report.bytes = krill::bytes(A);
  if (method == SpmvMethod::automatic)
    body_->choose(ctx);
  else
    report.why = "in place, as it was asked for";
  report.setup_ms = watch.milliseconds();
  if (report.csr_ms > report.ms) report.break_even = report.setup_ms / (report.csr_ms - report.ms);
}

template <class T>
SpmvPlan<T>::SpmvPlan(SpmvPlan&&) noexcept = default;
template <class T>
SpmvPlan<T>& SpmvPlan<T>::operator=(SpmvPlan&&) noexcept = default;
template <class T>
SpmvPlan<T>::~SpmvPlan() = default;

template <class T>
std::int32_t SpmvPlan<T>::rows() const {
  return body_->op == Op::none ? krill::rows(body_->A) : krill::cols(body_->A);
}
template <class T>
std::int32_t SpmvPlan<T>::cols() const {
  return body_->op == Op::none ? krill::cols(body_->A) : krill::rows(body_->A);
}
template <class T>
const SpmvReport& SpmvPlan<T>::report() const {
  return body_->report;
}
template <class T>
std::size_t SpmvPlan<T>::bytes() const {
  return body_->bytes();
}

template <class T>
void SpmvPlan<T>::update(Context& ctx) {
  const Context::SkipScope never(ctx, nullptr);
  body_->update(ctx);
}

template <class T>
void SpmvPlan<T>::apply(Context& ctx, const Scalar<T>& alpha, const Array<T>& x, const Scalar<T>& beta, Array<T>& y,
                        const Dots<T>& dots) const {
  const SpmvCall<T> call{alpha, x, beta, y, dots};
  call.check(rows(), cols());
  body_->multiply(ctx, call);
}

template <class T>
void SpmvPlan<T>::residual(Context& ctx, const Array<T>& x, const Array<T>& b, Array<T>& r, const Dots<T>& dots) const {
  const Scalar<T> minus_one(-1), one(1);
  const SpmvCall<T> call{minus_one, x, one, r, dots, &b};
  call.check(rows(), cols());
  body_->multiply(ctx, call);
}

#define INSTANTIATE(T) template class SpmvPlan<T>;
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
