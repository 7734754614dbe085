// What smooths the levels of a multigrid method.
#pragma once
#include <array>
#include <functional>
#include <memory>

#include "solvers/multigrid/polynomial.hpp"
#include "solvers/operator.hpp"
#include "solvers/preconditioner.hpp"

namespace krill {

/// When a level is smoothed: what comes after a coarser level was asked is the adjoint of what comes before, where a
/// smoother is made so for Hermitian matrices.
enum class SmoothingTime { before, after };

/// A vector in double precision that a right-hand side becomes; none where `from` is null.
template <class T>
struct WideVector {
  const Array<wide_t<T>>* from = nullptr;
  Array<T>* to = nullptr;
};

/// Makes x a better solution of A x = b. Asynchronous, capturable after a first run. One smoothing at a time: it has
/// vectors of its own.
template <class T>
class Smoother {
 public:
  /// A has to stay.
  explicit Smoother(const Operator<T>& A) : A_(A), r_(A.rows(), "smoother r") {}
  virtual ~Smoother() = default;

  /// From x = 0, before a coarser level is asked. With `wide`, where takes_wide(), b becomes that vector first.
  virtual void smooth_from_zero(Context&, const Array<T>& b, Array<T>& x, const WideVector<T>& wide = {}) const = 0;
  virtual bool takes_wide() const { return false; }
  /// With dot, where takes_dot(): dot = Re b'x of the new x.
  virtual void smooth(Context&, SmoothingTime, const Array<T>& b, Array<T>& x, Array<double>* dot = nullptr) const = 0;
  virtual bool takes_dot() const { return false; }
  /// r = b - A x; the answer is r, a vector of the smoother.
  const Array<T>& residual(Context&, const Array<T>& b, const Array<T>& x) const;
  /// The matrix has new values, for what is made of them by itself. May wait.
  virtual void update(Context&, const AnyMatrix<T>&) {}

  const Operator<T>& matrix() const { return A_; }
  virtual std::size_t bytes() const { return detail::bytes_of(r_); }
  /// `products` are those with A.
  virtual ApplicationWork work(bool from_zero) const = 0;
  ApplicationWork residual_work() const;

 protected:
  using K = kernel_t<T>;

  const Operator<T>& A_;
  mutable Array<T> r_;
};

/// What an application of two preconditioners smooths by.
template <class T>
struct SmoothingPair {
  std::unique_ptr<Preconditioner<T>> before, after;  ///< after: null where it is the same
};
/// Makes them for the matrix of a level.
template <class T>
using MakeSmoothingPair = std::function<SmoothingPair<T>(Context&, const AnyMatrix<T>&)>;

/// Steps x += M (b - A x).
template <class T>
class PreconditionedSmoother final : public Smoother<T> {
 public:
  PreconditionedSmoother(const Operator<T>& A, SmoothingPair<T> M, int steps);
  void smooth_from_zero(Context&, const Array<T>& b, Array<T>& x, const WideVector<T>& wide = {}) const override;
  void smooth(Context&, SmoothingTime, const Array<T>& b, Array<T>& x, Array<double>* dot = nullptr) const override;
  void update(Context&, const AnyMatrix<T>&) override;
  std::size_t bytes() const override;
  ApplicationWork work(bool from_zero) const override;

  const Preconditioner<T>& preconditioner(SmoothingTime time) const {
    return time == SmoothingTime::after && M_.after ? *M_.after : *M_.before;
  }
  int steps() const { return steps_; }

 private:
  using Smoother<T>::r_;
  SmoothingPair<T> M_;
  int steps_;
  mutable Array<T> z_;
};

/// x += q(D^-1 A) D^-1 (b - A x) with the polynomial q that a SmootherPolynomial has.
template <class T>
class PolynomialSmoother final : public Smoother<T> {
  using typename Smoother<T>::K;

 public:
  /// A has to stay. inverse: the diagonal of D^-1.
  PolynomialSmoother(const Operator<T>& A, Array<real_t<T>> inverse);
  /// Takes the factors to where kernels read them, in place from the second time on. No more than
  /// SmootherOptions::max_degree of them.
  void set_polynomial(Context&, const SmootherPolynomial&);
  /// The polynomial that was set is for eigenvalues in (0, 1]: makes it one for those up to `max_eigenvalue`, an entry
  /// on the backend's side. Asynchronous, capturable after a first run.
  void scale_polynomial(Context&, const Array<double>& max_eigenvalue);

  /// x = q D^-1 b. degree - 1 products.
  void smooth_from_zero(Context&, const Array<T>& b, Array<T>& x, const WideVector<T>& wide = {}) const override;
  bool takes_wide() const override { return true; }
  /// degree products, at any time.
  void smooth(Context&, SmoothingTime, const Array<T>& b, Array<T>& x, Array<double>* dot = nullptr) const override;
  bool takes_dot() const override { return true; }

  const Array<real_t<T>>& inverse() const { return inverse_; }
  Array<real_t<T>>& inverse() { return inverse_; }
  int degree() const { return degree_; }
  /// Whether its steps are taken by the products' rows.
  bool takes_steps() const { return by_residuals_; }
  /// r, next r, d and next d, for a kernel that takes the steps by itself; null where there are none.
  template <class Where>
  std::array<K*, 4> vectors(const Where& where) const {
    return {this->r_.write(where), next_r_.write(where), d_.write(where), next_d_.write(where)};
  }
  /// {old, fresh, weight} of each step.
  const Array<real_t<T>>& factors() const { return factors_; }
  std::size_t bytes() const override {
    return Smoother<T>::bytes() + detail::bytes_of(inverse_, factors_, d_, next_d_, next_r_);
  }
  ApplicationWork work(bool from_zero) const override;

 private:
  using R = real_t<T>;
  using Smoother<T>::A_, Smoother<T>::r_;
  void scale_factors(Context&, const Array<double>* max_eigenvalue);
  void step(Context&, int k, bool first, const Array<T>& r, Array<T>& x, const Array<T>* b, Array<double>* dot) const;
  void go_on(Context&, const Array<T>& r, Array<T>& x, const Array<T>* b, Array<double>* dot) const;
  void go_on_by_residuals(Context&, const Array<T>& r, Array<T>& x, bool from_zero, const Array<T>* b,
                          Array<double>* dot) const;

  Array<R> inverse_, factors_;
  SmootherPolynomial polynomial_;  // as it was set
  int degree_ = 0;
  bool by_residuals_ = false;             // whether steps are taken by the products' rows
  mutable Array<T> d_, next_d_, next_r_;  // those of two steps take turns
};

}  // namespace krill
