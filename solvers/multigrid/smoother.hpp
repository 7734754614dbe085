// Smoothing by a polynomial in D^-1 A.
#pragma once
#include "solvers/multigrid/polynomial.hpp"
#include "solvers/operator.hpp"
#include "sparse/core/work.hpp"

namespace krill {

/// x += q(D^-1 A) D^-1 (b - A x) with the polynomial q that a SmootherPolynomial has. Asynchronous, capturable after a
/// first run. One smoothing at a time: it has vectors of its own.
template <class T>
class PolynomialSmoother {
 public:
  /// A has to stay. inverse: the diagonal of D^-1.
  PolynomialSmoother(const Operator<T>& A, Array<real_t<T>> inverse);
  /// Takes the factors to where kernels read them, in place from the second time on.
  void set_polynomial(Context&, const SmootherPolynomial&);
  /// The polynomial that was set is for eigenvalues in (0, 1]: makes it one for those up to `max_eigenvalue`, an entry
  /// on the backend's side. Asynchronous, capturable after a first run.
  void scale_polynomial(Context&, const Array<double>& max_eigenvalue);

  /// x = q D^-1 b: from x = 0. degree - 1 products.
  void smooth_from_zero(Context&, const Array<T>& b, Array<T>& x) const;
  /// degree products. With dot: dot = Re b'x of the new x.
  void smooth(Context&, const Array<T>& b, Array<T>& x, Array<double>* dot = nullptr) const;
  /// r = b - A x; the answer is r, a vector of the smoother.
  const Array<T>& residual(Context&, const Array<T>& b, const Array<T>& x) const;

  const Operator<T>& matrix() const { return A_; }
  const Array<real_t<T>>& inverse() const { return inverse_; }
  Array<real_t<T>>& inverse() { return inverse_; }
  int degree() const { return degree_; }
  /// {old, fresh, weight} of each step.
  const Array<real_t<T>>& factors() const { return factors_; }
  std::size_t bytes() const { return detail::bytes_of(inverse_, polynomial_, factors_, r_, d_, w_); }
  /// Of vectors, beside products with A.
  Work work_from_zero() const;
  Work work() const;
  Work residual_work() const;

 private:
  using K = kernel_t<T>;
  using R = real_t<T>;
  void step(Context&, int k, bool first, const Array<T>& r_before, Array<T>& x, const Array<T>* b,
            Array<double>* dot) const;

  const Operator<T>& A_;
  Array<R> inverse_, factors_;
  Array<double> polynomial_;  // the factors as they were set
  int degree_ = 0;
  mutable Array<T> r_, d_, w_;
};

}  // namespace krill
