// Eigen's iterative solvers as the rival on the host.
#include <Eigen/IterativeLinearSolvers>

#include "apps/bench/eigen_views.hpp"
#include "apps/bench/rival.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::bench {
namespace {

/// With a matrix of its own: Eigen's preconditioners do not take a map.
template <class T, class Solver>
class Solve final : public SolveRun {
 public:
  Solve(const SolveTask<T>& task, std::string variant)
      : variant_(std::move(variant)), b_(task.b.host().data(), task.b.size()) {
    matrix_ = mapped(std::get<Csr<T>>(task.A));
    solver_.setTolerance(static_cast<real_t<T>>(task.relative));
    solver_.setMaxIterations(task.max_iterations);
    if constexpr (requires { solver_.preconditioner().setFillfactor(1); }) solver_.preconditioner().setFillfactor(1);
    solver_.compute(matrix_);
  }
  void operator()() override { x_ = solver_.solve(b_); }
  std::string variant() const override { return variant_; }
  std::optional<int> iterations() const override {
    if (solver_.info() != Eigen::Success) return {};
    return static_cast<int>(solver_.iterations());
  }

 private:
  std::string variant_;
  RowMajor<T> matrix_;
  Eigen::Map<const EigenVector<T>> b_;
  EigenVector<T> x_;
  Solver solver_;
};

template <class T, class Preconditioner>
std::unique_ptr<SolveRun> cg(const SolveTask<T>& task, const char* preconditioner) {
  using Cg = Eigen::ConjugateGradient<RowMajor<T>, Eigen::Lower | Eigen::Upper, Preconditioner>;
  return std::make_unique<Solve<T, Cg>>(task, std::string("ConjugateGradient, ") + preconditioner);
}
template <class T, class Preconditioner>
std::unique_ptr<SolveRun> bicgstab(const SolveTask<T>& task, const char* preconditioner) {
  using Bicgstab = Eigen::BiCGSTAB<RowMajor<T>, Preconditioner>;
  return std::make_unique<Solve<T, Bicgstab>>(task, std::string("BiCGSTAB, ") + preconditioner);
}

}  // namespace

template <class T>
std::unique_ptr<SolveRun> make_eigen_solve(const SolveTask<T>& task) {
  using Identity = Eigen::IdentityPreconditioner;
  using Diagonal = Eigen::DiagonalPreconditioner<T>;
  if (!std::holds_alternative<Csr<T>>(task.A)) return nullptr;
  if (task.solver == "pcg") {
    if (task.preconditioner == "none") return cg<T, Identity>(task, "no preconditioner");
    if (task.preconditioner == "jacobi") return cg<T, Diagonal>(task, "diagonal");
    if constexpr (!is_complex<T>)
      if (task.preconditioner == "ic0")
        return cg<T, Eigen::IncompleteCholesky<T, Eigen::Lower, Eigen::NaturalOrdering<std::int32_t>>>(
            task, "IncompleteCholesky");
  }
  if (task.solver == "bicgstab") {
    if (task.preconditioner == "none") return bicgstab<T, Identity>(task, "no preconditioner");
    if (task.preconditioner == "jacobi") return bicgstab<T, Diagonal>(task, "diagonal");
    if (task.preconditioner == "ilu0")
      return bicgstab<T, Eigen::IncompleteLUT<T, std::int32_t>>(task, "IncompleteLUT, fill factor 1");
  }
  return nullptr;
}

template <class T>
struct EigenSolverRivalInstances {
  static constexpr auto list = instance<std::unique_ptr<SolveRun>(const SolveTask<T>&)>(make_eigen_solve);
};
KRILL_INSTANTIATE(EigenSolverRivalInstances);

}  // namespace krill::apps::bench
