// Products of blocks: what sticks out of the matrix, what is no entry, odd sizes and addresses, long block rows.
#include "sparse/convert/formats.hpp"
#include "sparse/spmv/plan.hpp"
#include "sparse/spmv/product.hpp"
#include "sparse/spmv/spmv.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Blocks = OnBackendAndScalar;

constexpr GrowthLimit no_limit{1e9};
constexpr std::int32_t matrix_rows = 203, matrix_cols = 311;  // multiples of no block's size

template <class T>
T nan() {
  return T(std::numeric_limits<real_t<T>>::quiet_NaN());
}

/// Whether no row has an entry in that column. Some stand beside columns with entries, some at the right edge.
bool is_empty_column(std::int32_t col) { return col % 7 == 3 || (col >= 40 && col < 80) || col == matrix_cols - 2; }

template <class T>
Csr<T> matrix() {
  const Csr<T> all =
      random_csr<T>(101, {"", matrix_rows, matrix_cols, [](std::int32_t row, std::mt19937_64&) { return row % 23; }});
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  for (std::size_t row = 0; row < std::size_t{matrix_rows}; ++row) {
    const auto at = all.row_offsets().host();
    for (auto k = static_cast<std::size_t>(at[row]); k < static_cast<std::size_t>(at[row + 1]); ++k)
      if (const std::int32_t col = all.col_indices().host()[k]; !is_empty_column(col) && col != matrix_cols - 1)
        columns.push_back(col), values.push_back(all.values().host()[k]);
    if (row % 5 == 0) columns.push_back(matrix_cols - 1), values.push_back(T(2));  // the last block column is cut
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  return {matrix_cols, Array<std::int32_t>(offsets), Array<std::int32_t>(columns), Array<T>(values)};
}

/// The array from its second value on, where no two values are one load.
template <class T>
std::vector<T> shifted(const std::vector<T>& values) {
  std::vector<T> more{nan<T>()};
  more.insert(more.end(), values.begin(), values.end());
  return more;
}

/// y = A x by kernels that get `view`, with the values and x where they are and one value further on. x is NaN where no
/// row has an entry.
template <class T, class Matrix>
void check(Context& ctx, const Matrix& A, const std::vector<T>& values, const Product& expected,
           const std::vector<T>& x) {
  using K = kernel_t<T>;
  const Array<T> placed[2] = {Array<T>(values), Array<T>(shifted(values))}, xs[2] = {Array<T>(x), Array<T>(shifted(x))};
  for (const int values_by : {0, 1})
    for (const int x_by : {0, 1}) {
      SCOPED_TRACE(testing::Message() << "values moved by " << values_by << ", x by " << x_by);
      Array<T> y(std::vector<T>(std::size_t{matrix_rows}, nan<T>()));
      ctx.dispatch([&](const auto& where) {
        auto view = A.view(where);
        view.values = placed[values_by].read(where) + values_by;
        run_product(where, krill::Product<decltype(view)>{
                               {K(1)}, view, xs[x_by].read(where) + x_by, {K(0)}, y.write(where), {}});
      });
      for (std::size_t i = 0; i < expected.y.size(); ++i)
        ASSERT_LE(modulus(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << "row " << i;
    }
}

template <class T>
struct Task {
  Csr<T> A = matrix<T>();
  std::vector<T> x = random_vector<T>(102, matrix_cols);
  Product expected =
      product(Op::none, 1.0, reference(A), to_reference(x), 0.0, std::vector<Z>(matrix_rows), epsilon<T>());

  Task() {
    for (std::int32_t col = 0; col < matrix_cols; ++col)
      if (is_empty_column(col)) x[static_cast<std::size_t>(col)] = nan<T>();
  }
};

constexpr std::int32_t sizes[] = {1, 2, 3, 4, 5, 8, 16, 17, 64};

TEST_P(Blocks, of_bsr_of_every_size_take_in_nothing_that_is_no_entry) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Task<T> task;
    for (const std::int32_t row_dim : sizes)
      for (const std::int32_t col_dim : sizes)
        for (const BlockOrder order : {BlockOrder::row_major, BlockOrder::column_major}) {
          if (row_dim != col_dim && row_dim != 3) continue;
          SCOPED_TRACE(testing::Message() << row_dim << " x " << col_dim << " by "
                                          << (order == BlockOrder::row_major ? "rows" : "columns"));
          const Bsr<T> B = to_bsr(ctx, task.A, {row_dim, col_dim, order}, no_limit);
          std::vector<T> values(B.values().host().begin(), B.values().host().end());
          for (std::int32_t I = 0; I < B.block_rows(); ++I)
            for (std::int32_t k = B.row_offsets().host()[static_cast<std::size_t>(I)];
                 k < B.row_offsets().host()[static_cast<std::size_t>(I) + 1]; ++k)
              for (std::int32_t i = 0; i < row_dim; ++i)
                for (std::int32_t j = 0; j < col_dim; ++j)
                  if (I * row_dim + i >= matrix_rows ||
                      B.col_indices().host()[static_cast<std::size_t>(k)] * col_dim + j >= matrix_cols)
                    values[static_cast<std::size_t>(k * B.blocks().size() + B.blocks().at(i, j))] = nan<T>();
          check(ctx, B, values, task.expected, task.x);
          check(ctx, to_bsrx(ctx, B), values, task.expected, task.x);
        }
  });
}

/// A with `more` places of padding at the end of each row.
template <class T>
BlockedEll<T> widened(const BlockedEll<T>& A, std::int64_t more) {
  const std::int64_t old_width = A.width(), ell_cols = A.ell_cols() + more,
                     width = (ell_cols + A.block_dim() - 1) / A.block_dim();
  std::vector<std::int32_t> blocks(static_cast<std::size_t>(A.block_rows() * width), -1);
  for (std::int64_t I = 0; I < A.block_rows(); ++I)
    for (std::int64_t k = 0; k < old_width; ++k)
      blocks[static_cast<std::size_t>(I * width + k)] =
          A.col_indices().host()[static_cast<std::size_t>(I * old_width + k)];
  std::vector<T> values(static_cast<std::size_t>(A.rows() * ell_cols));
  for (std::int64_t i = 0; i < A.rows(); ++i)
    for (std::int64_t c = 0; c < ell_cols; ++c) {
      const std::int64_t block = blocks[static_cast<std::size_t>(i / A.block_dim() * width + c / A.block_dim())];
      const bool inside = block >= 0 && block * A.block_dim() + c % A.block_dim() < A.cols();
      values[static_cast<std::size_t>(i * ell_cols + c)] =
          inside ? A.values().host()[static_cast<std::size_t>(i * A.ell_cols() + c)] : nan<T>();
    }
  return {A.rows(), A.cols(), A.block_dim(), ell_cols, Array<std::int32_t>(blocks), Array<T>(values)};
}

TEST_P(Blocks, of_blocked_ell_of_every_size_take_in_nothing_that_is_no_entry) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Task<T> task;
    for (const std::int32_t block_dim : sizes)
      for (const std::int64_t more : {0, 1, 4, 100}) {
        SCOPED_TRACE(testing::Message() << "blocks of " << block_dim << ", rows longer by " << more);
        const BlockedEll<T> narrow = to_blocked_ell(ctx, task.A, block_dim, no_limit);
        if (narrow.ell_cols() + more > matrix_cols) continue;
        const BlockedEll<T> B = widened(narrow, more);
        const std::vector<T> values(B.values().host().begin(), B.values().host().end());
        check(ctx, B, values, task.expected, task.x);
      }
  });
}

/// Block rows as short, long, and longer than many tiles.
const std::vector<Shape>& profiles() {
  static const std::vector<Shape> shapes{
      {"one row of all", 1, 200'001, [](std::int32_t, std::mt19937_64&) { return 200'001; }},
      {"long beside empty", 701, 100'000, [](std::int32_t row, std::mt19937_64&) { return row == 300 ? 100'000 : 0; }},
      {"some long", 600, 50'001, [](std::int32_t row, std::mt19937_64&) { return row % 250 == 3 ? 50'000 : 3; }},
      {"the last one long", 601, 50'001, [](std::int32_t row, std::mt19937_64&) { return row == 600 ? 50'001 : 2; }},
      {"all long", 100, 3000, [](std::int32_t, std::mt19937_64&) { return 1500; }},
      {"power law", 6001, 40'000,
       [](std::int32_t, std::mt19937_64& e) {
         const double u = std::uniform_real_distribution<double>(1e-5, 1)(e);
         return static_cast<std::int32_t>(std::min(30'000.0, 1 / (u * std::sqrt(u))));
       }},
  };
  return shapes;
}

TEST_P(Blocks, of_long_block_rows_are_divided_without_a_change_of_result) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : profiles()) {
      const Csr<T> csr = random_csr<T>(103, shape);
      const auto x = random_vector<T>(104, csr.cols()), y0 = random_vector<T>(105, csr.rows());
      const Product expected =
          product(Op::none, 1.0, reference(csr), to_reference(x), -1.0, to_reference(y0), epsilon<T>());
      for (const Blocking& blocking : {Blocking{2, 2}, Blocking{3, 3}, Blocking{2, 5},
                                       Blocking{4, 4, BlockOrder::column_major}, Blocking{1, 4}, Blocking{1, 1}}) {
        SCOPED_TRACE(testing::Message() << shape.name << ", " << blocking.row_dim << " x " << blocking.col_dim);
        const AnyMatrix<T> A = to_bsr(ctx, csr, blocking, no_limit);
        const SpmvPlan<T> plan(ctx, A);
        const Array<T> ax(x);
        const auto repeated = [&](const auto& multiply) {
          Array<T> y(y0), again(y0);
          Array<wide_t<T>> yy(1), xy(1), yy_again(1), xy_again(1);
          const Array<T> partner(y0);
          multiply(y, Dots<T>{&y, &yy, &partner, &xy});
          for (std::size_t i = 0; i < expected.y.size(); ++i)
            ASSERT_LE(modulus(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << "row " << i;
          Z squares = 0, with_partner = 0;
          double bound = 0;
          for (std::size_t i = 0; i < expected.y.size(); ++i) {
            const Z result = Z(y.host()[i]), other = Z(y0[i]);
            squares += std::norm(result), with_partner += std::conj(other) * result;
            bound += std::norm(result) + std::abs(other * result);
          }
          bound *= epsilon<double>() * static_cast<double>(csr.rows());
          EXPECT_LE(std::abs(Z(yy.host()[0]) - squares), bound);
          EXPECT_LE(std::abs(Z(xy.host()[0]) - with_partner), bound);
          for (int i = 0; i < 3; ++i) {
            again = Array<T>(y0);
            multiply(again, Dots<T>{&again, &yy_again, &partner, &xy_again});
            ASSERT_TRUE(std::ranges::equal(y.host(), again.host()));
            ASSERT_EQ(yy.host()[0], yy_again.host()[0]);
            ASSERT_EQ(xy.host()[0], xy_again.host()[0]);
          }
        };
        repeated([&](Array<T>& y, const Dots<T>& dots) { plan.apply(ctx, T(1), ax, T(-1), y, dots); });
        repeated([&](Array<T>& y, const Dots<T>& dots) { spmv(ctx, Op::none, T(1), A, ax, T(-1), y, dots); });
        Array<T> plain(csr.rows()), planned(csr.rows());
        spmv(ctx, Op::none, T(1), A, ax, T(0), plain);
        replay(ctx, [&] { plan.apply(ctx, T(1), ax, T(0), planned); });
        ASSERT_TRUE(std::ranges::equal(plain.host(), planned.host()));
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Blocks, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
