#include "sparse/parallel/distributed.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "sparse/convert/to_format.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/vector/vector.hpp"
#include "tests/parallel/shapes.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/thread_team.hpp"

namespace krill::test {
namespace {

/// A x with one rank.
template <class T>
std::vector<T> alone(const Csr<T>& A, const std::vector<T>& x) {
  Context ctx = Context::host(1);
  Array<T> y(A.rows());
  spmv(ctx, Op::none, T(1), A, Array<T>(x), T(0), y);
  return contents(y);
}

/// One thread on the host, for there are as many ranks.
Context rank_context(Backend backend) { return backend == Backend::cuda ? Context::cuda() : Context::host(1); }

/// A x of a team, gathered; the same on all ranks.
template <class T>
std::vector<T> shared(Backend backend, const Csr<T>& A, const RowPartition& rows, const std::vector<T>& x,
                      Format format = Format::csr) {
  std::vector<std::vector<T>> found(static_cast<std::size_t>(rows.ranks()));
  run_team(rows.ranks(), [&](Team& team) {
    Context ctx = rank_context(backend);
    const int me = team.rank();
    const Distributed<T> mine(ctx, team, rows, slice_rows(A, rows.begin(me), rows.end(me)), format);
    Array<T> own(std::vector<T>(x.begin() + rows.begin(me), x.begin() + rows.end(me))), y(mine.rows());
    for (int round = 0; round < 2; ++round) mine.apply(ctx, own, y);
    found[static_cast<std::size_t>(me)] = gather_rows<T>(team, rows, y.host());
  });
  for (const auto& each : found) EXPECT_EQ(each, found[0]);
  return found[0];
}

/// Each row within what rounding of its sum, in whatever order, allows.
template <class T>
void expect_product(const Csr<T>& A, const std::vector<T>& x, const std::vector<T>& found, const std::string& what) {
  const std::vector<T> expected = alone(A, x);
  ASSERT_EQ(found.size(), expected.size()) << what;
  const auto offsets = A.row_offsets().host();
  for (std::size_t i = 0; i < found.size(); ++i) {
    double size = 0;
    for (auto k = static_cast<std::size_t>(offsets[i]); k < static_cast<std::size_t>(offsets[i + 1]); ++k)
      size += std::abs(A.values().host()[k]) * std::abs(x[static_cast<std::size_t>(A.col_indices().host()[k])]);
    const double terms = 4.0 * (offsets[i + 1] - offsets[i] + 1);  // 4: products of complex numbers
    EXPECT_LE(std::abs(found[i] - expected[i]), terms * std::numeric_limits<real_t<T>>::epsilon() * size)
        << what << ", row " << i;
  }
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
      std::vector<std::int64_t> own(static_cast<std::size_t>(halo.own())), packed, ghosts(halo.ghosts().size(), -1);
      std::iota(own.begin(), own.end(), rows.begin(me));
      for (const std::int32_t row : halo.packed_rows()) packed.push_back(own[static_cast<std::size_t>(row)]);
      const auto [out, in] = halo.messages(own.data(), packed.data(), ghosts.data());
      team.start(out, in);
      team.finish();
      EXPECT_TRUE(std::ranges::equal(ghosts, halo.ghosts()));
      for (const std::int64_t row : halo.ghosts()) EXPECT_EQ(ghosts[static_cast<std::size_t>(halo.ghost(row))], row);
      std::vector<std::int64_t> whole(ghosts.begin(), ghosts.begin() + halo.low());
      whole.insert(whole.end(), own.begin(), own.end());
      whole.insert(whole.end(), ghosts.begin() + halo.low(), ghosts.end());
      EXPECT_TRUE(std::ranges::is_sorted(whole));
      for (const std::int64_t row : whole) EXPECT_EQ(whole[static_cast<std::size_t>(halo.place(row))], row);
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
    EXPECT_FALSE(mine.halo().packs()) << "the messages leave as they lie";
    EXPECT_EQ(std::get<Dia<double>>(mine.block()).diagonals(), 5) << "the diagonals are the old ones";
  });
}

/// What is told without ranks is what they have.
TEST(SharedMatrices, have_the_parts_that_are_foreseen) {
  for (const Csr<double>& A : {random_dominant<double>(61, 157, 5), random_dominant<double>(62, 5, 2)})
    for (const int ranks : {1, 2, 4, 7}) {
      const RowPartition rows = even(A.rows(), ranks);
      const std::vector<SharedPart> foreseen = shared_parts(A, rows);
      run_team(ranks, [&](Team& team) {
        Context ctx = Context::host(1);
        const int me = team.rank();
        const Distributed<double> mine(ctx, team, rows, slice_rows(A, rows.begin(me), rows.end(me)));
        EXPECT_EQ(mine.part(), foreseen[static_cast<std::size_t>(me)]) << me << " of " << ranks;
      });
    }
}

using SharedProducts = OnBackendAndScalar;

TEST_P(SharedProducts, are_those_of_one_process_in_odd_shapes) {
  with_scalar([&]<class T>(T) {
    const Backend backend = std::get<0>(GetParam());
    const std::vector<Csr<T>> matrices = odd_shapes<T>();
    for (std::size_t k = 0; k < matrices.size(); ++k) {
      const Csr<T>& A = matrices[k];
      const std::vector<T> x = random_vector<T>(23 + k, A.rows());
      for (const int ranks : {1, 2, 3, 4})
        expect_product(A, x, shared(backend, A, even(A.rows(), ranks), x),
                       "matrix " + std::to_string(k) + ", " + std::to_string(ranks) + " ranks");
    }
    const Csr<T>& A = matrices[0];
    const std::vector<T> x = random_vector<T>(24, A.rows());
    expect_product(A, x, shared(backend, A, RowPartition({0, 0, 60, 60, 101, 101}), x), "ranks without rows");
  });
}

TEST_P(SharedProducts, are_those_of_one_process_in_every_format) {
  with_scalar([&]<class T>(T) {
    const Backend backend = std::get<0>(GetParam());
    const Csr<T> A = poisson2d<T>(9);
    const std::vector<T> x = random_vector<T>(31, A.rows());
    for (const Format format : {Format::automatic, Format::csr, Format::coo, Format::coo_aos, Format::csc, Format::bsr,
                                Format::bsrx, Format::gebsr, Format::gebsc, Format::ell, Format::sell, Format::hll,
                                Format::hyb, Format::dia, Format::hdia, Format::blocked_ell})
      for (const int ranks : {1, 2, 3, 4})
        expect_product(A, x, shared(backend, A, even(A.rows(), ranks), x, format),
                       "format " + std::to_string(static_cast<int>(format)));
  });
}

/// Dots of y with x, with another vector, and with itself, alone and in pairs; the same bits on all ranks.
TEST_P(SharedProducts, have_the_dots_of_all_rows) {
  with_scalar([&]<class T>(T) {
    using W = wide_t<T>;
    const Csr<T> A = random_dominant<T>(41, 211, 7);
    const std::vector<T> x = random_vector<T>(42, A.rows()), z = random_vector<T>(43, A.rows());
    const std::vector<T> y = alone(A, x);
    const auto exact = [&](const std::vector<T>& with) {
      W sum(0);
      for (std::size_t i = 0; i < y.size(); ++i) {
        if constexpr (is_complex<T>)
          sum += std::conj(W(with[i])) * W(y[i]);
        else
          sum += W(with[i]) * W(y[i]);
      }
      return sum;
    };
    const W with_x = exact(x), with_z = exact(z), with_y = exact(y);
    double size = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      size += std::abs(y[i]) * (std::abs(x[i]) + std::abs(z[i]) + std::abs(y[i]));
    const double allowed = 40 * std::numeric_limits<real_t<T>>::epsilon() * size;
    for (const int ranks : {1, 2, 4}) {
      const RowPartition rows = even(A.rows(), ranks);
      std::vector<std::vector<W>> found(static_cast<std::size_t>(ranks));
      run_team(ranks, [&](Team& team) {
        Context ctx = rank_context(std::get<0>(GetParam()));
        const int me = team.rank();
        const Distributed<T> mine(ctx, team, rows, slice_rows(A, rows.begin(me), rows.end(me)));
        const auto own = [&](const std::vector<T>& all) {
          return Array<T>(std::vector<T>(all.begin() + rows.begin(me), all.begin() + rows.end(me)));
        };
        const Array<T> own_x = own(x), own_z = own(z);
        Array<T> own_y(mine.rows());
        Array<W> first(1), second(1);
        std::vector<W>& sums = found[static_cast<std::size_t>(me)];
        mine.apply(ctx, own_x, own_y, {&own_x, &first});
        sums.push_back(first.host()[0]);
        mine.apply(ctx, own_x, own_y, {&own_x, &first, &own_z, &second});
        sums.insert(sums.end(), {first.host()[0], second.host()[0]});
        mine.apply(ctx, own_x, own_y, {&own_z, &first, &own_y, &second});
        sums.insert(sums.end(), {first.host()[0], second.host()[0]});
        mine.apply(ctx, own_x, own_y, {.with_second = &own_z, .second = &second});
        sums.push_back(second.host()[0]);
      });
      const std::vector<W> expected{with_x, with_x, with_z, with_z, with_y, with_z};
      for (const auto& sums : found) {
        EXPECT_EQ(sums, found[0]);
        for (std::size_t k = 0; k < expected.size(); ++k)
          EXPECT_LE(std::abs(sums[k] - expected[k]), allowed) << "dot " << k << ", " << ranks << " ranks";
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, SharedProducts, backends_and_scalars, param_name);

using SharedSums = OnBackend;

/// Sums of vectors are those of all ranks within a scope, and this rank's without.
TEST_P(SharedSums, are_those_of_all_ranks_within_a_scope) {
  const std::vector<double> x = random_vector<double>(51, 10'000);
  const RowPartition rows({0, 4'000, 4'000, 10'000});
  std::vector<double> whole(3), parts(3);
  run_team(3, [&](Team& team) {
    Context ctx = rank_context(GetParam());
    const auto me = static_cast<std::size_t>(team.rank());
    const Array<double> own(
        std::vector<double>(x.begin() + rows.begin(team.rank()), x.begin() + rows.end(team.rank())));
    Array<double> sum(1);
    norm2(ctx, own, sum);
    parts[me] = sum.host()[0];
    const Context::TeamScope over(ctx, &team);
    norm2(ctx, own, sum);
    whole[me] = sum.host()[0];
  });
  EXPECT_EQ(whole[0], whole[1]);
  EXPECT_EQ(whole[0], whole[2]);
  EXPECT_EQ(parts[1], 0);
  EXPECT_NEAR(whole[0], std::hypot(parts[0], parts[2]), 1e-13 * whole[0]);
  EXPECT_GT(whole[0], parts[2]);
}

INSTANTIATE_TEST_SUITE_P(, SharedSums, backends, param_name);

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
