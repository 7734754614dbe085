#include "apps/verify/textbook.hpp"

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <complex>

#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"

namespace krill::apps::verify {
namespace {

template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

template <class T>
class Textbook {
 public:
  using W = wide_t<T>;

  Textbook(const Rows<T>& A, const ApplyPreconditioner<T>& M, std::span<const T> b, std::span<const T> x0,
           double target, int most)
      : A_(A.rows, A.cols), apply_(M), b_(view(b)), x_(view(x0)), target_(target), most_(most) {
    A_.reserve(static_cast<Eigen::Index>(A.value.size()));
    for (std::int32_t i = 0; i < A.rows; ++i) {
      A_.startVec(i);
      for (std::size_t k = A.begin(i); k < A.end(i); ++k) A_.insertBack(i, A.col[k]) = A.value[k];
    }
    A_.finalize();
    r_ = b_ - A_ * x_;
    history_.push_back(norm(r_));
  }

  /// Hestenes and Stiefel (1952); Saad (2003), algorithm 9.1.
  void solve(const PcgOptions&) {
    Vector<T> z = precondition(r_), p = z;
    W rz = dot(r_, z);
    while (goes_on()) {
      const Vector<T> q = A_ * p;
      const T alpha = narrow(rz / dot(p, q));
      x_ += alpha * p, r_ -= alpha * q;
      history_.push_back(norm(r_));
      z = precondition(r_);
      const W before = std::exchange(rz, dot(r_, z));
      p = z + narrow(rz / before) * p;
    }
  }

  /// Notay (2000), a direction against the one before.
  void solve(const FcgOptions&) {
    Vector<T> p, q;
    while (goes_on()) {
      const Vector<T> z = precondition(r_);
      p = p.size() == 0 ? z : z - narrow(dot(q, z) / dot(p, q)) * p;
      q = A_ * p;
      const T alpha = narrow(dot(r_, z) / dot(p, q));
      x_ += alpha * p, r_ -= alpha * q;
      history_.push_back(norm(r_));
    }
  }

  /// Saad and Schultz (1986), preconditioned from the right; Saad (2003), algorithm 9.5.
  void solve(const GmresOptions& o) { restarted(o.restart, false); }

  /// Saad (1993); Saad (2003), algorithm 9.6.
  void solve(const FgmresOptions& o) { restarted(o.restart, true); }

  /// Van der Vorst (1992), preconditioned from the right.
  void solve(const BicgstabOptions&) {
    const Vector<T> shadow = r_;
    Vector<T> p = r_;
    W rho = dot(shadow, r_);
    while (goes_on()) {
      const Vector<T> p_hat = precondition(p), v = A_ * p_hat;
      const W alpha = rho / dot(shadow, v);
      const Vector<T> s = r_ - narrow(alpha) * v, s_hat = precondition(s), t = A_ * s_hat;
      const W omega = dot(t, s) / dot(t, t);
      x_ += narrow(alpha) * p_hat + narrow(omega) * s_hat;
      r_ = s - narrow(omega) * t;
      history_.push_back(norm(r_));
      const W before = std::exchange(rho, dot(shadow, r_));
      p = r_ + narrow(rho / before * alpha / omega) * (p - narrow(omega) * v);
    }
  }

  /// Richardson (1911).
  void solve(const RichardsonOptions& o) {
    while (goes_on()) {
      x_ += T(static_cast<real_t<T>>(o.relaxation)) * precondition(r_);
      r_ = b_ - A_ * x_;
      history_.push_back(norm(r_));
    }
  }

  /// Refinement of a factorization with pivoting (Wilkinson 1963).
  void solve(const BandedOptions&) {
    const Eigen::SparseMatrix<T> by_columns = A_;
    const Eigen::SparseLU<Eigen::SparseMatrix<T>> factors(by_columns);
    while (goes_on()) {
      x_ += factors.solve(r_);
      r_ = b_ - A_ * x_;
      history_.push_back(norm(r_));
    }
  }

  /// Refinement of another complete factorization.
  void solve(const DirectOptions&) {
    const Eigen::SparseMatrix<T> by_columns = A_;
    const Eigen::SparseQR<Eigen::SparseMatrix<T>, Eigen::COLAMDOrdering<int>> factors(by_columns);
    while (goes_on()) {
      x_ += factors.solve(r_);
      r_ = b_ - A_ * x_;
      history_.push_back(norm(r_));
    }
  }

  TextbookSolve result() const { return {history_, norm(b_ - A_ * x_)}; }

 private:
  static Vector<T> view(std::span<const T> v) {
    return Eigen::Map<const Vector<T>>(v.data(), static_cast<Eigen::Index>(v.size()));
  }
  static W dot(const Vector<T>& x, const Vector<T>& y) { return x.template cast<W>().dot(y.template cast<W>()); }
  static double norm(const Vector<T>& x) { return x.template cast<W>().norm(); }
  static T narrow(const W& a) { return T(a); }
  Vector<T> precondition(const Vector<T>& r) const {
    return view(apply_(std::vector<T>(r.data(), r.data() + r.size())));
  }
  bool goes_on() const {
    const double residual = history_.back();
    return residual > target_ && std::isfinite(residual) && static_cast<int>(history_.size()) <= most_;
  }

  void restarted(int restart, bool flexible) {
    while (goes_on()) {
      cycle(restart, flexible);
      r_ = b_ - A_ * x_;
    }
  }

  /// Arnoldi's process by modified Gram-Schmidt, and the least squares problem by Givens rotations. flexible: what M
  /// has made is kept, and x is made of that.
  void cycle(int restart, bool flexible) {
    using Dense = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;
    std::vector<Vector<T>> basis{r_ / narrow(W(norm(r_)))}, kept;
    Dense R = Dense::Zero(restart + 1, restart);
    Vector<W> g = Vector<W>::Zero(restart + 1);
    std::vector<Eigen::JacobiRotation<W>> rotations;
    g(0) = norm(r_);
    int j = 0;
    for (; j < restart && goes_on(); ++j) {
      kept.push_back(precondition(basis.back()));
      Vector<T> w = A_ * kept.back();
      for (int i = 0; i <= j; ++i) {
        R(i, j) = dot(basis[static_cast<std::size_t>(i)], w);
        w -= narrow(R(i, j)) * basis[static_cast<std::size_t>(i)];
      }
      R(j + 1, j) = norm(w);
      basis.push_back(w / narrow(R(j + 1, j)));
      for (int i = 0; i < j; ++i) R.col(j).applyOnTheLeft(i, i + 1, rotations[static_cast<std::size_t>(i)].adjoint());
      Eigen::JacobiRotation<W> rotation;
      rotation.makeGivens(R(j, j), R(j + 1, j));
      R.col(j).applyOnTheLeft(j, j + 1, rotation.adjoint());
      g.applyOnTheLeft(j, j + 1, rotation.adjoint());
      rotations.push_back(rotation);
      history_.push_back(std::abs(g(j + 1)));
    }
    const Vector<W> y = R.topLeftCorner(j, j).template triangularView<Eigen::Upper>().solve(g.head(j));
    Vector<T> step = Vector<T>::Zero(x_.size());
    for (int i = 0; i < j; ++i) step += narrow(y(i)) * (flexible ? kept : basis)[static_cast<std::size_t>(i)];
    x_ += flexible ? step : precondition(step);
  }

  Eigen::SparseMatrix<T, Eigen::RowMajor> A_;
  const ApplyPreconditioner<T>& apply_;
  Vector<T> b_, x_, r_;
  double target_;
  int most_;
  std::vector<double> history_;
};

}  // namespace

template <class T>
TextbookSolve textbook_solve(const SolverOptions& options, const Rows<T>& A, const ApplyPreconditioner<T>& M,
                             std::span<const T> b, std::span<const T> x0, double target) {
  Textbook<T> textbook(A, M, b, x0, target, max_iterations(options));
  std::visit(Overloaded{[](const AutoSolver&) { throw InvalidArgument("solver auto: nobody has chosen one yet"); },
                        [&](const auto& o) { textbook.solve(o); }},
             options);
  return textbook.result();
}

template <class T>
struct TextbookInstances {
  static constexpr auto list =
      instance<TextbookSolve(const SolverOptions&, const Rows<T>&, const ApplyPreconditioner<T>&, std::span<const T>,
                             std::span<const T>, double)>(textbook_solve);
};
KRILL_INSTANTIATE(TextbookInstances);

}  // namespace krill::apps::verify
