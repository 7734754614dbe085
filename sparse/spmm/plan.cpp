#include "sparse/spmm/plan.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "sparse/core/instantiate.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/spmm/call.hpp"
#include "sparse/spmm/coded_rows.hpp"
#include "sparse/spmm/planned_tiles.hpp"
#include "sparse/spmv/automatic.hpp"
#include "sparse/spmv/planned_csr.hpp"
#include "sparse/spmv/product.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;
namespace {

/// Of the products C = A B that forms are timed with; filled, so that all find the same memory.
template <class T>
struct TrialMatrices {
  Dense<T> B, C;
  const Scalar<T> one{1}, zero{0};

  TrialMatrices(Context& ctx, std::int64_t rows, std::int64_t cols, std::int64_t columns)
      : B(cols, columns), C(rows, columns) {
    fill(ctx, T(1), B.values()), fill(ctx, T(0), C.values());
  }
};

}  // namespace

template <class T>
struct SpmmPlan<T>::Body {
  const AnyMatrix<T>& A;
  PlannedCsr<T> csr;
  PlannedTiles tiles;
  CsrTiles vector = {};  // of a product with one
  SpmvReport report = {};
  std::optional<OtherForm<T>> other = {};

  void find_tiles(Context& ctx) {
    csr.with_arrays([&](const auto& offsets, const auto& values) {
      if (tiles.columns == 1)
        vector = CsrTiles::of(ctx, csr.rows(), offsets, values);
      else
        tiles.find(ctx, csr.rows(), values.size(), sizeof(T), offsets);
    });
  }

  template <class Where, class V, class Offset>
  void multiply(const Where& where, const ManyProducts<V, Offset>& p) const {
    if constexpr (std::is_same_v<Where, Cuda>) {
      if (is_spmv(p) && !vector.empty()) return run_product(where, as_spmv(p), vector.view(where));
      if (const CsrTiles* known = tiles.of(p)) return run_products(where, p, known->view(where));
    }
    is_spmv(p) ? run_product(where, as_spmv(p)) : run_products(where, p);
  }

  /// In that form, or in CSR where it is null.
  void multiply(Context& ctx, const SpmmCall<T>& call, const OtherForm<T>* form) const {
    if (const auto* matrix = form ? std::get_if<AnyMatrix<T>>(&form->matrix) : nullptr)
      return spmm(ctx, Op::none, call.op_b, call.alpha, *matrix, call.B, call.beta, call.C);
    const auto* coded = form ? std::get_if<Packed<T>>(&form->matrix) : nullptr;
    ctx.dispatch([&](const auto& where) {
      call.with_operands(where, [&](const auto& dense) {
        if (coded) return multiply(where, dense, coded->view(where));
        csr.with_view(where, [&]<class Offset>(const CsrView<const kernel_t<T>, Offset>& a) {
          multiply(where, ManyProducts<kernel_t<T>, Offset>{{dense, a}});
        });
      });
    });
  }
  template <class Where, class V>
  void multiply(const Where& where, const DenseOperands<V>& dense, const PackedView<const V>& a) const {
    if (is_spmv(dense))
      return run_product(where,
                         Product<PackedView<const V>>{dense.alpha, a, dense.b.values, dense.beta, dense.c.values, {}});
    run_products(where, RowProducts<CodedRows<const V>>{dense, {a}}, krill::nnz(A));
  }

  void update(Context& ctx) {
    if (csr.update(ctx)) find_tiles(ctx);
    if (!other) return;
    std::visit(
        [&]<class Matrix>(const Matrix& a) {
          if constexpr (is_csr<Matrix>) other->update(ctx, a);
        },
        A);
  }

  void choose(Context& ctx, Op op, bool by_clock) {
    report.why = "only a matrix in csr, not transposed, is looked at";
    if (op != Op::none) return;
    std::visit(
        [&]<class Matrix>(const Matrix& a) {
          if constexpr (is_csr<Matrix>) other = choose_form(ctx, a, trial(ctx, by_clock), report);
        },
        A);
    ctx.synchronize();
  }
  FormTrial<T> trial(Context& ctx, bool by_clock) const {
    FormTrial<T> trial;
    trial.operands =
        sizeof(T) * static_cast<std::size_t>(tiles.columns) * static_cast<std::size_t>(csr.rows() + csr.cols());
    if (!by_clock) return trial;
    trial.prepare = [this, &ctx] {
      const auto dense = std::make_shared<TrialMatrices<T>>(ctx, csr.rows(), csr.cols(), tiles.columns);
      return [this, &ctx, dense](const OtherForm<T>* form) {
        multiply(ctx, {dense->one, Op::none, dense->B, dense->zero, dense->C}, form);
      };
    };
    return trial;
  }
};

template <class T>
SpmmPlan<T>::SpmmPlan(Context& ctx, const AnyMatrix<T>& A, Op op, std::int64_t columns, SpmvMethod method) {
  require(columns >= 1 && columns <= std::numeric_limits<std::int32_t>::max(),
          fmt::format("spmm plan: columns: expected 1 to 2147483647, got {}", columns));
  const Context::SkipScope never(ctx, nullptr);  // a plan that was left half made would stay so
  const Stopwatch watch;
  body_.reset(new Body{A, {ctx, A, op}, {static_cast<std::int32_t>(columns)}});
  body_->find_tiles(ctx);
  SpmvReport& report = body_->report;
  report.csr_bytes = report.bytes = krill::bytes(A);
  if (method != SpmvMethod::in_place)
    body_->choose(ctx, op, method == SpmvMethod::automatic);
  else
    report.why = "in place, as it was asked for";
  ctx.synchronize();
  report.setup_ms = watch.milliseconds();
  if (report.csr_ms > report.ms) report.break_even = report.setup_ms / (report.csr_ms - report.ms);
}

template <class T>
SpmmPlan<T>::SpmmPlan(SpmmPlan&&) noexcept = default;
template <class T>
SpmmPlan<T>& SpmmPlan<T>::operator=(SpmmPlan&&) noexcept = default;
template <class T>
SpmmPlan<T>::~SpmmPlan() = default;

template <class T>
std::int32_t SpmmPlan<T>::rows() const {
  return body_->csr.rows();
}
template <class T>
std::int32_t SpmmPlan<T>::cols() const {
  return body_->csr.cols();
}
template <class T>
std::size_t SpmmPlan<T>::bytes() const {
  return body_->csr.bytes() + body_->vector.bytes() + body_->tiles.bytes() + (body_->other ? body_->other->bytes() : 0);
}
template <class T>
const SpmvReport& SpmmPlan<T>::report() const {
  return body_->report;
}

template <class T>
void SpmmPlan<T>::update(Context& ctx) {
  const Context::SkipScope never(ctx, nullptr);
  body_->update(ctx);
}

template <class T>
void SpmmPlan<T>::apply(Context& ctx, Op op_b, const Scalar<T>& alpha, const Dense<T>& B, const Scalar<T>& beta,
                        Dense<T>& C) const {
  const SpmmCall<T> call{alpha, op_b, B, beta, C};
  call.check(rows(), cols());
  body_->multiply(ctx, call, body_->other ? &*body_->other : nullptr);
}

KRILL_INSTANTIATE(SpmmPlan);

}  // namespace krill
