// The judge of the tests: Eigen, in double complex whatever the type under test. Of the tests, only oracle.cpp and
// multigrid_oracle.cpp include Eigen, and they never ask the code under test.
#pragma once
#include <complex>
#include <vector>

#include "sparse/formats/csr.hpp"

namespace krill::test {

using Z = std::complex<double>;

/// |z| of what neither overflows nor vanishes squared: a tenth of the time that std::abs takes, and tests take many.
inline double modulus(Z z) { return std::sqrt(std::norm(z)); }

/// A matrix as (row, column, value), in the judge's own type.
struct Reference {
  std::int64_t rows = 0, cols = 0;
  std::vector<std::int32_t> row, col;
  std::vector<Z> value;
};
template <class T, class Offset>
Reference reference(const Csr<T, Offset>& A) {
  Reference r{A.rows(), A.cols(), {}, {}, {}};
  const auto offsets = A.row_offsets().host();
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
      r.row.push_back(i), r.col.push_back(A.col_indices().host()[k]), r.value.push_back(Z(A.values().host()[k]));
  return r;
}
template <class T>
std::vector<Z> to_reference(const std::vector<T>& v) {
  return {v.begin(), v.end()};
}
template <class T>
std::vector<Z> to_reference(const Array<T>& v) {
  return {v.host().begin(), v.host().end()};
}

/// alpha op(A) x + beta y by Eigen, and for every entry the bound that rounding of the tested type may reach:
/// c (row length + 2) eps (|alpha| sum |a||x| + |beta||y|).
struct Product {
  std::vector<Z> y;
  std::vector<double> bound;
};
Product product(Op op, Z alpha, const Reference& A, const std::vector<Z>& x, Z beta, const std::vector<Z>& y,
                double epsilon);
/// The same of every column of x and y.
std::vector<Product> products(Op op, Z alpha, const Reference& A, const std::vector<std::vector<Z>>& x, Z beta,
                              const std::vector<std::vector<Z>>& y, double epsilon);

/// The solution of A x = b by Eigen's SparseLU.
std::vector<Z> solve(const Reference& A, const std::vector<Z>& b);
/// ||b - A x|| / ||b||.
double relative_residual(const Reference& A, const std::vector<Z>& x, const std::vector<Z>& b);
/// Iterations of Eigen's ConjugateGradient and BiCGSTAB with the diagonal preconditioner, to the relative residual
/// `tolerance`, for a real matrix.
int eigen_cg_iterations(const Reference& A, const std::vector<Z>& b, double tolerance);
int eigen_bicgstab_iterations(const Reference& A, const std::vector<Z>& b, double tolerance);
/// Iterations of a dense GMRES without restart: modified Gram-Schmidt Arnoldi, least squares by QR at every step.
int dense_gmres_iterations(const Reference& A, const std::vector<Z>& b, double tolerance, bool jacobi);

/// Iterations of conjugate gradients with z = U^-1 L^-1 r, all dense; `factor` holds U and, left of its diagonal, L
/// without its ones.
int dense_factored_cg_iterations(const Reference& A, const Reference& factor, const std::vector<Z>& b,
                                 double tolerance);
/// Iterations of conjugate gradients with z = G^H G r, all dense.
int dense_inverse_cg_iterations(const Reference& A, const Reference& G, const std::vector<Z>& b, double tolerance);

/// The unit roundoff of T's real type.
template <class T>
constexpr double epsilon() {
  return std::numeric_limits<real_t<T>>::epsilon();
}

}  // namespace krill::test
