#include "sparse/banded/periodic.hpp"

#include "tests/banded/systems.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using PeriodicSolves = OnBackendAndScalar;

/// Dominant, with an entry at every place of a row; NaN in padding.
template <class T>
Banded<T> random_ring(std::uint64_t seed, const BandLayout& l, int diagonals) {
  auto A = random_banded<T>(seed, l, diagonals, Kind::dominant);
  std::mt19937_64 engine(seed + 1);
  for (int k = -diagonals / 2; k <= diagonals / 2; ++k) {
    const auto band = A.band(k).edit();
    for (std::int64_t j = 0; j < l.batch; ++j)
      for (std::int64_t i = 0; i < l.rows; ++i)
        if (i + k < 0 || i + k >= l.rows) band[place(l, i, j)] = random_scalar<T>(engine);
  }
  // The corners add at most 2 sqrt 2 to a row with three diagonals, twice that with five.
  const auto diagonal = A.band(0).edit();
  for (std::int64_t j = 0; j < l.batch; ++j)
    for (std::int64_t i = 0; i < l.rows; ++i) diagonal[place(l, i, j)] += number<T>(diagonals);
  return A;
}

/// As backward_error().
template <class T>
double ring_error(const Banded<T>& A, std::span<const T> b, std::span<const T> x) {
  const BandLayout& l = A.layout();
  long double worst = 0;
  for (std::int64_t j = 0; j < l.batch; ++j) {
    long double residual = 0, of_a = 0, of_x = 0, of_b = 0;
    for (std::int64_t i = 0; i < l.rows; ++i) {
      auto sum = exact(b[place(l, i, j)]);
      of_b = std::max(of_b, modulus(sum));
      long double row = 0;
      for (int k = -A.diagonals() / 2; k <= A.diagonals() / 2; ++k) {
        const auto entry = exact(A.band(k).host()[place(l, i, j)]);
        sum -= entry * exact(x[place(l, (i + k + l.rows) % l.rows, j)]);
        row += modulus(entry);
      }
      of_x = std::max(of_x, modulus(exact(x[place(l, i, j)])));
      of_a = std::max(of_a, row);
      if (!(modulus(sum) <= std::numeric_limits<long double>::max())) return std::numeric_limits<double>::infinity();
      residual = std::max(residual, modulus(sum));
    }
    worst = std::max(worst, residual / (of_a * of_x + of_b));
  }
  return static_cast<double>(worst / std::numeric_limits<real_t<T>>::epsilon());
}

TEST_P(PeriodicSolves, have_a_small_backward_error_and_leave_padding_alone) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T kept = number<T>(777);
    std::vector<std::pair<std::int32_t, std::int32_t>> sizes{{127, 33}, {128, 3}, {1000, 5}, {4097, 2}, {40, 1000}};
    for (std::int32_t rows = 3; rows <= 20; ++rows) sizes.emplace_back(rows, 1 + rows % 9);
    for (std::int32_t rows = 33; rows <= 70; rows += 5) sizes.emplace_back(rows, 1 + rows % 9);
    for (const auto& [rows, batch] : sizes)
      for (const auto& [method, diagonals] : all_methods)
        for (const BandLayout& l : layouts(rows, batch)) {
          if (rows < diagonals) continue;
          const auto A = random_ring<T>(static_cast<std::uint64_t>(rows), l, diagonals);
          PeriodicBandedPlan<T> plan(ctx, A, method);
          const Array<T> b(random_rhs<T>(9, l, kept));
          Array<T> x(std::vector<T>(static_cast<std::size_t>(l.extent()), kept)), in_place = b.clone();
          plan.solve(ctx, b, x);
          plan.solve(ctx, in_place, in_place);
          ASSERT_EQ(plan.zero_pivot(), std::nullopt);
          // Three solves meet in an unknown: its own, the border's, and with that the corner's.
          ASSERT_LE(ring_error(A, b.host(), x.host()), 3 * backward_bound<T>())
              << rows << " rows, batch " << batch << ", " << diagonals << " diagonals, method "
              << banded_method_names[static_cast<std::size_t>(method)];
          ASSERT_EQ(contents(x), contents(in_place));
          std::vector<bool> used(static_cast<std::size_t>(l.extent()));
          for (std::int64_t j = 0; j < l.batch; ++j)
            for (std::int64_t i = 0; i < l.rows; ++i) used[place(l, i, j)] = true;
          for (std::size_t at = 0; at < used.size(); ++at)
            if (!used[at]) {
              ASSERT_EQ(x.host()[at], kept);
            }
        }
  });
}

/// Without corners a ring is the open system.
TEST_P(PeriodicSolves, agree_with_open_ones_where_corners_are_zero) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const int diagonals : {3, 5}) {
      const BandLayout l = BandLayout::interleaved(50, 20);
      auto A = random_banded<T>(4, l, diagonals, Kind::dominant);
      for (int k = -diagonals / 2; k <= diagonals / 2; ++k)
        for (std::int64_t j = 0; j < l.batch; ++j)
          for (std::int64_t i = 0; i < l.rows; ++i)
            if (i + k < 0 || i + k >= l.rows) A.band(k).edit()[place(l, i, j)] = T(0);
      const Array<T> b(random_rhs<T>(9, l, T(0)));
      Array<T> x(l.extent());
      PeriodicBandedPlan<T>(ctx, A).solve(ctx, b, x);
      EXPECT_LE(backward_error(A, b.host(), x.host()), 3 * backward_bound<T>());
    }
  });
}

TEST_P(PeriodicSolves, follow_new_values_and_can_be_captured_skipped_and_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const int diagonals : {3, 5}) {
      const BandLayout l = BandLayout::strided(60, 30);
      auto A = random_ring<T>(4, l, diagonals);
      const auto B = random_ring<T>(5, l, diagonals);
      const Array<T> b(random_rhs<T>(9, l, T(0))), zeros(std::vector<T>(static_cast<std::size_t>(l.extent())));
      Array<T> x(l.extent()), expected(l.extent());
      PeriodicBandedPlan<T> plan(ctx, A);
      for (int k = -diagonals / 2; k <= diagonals / 2; ++k) A.band(k) = B.band(k).clone();
      replay(ctx, [&] { plan.update(ctx), plan.solve(ctx, b, x); });
      PeriodicBandedPlan<T>(ctx, B).solve(ctx, b, expected);
      EXPECT_EQ(contents(x), contents(expected));
      run_skipped(ctx, [&] { plan.solve(ctx, zeros, x); });
      EXPECT_EQ(contents(x), contents(expected));
    }
  });
}

/// In one system an unknown of the border has no entry, in another one of the others; its neighbors are unharmed.
TEST_P(PeriodicSolves, name_zero_pivots) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const int diagonals : {3, 5})
      for (const auto& [system, empty] : {std::pair{3, 39}, std::pair{2, 7}}) {
        const BandLayout l = BandLayout::interleaved(40, 6);
        const auto A = random_ring<T>(4, l, diagonals);
        auto spoilt = random_ring<T>(4, l, diagonals);
        for (int k = -diagonals / 2; k <= diagonals / 2; ++k)
          spoilt.band(k).edit()[place(l, (empty - k + l.rows) % l.rows, system)] = T(0);
        const Array<T> b(random_rhs<T>(9, l, T(0)));
        Array<T> x(l.extent()), expected(l.extent());
        PeriodicBandedPlan<T> plan(ctx, spoilt);
        EXPECT_EQ(plan.zero_pivot(), (BandedZeroPivot{system, empty}));
        plan.solve(ctx, b, x);
        PeriodicBandedPlan<T>(ctx, A).solve(ctx, b, expected);
        for (std::int64_t j = 0; j < l.batch; ++j)
          for (std::int64_t i = 0; i < l.rows && j != system; ++i)
            ASSERT_EQ(x.host()[place(l, i, j)], expected.host()[place(l, i, j)]);
      }
  });
}

TEST_P(PeriodicSolves, refuse_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Banded<T> short_ring(BandLayout::single(4), 5), A = random_ring<T>(1, BandLayout::single(9), 3);
    EXPECT_EQ(complaint<InvalidArgument>([&] { PeriodicBandedPlan<T>(ctx, short_ring); }),
              "periodic banded plan: 4 rows with 5 diagonals, at least as many are needed");
    PeriodicBandedPlan<T> plan(ctx, A);
    Array<T> x(9), longer(10);
    EXPECT_THROW(plan.solve(ctx, longer, x), ShapeMismatch);
    EXPECT_THROW(plan.solve(ctx, x, longer), ShapeMismatch);
  });
}

INSTANTIATE_TEST_SUITE_P(, PeriodicSolves, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
