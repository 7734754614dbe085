// Eigen's SparseLU as the rival for solves with three and five diagonals.
#include <Eigen/SparseLU>
#include <algorithm>

#include "apps/bench/eigen_views.hpp"
#include "apps/bench/rival.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::bench {
namespace {

/// One analysis, for all systems of a batch have one pattern, then system by system a factorization and a solve. Rows
/// stay in their order, in which there is no fill.
template <class T>
class EigenBandedSolve final : public RivalRun {
 public:
  explicit EigenBandedSolve(const Task<T>& task)
      : A_(*task.bands), b_(task.x->host().data()), x_(task.y->edit().data()), rhs_(A_.layout().rows) {
    const std::int32_t rows = A_.layout().rows, half = A_.diagonals() / 2;
    matrix_.resize(rows, rows);
    matrix_.reserve(Eigen::VectorXi::Constant(rows, A_.diagonals()));
    for (std::int32_t col = 0; col < rows; ++col)
      for (std::int32_t row = std::max(col - half, 0); row <= std::min(col + half, rows - 1); ++row)
        matrix_.insert(row, col) = T(1);
    matrix_.makeCompressed();
    for (int k = -half; k <= half; ++k) bands_[k + 2] = A_.band(k).host().data();
  }
  void operator()() override {
    lu_.analyzePattern(matrix_);
    const BandLayout& l = A_.layout();
    for (std::int32_t j = 0; j < l.batch; ++j) {
      T* value = matrix_.valuePtr();
      for (std::int32_t col = 0; col < l.rows; ++col)
        for (std::int32_t p = matrix_.outerIndexPtr()[col]; p < matrix_.outerIndexPtr()[col + 1]; ++p) {
          const std::int32_t row = matrix_.innerIndexPtr()[p];
          *value++ = bands_[col - row + 2][l.at(row, j)];
        }
      for (std::int32_t i = 0; i < l.rows; ++i) rhs_[i] = b_[l.at(i, j)];
      lu_.factorize(matrix_);
      if (lu_.info() != Eigen::Success) throw Error("SparseLU: " + lu_.lastErrorMessage());
      solution_ = lu_.solve(rhs_);
      for (std::int32_t i = 0; i < l.rows; ++i) x_[l.at(i, j)] = solution_[i];
    }
  }

 private:
  using Matrix = Eigen::SparseMatrix<T, Eigen::ColMajor, std::int32_t>;
  const Banded<T>& A_;
  const T* b_;
  T* x_;
  const T* bands_[5] = {};
  Matrix matrix_;
  EigenVector<T> rhs_, solution_;
  Eigen::SparseLU<Matrix, Eigen::NaturalOrdering<std::int32_t>> lu_;
};

}  // namespace

template <class T>
std::unique_ptr<RivalRun> make_eigen_banded(const Task<T>& task) {
  return std::make_unique<EigenBandedSolve<T>>(task);
}

template <class T>
struct EigenBandedInstances {
  static constexpr auto list = instance<std::unique_ptr<RivalRun>(const Task<T>&)>(make_eigen_banded);
};
KRILL_INSTANTIATE(EigenBandedInstances);

}  // namespace krill::apps::bench
