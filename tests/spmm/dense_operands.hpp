// Dense operands of tests, and the judge of their products.
#pragma once
#include "sparse/formats/dense.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {

/// Random entries, NaN in padding.
template <class T>
Dense<T> random_dense(std::uint64_t seed, std::int64_t rows, std::int64_t cols, Order order, std::int64_t padding = 0) {
  const std::int64_t line = order == Order::column_major ? rows : cols;
  Dense<T> made(rows, cols, order, line + padding);
  for (T& entry : made.values().edit()) entry = T(std::numeric_limits<real_t<T>>::quiet_NaN());
  const auto values = random_vector<T>(seed, rows * cols);
  const auto view = made.edit();
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) view.at(i, j) = values[static_cast<std::size_t>(i + j * rows)];
  return made;
}

/// Column j of op(B).
template <class T>
std::vector<Z> column_of(const Dense<T>& B, Op op, std::int64_t j) {
  std::vector<Z> column;
  const auto view = B.host();
  for (std::int64_t i = 0; i < (op == Op::none ? B.rows() : B.cols()); ++i) {
    const Z entry(op == Op::none ? view.at(i, j) : view.at(j, i));
    column.push_back(op == Op::adjoint ? std::conj(entry) : entry);
  }
  return column;
}

/// alpha op_a(A) op_b(B) + beta C, column by column, by Eigen.
template <class T>
std::vector<Product> expected_columns(Op op_a, Op op_b, T alpha, const Reference& A, const Dense<T>& B, T beta,
                                      const Dense<T>& C) {
  std::vector<std::vector<Z>> b, c;
  for (std::int64_t j = 0; j < C.cols(); ++j)
    b.push_back(column_of(B, op_b, j)), c.push_back(column_of(C, Op::none, j));
  return products(op_a, Z(alpha), A, b, Z(beta), c, epsilon<T>());
}

/// C against what is expected of its columns; padding is NaN still.
template <class T>
void expect_columns(const std::vector<Product>& expected, const Dense<T>& C, const std::string& what) {
  const auto view = C.host();
  for (std::int64_t j = 0; j < C.cols(); ++j) {
    const Product& column = expected[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < C.rows(); ++i)
      ASSERT_LE(modulus(Z(view.at(i, j)) - column.y[static_cast<std::size_t>(i)]),
                column.bound[static_cast<std::size_t>(i)])
          << what << ", entry " << i << ", " << j;
  }
  const std::int64_t line = C.order() == Order::column_major ? C.rows() : C.cols();
  if (C.leading_dimension() == line) return;
  const auto values = C.values().host();
  for (std::int64_t p = 0; p < C.values().size(); ++p)
    if (p % C.leading_dimension() >= line) {
      const T padding = values[static_cast<std::size_t>(p)];
      ASSERT_NE(padding, padding) << what;
    }
}

/// C against Eigen's products with each column; padding is NaN still.
template <class T>
void expect_product(Op op_a, Op op_b, T alpha, const Reference& A, const Dense<T>& B, T beta, const Dense<T>& before,
                    const Dense<T>& C, const std::string& what) {
  expect_columns(expected_columns(op_a, op_b, alpha, A, B, beta, before), C, what);
}

inline constexpr Order orders[] = {Order::column_major, Order::row_major};
inline constexpr Op ops[] = {Op::none, Op::transpose, Op::adjoint};

}  // namespace krill::test
