#include "tests/support/multigrid_oracle.hpp"

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <numeric>

namespace krill::test {
namespace {

using Sparse = Eigen::SparseMatrix<Z, Eigen::RowMajor>;
using Matrix = Eigen::MatrixXcd;
using Column = Eigen::VectorXcd;

Sparse sparse(Eigen::Index rows, Eigen::Index cols, const std::vector<Eigen::Triplet<Z>>& entries) {
  Sparse made(rows, cols);
  made.setFromTriplets(entries.begin(), entries.end());
  return made;
}

template <class Use>
void for_row(const Sparse& A, Eigen::Index row, Use&& use) {
  for (Sparse::InnerIterator entry(A, row); entry; ++entry) use(entry.col(), entry.value());
}

Reference from_eigen(const Sparse& A) {
  Reference r{A.rows(), A.cols(), {}, {}, {}};
  for (Eigen::Index i = 0; i < A.rows(); ++i)
    for_row(A, i, [&](Eigen::Index j, Z value) {
      r.row.push_back(static_cast<std::int32_t>(i)), r.col.push_back(static_cast<std::int32_t>(j));
      r.value.push_back(value);
    });
  return r;
}

Column column(const std::vector<Z>& v) {
  return Eigen::Map<const Column>(v.data(), static_cast<Eigen::Index>(v.size()));
}

/// Q and R of an aggregate's rows B, with r_jj >= 0; a column that depends on those before is zero in Q, and its row in
/// R, too.
struct Factors {
  Matrix Q, R;
};
Factors factored(const Matrix& B) {
  const Eigen::Index m = B.cols();
  const double longest = B.colwise().norm().maxCoeff();
  Factors made{Matrix::Zero(B.rows(), m), Matrix::Zero(m, m)};
  std::vector<Eigen::Index> live;
  Matrix Q(B.rows(), 0);
  for (Eigen::Index j = 0; j < m; ++j) {
    const auto count = static_cast<Eigen::Index>(live.size());
    if (count == B.rows()) break;
    Matrix with(B.rows(), count + 1);
    for (Eigen::Index k = 0; k < count; ++k) with.col(k) = B.col(live[static_cast<std::size_t>(k)]);
    with.col(count) = B.col(j);
    const Eigen::HouseholderQR<Matrix> qr(with);
    if (std::abs(qr.matrixQR()(count, count)) <= 1e-10 * longest) continue;
    live.push_back(j);
    Q = qr.householderQ() * Matrix::Identity(B.rows(), count + 1);
    for (Eigen::Index k = 0; k <= count; ++k) {
      const Z diagonal = qr.matrixQR()(k, k);
      Q.col(k) *= diagonal / std::abs(diagonal);
    }
  }
  for (Eigen::Index k = 0; k < Q.cols(); ++k) {
    const Eigen::Index j = live[static_cast<std::size_t>(k)];
    made.Q.col(j) = Q.col(k);
    made.R.row(j).tail(m - j) = (Q.col(k).adjoint() * B).tail(m - j);
  }
  return made;
}

/// A_F P0 and the diagonal D_F: strong entries and those inside of nodes as they are. In place of the weak ones of a
/// row, which take t from the candidates, its aggregate has s with s R = t in the columns whose q is not zero.
struct FilteredProduct {
  Sparse product;
  Column diagonal;
};
FilteredProduct filtered(const Sparse& A, const Matrix& B, const Sparse& P0, const Matrix& R,
                         const CoarseningStep& step) {
  const Eigen::Index dim = step.block_dim, m = B.cols();
  std::vector<Eigen::Triplet<Z>> strong;
  Matrix weak = Matrix::Zero(A.rows(), m);
  for (Eigen::Index i = 0; i < A.rows(); ++i)
    for_row(A, i, [&](Eigen::Index j, Z value) {
      const auto p = static_cast<std::int32_t>(i / dim), q = static_cast<std::int32_t>(j / dim);
      if (p == q || step.strong.count({p, q}))
        strong.emplace_back(i, j, value);
      else
        weak.row(i) += value * B.row(j);
    });
  Column diagonal = A.diagonal();
  std::vector<Eigen::Triplet<Z>> replaced;
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    const std::int32_t own = step.of_node[static_cast<std::size_t>(i / dim)];
    if (own < 0 || weak.row(i).isZero(0) || diagonal(i) == Z(0)) continue;
    const Matrix square = R.middleRows(own * m, m);
    std::vector<Eigen::Index> live;
    for (Eigen::Index j = 0; j < m; ++j)
      if (square(j, j) != Z(0)) live.push_back(j);
    const Column t = weak.row(i)(live).transpose();
    const Column s = Matrix(square(live, live).transpose()).fullPivLu().solve(t);
    Column p0(s.size());
    for (std::size_t k = 0; k < live.size(); ++k) p0(static_cast<Eigen::Index>(k)) = P0.coeff(i, own * m + live[k]);
    const Z more = p0.isZero(0) ? Z(0) : Z(p0.dot(s) / p0.squaredNorm());
    if (((diagonal(i) + more) / diagonal(i)).real() < 0.1) continue;
    diagonal(i) += more;
    for (std::size_t k = 0; k < live.size(); ++k)
      replaced.emplace_back(i, own * m + live[k], s(static_cast<Eigen::Index>(k)));
  }
  const Sparse by_strong = sparse(A.rows(), A.cols(), strong) * P0;
  return {Sparse(by_strong + sparse(P0.rows(), P0.cols(), replaced)), diagonal};
}

Column inverted(Column d) {
  for (Z& entry : d) entry = entry == Z(0) ? Z(0) : 1.0 / entry;
  return d;
}

}  // namespace

struct MultigridJudge::Body {
  struct Level {
    Sparse A;
    Matrix B;
    Sparse P = {}, R = {};
  };
  std::vector<Level> levels;

  void coarsen(const CoarseningStep& step) {
    Level& fine = levels.back();
    const Eigen::Index dim = step.block_dim, m = fine.B.cols();
    const Eigen::Index count =
        step.of_node.empty() ? 0 : 1 + *std::max_element(step.of_node.begin(), step.of_node.end());
    std::vector<std::vector<Eigen::Index>> rows(static_cast<std::size_t>(count));
    for (Eigen::Index i = 0; i < fine.A.rows(); ++i)
      if (const std::int32_t aggregate = step.of_node[static_cast<std::size_t>(i / dim)]; aggregate >= 0)
        rows[static_cast<std::size_t>(aggregate)].push_back(i);
    std::vector<Eigen::Triplet<Z>> entries, ones;
    Matrix coarse(count * m, m);
    for (Eigen::Index a = 0; a < count; ++a) {
      const auto& own = rows[static_cast<std::size_t>(a)];
      const Factors f = factored(fine.B(own, Eigen::all));
      coarse.middleRows(a * m, m) = f.R;
      for (Eigen::Index j = 0; j < m; ++j) {
        if (f.Q.col(j).isZero(0)) ones.emplace_back(a * m + j, a * m + j, 1);
        for (std::size_t t = 0; t < own.size(); ++t)
          entries.emplace_back(own[t], a * m + j, f.Q(static_cast<Eigen::Index>(t), j));
      }
    }
    const Sparse P0 = sparse(fine.A.rows(), count * m, entries);
    const auto smoothed = [&](const Sparse& A) {
      if (step.damping == 0) return P0;
      const auto [product, diagonal] = filtered(A, fine.B, P0, coarse, step);
      const Column factors = step.damping * inverted(diagonal);
      const Sparse correction = factors.asDiagonal() * product;
      return Sparse(P0 - correction);
    };
    fine.P = smoothed(fine.A);
    fine.R = Sparse((step.restricts_by_adjoint ? smoothed(Sparse(fine.A.adjoint())) : fine.P).adjoint());
    const Sparse product = fine.R * Sparse(fine.A * fine.P);
    levels.push_back({Sparse(product + sparse(count * m, count * m, ones)), coarse});
  }

  Column smoothed(std::size_t level, const JudgeSmoother& by, const Column& r) const {
    const Sparse& A = levels[level].A;
    const Column inverse = inverted(A.diagonal());
    Column x = Column::Zero(r.size()), before = x, now = x;  // (2 i + 1) y_i of the last two i
    for (std::size_t i = 0; i < by.weights.size(); ++i) {
      const double odd = 2.0 * static_cast<double>(i) + 1;
      const Column step = 4 / by.lambda * inverse.cwiseProduct(odd * r - A * now);
      const Column next = 2 * now - before + step;
      x += by.weights[i] * (next / (odd + 2) - now / odd);
      before = now, now = next;
    }
    return x;
  }

  Column cycle(std::size_t level, const std::vector<JudgeSmoother>& by, const Column& r) const {
    const auto& [A, B, P, R] = levels[level];
    if (level + 1 == levels.size()) return Matrix(A).completeOrthogonalDecomposition().solve(r);
    Column x = smoothed(level, by[level], r);
    x += P * cycle(level + 1, by, R * (r - A * x));
    return x + smoothed(level, by[level], r - A * x);
  }
};

MultigridJudge::MultigridJudge(const Reference& A, const std::vector<std::vector<Z>>& candidates,
                               const std::vector<CoarseningStep>& steps)
    : body_(std::make_unique<Body>()) {
  std::vector<Eigen::Triplet<Z>> entries;
  for (std::size_t k = 0; k < A.value.size(); ++k) entries.emplace_back(A.row[k], A.col[k], A.value[k]);
  Matrix B(A.rows, static_cast<Eigen::Index>(candidates.size()));
  for (std::size_t j = 0; j < candidates.size(); ++j) B.col(static_cast<Eigen::Index>(j)) = column(candidates[j]);
  body_->levels.push_back({sparse(A.rows, A.cols, entries), B});
  for (const CoarseningStep& step : steps) body_->coarsen(step);
}
MultigridJudge::~MultigridJudge() = default;

int MultigridJudge::levels() const { return static_cast<int>(body_->levels.size()); }
Reference MultigridJudge::matrix(int level) const {
  return from_eigen(body_->levels[static_cast<std::size_t>(level)].A);
}
Reference MultigridJudge::prolongator(int level) const {
  return from_eigen(body_->levels[static_cast<std::size_t>(level)].P);
}
Reference MultigridJudge::restriction(int level) const {
  return from_eigen(body_->levels[static_cast<std::size_t>(level)].R);
}
std::vector<std::vector<Z>> MultigridJudge::candidates(int level) const {
  const Matrix& B = body_->levels[static_cast<std::size_t>(level)].B;
  std::vector<std::vector<Z>> columns;
  for (Eigen::Index j = 0; j < B.cols(); ++j) columns.emplace_back(B.col(j).begin(), B.col(j).end());
  return columns;
}
std::vector<Z> MultigridJudge::smoothed(int level, const JudgeSmoother& by, const std::vector<Z>& r) const {
  const Column x = body_->smoothed(static_cast<std::size_t>(level), by, column(r));
  return {x.begin(), x.end()};
}
std::vector<Z> MultigridJudge::cycle(const std::vector<JudgeSmoother>& smoothers, const std::vector<Z>& r) const {
  const Column x = body_->cycle(0, smoothers, column(r));
  return {x.begin(), x.end()};
}

}  // namespace krill::test
