#include "sparse/parallel/distributed.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "sparse/convert/to_format.hpp"
#include "sparse/io/generate.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"
#include "tests/support/thread_team.hpp"

namespace krill::test {
namespace {

/// n rows in about equal numbers; ranks beyond n have none.
RowPartition even(std::int64_t n, int ranks) {
  std::vector<std::int64_t> offsets;
  for (int r = 0; r <= ranks; ++r) offsets.push_back(n * r / ranks);
  return RowPartition(std::move(offsets));
}

template <class T>
Csr<T> from_dense(std::int32_t n, auto&& is_entry) {
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j)
      if (is_entry(i, j)) columns.push_back(j), values.push_back(T(1.0f + 0.25f * float(i) - 0.5f * float(j)));
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  return Csr<T>(n, Array(std::move(offsets)), Array(std::move(columns)), Array<T>(std::move(values)));
}

/// A x with one rank.
template <class T>
std::vector<T> alone(const Csr<T>& A, const std::vector<T>& x) {
  Context ctx = Context::host(1);
  Array<T> y(A.rows());
  spmv(ctx, Op::none, T(1), A, Array<T>(x), T(0), y);
  return contents(y);
}

/// A x of a team, gathered; the same on all ranks.
template <class T>
std::vector<T> shared(const Csr<T>& A, const RowPartition& rows, const std::vector<T>& x, Format format = Format::csr) {
  std::vector<std::vector<T>> found(static_cast<std::size_t>(rows.ranks()));
  run_team(rows.ranks(), [&](Team& team) {
    Context ctx = Context::host(1);
    const int me = team.rank();
    const Distributed<T> mine(ctx, team, rows, slice_rows(A, rows.begin(me), rows.end(me)), format);
    Array<T> own(std::vector<T>(x.begin() + rows.begin(me), x.begin() + rows.end(me))), y(mine.rows());
    for (int round = 0; round < 2; ++round) mine.apply(ctx, own, y);
    found[static_cast<std::size_t>(me)] = gather_rows<T>(team, rows, y.host());
  });
  for (const auto& each : found) EXPECT_EQ(each, found[0]);
  return found[0];
}

TEST(Halos, leave_in_every_ghost_the_number_of_its_row) {
  const Csr<double> A = random_dominant<double>(11, 203, 7);
  for (const int ranks : {1, 2, 3, 4, 16}) {
    const RowPartition rows = even(A.rows(), ranks);
    run_team(ranks, [&](Team& team) {
      Context ctx = Context::host(1);
      const int me = team.rank();
      const Distributed<double> mine(ctx, team, rows, slice_rows(A, rows.begin(me), rows.end(me)));
      const HaloPlan& halo = mine.halo();
      std::vector<std::int64_t> vector(static_cast<std::size_t>(halo.size()), -1),
          packed(static_cast<std::size_t>(halo.sent()));
      std::iota(vector.begin() + halo.low(), vector.begin() + halo.low() + halo.own(), rows.begin(me));
      halo.start(team, vector.data(), packed.data());
      halo.finish(team);
      EXPECT_TRUE(std::ranges::is_sorted(vector));
      for (const std::int64_t row : halo.ghosts()) EXPECT_EQ(vector[static_cast<std::size_t>(halo.place(row))], row);
      for (std::int64_t row = rows.begin(me); row < rows.end(me); ++row)
        EXPECT_EQ(vector[static_cast<std::size_t>(halo.place(row))], row);
    });
  }
}

TEST(Halos, of_a_band_are_runs_of_the_two_neighbors) {
  const Csr<double> A = from_dense<double>(40, [](auto i, auto j) { return std::abs(i - j) <= 2; });
  const RowPartition rows = even(40, 4);
  run_team(4, [&](Team& team) {
    Context ctx = Context::host(1);
    const int me = team.rank();
    const Distributed<double> mine(ctx, team, rows, slice_rows(A, rows.begin(me), rows.end(me)), Format::dia);
    const SharedPart part = mine.part();
    const int sides = me == 0 || me == 3 ? 1 : 2;
    EXPECT_EQ(part.neighbors, sides);
    EXPECT_EQ(part.ghosts, 2 * sides);
    EXPECT_EQ(part.sent, 2 * sides);
    EXPECT_EQ(part.border_rows, 2 * sides);
    EXPECT_EQ(std::get<Dia<double>>(mine.interior()).diagonals(), 5) << "the diagonals are the old ones";
  });
}

using SharedProducts = OnBackendAndScalar;

/// Bit by bit, in odd shapes: rows that no number of ranks divides, more ranks than rows, ranks without rows, without
/// neighbors, a dense row and column across all, empty rows, one row.
TEST_P(SharedProducts, in_csr_have_the_bits_of_one_process) {
  with_scalar([&]<class T>(T) {
    std::vector<Csr<T>> matrices;
    matrices.push_back(random_dominant<T>(21, 101, 6));
    matrices.push_back(random_dominant<T>(22, 3, 2));
    matrices.push_back(from_dense<T>(1, [](auto, auto) { return true; }));
    matrices.push_back(from_dense<T>(30, [](auto i, auto j) { return i == j; }));
    matrices.push_back(from_dense<T>(30, [](auto i, auto j) { return i == j || i == 17 || j == 17; }));
    matrices.push_back(from_dense<T>(30, [](auto i, auto j) { return i % 3 == 0 && j % 7 == 1; }));
    matrices.push_back(from_dense<T>(20, [](auto, auto) { return true; }));
    for (std::size_t k = 0; k < matrices.size(); ++k) {
      const Csr<T>& A = matrices[k];
      const std::vector<T> x = random_vector<T>(23 + k, A.rows()), expected = alone(A, x);
      for (const int ranks : {1, 2, 3, 4})
        EXPECT_EQ(shared(A, even(A.rows(), ranks), x), expected) << "matrix " << k << ", " << ranks << " ranks";
    }
    const Csr<T>& A = matrices[0];
    const std::vector<T> x = random_vector<T>(24, A.rows());
    EXPECT_EQ(shared(A, RowPartition({0, 0, 60, 60, 101, 101}), x), alone(A, x)) << "ranks without rows";
  });
}

TEST_P(SharedProducts, are_those_of_one_process_in_every_format) {
  with_scalar([&]<class T>(T) {
    const Csr<T> A = poisson2d<T>(9);
    const std::vector<T> x = random_vector<T>(31, A.rows()), expected = alone(A, x);
    for (const Format format : {Format::automatic, Format::csr, Format::coo, Format::coo_aos, Format::csc, Format::bsr,
                                Format::bsrx, Format::gebsr, Format::gebsc, Format::ell, Format::sell, Format::hll,
                                Format::hyb, Format::dia, Format::hdia, Format::blocked_ell})
      for (const int ranks : {2, 3}) {
        const std::vector<T> found = shared(A, even(A.rows(), ranks), x, format);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)  // five entries a row of at most 4 |x|
          EXPECT_LE(std::abs(found[i] - expected[i]), 7 * 12 * std::numeric_limits<real_t<T>>::epsilon())
              << "format " << static_cast<int>(format) << ", row " << i;
      }
  });
}

INSTANTIATE_TEST_SUITE_P(, SharedProducts,
                         ::testing::Combine(::testing::Values(Backend::host), ::testing::ValuesIn(scalar_kinds)),
                         param_name);

using SharedOnCuda = OnBackend;

TEST_P(SharedOnCuda, is_refused) {
  const Csr<double> A = poisson2d<double>(4);
  EXPECT_EQ(complaint<InvalidArgument>([&] {
              run_team(1, [&](Team& team) {
                Context ctx = context();
                Distributed<double>(ctx, team, RowPartition({0, 16}), slice_rows(A, 0, 16));
              });
            }),
            "distributed: a team of ranks multiplies on the host as yet: use backend: host");
}

INSTANTIATE_TEST_SUITE_P(, SharedOnCuda, ::testing::Values(Backend::cuda), param_name);

TEST(SharedMatrices, refuse_what_does_not_fit) {
  const Csr<double> A = poisson2d<double>(4);
  const auto refusal = [&](auto&& make) {
    return complaint<Error>([&] {
      run_team(2, [&](Team& team) {
        Context ctx = Context::host(1);
        make(ctx, team);
      });
    });
  };
  EXPECT_EQ(refusal([&](Context& ctx, Team& team) {
              Distributed<double>(ctx, team, RowPartition({0, 8, 16}), slice_rows(A, 0, 7));
            }),
            "distributed: rank 0 brings 7 rows, the partition gives it 8");
  EXPECT_EQ(refusal([&](Context& ctx, Team& team) {
              Distributed<double>(ctx, team, RowPartition({0, 4, 8}), slice_rows(A, 4, 8));
            }),
            "distributed: column 8 lies outside of the square matrix of 8 rows");
  EXPECT_EQ(refusal([&](Context& ctx, Team& team) {
              Distributed<double>(ctx, team, RowPartition({0, 4, 8, 16}), slice_rows(A, 0, 4));
            }),
            "distributed: the partition is for 3 ranks, the team has 2");
}

}  // namespace
}  // namespace krill::test
