#include "sparse/coarsen/contract.hpp"

#include "sparse/coarsen/matching.hpp"
#include "tests/coarsen/aggregates.hpp"
#include "tests/spgemm/sums.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Contraction = OnBackendAndScalar;

/// Entries of P0^H A P0, and its diagonal where a row has an entry in a column of no aggregate.
template <class T, class Offset>
Sums contracted(const Csr<T, Offset>& A, const Aggregates& aggregates) {
  const auto of_row = aggregates.of_row.host();
  Sums sums;
  for_entries_of(Op::none, A, [&](std::int32_t i, std::int32_t j, LongComplex value) {
    const std::int32_t row = of_row[static_cast<std::size_t>(i)], column = of_row[static_cast<std::size_t>(j)];
    if (row >= 0 && column >= 0) sums[{row, column}].add(value);
    if (row >= 0 && column < 0) sums[{row, row}];
  });
  return sums;
}

/// `count` aggregates of n rows in no order, each with at least one; one row in `left_out` is in none, 0: all are.
Aggregates random_aggregates(std::int32_t n, std::int32_t count, std::int32_t left_out) {
  const auto order = shuffled(11, n);
  std::vector<std::int32_t> of_row(static_cast<std::size_t>(n));
  for (std::int32_t t = 0; t < n; ++t)
    of_row[static_cast<std::size_t>(order[static_cast<std::size_t>(t)])] =
        left_out > 0 && t % left_out == left_out - 1 ? -1 : t % count;
  return make_aggregates(of_row);
}

template <class T, class Offset>
void expect_contracts(Context& ctx, const Csr<T, Offset>& A, const Aggregates& aggregates, const std::string& what) {
  ContractionPlan<T, Offset> plan(ctx, A, aggregates);
  ASSERT_EQ(plan.matrix().cols(), aggregates.count) << what;
  ASSERT_EQ(plan.matrix().rows(), aggregates.count) << what;
  EXPECT_GE(plan.bytes(), plan.matrix().bytes());
  expect_entries(contracted(A, aggregates), plan.matrix(), what);
  const auto values = contents(plan.matrix().values());
  plan.update(ctx, A, aggregates);
  EXPECT_EQ(contents(plan.matrix().values()), values) << what;
}

/// Nasty shapes, in aggregates of two rows, of many, of all; rows of all lengths that teams have; rows in no aggregate.
TEST_P(Contraction, adds_rows_and_columns_of_aggregates) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : square_shapes()) {
      const bool large = shape.rows > 5000;  // these take the judge long
      if (large && !std::is_same_v<T, double>) continue;
      const auto A = random_csr<T>(5, shape);
      for (const std::int32_t size : large ? std::vector{2} : std::vector{1, 2, 9, std::max(shape.rows, 1)})
        for (const std::int32_t left_out : large ? std::vector{5} : std::vector{0, 5})
          expect_contracts(ctx, A, random_aggregates(shape.rows, std::max(shape.rows / size, 1), left_out),
                           shape.name + ", size " + std::to_string(size));
    }
    for (const std::int32_t length : {3, 12, 30, 90}) {
      const auto row_length = length == 3    ? [](std::int32_t, std::mt19937_64&) { return 3; }
                              : length == 12 ? [](std::int32_t, std::mt19937_64&) { return 12; }
                              : length == 30 ? [](std::int32_t, std::mt19937_64&) { return 30; }
                                             : [](std::int32_t, std::mt19937_64&) { return 90; };
      const auto A = random_csr<T, std::int64_t>(5, {"rows", 600, 600, row_length});
      expect_contracts(ctx, A, random_aggregates(600, 300, 7), "rows of " + std::to_string(length));
    }
  });
}

/// Rows of C that are longer than a team takes among short ones: warps have pieces of them.
TEST_P(Contraction, divides_long_rows) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Shape arrow{"arrow", 3000, 3000, [](std::int32_t i, std::mt19937_64&) { return i % 1000 == 0 ? 2000 : 3; }};
    expect_contracts(ctx, random_csr<T>(5, arrow), random_aggregates(3000, 1500, 0), "long rows");
  });
}

TEST_P(Contraction, has_nothing_where_there_are_no_aggregates) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto A = random_hpd<T>(3, 20, 4);
    expect_contracts(ctx, A, make_aggregates(std::vector<std::int32_t>(20, -1)), "no aggregates");
    const Csr<T> empty(0, Array(std::vector<std::int32_t>{0}), Array<std::int32_t>(0), Array<T>(0));
    expect_contracts(ctx, empty, make_aggregates({}), "no rows");
  });
}

TEST_P(Contraction, follows_new_values_in_captures_and_does_nothing_when_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A = random_hpd<T>(3, 500, 9);
    const Aggregates aggregates = random_aggregates(500, 100, 9);
    ContractionPlan<T> plan(ctx, A, aggregates);
    plan.update(ctx, A, aggregates);
    for (T& value : A.values().edit()) value *= static_cast<real_t<T>>(1 + std::abs(value));
    replay(ctx, [&] { plan.update(ctx, A, aggregates); });
    expect_entries(contracted(A, aggregates), plan.matrix(), "new values");
    const auto values = contents(plan.matrix().values());
    for (T& value : A.values().edit()) value += T(1);
    run_skipped(ctx, [&] { plan.update(ctx, A, aggregates); });
    EXPECT_EQ(contents(plan.matrix().values()), values);
    for (T& value : A.values().edit()) value -= T(1);
    ContractionPlan<T> fresh(ctx, A, aggregates);
    fresh.update(ctx, A, aggregates);
    plan.update(ctx, A, aggregates);
    EXPECT_EQ(contents(std::move(fresh).release().values()), contents(plan.matrix().values()));
  });
}

/// The same sums in the same order on either backend.
TEST_P(Contraction, has_the_bits_of_the_host) {
  with_scalar([&]<class T>(T) {
    Context ctx = context(), host = Context::host(1);
    const Csr<T> A = random_hpd<T>(3, 2000, 30), grid = random_hpd<T>(3, 2000, 3);
    for (const std::int32_t count : {300, 1000}) {  // whose rows are long, and short
      const Aggregates some = random_aggregates(2000, count, 0);
      const ContractionPlan<T> plan(ctx, count == 300 ? A : grid, some), on_host(host, count == 300 ? A : grid, some);
      EXPECT_EQ(contents(plan.matrix().col_indices()), contents(on_host.matrix().col_indices()));
      EXPECT_EQ(contents(plan.matrix().values()), contents(on_host.matrix().values()));
    }
  });
}

TEST_P(Contraction, refuses_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_hpd<T>(3, 30, 4), other = random_hpd<T>(3, 31, 4);
    const Aggregates aggregates = random_aggregates(30, 10, 0), fewer = random_aggregates(30, 9, 0);
    EXPECT_THROW(ContractionPlan<T>(ctx, other, aggregates), ShapeMismatch);
    const Csr<T> wide = random_csr<T>(3, {"wide", 30, 31, [](std::int32_t, std::mt19937_64&) { return 2; }});
    EXPECT_THROW(ContractionPlan<T>(ctx, wide, aggregates), ShapeMismatch);
    ContractionPlan<T> plan(ctx, A, aggregates);
    EXPECT_THROW(plan.update(ctx, other, aggregates), ShapeMismatch);
    EXPECT_THROW(plan.update(ctx, A, fewer), ShapeMismatch);
    if (ctx.on_cuda()) {
      Context host = Context::host();
      EXPECT_THROW(plan.update(host, A, aggregates), InvalidArgument);
    }
  });
}

/// Sums of sums, where all rows are in pairs. A matrix that is said to be Hermitian is not compared with its transpose.
TEST_P(Contraction, is_made_by_a_matching_too) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A = poisson2d<T>(16);
    for (T& value : A.values().edit()) value *= static_cast<real_t<T>>(0.3);  // so that sums are rounded
    const auto expect_pairs = [&](bool is_hermitian) {
      for (int passes = 1; passes <= 3; ++passes) {
        const auto made = contract_matching(ctx, A, passes, {}, is_hermitian);
        const Aggregates alone = aggregate_matching(ctx, A, passes, {}, is_hermitian);
        EXPECT_EQ(contents(made.aggregates.of_row), contents(alone.of_row));
        EXPECT_EQ(contents(made.aggregates.rows), contents(alone.rows));
        EXPECT_EQ(contents(made.aggregates.offsets), contents(alone.offsets));
        EXPECT_EQ(made.aggregates.count, A.rows() >> passes);
        EXPECT_EQ(made.aggregates.max_rows, 1 << passes);
        ASSERT_TRUE(made.matrix);
        expect_entries(contracted(A, alone), *made.matrix, "pass by pass");
      }
    };
    expect_pairs(false);
    A.values().edit()[1] *= 1 + std::numeric_limits<real_t<T>>::epsilon();
    EXPECT_FALSE(contract_matching(ctx, A, 3, {}).matrix);
    expect_pairs(true);
    EXPECT_FALSE(contract_matching(ctx, poisson2d<T>(15), 3, {}).matrix) << "a row is free";
  });
}

INSTANTIATE_TEST_SUITE_P(, Contraction, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
