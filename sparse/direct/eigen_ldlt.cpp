#include <Eigen/SparseCholesky>
#include <cmath>
#include <utility>

#include "sparse/core/instantiate.hpp"
#include "sparse/direct/complete_factors.hpp"

namespace krill {
namespace {

template <class T>
class EigenLdlt final : public CompleteFactors<T> {
 public:
  explicit EigenLdlt(ColumnMatrix<T> upper) {
    const std::int32_t n = upper.size();
    const Matrix matrix = Eigen::Map<const Matrix>(n, n, static_cast<Eigen::Index>(upper.values.size()),
                                                   upper.begins.data(), upper.rows.data(), upper.values.data());
    upper = {};
    factors_.compute(matrix);
    facts_.library = "Eigen";
    const auto& D = factors_.vectorD();
    facts_.is_definite = factors_.info() == Eigen::Success;
    for (Eigen::Index k = 0; k < n; ++k) {
      const double pivot = std::real(std::complex<double>(D[k]));
      facts_.pivots.push_back(std::abs(pivot));
      if (pivot == 0) break;  // what follows was not computed
      facts_.is_definite = facts_.is_definite && pivot * std::real(std::complex<double>(D[0])) > 0;
    }
    if (factors_.info() != Eigen::Success)
      facts_.zero_column = static_cast<std::int32_t>(std::ssize(facts_.pivots) - 1);
    facts_.entries = factors_.matrixL().nestedExpression().nonZeros() + n;
  }
  void solve(std::span<T> v) const override {
    using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    Eigen::Map<Vector> x(v.data(), std::ssize(v));
    x = Vector(factors_.solve(x));
  }
  void solve_adjoint(std::span<T> v) const override { solve(v); }

 private:
  using Matrix = Eigen::SparseMatrix<T, Eigen::ColMajor, std::int32_t>;
  using CompleteFactors<T>::facts_;
  Eigen::SimplicialLDLT<Matrix, Eigen::Upper, Eigen::NaturalOrdering<std::int32_t>> factors_;
};

}  // namespace

template <class T>
std::unique_ptr<CompleteFactors<T>> eigen_ldlt(ColumnMatrix<T> upper) {
  return std::make_unique<EigenLdlt<T>>(std::move(upper));
}

template <class T>
struct EigenLdltInstances {
  static constexpr auto list = instance<std::unique_ptr<CompleteFactors<T>>(ColumnMatrix<T>)>(eigen_ldlt);
};
KRILL_INSTANTIATE(EigenLdltInstances);

}  // namespace krill
