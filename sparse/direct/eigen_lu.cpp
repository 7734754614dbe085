#include <Eigen/SparseLU>
#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "sparse/core/instantiate.hpp"
#include "sparse/direct/complete_factors.hpp"

namespace krill {
namespace {

/// Columns stay where the analysis put them.
struct GivenOrder {
  template <class Matrix, class Permutation>
  void operator()(const Matrix& A, Permutation& p) const {
    p.setIdentity(A.cols());
  }
};

template <class T>
struct SparseLu : Eigen::SparseLU<Eigen::SparseMatrix<T, Eigen::ColMajor, std::int32_t>, GivenOrder> {
  using Base = Eigen::SparseLU<Eigen::SparseMatrix<T, Eigen::ColMajor, std::int32_t>, GivenOrder>;
  /// Moduli by columns.
  std::vector<double> pivots() const {
    std::vector<double> found(static_cast<std::size_t>(this->cols()));
    const auto columns = typename Base::PermutationType(this->m_perm_c.inverse()).indices();
    for (Eigen::Index j = 0; j < this->cols(); ++j)
      for (typename Base::SCMatrix::InnerIterator it(this->m_Lstore, j); it; ++it)
        if (it.index() == j) {
          found[static_cast<std::size_t>(columns[j])] = std::abs(it.value());
          break;
        }
    return found;
  }
  /// In which no pivot was found. Eigen tells it only in its sentence, which ends with the column as it is factorized,
  /// counted from 1.
  std::optional<std::int32_t> zero_column() const {
    if (this->info() == Eigen::Success) return {};
    const std::string sentence = this->lastErrorMessage();
    const std::size_t digits = sentence.find_last_not_of("0123456789") + 1;
    if (digits == sentence.size()) return {};
    const auto& places = this->m_perm_c.indices();
    const auto* const end = places.data() + places.size();
    return static_cast<std::int32_t>(std::find(places.data(), end, std::stoi(sentence.substr(digits)) - 1) -
                                     places.data());
  }
};

template <class T>
class EigenLu final : public CompleteFactors<T> {
 public:
  EigenLu(ColumnMatrix<T> B, double threshold) {
    using Matrix = Eigen::SparseMatrix<T, Eigen::ColMajor, std::int32_t>;
    const std::int32_t n = B.size();
    const Matrix matrix = Eigen::Map<const Matrix>(n, n, static_cast<Eigen::Index>(B.values.size()), B.begins.data(),
                                                   B.rows.data(), B.values.data());
    B = {};
    factors_.setPivotThreshold(static_cast<real_t<T>>(threshold));
    factors_.compute(matrix);
    facts_.library = "Eigen";
    facts_.zero_column = factors_.zero_column();
    if (facts_.zero_column) return;
    if (factors_.info() != Eigen::Success) throw std::bad_alloc();
    facts_.pivots = factors_.pivots();
    facts_.entries = factors_.nnzL() + factors_.nnzU();
  }
  void solve(std::span<T> v) const override {
    Eigen::Map<Vector> x(v.data(), std::ssize(v));
    x = Vector(factors_.solve(x));
  }
  void solve_adjoint(std::span<T> v) const override {
    Eigen::Map<Vector> x(v.data(), std::ssize(v));
    x = Vector(const_cast<SparseLu<T>&>(factors_).adjoint().solve(Vector(x)));
  }

 private:
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using CompleteFactors<T>::facts_;
  SparseLu<T> factors_;
};

}  // namespace

template <class T>
std::unique_ptr<CompleteFactors<T>> eigen_lu(ColumnMatrix<T> B, double threshold) {
  return std::make_unique<EigenLu<T>>(std::move(B), threshold);
}

template <class T>
struct EigenLuInstances {
  static constexpr auto list = instance<std::unique_ptr<CompleteFactors<T>>(ColumnMatrix<T>, double)>(eigen_lu);
};
KRILL_INSTANTIATE(EigenLuInstances);

}  // namespace krill
