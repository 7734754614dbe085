#include "sparse/convert/sort.hpp"

#include <algorithm>
#include <numeric>

#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Sort = OnBackend;
using SortValues = OnBackendAndScalar;
using Ints = std::vector<std::int32_t>;

template <class T>
std::vector<T> gathered(const std::vector<T>& values, const auto& order) {
  std::vector<T> result;
  result.reserve(order.size());
  for (const auto k : order) result.push_back(values[static_cast<std::size_t>(k)]);
  return result;
}

Ints random_indices(std::uint64_t seed, std::int64_t n, std::int64_t low, std::int64_t high) {
  std::mt19937_64 engine(seed);
  std::uniform_int_distribution<std::int64_t> uniform(low, high);
  Ints indices;
  for (std::int64_t k = 0; k < n; ++k) indices.push_back(static_cast<std::int32_t>(uniform(engine)));
  return indices;
}

constexpr std::int64_t int_min = std::numeric_limits<std::int32_t>::min(),
                       int_max = std::numeric_limits<std::int32_t>::max();

/// 0 to n - 1 in the stable order of (major, minor).
std::vector<std::int64_t> stable_order(const Ints& major, const Ints& minor) {
  std::vector<std::int64_t> order(major.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, {}, [&](std::int64_t k) {
    return std::pair(major[static_cast<std::size_t>(k)], minor[static_cast<std::size_t>(k)]);
  });
  return order;
}

template <class Index>
void check_pairs(Context& ctx, const Ints& rows, const Ints& cols, IndexRange row_range, IndexRange col_range,
                 const std::string& what) {
  std::vector<Index> held(rows.size());  // no identity: whatever it is, it goes along
  std::iota(held.rbegin(), held.rend(), Index{7});
  for (const bool by_row : {true, false}) {
    Array<std::int32_t> r(rows), c(cols);
    Array<Index> p(held);
    if (by_row)
      sort_by_row(ctx, r, c, p, row_range, col_range);
    else
      sort_by_column(ctx, r, c, p, row_range, col_range);
    const auto order = by_row ? stable_order(rows, cols) : stable_order(cols, rows);
    EXPECT_EQ(contents(r), gathered(rows, order)) << what;
    EXPECT_EQ(contents(c), gathered(cols, order)) << what;
    EXPECT_EQ(contents(p), gathered(held, order)) << what;
  }
}

TEST_P(Sort, the_identity_counts_from_zero) {
  Context ctx = context();
  EXPECT_EQ(contents(identity_permutation<std::int32_t>(ctx, 4)), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(contents(identity_permutation<std::int64_t>(ctx, 3)), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(identity_permutation<std::int32_t>(ctx, 0).size(), 0);
}

TEST_P(Sort, an_identity_that_does_not_fit_its_type_is_refused) {
  Context ctx = context();
  EXPECT_THROW(identity_permutation<std::int32_t>(ctx, int_max + 1), InvalidArgument);
  EXPECT_THROW(identity_permutation<std::int64_t>(ctx, -1), InvalidArgument);
}

/// Trap 17: indices of any sign, and the permutation is permuted from whatever it held.
TEST_P(Sort, TV_COOSORT_and_trap_17_sorts_in_place_with_any_sign) {
  Context ctx = context();
  for (const bool by_row : {true, false})
    for (const bool negative : {false, true}) {
      Array<std::int32_t> rows(negative ? Ints{0, -1, -2, -2} : Ints{2, 1, 0, 0}),
          cols(negative ? Ints{-1, -1, -2, -1} : Ints{1, 1, 0, 1});
      auto permutation = identity_permutation<std::int32_t>(ctx, 4);
      by_row ? sort_by_row(ctx, rows, cols, permutation) : sort_by_column(ctx, rows, cols, permutation);
      EXPECT_EQ(contents(rows), negative ? (Ints{-2, -2, -1, 0}) : (Ints{0, 0, 1, 2}));
      EXPECT_EQ(contents(cols), negative ? (Ints{-2, -1, -1, -1}) : (Ints{0, 1, 1, 1}));
      EXPECT_EQ(contents(permutation), (Ints{2, 3, 1, 0}));
      Array<double> sorted(4);
      apply_permutation(ctx, Array<double>{8, 5, 1, 2}, permutation, sorted);
      EXPECT_EQ(contents(sorted), (std::vector<double>{1, 2, 5, 8}));
    }
}

TEST_P(Sort, the_second_index_decides_among_equals) {
  Context ctx = context();
  Array<std::int32_t> rows{1, 0, 1, 0}, cols{5, 9, 3, 2};
  auto permutation = identity_permutation<std::int64_t>(ctx, 4);
  sort_by_row(ctx, rows, cols, permutation);
  EXPECT_EQ(contents(cols), (Ints{2, 9, 3, 5}));
  sort_by_column(ctx, rows, cols, permutation);
  EXPECT_EQ(contents(cols), (Ints{2, 3, 5, 9}));
  EXPECT_EQ(contents(permutation), (std::vector<std::int64_t>{3, 2, 0, 1}));
}

TEST_P(Sort, trap_17_pairs_of_any_sign_with_duplicates_stay_stable) {
  Context ctx = context();
  for (const std::int64_t n : {0, 1, 2, 1000, 300'001}) {
    const std::string what = std::to_string(n) + " pairs";
    const Ints rows = random_indices(1, n, -20, 20), cols = random_indices(2, n, -3, 90);
    check_pairs<std::int32_t>(ctx, rows, cols, {}, {}, what);
    check_pairs<std::int64_t>(ctx, rows, cols, {}, {}, what);
    check_pairs<std::int32_t>(ctx, rows, cols, {-20, 20}, {-3, 90}, what + " in known ranges");
    check_pairs<std::int32_t>(ctx, random_indices(3, n, int_min, int_max), random_indices(4, n, int_min, int_max), {},
                              {}, what + " of any size");
    check_pairs<std::int32_t>(ctx, Ints(rows.size(), -5), cols, {-5, -5}, {-3, 90}, what + " in one row");
  }
}

TEST_P(Sort, the_extreme_integers_are_in_order) {
  Context ctx = context();
  constexpr auto low = static_cast<std::int32_t>(int_min), high = static_cast<std::int32_t>(int_max);
  check_pairs<std::int32_t>(ctx, {high, 0, low, -1, low, high}, {0, low, high, 1, -1, low}, {}, {}, "extremes");
}

TEST_P(Sort, TV_CSRSORT_and_TV_CSCSORT) {
  Context ctx = context();
  Array<std::int32_t> cols{2, 1, 0, 0, 2, 1, 1, 2, 0};
  auto permutation = identity_permutation<std::int32_t>(ctx, 9);
  sort_within_rows(ctx, Array<std::int32_t>{0, 3, 6, 9}, cols, permutation);
  EXPECT_EQ(contents(permutation), (Ints{2, 1, 0, 3, 5, 4, 8, 6, 7}));
  EXPECT_EQ(contents(cols), (Ints{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  Array<std::int32_t> rows{1, 0, 2, 0};
  auto of_columns = identity_permutation<std::int32_t>(ctx, 4);
  sort_within_rows(ctx, Array<std::int32_t>{0, 2, 4}, rows, of_columns);
  EXPECT_EQ(contents(of_columns), (Ints{1, 0, 3, 2}));
  EXPECT_EQ(contents(rows), (Ints{0, 1, 0, 2}));
}

/// The offsets of a shape, and columns in any order with duplicates among them.
template <class Offset>
std::pair<std::vector<Offset>, Ints> unsorted_rows(const Shape& shape, std::int32_t base) {
  std::mt19937_64 engine(11);
  std::vector<Offset> offsets{static_cast<Offset>(base)};
  for (std::int32_t i = 0; i < shape.rows; ++i)
    offsets.push_back(offsets.back() + std::min(shape.row_length(i, engine), shape.cols));
  return {offsets, random_indices(12, offsets.back() - base, base, base + std::max(shape.cols / 2, 1))};
}

template <class Offset>
void check_rows(Context& ctx, const Shape& shape, std::int32_t base) {
  const auto [offsets, cols] = unsorted_rows<Offset>(shape, base);
  Ints rows(cols.size());
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
    std::fill(rows.begin() + (offsets[i] - base), rows.begin() + (offsets[i + 1] - base), static_cast<std::int32_t>(i));
  std::vector<Offset> held(cols.size());
  std::iota(held.rbegin(), held.rend(), Offset{3});
  const auto order = stable_order(rows, cols);
  for (const IndexRange range : {IndexRange{}, IndexRange{base, base + std::max(shape.cols / 2, 1)}}) {
    const Array<Offset> row_offsets(offsets);
    Array<std::int32_t> sorted(cols);
    Array<Offset> permutation(held);
    sort_within_rows(ctx, row_offsets, sorted, permutation, range);
    EXPECT_EQ(contents(sorted), gathered(cols, order)) << shape.name;
    EXPECT_EQ(contents(permutation), gathered(held, order)) << shape.name;
    EXPECT_EQ(contents(row_offsets), offsets) << shape.name;
  }
}

TEST_P(Sort, rows_of_any_length_are_sorted_stably_whatever_the_base) {
  Context ctx = context();
  std::vector<Shape> shapes = nasty_shapes();
  shapes.push_back(
      {"one very long row", 3, 400'000, [](std::int32_t row, std::mt19937_64&) { return row == 1 ? 400'000 : 1; }});
  for (const Shape& shape : shapes)
    for (const std::int32_t base : {0, 1}) {
      check_rows<std::int32_t>(ctx, shape, base);
      check_rows<std::int64_t>(ctx, shape, base);
    }
}

TEST_P(SortValues, a_permutation_and_its_inverse_undo_each_other) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int64_t n : {0, 1, 5000}) {
      std::vector<std::int64_t> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::shuffle(order.begin(), order.end(), std::mt19937_64(21));
      const auto values = random_vector<T>(22, n);
      const Array<std::int64_t> permutation(order);
      Array<T> there(n), back(n);
      apply_permutation(ctx, Array<T>(values), permutation, there);
      apply_inverse_permutation(ctx, there, permutation, back);
      EXPECT_EQ(contents(there), gathered(values, order));
      EXPECT_EQ(contents(back), values);
    }
  });
}

TEST_P(SortValues, TV_CSRU_there_and_back) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto scalars = [](std::initializer_list<int> values) {
      std::vector<T> result;
      for (const int value : values) result.push_back(T(static_cast<real_t<T>>(value)));
      return result;
    };
    const Ints own_cols{0, 1, 2, 1, 0, 2, 2, 0, 1}, sorted_cols{0, 1, 2, 0, 1, 2, 0, 1, 2};
    const auto own_values = scalars({1, 2, 3, 5, 4, 6, 9, 7, 8}), sorted_values = scalars({1, 2, 3, 4, 5, 6, 7, 8, 9});
    const Array<std::int32_t> row_offsets{0, 3, 6, 9};
    Array<std::int32_t> cols(own_cols);
    Array<T> values(own_values);
    SortedOrder order;
    EXPECT_FALSE(order.known());
    for (int round = 0; round < 3; ++round) {
      order.sort(ctx, row_offsets, cols, values);
      EXPECT_EQ(contents(cols), sorted_cols) << round;
      EXPECT_EQ(contents(values), sorted_values) << round;
      order.unsort(ctx, cols, values);
      EXPECT_EQ(contents(cols), own_cols) << round;
      EXPECT_EQ(contents(values), own_values) << round;
    }
    EXPECT_TRUE(order.known());
    EXPECT_EQ(contents(order.permutation()), (Ints{0, 1, 2, 4, 3, 5, 7, 8, 6}));
  });
}

TEST_P(Sort, trap_18_a_known_order_is_applied_without_a_look_at_the_indices) {
  Context ctx = context();
  const Array<std::int64_t> row_offsets{0, 3};
  Array<std::int32_t> cols{2, 0, 1}, others{5, 9, 7};
  Array<double> values{20, 0, 10}, other_values{1, 2, 3};
  SortedOrder<std::int64_t> order;
  order.sort(ctx, row_offsets, cols, values);
  order.sort(ctx, row_offsets, others, other_values);
  EXPECT_EQ(contents(others), (Ints{9, 7, 5}));
  EXPECT_EQ(contents(other_values), (std::vector<double>{2, 3, 1}));
}

TEST_P(Sort, a_known_order_needs_no_transfer_and_no_allocation) {
  Context ctx = context();
  const auto [offsets, indices] = unsorted_rows<std::int32_t>(nasty_shapes()[10], 0);
  const Array<std::int32_t> row_offsets(offsets);
  Array<std::int32_t> cols(indices);
  Array<double> values(random_vector<double>(31, cols.size()));
  SortedOrder order;
  order.sort(ctx, row_offsets, cols, values);
  const Counters before = counters();
  for (int round = 0; round < 3; ++round) {
    order.unsort(ctx, cols, values);
    order.sort(ctx, row_offsets, cols, values);
  }
  EXPECT_EQ(counters(), before);
}

TEST_P(Sort, a_captured_order_goes_back_and_forth) {
  Context ctx = context();
  const auto [offsets, indices] = unsorted_rows<std::int32_t>(nasty_shapes()[10], 0);
  const Array<std::int32_t> row_offsets(offsets);
  const auto own_values = random_vector<float>(32, std::ssize(indices));
  Array<std::int32_t> cols(indices);
  Array<float> values(own_values);
  SortedOrder order;
  order.sort(ctx, row_offsets, cols, values);
  const Ints sorted_cols = contents(cols);
  const std::vector<float> sorted_values = contents(values);
  replay(ctx, [&] {
    order.unsort(ctx, cols, values);
    order.sort(ctx, row_offsets, cols, values);
  });
  EXPECT_EQ(contents(cols), sorted_cols);
  EXPECT_EQ(contents(values), sorted_values);
  order.unsort(ctx, cols, values);
  EXPECT_EQ(contents(cols), indices);
  EXPECT_EQ(contents(values), own_values);
}

TEST_P(Sort, captured_sorts_sort_what_is_there) {
  Context ctx = context();
  const Ints own_rows = random_indices(33, 5000, -50, 50), own_cols = random_indices(34, 5000, 0, 9);
  const Array<std::int32_t> from_rows(own_rows), from_cols(own_cols);
  const auto identity = identity_permutation<std::int32_t>(ctx, 5000);
  Array<std::int32_t> rows(5000), cols(5000), permutation(5000);
  replay(ctx, [&] {
    apply_permutation(ctx, from_rows, identity, rows);
    apply_permutation(ctx, from_cols, identity, cols);
    apply_permutation(ctx, identity, identity, permutation);
    sort_by_row(ctx, rows, cols, permutation);
  });
  const auto order = stable_order(own_rows, own_cols);
  EXPECT_EQ(contents(rows), gathered(own_rows, order));
  EXPECT_EQ(contents(cols), gathered(own_cols, order));
  EXPECT_TRUE(std::ranges::equal(contents(permutation), order));
}

TEST_P(Sort, a_skipped_sort_touches_nothing) {
  Context ctx = context();
  const Ints own_rows{3, 1, 2}, own_cols{9, 8, 7}, own_order{0, 1, 2};
  Array<std::int32_t> rows(own_rows), cols(own_cols), permutation(own_order);
  const Array<std::int32_t> row_offsets{0, 3};
  SortedOrder order;
  Array<std::int32_t> other_cols{1, 0};
  Array<double> values{10, 0};
  order.sort(ctx, Array<std::int32_t>{0, 2}, other_cols, values);
  run_skipped(ctx, [&] {
    sort_by_row(ctx, rows, cols, permutation);
    sort_by_column(ctx, rows, cols, permutation);
    sort_within_rows(ctx, row_offsets, cols, permutation);
    order.unsort(ctx, other_cols, values);
  });
  EXPECT_EQ(contents(rows), own_rows);
  EXPECT_EQ(contents(cols), own_cols);
  EXPECT_EQ(contents(permutation), own_order);
  EXPECT_EQ(contents(other_cols), (Ints{0, 1}));
  EXPECT_EQ(contents(values), (std::vector<double>{0, 10}));
}

TEST_P(Sort, arrays_that_do_not_fit_together_are_named) {
  Context ctx = context();
  Array<std::int32_t> three{0, 1, 2}, other_three{2, 1, 0}, two{0, 1};
  Array<double> values{1, 2, 3}, two_values{1, 2};
  EXPECT_EQ(complaint<ShapeMismatch>([&] { sort_by_row(ctx, three, two, other_three); }),
            "coosort: col_indices has 2 entries, 3 are needed");
  EXPECT_EQ(complaint<ShapeMismatch>([&] { sort_by_column(ctx, three, other_three, two); }),
            "coosort: permutation has 2 entries, 3 are needed");
  EXPECT_EQ(complaint<InvalidArgument>([&] { sort_by_row(ctx, three, three, other_three); }),
            "coosort: row_indices and col_indices must not be the same array");
  EXPECT_EQ(complaint<InvalidArgument>([&] { sort_by_row(ctx, three, other_three, three); }),
            "coosort: row_indices and permutation must not be the same array");
  EXPECT_EQ(complaint<ShapeMismatch>([&] { sort_within_rows(ctx, two, three, two); }),
            "sort_within_rows: permutation has 2 entries, 3 are needed");
  EXPECT_EQ(complaint<InvalidArgument>([&] { sort_within_rows(ctx, Array<std::int32_t>(), three, other_three); }),
            "sort_within_rows: rows is -1, 0 to 2147483647 were expected");
  EXPECT_EQ(complaint<ShapeMismatch>([&] { apply_permutation(ctx, values, two, values); }),
            "apply_permutation: permutation has 2 entries, 3 are needed");
  EXPECT_EQ(complaint<ShapeMismatch>([&] { apply_inverse_permutation(ctx, values, three, two_values); }),
            "apply_permutation: out has 2 entries, 3 are needed");
  EXPECT_EQ(complaint<InvalidArgument>([&] { apply_permutation(ctx, values, three, values); }),
            "apply_permutation: in and out must not be the same array");
}

TEST_P(Sort, an_order_that_is_not_known_or_of_another_size_is_refused) {
  Context ctx = context();
  const Array<std::int32_t> row_offsets{0, 2};
  Array<std::int32_t> cols{1, 0}, three{0, 1, 2};
  Array<double> values{1, 2}, three_values{1, 2, 3};
  SortedOrder order;
  EXPECT_EQ(complaint<InvalidArgument>([&] { order.unsort(ctx, cols, values); }),
            "sorted order: unsort() before the first sort(): there is no order to go back to");
  EXPECT_EQ(complaint<ShapeMismatch>([&] { order.sort(ctx, row_offsets, three, values); }),
            "sorted order: col_indices has 3 entries, 2 are needed");
  EXPECT_FALSE(order.known());
  order.sort(ctx, row_offsets, cols, values);
  EXPECT_EQ(complaint<ShapeMismatch>([&] { order.unsort(ctx, three, three_values); }),
            "sorted order: col_indices has 3 entries, 2 are needed");
  EXPECT_EQ(complaint<ShapeMismatch>([&] { order.sort(ctx, row_offsets, cols, three_values); }),
            "sorted order: values has 3 entries, 2 are needed");
}

TEST(SortHost, any_number_of_threads_gives_the_same) {
  const Ints rows = random_indices(41, 200'000, -9, 9), cols = random_indices(42, 200'000, -9, 9);
  const auto order = stable_order(rows, cols);
  for (const int threads : {1, 3, 8}) {
    Context ctx = Context::host(threads);
    Array<std::int32_t> r(rows), c(cols);
    auto permutation = identity_permutation<std::int64_t>(ctx, 200'000);
    sort_by_row(ctx, r, c, permutation);
    EXPECT_EQ(contents(permutation), order) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(, Sort, backends, param_name);
INSTANTIATE_TEST_SUITE_P(, SortValues, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
