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

/// C against Eigen's products with each column; padding is NaN still.
template <class T>
void expect_product(Op op_a, Op op_b, T alpha, const Reference& A, const Dense<T>& B, T beta, const Dense<T>& before,
                    const Dense<T>& C, const std::string& what) {
  for (std::int64_t j = 0; j < C.cols(); ++j) {
    const Product expected =
        product(op_a, Z(alpha), A, column_of(B, op_b, j), Z(beta), column_of(before, Op::none, j), epsilon<T>());
    for (std::int64_t i = 0; i < C.rows(); ++i)
      ASSERT_LE(std::abs(Z(C.host().at(i, j)) - expected.y[static_cast<std::size_t>(i)]),
                expected.bound[static_cast<std::size_t>(i)])
          << what << ", entry " << i << ", " << j;
  }
  const std::int64_t line = C.order() == Order::column_major ? C.rows() : C.cols();
  for (std::int64_t p = 0; p < C.values().size(); ++p)
    if (p % C.leading_dimension() >= line) {
      const T padding = C.values().host()[static_cast<std::size_t>(p)];
      ASSERT_NE(padding, padding) << what;
    }
}

inline constexpr Order orders[] = {Order::column_major, Order::row_major};
inline constexpr Op ops[] = {Op::none, Op::transpose, Op::adjoint};

}  // namespace krill::test
