#include "solvers/multigrid/smoother.hpp"

#include <fmt/format.h>

#include "solvers/multigrid/multigrid_passes.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;

template <class T>
const Array<T>& Smoother<T>::residual(Context& ctx, const Array<T>& b, const Array<T>& x) const {
  A_.residual(ctx, x, b, r_);
  return r_;
}

template <class T>
ApplicationWork Smoother<T>::residual_work() const {
  return {{static_cast<double>(A_.rows()) * 3 * sizeof(T), 0}, 1};
}

template <class T>
PreconditionedSmoother<T>::PreconditionedSmoother(const Operator<T>& A, SmoothingPair<T> M, int steps)
    : Smoother<T>(A), M_(std::move(M)), steps_(steps), z_(A.rows(), "smoother z") {}

template <class T>
void PreconditionedSmoother<T>::smooth_from_zero(Context& ctx, const Array<T>& b, Array<T>& x,
                                                 const WideVector<T>&) const {
  M_.before->apply(ctx, b, x);
  for (int k = 1; k < steps_; ++k) {
    this->residual(ctx, b, x);
    axpby(ctx, 1.0, M_.before->apply(ctx, r_, z_), 1.0, x);
  }
}

template <class T>
void PreconditionedSmoother<T>::smooth(Context& ctx, SmoothingTime time, const Array<T>& b, Array<T>& x,
                                       Array<double>*) const {
  for (int k = 0; k < steps_; ++k) {
    this->residual(ctx, b, x);
    axpby(ctx, 1.0, preconditioner(time).apply(ctx, r_, z_), 1.0, x);
  }
}

template <class T>
void PreconditionedSmoother<T>::update(Context& ctx, const AnyMatrix<T>& A) {
  M_.before->update(ctx, A);
  if (M_.after) M_.after->update(ctx, A);
}

template <class T>
std::size_t PreconditionedSmoother<T>::bytes() const {
  return Smoother<T>::bytes() + bytes_of(z_) + M_.before->report().bytes + (M_.after ? M_.after->report().bytes : 0);
}

/// Those of the time before, which count for both.
template <class T>
ApplicationWork PreconditionedSmoother<T>::work(bool from_zero) const {
  const ApplicationWork residual = this->residual_work(), one = M_.before->work();
  const double steps = steps_, more = steps - (from_zero ? 1 : 0), n = static_cast<double>(z_.size());
  return {{steps * one.own.bytes + more * (residual.own.bytes + 3 * n * sizeof(T)),
           steps * one.own.flops + more * n * multiply_add<T>},
          steps * one.products + more};
}

template <class T>
PolynomialSmoother<T>::PolynomialSmoother(const Operator<T>& A, Array<real_t<T>> inverse)
    : Smoother<T>(A), inverse_(std::move(inverse)), d_(A.rows(), "smoother d") {}

template <class T>
void PolynomialSmoother<T>::set_polynomial(Context& ctx, const SmootherPolynomial& polynomial) {
  polynomial_ = polynomial;
  degree_ = polynomial.degree();
  require(degree_ <= SmootherOptions::max_degree,
          fmt::format("smoother: a polynomial has {} steps, {} are the most", degree_, SmootherOptions::max_degree));
  if (factors_.size() == 0) {
    factors_ = Array<R>(3 * degree_, "smoother factors");
    by_residuals_ = degree_ > 1 && A_.takes_steps(ctx);
    if (!by_residuals_ || is_complex<T> || degree_ > 2) next_r_ = Array<T>(A_.rows(), "smoother r");
    if (by_residuals_ && degree_ > 2) next_d_ = Array<T>(A_.rows(), "smoother d");
  }
  scale_factors(ctx, nullptr);
}

template <class T>
void PolynomialSmoother<T>::scale_polynomial(Context& ctx, const Array<double>& max_eigenvalue) {
  scale_factors(ctx, &max_eigenvalue);
}

template <class T>
void PolynomialSmoother<T>::scale_factors(Context& ctx, const Array<double>* max_eigenvalue) {
  ScalePolynomial<R> pass{};
  for (std::size_t k = 0; k < polynomial_.steps.size(); ++k) {
    const auto& step = polynomial_.steps[k];
    pass.polynomial[3 * k] = step.old, pass.polynomial[3 * k + 1] = step.fresh,
                        pass.polynomial[3 * k + 2] = step.weight;
  }
  ctx.dispatch([&](const auto& where) {
    pass.eigenvalue = max_eigenvalue ? max_eigenvalue->read(where) : nullptr;
    pass.factors = factors_.write(where);
    run_pass(where, factors_.size(), pass);
  });
}

/// Step k with the residual before it; `first`: there is no d.
template <class T>
void PolynomialSmoother<T>::step(Context& ctx, int k, bool first, const Array<T>& r, Array<T>& x, const Array<T>* b,
                                 Array<double>* dot) const {
  const bool last = k + 1 == degree_;
  ctx.dispatch([&](const auto& where) {
    const StepSmoothing<K> pass{
        {factors_.read(where) + std::int64_t{3} * k}, first,          last, inverse_.read(where), r.read(where),
        first ? d_.write(where) : d_.update(where),   x.update(where)};
    if (dot && last)
      run_pass(where, x.size(), EndSmoothing<K>{pass, b->read(where), dot->write(where)});
    else
      run_pass(where, x.size(), pass);
  });
}

/// Steps from the second one on; r: the residual before the step that was taken last.
template <class T>
void PolynomialSmoother<T>::go_on(Context& ctx, const Array<T>& r, Array<T>& x, const Array<T>* b,
                                  Array<double>* dot) const {
  const Array<T>* before = &r;
  for (int k = 1; k < degree_; ++k) {
    Array<T>& after = before == &r_ ? next_r_ : r_;
    A_.residual(ctx, d_, *before, after);
    step(ctx, k, false, after, x, b, dot);
    before = &after;
  }
}

/// As go_on(), by the products' rows; what the step before has found is not in x yet.
template <class T>
void PolynomialSmoother<T>::go_on_by_residuals(Context& ctx, const Array<T>& r, Array<T>& x, bool from_zero,
                                               const Array<T>* b, Array<double>* dot) const {
  const Array<T>* before = &r;
  Array<T>*d = &d_, *next_d = &next_d_;
  for (int k = 1; k < degree_; ++k) {
    RecurrenceStep<T> step{inverse_, factors_, k, d};
    step.from_zero = from_zero && k == 1;
    if (k + 1 == degree_) {
      Dots<T> dots;
      if constexpr (!is_complex<T>)
        if (dot) dots = {b, dot};
      A_.take_step(ctx, *d, *before, x, step, dots);
      return;
    }
    Array<T>& after = before == &r_ ? next_r_ : r_;
    step.d = next_d, step.x = &x;
    A_.take_step(ctx, *d, *before, after, step, {});
    before = &after;
    std::swap(d, next_d);
  }
}

template <class T>
void PolynomialSmoother<T>::smooth_from_zero(Context& ctx, const Array<T>& b, Array<T>& x,
                                             const WideVector<T>& wide) const {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, b.size(),
             BeginSmoothing<K>{{factors_.read(where)},
                               inverse_.read(where),
                               wide.from ? nullptr : b.read(where),
                               d_.write(where),
                               by_residuals_ ? nullptr : x.write(where),
                               wide.from ? wide.from->read(where) : nullptr,
                               wide.from ? wide.to->write(where) : nullptr});
  });
  by_residuals_ ? go_on_by_residuals(ctx, b, x, true, nullptr, nullptr) : go_on(ctx, b, x, nullptr, nullptr);
}

template <class T>
void PolynomialSmoother<T>::smooth(Context& ctx, SmoothingTime, const Array<T>& b, Array<T>& x,
                                   Array<double>* dot) const {
  if (by_residuals_ && !(is_complex<T> && dot)) {  // dots of products are complex where vectors are
    RecurrenceStep<T> first{inverse_, factors_, 0};
    first.d = &d_;
    A_.take_step(ctx, x, b, r_, first, {});
    return go_on_by_residuals(ctx, r_, x, false, &b, dot);
  }
  step(ctx, 0, true, this->residual(ctx, b, x), x, &b, dot);
  go_on(ctx, r_, x, &b, dot);
}

/// A residual reads x, or d, and b, or the residual before, and writes another one. A step reads that, d, x and D^-1,
/// and writes x, and d unless it is the last; there is no d before the first. By the products' rows it has the residual
/// and the d before at hand, leaves x alone in the first one, and the last one writes no residual.
template <class T>
ApplicationWork PolynomialSmoother<T>::work(bool from_zero) const {
  const auto n = static_cast<double>(A_.rows());
  ApplicationWork work{{}, static_cast<double>(degree_ - (from_zero ? 1 : 0))};
  for (int k = 0; k < degree_ && by_residuals_; ++k) {
    const bool begins = k == 0 && from_zero, reads_x = k > 0 && !(from_zero && k == 1);
    const int vectors = begins ? 2 : k == 0 ? 4 : (k + 1 < degree_ ? 5 : 3) + reads_x;
    work.own += {n * (vectors * sizeof(T) + sizeof(R)), (k == 0 ? (begins ? 0 : 1) : 3) * n * multiply_add<T>};
  }
  for (int k = 0; k < degree_ && !by_residuals_; ++k)
    work.own += k == 0 && from_zero
                    ? Work{n * (3 * sizeof(T) + sizeof(R)), n * multiply_add<T>}
                    : Work{n * ((3 + 3 + (k > 0 ? 1 : 0) + (k + 1 < degree_ ? 1 : 0)) * sizeof(T) + sizeof(R)),
                           (k == 0 ? 2 : 3) * n * multiply_add<T>};
  return work;
}

KRILL_INSTANTIATE(Smoother);
KRILL_INSTANTIATE(PreconditionedSmoother);
KRILL_INSTANTIATE(PolynomialSmoother);

}  // namespace krill
