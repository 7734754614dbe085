// The judge of solutions: of verify, this file and textbook.cpp compute with Eigen.
#include <fmt/format.h>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <Eigen/SparseQR>
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "apps/verify/judge.hpp"

namespace krill::apps {
namespace {

template <class T>
using Matrix = Eigen::SparseMatrix<T, Eigen::ColMajor, int>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

constexpr double krylov_seconds = 120;    // what Eigen's Krylov methods may take
constexpr double bytes_per_second = 3e9;  // of one core, to turn that into iterations
constexpr double factor_bytes_limit = 6e9;
constexpr double lu_over_ldlt = 8;       // LU is twice the work, and pivoting adds fill that the pattern does not show
constexpr double qr_over_ldlt = 20'000;  // 20 s on a busy core for 1,600 rows of a grid

/// What Eigen's setFromTriplets walks over: the stored entries, made on the fly.
template <class T>
class StoredEntries {
 public:
  StoredEntries(const Triplets<T>& stored, std::size_t at) : stored_(&stored), at_(at) {}
  bool operator!=(const StoredEntries& other) const { return at_ != other.at_; }
  StoredEntries& operator++() { return ++at_, *this; }
  const StoredEntries* operator->() const { return this; }
  int row() const { return stored_->row[at_]; }
  int col() const { return stored_->col[at_]; }
  T value() const { return stored_->value[at_]; }

 private:
  const Triplets<T>* stored_;
  std::size_t at_;
};

/// The whole matrix: what is not stored follows from the symmetry. Where a Hermitian file stores an entry and its
/// mirror image, both stand as they are.
template <class T>
Matrix<T> whole(const Triplets<T>& stored) {
  Matrix<T> A(stored.rows, stored.cols);
  A.setFromTriplets(StoredEntries<T>(stored, 0), StoredEntries<T>(stored, stored.value.size()));
  if (stored.symmetry == Symmetry::general) return A;
  const bool hermitian = stored.symmetry == Symmetry::hermitian;
  Matrix<T> mirrored = hermitian ? Matrix<T>(A.adjoint()) : Matrix<T>(A.transpose());
  mirrored.prune([&](Eigen::Index row, Eigen::Index col, const T&) {
    return row != col && !(hermitian && A.coeff(row, col) != T(0));
  });
  return stored.symmetry == Symmetry::skew_symmetric ? Matrix<T>(A - mirrored) : Matrix<T>(A + mirrored);
}

/// SimplicialLDLT that tells, before any arithmetic, what it will cost.
template <class T>
struct Ldlt : Eigen::SimplicialLDLT<Matrix<T>> {
  struct Cost {
    double entries = 0, operations = 0;
  };
  Cost cost() const {
    Cost c;
    for (Eigen::Index j = 0; j < this->m_nonZerosPerCol.size(); ++j) {
      const double below = this->m_nonZerosPerCol[j];
      c.entries += below + 1, c.operations += below * below;
    }
    return c;
  }
};

/// Judges claims about one matrix, one after the other. What was factorized for the first serves all.
template <class T>
class Court {
 public:
  explicit Court(const Triplets<T>& matrix) : matrix_(whole(matrix)) {}

  Judgement hold(const Claim<T>& claim) {
    claim_ = &claim;
    b_ = Eigen::Map<const Vector<T>>(claim.b.data(), matrix_.rows());
    x_ = Eigen::Map<const Vector<T>>(claim.x.data(), matrix_.rows());
    j_ = {}, obstacle_.clear();
    weigh_claim();
    if (!(j_.residual <= j_.tolerance))  // NaN fails, too
      refuse(fmt::format("||b - A x|| is {:.3g}, the tolerance {:.3g}", j_.residual, j_.tolerance));
    if (!find_reference()) {
      if (j_.verdict == Verdict::none) j_.reason = "no reference to compare with: " + obstacle_;
      return j_;
    }
    compare();
    return j_;
  }

 private:
  void weigh_claim() {
    const Eigen::VectorXd magnitude = b_.cwiseAbs() + matrix_.cwiseAbs() * x_.cwiseAbs();
    std::vector<int> row_length(static_cast<std::size_t>(matrix_.rows()));
    const std::span rows(matrix_.innerIndexPtr(), static_cast<std::size_t>(matrix_.nonZeros()));
    for (const int row : rows) ++row_length[static_cast<std::size_t>(row)];
    const int longest = row_length.empty() ? 0 : *std::max_element(row_length.begin(), row_length.end());
    j_.residual = (b_ - matrix_ * x_).norm() / claim_->baseline;
    j_.tolerance = (claim_->residual_norm + (longest + 4) * claim_->epsilon * magnitude.norm()) / claim_->baseline;
    // Eigen's own solution is in double, so rounding takes less of it.
    reference_tolerance_ =
        (claim_->residual_norm + (longest + 4) * std::numeric_limits<double>::epsilon() * magnitude.norm()) /
        claim_->baseline;
  }

  bool is_hermitian() const {
    const Matrix<T> adjoint = matrix_.adjoint();
    return (matrix_ - adjoint).norm() <= 1e-12 * matrix_.norm();
  }

  bool find_reference() {
    if (factors_) {
      j_.method = method_, j_.condition = condition_;
      return refine(factors_);
    }
    const bool found = find_method();
    method_ = j_.method, condition_ = j_.condition;
    return found;
  }

  bool find_method() {
    const bool hermitian = is_hermitian();
    const auto symbolic = std::make_shared<Ldlt<T>>();
    if (hermitian) {
      symbolic->analyzePattern(matrix_);
    } else {
      const Matrix<T> transposed = matrix_.transpose();
      symbolic->analyzePattern(Matrix<T>(matrix_ + transposed));
    }
    const auto cost = symbolic->cost();
    const auto affordable = [&](double factor) {
      return factor * cost.operations <= claim_->work_limit &&
             factor * cost.entries * (sizeof(T) + sizeof(int)) <= factor_bytes_limit &&
             factor * cost.entries < std::numeric_limits<int>::max();
    };
    if (hermitian && claim_->made_by != "ldlt" && affordable(1) && by_ldlt(symbolic)) return true;
    if (claim_->made_by != "lu" && affordable(lu_over_ldlt)) return by_lu();
    if (claim_->made_by == "lu" && affordable(qr_over_ldlt)) return by_qr();
    return hermitian ? by_krylov<Eigen::ConjugateGradient<Matrix<T>, Eigen::Lower | Eigen::Upper>>("ConjugateGradient")
                     : by_krylov<Eigen::BiCGSTAB<Matrix<T>>>("BiCGSTAB");
  }

  bool by_ldlt(const std::shared_ptr<Ldlt<T>>& solver) {
    j_.method = "SimplicialLDLT";
    solver->factorize(matrix_);
    if (solver->info() != Eigen::Success) return obstacle_ = "SimplicialLDLT met a zero pivot", false;
    const auto solve = [solver](const Vector<T>& v) { return Vector<T>(solver->solve(v)); };
    if (!refine(solve)) return false;
    factors_ = solve;
    estimate_condition(solve, solve);
    return true;
  }

  bool by_lu() {
    j_.method = "SparseLU";
    const auto solver = std::make_shared<Eigen::SparseLU<Matrix<T>>>();
    solver->compute(matrix_);
    if (solver->info() != Eigen::Success) return obstacle_ = "SparseLU found the matrix to be singular", false;
    const auto solve = [solver](const Vector<T>& v) { return Vector<T>(solver->solve(v)); };
    if (!refine(solve)) return false;
    factors_ = solve;
    estimate_condition(solve, [&](const Vector<T>& v) { return Vector<T>(solver->adjoint().solve(v)); });
    return true;
  }

  bool by_qr() {
    j_.method = "SparseQR";
    const auto solver = std::make_shared<Eigen::SparseQR<Matrix<T>, Eigen::COLAMDOrdering<int>>>(matrix_);
    if (solver->info() != Eigen::Success || solver->rank() < matrix_.cols())
      return obstacle_ = fmt::format("SparseQR finds rank {} of {}", solver->rank(), matrix_.cols()), false;
    const auto solve = [solver](const Vector<T>& v) { return Vector<T>(solver->solve(v)); };
    if (!refine(solve)) return false;
    factors_ = solve;
    return true;
  }

  /// x_ref by the factors and two steps of refinement.
  template <class Solve>
  bool refine(Solve&& solve) {
    reference_ = solve(b_);
    for (int step = 0; step < 2; ++step) {
      const Vector<T> better = reference_ + solve(b_ - matrix_ * reference_);
      if ((b_ - matrix_ * better).norm() < (b_ - matrix_ * reference_).norm()) reference_ = better;
    }
    return accept_reference();
  }

  template <class Solver>
  bool by_krylov(const char* name) {
    j_.method = fmt::format("{} with the diagonal as preconditioner", name);
    const double iteration_seconds = (2.0 * static_cast<double>(matrix_.nonZeros()) * (sizeof(T) + sizeof(int)) +
                                      15.0 * static_cast<double>(matrix_.rows()) * sizeof(T)) /
                                     bytes_per_second;
    Solver solver;
    solver.setMaxIterations(static_cast<Eigen::Index>(std::min(krylov_seconds / iteration_seconds, 100'000.0)) + 1);
    const double rhs = b_.norm();
    solver.setTolerance(rhs > 0 ? std::max(0.1 * claim_->residual_norm / rhs, 1e-15) : 1e-15);
    solver.compute(matrix_);
    reference_ = solver.solve(b_);
    if (!accept_reference())
      return obstacle_ = fmt::format("the matrix is too large to be factorized, and {}", obstacle_), false;
    return true;
  }

  bool accept_reference() {
    j_.reference_residual = (b_ - matrix_ * reference_).norm() / claim_->baseline;
    // The reference is as good as its own size lets it be in double, and as good as was asked of x.
    if (j_.reference_residual <= reference_tolerance_) return true;
    obstacle_ = fmt::format("{} reached a residual of {:.3g} only, {:.3g} are needed", j_.method, j_.reference_residual,
                            reference_tolerance_);
    return false;
  }

  /// ||A|| ||A^-1|| by a few steps of the power method on A^H A and its inverse.
  template <class Solve, class SolveAdjoint>
  void estimate_condition(Solve&& solve, SolveAdjoint&& solve_adjoint) {
    inverse_norm_ = norm_of(solve, solve_adjoint);
    j_.condition = inverse_norm_ * norm_of([&](const Vector<T>& v) { return Vector<T>(matrix_ * v); },
                                           [&](const Vector<T>& v) { return Vector<T>(matrix_.adjoint() * v); });
  }
  template <class Apply, class ApplyAdjoint>
  double norm_of(Apply&& apply, ApplyAdjoint&& apply_adjoint) const {
    Vector<T> v(matrix_.rows());
    std::uint64_t state = 1;
    for (Eigen::Index i = 0; i < v.size(); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      v[i] = T(static_cast<double>(state >> 40) / (1 << 23) - 1);
    }
    double norm = 0;
    for (int step = 0; step < 5; ++step) {
      v /= v.norm();
      v = apply(v);
      norm = v.norm();
      v = apply_adjoint(v);
      if (!(v.norm() > 0)) break;
    }
    return norm;
  }

  void compare() {
    const Vector<T> difference = x_ - reference_;
    j_.difference = (matrix_ * difference).norm() / claim_->baseline;
    j_.difference_tolerance = j_.tolerance + j_.reference_residual;
    const double size = reference_.norm();
    j_.error = size > 0 ? difference.norm() / size : difference.norm();
    if (inverse_norm_ > 0 && size > 0)
      j_.error_expected = inverse_norm_ * j_.difference_tolerance * claim_->baseline / size;
    if (!(j_.difference <= j_.difference_tolerance))
      refuse(fmt::format("||A (x - x_ref)|| is {:.3g}, the tolerance {:.3g}", j_.difference, j_.difference_tolerance));
    if (claim_->error_limit > 0 && !(j_.error <= claim_->error_limit))
      refuse(fmt::format("the error is {:.3g}, the limit {:.3g}", j_.error, claim_->error_limit));
    if (j_.verdict == Verdict::none) j_.verdict = Verdict::pass;
  }

  void refuse(const std::string& reason) {
    j_.verdict = Verdict::fail;
    j_.reason += (j_.reason.empty() ? "" : "; ") + reason;
  }

  const Claim<T>* claim_ = nullptr;
  Matrix<T> matrix_;
  std::function<Vector<T>(const Vector<T>&)> factors_;  // none where the reference is Krylov's
  std::string method_;                                  // that found the factors
  double condition_ = -1;
  Vector<T> b_, x_, reference_;
  Judgement j_;
  double reference_tolerance_ = 0, inverse_norm_ = 0;
  std::string obstacle_;
};

std::string eigen_version() {
  return fmt::format("Eigen {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

}  // namespace

template <class T>
std::vector<Judgement> judge(std::span<const Claim<T>> claims) {
  std::vector<Judgement> judgements;
  std::optional<Court<T>> court;
  for (const Claim<T>& claim : claims) {
    const auto start = std::chrono::steady_clock::now();
    Judgement& j = judgements.emplace_back();
    const double entries =
        static_cast<double>(claim.matrix.value.size()) * (claim.matrix.symmetry == Symmetry::general ? 1 : 2);
    if (entries >= std::numeric_limits<int>::max()) {
      j.reason = fmt::format("{:.0f} entries are more than the 32-bit offsets of the judge count", entries);
    } else {
      try {
        if (!court) court.emplace(claim.matrix);
        j = court->hold(claim);
      } catch (const std::bad_alloc&) {
        j.reason = "out of memory";
      }
    }
    j.judge = eigen_version();
    j.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return judgements;
}

template <class T>
Judgement judge(const Claim<T>& claim) {
  return judge(std::span<const Claim<T>>(&claim, 1)).front();
}

template Judgement judge(const Claim<double>&);
template Judgement judge(const Claim<std::complex<double>>&);
template std::vector<Judgement> judge(std::span<const Claim<double>>);
template std::vector<Judgement> judge(std::span<const Claim<std::complex<double>>>);

}  // namespace krill::apps
