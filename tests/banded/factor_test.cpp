// Factor once, solve many times.
#include "sparse/banded/banded_factor.hpp"
#include "sparse/banded/division.hpp"
#include "sparse/banded/weak_rows.hpp"
#include "tests/banded/systems.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/lent.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using BandedFactors = OnBackendAndScalar;

struct FactorCase {
  BandLayout matrices, vectors;
};

/// A matrix a vector: few and many, long and short, as plans and factors divide them; and one matrix for all vectors.
std::vector<FactorCase> factor_cases(bool on_cuda) {
  const std::int32_t some = on_cuda ? 1100 : 40, many = on_cuda ? 3600 : 40, most = on_cuda ? 10'000 : 40;
  std::vector<FactorCase> cases;
  for (const BandLayout& l :
       {BandLayout::single(1), BandLayout::single(2), BandLayout::single(63), BandLayout::single(150),
        BandLayout::interleaved(1, 7), BandLayout::interleaved(3, 70, 73), BandLayout::interleaved(20, 33),
        BandLayout::interleaved(50, some), BandLayout::interleaved(34, many, many + 1),
        BandLayout::lines(50, 34, on_cuda ? 30 : 2, 1), BandLayout::interleaved(64, most),
        BandLayout::strided(9, 33, 11), BandLayout::strided(130, 5)})
    cases.push_back({l, l});
  for (const BandLayout& vectors : {BandLayout::interleaved(17, 5), BandLayout::interleaved(40, some),
                                    BandLayout::interleaved(on_cuda ? 300 : 70, some), BandLayout::strided(33, 9, 40)})
    cases.push_back({BandLayout::single(vectors.rows), vectors});
  return cases;
}

/// Whether a factor promises a plan's bits: not in complex types on CUDA, whose compiler fuses the products of one
/// kernel in another way than those of the next.
template <class T>
bool has_bits_of_plan(const BandedFactor<T>& factor, bool on_cuda) {
  if (factor.keeps_matrices()) return true;
  if (on_cuda && is_complex<T>) return false;
  return detail::factor_division_of(on_cuda, factor.vectors(), factor.diagonals(), factor.method()) ==
         detail::division_of(on_cuda, factor.vectors(), factor.diagonals(), factor.method());
}

/// Whatever a factor keeps, a solve with it is good, and the same in place and after an update; where it divides
/// systems as a plan does, it has the plan's bits.
TEST_P(BandedFactors, solve_as_plans_do) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    int alike = 0, otherwise = 0;
    for (const auto& [method, diagonals] : all_methods)
      for (const auto& [matrices, vectors] : factor_cases(ctx.on_cuda())) {
        const Kind kind = method == BandedMethod::thomas ? Kind::dominant : Kind::zero_diagonal;
        const auto A = random_banded<T>(3, matrices, diagonals, kind);
        const Array<T> b(random_rhs<T>(4, vectors, number<T>(777)));
        Array<T> x = b.clone(), planned = b.clone(), in_place = b.clone(), again = b.clone();
        BandedFactor<T> factor(ctx, A, vectors, method);
        factor.solve(ctx, b, x);
        factor.solve(ctx, in_place, in_place);
        EXPECT_EQ(factor.zero_pivot(), std::nullopt);
        BandedPlan<T>(ctx, matrices, vectors, diagonals, method).solve(ctx, A, b, planned);
        SCOPED_TRACE(testing::Message() << banded_method_names[static_cast<std::size_t>(method)] << " " << diagonals
                                        << " of " << vectors.rows << " x " << vectors.batch << ", matrices "
                                        << matrices.batch);
        ASSERT_LE(backward_error(A, vectors, b.host(), x.host()), backward_bound<T>());
        ASSERT_EQ(contents(x), contents(in_place));  // padding, too
        if (has_bits_of_plan(factor, ctx.on_cuda())) {
          ++alike;
          ASSERT_EQ(contents(x), contents(planned));
        } else {
          ++otherwise;
        }
        BandedFactor<T> updated(ctx, random_banded<T>(5, matrices, diagonals, Kind::dominant), vectors, method);
        updated.update(ctx, A);
        updated.solve(ctx, b, again);
        ASSERT_EQ(contents(x), contents(again));
      }
    EXPECT_TRUE(alike > 0 || (ctx.on_cuda() && is_complex<T>));
    EXPECT_EQ(otherwise > 0, ctx.on_cuda());
  });
}

/// Five diagonals and pivoting, of systems so many and long that each has a thread of CUDA: the bits of a factor, in
/// place too; zero pivots named, and others unharmed.
TEST_P(BandedFactors, and_plans_of_many_long_systems_agree) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const BandLayout l = BandLayout::interleaved(130, ctx.on_cuda() ? 10'000 : 40);
    const Array<T> b(random_rhs<T>(6, l, T(0)));
    for (const BandedMethod method : {BandedMethod::lu, BandedMethod::qr}) {
      BandedPlan<T> plan(ctx, l, 5, method);
      const auto solved = [&](const Banded<T>& A) {
        Array<T> x = b.clone();
        plan.solve(ctx, A, x, x);
        return contents(x);
      };
      const auto A = random_banded<T>(5, l, 5, Kind::zero_diagonal);
      Array<T> x(l.extent()), by_factor(l.extent());
      plan.solve(ctx, A, b, x);
      ASSERT_LE(backward_error(A, b.host(), x.host()), backward_bound<T>());
      ASSERT_EQ(plan.zero_pivot(), std::nullopt);
      ASSERT_EQ(solved(A), contents(x));
      BandedFactor<T> factor(ctx, A, method);
      factor.solve(ctx, b, by_factor);
      if (has_bits_of_plan(factor, ctx.on_cuda())) {
        ASSERT_EQ(contents(by_factor), contents(x));
      }
      ASSERT_LE(backward_error(A, b.host(), by_factor.host()), backward_bound<T>());

      auto spoilt = random_banded<T>(7, l, 5, Kind::dominant);
      const std::vector<T> expected = solved(spoilt);
      for (int k = -2; k <= 2; ++k)
        spoilt.band(k).edit()[place(l, 70, 7)] = spoilt.band(k).edit()[place(l, 70 - k, 7)] = T(0);
      const std::vector<T> found = solved(spoilt);
      ASSERT_EQ(plan.zero_pivot(), (BandedZeroPivot{7, 70}));
      for (std::int64_t j = 0; j < l.batch; ++j)
        for (std::int64_t i = 0; i < l.rows && j != 7; ++i) ASSERT_EQ(found[place(l, i, j)], expected[place(l, i, j)]);
    }
  });
}

TEST_P(BandedFactors, of_a_transpose_or_an_adjoint_solve_as_plans_do) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t many = ctx.on_cuda() ? 3600 : 20;
    for (const auto& [method, diagonals] : all_methods)
      for (const BandLayout& l : {BandLayout::single(1), BandLayout::single(200), BandLayout::strided(5, 7, 9),
                                  BandLayout::interleaved(33, 6), BandLayout::interleaved(90, many, many + 3)})
        for (const Op op : {Op::transpose, Op::adjoint}) {
          const auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
          const Array<T> b(random_rhs<T>(6, l, T(0)));
          Array<T> x = b.clone(), expected = b.clone();
          BandedFactor<T> factor(ctx, A, method, op);
          factor.solve(ctx, b, x);
          BandedPlan<T>(ctx, l, diagonals, method, op).solve(ctx, A, b, expected);
          if (has_bits_of_plan(factor, ctx.on_cuda())) {
            ASSERT_EQ(contents(x), contents(expected));
            continue;
          }
          // Both are backward stable, and the condition of such a dominant matrix is less than 4.
          double difference = 0, greatest = 0;
          for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) {
            difference = std::max(difference, modulus(Z(x.host()[i]) - Z(expected.host()[i])));
            greatest = std::max(greatest, modulus(Z(expected.host()[i])));
          }
          ASSERT_LE(difference, 2 * 4 * backward_bound<T>() * epsilon<T>() * greatest);
        }
  });
}

/// As BandedSolves.keep_systems_apart_and_name_zero_pivots: empty rows and columns, and a NaN, wherever they lie.
TEST_P(BandedFactors, keep_systems_apart_and_name_zero_pivots) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t many = ctx.on_cuda() ? 3600 : 40;
    for (const auto& [method, diagonals] : all_methods)
      for (const BandLayout& l : {BandLayout::interleaved(20, 40), BandLayout::interleaved(131, many),
                                  BandLayout::strided(50, 40, 53), BandLayout::lines(20, 50, 2, 1)})
        for (const std::int32_t empty : {0, 7, l.rows / 2, l.rows - 1}) {
          const auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
          auto spoilt = random_banded<T>(5, l, diagonals, Kind::dominant);
          spoilt.band(0).edit()[place(l, 3, 2)] = nan_of<T>();
          for (int k = -diagonals / 2; k <= diagonals / 2; ++k)
            for (const std::int64_t j : {11, 30}) {
              spoilt.band(k).edit()[place(l, empty, j)] = T(0);
              if (empty - k >= 0 && empty - k < l.rows) spoilt.band(k).edit()[place(l, empty - k, j)] = T(0);
            }
          const Array<T> b(random_rhs<T>(6, l, T(0)));
          Array<T> x = b.clone(), other = b.clone();
          BandedFactor<T> factor(ctx, spoilt, method);
          ASSERT_EQ(factor.zero_pivot(), (BandedZeroPivot{11, empty}));
          EXPECT_EQ(factor.zero_pivot(30), empty);
          EXPECT_EQ(factor.zero_pivot(2), std::nullopt);
          factor.solve(ctx, b, other);
          factor.update(ctx, A);
          ASSERT_EQ(factor.zero_pivot(), std::nullopt);
          factor.solve(ctx, b, x);
          for (std::int64_t j = 0; j < l.batch; ++j)
            for (std::int64_t i = 0; i < l.rows && j != 2 && j != 11 && j != 30; ++i)
              ASSERT_EQ(x.host()[place(l, i, j)], other.host()[place(l, i, j)]);
        }
  });
}

/// Wherever a single system has no pivot: the host goes on it from both ends.
TEST_P(BandedFactors, of_single_systems_name_zero_pivots) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [method, diagonals] : all_methods)
      for (std::int32_t empty = 0; empty < 71; ++empty) {
        const BandLayout l = BandLayout::single(71);
        auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
        for (int k = -diagonals / 2; k <= diagonals / 2; ++k) {
          A.band(k).edit()[place(l, empty, 0)] = T(0);
          if (empty - k >= 0 && empty - k < l.rows) A.band(k).edit()[place(l, empty - k, 0)] = T(0);
        }
        ASSERT_EQ(BandedFactor<T>(ctx, A, method).zero_pivot(), (BandedZeroPivot{0, empty}));
      }
  });
}

TEST_P(BandedFactors, can_be_captured_skipped_and_updated_in_a_loop) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [method, diagonals] : all_methods) {
      const BandLayout l = BandLayout::interleaved(60, ctx.on_cuda() ? 1500 : 30);
      const auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
      const Array<T> b(random_rhs<T>(6, l, T(0))), zeros(std::vector<T>(static_cast<std::size_t>(l.extent())));
      Array<T> x(l.extent()), again(l.extent());
      BandedFactor<T> factor(ctx, random_banded<T>(7, l, diagonals, Kind::dominant), method);
      replay(ctx, [&] {
        factor.update(ctx, A);
        factor.solve(ctx, b, x);
      });
      BandedFactor<T>(ctx, A, method).solve(ctx, b, again);
      EXPECT_EQ(contents(x), contents(again));
      const auto other = random_banded<T>(8, l, diagonals, Kind::dominant);
      run_skipped(ctx, [&] {
        factor.update(ctx, other);
        factor.solve(ctx, zeros, x);
      });
      EXPECT_EQ(contents(x), contents(again));
      factor.solve(ctx, b, x);
      EXPECT_EQ(contents(x), contents(again));
    }
  });
}

TEST_P(BandedFactors, are_the_same_for_any_number_of_threads) {
  with_scalar([&]<class T>(T) {
    if (std::get<0>(GetParam()) != Backend::host) GTEST_SKIP() << "threads of the host";
    for (const auto& [method, diagonals] : all_methods)
      for (const BandLayout& l :
           {BandLayout::interleaved(50, 2801), BandLayout::strided(200, 701), BandLayout::single(70'001)}) {
        if (method == BandedMethod::qr) continue;  // which is a plan
        const auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
        const Array<T> b(random_rhs<T>(6, l, T(0)));
        const auto solved = [&](Context ctx) {
          Array<T> x(l.extent());
          BandedFactor<T>(ctx, A, method).solve(ctx, b, x);
          return contents(x);
        };
        EXPECT_EQ(solved(Context::host(1)), solved(Context::host(3)));
      }
  });
}

/// Dominance is asked of entries inside of the matrices alone: outside and in padding there is NaN.
TEST_P(BandedFactors, choose_the_method_by_dominance) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const int diagonals : {3, 5})
      for (const BandLayout& l : layouts(9, 4)) {
        auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
        EXPECT_EQ(method_for(ctx, A), BandedMethod::thomas);
        EXPECT_EQ(BandedFactor<T>(ctx, A).method(), BandedMethod::thomas);
        EXPECT_EQ(BandedPlan<T>(ctx, A).method(), BandedMethod::thomas);
        A.band(0).edit()[place(l, 8, 3)] = number<T>(0.001);
        A.band(-1).edit()[place(l, 8, 3)] = number<T>(1);
        EXPECT_EQ(method_for(ctx, A), BandedMethod::lu);
        EXPECT_EQ(BandedFactor<T>(ctx, A).method(), BandedMethod::lu);
        EXPECT_EQ(BandedPlan<T>(ctx, A).method(), BandedMethod::lu);
        EXPECT_EQ(BandedPlan<T>(ctx, l, diagonals, BandedMethod::automatic).method(), BandedMethod::lu);
      }
  });
}

TEST_P(BandedFactors, refuse_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const BandLayout l = BandLayout::strided(4, 2);
    const auto A = random_banded<T>(5, l, 3, Kind::dominant);
    EXPECT_EQ(complaint<InvalidArgument>([&] { BandedFactor<T>(ctx, A, static_cast<BandedMethod>(7)); }),
              "banded factor: there is no method 7");
    EXPECT_EQ(complaint<InvalidArgument>([&] { BandedFactor<T>(ctx, A, BandLayout::strided(3, 2)); }),
              "banded factor: vectors of 3 rows for matrices of 4");
    EXPECT_EQ(complaint<InvalidArgument>([&] { BandedFactor<T>(ctx, A, BandLayout::strided(4, 5)); }),
              "banded factor: 5 vectors for 2 matrices; as many are needed, or one matrix");
    BandedFactor<T> factor(ctx, A);
    const Array<T> b(8);
    Array<T> x(8), short_x(7);
    EXPECT_THROW(factor.solve(ctx, b, short_x), ShapeMismatch);
    EXPECT_THROW(factor.zero_pivot(2), InvalidArgument);
    EXPECT_EQ(complaint<InvalidArgument>([&] { factor.update(ctx, Banded<T>(BandLayout::interleaved(4, 2))); }),
              "banded factor: the matrices have another layout than the factor was made for");
    EXPECT_EQ(complaint<InvalidArgument>([&] { factor.update(ctx, Banded<T>(l, 5)); }),
              "banded factor: matrices of 5 diagonals, it was made for 3");
    EXPECT_EQ(complaint<InvalidArgument>([&] {
                Dense<T> X(3, 2);
                factor.solve(ctx, Dense<T>(3, 2), X);
              }),
              "banded factor: B or X has another layout than the vectors that the factor was made for");
  });
}

/// TV-GTSV2 of the kernel catalogue: one matrix, two columns, a leading dimension of 5 whose padding stays.
TEST_P(BandedFactors, take_many_right_hand_sides) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto numbers = [](const std::vector<double>& values) {
      std::vector<T> converted(values.size());
      std::transform(values.begin(), values.end(), converted.begin(), number<T>);
      return Array<T>(std::move(converted));
    };
    const Banded<T> A(BandLayout::single(4), numbers({0, 1, 1, 1}), numbers({2, 3, 4, 5}), numbers({1, 1, 1, 0}));
    const std::vector<double> expected{1, 2, 3, 4, 777, -1, 0, 2, 1, 777};
    for (const BandedMethod method : {BandedMethod::thomas, BandedMethod::lu, BandedMethod::qr}) {
      Dense<T> X(4, 2, numbers({4, 10, 18, 23, 777, -2, 1, 9, 7, 777}), Order::column_major, 5);
      BandedFactor<T>(ctx, A, columns_of(X), method).solve(ctx, X, X);
      for (std::size_t k = 0; k < expected.size(); ++k)
        EXPECT_LE(std::abs(X.values().host()[k] - number<T>(expected[k])),
                  4 * 130 * std::numeric_limits<real_t<T>>::epsilon());
    }
  });
}

/// On the context's side, so on CUDA the device's memory: factors, their updates and plans move, allocate and await
/// nothing for it, and x is written where it lies.
TEST_P(BandedFactors, and_plans_take_memory_of_the_callers_where_they_run) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const int diagonals : {3, 5})
      for (const BandLayout& l : {BandLayout::interleaved(40, 9, 11), BandLayout::strided(70, 3)}) {
        const auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
        const std::vector<T> b = random_rhs<T>(6, l, number<T>(777));
        Array<T> expected(b);
        BandedPlan<T> plan(ctx, l, diagonals, BandedMethod::lu);
        plan.solve(ctx, A, expected, expected);

        std::vector<Lent<T>> memory;
        for (int k = -2; k <= 2; ++k) {
          const auto band = A.band(std::clamp(k, -diagonals / 2, diagonals / 2)).host();
          memory.emplace_back(ctx, std::vector<T>(band.begin(), band.end()));
        }
        Lent<T> lent_b(ctx, b), lent_x(ctx, b);
        {
          const Banded<T> lent =
              diagonals == 3
                  ? Banded<T>(l, memory[1].borrow_const(), memory[2].borrow_const(), memory[3].borrow_const())
                  : Banded<T>(l, memory[0].borrow_const(), memory[1].borrow_const(), memory[2].borrow_const(),
                              memory[3].borrow_const(), memory[4].borrow_const());
          const Array<T> right = lent_b.borrow_const();
          Array<T> x = lent_x.borrow();
          BandedFactor<T> factor(ctx, lent, BandedMethod::lu);
          const Counters before = counters();
          factor.update(ctx, lent);
          factor.solve(ctx, right, x);
          plan.solve(ctx, lent, right, x);
          EXPECT_EQ(counters(), before);
        }
        ASSERT_EQ(lent_x.contents(), contents(expected));
      }
  });
}

TEST_P(BandedFactors, take_the_memory_that_is_planned) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [method, diagonals] : all_methods)
      for (const BandLayout& l : {BandLayout::interleaved(130, 1100), BandLayout::strided(50, 70)}) {
        MemoryLedger ledger(ctx.on_cuda() ? MemoryTarget::cuda(0) : MemoryTarget::host(2));
        const HeldMemory planned = BandedFactor<T>::memory(ledger, l, l, diagonals, method);
        const auto A = random_banded<T>(5, l, diagonals, Kind::dominant);
        EXPECT_GE(planned.bytes(), BandedFactor<T>(ctx, A, method).bytes());
      }
  });
}

INSTANTIATE_TEST_SUITE_P(, BandedFactors, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
