#include "sparse/spmv/plan.hpp"

#include <optional>
#include <variant>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/spmv/automatic.hpp"
#include "sparse/spmv/csr_tiles.hpp"
#include "sparse/spmv/planned_csr.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;
namespace {

/// A matrix in CSR and its tiles.
template <class T>
class PlannedRows {
 public:
  template <class... Made>
  explicit PlannedRows(Context& ctx, const Made&... made) : csr_(ctx, made...) {
    find_tiles(ctx);
  }
  void update(Context& ctx) {
    if (csr_.update(ctx)) find_tiles(ctx);
  }
  std::size_t bytes() const { return csr_.bytes() + tiles_.bytes(); }
  const PlannedCsr<T>& csr() const { return csr_; }

  template <class Where>
  void multiply(const Where& where, const SpmvCall<T>& call) const {
    csr_.with_view(where, [&](const auto& view) {
      if constexpr (std::is_same_v<Where, Cuda>)
        if (!tiles_.empty()) return run_product(where, call.product(where, view), tiles_.view(where));
      run_product(where, call.product(where, view));
    });
  }

 private:
  void find_tiles(Context& ctx) {
    csr_.with_arrays(
        [&](const auto& offsets, const auto& values) { tiles_ = CsrTiles::of(ctx, csr_.rows(), offsets, values); });
  }

  PlannedCsr<T> csr_;
  CsrTiles tiles_;
};

/// Of the products y = A x that forms are timed with; filled, so that all find the same memory.
template <class T>
struct TrialVectors {
  Array<T> x, y;
  const Scalar<T> one{1}, zero{0};
  const Dots<T> no_dots = {};

  TrialVectors(Context& ctx, const MatrixShape& A) : x(A.cols(), "plan x"), y(A.rows(), "plan y") {
    fill(ctx, T(1), x), fill(ctx, T(0), y);
  }
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

  void make_in_place(Context& ctx) {
    std::visit([&](const auto& a) { make_in_place(ctx, a); }, A);
  }
  template <class Matrix>
  void make_in_place(Context& ctx, const Matrix& a) {
    if (op != Op::none || is_multiplied_as_csr<Matrix>)
      rows.emplace(ctx, A, op);
    else if constexpr (std::is_same_v<Matrix, Hyb<T>>)
      rows.emplace(ctx, a.coo());
    else if constexpr (std::is_same_v<Matrix, Bsr<T>>)
      block_tiles = CsrTiles::of(ctx, a);
  }
  template <class Matrix>
  static constexpr bool is_multiplied_as_csr =
      is_csr<Matrix> || std::is_same_v<Matrix, Csc<T>> || std::is_same_v<Matrix, Gebsc<T>> ||
      std::is_same_v<Matrix, Coo<T>> || std::is_same_v<Matrix, CooAos<T>>;

  std::size_t bytes() const { return block_tiles.bytes() + (rows ? rows->bytes() : 0) + (other ? other->bytes() : 0); }

  void update(Context& ctx) {
    if (other) return with_csr([&](const auto& a) { other->update(ctx, a); });
    if (rows) rows->update(ctx);
  }

  /// Where values come by pattern.
  const Packed<T>* named_rows() const {
    const auto* packed = other ? std::get_if<Packed<T>>(&other->matrix) : nullptr;
    return packed && packed->sizes().values == ValueCode::pattern ? packed : nullptr;
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

  void choose(Context& ctx, bool by_clock) {
    report.why = "only a matrix in csr, not transposed, is looked at";
    if (op == Op::none)
      with_csr([&](const auto& a) {
        FormTrial<T> trial;
        if (by_clock)
          trial.prepare = [&] {
            const auto vectors = std::make_shared<TrialVectors<T>>(ctx, a);
            return [this, &ctx, vectors](const OtherForm<T>* form) {
              const auto& v = *vectors;
              const SpmvCall<T> call{v.one, v.x, v.zero, vectors->y, v.no_dots};
              form ? form->multiply(ctx, call) : multiply(ctx, call);
            };
          };
        other = choose_form(ctx, a, trial, report);
      });
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
  if (method != SpmvMethod::in_place && form.method == name(Format::csr)) {
    ledger.scratch({1});  // of sums over the rows
    form = krill::with_csr(host, A, [&](const auto& csr) { return estimate_form(host, csr, ledger.on_cuda()); });
    if (form.method != name(Format::csr)) kept += form_memory<T>(ledger, krill::rows(A), form);
  }
  if (report) {
    report->method = form.method, report->csr_bytes = krill::bytes(A);
    report->bytes = form.method == name(format_of(A)) ? krill::bytes(A) : form.bytes;
  }
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
SpmvPlan<T>::SpmvPlan(Context& ctx, const AnyMatrix<T>& A, Op op, SpmvMethod method) : body_(new Body{A, op}) {
  const Context::SkipScope never(ctx, nullptr);  // a plan that was left half made would stay so
  const Stopwatch watch;
  body_->make_in_place(ctx);
  SpmvReport& report = body_->report;
  report.method = name(format_of(A));
  report.csr_bytes = report.bytes = krill::bytes(A);
  if (method != SpmvMethod::in_place)
    body_->choose(ctx, method == SpmvMethod::automatic);
  else
    report.why = "in place, as it was asked for";
  report.setup_ms = watch.milliseconds();
  if (report.csr_ms > report.ms) report.break_even = report.setup_ms / (report.csr_ms - report.ms);
}

template <class T>
SpmvPlan<T>::SpmvPlan(Context& ctx, const AnyMatrix<T>& A, const SpmvPlan<wide_t<T>>& like, double scale)
    : body_(new Body{A, Op::none}) {
  const Context::SkipScope never(ctx, nullptr);
  const Stopwatch watch;
  const Packed<wide_t<T>>* rows = like.body_->named_rows();
  if (!rows) throw InvalidArgument("spmv plan: the other plan does not name rows");
  const auto& packed = std::get<Packed<T>>(body_->other.emplace(OtherForm<T>{Packed<T>(ctx, *rows, scale)}).matrix);
  SpmvReport& report = body_->report;
  report.method = "packed", report.why = "as the plan of the matrix in another precision";
  report.csr_bytes = krill::bytes(A), report.bytes = packed.sizes().bytes;
  report.setup_ms = watch.milliseconds();
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
bool SpmvPlan<T>::names_rows() const {
  return body_->named_rows() != nullptr;
}
template <class T>
std::size_t SpmvPlan<T>::bytes() const {
  return body_->bytes();
}
template <class T>
const PlannedCsr<T>* SpmvPlan<T>::csr() const {
  const bool is_whole = body_->op != Op::none || !std::holds_alternative<Hyb<T>>(body_->A);
  return body_->rows && !body_->other && is_whole ? &body_->rows->csr() : nullptr;
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

template <class T>
void SpmvPlan<T>::take_step(Context& ctx, const Array<T>& x, const Array<T>& b, Array<T>& r,
                            const RecurrenceStep<T>& step, const Dots<T>& dots) const {
  require(takes_steps(), "spmv plan: no steps are taken with matrices in HYB or BSRX");
  const Scalar<T> minus_one(-1), one(1);
  const SpmvCall<T> call{minus_one, x, one, r, dots, &b, &step};
  call.check(rows(), cols());
  body_->multiply(ctx, call);
}

template <class T>
bool SpmvPlan<T>::takes_steps() const {
  if (body_->other)
    return std::visit(
        []<class Form>(const Form& form) {
          if constexpr (std::is_same_v<Form, Packed<T>>)
            return true;
          else
            return detail::takes_steps(form);
        },
        body_->other->matrix);
  return csr() || (body_->op == Op::none && detail::takes_steps(body_->A));
}

KRILL_INSTANTIATE(SpmvPlan);

}  // namespace krill
