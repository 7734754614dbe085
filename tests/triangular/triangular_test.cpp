#include "sparse/triangular/triangular.hpp"

#include <limits>
#include <numeric>

#include "sparse/convert/formats.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/base_one.hpp"
#include "tests/support/replay.hpp"
#include "tests/triangular/triangles.hpp"

namespace krill::test {
namespace {

constexpr TriangularMethod all_methods[] = {TriangularMethod::automatic, TriangularMethod::natural,
                                            TriangularMethod::by_level, TriangularMethod::level_kernels,
                                            TriangularMethod::one_block};

template <class T, class Offset>
void expect_plan_solves(Context& ctx, const Csr<T, Offset>& A, const Triangle& t, TriangularMethod method) {
  const auto b = random_vector<T>(5, A.rows());
  const T alpha = T(-2);
  const TriangularPlan<T, Offset> plan(ctx, A, t, {method});
  Array<T> ab(b), x(A.rows());
  plan.solve(ctx, alpha, ab, x);
  expect_solves(A, t, alpha, b, contents(x));
  plan.solve(ctx, alpha, ab, ab);
  EXPECT_EQ(contents(ab), contents(x)) << "in place";
}

using TriangularSolves = OnBackendAndScalar;

TEST_P(TriangularSolves, of_nasty_shapes) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : square_shapes()) {
      const auto A = solvable(1, random_csr<T, std::int64_t>(2, shape));
      for (const Triangle& t : all_triangles())
        for (const TriangularMethod method : all_methods) {
          SCOPED_TRACE(shape.name + ", " + name(t) + ", method " + std::to_string(static_cast<int>(method)));
          expect_plan_solves(ctx, A, t, method);
        }
    }
  });
}

/// Long chains, in and across warps and blocks; one level; rows that wait for far ones; long rows.
TEST_P(TriangularSolves, of_rows_that_wait_in_every_way) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    constexpr std::int32_t n = 20'000;
    const auto chain = with_columns<T>(n, [](std::int32_t i) {
      if (i == 0) return std::vector<std::int32_t>{0, 1};
      return i == n - 1 ? std::vector<std::int32_t>{n - 2, n - 1} : std::vector<std::int32_t>{i - 1, i, i + 1};
    });
    const auto diagonal = with_columns<T>(n, [](std::int32_t i) { return std::vector<std::int32_t>{i}; });
    const auto far = with_columns<T>(n, [](std::int32_t i) {
      std::vector<std::int32_t> columns{i / 3, i / 2, i, n - 1 - (n - 1 - i) / 2};
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      return columns;
    });
    const auto arrow = with_columns<T>(3000, [](std::int32_t i) {
      std::vector<std::int32_t> columns;
      if (i < 2) return std::vector<std::int32_t>{i};
      if (i % 1000 != 999) return std::vector<std::int32_t>{i - 2, i};
      for (std::int32_t j = 0; j < 3000; ++j) columns.push_back(j);
      return columns;
    });
    for (const Csr<T>* A : {&chain, &diagonal, &far, &arrow})
      for (const Triangle& t :
           {Triangle{Fill::lower}, Triangle{Fill::upper}, Triangle{Fill::lower, Diagonal::unit, Op::transpose}})
        for (const TriangularMethod method : {TriangularMethod::automatic, TriangularMethod::natural,
                                              TriangularMethod::by_level, TriangularMethod::one_block}) {
          SCOPED_TRACE(name(t) + ", method " + std::to_string(static_cast<int>(method)));
          expect_plan_solves(ctx, solvable(3, *A), t, method);
        }
  });
}

/// Chains of levels of one row and of some; levels that end inside and at the ends of what one block stages at a time,
/// and that are wider; rows that fill what is staged, and that are longer; rows that need near and far ones.
TEST_P(TriangularSolves, of_chains_and_bands_by_one_block) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto band = [](std::int32_t n, std::int32_t width, std::int32_t step) {
      return with_columns<T>(n, [=](std::int32_t i) {
        std::vector<std::int32_t> columns;
        for (std::int32_t j = i - width * step; j <= i + width * step; j += step)
          if (j >= 0 && j < n) columns.push_back(j);
        return columns;
      });
    };
    auto arrow = with_columns<T>(1500, [](std::int32_t i) {
      if (i == 0 || i == 1499) {
        std::vector<std::int32_t> all(1500);
        std::iota(all.begin(), all.end(), 0);
        return all;
      }
      return std::vector<std::int32_t>{0, i, 1499};
    });
    // A chain, whose rows need the row at a third and, some of them, all rows of the last hundred.
    auto mixed = with_columns<T>(3000, [](std::int32_t i) {
      std::vector<std::int32_t> columns;
      if (i >= 300) columns.push_back(i / 3);
      for (std::int32_t j = std::max(i % 97 == 96 ? i - 100 : i - 1, 0); j <= i; ++j) columns.push_back(j);
      return columns;
    });
    const std::pair<std::string, Csr<T>> matrices[] = {
        {"one row", band(1, 1, 1)},
        {"tridiagonal", band(3000, 1, 1)},
        {"four at a time", band(2500, 4, 1)},
        {"31 entries", band(700, 31, 1)},
        {"32 entries", band(700, 32, 1)},
        {"33 entries", band(700, 33, 1)},
        {"levels of 31", band(2000, 2, 31)},
        {"levels of 32", band(2048, 2, 32)},
        {"levels of 33", band(2000, 2, 33)},
        {"levels of 512", band(2048, 2, 512)},
        {"levels of 700", band(3000, 3, 700)},
        {"one level", band(1400, 0, 1)},
        {"arrow", std::move(arrow)},
        {"mixed", std::move(mixed)},
    };
    for (const auto& [matrix, A] : matrices)
      for (const Triangle& t : {Triangle{Fill::lower}, Triangle{Fill::upper, Diagonal::unit},
                                Triangle{Fill::lower, Diagonal::stored, Op::adjoint}}) {
        SCOPED_TRACE(matrix + ", " + name(t));
        expect_plan_solves(ctx, solvable(3, A), t, TriangularMethod::one_block);
      }
  });
}

/// More columns than one block each; a column alone gives the same bits.
TEST_P(TriangularSolves, by_one_block_do_not_depend_on_other_columns) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(21, poisson2d<T>(37));
    const std::int32_t n = A.rows(), columns = 70;
    const TriangularPlan<T> plan(ctx, A, {}, {TriangularMethod::one_block});
    const Dense<T> B(n, columns, Array<T>(random_vector<T>(22, std::int64_t{n} * columns)));
    Dense<T> X(n, columns);
    plan.solve(ctx, T(2), B, X);
    for (const std::int32_t j : {0, 31, 32, 63, 64, 69}) {
      std::vector<T> right, expected;
      for (std::int32_t i = 0; i < n; ++i) right.push_back(B.host().at(i, j)), expected.push_back(X.host().at(i, j));
      const Array<T> b(right);
      Array<T> x(n);
      plan.solve(ctx, T(2), b, x);
      EXPECT_EQ(contents(x), expected) << "column " << j;
      expect_solves(A, {}, T(2), right, expected);
    }
  });
}

TEST_P(TriangularSolves, of_many_columns_in_every_layout) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(4, random_dominant<T>(5, 700, 12));
    for (const TriangularMethod method : all_methods)
      for (const Triangle& t : {Triangle{}, Triangle{Fill::upper, Diagonal::stored, Op::adjoint}}) {
        const TriangularPlan<T> plan(ctx, A, t, {method});
        for (const std::int32_t columns : {0, 1, 3, 4, 9})
          for (const Order order : {Order::column_major, Order::row_major})
            for (const int padding : {0, 3}) {
              const std::int64_t line = (order == Order::column_major ? A.rows() : columns) + padding;
              const std::int64_t size = line * (order == Order::column_major ? columns : A.rows());
              if (line == 0) continue;
              Dense<T> B(A.rows(), columns, Array<T>(random_vector<T>(6, size)), order, line);
              const std::vector<T> before = contents(B.values());
              Dense<T> X(A.rows(), columns, Array<T>(random_vector<T>(7, size)), order, line);
              const std::vector<T> untouched = contents(X.values());
              plan.solve(ctx, T(3), B, X);
              EXPECT_EQ(contents(B.values()), before);
              const auto column = [&](const Dense<T>& D, std::int32_t j) {
                std::vector<T> values;
                for (std::int32_t i = 0; i < A.rows(); ++i) values.push_back(D.host().at(i, j));
                return values;
              };
              for (std::int32_t j = 0; j < columns; ++j) expect_solves(A, t, T(3), column(B, j), column(X, j));
              for (std::int64_t k = 0; k < size; ++k)
                if (k % line >= line - padding) {
                  ASSERT_EQ(X.values().host()[static_cast<std::size_t>(k)], untouched[static_cast<std::size_t>(k)]);
                }
              plan.solve(ctx, T(3), B, B);
              for (std::int32_t j = 0; j < columns; ++j) EXPECT_EQ(column(B, j), column(X, j));
            }
      }
  });
}

TEST_P(TriangularSolves, of_blocks_are_those_of_their_entries) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(8, random_dominant<T>(9, 301, 7));
    const auto b = random_vector<T>(10, A.rows());
    for (const std::int32_t dim : {1, 2, 3, 7})
      for (const BlockOrder order : {BlockOrder::row_major, BlockOrder::column_major}) {
        Bsr<T> blocks = to_bsr(ctx, A, Blocking{dim, dim, order});
        for (const Triangle& t : all_triangles()) {
          SCOPED_TRACE(name(t) + ", blocks of " + std::to_string(dim));
          TriangularPlan<T, std::int64_t> plan(ctx, blocks, t);
          const Array<T> ab(b);
          Array<T> x(A.rows());
          plan.solve(ctx, T(1), ab, x);
          expect_solves(A, t, T(1), b, contents(x));
        }
        TriangularPlan<T> plan(ctx, blocks, {});
        for (T& value : blocks.values().edit()) value *= T(2);
        plan.update(ctx, blocks);
        const Array<T> ab(b);
        Array<T> x(A.rows());
        plan.solve(ctx, T(2), ab, x);
        expect_solves(A, {}, T(1), b, contents(x));
      }
  });
}

TEST_P(TriangularSolves, follow_new_values) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> old = solvable(11, random_dominant<T>(12, 2000, 9));
    const auto b = random_vector<T>(13, old.rows());
    for (const Triangle& t : all_triangles())
      for (const TriangularMethod method : all_methods) {
        SCOPED_TRACE(name(t));
        Csr<T> A = old.clone();
        TriangularPlan<T> plan(ctx, A, t, {method});
        std::mt19937_64 engine(14);
        for (T& value : A.values().edit())
          value *= static_cast<real_t<T>>(0.5 + 0.1 * static_cast<double>(engine() % 9));
        plan.update(ctx, A);
        const Array<T> ab(b);
        Array<T> x(A.rows());
        plan.solve(ctx, T(1), ab, x);
        expect_solves(A, t, T(1), b, contents(x));
      }
    const Csr<T> other = random_dominant<T>(12, 1000, 3);
    TriangularPlan<T> plan(ctx, old, {});
    EXPECT_THROW(plan.update(ctx, other), ShapeMismatch);
  });
}

/// The same bits a hundred times, in a loop that the device repeats, and nothing once the loop's reason is set.
TEST_P(TriangularSolves, repeat_and_can_be_captured_and_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(15, poisson2d<T>(70));
    const Array<T> b(random_vector<T>(16, A.rows()));
    for (const TriangularMethod method : all_methods) {
      const TriangularPlan<T> plan(ctx, A, {}, {method});
      Array<T> first(A.rows()), x(A.rows());
      plan.solve(ctx, T(1), b, first);
      for (int run = 0; run < 100; ++run) {
        plan.solve(ctx, T(1), b, x);
        ASSERT_EQ(contents(x), contents(first)) << run;
      }
      run_skipped(ctx, [&] { plan.solve(ctx, T(7), b, x); });
      EXPECT_EQ(contents(x), contents(first));
      replay(ctx, [&] { plan.solve(ctx, T(1), b, x); });
      EXPECT_EQ(contents(x), contents(first));
    }
  });
}

/// Many columns at once: the same in a loop that the device repeats, and nothing once the loop's reason is set.
TEST_P(TriangularSolves, of_many_columns_can_be_captured_and_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(41, poisson2d<T>(20));
    for (const TriangularMethod method : all_methods)
      for (const Order order : {Order::column_major, Order::row_major}) {
        const TriangularPlan<T> plan(ctx, A, {}, {method});
        const Dense<T> B(A.rows(), 9, Array<T>(random_vector<T>(42, std::int64_t{9} * A.rows())), order);
        Dense<T> X(A.rows(), 9, order), again(A.rows(), 9, order);
        plan.solve(ctx, T(2), B, X);
        replay(ctx, [&] { plan.solve(ctx, T(2), B, again); });
        EXPECT_EQ(contents(again.values()), contents(X.values()));
        run_skipped(ctx, [&] { plan.solve(ctx, T(5), B, again); });
        EXPECT_EQ(contents(again.values()), contents(X.values()));
      }
  });
}

/// Blocks with many columns are the rows of the blocks with as many.
TEST_P(TriangularSolves, of_blocks_with_many_columns) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(43, random_dominant<T>(44, 301, 7));
    const Bsr<T> blocks = to_bsr(ctx, A, Blocking{3, 3, BlockOrder::column_major});
    const Dense<T> B(301, 5, Array<T>(random_vector<T>(45, 5 * 301)));
    for (const Triangle& t : all_triangles()) {
      Dense<T> X(301, 5, Order::row_major);
      TriangularPlan<T>(ctx, blocks, t).solve(ctx, T(2), B, X);
      for (std::int32_t j = 0; j < 5; ++j) {
        std::vector<T> b, x;
        for (std::int32_t i = 0; i < 301; ++i) b.push_back(B.host().at(i, j)), x.push_back(X.host().at(i, j));
        expect_solves(A, t, T(2), b, x);
      }
    }
  });
}

/// Nothing hangs, and what NaN does not reach is right.
TEST_P(TriangularSolves, end_on_nan_and_infinities) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A = solvable(18, poisson2d<T>(40));
    using R = real_t<T>;
    // The very bits that stand for "not there yet" inside the kernels, and others.
    const R marks[] = {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity(),
                       sizeof(R) == 4 ? static_cast<R>(std::bit_cast<float>(0xfff8deadu))
                                      : static_cast<R>(std::bit_cast<double>(0xfff8deadfff8deadull))};
    for (const R mark : marks)
      for (const TriangularMethod method : all_methods) {
        std::vector<T> b(static_cast<std::size_t>(A.rows()), T(1));
        b[839] = T(mark);  // the end of a line of the grid
        const Array<T> ab(b);
        Array<T> x(A.rows());
        const TriangularPlan<T> plan(ctx, A, {}, {method});
        plan.solve(ctx, T(1), ab, x);
        for (std::size_t i = 0; i < x.host().size(); ++i)
          EXPECT_EQ(std::isfinite(std::abs(x.host()[i])), i < 839 || i % 40 != 39) << i;
      }
  });
}

INSTANTIATE_TEST_SUITE_P(, TriangularSolves, backends_and_scalars, param_name);

using TriangularFacts = OnBackend;

/// Trap 11: every solve may be in place, B and X have orders and leading dimensions of their own.
TEST_P(TriangularFacts, TV_SV2_and_TV_CSRSM2_and_trap_11_in_place_or_not) {
  Context ctx = context();
  const Csr<double> A =
      from_base_one(ctx, 4, Array<std::int32_t>{1, 4, 5, 8, 10}, Array<std::int32_t>{1, 3, 4, 2, 1, 3, 4, 2, 4},
                    Array<double>{1, 2, -3, 4, 5, 6, 7, 8, 9});
  const Array<double> b{1, 2, 3, 4};
  const auto expect = [&](Fill fill, Op op, Diagonal diagonal, std::vector<double> expected) {
    for (const TriangularMethod method : all_methods) {
      Array<double> x(4);
      TriangularPlan<double>(ctx, A, {fill, diagonal, op}, {method}).solve(ctx, 1, b, x);
      for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(x.host()[i], expected[i], 4e-15 * std::abs(expected[i]) + 1e-16) << i;
    }
  };
  const Fill lower = Fill::lower, upper = Fill::upper;
  const Diagonal stored = Diagonal::stored, unit = Diagonal::unit;
  expect(lower, Op::none, stored, {1, 0.5, -1.0 / 3, 0});
  expect(lower, Op::transpose, stored, {-1.5, -7.0 / 18, 0.5, 4.0 / 9});
  expect(lower, Op::none, unit, {1, 2, -2, -12});
  expect(lower, Op::transpose, unit, {-14, -30, 3, 4});
  expect(upper, Op::none, stored, {64.0 / 27, 0.5, -1.0 / 54, 4.0 / 9});
  expect(upper, Op::transpose, stored, {1, 0.5, 1.0 / 6, 35.0 / 54});
  expect(upper, Op::none, unit, {63, 2, -25, 4});
  expect(upper, Op::transpose, unit, {1, 2, 1, 0});
  Dense<double> B(4, 2, Array<double>{1, 2, 3, 4, 5, 6, 7, 8});
  Dense<double> X(4, 2, Array<double>(std::vector<double>(12, 777)), Order::row_major, 3);
  const TriangularPlan<double> plan(ctx, A, {});
  plan.solve(ctx, 1, B, X);
  plan.solve(ctx, 1, B, B);
  const double expected[] = {1, 0.5, -1.0 / 3, 0, 5, 1.5, -3, -4.0 / 9};
  for (std::int32_t k = 0; k < 8; ++k) {
    EXPECT_NEAR(B.host().at(k % 4, k / 4), expected[k], 1e-14);
    EXPECT_NEAR(X.host().at(k % 4, k / 4), expected[k], 1e-14);
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(X.values().host()[3 * i + 2], 777);
}

/// What a diagonal block has above its diagonal is not looked at.
TEST_P(TriangularFacts, TV_BSRSV2_and_trap_4_blocks_are_solved_entry_by_entry) {
  Context ctx = context();
  const Bsr<double> A(4, 4, Blocking{2, 2, BlockOrder::row_major}, Array<std::int32_t>{0, 1, 3},
                      Array<std::int32_t>{0, 0, 1}, Array<double>{2, 77, 1, 4, 1, 2, 3, 1, 5, 88, 2, 10});
  const Array<double> b{2, 5, 11, 37};
  Array<double> x(4);
  TriangularPlan<double>(ctx, A, {}).solve(ctx, 1, b, x);
  const double stored[] = {1, 1, 1.6, 2.98}, unit[] = {2, 3, 3, 22};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(x.host()[i], stored[i], 1e-14);
  TriangularPlan<double>(ctx, A, {Fill::lower, Diagonal::unit}).solve(ctx, 1, b, x);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(x.host()[i], unit[i], 1e-14);
}

/// Structural and numerical zeros are separate, the smaller row wins; block rows for BSR, none for a unit diagonal.
/// Nothing is raised, and rows count from zero whatever the arrays counted from.
TEST_P(TriangularFacts, TV_SV2_ZP_and_trap_1_zero_pivots_are_answers_to_questions) {
  Context ctx = context();
  Csr<double> A(4, Array<std::int32_t>{0, 1, 3, 4, 6}, Array<std::int32_t>{0, 0, 1, 1, 0, 3},
                Array<double>{2, 1, 0, 5, 1, 3});
  for (const Op op : {Op::none, Op::transpose}) {
    TriangularPlan<double> plan(ctx, A, {Fill::lower, Diagonal::stored, op});
    EXPECT_EQ(plan.structural_zero(), 2);
    EXPECT_EQ(plan.numerical_zero(), 1);
    EXPECT_EQ(plan.zero_pivot(), 1);
    A.values().edit()[2] = 4;
    plan.update(ctx, A);
    EXPECT_EQ(plan.numerical_zero(), std::nullopt);
    EXPECT_EQ(plan.zero_pivot(), 2);
    A.values().edit()[2] = 0;
  }
  const FromOne<double> from_one(A);
  const TriangularPlan<double> taken(ctx, from_one.taken_over(ctx), {});
  EXPECT_EQ(*taken.structural_zero() + 1, 3);
  EXPECT_EQ(*taken.numerical_zero() + 1, 2);
  EXPECT_EQ(*taken.zero_pivot() + 1, 2);
  Array<double> x(4);
  EXPECT_NO_THROW(taken.solve(ctx, 1, Array<double>{1, 2, 3, 4}, x));
  const TriangularPlan<double> unit(ctx, A, {Fill::lower, Diagonal::unit});
  EXPECT_EQ(unit.structural_zero(), std::nullopt);
  EXPECT_EQ(unit.numerical_zero(), std::nullopt);
  EXPECT_EQ(unit.zero_pivot(), std::nullopt);
  const Bsr<double> blocks(4, 4, Blocking{2, 2}, Array<std::int32_t>{0, 1, 2}, Array<std::int32_t>{0, 1},
                           Array<double>{1, 0, 0, 1, 3, 0, 5, 0});
  EXPECT_EQ(TriangularPlan<double>(ctx, blocks, {}).zero_pivot(), 1);
  const Bsr<double> hole(4, 4, Blocking{2, 2}, Array<std::int32_t>{0, 1, 2}, Array<std::int32_t>{0, 0},
                         Array<double>{1, 0, 0, 1, 3, 0, 5, 0});
  EXPECT_EQ(TriangularPlan<double>(ctx, hole, {}).structural_zero(), 1);
}

TEST_P(TriangularFacts, what_does_not_fit_is_refused) {
  Context ctx = context();
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  EXPECT_THROW(TriangularPlan<double>(ctx, wide, {}), ShapeMismatch);
  const Csr<double> A = poisson2d<double>(4);
  const TriangularPlan<double> plan(ctx, A, {});
  Array<double> x(16), y(15);
  EXPECT_THROW(plan.solve(ctx, 1, x, y), ShapeMismatch);
  EXPECT_THROW(plan.solve(ctx, 1, y, x), ShapeMismatch);
  Dense<double> B(16, 2), C(16, 3);
  EXPECT_THROW(plan.solve(ctx, 1, B, C), ShapeMismatch);
  const Bsr<double> rectangular(4, 4, Blocking{2, 1}, Array<std::int32_t>{0, 1, 2}, Array<std::int32_t>{0, 1},
                                Array<double>{1, 1, 1, 1});
  EXPECT_THROW(TriangularPlan<double>(ctx, rectangular, {}), ShapeMismatch);
}

/// What a plan found is solved by: there is no policy that a solve could be given beside it.
TEST_P(TriangularFacts, trap_2_a_plan_solves_by_the_method_that_it_was_made_for) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(20);
  const Array<double> b(random_vector<double>(31, A.rows()));
  for (const TriangularMethod method : {TriangularMethod::natural, TriangularMethod::by_level,
                                        TriangularMethod::level_kernels, TriangularMethod::one_block}) {
    const TriangularPlan<double> plan(ctx, A, {}, {method});
    Array<double> x(A.rows());
    plan.solve(ctx, 1, b, x);
    EXPECT_EQ(plan.report().method, method);
    EXPECT_EQ(plan.report().levels > 0, method != TriangularMethod::natural) << static_cast<int>(method);
    expect_solves(A, {}, 1.0, contents(b), contents(x));
  }
}

TEST_P(TriangularFacts, reports_say_what_was_chosen) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(30);
  const TriangularPlan<double> by_level(ctx, A, {}, {TriangularMethod::by_level});
  EXPECT_EQ(by_level.report().levels, 59);
  EXPECT_EQ(by_level.report().widest, 30);
  EXPECT_EQ(by_level.report().entries, 2 * 30 * 29);
  const TriangularPlan<double> chosen(ctx, A, {});
  EXPECT_EQ(chosen.report().method, ctx.on_cuda() ? TriangularMethod::one_block : TriangularMethod::natural);
  const TriangularPlan<double> wide(ctx, poisson2d<double>(200), {});
  EXPECT_EQ(wide.report().method, ctx.on_cuda() ? TriangularMethod::by_level : TriangularMethod::natural);
  if (ctx.on_cuda()) {
    EXPECT_EQ(chosen.report().why, "59 levels of 15 rows on average, 1.9 entries a row: one block of threads for all");
  }
  if (ctx.on_cuda()) {
    Context host = Context::host();
    Array<double> x(A.rows());
    EXPECT_NE(complaint<InvalidArgument>([&] { chosen.solve(host, 1, x, x); }).find("made for CUDA"),
              std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(, TriangularFacts, backends, param_name);

}  // namespace
}  // namespace krill::test
