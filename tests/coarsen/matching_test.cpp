#include "sparse/coarsen/matching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sparse/coarsen/contract.hpp"
#include "tests/coarsen/aggregates.hpp"
#include "tests/coarsen/planned.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using Matching = OnBackendAndScalar;

/// A matrix from its entries, several of one place added up.
template <class T, class Offset = std::int32_t>
Csr<T, Offset> from_entries(std::int32_t n, const std::map<std::pair<std::int32_t, std::int32_t>, T>& entries) {
  std::vector<Offset> offsets(static_cast<std::size_t>(n) + 1);
  std::vector<std::int32_t> columns;
  std::vector<T> values;
  for (const auto& [place, value] : entries) {
    ++offsets[static_cast<std::size_t>(place.first) + 1];
    columns.push_back(place.second), values.push_back(value);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) offsets[i + 1] += offsets[i];
  return {n, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

/// The 7-point matrix on nx x ny x nz points, which stand where `place` puts them; couplings along each axis.
template <class T, class Offset = std::int32_t>
Csr<T, Offset> grid(std::array<std::int32_t, 3> n, const std::vector<std::int32_t>& place,
                    std::array<double, 3> coupling = {1, 1, 1}) {
  const std::int32_t rows = n[0] * n[1] * n[2];
  std::map<std::pair<std::int32_t, std::int32_t>, T> entries;
  const auto at = [&](std::int32_t i) { return place.empty() ? i : place[static_cast<std::size_t>(i)]; };
  const std::array strides{1, n[0], n[0] * n[1]};
  for (std::int32_t i = 0; i < rows; ++i) {
    const std::array p{i % n[0], i / n[0] % n[1], i / strides[2]};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const T value(static_cast<real_t<T>>(coupling[axis]));
      entries[{at(i), at(i)}] += value + value;
      if (p[axis] + 1 == n[axis]) continue;
      const std::int32_t j = i + strides[axis];
      entries[{at(i), at(j)}] = entries[{at(j), at(i)}] = -value;
    }
  }
  return from_entries<T, Offset>(rows, entries);
}

/// Each row in at most one aggregate, numbered by least rows, whose rows ascend.
void expect_listed(const Aggregates& made, std::int32_t rows) {
  ASSERT_EQ(made.of_row.size(), rows);
  ASSERT_EQ(made.offsets.size(), made.count + 1);
  const auto of_row = made.of_row.host(), offsets = made.offsets.host(), listed = made.rows.host();
  ASSERT_EQ(offsets[0], 0);
  ASSERT_EQ(made.rows.size(), std::count_if(of_row.begin(), of_row.end(), [](std::int32_t a) { return a >= 0; }));
  ASSERT_EQ(offsets.back(), made.rows.size());
  std::int32_t last_least = -1;
  for (std::size_t a = 0; a < static_cast<std::size_t>(made.count); ++a) {
    ASSERT_LT(offsets[a], offsets[a + 1]);
    for (auto t = static_cast<std::size_t>(offsets[a]); t < static_cast<std::size_t>(offsets[a + 1]); ++t) {
      ASSERT_EQ(of_row[static_cast<std::size_t>(listed[t])], static_cast<std::int32_t>(a));
      ASSERT_TRUE(t == static_cast<std::size_t>(offsets[a]) || listed[t - 1] < listed[t]);
    }
    ASSERT_LT(last_least, listed[static_cast<std::size_t>(offsets[a])]);
    last_least = listed[static_cast<std::size_t>(offsets[a])];
  }
}

std::int32_t size_of_largest(const Aggregates& made) {
  std::int32_t most = 0;
  for (std::size_t a = 0; a < static_cast<std::size_t>(made.count); ++a)
    most = std::max(most, made.offsets.host()[a + 1] - made.offsets.host()[a]);
  return most;
}

/// Pairs along x, then y, then z; 64-bit offsets, too. Coarser grids the same way, as far as they are even.
TEST_P(Matching, makes_boxes_of_grids_in_natural_order) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    std::array n{16, 8, 4};
    Csr<T, std::int64_t> A = grid<T, std::int64_t>(n, {});
    for (int level = 0; level < 2; ++level) {
      for (int passes = 1; passes <= 3; ++passes) {
        const Aggregates made = aggregate_matching(ctx, A, passes, {});
        ASSERT_NO_FATAL_FAILURE(expect_listed(made, A.rows()));
        const std::array box{2, passes > 1 ? 2 : 1, passes > 2 ? 2 : 1};
        for (std::int32_t i = 0; i < A.rows(); ++i) {
          const std::int32_t x = i % n[0] / box[0], y = i / n[0] % n[1] / box[1], z = i / (n[0] * n[1]) / box[2];
          ASSERT_EQ(made.of_row.host()[static_cast<std::size_t>(i)], x + n[0] / box[0] * (y + n[1] / box[1] * z))
              << "row " << i << ", " << passes << " passes, level " << level;
        }
      }
      const Aggregates made = aggregate_matching(ctx, A, 3, {});
      ContractionPlan<T, std::int64_t> plan(ctx, A, made);
      plan.update(ctx, A, made);
      A = std::move(plan).release();
      for (auto& extent : n) extent /= 2;
    }
  });
}

/// Numbered backwards, and in no order: all rows are taken, by aggregates of no more than 8 but for rows that join.
TEST_P(Matching, takes_all_rows_of_grids_in_any_order) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t rows = 16 * 12 * 10;
    std::vector<std::int32_t> backwards(static_cast<std::size_t>(rows));
    for (std::int32_t i = 0; i < rows; ++i) backwards[static_cast<std::size_t>(i)] = rows - 1 - i;
    const Aggregates turned = aggregate_matching(ctx, grid<T>({16, 12, 10}, backwards), 3, {});
    ASSERT_NO_FATAL_FAILURE(expect_listed(turned, rows));
    EXPECT_EQ(turned.count, rows / 8);
    EXPECT_EQ(size_of_largest(turned), 8);
    for (const auto& order : {shuffled(3, rows), shuffled(4, rows)}) {
      const Aggregates made = aggregate_matching(ctx, grid<T>({16, 12, 10}, order), 3, {});
      ASSERT_NO_FATAL_FAILURE(expect_listed(made, rows));
      EXPECT_EQ(made.rows.size(), rows);
      EXPECT_LE(made.count, rows / 4);
      EXPECT_GE(made.count, rows / 16);
    }
  });
}

/// Across weak couplings there is no pair: aggregates lie in lines, of 2^passes rows.
TEST_P(Matching, pairs_along_strong_connections_alone) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const StrengthMeasure measure : {StrengthMeasure::relative, StrengthMeasure::diagonal}) {
      const Aggregates made = aggregate_matching(ctx, grid<T>({4, 32, 4}, {}, {1e-3, 1, 1e-3}), 3, {measure, 0.2});
      ASSERT_NO_FATAL_FAILURE(expect_listed(made, 512));
      EXPECT_EQ(made.count, 64);
      for (std::int32_t i = 0; i < 512; ++i) {
        const std::int32_t x = i % 4, y = i / 4 % 32, z = i / 128;
        const std::int32_t first = made.rows.host()[static_cast<std::size_t>(
            made.offsets.host()[static_cast<std::size_t>(made.of_row.host()[static_cast<std::size_t>(i)])])];
        ASSERT_EQ(first, x + 4 * (y / 8 * 8 + 32 * z)) << "row " << i;
      }
    }
  });
}

/// The same on the host with one thread, and in a second run; random patterns, symmetric and not.
TEST_P(Matching, hangs_on_nothing_but_the_matrix) {
  with_scalar([&]<class T>(T) {
    Context ctx = context(), host = Context::host(1);
    const auto expect_same = [&](const Csr<T>& A, const std::string& what) {
      const Aggregates made = aggregate_matching(ctx, A, 3, {}), again = aggregate_matching(ctx, A, 3, {}),
                       there = aggregate_matching(host, A, 3, {});
      ASSERT_NO_FATAL_FAILURE(expect_listed(made, A.rows())) << what;
      EXPECT_EQ(contents(made.of_row), contents(again.of_row)) << what;
      EXPECT_EQ(contents(made.of_row), contents(there.of_row)) << what;
      EXPECT_EQ(contents(made.rows), contents(there.rows)) << what;
    };
    for (const std::int32_t length : {4, 30}) {
      expect_same(random_hpd<T>(5, 600, length), "hpd");
      expect_same(random_dominant<T>(5, 600, length), "nonsymmetric");
    }
    expect_same(grid<T>({9, 7, 5}, shuffled(3, 315)), "grid");
    for (const Shape& shape : square_shapes())
      if (shape.rows <= 1000) expect_same(random_csr<T>(3, shape), shape.name);
  });
}

/// Convection against the order of rows: entries of one side are far smaller, the pairs are those of (A + A^H) / 2.
TEST_P(Matching, pairs_rows_of_nonsymmetric_matrices) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    std::map<std::pair<std::int32_t, std::int32_t>, T> entries;
    for (std::int32_t i = 0; i < 64; ++i) {
      entries[{i, i}] = T(10);
      if (i + 1 < 64) entries[{i + 1, i}] = T(-9);
      if (i + 1 < 64 && i % 3 != 0) entries[{i, i + 1}] = T(-1);  // the pattern is not symmetric, either
    }
    const Aggregates made = aggregate_matching(ctx, from_entries(64, entries), 2, {});
    ASSERT_NO_FATAL_FAILURE(expect_listed(made, 64));
    EXPECT_EQ(made.rows.size(), 64);
    EXPECT_LE(size_of_largest(made), 8);
    EXPECT_LE(made.count, 24);
  });
}

/// Where aggregates are known: parts of some rows, rows of their own, signs of couplings, one row coupled to all.
TEST_P(Matching, takes_odd_matrices) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    using Entries = std::map<std::pair<std::int32_t, std::int32_t>, T>;
    const auto expect = [&](std::int32_t n, const Entries& entries, int passes, std::vector<std::int32_t> of_row,
                            const std::string& what) {
      const Aggregates made = aggregate_matching(ctx, from_entries(n, entries), passes, {});
      ASSERT_NO_FATAL_FAILURE(expect_listed(made, n)) << what;
      EXPECT_EQ(contents(made.of_row), of_row) << what;
    };
    expect(0, {}, 3, {}, "no rows");
    expect(1, {{{0, 0}, T(2)}}, 3, {-1}, "one row");
    expect(3, {{{0, 0}, T(2)}, {{2, 2}, T(1)}}, 3, {-1, -1, -1}, "diagonal, one row of nothing");
    const auto couple = [](Entries& entries, std::int32_t i, std::int32_t j, T value) {
      entries[{i, j}] = entries[{j, i}] = value;
      entries[{i, i}] += T(4), entries[{j, j}] += T(4);
    };
    Entries parts;
    couple(parts, 0, 5, T(-1));                              // a part of two
    couple(parts, 1, 2, T(-1)), couple(parts, 2, 3, T(-1));  // of three: a row joins
    parts[{4, 4}] = T(1);                                    // of one
    couple(parts, 6, 7, T(0));                               // stored zeros
    couple(parts, 8, 9, T(1));                               // the diagonal's sign
    expect(10, parts, 3, {0, 1, 1, 1, -1, 0, -1, -1, -1, -1}, "parts");
    Entries negative;
    couple(negative, 0, 1, T(1)), couple(negative, 1, 2, T(1)), couple(negative, 2, 3, T(1));
    for (std::int32_t i = 0; i < 4; ++i) negative[{i, i}] = T(-8);
    expect(4, negative, 1, {0, 0, 1, 1}, "negative");
    Entries without_diagonal;
    for (std::int32_t i = 0; i < 3; ++i) without_diagonal[{i, i + 1}] = without_diagonal[{i + 1, i}] = T(-1);
    expect(4, without_diagonal, 1, {0, 0, 1, 1}, "no diagonal");
    Entries star;
    for (std::int32_t i = 0; i < 900; ++i)
      if (i != 600) couple(star, 600, i, T(-1));
    expect(900, star, 1, std::vector<std::int32_t>(900, 0), "star");
    Entries huge, tiny;
    const double scale = std::is_same_v<real_t<T>, float> ? 1e30 : 1e300;
    for (std::int32_t i = 0; i < 8; ++i) {
      huge[{i, i}] = T(static_cast<real_t<T>>(2 * scale)), tiny[{i, i}] = T(static_cast<real_t<T>>(2 / scale));
      if (i == 7) continue;
      huge[{i, i + 1}] = huge[{i + 1, i}] = T(static_cast<real_t<T>>(-scale));
      tiny[{i, i + 1}] = tiny[{i + 1, i}] = T(static_cast<real_t<T>>(-1 / scale));
    }
    expect(8, huge, 2, {0, 0, 0, 0, 1, 1, 1, 1}, "huge");
    expect(8, tiny, 2, {0, 0, 0, 0, 1, 1, 1, 1}, "tiny");
  });
}

TEST_P(Matching, takes_the_memory_that_is_planned) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    constexpr std::size_t workspace = std::size_t{1} << 22;  // more than is asked for
    const Csr<T> A = grid<T>({32, 32, 16}, {});
    for (const int passes : {1, 3})
      expect_planned(
          ctx, [&] { return aggregate_matching(ctx, A, passes, {}); },
          [&](MemoryLedger& ledger, const auto&) { return matching_memory(ledger, CsrSizes::of(A), passes); },
          workspace);
    const Aggregates boxes = aggregate_matching(ctx, A, 3, {});
    expect_planned(
        ctx, [&] { return ContractionPlan<T>(ctx, A, boxes); },
        [&](MemoryLedger& ledger, const auto& made) {
          return contraction_memory(ledger, CsrSizes::of(A), CsrSizes::of(made.matrix()));
        },
        workspace);
  });
}

TEST_P(Matching, refuses_what_it_cannot_match) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A = random_hpd<T>(3, 40, 4);
    EXPECT_THROW(aggregate_matching(ctx, A, 0, {}), InvalidArgument);
    EXPECT_THROW(aggregate_matching(ctx, A, 1, {StrengthMeasure::relative, -1}), InvalidArgument);
    EXPECT_THROW(aggregate_matching(ctx, A, 1, {StrengthMeasure::relative, std::nan("")}), InvalidArgument);
    const Csr<T> wide = random_csr<T>(3, {"wide", 30, 31, [](std::int32_t, std::mt19937_64&) { return 2; }});
    EXPECT_THROW(aggregate_matching(ctx, wide, 1, {}), ShapeMismatch);
    const auto at = static_cast<std::size_t>(A.row_offsets().host()[17]);
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      A.values().edit()[at] = T(static_cast<real_t<T>>(bad));
      EXPECT_NE(complaint<InvalidArgument>([&] { aggregate_matching(ctx, A, 1, {}); }).find("row 17"),
                std::string::npos);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Matching, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
