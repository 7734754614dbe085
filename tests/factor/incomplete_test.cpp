#include "sparse/factor/incomplete.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "sparse/convert/formats.hpp"
#include "sparse/triangular/triangular.hpp"
#include "tests/factor/factors.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/base_one.hpp"
#include "tests/support/replay.hpp"
#include "tests/triangular/triangles.hpp"

namespace krill::test {
namespace {

/// The values of a matrix as kernels compute with them.
template <class T>
verify::Rows<kernel_t<T>> kernel_rows(const Csr<T>& A) {
  return verify::with_values(verify::rows_of(A), [](const T& value) { return std::bit_cast<kernel_t<T>>(value); });
}

using Incomplete = OnBackendAndScalar;

TEST_P(Incomplete, factors_of_nasty_shapes) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : square_shapes()) {
      const auto A = solvable(1, random_csr<T, std::int64_t>(2, shape), true);
      for (const Factorization kind : both_kinds) {
        SCOPED_TRACE(shape.name + (kind == Factorization::ic0 ? ", ic0" : ", ilu0"));
        const IncompleteFactor<T, std::int64_t> factor(ctx, A, kind);
        EXPECT_EQ(factor.zero_pivot(), std::nullopt);
        EXPECT_EQ(factor.not_finite(), std::nullopt);
        expect_factors(A, factor.matrix(), kind);
      }
    }
  });
}

TEST_P(Incomplete, factors_of_grids_and_of_rows_of_every_length) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto chain = with_columns<T>(3000, [](std::int32_t i) {
      if (i == 0) return std::vector<std::int32_t>{0, 1};
      return i == 2999 ? std::vector<std::int32_t>{2998, 2999} : std::vector<std::int32_t>{i - 1, i, i + 1};
    });
    for (const Csr<T>& A : {poisson2d<T>(40).clone(), chain.clone(), random_hpd<T>(3, 900, 5),
                            random_hpd<T>(4, 700, 11), random_hpd<T>(5, 500, 25), random_hpd<T>(6, 300, 60)})
      for (const Factorization kind : both_kinds) {
        const Csr<T> positive = solvable(7, A, true);
        const IncompleteFactor<T> factor(ctx, positive, kind);
        expect_factors(positive, factor.matrix(), kind);
        if (ctx.on_cuda()) continue;
        const auto expected = verify::factorize(kernel_rows(positive), kind);
        EXPECT_TRUE(kernel_rows(factor.matrix()).value == expected) << "the textbook's bits";
      }
  });
}

TEST_P(Incomplete, repeat_follow_new_values_and_can_be_captured_and_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t row_length : {5, 20}) {
      Csr<T> A = solvable(8, random_hpd<T>(9, 600, row_length), true);
      for (const Factorization kind : both_kinds) {
        IncompleteFactor<T> factor(ctx, A, kind);
        const auto first = contents(factor.matrix().values());
        for (int run = 0; run < 100; ++run) {
          factor.update(ctx, A);
          ASSERT_EQ(contents(factor.matrix().values()), first) << run;
        }
        Csr<T> other = A.clone();
        for (T& value : other.values().edit()) value *= T(4);
        factor.update(ctx, other);
        expect_factors(other, factor.matrix(), kind);
        const auto second = contents(factor.matrix().values());
        run_skipped(ctx, [&] { factor.update(ctx, A); });
        EXPECT_EQ(contents(factor.matrix().values()), second);
        replay(ctx, [&] { factor.update(ctx, A); });
        EXPECT_EQ(contents(factor.matrix().values()), first);
      }
    }
    const Csr<T> small = poisson2d<T>(3);
    IncompleteFactor<T> factor(ctx, small, Factorization::ilu0);
    EXPECT_THROW(factor.update(ctx, poisson2d<T>(4)), ShapeMismatch);
  });
}

/// Nothing hangs, and the first bad row is named.
TEST_P(Incomplete, ends_on_nan) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t row_length : {4, 12, 40}) {
      Csr<T> A = solvable(10, random_hpd<T>(11, 400, row_length), true);
      const auto offsets = contents(A.row_offsets());
      for (auto k = static_cast<std::size_t>(offsets[100]); k < static_cast<std::size_t>(offsets[101]); ++k)
        if (A.col_indices().host()[k] == 100) A.values().edit()[k] = T(std::numeric_limits<real_t<T>>::quiet_NaN());
      for (const Factorization kind : both_kinds)
        EXPECT_EQ(IncompleteFactor<T>(ctx, A, kind).not_finite(), 100) << row_length;
    }
  });
}

/// The tolerance is a double, whatever the type; a pivot of that very modulus is boosted, one above is not; the pivot
/// is the one that elimination has come to; the setting stays for new values; a pivot that is not stored is still
/// missing.
TEST_P(Incomplete, trap_6_boosts_pivots_up_to_the_tolerance_for_new_values_too) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto matrix = [](std::vector<T> values) {
      return Csr<T>(2, Array<std::int32_t>{0, 2, 4}, Array<std::int32_t>{0, 1, 0, 1}, Array<T>(std::move(values)));
    };
    const double exact = 0.1;  // of no float
    const T pivot = T(static_cast<real_t<T>>(exact));
    const bool above = static_cast<double>(static_cast<real_t<T>>(exact)) > exact;  // 0.1f is
    // row 2: 1 - 1 * 1 = 0 once elimination is there
    Csr<T> A = matrix({pivot, pivot, T(1), T(1)});
    IncompleteFactor<T> factor(ctx, A, Factorization::ilu0, PivotBoost<T>{exact, T(2)});
    EXPECT_EQ(factor.boosts(), 1);
    EXPECT_EQ(factor.zero_pivot(), std::nullopt);
    EXPECT_EQ(factor.matrix().values().host()[0], above ? pivot : T(2));
    if (above) {
      EXPECT_EQ(factor.matrix().values().host()[3], T(2));
    }
    A = matrix({T(1), T(1), T(1), T(1)});
    factor.update(ctx, A);
    EXPECT_EQ(factor.boosts(), 1);
    EXPECT_EQ(factor.matrix().values().host()[3], T(2));
    const IncompleteFactor<T> tight(ctx, matrix({T(4), T(0), T(0), T(static_cast<real_t<T>>(0.25))}),
                                    Factorization::ilu0, PivotBoost<T>{0.25, T(7)});
    EXPECT_EQ(tight.matrix().values().host()[3], T(7));
    const Csr<T> missing(2, Array<std::int32_t>{0, 1, 2}, Array<std::int32_t>{0, 0}, Array<T>{T(1), T(1)});
    EXPECT_EQ(IncompleteFactor<T>(ctx, missing, Factorization::ilu0, PivotBoost<T>{1, T(2)}).structural_zero(), 1);
  });
}

/// In blocks each entry of the diagonal is a pivot of its own, in its block row's name.
TEST_P(Incomplete, trap_6_boosts_pivots_in_blocks_one_by_one) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto value = [](int x) { return T(static_cast<real_t<T>>(x)); };
    Bsr<T> A(4, 4, Blocking{2, 2}, Array<std::int32_t>{0, 1, 2}, Array<std::int32_t>{0, 1},
             Array<T>{value(1), value(2), value(2), value(4), value(3), value(0), value(0), value(0)});
    const IncompleteFactor<T> plain(ctx, A, Factorization::ilu0);
    EXPECT_EQ(plain.numerical_zero(), 0);  // 4 - 2 * 2 in block row 0
    const IncompleteFactor<T> boosted(ctx, A, Factorization::ilu0, PivotBoost<T>{0.5, value(8)});
    EXPECT_EQ(boosted.boosts(), 2);
    EXPECT_EQ(boosted.zero_pivot(), std::nullopt);
    boosted.store(ctx, A);
    EXPECT_EQ(contents(A.values()),
              (std::vector<T>{value(1), value(2), value(2), value(8), value(3), value(0), value(0), value(8)}));
  });
}

/// Blocks factored in all types, where they stick out of the matrix and where they do not: as their entries are.
TEST_P(Incomplete, trap_4_and_trap_8_factors_of_blocks_are_those_of_their_entries) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(21, random_hpd<T>(22, 50, 7), true);
    for (const std::int32_t dim : {1, 3, 7})
      for (const Factorization kind : both_kinds) {
        Bsr<T> blocks = to_bsr(ctx, A, Blocking{dim, dim, dim == 3 ? BlockOrder::column_major : BlockOrder::row_major});
        const auto of_entries = to_csr<T, std::int32_t>(ctx, blocks);
        IncompleteFactor<T> found(ctx, blocks, kind);
        EXPECT_EQ(found.zero_pivot(), std::nullopt) << "the padding of the last block is no pivot";
        expect_factors(of_entries, found.matrix(), kind);
        for (T& entry : blocks.values().edit()) entry *= T(4);
        found.update(ctx, blocks);
        expect_factors(to_csr<T, std::int32_t>(ctx, blocks), found.matrix(), kind);
      }
  });
}

/// All state of an analysis is the plan's own: three of them on one workspace, one between the phases of the others.
TEST_P(Incomplete, trap_3_plans_share_the_workspace_of_a_context) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(23, random_dominant<T>(24, 400, 9), true);
    IncompleteFactor<T> factor = IncompleteFactor<T>::analyze(ctx, A, Factorization::ilu0);
    TriangularPlan<T> lower(ctx, A, {Fill::lower, Diagonal::unit}), upper(ctx, A, {Fill::upper});
    factor.update(ctx, A);
    lower.update(ctx, factor.matrix()), upper.update(ctx, factor.matrix());
    const Array<T> b(random_vector<T>(25, A.rows()));
    Array<T> y(A.rows()), x(A.rows());
    lower.solve(ctx, T(1), b, y), upper.solve(ctx, T(1), y, x);
    expect_factors(A, factor.matrix(), Factorization::ilu0);
    expect_solves(factor.matrix(), {Fill::lower, Diagonal::unit}, T(1), contents(b), contents(y));
    expect_solves(factor.matrix(), {Fill::upper}, T(1), contents(y), contents(x));
  });
}

INSTANTIATE_TEST_SUITE_P(, Incomplete, backends_and_scalars, param_name);

using IncompleteFacts = OnBackend;

template <class T>
void expect_values(const Array<T>& found, std::initializer_list<double> expected) {
  ASSERT_EQ(found.size(), std::ssize(expected));
  const double rounding =
      4e-15 * std::abs(std::max(expected, [](double a, double b) { return std::abs(a) < std::abs(b); }));
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(found.host()[k], expected.begin()[k], rounding) << k;
}

/// What lies right of the diagonal is neither read nor written by IC(0): 99 and -77. A missing or not positive pivot is
/// an answer, counted from zero.
TEST_P(IncompleteFacts, TV_ILU0_and_TV_IC0_and_TV_IC0_ZP_and_trap_5_ic0_leaves_the_upper_triangle_alone) {
  Context ctx = context();
  const Csr<double> A(4, Array<std::int32_t>{0, 3, 6, 9, 12}, Array<std::int32_t>{0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3},
                      Array<double>{4, -1, -2, -2, 4, -1, -1, 4, -1, -1, -2, 4});
  expect_values(IncompleteFactor<double>(ctx, A, Factorization::ilu0).matrix().values(),
                {4, -1, -2, -0.5, 3.5, -1, -2.0 / 7, 26.0 / 7, -1, -0.25, -7.0 / 13, 77.0 / 26});

  const Csr<double> B(4, Array<std::int32_t>{0, 2, 4, 7, 10}, Array<std::int32_t>{0, 1, 0, 1, 0, 2, 3, 1, 2, 3},
                      Array<double>{4, 99, 2, 10, 4, 20, -77, 6, 4, 9});
  expect_values(IncompleteFactor<double>(ctx, B, Factorization::ic0).matrix().values(),
                {2, 99, 1, 3, 2, 4, -77, 2, 1, 2});

  const Csr<double> D =
      from_base_one(ctx, 2, Array<std::int32_t>{1, 2, 4}, Array<std::int32_t>{1, 1, 2}, Array<double>{1, 2, 1});
  const IncompleteFactor<double> indefinite(ctx, D, Factorization::ic0);
  EXPECT_EQ(indefinite.numerical_zero(), 1);
  EXPECT_EQ(*indefinite.zero_pivot() + 1, 2);  // in the base of the arrays
  EXPECT_EQ(indefinite.structural_zero(), std::nullopt);
  Csr<double> no_upper = B.clone();
  no_upper.values().edit()[1] = std::numeric_limits<double>::quiet_NaN(), no_upper.values().edit()[6] = 0;
  const IncompleteFactor<double> changed(ctx, no_upper, Factorization::ic0);
  EXPECT_TRUE(std::isnan(changed.matrix().values().host()[1]));
  EXPECT_EQ(changed.matrix().values().host()[9], 2);
}

TEST_P(IncompleteFacts, TV_ILU0_BOOST) {
  Context ctx = context();
  const Csr<double> C(3, Array<std::int32_t>{0, 2, 5, 7}, Array<std::int32_t>{0, 1, 0, 1, 2, 1, 2},
                      Array<double>{2, 4, 1, 2, 3, 5, 1});
  const IncompleteFactor<double> plain(ctx, C, Factorization::ilu0);
  EXPECT_EQ(plain.numerical_zero(), 1);
  EXPECT_EQ(plain.boosts(), 0);
  const IncompleteFactor<double> boosted(ctx, C, Factorization::ilu0, PivotBoost<double>{0.01, 0.5});
  expect_values(boosted.matrix().values(), {2, 4, 0.5, 0.5, 3, 10, -29});
  EXPECT_EQ(boosted.zero_pivot(), std::nullopt);
  EXPECT_EQ(boosted.boosts(), 1);
}

/// Full blocks, so a complete factorization.
TEST_P(IncompleteFacts, TV_BILU0) {
  Context ctx = context();
  Bsr<double> A(4, 4, Blocking{2, 2, BlockOrder::row_major}, Array<std::int32_t>{0, 2, 4},
                Array<std::int32_t>{0, 1, 0, 1}, Array<double>{4, 1, 2, 3, 1, 2, 3, 1, 1, 1, 2, 1, 5, 1, 1, 6});
  const std::initializer_list<double> expected = {4, 1, 0.5, 2.5, 1, 2, 2.5, 0, 0.25, 0.3, 0.5, 0.2, 4, 0.5, 0, 5};
  IncompleteFactor<double, std::int64_t> factor(ctx, A, Factorization::ilu0);
  Bsr<double> stored = to_bsr(ctx, to_csr<double>(ctx, A), A.blocks());
  factor.store(ctx, stored);
  expect_values(stored.values(), expected);
  EXPECT_EQ(factor.zero_pivot(), std::nullopt);
  factor.update(ctx, A);
  factor.store(ctx, A);
  expect_values(A.values(), expected);
}

/// In blocks as entry by entry, where blocks stick out and where they do not; zeros are named by block row.
TEST_P(IncompleteFacts, of_blocks_are_those_of_their_entries) {
  Context ctx = context();
  const Csr<double> A = solvable(1, random_hpd<double>(2, 200, 7), true);
  for (const std::int32_t dim : {1, 2, 3, 7})
    for (const BlockOrder order : {BlockOrder::row_major, BlockOrder::column_major})
      for (const Factorization kind : both_kinds) {
        Bsr<double> blocks = to_bsr(ctx, A, Blocking{dim, dim, order});
        const auto entries = to_csr<double, std::int32_t>(ctx, blocks);
        const IncompleteFactor<double> expected(ctx, entries, kind), found(ctx, blocks, kind);
        EXPECT_EQ(contents(found.matrix().values()), contents(expected.matrix().values()));
        found.store(ctx, blocks);
        EXPECT_EQ(contents(to_csr<double, std::int32_t>(ctx, blocks).values()), contents(expected.matrix().values()));
      }
  const Bsr<double> singular(4, 4, Blocking{2, 2}, Array<std::int32_t>{0, 1, 2}, Array<std::int32_t>{0, 1},
                             Array<double>{1, 0, 0, 1, 1, 2, 2, 4});
  EXPECT_EQ(IncompleteFactor<double>(ctx, singular, Factorization::ilu0).numerical_zero(), 1);
  const Bsr<double> hole(4, 4, Blocking{2, 2}, Array<std::int32_t>{0, 1, 2}, Array<std::int32_t>{0, 0},
                         Array<double>{1, 0, 0, 1, 1, 2, 2, 4});
  EXPECT_EQ(IncompleteFactor<double>(ctx, hole, Factorization::ilu0).structural_zero(), 1);
  const Bsr<double> rectangular(4, 4, Blocking{2, 1}, Array<std::int32_t>{0, 1, 2}, Array<std::int32_t>{0, 1},
                                Array<double>{1, 1, 1, 1});
  EXPECT_THROW(IncompleteFactor<double>(ctx, rectangular, Factorization::ilu0), ShapeMismatch);
}

TEST_P(IncompleteFacts, missing_diagonals_end_and_are_named) {
  Context ctx = context();
  const Csr<double> A(3, Array<std::int32_t>{0, 2, 3, 5}, Array<std::int32_t>{0, 1, 0, 1, 2},
                      Array<double>{1, 2, 3, 4, 5});
  for (const Factorization kind : both_kinds) {
    const IncompleteFactor<double> factor(ctx, A, kind);
    EXPECT_EQ(factor.structural_zero(), 1);
    EXPECT_EQ(factor.zero_pivot(), 1);
  }
}

TEST_P(IncompleteFacts, what_does_not_fit_is_refused) {
  Context ctx = context();
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  EXPECT_THROW(IncompleteFactor<double>(ctx, wide, Factorization::ilu0), ShapeMismatch);
  const Csr<double> A = poisson2d<double>(4);
  EXPECT_THROW(IncompleteFactor<double>(ctx, A, Factorization::ic0, PivotBoost<double>{}), InvalidArgument);
  IncompleteFactor<double> factor(ctx, A, Factorization::ilu0);
  if (ctx.on_cuda()) {
    Context host = Context::host();
    EXPECT_NE(complaint<InvalidArgument>([&] { factor.update(host, A); }).find("made for CUDA"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(, IncompleteFacts, backends, param_name);

}  // namespace
}  // namespace krill::test
