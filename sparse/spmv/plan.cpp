#include "sparse/spmv/plan.hpp"

#include <optional>
#include <variant>

#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/convert/to_format.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/spmv/automatic.hpp"
#include "sparse/spmv/csr_tiles.hpp"

namespace krill {

using namespace detail;
namespace {

/// Pointers to the arrays of a matrix in CSR, the user's or the plan's, and its tiles.
template <class T>
struct PlannedRows {
  std::int32_t rows = 0, cols = 0;
  std::variant<const Array<std::int32_t>*, const Array<std::int64_t>*> offsets;
  const Array<std::int32_t>* columns = nullptr;
  const Array<T>* values = nullptr;
  CsrTiles tiles = {};

  template <class Offset>
  static PlannedRows of(Context& ctx, const MatrixShape& a, const Array<Offset>& offsets,
                        const Array<std::int32_t>& columns, const Array<T>& values) {
    return {a.rows(), a.cols(), &offsets, &columns, &values, CsrTiles::of(ctx, a.rows(), offsets, values)};
  }

  void multiply(const auto& where, const SpmvCall<T>& call) const {
    std::visit(
        [&]<class Offset>(const Array<Offset>* row_offsets) {
          const CsrView<const kernel_t<T>, Offset> view{
              rows, cols, values->size(), row_offsets->read(where), columns->read(where), values->read(where)};
          if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Cuda>)
            if (!tiles.empty()) return run_product(where, call.product(where, view), tiles.view(where));
          run_product(where, call.product(where, view));
        },
        offsets);
  }
};

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
  std::optional<PlannedRows<T>> rows = {};
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
    rows = PlannedRows<T>::of(ctx, transposed, transposed.row_offsets(), transposed.col_indices(), conjugated);
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
    rows = PlannedRows<T>::of(ctx, a, offsets, col_indices, values);
  }
  void make_from_pairs(Context& ctx, const CooAos<T>& a) {
    const Coo<T> split = to_coo(ctx, a);
    columns = copy_of(ctx, split.col_indices());
    make_offsets(ctx, a, split.row_indices(), columns, a.values());
  }
  template <class Offset>
  void multiply_with(Context& ctx, const Csr<T, Offset>& csr) {
    rows = PlannedRows<T>::of(ctx, csr, csr.row_offsets(), csr.col_indices(), csr.values());
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

namespace {

/// What a plan makes in place, without op, of each format.
template <class T>
struct InPlaceMemory {
  MemoryLedger& ledger;
  Context& host;

  template <class Offset>
  HeldMemory operator()(const Csr<T, Offset>& a) const {
    return SpmvPlan<T>::memory(ledger, CsrSizes::of(a));
  }
  HeldMemory operator()(const Coo<T>& a) const { return offsets(a, a.nnz()); }
  HeldMemory operator()(const Hyb<T>& a) const { return offsets(a, a.coo().nnz()); }
  HeldMemory operator()(const CooAos<T>& a) const {
    const HeldMemory split = ledger.hold(a.bytes());
    HeldMemory kept = ledger.hold<std::int32_t>(a.nnz());  // columns
    kept += offsets(a, a.nnz());
    return kept;
  }
  HeldMemory operator()(const Csc<T>& a) const {
    return SpmvPlan<T>::memory(ledger, CsrSizes::of(a.transposed()), Op::transpose);
  }
  HeldMemory operator()(const Gebsc<T>& a) const {
    const CsrSizes entries = CsrSizes::of(to_csr_without_zeros(host, a.transposed()));
    const HeldMemory made = rows_to_csr_memory(ledger, entries);
    HeldMemory kept = transpose_memory(ledger, entries);
    kept += CsrTiles::memory(ledger, entries.transposed());
    return kept;
  }
  HeldMemory operator()(const Bsr<T>& a) const { return CsrTiles::memory(ledger, a); }
  HeldMemory operator()(const Bsrx<T>&) const { return {}; }
  HeldMemory operator()(const Ell<T>&) const { return {}; }
  HeldMemory operator()(const Sell<T>&) const { return {}; }
  HeldMemory operator()(const Dia<T>&) const { return {}; }
  HeldMemory operator()(const BlockedEll<T>&) const { return {}; }

 private:
  HeldMemory offsets(const MatrixShape& a, std::int64_t nnz) const {
    HeldMemory kept = ledger.hold<std::int64_t>(a.rows() + std::int64_t{1});
    kept += CsrTiles::memory(ledger, {a.rows(), a.cols(), nnz, sizeof(T), sizeof(std::int64_t)});
    return kept;
  }
};

}  // namespace

template <class T>
HeldMemory SpmvPlan<T>::memory(MemoryLedger& ledger, Context& host, const AnyMatrix<T>& A, SpmvMethod method,
                               SpmvReport* report) {
  HeldMemory kept = std::visit(InPlaceMemory<T>{ledger, host}, A);
  FormEstimate form{std::string(name(format_of(A)))};
  if (method == SpmvMethod::automatic && form.method == name(Format::csr)) {
    ledger.scratch({1});  // of sums over the rows
    form = krill::with_csr(host, A, [&](const auto& csr) { return estimate_form(host, csr, ledger.on_cuda()); });
    if (form.method != name(Format::csr)) kept += form_memory<T>(ledger, krill::rows(A), form);
  }
  if (report) report->method = form.method;
  return kept;
}

template <class T>
HeldMemory SpmvPlan<T>::memory(MemoryLedger& ledger, const CsrSizes& A, Op op) {
  if (op == Op::none) return CsrTiles::memory(ledger, A);
  HeldMemory kept = transpose_memory(ledger, A, true);
  kept += CsrTiles::memory(ledger, A.transposed());
  return kept;
}

template <class T>
SpmvPlan<T>::SpmvPlan(Context& ctx, const AnyMatrix<T>& A, Op op, SpmvMethod method)
    : body_(std::make_unique<Body>(Body{A, op})) {
  const Context::SkipScope never(ctx, nullptr);  // a plan that was left half made would stay so
  const Stopwatch watch;
  body_->make_in_place(ctx);
  SpmvReport& report = body_->report;
  report.method = name(format_of(A));
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

KRILL_INSTANTIATE(SpmvPlan);

}  // namespace krill
