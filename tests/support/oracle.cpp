#include "tests/support/oracle.hpp"

#include <Eigen/Dense>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>
#include <utility>

namespace krill::test {
namespace {

template <class T>
Eigen::SparseMatrix<T, Eigen::RowMajor> to_eigen(const Reference& A) {
  std::vector<Eigen::Triplet<T>> entries;
  for (std::size_t k = 0; k < A.value.size(); ++k) {
    if constexpr (std::is_same_v<T, double>)
      entries.emplace_back(A.row[k], A.col[k], A.value[k].real());
    else
      entries.emplace_back(A.row[k], A.col[k], A.value[k]);
  }
  Eigen::SparseMatrix<T, Eigen::RowMajor> M(A.rows, A.cols);
  M.setFromTriplets(entries.begin(), entries.end());
  return M;
}

Eigen::VectorXcd to_eigen(const std::vector<Z>& v) {
  return Eigen::Map<const Eigen::VectorXcd>(v.data(), static_cast<Eigen::Index>(v.size()));
}

Eigen::VectorXd real_part(const std::vector<Z>& v) { return to_eigen(v).real(); }

template <class Solver>
int iterations(const Reference& A, const std::vector<Z>& b, double tolerance) {
  Solver solver;
  solver.setTolerance(tolerance);
  solver.setMaxIterations(100'000);
  const auto M = to_eigen<double>(A);
  solver.compute(M);
  const Eigen::VectorXd x = solver.solve(real_part(b));
  return static_cast<int>(solver.iterations());
}

/// Iterations of the textbook's conjugate gradients; z = precondition(r).
template <class F>
int dense_cg_iterations(const Eigen::MatrixXcd& M, const Eigen::VectorXcd& b, double tolerance, F&& precondition) {
  Eigen::VectorXcd x = Eigen::VectorXcd::Zero(M.rows()), r = b, z = precondition(r), p = z;
  const double goal = tolerance * r.norm();
  Z rz = r.dot(z);
  int iterations = 0;
  for (; r.norm() > goal && iterations < 10 * M.rows(); ++iterations) {
    const Eigen::VectorXcd q = M * p;
    const Z alpha = rz / p.dot(q);
    x += alpha * p, r -= alpha * q;
    z = precondition(r);
    const Z before = std::exchange(rz, r.dot(z));
    p = z + rz / before * p;
  }
  return iterations;
}

}  // namespace

std::vector<Product> products(Op op, Z alpha, const Reference& A, const std::vector<std::vector<Z>>& x, Z beta,
                              const std::vector<std::vector<Z>>& y, double epsilon) {
  Eigen::SparseMatrix<Z, Eigen::RowMajor> opM = to_eigen<Z>(A);
  if (op == Op::transpose) opM = Eigen::SparseMatrix<Z, Eigen::RowMajor>(opM.transpose());
  if (op == Op::adjoint) opM = Eigen::SparseMatrix<Z, Eigen::RowMajor>(opM.adjoint());
  const Eigen::SparseMatrix<double, Eigen::RowMajor> moduli = opM.cwiseAbs2().cwiseSqrt();

  constexpr double c = 4;  // a complex product is two of each
  std::vector<Product> answers;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const Eigen::VectorXcd ex = to_eigen(x[j]), ey = to_eigen(y[j]);
    Eigen::VectorXcd result = alpha * (opM * ex);
    Eigen::VectorXd bound = std::abs(alpha) * (moduli * ex.cwiseAbs2().cwiseSqrt());
    if (beta != Z(0)) result += beta * ey, bound += std::abs(beta) * ey.cwiseAbs2().cwiseSqrt();
    for (Eigen::Index i = 0; i < opM.rows(); ++i)
      bound(i) *= c * (static_cast<double>(opM.outerIndexPtr()[i + 1] - opM.outerIndexPtr()[i]) + 2) * epsilon;
    answers.push_back({{result.begin(), result.end()}, {bound.begin(), bound.end()}});
  }
  return answers;
}

Product product(Op op, Z alpha, const Reference& A, const std::vector<Z>& x, Z beta, const std::vector<Z>& y,
                double epsilon) {
  return products(op, alpha, A, {x}, beta, {y}, epsilon).front();
}

std::vector<Z> solve(const Reference& A, const std::vector<Z>& b) {
  const Eigen::SparseMatrix<Z> M = to_eigen<Z>(A);
  Eigen::SparseLU<Eigen::SparseMatrix<Z>> lu(M);
  const Eigen::VectorXcd x = lu.solve(to_eigen(b));
  return {x.data(), x.data() + x.size()};
}

double relative_residual(const Reference& A, const std::vector<Z>& x, const std::vector<Z>& b) {
  const Eigen::VectorXcd eb = to_eigen(b);
  const Eigen::VectorXcd r = eb - to_eigen<Z>(A) * to_eigen(x);
  return eb.norm() == 0 ? r.norm() : r.norm() / eb.norm();
}

int eigen_cg_iterations(const Reference& A, const std::vector<Z>& b, double tolerance) {
  using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  return iterations<Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper>>(A, b, tolerance);
}

int eigen_bicgstab_iterations(const Reference& A, const std::vector<Z>& b, double tolerance) {
  return iterations<Eigen::BiCGSTAB<Eigen::SparseMatrix<double, Eigen::RowMajor>>>(A, b, tolerance);
}

int dense_gmres_iterations(const Reference& A, const std::vector<Z>& b, double tolerance, bool jacobi) {
  const Eigen::MatrixXcd M = to_eigen<Z>(A);
  const Eigen::Index n = M.rows();
  Eigen::MatrixXcd V = Eigen::MatrixXcd::Zero(n, n + 1), H = Eigen::MatrixXcd::Zero(n + 1, n);
  const Eigen::VectorXcd eb = to_eigen(b);
  const double norm = eb.norm();
  V.col(0) = eb / norm;
  for (Eigen::Index j = 0; j < n; ++j) {
    Eigen::VectorXcd w = V.col(j);
    if (jacobi) w = w.cwiseQuotient(M.diagonal());
    w = M * w;
    for (Eigen::Index k = 0; k <= j; ++k) {
      H(k, j) = V.col(k).dot(w);
      w -= H(k, j) * V.col(k);
    }
    H(j + 1, j) = w.norm();
    V.col(j + 1) = w / w.norm();
    Eigen::VectorXcd e1 = Eigen::VectorXcd::Zero(j + 2);
    e1(0) = norm;
    const Eigen::MatrixXcd Hj = H.topLeftCorner(j + 2, j + 1);
    const Eigen::VectorXcd y = Hj.colPivHouseholderQr().solve(e1);
    if ((e1 - Hj * y).norm() <= tolerance * norm) return static_cast<int>(j) + 1;
  }
  return static_cast<int>(n);
}

int dense_factored_cg_iterations(const Reference& A, const Reference& factor, const std::vector<Z>& b,
                                 double tolerance) {
  const Eigen::MatrixXcd LU = to_eigen<Z>(factor);
  return dense_cg_iterations(to_eigen<Z>(A), to_eigen(b), tolerance,
                             [&](const Eigen::VectorXcd& r) -> Eigen::VectorXcd {
                               const Eigen::VectorXcd y = LU.triangularView<Eigen::UnitLower>().solve(r);
                               return LU.triangularView<Eigen::Upper>().solve(y);
                             });
}

int dense_inverse_cg_iterations(const Reference& A, const Reference& G, const std::vector<Z>& b, double tolerance) {
  const Eigen::MatrixXcd inverse = to_eigen<Z>(G);
  return dense_cg_iterations(to_eigen<Z>(A), to_eigen(b), tolerance,
                             [&](const Eigen::VectorXcd& r) -> Eigen::VectorXcd {
                               const Eigen::VectorXcd w = inverse * r;
                               return inverse.adjoint() * w;
                             });
}

}  // namespace krill::test
