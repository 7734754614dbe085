// The prolongators of a level's smoothed aggregates, as they follow its matrix.
#pragma once
#include <memory>
#include <optional>
#include <utility>

#include "sparse/coarsen/prolongator.hpp"
#include "sparse/spgemm/operand.hpp"

namespace krill::detail {

/// What prolongators of a level are made of, beside its matrix.
template <class T, class Offset>
struct InterpolationParts {
  StrongGraph<Offset> graph;
  Tentative<T, Offset> tentative;
  std::shared_ptr<const Dense<T>> candidates;
  std::int32_t block_dim;
  double damping;
};

/// P, smoothed by A, and, where R is not P^H, Q, smoothed by A^H, of which it is the adjoint then.
template <class T, class Offset>
class Interpolation {
 public:
  using Matrix = Csr<T, Offset>;

  /// eigenvalue: of D^-1 A, the largest, or a bound of it; it has to stay. Waits.
  Interpolation(Context& ctx, InterpolationParts<T, Offset> parts, const Array<double>& eigenvalue, const Matrix& A)
      : parts_(std::move(parts)), eigenvalue_(&eigenvalue), right_(made(ctx)) {
    fill(ctx, right_, A);
  }
  /// The same of A^H, from here on. Waits.
  void add_left(Context& ctx, const Matrix& A) {
    adjoint_.emplace(ctx, Op::adjoint, A);
    left_.emplace(made(ctx));
    fill(ctx, *left_, adjoint_->of(A));
  }

  /// New values from those of A. Capturable after a first run.
  void update(Context& ctx, const Matrix& A) {
    fill(ctx, right_, A);
    if (!left_) return;
    adjoint_->update(ctx, A, "multigrid: the matrix");
    fill(ctx, *left_, adjoint_->of(A));
  }

  const Matrix& P() const { return right_.matrix(); }
  const Matrix& Q() const { return left_ ? left_->matrix() : right_.matrix(); }
  const Tentative<T, Offset>& tentative() const { return parts_.tentative; }
  Matrix release_P() && { return std::move(right_).release(); }
  Tentative<T, Offset> release_tentative() && { return std::move(parts_.tentative); }
  std::size_t bytes() const {
    return right_.bytes() + parts_.tentative.P.bytes() + parts_.candidates->bytes() +
           bytes_of(parts_.graph.row_offsets, parts_.graph.col_indices) +
           (left_ ? left_->bytes() + adjoint_->bytes() : 0);
  }

 private:
  using Smoothed = SmoothedProlongator<T, Offset>;
  Smoothed made(Context& ctx) const { return {ctx, parts_.graph, parts_.block_dim, parts_.tentative}; }
  void fill(Context& ctx, Smoothed& P, const Matrix& A) const {
    P.update(ctx, A, parts_.graph, parts_.tentative, *parts_.candidates, parts_.damping, *eigenvalue_);
  }

  InterpolationParts<T, Offset> parts_;
  const Array<double>* eigenvalue_;
  Smoothed right_;
  std::optional<Smoothed> left_;
  std::optional<Operand<T, Offset>> adjoint_;
};

}  // namespace krill::detail
