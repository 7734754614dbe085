#include "solvers/multigrid/smoother.hpp"

#include "solvers/multigrid/multigrid_passes.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;

template <class T>
const Array<T>& Smoother<T>::residual(Context& ctx, const Array<T>& b, const Array<T>& x) const {
  A_.apply(ctx, x, w_);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, b.size(), LevelResidual<K>{b.read(where), w_.read(where), r_.write(where)});
  });
  return r_;
}

template <class T>
ApplicationWork Smoother<T>::residual_work() const {
  return {{static_cast<double>(A_.rows()) * 5 * sizeof(T), 0}, 1};
}

template <class T>
PreconditionedSmoother<T>::PreconditionedSmoother(const Operator<T>& A, SmoothingPair<T> M, int steps)
    : Smoother<T>(A), M_(std::move(M)), steps_(steps), z_(A.rows(), "smoother z") {}

template <class T>
void PreconditionedSmoother<T>::smooth_from_zero(Context& ctx, const Array<T>& b, Array<T>& x) const {
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
  degree_ = polynomial.degree();
  if (factors_.size() == 0) {
    factors_ = Array<R>(3 * degree_, "smoother factors");
    polynomial_ = Array<double>(3 * degree_, "smoother polynomial");
  }
  std::span<double> factors = polynomial_.edit();
  for (std::size_t k = 0; k < polynomial.steps.size(); ++k) {
    const auto& step = polynomial.steps[k];
    factors[3 * k] = step.old, factors[3 * k + 1] = step.fresh, factors[3 * k + 2] = step.weight;
  }
  scale_polynomial(ctx, Array<double>{1});
}

template <class T>
void PolynomialSmoother<T>::scale_polynomial(Context& ctx, const Array<double>& max_eigenvalue) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, factors_.size(),
             ScalePolynomial<R>{max_eigenvalue.read(where), polynomial_.read(where), factors_.write(where)});
  });
}

template <class T>
void PolynomialSmoother<T>::step(Context& ctx, int k, bool first, const Array<T>& r_before, Array<T>& x,
                                 const Array<T>* b, Array<double>* dot) const {
  const bool last = k + 1 == degree_;
  ctx.dispatch([&](const auto& where) {
    const K* before = r_before.read(where);
    K* r = last ? nullptr : &r_before == &r_ ? r_.update(where) : r_.write(where);
    const StepSmoothing<K> pass{
        {factors_.read(where) + std::int64_t{3} * k}, first,          inverse_.read(where), before, w_.read(where), r,
        first ? d_.write(where) : d_.update(where),   x.update(where)};
    if (dot && last)
      run_pass(where, x.size(), EndSmoothing<K>{pass, b->read(where), dot->write(where)});
    else
      run_pass(where, x.size(), pass);
  });
}

template <class T>
void PolynomialSmoother<T>::smooth_from_zero(Context& ctx, const Array<T>& b, Array<T>& x) const {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, b.size(),
             BeginSmoothing<K>{
                 {factors_.read(where)}, inverse_.read(where), b.read(where), d_.write(where), x.write(where)});
  });
  for (int k = 1; k < degree_; ++k) {
    A_.apply(ctx, d_, w_);
    step(ctx, k, false, k == 1 ? b : r_, x, nullptr, nullptr);
  }
}

template <class T>
void PolynomialSmoother<T>::smooth(Context& ctx, SmoothingTime, const Array<T>& b, Array<T>& x,
                                   Array<double>* dot) const {
  A_.apply(ctx, x, w_);
  step(ctx, 0, true, b, x, &b, dot);
  for (int k = 1; k < degree_; ++k) {
    A_.apply(ctx, d_, w_);
    step(ctx, k, false, r_, x, &b, dot);
  }
}

/// A step reads r, w, d, x and D^-1, and writes d and x, and r unless it is the last; A d reads d and writes w. There
/// is no d before the first.
template <class T>
ApplicationWork PolynomialSmoother<T>::work(bool from_zero) const {
  const auto n = static_cast<double>(A_.rows());
  ApplicationWork work{{}, static_cast<double>(degree_ - (from_zero ? 1 : 0))};
  for (int k = 0; k < degree_; ++k)
    work.own += k == 0 && from_zero
                    ? Work{n * (3 * sizeof(T) + sizeof(R)), n * multiply_add<T>}
                    : Work{n * ((8 - (k == 0 ? 1 : 0) + (k + 1 < degree_ ? 1 : 0)) * sizeof(T) + sizeof(R)),
                           (k == 0 ? 2 : 3) * n * multiply_add<T>};
  return work;
}

KRILL_INSTANTIATE(Smoother);
KRILL_INSTANTIATE(PreconditionedSmoother);
KRILL_INSTANTIATE(PolynomialSmoother);

}  // namespace krill
