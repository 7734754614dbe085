#include "sparse/convert/prune.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sparse/convert/sort.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Ints = std::vector<std::int32_t>;

constexpr double infinite = std::numeric_limits<double>::infinity(),
                 no_number = std::numeric_limits<double>::quiet_NaN();

class Prune : public OnBackendAndScalar {
 protected:
  /// use(T{}) with the scalar type, and with Half where that is float.
  template <class F>
  void with_scalar_or_half(F&& use) const {
    with_scalar([&]<class T>(T) {
      use(T{});
      if constexpr (std::is_same_v<T, float>) use(Half{});
    });
  }
};

template <class T>
T entry(double value) {
  if constexpr (std::is_same_v<T, Half>)
    return T(static_cast<float>(value));
  else
    return T(static_cast<real_t<T>>(value));
}
template <class T>
std::vector<T> entries(std::initializer_list<double> values) {
  std::vector<T> result;
  for (const double value : values) result.push_back(entry<T>(value));
  return result;
}

/// |a|^2 in double, exact for the entries of these tests. Not by the code under test.
template <class T>
double square_of(T a) {
  if constexpr (is_complex<T>)
    return double(a.real()) * double(a.real()) + double(a.imag()) * double(a.imag());
  else
    return double(a) * double(a);
}

/// Multiples of a half, so with many ties; zeros, -0 and, where asked, NaN and infinities.
template <class T>
T coarse_scalar(std::mt19937_64& engine, bool with_odd) {
  const auto part = [&] { return 0.5 * static_cast<double>(static_cast<int>(engine() % 13) - 6); };
  const auto odd = engine() % 24;
  if (with_odd && odd < 2) return entry<T>(odd ? no_number : -infinite);
  if (engine() % 8 == 0) return entry<T>(-0.0);
  if constexpr (is_complex<T>) {
    const double re = part();
    return T(static_cast<real_t<T>>(re), static_cast<real_t<T>>(part()));
  } else {
    return entry<T>(part());
  }
}

template <class T>
std::vector<T> coarse_vector(std::uint64_t seed, std::int64_t n, bool with_odd = true) {
  std::mt19937_64 engine(seed);
  std::vector<T> values;
  for (std::int64_t k = 0; k < n; ++k) values.push_back(coarse_scalar<T>(engine, with_odd));
  return values;
}

/// The pattern of a random matrix with such values.
template <class T, class Offset>
Csr<T, Offset> coarse_csr(std::uint64_t seed, const Shape& shape) {
  const Csr<float, Offset> A = random_csr<float, Offset>(seed, shape);
  return {A.cols(), A.row_offsets().clone(), A.col_indices().clone(), Array<T>(coarse_vector<T>(seed + 1, A.nnz()))};
}

/// What prune() is compared with: entry by entry, in the order of the rows.
template <class T>
struct Kept {
  std::vector<std::int64_t> offsets{0};
  Ints columns;
  std::vector<T> values;

  void consider(std::int32_t column, T value, double square) {
    if (square_of(value) <= square) return;
    columns.push_back(column);
    values.push_back(value);
  }
  void end_row() { offsets.push_back(std::ssize(columns)); }
};

template <class T, class Offset>
Kept<T> kept_of(const Csr<T, Offset>& A, double square) {
  Kept<T> kept;
  for (std::size_t i = 0; i < static_cast<std::size_t>(A.rows()); ++i) {
    for (auto k = A.row_offsets().host()[i]; k < A.row_offsets().host()[i + 1]; ++k)
      kept.consider(A.col_indices().host()[static_cast<std::size_t>(k)], A.values().host()[static_cast<std::size_t>(k)],
                    square);
    kept.end_row();
  }
  return kept;
}
template <class T>
Kept<T> kept_of(const Dense<T>& D, double square) {
  Kept<T> kept;
  for (std::int32_t i = 0; i < D.rows(); ++i) {
    for (std::int32_t j = 0; j < D.cols(); ++j) kept.consider(j, D.host().at(i, j), square);
    kept.end_row();
  }
  return kept;
}

/// Bit for bit, for NaN equals nothing.
template <class T>
bool same_bits(std::span<const T> a, const std::vector<T>& b) {
  return a.size() == b.size() && (b.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

template <class T, class Offset>
void expect_kept(const Csr<T, Offset>& found, const Kept<T>& wanted, const std::string& what) {
  EXPECT_EQ(std::vector<std::int64_t>(found.row_offsets().host().begin(), found.row_offsets().host().end()),
            wanted.offsets)
      << what;
  EXPECT_EQ(contents(found.col_indices()), wanted.columns) << what;
  EXPECT_TRUE(same_bits(found.values().host(), wanted.values)) << what;
}

/// A matrix of the catalogue, column by column, padding of NaN below or beside.
template <class T>
Dense<T> dense_of(std::int32_t rows, std::int32_t cols, std::initializer_list<double> by_columns, Order order) {
  const bool columns = order == Order::column_major;
  const std::int64_t line = (columns ? rows : cols) + 3, lines = columns ? cols : rows;
  Dense<T> D(rows, cols, Array<T>(std::vector<T>(static_cast<std::size_t>(line * lines), entry<T>(no_number))), order,
             line);
  const DenseView<T> d = D.edit();
  auto value = by_columns.begin();
  for (std::int32_t j = 0; j < cols; ++j)
    for (std::int32_t i = 0; i < rows; ++i) d.at(i, j) = entry<T>(*value++);
  return D;
}

template <class T, class Offset>
void expect_is(const Csr<T, Offset>& A, const std::vector<Offset>& offsets, const Ints& columns,
               const std::vector<T>& values) {
  EXPECT_EQ(contents(A.row_offsets()), offsets);
  EXPECT_EQ(contents(A.col_indices()), columns);
  EXPECT_TRUE(same_bits(A.values().host(), values));
}

template <class T, class Offset>
void check_tv_compress(Context& ctx) {
  const Dense<T> D = dense_of<T>(
      6, 5, {1, 0, 2, 0, 0, 6.5, 3, -4, 0, 0, 0, 0, 0, 5, 0, 6, 0, -9.9, 0, 0, 7, 0, 3.5, 0, 0, 0, 8, 9, 5.5, 0},
      Order::column_major);
  const Csr<T, Offset> A = prune<T, Offset>(ctx, D, 0);
  expect_is(A, {0, 2, 4, 7, 9, 11, 13}, {0, 1, 1, 2, 0, 3, 4, 2, 4, 3, 4, 0, 2},
            entries<T>({1, 3, -4, 5, 2, 7, 8, 6, 9, 3.5, 5.5, 6.5, -9.9}));
  Array<std::int32_t> counts(6);
  Array<std::int64_t> total(1);
  count_above(ctx, A, 3.5, counts, total);
  EXPECT_EQ(contents(counts), (Ints{0, 2, 2, 2, 1, 2}));
  EXPECT_EQ(total.host()[0], 9);
  for (const Csr<T, Offset>& C : {prune(ctx, A, 3.5), prune<T, Offset>(ctx, D, 3.5)})
    expect_is(C, {0, 0, 2, 4, 6, 7, 9}, {1, 2, 3, 4, 2, 4, 4, 0, 2}, entries<T>({-4, 5, 7, 8, 6, 9, 5.5, 6.5, -9.9}));
}

TEST_P(Prune, TV_COMPRESS_counts_and_keeps_what_is_above) {
  with_scalar_or_half([&]<class T>(T) {
    Context ctx = context();
    check_tv_compress<T, std::int32_t>(ctx);
    check_tv_compress<T, std::int64_t>(ctx);
  });
}

template <class T, class Offset>
struct TvPrune {
  Dense<T> D;
  Csr<T, Offset> A;

  explicit TvPrune(Order order)
      : D(dense_of<T>(4, 4, {1, 0, 5, 0, 0, 4, 0, 8, 2, 0, 6, 0, -3, 0, 7, 9}, order)),
        A(4, Array<Offset>{0, 3, 4, 7, 9}, Array<std::int32_t>{0, 2, 3, 1, 0, 2, 3, 1, 3},
          Array<T>(entries<T>({1, 2, -3, 4, 5, 6, 7, 8, 9}))) {}
};

/// use(TvPrune) with each offset and order.
template <class T, class F>
void with_tv_prune(F&& use) {
  for (const Order order : {Order::column_major, Order::row_major}) {
    use(TvPrune<T, std::int32_t>(order));
    use(TvPrune<T, std::int64_t>(order));
  }
}

TEST_P(Prune, TV_PRUNE_by_threshold) {
  with_scalar_or_half([&]<class T>(T) {
    Context ctx = context();
    with_tv_prune<T>([&]<class Offset>(const TvPrune<T, Offset>& tv) {
      for (const Csr<T, Offset>& C : {prune(ctx, tv.A, 4.1), prune<T, Offset>(ctx, tv.D, 4.1)})
        expect_is(C, {0, 0, 0, 3, 5}, {0, 2, 3, 1, 3}, entries<T>({5, 6, 7, 8, 9}));
    });
  });
}

/// Trap 19: 0 % drops the least entry, zeros count in the dense form alone, and only what is above the rank stays.
TEST_P(Prune, TV_PRUNE_and_trap_19_by_percentage) {
  with_scalar_or_half([&]<class T>(T) {
    Context ctx = context();
    with_tv_prune<T>([&]<class Offset>(const TvPrune<T, Offset>& tv) {
      expect_is(prune_percentage<T, Offset>(ctx, tv.D, 50), {0, 2, 3, 6, 8}, {2, 3, 1, 0, 2, 3, 1, 3},
                entries<T>({2, -3, 4, 5, 6, 7, 8, 9}));
      expect_is(prune_percentage(ctx, tv.A, 20), {0, 1, 2, 5, 7}, {3, 1, 0, 2, 3, 1, 3},
                entries<T>({-3, 4, 5, 6, 7, 8, 9}));
      EXPECT_EQ(prune_percentage(ctx, tv.A, 0).nnz(), 8);
      EXPECT_EQ(prune_percentage(ctx, tv.A, 1e-300).nnz(), 8);
      EXPECT_EQ(prune_percentage(ctx, tv.A, 100).nnz(), 0);
    });
  });
}

/// The nasty shapes whose dense form is small enough for a test.
std::vector<Shape> shapes_to_prune() {
  std::vector<Shape> shapes;
  std::ranges::copy_if(nasty_shapes(), std::back_inserter(shapes),
                       [](const Shape& s) { return std::int64_t{s.rows} * s.cols < 400'000; });
  return shapes;
}

constexpr double thresholds[] = {0, 0.5, 1.5, 2.9, 3, 5, infinite};  // 3: the largest number but infinity, real

template <class T, class Offset>
void check_csr(Context& ctx, const Shape& shape) {
  const Csr<T, Offset> A = coarse_csr<T, Offset>(71, shape);
  for (const double threshold : thresholds) {
    const std::string what = shape.name + ", threshold " + std::to_string(threshold);
    const Kept<T> wanted = kept_of(A, threshold * threshold);
    expect_kept(prune(ctx, A, threshold), wanted, what);
    Array<std::int32_t> counts(A.rows());
    Array<std::int64_t> total(1);
    count_above(ctx, A, threshold, counts, total);
    EXPECT_EQ(total.host()[0], std::ssize(wanted.values)) << what;
    for (std::size_t i = 0; i < static_cast<std::size_t>(A.rows()); ++i)
      ASSERT_EQ(counts.host()[i], wanted.offsets[i + 1] - wanted.offsets[i]) << what << ", row " << i;
  }
}

TEST_P(Prune, rows_keep_the_entries_above_any_threshold) {
  with_scalar_or_half([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      check_csr<T, std::int32_t>(ctx, shape);
      check_csr<T, std::int64_t>(ctx, shape);
    }
  });
}

template <class T>
Dense<T> coarse_dense(std::int32_t rows, std::int32_t cols, Order order, std::int64_t padding) {
  const bool columns = order == Order::column_major;
  const std::int64_t line = (columns ? rows : cols) + padding, lines = columns ? cols : rows;
  return {rows, cols, Array<T>(coarse_vector<T>(73, line * lines)), order, line};
}

TEST_P(Prune, a_dense_matrix_keeps_the_entries_above_any_threshold) {
  with_scalar_or_half([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : shapes_to_prune())
      for (const Order order : {Order::column_major, Order::row_major}) {
        const Dense<T> D = coarse_dense<T>(shape.rows, shape.cols, order, 2);
        for (const double threshold : thresholds) {
          const Kept<T> wanted = kept_of(D, threshold * threshold);
          expect_kept(prune(ctx, D, threshold), wanted, shape.name);
          expect_kept(prune<T, std::int64_t>(ctx, D, threshold), wanted, shape.name);
        }
      }
  });
}

/// Sizes with ties, zeros and infinities, which the entries' own values have no part in.
TEST_P(Prune, by_sizes_of_their_own_the_largest_stay_and_of_equal_ones_the_first) {
  with_scalar_or_half([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const auto A = coarse_csr<T, std::int32_t>(81, shape);
      std::mt19937_64 engine(82);
      std::vector<double> sizes;
      std::int64_t whole = 0;
      for (std::int64_t k = 0; k < A.nnz(); ++k) {
        sizes.push_back(static_cast<double>(engine() % 9) / 4);
        if (engine() % 16 == 0) sizes.back() = infinite, ++whole;
      }
      std::vector<std::size_t> order(sizes.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
      for (const std::int64_t count :
           {whole, whole + 1, (whole + A.nnz()) / 2, A.nnz() - 1, A.nnz(), A.nnz() + std::int64_t{5}}) {
        if (count < whole) continue;
        std::vector<bool> stays(sizes.size());
        for (std::size_t k = 0; k < order.size() && std::cmp_less(k, count); ++k) stays[order[k]] = sizes[order[k]] > 0;
        Kept<T> wanted;
        for (std::size_t i = 0, k = 0; i < static_cast<std::size_t>(A.rows()); ++i, wanted.end_row())
          for (; std::cmp_less(k, A.row_offsets().host()[i + 1]); ++k)
            if (stays[k])
              wanted.columns.push_back(A.col_indices().host()[k]), wanted.values.push_back(A.values().host()[k]);
        expect_kept(prune_to(ctx, A, Array<double>(sizes), count), wanted, shape.name + ", " + std::to_string(count));
      }
      Kept<T> wanted;
      for (std::size_t i = 0, k = 0; i < static_cast<std::size_t>(A.rows()); ++i, wanted.end_row())
        for (; std::cmp_less(k, A.row_offsets().host()[i + 1]); ++k)
          if (sizes[k] > 1)
            wanted.columns.push_back(A.col_indices().host()[k]), wanted.values.push_back(A.values().host()[k]);
      expect_kept(prune(ctx, A, Array<double>(sizes), 1), wanted, shape.name);
      EXPECT_THROW(prune(ctx, A, Array<double>(A.nnz() + 1), 1), ShapeMismatch);
      EXPECT_THROW(prune_to(ctx, A, Array<double>(A.nnz() + 1), 1), ShapeMismatch);
      EXPECT_THROW(prune_to(ctx, A, Array<double>(sizes), -1), InvalidArgument);
    }
  });
}

/// The square of the threshold that the rule names, by sorting.
template <class T>
double square_to_drop(const std::vector<T>& values, double percentage) {
  std::vector<double> squares;
  for (const T& value : values) squares.push_back(square_of(value));
  if (squares.empty()) return 0;
  std::ranges::sort(squares, [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
  const auto past = static_cast<std::size_t>(std::ceil(static_cast<double>(squares.size()) * (percentage / 100)));
  const double square = squares[past == 0 ? 0 : past - 1];
  return std::isnan(square) ? infinite : square;
}

constexpr double percentages[] = {0, 1e-300, 20, 50, 99.5, 100};

TEST_P(Prune, a_percentage_of_the_stored_entries_goes) {
  with_scalar_or_half([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes())
      for (const double percentage : percentages) {
        const auto A = coarse_csr<T, std::int32_t>(77, shape);
        const Csr<T, std::int64_t> wide = coarse_csr<T, std::int64_t>(77, shape);
        const Kept<T> wanted = kept_of(A, square_to_drop(contents(A.values()), percentage));
        expect_kept(prune_percentage(ctx, A, percentage), wanted, shape.name);
        expect_kept(prune_percentage(ctx, wide, percentage), wanted, shape.name);
      }
  });
}

TEST_P(Prune, a_percentage_of_all_entries_of_a_dense_matrix_goes) {
  with_scalar_or_half([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : shapes_to_prune())
      for (const std::int64_t padding : {0, 2})
        for (const Order order : {Order::column_major, Order::row_major}) {
          const Dense<T> D = coarse_dense<T>(shape.rows, shape.cols, order, padding);
          std::vector<T> values;
          for (std::int32_t i = 0; i < D.rows(); ++i)
            for (std::int32_t j = 0; j < D.cols(); ++j) values.push_back(D.host().at(i, j));
          for (const double percentage : percentages)
            expect_kept(prune_percentage(ctx, D, percentage), kept_of(D, square_to_drop(values, percentage)),
                        shape.name);
        }
  });
}

TEST_P(Prune, a_percentage_of_values_that_all_differ) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t n = 100'000;
    const Csr<T> A(n, Array<std::int32_t>{0, n}, identity_permutation<std::int32_t>(ctx, n),
                   Array<T>(random_vector<T>(79, n)));
    for (const double percentage : {1., 37.5, 90.}) {
      const std::int64_t left = prune_percentage(ctx, A, percentage).nnz(),
                         wanted = n - static_cast<std::int64_t>(std::ceil(n * (percentage / 100)));
      EXPECT_LE(left, wanted);
      EXPECT_GE(left, wanted - n / 1000);  // floats agree now and then
    }
  });
}

TEST_P(Prune, nothing_is_left_and_everything_is_kept) {
  with_scalar_or_half([&]<class T>(T) {
    Context ctx = context();
    const std::vector<T> values = entries<T>({-2, 3, 1});
    const Csr<T> A(4, Array<std::int32_t>{0, 2, 2, 3}, Array<std::int32_t>{1, 3, 0}, Array<T>(values));
    expect_is(prune(ctx, A, 3), {0, 0, 0, 0}, {}, {});
    expect_is(prune(ctx, A, 0.999), {0, 2, 2, 3}, {1, 3, 0}, values);
  });
}

TEST_P(Prune, entries_of_a_row_keep_their_order) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A(4, Array<std::int32_t>{0, 4, 6}, Array<std::int32_t>{3, 0, 2, 1, 2, 0},
                   Array<T>(entries<T>({5, 1, -4, 3, 2, 6})));
    expect_is(prune(ctx, A, 2), {0, 3, 4}, {3, 2, 1, 0}, entries<T>({5, -4, 3, 6}));
  });
}

TEST_P(Prune, TV_PRUNE_of_views_from_base_one) {
  with_scalar_or_half([&]<class T>(T) {
    Context ctx = context();
    const TvPrune<T, std::int32_t> tv(Order::column_major);
    const Array<std::int32_t> offsets{1, 4, 5, 8, 10}, columns{1, 3, 4, 2, 1, 3, 4, 2, 4}, kept{1, 1, 1, 4, 6};
    Array<std::int32_t> counts(4), dense_counts(4), out_offsets(kept.clone()), out_columns(5);
    Array<std::int64_t> total(1), dense_total(1);
    Array<T> out_values(5);
    ctx.dispatch([&](const auto& where) {
      using K = kernel_t<T>;
      const CsrView<const K> a{
          4, 4, 9, offsets.read(where), columns.read(where), tv.A.values().read(where), IndexBase::one};
      count_above(where, a, 4.1, counts.write(where), total.write(where));
      count_nonzeros(where, tv.D.view(where), dense_counts.write(where), dense_total.write(where), 4.1);
      dense_to_csr<K, std::int32_t>(
          where, tv.D.view(where),
          {4, 4, 5, out_offsets.update(where), out_columns.write(where), out_values.write(where), IndexBase::one}, 4.1);
    });
    EXPECT_EQ(contents(counts), (Ints{0, 0, 3, 2}));
    EXPECT_EQ(contents(dense_counts), (Ints{0, 0, 3, 2}));
    EXPECT_EQ(total.host()[0], 5);
    EXPECT_EQ(dense_total.host()[0], 5);
    EXPECT_EQ(contents(out_columns), (Ints{1, 3, 4, 2, 4}));
    EXPECT_TRUE(same_bits(out_values.host(), entries<T>({5, 6, 7, 8, 9})));
  });
}

TEST_P(Prune, moduli_neither_overflow_nor_vanish) {
  with_scalar([&]<class T>(T) {
    if constexpr (is_complex<T>) {
      using R = real_t<T>;
      Context ctx = context();
      const bool wide = sizeof(R) == 8;
      for (const double unit : wide ? std::vector{1e200, 1e-200, 1e307, 1e-319} : std::vector{1e38, 1e-30, 1e-42}) {
        const double x = static_cast<R>(3 * unit),
                     y = static_cast<R>(2 * unit);  // 3.606 units, 3.6 if rounded coarsely
        const Csr<T> A(2, Array<std::int32_t>{0, 2}, Array<std::int32_t>{0, 1},
                       Array<T>(std::vector<T>{T(R(x), R(-y)), T(R(y), R(x))}));
        EXPECT_EQ(prune(ctx, A, 3.5 * unit).nnz(), 2) << unit;
        EXPECT_EQ(prune(ctx, A, 3.7 * unit).nnz(), 0) << unit;
      }
    }
  });
}

TEST_P(Prune, the_threshold_is_not_rounded) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A(1, Array<std::int32_t>{0, 1}, Array<std::int32_t>{0}, Array<T>(entries<T>({0.1})));
    EXPECT_EQ(prune(ctx, A, 0.1).nnz(), sizeof(real_t<T>) == 4 ? 1 : 0);  // the float is a little more
    EXPECT_EQ(prune(ctx, A, double(static_cast<real_t<T>>(0.1))).nnz(), 0);
  });
}

TEST_P(Prune, captured_counts_follow_their_inputs) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = coarse_csr<T, std::int32_t>(75, nasty_shapes()[6]);
    Array<std::int32_t> counts(A.rows());
    Array<std::int64_t> total(1);
    replay(ctx, [&] { count_above(ctx, A, 1, counts, total); });
    EXPECT_EQ(total.host()[0], std::ssize(kept_of(A, 1).values));
  });
}

TEST_P(Prune, thresholds_and_shapes_that_make_no_sense_are_refused) {
  with_scalar_or_half([&]<class T>(T) {
    Context ctx = context();
    const TvPrune<T, std::int32_t> tv(Order::row_major);
    Array<std::int32_t> counts(4), three(3);
    Array<std::int64_t> total(1), none(0);
    for (const double threshold : {-1e-300, -infinite, no_number}) {
      EXPECT_THROW(prune(ctx, tv.A, threshold), InvalidArgument);
      EXPECT_THROW(prune(ctx, tv.D, threshold), InvalidArgument);
      EXPECT_THROW(count_above(ctx, tv.A, threshold, counts, total), InvalidArgument);
    }
    EXPECT_EQ(complaint<InvalidArgument>([&] { prune(ctx, tv.A, -2); }),
              "prune: a threshold of -2, 0 or more is needed");
    for (const double percentage : {-1e-300, 100.001, infinite, no_number}) {
      EXPECT_THROW(prune_percentage(ctx, tv.A, percentage), InvalidArgument);
      EXPECT_THROW(prune_percentage(ctx, tv.D, percentage), InvalidArgument);
    }
    EXPECT_EQ(complaint<InvalidArgument>([&] { prune_percentage(ctx, tv.A, 101); }),
              "prune: 101 %, 0 to 100 are needed");
    EXPECT_THROW(count_above(ctx, tv.A, 1, three, total), ShapeMismatch);
    EXPECT_THROW(count_above(ctx, tv.A, 1, counts, none), ShapeMismatch);
  });
}

INSTANTIATE_TEST_SUITE_P(, Prune, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
