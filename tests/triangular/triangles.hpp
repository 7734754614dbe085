// Matrices with triangles that can be solved with, and what references say of solutions.
#pragma once
#include "apps/verify/references/substitution.hpp"
#include "tests/support/random.hpp"
#include "tests/support/references.hpp"

namespace krill::test {

/// A with a diagonal of modulus 1 to 2, or `positive`, and other entries so small that solutions do not grow.
template <class T, class Offset>
Csr<T, Offset> solvable(std::uint64_t seed, const Csr<T, Offset>& A, bool positive = false) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<real_t<T>> modulus(1, 2);
  const auto offsets = A.row_offsets().host();
  std::vector<Offset> row_offsets{0};
  std::vector<std::int32_t> cols;
  std::vector<T> values;
  for (std::int32_t i = 0; i < A.rows(); ++i) {
    const auto from = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]),
               to = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]);
    const auto scale = static_cast<real_t<T>>(0.5 / static_cast<double>(to - from + 1));
    bool placed = false;
    const auto place_diagonal = [&] {
      cols.push_back(i), values.push_back(T(modulus(engine)) * (positive || engine() % 2 ? T(1) : T(-1)));
      placed = true;
    };
    for (std::size_t k = from; k < to; ++k) {
      const std::int32_t col = A.col_indices().host()[k];
      if (col >= i && !placed) place_diagonal();
      if (col != i) cols.push_back(col), values.push_back(A.values().host()[k] * scale);
    }
    if (!placed) place_diagonal();
    row_offsets.push_back(static_cast<Offset>(cols.size()));
  }
  return {A.cols(), Array<Offset>(std::move(row_offsets)), Array<std::int32_t>(std::move(cols)),
          Array<T>(std::move(values))};
}

/// Row i has entries in the columns that `columns(i)` lists in ascending order; the diagonal is 2, the rest random.
template <class T, class Columns>
Csr<T> with_columns(std::int32_t n, Columns&& columns) {
  std::mt19937_64 engine(17);
  std::vector<std::int32_t> row_offsets{0}, cols;
  std::vector<T> values;
  for (std::int32_t i = 0; i < n; ++i) {
    const std::vector<std::int32_t> row = columns(i);
    for (const std::int32_t col : row) {
      cols.push_back(col);
      values.push_back(col == i ? T(2) : random_scalar<T>(engine) / static_cast<real_t<T>>(row.size()));
    }
    row_offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  return {n, Array<std::int32_t>(std::move(row_offsets)), Array<std::int32_t>(std::move(cols)),
          Array<T>(std::move(values))};
}

inline std::string name(const Triangle& t) {
  return std::string(t.fill == Fill::lower ? "lower " : "upper ") +
         (t.diagonal == Diagonal::unit ? "unit " : "stored ") +
         (t.op == Op::none        ? "N"
          : t.op == Op::transpose ? "T"
                                  : "H");
}

inline std::vector<Triangle> all_triangles() {
  std::vector<Triangle> triangles;
  for (const Fill fill : {Fill::lower, Fill::upper})
    for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit})
      for (const Op op : {Op::none, Op::transpose, Op::adjoint}) triangles.push_back({fill, diagonal, op});
  return triangles;
}

/// Substitution leaves a residual in each row that rounding in that row alone explains.
template <class T, class Offset>
void expect_solves(const Csr<T, Offset>& A, const Triangle& t, T alpha, const std::vector<T>& b,
                   const std::vector<T>& x) {
  ASSERT_EQ(x.size(), b.size());
  expect_met(verify::substitution_equations<T>(verify::triangle_of(verify::rows_of(A), t), alpha, b, x));
}

}  // namespace krill::test
