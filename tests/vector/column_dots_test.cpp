#include "sparse/vector/column_dots.hpp"

#include "tests/spmm/dense_operands.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using ColumnDots = OnBackendAndScalar;

/// Against sums in long double, with the bound of a sum in double.
template <class T>
void expect_dots(const Dense<T>& X, const Dense<T>& Y, const Array<wide_t<T>>& results, const std::string& what) {
  const auto x = X.host(), y = Y.host();
  for (std::int32_t j = 0; j < X.cols(); ++j) {
    std::complex<long double> sum = 0;
    long double magnitude = 0;
    for (std::int32_t i = 0; i < X.rows(); ++i) {
      const std::complex<long double> a(Z(x.at(i, j))), b(Z(y.at(i, j)));
      sum += std::conj(a) * b, magnitude += std::abs(a) * std::abs(b);
    }
    const auto terms = static_cast<double>(X.rows());
    const double bound = 2 * (terms + 4) * std::numeric_limits<double>::epsilon() * static_cast<double>(magnitude);
    EXPECT_LE(std::abs(Z(results.host()[static_cast<std::size_t>(j)]) - Z(sum)), bound) << what << ", column " << j;
  }
}

TEST_P(ColumnDots, follow_their_formula_for_every_shape_and_order) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    struct DotsShape {
      std::int32_t rows, cols;
    };
    int turn = 0;
    for (const DotsShape& shape :
         {DotsShape{0, 3}, DotsShape{5, 0}, DotsShape{1, 1}, DotsShape{7, 2}, DotsShape{300, 33}, DotsShape{4'099, 8},
          DotsShape{50'021, 3}, DotsShape{3, 5'000}, DotsShape{40, 130}})
      for (const Order of_x : orders)
        for (const Order of_y : orders) {
          ++turn;
          const auto X = random_dense<T>(1, shape.rows, shape.cols, of_x, turn % 3),
                     Y = random_dense<T>(2, shape.rows, shape.cols, of_y, turn % 2);
          Array<wide_t<T>> results(shape.cols);
          column_dots(ctx, X, Y, results);
          expect_dots(
              X, Y, results,
              std::to_string(shape.rows) + " x " + std::to_string(shape.cols) + ", turn " + std::to_string(turn));
        }
  });
}

TEST_P(ColumnDots, of_a_matrix_with_itself_are_squares_of_norms) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    auto X = random_dense<T>(3, 1'000, 4, Order::column_major, 0);
    X.edit().at(999, 2) = T(std::numeric_limits<real_t<T>>::quiet_NaN());  // of one column alone
    Array<wide_t<T>> results(4);
    column_dots(ctx, X, X, results);
    for (const int j : {0, 1, 3}) {
      EXPECT_GT(Z(results.host()[static_cast<std::size_t>(j)]).real(), 0) << j;
      EXPECT_NEAR(Z(results.host()[static_cast<std::size_t>(j)]).imag(), 0, 1e-12) << j;
    }
    EXPECT_TRUE(std::isnan(Z(results.host()[2]).real()));
  });
}

TEST_P(ColumnDots, can_be_captured_skipped_and_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Order order : orders) {
      const auto X = random_dense<T>(4, 20'000, 5, order, 1), Y = random_dense<T>(5, 20'000, 5, order, 0);
      Array<wide_t<T>> results(5), again(5);
      replay(ctx, [&] { column_dots(ctx, X, Y, results); });
      column_dots(ctx, X, Y, again);
      EXPECT_EQ(contents(results), contents(again));
      run_skipped(ctx, [&] { column_dots(ctx, Y, Y, results); });
      EXPECT_EQ(contents(results), contents(again));
      if (ctx.on_cuda()) continue;
      Context alone = Context::host(1);
      column_dots(alone, X, Y, results);
      EXPECT_EQ(contents(results), contents(again));
    }
  });
}

TEST_P(ColumnDots, refuse_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Dense<T> X(3, 2), taller(4, 2), wider(3, 3);
    Array<wide_t<T>> two(2), three(3);
    EXPECT_THROW(column_dots(ctx, X, taller, two), ShapeMismatch);
    EXPECT_THROW(column_dots(ctx, X, wider, two), ShapeMismatch);
    EXPECT_EQ(complaint<ShapeMismatch>([&] { column_dots(ctx, X, X, three); }),
              "column_dots: results has 3 entries, 2 are needed");
  });
}

INSTANTIATE_TEST_SUITE_P(, ColumnDots, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
