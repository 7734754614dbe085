#include "sparse/scale/scaling.hpp"

#include <cmath>
#include <map>

#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

/// The greatest modulus in each row, or in each column.
std::vector<double> maxima(const Reference& A, bool of_columns) {
  std::vector<double> most(static_cast<std::size_t>(A.rows));
  for (std::size_t k = 0; k < A.row.size(); ++k) {
    double& one = most[static_cast<std::size_t>(of_columns ? A.col[k] : A.row[k])];
    one = std::max(one, std::abs(A.value[k]));
  }
  return most;
}

/// Rows and columns whose sizes lie 2^-span to 2^span apart; Hermitian where A is.
template <class T>
void spread(Csr<T>& A, double span, bool symmetric) {
  const auto rows = random_vector<double>(11, A.rows()), cols = random_vector<double>(12, A.cols());
  const auto offsets = A.row_offsets().host();
  const auto factor = [&](const std::vector<double>& of, std::int32_t i) {
    return std::exp2(span / 2 * of[static_cast<std::size_t>(i)]);
  };
  const auto values = A.values().edit();
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k) {
      const std::int32_t j = A.col_indices().host()[k];
      values[k] *= static_cast<real_t<T>>(factor(rows, i) * factor(symmetric ? rows : cols, j));
    }
}

using Scalings = OnBackendAndScalar;

TEST_P(Scalings, multiply_each_entry_by_the_factors_of_its_row_and_column) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const ScalingMethod method : {ScalingMethod::diagonal, ScalingMethod::symmetric, ScalingMethod::ruiz}) {
      Csr<T> A = random_dominant<T>(1, 700, 6);
      spread(A, 20, false);
      const Scaling<T> scaling(ctx, A, method);
      Scaled<T, std::int32_t> made(ctx, A, scaling);
      const auto expect_scaled = [&] {
        const Reference from = reference(A), to = reference(made.matrix());
        ASSERT_EQ(from.col, to.col);
        for (std::size_t k = 0; k < from.row.size(); ++k) {
          const double factor = static_cast<double>(scaling.rows().host()[static_cast<std::size_t>(from.row[k])]) *
                                static_cast<double>(scaling.cols().host()[static_cast<std::size_t>(from.col[k])]);
          ASSERT_LE(std::abs(to.value[k] - factor * from.value[k]), 4 * epsilon<T>() * std::abs(to.value[k]));
        }
      };
      expect_scaled();
      for (T& value : A.values().edit()) value *= T(3);
      made.update(ctx, A, scaling);
      expect_scaled();
    }
  });
}

/// The diagonal's entries get the modulus 1, to a rounding of each factor and of the product.
TEST_P(Scalings, by_the_diagonal_make_it_one) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A = random_hpd<T>(2, 500, 7);
    spread(A, 30, true);
    const Scaling<T> scaling(ctx, A, ScalingMethod::diagonal);
    const Reference made = reference(Scaled<T, std::int32_t>(ctx, A, scaling).matrix());
    for (std::size_t k = 0; k < made.row.size(); ++k)
      if (made.row[k] == made.col[k]) {
        ASSERT_NEAR(std::abs(made.value[k]), 1, 6 * epsilon<T>());
      }
    EXPECT_EQ(contents(scaling.rows()), contents(scaling.cols()));
  });
}

/// Ten rounds take the 1024th root of what a norm lacks: 2^60 and less become 2^0.06.
TEST_P(Scalings, by_ruiz_equilibrate_rows_and_columns) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A = random_dominant<T>(3, 900, 5);
    spread(A, 40, false);
    const Reference made = reference(Scaled<T, std::int32_t>(ctx, A, Scaling<T>(ctx, A, ScalingMethod::ruiz)).matrix());
    for (const bool of_columns : {false, true})
      for (const double most : maxima(made, of_columns)) ASSERT_LE(std::abs(std::log2(most)), 0.06);
  });
}

TEST_P(Scalings, keep_a_hermitian_matrix_hermitian) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A = random_hpd<T>(4, 400, 6);
    for (const ScalingMethod method : {ScalingMethod::diagonal, ScalingMethod::symmetric, ScalingMethod::ruiz}) {
      const Scaling<T> scaling(ctx, A, method);
      EXPECT_EQ(contents(scaling.rows()), contents(scaling.cols()));
      const Scaled<T, std::int32_t> made(ctx, A, scaling);
      const Reference entries = reference(made.matrix());
      std::map<std::pair<std::int32_t, std::int32_t>, Z> at;
      for (std::size_t k = 0; k < entries.row.size(); ++k) at[{entries.row[k], entries.col[k]}] = entries.value[k];
      for (const auto& [place, value] : at) ASSERT_EQ(value, std::conj(at.at({place.second, place.first})));
    }
  });
}

/// In one round d_i is the root of what the row and the column hold at most, so nothing is greater than 1 afterwards.
TEST_P(Scalings, symmetric_ones_leave_nothing_above_one) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A = random_dominant<T>(5, 600, 5);
    spread(A, 20, false);
    const Scaling<T> scaling(ctx, A, ScalingMethod::symmetric);
    EXPECT_EQ(contents(scaling.rows()), contents(scaling.cols()));
    for (const double most : maxima(reference(Scaled<T, std::int32_t>(ctx, A, scaling).matrix()), false))
      ASSERT_LE(most, 1 + 6 * epsilon<T>());
  });
}

TEST_P(Scalings, take_vectors_there_and_back) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A = random_dominant<T>(6, 300, 5);
    spread(A, 20, false);
    const Scaling<T> scaling(ctx, A, ScalingMethod::ruiz);
    const auto given = random_vector<T>(7, A.rows());
    const Array<T> b(given);
    Array<T> scaled_b(A.rows()), scaled_x(A.rows()), x(A.rows());
    replay(ctx, [&] {
      scaling.scale_rhs(ctx, b, scaled_b);
      scaling.scale_solution(ctx, b, scaled_x);
      scaling.unscale_solution(ctx, scaled_x, x);
    });
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Z expected = Z(given[i]) * static_cast<double>(scaling.rows().host()[i]);
      ASSERT_LE(std::abs(Z(scaled_b.host()[i]) - expected), 2 * epsilon<T>() * std::abs(expected));
      ASSERT_LE(std::abs(Z(x.host()[i]) - Z(given[i])), 4 * epsilon<T>() * std::abs(Z(given[i])));
    }
    const auto before = contents(scaled_b);
    Array<T> zeros(std::vector<T>(given.size()));
    run_skipped(ctx, [&] { scaling.scale_rhs(ctx, zeros, scaled_b); });
    EXPECT_EQ(before, contents(scaled_b));
    EXPECT_THROW(scaling.scale_rhs(ctx, b, x = Array<T>(1)), ShapeMismatch);
  });
}

/// Row 1 of A = (2 0 0; 0 0 4; 0 v 0) has no diagonal entry; with v = 0 its last row and second column are empty.
TEST_P(Scalings, name_what_cannot_be_divided_by) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto fault = [&](double v, ScalingMethod method) {
      const Csr<T> A(3, Array<std::int32_t>{0, 1, 2, 3}, Array<std::int32_t>{0, 2, 1},
                     Array<T>(std::vector<T>{T(2), T(4), T(static_cast<real_t<T>>(v))}));
      return complaint<InvalidArgument>([&] { Scaling<T>(ctx, A, method); });
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(fault(1, ScalingMethod::diagonal),
              "scaling diagonal: a(1, 1) is 0 or missing (rows and columns count from 0); use scaling ruiz");
    EXPECT_EQ(fault(1, ScalingMethod::ruiz), "");
    EXPECT_EQ(fault(0, ScalingMethod::ruiz),
              "scaling ruiz: row 2 (counted from 0) without an entry that is not 0: the matrix is singular; use "
              "scaling none");
    EXPECT_EQ(fault(0, ScalingMethod::symmetric), "");  // the last column holds a 4, the second row, too
    EXPECT_EQ(fault(nan, ScalingMethod::ruiz),
              "scaling ruiz: row 2 (counted from 0) with an entry that is not finite; every entry must be finite");
    EXPECT_EQ(
        fault(-std::numeric_limits<double>::infinity(), ScalingMethod::symmetric),
        "scaling symmetric: row and column 1 (counted from 0) with an entry that is not finite; every entry must be "
        "finite");
  });
}

INSTANTIATE_TEST_SUITE_P(, Scalings, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
