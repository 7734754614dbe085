// The blocks of a saddle point, and what stands for their inverses: as the preconditioner has them, and what verifies
// it.
#pragma once
#include <fmt/format.h>

#include <complex>
#include <optional>
#include <utility>
#include <vector>

#include "solvers/precond/diagonal.hpp"
#include "solvers/precond/inverted_block.hpp"
#include "solvers/precond/preconditioner.hpp"
#include "sparse/inverse/sparse_inverse.hpp"
#include "sparse/spgemm/spgemm.hpp"

namespace krill::detail {

/// The rows of H, and the constraints.
struct SaddleRows {
  std::vector<std::int32_t> of_h, of_constraints;

  /// By the sign of the diagonal. Raises InvalidArgument where all rows are of one kind.
  template <class T, class Offset>
  explicit SaddleRows(const Csr<T, Offset>& A) {
    const auto offsets = A.row_offsets().host();
    const auto cols = A.col_indices().host();
    const auto values = A.values().host();
    for (std::int32_t i = 0; i < A.rows(); ++i) {
      bool positive = false;
      for (auto e = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
           e < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++e)
        positive = positive || (cols[e] == i && std::real(values[e]) > 0);
      (positive ? of_h : of_constraints).push_back(i);
    }
    if (of_h.empty() || of_constraints.empty())
      throw InvalidArgument(
          fmt::format("preconditioner schur: {} row has a positive diagonal entry, so the matrix is no "
                      "saddle point: use preconditioner {}",
                      of_h.empty() ? "no" : "every", of_h.empty() ? "none" : "ilu0"));
  }
};

/// E with E x the entries of x at `rows`.
template <class T, class Offset>
Csr<T, Offset> selection(const std::vector<std::int32_t>& rows, std::int32_t cols) {
  std::vector<Offset> offsets(rows.size() + 1);
  for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] = static_cast<Offset>(k);
  return {cols, Array<Offset>(std::move(offsets)), Array<std::int32_t>(rows),
          Array<T>(std::vector<T>(rows.size(), T(1)))};
}

/// The blocks of a saddle point that are applied, S, and G D^-1 H D^-1 F where that is wanted.
template <class T, class Offset>
struct SaddleBlocks {
  Csr<T, Offset> h, g, s;
  std::optional<Csr<T, Offset>> between;

  SaddleBlocks(Context& ctx, const SchurOptions& o, const Csr<T, Offset>& A, const SaddleRows& rows)
      : SaddleBlocks(ctx, o, A, selection<T, Offset>(rows.of_h, A.cols()),
                     selection<T, Offset>(rows.of_constraints, A.cols())) {}

 private:
  using Matrix = Csr<T, Offset>;

  SaddleBlocks(Context& ctx, const SchurOptions& o, const Matrix& A, const Matrix& of_h, const Matrix& of_constraints)
      : h(block(ctx, of_h, A, of_h)), g(block(ctx, of_constraints, A, of_h)), s(identity<T, Offset>(0)) {
    const Matrix f = block(ctx, of_h, A, of_constraints), last = block(ctx, of_constraints, A, of_constraints);  // -C
    Matrix inverse = identity<T, Offset>(h.rows());
    inverse.values() = inverse_of_diagonal(ctx);
    const Matrix scaled = spgemm(ctx, Op::none, Op::none, T(1), inverse, f);
    s = spgemm(ctx, Op::none, Op::none, T(1), g, scaled, T(-1), last);
    if (o.form != SchurForm::least_squares) return;
    for (const T& c : last.values().host())
      if (c != T(0))
        throw InvalidArgument(
            "preconditioner schur: form least_squares is for saddle points whose constraints meet only other rows, and "
            "have no diagonal: use form diagonal");
    const Matrix left = spgemm(ctx, Op::none, Op::none, T(1), g, inverse),
                 right = spgemm(ctx, Op::none, Op::none, T(1), h, scaled);
    between = spgemm(ctx, Op::none, Op::none, T(1), left, right);
  }
  static Matrix block(Context& ctx, const Matrix& rows, const Matrix& A, const Matrix& cols) {
    return spgemm(ctx, Op::none, Op::transpose, T(1), spgemm(ctx, Op::none, Op::none, T(1), rows, A), cols);
  }
  Array<T> inverse_of_diagonal(Context& ctx) {
    AnyMatrix<T> any(std::move(h));
    Array<T> inverse = inverse_diagonal(ctx, SchurOptions::type, any);
    h = std::get<Matrix>(std::move(any));
    return inverse;
  }
};

}  // namespace krill::detail
