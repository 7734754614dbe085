// What the doors of products share: checks, and the pointers that kernels get.
#pragma once
#include "sparse/spmv/csr_tiles.hpp"
#include "sparse/spmv/recurrence_step.hpp"
#include "sparse/spmv/spmv.hpp"

namespace krill::detail {

/// The operands of y = alpha op(A) x + beta z, but for A.
template <class T>
struct SpmvCall {
  const Scalar<T>& alpha;
  const Array<T>& x;
  const Scalar<T>& beta;
  Array<T>& y;
  const Dots<T>& dots;
  const Array<T>* z = nullptr;  ///< null: y
  const RecurrenceStep<T>* step = nullptr;

  /// Raises ShapeMismatch and InvalidArgument unless the operands suit op(A).
  void check(std::int64_t rows, std::int64_t cols) const {
    require_size("spmv: x", x.size(), cols);
    require_size("spmv: y", y.size(), rows);
    require_disjoint("spmv: x and y", x, y);
    if (z) {
      require_size("residual: b", z->size(), rows);
      require_disjoint("residual: b and r", *z, y);
    }
    if (step) check_step();
    check_dot(dots.with_first, dots.first);
    check_dot(dots.with_second, dots.second);
    if (dots.left_out)
      require_size("spmv: bits of the rows that dots leave out", dots.left_out->size(), (y.size() + 31) / 32);
  }

  /// Reads the partners before y is handed out for writing; a partner that is y itself gets y's pointer.
  template <class Where, class View>
  Product<View> product(const Where& where, const View& a) const {
    Product<View> p{alpha.read(where), a, x.read(where), beta.read(where), nullptr, dots_view(where)};
    if (z) p.z = z->read(where);
    if (step)
      take_step(where, p);
    else
      p.y = z ? y.write(where) : y.output(where, beta);
    if (dots.with_first == &y) p.dots.with_first = p.y;
    if (dots.with_second == &y) p.dots.with_second = p.y;
    return p;
  }

 private:
  void check_step() const {
    const std::int64_t rows = y.size();
    require_size("step: D^-1", step->inverse.size(), rows);
    require(step->former != nullptr || (step->number == 0 && step->d), "step: the first one has no d before it");
    if (step->former) require_size("step: the d before it", step->former->size(), rows);
    if (step->d) require_size("step: d", step->d->size(), rows);
    if (step->former && step->d) {
      require(step->x != nullptr, "step: one that is neither the first nor the last needs x");
      require_size("step: x", step->x->size(), rows);
      require_disjoint("step: d and the d before it", *step->d, *step->former);
    }
  }
  template <class Where, class P>
  void take_step(const Where& where, P& p) const {
    const bool last = !step->d;
    p.step = {step->inverse.read(where), step->factors.read(where) + std::int64_t{3} * step->number};
    p.step.from_zero = step->from_zero;
    if (step->former) p.step.former = step->former->read(where);
    if (step->d) p.step.d = step->d->write(where);
    Array<T>* const sum = last ? &y : step->x;
    if (step->former) p.step.x = step->from_zero ? sum->write(where) : sum->update(where);
    p.y = last ? p.step.x : y.write(where);
  }
  void check_dot(const Array<T>* with, const Array<wide_t<T>>* result) const {
    require((with == nullptr) == (result == nullptr),
            "spmv: a dot product needs both a partner and room for the result");
    if (!with) return;
    require_size("spmv: the partner of a dot product", with->size(), y.size());
    require_size("spmv: the result of a dot product", result->size(), 1);
  }
  template <class Where>
  DotsView<kernel_t<T>> dots_view(const Where& where) const {
    const auto partner = [&](const Array<T>* with) { return with && with != &y ? with->read(where) : nullptr; };
    return {partner(dots.with_first),
            dots.first ? dots.first->write(where) : nullptr,
            partner(dots.with_second),
            dots.second ? dots.second->write(where) : nullptr,
            dots.left_out ? dots.left_out->read(where) : nullptr,
            static_cast<std::int32_t>(dots.kept.begin),
            static_cast<std::int32_t>(dots.kept.end)};
  }
};

/// Whether A's format has kernels of its own; others are multiplied by way of CSR.
template <class Matrix>
constexpr bool has_kernel = requires(const Host& host, const SpmvCall<value_t<Matrix>>& call, const Matrix& A) {
  run_product(host, call.product(host, A.view(host)));
};

/// Whether those find each row's sum at once, and of all rows, so that rows can take a step with it.
template <class Matrix>
constexpr bool has_steps = has_kernel<Matrix> && !std::is_same_v<Matrix, Hyb<value_t<Matrix>>> &&
                           !std::is_same_v<Matrix, Bsrx<value_t<Matrix>>>;
template <class T>
bool takes_steps(const AnyMatrix<T>& A) {
  return std::visit([]<class Matrix>(const Matrix&) { return has_steps<Matrix>; }, A);
}

/// The product or residual that the call asks for, by A's own kernel. Where A is in BSR, `block_tiles` may have the
/// tiles of its block rows.
template <class T>
void run_call(Context& ctx, const AnyMatrix<T>& A, const CsrTiles& block_tiles, const SpmvCall<T>& call) {
  if (const auto* bsr = std::get_if<Bsr<T>>(&A); bsr && !block_tiles.empty())
    return ctx.dispatch([&]<class Where>(const Where& where) {
      const auto p = call.product(where, bsr->view(where));
      if constexpr (std::is_same_v<Where, Cuda>)
        run_product(where, p, block_tiles.view(where));
      else
        run_product(where, p);
    });
  if (call.step)
    return std::visit(
        [&]<class Matrix>(const Matrix& a) {
          if constexpr (has_steps<Matrix>)
            ctx.dispatch([&](const auto& where) { run_product(where, call.product(where, a.view(where))); });
        },
        A);
  call.z ? residual(ctx, A, call.x, *call.z, call.y, call.dots)
         : spmv(ctx, Op::none, call.alpha, A, call.x, call.beta, call.y, call.dots);
}

}  // namespace krill::detail
