#include "sparse/parallel/exchange_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "sparse/convert/convert.hpp"
#include "tests/parallel/shapes.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/thread_team.hpp"

namespace krill::test {
namespace {

/// Column and value of each entry of a row.
template <class T>
std::vector<std::pair<std::int64_t, T>> row_of(const RowSlice<T>& rows, std::int64_t i) {
  std::vector<std::pair<std::int64_t, T>> entries;
  rows.for_entries(i, [&](std::int64_t column, const T& value) { entries.emplace_back(column, value); });
  return entries;
}

using ExchangedRows = OnBackendAndScalar;

/// Of every row that others have: those that own rows have columns of, all, none, and some of them.
TEST_P(ExchangedRows, are_those_of_the_whole_matrix) {
  with_scalar([&]<class T>(T) {
    for (const Csr<T>& A : odd_shapes<T>()) {
      const RowSlice<T> whole = slice_rows(A, 0, A.rows());
      std::vector<RowPartition> partitions{RowPartition({0, 0, A.rows() / 2, A.rows() / 2, A.rows(), A.rows()})};
      for (const int ranks : {1, 2, 3, 8}) partitions.push_back(even(A.rows(), ranks));
      for (const RowPartition& partition : partitions)
        for (const int wish : {0, 1, 2, 3})
          run_team(partition.ranks(), [&](Team& team) {
            Context ctx = Context::host(1);
            const int me = team.rank();
            const RowSlice<T> own = slice_rows(A, partition.begin(me), partition.end(me));
            std::vector<std::int64_t> wanted;
            for (std::int64_t row = 0; row < A.rows() && wish > 0; ++row)
              if (partition.owner(row) != me && (wish == 1 || (row + me) % (wish == 2 ? 5 : 2) == 0))
                wanted.push_back(row);
            if (wish == 0) wanted = ghost_columns(team, partition, own);
            if (wish == 3 && me == 0) wanted.clear();  // one wants none, others want its
            const HaloPlan plan(team, partition, wanted);
            const HeldRows<T> found = import_rows(ctx, team, own, plan);
            ASSERT_EQ(found.rows(), std::ssize(wanted));
            for (std::size_t k = 0; k < wanted.size(); ++k)
              EXPECT_EQ(row_of(found.slice(), static_cast<std::int64_t>(k)), row_of(whole, wanted[k]))
                  << "row " << wanted[k] << " on rank " << me << " of " << team.size();
          });
    }
  });
}

/// What a rank has of A^T from its rows of A goes to the owners: its rows of A^T.
TEST_P(ExchangedRows, of_the_transpose_come_from_those_that_made_them) {
  with_scalar([&]<class T>(T) {
    for (const Csr<T>& A : odd_shapes<T>()) {
      Context host = Context::host(1);
      const Csr<T> transposed = transpose(host, A, Op::adjoint);
      const RowSlice<T> wanted = slice_rows(transposed, 0, A.rows());
      std::vector<RowPartition> partitions{RowPartition({0, 0, A.rows() / 2, A.rows() / 2, A.rows(), A.rows()})};
      for (const int ranks : {1, 2, 3, 8}) partitions.push_back(even(A.rows(), ranks));
      for (const RowPartition& partition : partitions)
        run_team(partition.ranks(), [&](Team& team) {
          Context ctx = Context::host(1);
          const int me = team.rank();
          const RowSlice<T> own = slice_rows(A, partition.begin(me), partition.end(me));
          const HaloPlan plan(team, partition, ghost_columns(team, partition, own));
          HeldRows<T> nothing;
          nothing.offsets.assign(plan.ghosts().size() + 1, 0);
          const AnyMatrix<T> placed = in_places(ctx, own, nothing.slice(), plan);
          const Csr<T> part = transpose(ctx, std::get<Csr<T>>(placed), Op::adjoint);
          const HeldRows<T> found = export_rows(ctx, team, slice_rows(part, 0, part.rows(), &plan), plan);
          ASSERT_EQ(found.rows(), partition.rows(me));
          for (std::int64_t i = 0; i < found.rows(); ++i)
            EXPECT_EQ(row_of(found.slice(), i), row_of(wanted, partition.begin(me) + i))
                << "row " << i << " of rank " << me << " of " << team.size();
        });
    }
  });
}

/// Own rows and ghosts: the rows and columns of the whole matrix that the plan names, in its order.
TEST_P(ExchangedRows, make_the_part_of_the_matrix_around_own_rows) {
  with_scalar([&]<class T>(T) {
    for (const Csr<T>& A : odd_shapes<T>()) {
      const RowSlice<T> whole = slice_rows(A, 0, A.rows());
      for (const int ranks : {1, 2, 3, 8}) {
        const RowPartition partition = even(A.rows(), ranks);
        run_team(ranks, [&](Team& team) {
          Context ctx = Context::host(1);
          const int me = team.rank();
          const RowSlice<T> own = slice_rows(A, partition.begin(me), partition.end(me));
          const HaloPlan plan(team, partition, ghost_columns(team, partition, own));
          const AnyMatrix<T> around = in_places(ctx, own, import_rows(ctx, team, own, plan).slice(), plan);
          const auto& csr = std::get<Csr<T>>(around);
          ASSERT_EQ(csr.rows(), plan.size());
          ASSERT_EQ(csr.cols(), plan.size());
          for (std::int64_t place = 0; place < plan.size(); ++place) {
            std::vector<std::pair<std::int64_t, T>> expected;
            for (const auto& [column, value] : row_of(whole, plan.row_at(place)))
              if (const std::int64_t at = plan.place_or_none(column); at >= 0) expected.emplace_back(at, value);
            EXPECT_EQ(row_of(slice_rows(csr, 0, csr.rows()), place), expected);
          }
        });
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, ExchangedRows,
                         ::testing::Combine(::testing::Values(Backend::host), ::testing::ValuesIn(scalar_kinds)),
                         param_name);

/// Enough rows for threads to share them.
TEST(ExchangedRowsOfOthers, are_the_same_with_several_threads) {
  const Csr<double> A = poisson2d<double>(600);
  const RowPartition partition = even(A.rows(), 2);
  run_team(2, [&](Team& team) {
    const std::int64_t begin = partition.begin(team.rank()), end = partition.end(team.rank());
    const RowSlice<double> own = slice_rows(A, begin, end);
    struct Made {
      std::vector<std::int64_t> ghosts;
      HeldRows<double> imported, exported;
      AnyMatrix<double> block, placed, around;
    };
    const auto make = [&](int threads) {
      Context ctx = Context::host(threads);
      std::vector<std::int64_t> ghosts = ghost_columns(team, partition, own, ctx.host_tag());
      const HaloPlan plan(team, partition, ghosts);
      HeldRows<double> imported = import_rows(ctx, team, own, plan);
      AnyMatrix<double> around = in_places(ctx, own, imported.slice(), plan);
      const auto& part = std::get<Csr<double>>(around);
      HeldRows<double> exported = export_rows(ctx, team, slice_rows(part, 0, part.rows(), &plan), plan);
      return Made{std::move(ghosts),         std::move(imported), std::move(exported), columns_of(ctx, own, begin, end),
                  in_places(ctx, own, plan), std::move(around)};
    };
    const Made one = make(1), several = make(3);
    EXPECT_EQ(one.ghosts, several.ghosts);
    const auto expect_same = [](const HeldRows<double>& a, const HeldRows<double>& b) {
      EXPECT_EQ(a.offsets, b.offsets);
      EXPECT_EQ(a.columns, b.columns);
      EXPECT_EQ(a.values, b.values);
    };
    expect_same(one.imported, several.imported);
    expect_same(one.exported, several.exported);
    for (const auto which : {&Made::block, &Made::placed, &Made::around}) {
      const auto &a = std::get<Csr<double>>(one.*which), &b = std::get<Csr<double>>(several.*which);
      EXPECT_TRUE(std::ranges::equal(a.row_offsets().host(), b.row_offsets().host()));
      EXPECT_TRUE(std::ranges::equal(a.col_indices().host(), b.col_indices().host()));
      EXPECT_TRUE(std::ranges::equal(a.values().host(), b.values().host()));
    }
  });
}

TEST(ExchangedRowsOfOthers, are_refused_where_they_do_not_fit) {
  const Csr<double> A = poisson2d<double>(4);
  const RowPartition partition({0, 8, 16});
  const auto refusal = [&](auto&& make) {
    return complaint<Error>([&] {
      run_team(2, [&](Team& team) {
        Context ctx = Context::host(1);
        const int me = team.rank();
        const RowSlice<double> own = slice_rows(A, partition.begin(me), partition.end(me));
        make(ctx, team, own, HaloPlan(team, partition, {me == 0 ? 8 : 7}));
      });
    });
  };
  EXPECT_EQ(refusal([&](Context& ctx, Team& team, const auto&, const HaloPlan& plan) {
              import_rows(ctx, team, slice_rows(A, 0, 7), plan);
            }),
            "import_rows: rows of this rank has 7 entries, 8 are needed");
  EXPECT_EQ(refusal([&](Context& ctx, Team& team, const auto& own, const HaloPlan& plan) {
              export_rows(ctx, team, own, plan);
            }),
            "export_rows: rows of this rank and of its ghosts has 8 entries, 9 are needed");
  EXPECT_EQ(refusal([&](Context& ctx, Team&, const auto& own, const HaloPlan& plan) { in_places(ctx, own, plan); }),
            "halo: row 9 is neither this rank's nor one of its ghosts");
  EXPECT_EQ(
      refusal([&](Context& ctx, Team&, const auto& own, const HaloPlan& plan) { in_places(ctx, own, own, plan); }),
      "in places: rows of ghosts has 8 entries, 1 are needed");
}

}  // namespace
}  // namespace krill::test
