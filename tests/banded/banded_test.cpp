#include "tests/banded/systems.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using BandedSolves = OnBackendAndScalar;

TEST_P(BandedSolves, have_a_small_backward_error_and_leave_padding_alone) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T kept = number<T>(777);
    std::vector<std::pair<std::int32_t, std::int32_t>> sizes;
    for (std::int32_t rows = 1; rows <= 70; ++rows) sizes.emplace_back(rows, 1 + rows % 9);
    for (const std::int32_t rows : {127, 128, 129}) sizes.emplace_back(rows, 33);
    sizes.emplace_back(7, 1000), sizes.emplace_back(1000, 5), sizes.emplace_back(4097, 2);
    for (const auto& [rows, batch] : sizes)
      for (const auto& [method, diagonals] : all_methods)
        for (const BandLayout& l : layouts(rows, batch)) {
          BandedPlan<T> plan(ctx, l, diagonals, method);
          for (const Kind kind : {Kind::dominant, Kind::random, Kind::zero_diagonal, Kind::tiny_diagonal}) {
            if (method == BandedMethod::thomas && kind != Kind::dominant) continue;
            const auto A = random_banded<T>(static_cast<std::uint64_t>(rows), l, diagonals, kind);
            const Array<T> b(random_rhs<T>(9, l, kept));
            Array<T> x(std::vector<T>(static_cast<std::size_t>(l.extent()), kept)), in_place = b.clone();
            plan.solve(ctx, A, b, x);
            plan.solve(ctx, A, in_place, in_place);
            ASSERT_EQ(plan.zero_pivot(), std::nullopt);
            ASSERT_LE(backward_error(A, b.host(), x.host()), backward_bound<T>())
                << rows << " rows, batch " << batch << ", " << diagonals << " diagonals, method "
                << banded_method_names[static_cast<std::size_t>(method)] << ", kind " << static_cast<int>(kind);
            ASSERT_EQ(contents(x), contents(in_place));
            std::vector<bool> used(static_cast<std::size_t>(l.extent()));
            for (std::int64_t j = 0; j < l.batch; ++j)
              for (std::int64_t i = 0; i < l.rows; ++i) used[place(l, i, j)] = true;
            for (std::size_t at = 0; at < used.size(); ++at)
              if (!used[at]) {
                ASSERT_EQ(x.host()[at], kept);
              }
          }
        }
  });
}

/// So many that CUDA gives a thread to each, or one for each of its ends; of those one after the other to short ones
/// and to ones of five diagonals; of 24 rows some types go through the workspace, of 5 none, of 150 all.
TEST_P(BandedSolves, of_many_systems_have_a_small_backward_error) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t many = ctx.on_cuda() ? 10'000 : 100;
    for (const auto& [method, diagonals] : all_methods)
      for (const BandLayout& l :
           {BandLayout::interleaved(40, ctx.on_cuda() ? 3600 : 50),
            BandLayout::interleaved(200, ctx.on_cuda() ? 3500 : 50), BandLayout::interleaved(24, many, many + 1),
            BandLayout::lines(64, 5, ctx.on_cuda() ? 170 : 2, 1), BandLayout::interleaved(150, many),
            BandLayout::strided(7, many, 8), BandLayout::strided(20, many), BandLayout::strided(150, many)}) {
        const auto A =
            random_banded<T>(21, l, diagonals, method == BandedMethod::thomas ? Kind::dominant : Kind::zero_diagonal);
        Array<T> b(random_rhs<T>(22, l, T(0)));
        Array<T> x(std::vector<T>(static_cast<std::size_t>(l.extent())));
        BandedPlan<T> plan(ctx, l, diagonals, method);
        plan.solve(ctx, A, b, x);
        ASSERT_EQ(plan.zero_pivot(), std::nullopt);
        ASSERT_LE(backward_error(A, b.host(), x.host()), backward_bound<T>())
            << banded_method_names[static_cast<std::size_t>(method)] << " " << diagonals << " of " << l.rows;
        plan.solve(ctx, A, b, b);
        ASSERT_EQ(contents(x), contents(b));
      }
  });
}

/// The bands of op(A), where A has places outside of the matrix too.
template <class T>
Banded<T> transposed(const Banded<T>& A, bool conjugated) {
  const BandLayout& l = A.layout();
  Banded<T> t(l, A.diagonals());
  for (int k = -A.diagonals() / 2; k <= A.diagonals() / 2; ++k) {
    const auto to = t.band(k).edit();
    const auto from = A.band(-k).host();
    for (std::int64_t j = 0; j < l.batch; ++j)
      for (std::int64_t i = 0; i < l.rows; ++i) {
        if (i + k < 0 || i + k >= l.rows) continue;
        T value = from[place(l, i + k, j)];
        if constexpr (is_complex<T>)
          if (conjugated) value = std::conj(value);
        to[place(l, i, j)] = value;
      }
  }
  return t;
}

TEST_P(BandedSolves, with_a_transpose_or_an_adjoint_are_those_with_its_bands) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t many = ctx.on_cuda() ? 10'000 : 20;
    for (const auto& [method, diagonals] : all_methods)
      for (const BandLayout& l :
           {BandLayout::single(1), BandLayout::single(2000), BandLayout::strided(5, 7, 9), BandLayout::strided(70, 3),
            BandLayout::interleaved(33, 6), BandLayout::interleaved(9, many, many + 3)}) {
        const auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
        const Array<T> b(random_rhs<T>(6, l, T(0)));
        for (const Op op : {Op::transpose, Op::adjoint}) {
          Array<T> x(std::vector<T>(static_cast<std::size_t>(l.extent()))), expected = x.clone();
          BandedPlan<T> with_op(ctx, l, diagonals, method, op), without(ctx, l, diagonals, method);
          with_op.solve(ctx, A, b, x);
          without.solve(ctx, transposed(A, op == Op::adjoint), b, expected);
          ASSERT_EQ(contents(x), contents(expected));
        }
      }
  });
}

/// By Gaussian elimination of the whole matrix with partial pivoting.
std::vector<Exact> solve_dense(std::vector<std::vector<Exact>> a, std::vector<Exact> b) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t i = c; i < n; ++i)
      if (std::abs(a[i][c]) > std::abs(a[pivot][c])) pivot = i;
    std::swap(a[c], a[pivot]), std::swap(b[c], b[pivot]);
    for (std::size_t i = c + 1; i < n; ++i) {
      const Exact factor = a[i][c] / a[c][c];
      for (std::size_t k = c; k < n; ++k) a[i][k] -= factor * a[c][k];
      b[i] -= factor * b[c];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

/// With a diagonal above 7 and at most four others of 1.5 at most the condition is below (8.5 + 6) / (7 - 6), so that
/// is how much of the backward error an unknown can have, against the greatest, for A and b each.
TEST_P(BandedSolves, agree_with_dense_elimination_in_long_double) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t rows : {1, 2, 3, 4, 5, 17, 64})
      for (const auto& [method, diagonals] : all_methods) {
        const BandLayout l = BandLayout::interleaved(rows, 3);
        const auto A = random_banded<T>(31, l, diagonals, Kind::dominant);
        const Array<T> b(random_rhs<T>(32, l, T(0)));
        Array<T> x(l.extent());
        BandedPlan<T>(ctx, l, diagonals, method).solve(ctx, A, b, x);
        for (std::int64_t j = 0; j < l.batch; ++j) {
          const auto n = static_cast<std::size_t>(rows);
          std::vector<std::vector<Exact>> a(n, std::vector<Exact>(n));
          std::vector<Exact> rhs(n);
          for (std::int64_t i = 0; i < rows; ++i) {
            rhs[static_cast<std::size_t>(i)] = exact(b.host()[place(l, i, j)]);
            for (int k = -diagonals / 2; k <= diagonals / 2; ++k)
              if (i + k >= 0 && i + k < rows)
                a[static_cast<std::size_t>(i)][static_cast<std::size_t>(i + k)] =
                    exact(A.band(k).host()[place(l, i, j)]);
          }
          const auto expected = solve_dense(a, rhs);
          long double most = 0;
          for (const Exact& one : expected) most = std::max(most, std::abs(one));
          for (std::int64_t i = 0; i < rows; ++i)
            ASSERT_LE(std::abs(exact(x.host()[place(l, i, j)]) - expected[static_cast<std::size_t>(i)]),
                      2 * 14.5L * backward_bound<T>() * std::numeric_limits<real_t<T>>::epsilon() * most);
        }
      }
  });
}

/// One system of NaN, one of zeros, the others as they are without them; one row of the second is named.
TEST_P(BandedSolves, keep_systems_apart_and_name_zero_pivots) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    std::vector<BandLayout> all = layouts(20, 40), longer = layouts(50, 40);
    all.insert(all.end(), longer.begin(), longer.end());
    for (const auto& [method, diagonals] : all_methods)
      for (const BandLayout& l : all) {
        const auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
        auto spoilt = random_banded<T>(5, l, diagonals, Kind::dominant);
        spoilt.band(0).edit()[place(l, 3, 2)] = nan_of<T>();
        for (int k = -diagonals / 2; k <= diagonals / 2; ++k)  // column 7 and row 7 are empty
          for (const std::int64_t j : {11, 30}) {
            spoilt.band(k).edit()[place(l, 7, j)] = T(0);
            if (7 - k >= 0) spoilt.band(k).edit()[place(l, 7 - k, j)] = T(0);
          }
        const Array<T> b(random_rhs<T>(6, l, T(0)));
        Array<T> x(l.extent()), other(l.extent());
        BandedPlan<T> plan(ctx, l, diagonals, method);
        plan.solve(ctx, spoilt, b, other);
        EXPECT_EQ(plan.zero_pivot(30), 7);
        EXPECT_EQ(plan.zero_pivot(2), std::nullopt);
        EXPECT_EQ(plan.zero_pivot(), (BandedZeroPivot{11, 7}));
        plan.solve(ctx, A, b, x);
        EXPECT_EQ(plan.zero_pivot(), std::nullopt);
        for (std::int64_t j = 0; j < l.batch; ++j)
          for (std::int64_t i = 0; i < l.rows && j != 2 && j != 11 && j != 30; ++i)
            ASSERT_EQ(x.host()[place(l, i, j)], other.host()[place(l, i, j)]);
      }
  });
}

TEST_P(BandedSolves, can_be_captured_skipped_and_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [method, diagonals] : all_methods) {
      const BandLayout l = BandLayout::interleaved(method == BandedMethod::qr ? 30 : 60, 70);
      const auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
      const Array<T> b(random_rhs<T>(6, l, T(0))), zeros(std::vector<T>(static_cast<std::size_t>(l.extent())));
      Array<T> x(l.extent()), again(l.extent());
      BandedPlan<T> plan(ctx, l, diagonals, method);
      replay(ctx, [&] { plan.solve(ctx, A, b, x); });
      BandedPlan<T>(ctx, l, diagonals, method).solve(ctx, A, b, again);
      EXPECT_EQ(contents(x), contents(again));
      run_skipped(ctx, [&] { plan.solve(ctx, A, zeros, x); });
      EXPECT_EQ(contents(x), contents(again));
    }
  });
}

/// So many that the host wakes its threads.
TEST_P(BandedSolves, are_the_same_in_every_run_for_any_number_of_threads) {
  with_scalar([&]<class T>(T) {
    for (const auto& [method, diagonals] : all_methods)
      for (const BandLayout& l : {BandLayout::interleaved(200, 701), BandLayout::strided(200, 701)}) {
        const auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
        const Array<T> b(random_rhs<T>(6, l, T(0)));
        const auto solved = [&](Context ctx) {
          Array<T> x(l.extent());
          BandedPlan<T>(ctx, l, diagonals, method).solve(ctx, A, b, x);
          return contents(x);
        };
        const auto first = solved(context());
        EXPECT_EQ(first, solved(context()));
        if (std::get<0>(GetParam()) != Backend::host) continue;
        EXPECT_EQ(first, solved(Context::host(1)));
        EXPECT_EQ(first, solved(Context::host(3)));
      }
  });
}

/// Trap 12: which method pivots, for three and five diagonals; dl of the first row and du of the last are there, as
/// zero. Trap 13: row i of system j of an interleaved batch lies at i batch + j.
TEST_P(BandedSolves, TV_GTSV_BATCH_and_TV_GTSV2_PIVOT_and_TV_GPSV_and_trap_12_and_trap_13) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto expect = [&](const BandLayout& l, std::vector<MethodAndDiagonals> methods,
                            const std::vector<std::vector<double>>& bands, const std::vector<double>& b,
                            const std::vector<double>& expected) {
      for (const auto& [method, diagonals] : methods) {
        Banded<T> A(l, diagonals);
        for (std::size_t k = 0; k < bands.size(); ++k)
          std::transform(bands[k].begin(), bands[k].end(), A.band(static_cast<int>(k) - diagonals / 2).edit().begin(),
                         number<T>);
        Array<T> x(l.extent());
        std::transform(b.begin(), b.end(), x.edit().begin(), number<T>);
        BandedPlan<T>(ctx, l, diagonals, method).solve(ctx, A, x, x);
        for (std::size_t i = 0; i < expected.size(); ++i)
          EXPECT_NEAR(0, static_cast<double>(std::abs(x.host()[i] - number<T>(expected[i]))),
                      4 * 130 * std::numeric_limits<real_t<T>>::epsilon());
      }
    };
    const std::vector<MethodAndDiagonals> three(all_methods, all_methods + 3),
        pivoting(all_methods + 1, all_methods + 3);
    expect(BandLayout::interleaved(4, 2), three,
           {{0, 0, 1, -1, 1, -1, 1, -1}, {2, 4, 3, 4, 4, 4, 5, 4}, {1, -1, 1, -1, 1, -1, 0, 0}},
           {4, -4, 10, -1, 18, 7, 23, 2}, {1, -1, 2, 0, 3, 2, 4, 1});
    expect(BandLayout::strided(4, 2), three,
           {{0, 1, 1, 1, 0, -1, -1, -1}, {2, 3, 4, 5, 4, 4, 4, 4}, {1, 1, 1, 0, -1, -1, -1, 0}},
           {4, 10, 18, 23, -4, -1, 7, 2}, {1, 2, 3, 4, -1, 0, 2, 1});
    expect(BandLayout::single(4), pivoting, {{0, 1, 1, 2}, {0, 3, 4, 5}, {2, 1, 1, 0}}, {4, 10, 18, 26}, {1, 2, 3, 4});
    expect(BandLayout::interleaved(4, 2), {{BandedMethod::lu, 5}, {BandedMethod::qr, 5}},
           {{0, 0, 0, 0, 11, 25, 12, 26},
            {0, 0, 5, 19, 6, 20, 7, 21},
            {1, 15, 2, 16, 3, 17, 4, 18},
            {8, 22, 9, 23, 10, 24, 0, 0},
            {13, 27, 14, 28, 0, 0, 0, 0}},
           {1, 5, 2, 6, 3, 7, 4, 8},
           {-53. / 896, -5. / 4158, 0.3427734375, 304. / 1089, -29. / 224, -173. / 4158, 0.1982421875, 391. / 4356});
  });
}

TEST_P(BandedSolves, refuse_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto refused = [&](const BandLayout& l, int diagonals = 3, BandedMethod method = BandedMethod::qr) {
      return complaint<InvalidArgument>([&] { BandedPlan<T>(ctx, l, diagonals, method); });
    };
    EXPECT_EQ(refused(BandLayout::strided(0, 2, 1)), "banded plan: 0 rows, at least 1 is needed");
    EXPECT_EQ(refused(BandLayout::strided(4, -1)), "banded plan: a batch of -1, at least 1 is needed");
    EXPECT_EQ(refused({4, 2, 1, 0}), "banded plan: strides 1 of rows and 0 of systems, both must be positive");
    EXPECT_EQ(refused(BandLayout::strided(4, 2, 3)), "banded plan: systems lie 3 entries apart, at least 4 are needed");
    EXPECT_EQ(refused(BandLayout::interleaved(4, 5, 4)),
              "banded plan: rows lie 4 entries apart, at least 5 are needed");
    EXPECT_EQ(
        refused(BandLayout::strided(4, 2'000'000'000, std::int64_t{1} << 60)),
        "banded plan: 4 rows of 2000000000 systems with strides 1 and 1152921504606846976 are more than memory has");
    EXPECT_EQ(
        refused({4, 5, 10, 1, 2, 40}),
        "banded plan: 5 systems in groups of 2, 40 entries apart: groups must be full, and their stride positive");
    EXPECT_EQ(refused({4, 6, 3, 1, 2, 10}), "banded plan: groups lie 10 entries apart, at least 11 are needed");
    EXPECT_EQ(refused(BandLayout::single(4), 4), "banded plan: 4 diagonals, 3 or 5 are expected");
    EXPECT_EQ(refused(BandLayout::single(4), 3, static_cast<BandedMethod>(7)), "banded plan: there is no method 7");

    BandedPlan<T> plan(ctx, BandLayout::strided(4, 2), 3, BandedMethod::qr);
    Banded<T> A(BandLayout::strided(4, 2));
    const Array<T> b(8);
    Array<T> x(8), short_x(7);
    EXPECT_THROW(plan.solve(ctx, A, b, short_x), ShapeMismatch);
    EXPECT_EQ(complaint<InvalidArgument>([&] { plan.solve(ctx, A, b, A.band(0)); }),
              "banded plan: x and a band of the matrix must not be the same array");
    EXPECT_EQ(complaint<InvalidArgument>([&] { plan.solve(ctx, Banded<T>(BandLayout::interleaved(4, 2)), b, x); }),
              "banded plan: the matrices have another layout than the plan was made for");
    EXPECT_EQ(complaint<InvalidArgument>([&] { plan.solve(ctx, Banded<T>(BandLayout::strided(4, 2), 5), b, x); }),
              "banded plan: matrices of 5 diagonals, it was made for 3");
    EXPECT_THROW(plan.zero_pivot(2), InvalidArgument);
  });
}

template <class T>
Array<T> numbers(const std::vector<double>& values) {
  std::vector<T> converted(values.size());
  std::transform(values.begin(), values.end(), converted.begin(), number<T>);
  return Array<T>(std::move(converted));
}

/// One matrix for all columns, in both orders, with a leading dimension of 5, whose padding stays.
TEST_P(BandedSolves, TV_GTSV2_takes_many_right_hand_sides) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Banded<T> A(BandLayout::single(4), numbers<T>({0, 1, 1, 1}), numbers<T>({2, 3, 4, 5}),
                      numbers<T>({1, 1, 1, 0}));
    struct Columns {
      Order order;
      std::int64_t leading_dimension;
      std::vector<double> b, x;
    };
    const std::vector<Columns> both{
        {Order::column_major, 5, {4, 10, 18, 23, 777, -2, 1, 9, 7, 777}, {1, 2, 3, 4, 777, -1, 0, 2, 1, 777}},
        {Order::row_major,
         3,
         {4, -2, 777, 10, 1, 777, 18, 9, 777, 23, 7, 777},
         {1, -1, 777, 2, 0, 777, 3, 2, 777, 4, 1, 777}}};
    for (const BandedMethod method : {BandedMethod::thomas, BandedMethod::lu, BandedMethod::qr})
      for (const Columns& c : both) {
        const auto dense = [&](const std::vector<double>& values) {
          return Dense<T>(4, 2, numbers<T>(values), c.order, c.leading_dimension);
        };
        const Dense<T> B = dense(c.b);
        Dense<T> X = dense(std::vector<double>(c.b.size(), 777)), in_place = dense(c.b);
        BandedPlan<T> plan(ctx, A.layout(), columns_of(B), 3, method);
        plan.solve(ctx, A, B, X);
        plan.solve(ctx, A, in_place, in_place);
        EXPECT_EQ(contents(X.values()), contents(in_place.values()));
        for (std::size_t k = 0; k < c.x.size(); ++k)
          EXPECT_LE(std::abs(X.values().host()[k] - number<T>(c.x[k])),
                    4 * 130 * std::numeric_limits<real_t<T>>::epsilon());
      }
  });
}

TEST_P(BandedSolves, with_one_matrix_have_a_small_backward_error) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t rows : {1, 2, 9, 70, 300})
      for (const auto& [method, diagonals] : all_methods)
        for (const std::int32_t columns : {1, 7, 40})
          for (const BandLayout& vectors : layouts(rows, columns)) {
            const BandLayout single = BandLayout::single(rows);
            const auto A = random_banded<T>(4, single, diagonals, Kind::dominant);
            const Array<T> b(random_rhs<T>(5, vectors, T(0)));
            Array<T> x(vectors.extent());
            BandedPlan<T> plan(ctx, single, vectors, diagonals, method);
            plan.solve(ctx, A, b, x);
            ASSERT_LE(backward_error(A, vectors, b.host(), x.host()), backward_bound<T>());
          }
    const BandLayout five = BandLayout::strided(4, 5);
    EXPECT_EQ(
        complaint<InvalidArgument>([&] { BandedPlan<T>(ctx, BandLayout::strided(4, 2), five, 3, BandedMethod::lu); }),
        "banded plan: 5 vectors for 2 matrices; as many are needed, or one matrix");
    EXPECT_EQ(complaint<InvalidArgument>([&] { BandedPlan<T>(ctx, BandLayout::single(3), five, 3, BandedMethod::lu); }),
              "banded plan: vectors of 4 rows for matrices of 3");
  });
}

/// Wherever a single system has no pivot: the host goes on it from both ends.
TEST_P(BandedSolves, of_single_systems_name_zero_pivots) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [method, diagonals] : all_methods)
      for (const std::int32_t rows : {40, 131}) {
        const BandLayout l = BandLayout::single(rows);
        const Array<T> b(random_rhs<T>(6, l, T(0)));
        Array<T> x(l.extent());
        BandedPlan<T> plan(ctx, l, diagonals, method);
        for (std::int32_t empty = 0; empty < rows; ++empty) {
          auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
          for (int k = -diagonals / 2; k <= diagonals / 2; ++k) {
            A.band(k).edit()[place(l, empty, 0)] = T(0);
            if (empty - k >= 0 && empty - k < rows) A.band(k).edit()[place(l, empty - k, 0)] = T(0);
          }
          plan.solve(ctx, A, b, x);
          ASSERT_EQ(plan.zero_pivot(), (BandedZeroPivot{0, empty}))
              << banded_method_names[static_cast<std::size_t>(method)] << " " << diagonals << " of " << rows;
        }
      }
  });
}

/// Of so many rows that two threads take part.
TEST(LongSystems, have_the_same_bits_for_any_number_of_threads) {
  const BandLayout l = BandLayout::single(150'001);
  for (const auto& [method, diagonals] : all_methods) {
    const auto kind = method == BandedMethod::thomas ? Kind::dominant : Kind::zero_diagonal;
    const auto A = random_banded<double>(5, l, diagonals, kind);
    const Array<double> b(random_rhs<double>(6, l, 0));
    std::vector<double> of_one_thread;
    for (const int threads : {1, 2, 3}) {
      Context ctx = Context::host(threads);
      Array<double> x(l.extent());
      BandedPlan<double>(ctx, l, diagonals, method).solve(ctx, A, b, x);
      if (threads == 1) {
        of_one_thread = contents(x);
        ASSERT_LE(backward_error(A, b.host(), x.host()), backward_bound<double>());
      }
      EXPECT_EQ(contents(x), of_one_thread);
    }
  }
}

/// Bands, b and x are the caller's memory.
TEST_P(BandedSolves, take_memory_of_the_callers) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    std::vector<T> dl{T(0), T(1), T(1)}, d{T(4), T(4), T(4)}, du{T(1), T(1), T(0)}, x{T(5), T(6), T(5)};
    const auto mine = [](std::vector<T>& memory) { return Array<T>::borrow_host(memory.data(), std::ssize(memory)); };
    const BandLayout l = BandLayout::single(3);
    const Banded<T> A(l, mine(dl), mine(d), mine(du));
    Array<T> solution = mine(x);
    BandedPlan<T>(ctx, l, 3, BandedMethod::lu).solve(ctx, A, solution, solution);
    const auto solved = solution.host();  // on CUDA this brings it back
    for (const T& one : solved) EXPECT_LE(std::abs(one - T(1)), 8 * std::numeric_limits<real_t<T>>::epsilon());
    EXPECT_EQ(x.data(), solved.data());
    EXPECT_EQ(d, std::vector<T>(3, T(4)));
    EXPECT_THROW(Banded<T>(l, mine(dl), mine(d), Array<T>(2)), ShapeMismatch);
  });
}

TEST_P(BandedSolves, take_the_memory_that_is_planned) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [method, diagonals] : all_methods) {
      const BandLayout l = BandLayout::interleaved(30, 700);
      MemoryLedger ledger(ctx.on_cuda() ? MemoryTarget::cuda(0) : MemoryTarget::host(2));
      const HeldMemory planned = BandedPlan<T>::memory(ledger, l, diagonals, method);
      EXPECT_GE(planned.bytes(), BandedPlan<T>(ctx, l, diagonals, method).bytes());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, BandedSolves, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
