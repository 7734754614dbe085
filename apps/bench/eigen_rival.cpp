// Eigen as the rival on the host: its kernels. eigen_solver_rival.cpp has its solvers, eigen_banded_rival.cpp SparseLU.
#include <fmt/format.h>

#include "apps/bench/eigen_views.hpp"
#include "apps/bench/rival.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::bench {
namespace {

template <class T>
class EigenProduct final : public RivalRun {
 public:
  EigenProduct(const Csr<T>& A, const Task<T>& task)
      : matrix_(mapped(A)), x_(task.x->host().data(), task.x->size()), y_(task.y->edit().data(), task.y->size()) {}
  void operator()() override { y_.noalias() = matrix_ * x_; }

 private:
  Eigen::Map<const RowMajor<T>> matrix_;
  Eigen::Map<const EigenVector<T>> x_;
  Eigen::Map<EigenVector<T>> y_;
};

template <class T, int order>
class EigenProducts final : public RivalRun {
 public:
  EigenProducts(const Csr<T>& A, const Task<T>& task)
      : matrix_(mapped(A)),
        b_(task.x->host().data(), A.cols(), task.columns),
        c_(task.y->edit().data(), A.rows(), task.columns) {}
  void operator()() override { c_.noalias() = matrix_ * b_; }

 private:
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, order>;
  Eigen::Map<const RowMajor<T>> matrix_;
  Eigen::Map<const Matrix> b_;
  Eigen::Map<Matrix> c_;
};

/// A B or A + B, in a matrix of Eigen's own.
template <class T, bool sum>
class EigenSparse final : public RivalRun {
 public:
  EigenSparse(const Csr<T>& A, const Csr<T>& B) : a_(mapped(A)), b_(mapped(B)) {}
  void operator()() override {
    if constexpr (sum)
      c_ = a_ + b_;
    else
      c_ = a_ * b_;
  }

 private:
  Eigen::Map<const RowMajor<T>> a_, b_;
  RowMajor<T> c_;
};

template <class T>
class EigenTriangularSolve final : public RivalRun {
 public:
  EigenTriangularSolve(const Csr<T>& A, const Task<T>& task)
      : matrix_(mapped(A)),
        triangle_(task.triangle),
        b_(task.x->host().data(), task.x->size()),
        x_(task.y->edit().data(), task.y->size()) {}
  void operator()() override {
    x_ = b_;
    const bool lower = triangle_.fill == Fill::lower;
    if (triangle_.diagonal == Diagonal::unit)
      lower ? solve<Eigen::UnitLower>() : solve<Eigen::UnitUpper>();
    else
      lower ? solve<Eigen::Lower>() : solve<Eigen::Upper>();
  }

 private:
  template <unsigned mode>
  void solve() {
    matrix_.template triangularView<mode>().solveInPlace(x_);
  }

  Eigen::Map<const RowMajor<T>> matrix_;
  Triangle triangle_;
  Eigen::Map<const EigenVector<T>> b_;
  Eigen::Map<EigenVector<T>> x_;
};

/// Assignment to the other storage order, into memory of Eigen's own.
template <class T>
class Transposition final : public RivalRun {
 public:
  explicit Transposition(const Csr<T>& A) : matrix_(mapped(A)) {}
  void operator()() override { by_columns_ = matrix_; }

 private:
  Eigen::Map<const RowMajor<T>> matrix_;
  Eigen::SparseMatrix<T, Eigen::ColMajor, std::int32_t> by_columns_;
};

template <class T>
class EigenRival final : public Rival<T> {
 public:
  explicit EigenRival(int threads) { Eigen::setNbThreads(threads); }

  std::string name() const override {
    return fmt::format("Eigen {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
  }
  std::vector<std::string> algorithms(const Task<T>& task) const override {
    if (task.bands) return {"SparseLU"};
    if (!task.A || !std::holds_alternative<Csr<T>>(*task.A)) return {};
    if (task.kernel == "spmv" || (task.kernel == "spmm" && (task.columns > 1 || !task.by_rows)))
      return {"row-major product"};
    // without an entry on the diagonal it would go on into the other triangle
    if (task.kernel == "triangular" && task.triangle.diagonal == Diagonal::stored) return {"triangularView"};
    if (task.kernel == "csr2csc") return {"assignment to column-major"};
    if (task.kernel == "spgemm") return {"row-major product"};
    if (task.kernel == "spgeam") return {"row-major sum"};
    return {};
  }
  std::unique_ptr<RivalRun> prepare(Context&, const std::string&, const Task<T>& task) const override {
    if (task.bands) return make_eigen_banded(task);
    const auto& A = std::get<Csr<T>>(*task.A);
    if (task.kernel == "spmv") return std::make_unique<EigenProduct<T>>(A, task);
    if (task.kernel == "spmm" && task.by_rows) return std::make_unique<EigenProducts<T, Eigen::RowMajor>>(A, task);
    if (task.kernel == "spmm") return std::make_unique<EigenProducts<T, Eigen::ColMajor>>(A, task);
    if (task.kernel == "triangular") return std::make_unique<EigenTriangularSolve<T>>(A, task);
    if (task.kernel == "spgemm") return std::make_unique<EigenSparse<T, false>>(A, std::get<Csr<T>>(*task.B));
    if (task.kernel == "spgeam") return std::make_unique<EigenSparse<T, true>>(A, std::get<Csr<T>>(*task.B));
    return std::make_unique<Transposition<T>>(A);
  }
  std::unique_ptr<SolveRun> prepare_solve(Context&, const SolveTask<T>& task) const override {
    return make_eigen_solve(task);
  }
};

}  // namespace

template <class T>
std::unique_ptr<Rival<T>> make_eigen_rival(int threads) {
  return std::make_unique<EigenRival<T>>(threads);
}

template <class T>
struct EigenRivalInstances {
  static constexpr auto list = instance<std::unique_ptr<Rival<T>>(int)>(make_eigen_rival);
};
KRILL_INSTANTIATE(EigenRivalInstances);

}  // namespace krill::apps::bench
