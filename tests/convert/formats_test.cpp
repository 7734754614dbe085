#include "sparse/convert/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/to_format.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Formats = OnBackendAndScalar;

/// The entries that are not 0, in the order of rows and columns.
template <class T, class Offset>
std::vector<std::tuple<std::int32_t, std::int32_t, T>> entries(const Csr<T, Offset>& A) {
  std::vector<std::tuple<std::int32_t, std::int32_t, T>> list;
  const auto offsets = A.row_offsets().host();
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
      if (A.values().host()[k] != T(0)) list.emplace_back(i, A.col_indices().host()[k], A.values().host()[k]);
  return list;
}

template <class T>
std::vector<std::tuple<std::int32_t, std::int32_t, T>> entries(Context& ctx, const AnyMatrix<T>& A) {
  const AnyMatrix<T> csr = to_csr(ctx, A);
  return visit_entries(csr, [](const auto& a) {
    if constexpr (requires { a.row_offsets(); })
      return entries(a);
    else
      return std::vector<std::tuple<std::int32_t, std::int32_t, T>>();
  });
}

template <class T>
void validate_any(const AnyMatrix<T>& A) {
  std::visit([](const auto& a) { validate(a); }, A);
}

TEST_P(Formats, every_format_is_valid_and_leads_back_to_the_same_entries) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> A = random_csr<T>(51, shape);
      for (const NamedFormat& named : all_formats()) {
        const auto F = converted<T>(ctx, A, named);
        if (!F) continue;
        SCOPED_TRACE(shape.name + std::string(", ") + named.name);
        ASSERT_NO_THROW(validate_any(*F));
        EXPECT_EQ(rows(*F), A.rows());
        EXPECT_EQ(cols(*F), A.cols());
        EXPECT_EQ(entries(ctx, *F), entries(A));
      }
    }
  });
}

TEST_P(Formats, a_matrix_with_64_bit_offsets_gives_the_same) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Shape& shape = nasty_shapes()[6];
    const Csr<T, std::int64_t> A = random_csr<T, std::int64_t>(52, shape);
    for (const NamedFormat& named : all_formats()) {
      SCOPED_TRACE(named.name);
      const auto F = converted<T>(ctx, A, named);
      if (!F) continue;
      EXPECT_EQ(entries(ctx, *F), entries(A));
    }
  });
}

TEST_P(Formats, new_values_follow_without_a_new_pattern) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      Csr<T> A = random_csr<T>(53, shape);
      for (const NamedFormat& named : all_formats()) {
        auto F = converted<T>(ctx, A, named);
        if (!F) continue;
        SCOPED_TRACE(shape.name + std::string(", ") + named.name);
        Csr<T> changed = A.clone();
        for (T& value : changed.values().edit()) value = value * T(2) + T(3);
        update_values(ctx, changed, *F);
        EXPECT_EQ(entries(ctx, *F), entries(changed));
      }
    }
  });
}

TEST_P(Formats, sorting_windows_keep_rows_of_equal_length_in_order) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(54, nasty_shapes()[6]);
    const Sell<T> S = to_sell(ctx, A, SellLayout{8, 64});
    const auto order = S.row_permutation().host();
    const auto offsets = A.row_offsets().host();
    const auto length = [&](std::int32_t row) {
      return offsets[static_cast<std::size_t>(row) + 1] - offsets[static_cast<std::size_t>(row)];
    };
    for (std::size_t s = 0; s + 1 < order.size(); ++s) {
      ASSERT_EQ(static_cast<std::size_t>(order[s]) / 64, s / 64);
      if (s / 64 != (s + 1) / 64) continue;
      ASSERT_TRUE(length(order[s]) > length(order[s + 1]) ||
                  (length(order[s]) == length(order[s + 1]) && order[s] < order[s + 1]));
    }
  });
}

TEST_P(Formats, what_grows_too_much_is_refused_with_a_way_out) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    // an arrow: a dense first row and column
    const std::int32_t n = 30'000;
    std::vector<std::int32_t> offsets{0}, columns;
    for (std::int32_t i = 0; i < n; ++i) {
      if (i == 0)
        for (std::int32_t j = 0; j < n; ++j) columns.push_back(j);
      else
        columns.push_back(0);
      offsets.push_back(static_cast<std::int32_t>(columns.size()));
    }
    const auto nnz = columns.size();
    const Csr<T> A(n, Array(std::move(offsets)), Array(std::move(columns)), Array(std::vector<T>(nnz, T(1))));
    const auto message = [&](auto&& f) -> std::string {
      try {
        f();
      } catch (const InvalidArgument& e) {
        return e.what();
      }
      return "no error";
    };
    EXPECT_NE(message([&] { to_ell(ctx, A); }).find("the longest row has 30000 entries"), std::string::npos);
    EXPECT_NE(message([&] { to_ell(ctx, A); }).find("use hyb or sell"), std::string::npos);
    EXPECT_NE(message([&] { to_dia(ctx, A); }).find("entries lie on 59999 diagonals"), std::string::npos);
    EXPECT_NE(message([&] { to_blocked_ell(ctx, A, 8); }).find("smaller blocks"), std::string::npos);
    EXPECT_NE(message([&] {
                to_bsr(ctx, A, {0, 2});
              }).find("row_dim of a block is 0, 1 to 64 were expected"),
              std::string::npos);
    EXPECT_NE(message([&] { to_bsr(ctx, A, {2, 65}); }).find("col_dim of a block is 65"), std::string::npos);
    EXPECT_NE(message([&] { to_sell(ctx, A, {0}); }).find("slice_rows is 0"), std::string::npos);
    EXPECT_NE(message([&] { to_hyb(ctx, A, HybPartition::user, -1); }).find("width is -1"), std::string::npos);
    EXPECT_NO_THROW(to_sell(ctx, A));
    EXPECT_NO_THROW(to_hyb(ctx, A));
  });
}

template <class T>
std::vector<T> numbers(std::initializer_list<double> list) {
  std::vector<T> values;
  for (const double x : list) values.push_back(T(static_cast<real_t<T>>(x)));
  return values;
}

template <class T>
Csr<T> csr(std::int32_t cols, std::vector<std::int32_t> offsets, std::vector<std::int32_t> columns,
           std::initializer_list<double> values) {
  return {cols, Array(std::move(offsets)), Array(std::move(columns)), Array(numbers<T>(values))};
}

template <class T>
std::vector<T> held(const Array<T>& array) {
  return {array.host().begin(), array.host().end()};
}

using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;

template <class T>
Csr<T> example_4_5() {  // TV-A45
  return csr<T>(5, {0, 2, 4, 7, 9}, {0, 1, 1, 2, 0, 3, 4, 2, 4}, {1, 4, 2, 3, 5, 7, 8, 9, 6});
}
template <class T>
Csr<T> example_3_5() {  // TV-HIP35
  return csr<T>(5, {0, 3, 5, 8}, {0, 1, 3, 1, 2, 0, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
}
template <class T>
Csr<T> example_5_4() {  // TV-SELL
  return csr<T>(4, {0, 3, 4, 6, 8, 9}, {0, 2, 3, 1, 0, 3, 1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
}
template <class T>
Csr<T> example_5_5() {  // TV-PSBELL
  return csr<T>(5, {0, 2, 3, 6, 7, 9}, {0, 3, 1, 0, 2, 4, 3, 1, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_P(Formats, csc_and_blocks_of_the_catalogue) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csc<T> C = to_csc(ctx, example_4_5<T>());
    EXPECT_EQ(held(C.col_offsets()), (Ints{0, 2, 4, 6, 7, 9}));
    EXPECT_EQ(held(C.row_indices()), (Ints{0, 2, 0, 1, 1, 3, 2, 2, 3}));
    EXPECT_EQ(held(C.values()), numbers<T>({1, 5, 4, 2, 3, 9, 7, 8, 6}));
    const Bsr<T> by_columns = to_bsr(ctx, example_4_5<T>(), {2, 2, BlockOrder::column_major});
    EXPECT_EQ(held(by_columns.row_offsets()), (Ints{0, 2, 5}));
    EXPECT_EQ(held(by_columns.col_indices()), (Ints{0, 1, 0, 1, 2}));
    EXPECT_EQ(held(by_columns.values()), numbers<T>({1, 0, 4, 2, 0, 3, 0, 0, 5, 0, 0, 0, 0, 9, 7, 0, 8, 6, 0, 0}));
    const Bsr<T> by_rows = to_bsr(ctx, example_4_5<T>(), {2, 2, BlockOrder::row_major});
    EXPECT_EQ(held(by_rows.values()), numbers<T>({1, 4, 0, 2, 0, 0, 3, 0, 5, 0, 0, 0, 0, 7, 9, 0, 8, 0, 6, 0}));
    const Bsr<T> rectangles = to_bsr(ctx, example_4_5<T>(), {2, 3, BlockOrder::column_major});  // TV-CSR2GEBSR
    EXPECT_EQ(held(rectangles.row_offsets()), (Ints{0, 1, 3}));
    EXPECT_EQ(held(rectangles.col_indices()), (Ints{0, 0, 1}));
    EXPECT_EQ(held(rectangles.values()), numbers<T>({1, 0, 4, 2, 0, 3, 5, 0, 0, 0, 0, 9, 7, 0, 8, 6, 0, 0}));
    const Bsr<T> squares = to_bsr(ctx, example_4_5<T>(), {3, 3});
    EXPECT_EQ(bsr_bytes<T>(4, squares.stored_blocks(), squares.blocks()), squares.bytes());
    const Bsrx<T> X = to_bsrx(ctx, by_columns);
    EXPECT_EQ(held(X.row_begins()), (Ints{0, 2}));
    EXPECT_EQ(held(X.row_ends()), (Ints{2, 5}));
  });
}

TEST_P(Formats, blocks_by_columns_keep_their_insides) {  // TV-HIPGEBSR
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = csr<T>(5, {0, 2, 4, 7, 9}, {0, 3, 0, 2, 0, 1, 3, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    const Bsr<T> B = to_bsr(ctx, A, {2, 3, BlockOrder::column_major});
    EXPECT_EQ(held(B.values()), numbers<T>({1, 3, 0, 0, 0, 4, 2, 0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 8, 7, 0, 0, 9, 0, 0}));
    const Gebsc<T> C = to_gebsc(ctx, B);
    EXPECT_EQ(held(C.col_offsets()), (Ints{0, 2, 4}));
    EXPECT_EQ(held(C.row_indices()), (Ints{0, 1, 0, 1}));
    EXPECT_EQ(held(C.values()), numbers<T>({1, 3, 0, 0, 0, 4, 5, 0, 6, 0, 0, 8, 2, 0, 0, 0, 0, 0, 7, 0, 0, 9, 0, 0}));
    EXPECT_EQ(C.blocks().row_dim, 2);
    EXPECT_EQ(C.blocks().col_dim, 3);
  });
}

TEST_P(Formats, one_blocking_leads_to_another_by_way_of_csr) {  // TV-GEBSR2GEBSR
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = csr<T>(5, {0, 2, 4, 7, 9}, {0, 3, 0, 2, 0, 1, 3, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    // the whole padded matrix, all of whose blocks are stored
    const Bsr<T> narrow = to_bsr(ctx, A, {2, 3, BlockOrder::column_major});
    const Bsr<T> padded(4, 6, narrow.blocks(), narrow.row_offsets().clone(), narrow.col_indices().clone(),
                        narrow.values().clone());
    const Bsr<T> other = to_bsr(ctx, to_csr(ctx, padded), {3, 2, BlockOrder::column_major});
    EXPECT_EQ(held(other.row_offsets()), (Ints{0, 3, 6}));
    EXPECT_EQ(held(other.col_indices()), (Ints{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(held(other.values()), numbers<T>({1, 3, 5, 0, 0, 6, 0, 4, 0, 2, 0, 7, 0, 0, 0, 0, 0, 0,
                                                0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0}));
  });
}

TEST_P(Formats, the_ell_family_of_the_catalogue) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Ell<T> E = to_ell(ctx, example_3_5<T>());
    EXPECT_EQ(E.width(), 3);
    EXPECT_EQ(held(E.values()), numbers<T>({1, 4, 6, 2, 5, 7, 3, 0, 8}));
    EXPECT_EQ(held(E.col_indices()), (Ints{0, 1, 0, 1, 2, 3, 3, -1, 4}));
    const Hyb<T> H = to_hyb(ctx, example_3_5<T>(), HybPartition::user, 2);
    EXPECT_EQ(held(H.ell().values()), numbers<T>({1, 4, 6, 2, 5, 7}));
    EXPECT_EQ(held(H.coo().values()), numbers<T>({3, 8}));
    EXPECT_EQ(held(H.coo().row_indices()), (Ints{0, 2}));
    EXPECT_EQ(held(H.coo().col_indices()), (Ints{3, 4}));
    EXPECT_EQ(to_hyb(ctx, example_3_5<T>(), HybPartition::maximum).coo().nnz(), 0);
    EXPECT_EQ(to_hyb(ctx, example_3_5<T>()).ell().width(), 3);
    const Sell<T> S = to_sell(ctx, example_5_4<T>(), SellLayout{2});
    EXPECT_EQ(held(S.slice_offsets()), (Longs{0, 6, 10, 12}));
    EXPECT_EQ(held(S.col_indices()), (Ints{0, 1, 2, -1, 3, -1, 0, 1, 3, 2, 3, -1}));
    EXPECT_EQ(held(S.values()), numbers<T>({1, 4, 2, 0, 3, 0, 5, 7, 6, 8, 9, 0}));
    const Sell<T> P = to_sell(ctx, example_5_4<T>(), SellLayout{2, 5, true});  // TV-SELLPERM
    EXPECT_EQ(held(P.row_permutation()), (Ints{1, 4, 2, 3, 0}));
    EXPECT_EQ(held(P.slice_offsets()), (Longs{0, 2, 6, 12}));
    EXPECT_EQ(held(P.values()), numbers<T>({4, 9, 5, 7, 6, 8, 1, 0, 2, 0, 3, 0}));
    const Sell<T> L = to_sell(ctx, example_5_5<T>(), SellLayout{2});  // TV-HLL
    EXPECT_EQ(held(L.slice_offsets()), (Longs{0, 4, 10, 14}));
    EXPECT_EQ(held(L.values()), numbers<T>({1, 3, 2, 0, 4, 7, 5, 0, 6, 0, 8, 0, 9, 0}));
  });
}

TEST_P(Formats, diagonals_and_blocked_ell_of_the_catalogue) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Dia<T> D = to_dia(ctx, example_5_5<T>());
    EXPECT_EQ(held(D.offsets()), (Ints{-3, -2, 0, 2, 3}));
    EXPECT_EQ(held(D.values()),
              numbers<T>({0, 0, 0, 0, 8, 0, 0, 4, 0, 0, 1, 3, 5, 7, 9, 0, 0, 6, 0, 0, 2, 0, 0, 0, 0}));
    const Dia<T> H = to_dia(ctx, example_5_5<T>(), 2);
    EXPECT_EQ(held(H.hack_offsets()), (Longs{0, 2, 5, 7}));
    EXPECT_EQ(held(H.offsets()), (Ints{0, 3, -2, 0, 2, -3, 0}));
    EXPECT_EQ(held(H.values()), numbers<T>({1, 3, 2, 0, 4, 0, 5, 7, 6, 0, 8, 0, 9, 0}));
    const Csr<T> A = csr<T>(6, {0, 2, 3, 5, 7, 8, 9}, {0, 1, 1, 0, 4, 4, 5, 2, 3}, {1, 2, 3, 7, 4, 5, 6, 8, 9});
    const BlockedEll<T> B = to_blocked_ell(ctx, A, 2);  // TV-BELL
    EXPECT_EQ(B.ell_cols(), 4);
    EXPECT_EQ(held(B.col_indices()), (Ints{0, -1, 0, 2, 1, -1}));
    EXPECT_EQ(held(B.values()), numbers<T>({1, 2, 0, 0, 0, 3, 0, 0, 7, 0, 4, 0, 0, 0, 5, 6, 8, 0, 0, 0, 0, 9, 0, 0}));
    const CooAos<T> pairs = to_coo_aos(ctx, to_coo(ctx, example_3_5<T>()));
    EXPECT_EQ(held(pairs.indices()), (Ints{0, 0, 0, 1, 0, 3, 1, 1, 1, 2, 2, 0, 2, 3, 2, 4}));
  });
}

/// Numbers, in their order, for the pairs that key(row, column) gives for the entries.
template <class T, class Key>
auto numbered(const std::vector<std::tuple<std::int32_t, std::int32_t, T>>& list, Key&& key) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> numbers;
  for (const auto& [i, j, value] : list) numbers[key(i, j)] = 0;
  std::size_t next = 0;
  for (auto& [pair, number] : numbers) number = next++;
  return numbers;
}

/// What a group of rows holds, found by way of a map: offsets of the groups, keys (block columns or diagonals), values.
template <class T>
struct Groups {
  Longs offsets;
  Ints keys;
  std::vector<T> values;

  Groups(std::int64_t groups, const std::map<std::pair<std::int32_t, std::int32_t>, std::size_t>& numbers,
         std::int64_t size)
      : offsets(static_cast<std::size_t>(groups) + 1), values(numbers.size() * static_cast<std::size_t>(size)) {
    for (const auto& [pair, number] : numbers) {
      ++offsets[static_cast<std::size_t>(pair.first) + 1];
      keys.push_back(pair.second);
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  }
};

template <class T, class Offset>
Groups<T> blocks_of(const Csr<T, Offset>& A, const Blocking& blocks) {
  const auto list = entries(A);
  const auto key = [&](std::int32_t i, std::int32_t j) { return std::pair(i / blocks.row_dim, j / blocks.col_dim); };
  const auto numbers = numbered(list, key);
  Groups<T> found(detail::ceil_div(A.rows(), blocks.row_dim), numbers, blocks.size());
  for (const auto& [i, j, value] : list)
    found.values[numbers.at(key(i, j)) * static_cast<std::size_t>(blocks.size()) +
                 static_cast<std::size_t>(blocks.at(i % blocks.row_dim, j % blocks.col_dim))] = value;
  return found;
}

template <class T, class Offset>
Groups<T> hacks_of(const Csr<T, Offset>& A, std::int32_t hack_rows) {
  const auto list = entries(A);
  const auto key = [&](std::int32_t i, std::int32_t j) { return std::pair(i / hack_rows, j - i); };
  const auto numbers = numbered(list, key);
  Groups<T> found(detail::ceil_div(A.rows(), hack_rows), numbers, hack_rows);
  for (const auto& [i, j, value] : list)
    found
        .values[numbers.at(key(i, j)) * static_cast<std::size_t>(hack_rows) + static_cast<std::size_t>(i % hack_rows)] =
        value;
  return found;
}

constexpr GrowthLimit no_limit{1e9};

template <class T, class Offset>
void expect_blocks(Context& ctx, const Csr<T, Offset>& A, const Blocking& blocks) {
  const Groups<T> expected = blocks_of(A, blocks);
  const Bsr<T> B = to_bsr(ctx, A, blocks, no_limit);
  EXPECT_NO_THROW(validate(B));
  EXPECT_EQ(held(B.row_offsets()), Ints(expected.offsets.begin(), expected.offsets.end()));
  EXPECT_EQ(held(B.col_indices()), expected.keys);
  EXPECT_TRUE(held(B.values()) == expected.values);
  EXPECT_EQ(stored_blocks(ctx, A, blocks), std::ssize(expected.keys));
}

template <class T, class Offset>
void expect_blocked_ell(Context& ctx, const Csr<T, Offset>& A, std::int32_t block_dim) {
  const Groups<T> blocks = blocks_of(A, {block_dim, block_dim});
  const BlockedEll<T> B = to_blocked_ell(ctx, A, block_dim, no_limit);
  EXPECT_NO_THROW(validate(B));
  const auto columns = B.col_indices().host();
  const auto values = B.values().host();
  std::size_t width = 0;
  for (std::size_t I = 0; I + 1 < blocks.offsets.size(); ++I)
    width = std::max(width, static_cast<std::size_t>(blocks.offsets[I + 1] - blocks.offsets[I]));
  const auto dim = static_cast<std::size_t>(block_dim), rows = static_cast<std::size_t>(A.rows());
  ASSERT_EQ(static_cast<std::size_t>(B.ell_cols()), width * dim);
  std::vector<T> expected(rows * width * dim);
  for (std::size_t I = 0; I + 1 < blocks.offsets.size(); ++I)
    for (std::size_t k = 0; k < width; ++k) {
      const auto b = static_cast<std::size_t>(blocks.offsets[I]) + k;
      const bool there = b < static_cast<std::size_t>(blocks.offsets[I + 1]);
      ASSERT_EQ(columns[I * width + k], there ? blocks.keys[b] : -1);
      for (std::size_t i = 0; there && i < dim && I * dim + i < rows; ++i)
        std::copy_n(blocks.values.data() + (b * dim + i) * dim, dim,
                    expected.data() + ((I * dim + i) * width + k) * dim);
    }
  EXPECT_TRUE(std::vector<T>(values.begin(), values.end()) == expected);
}

template <class T, class Offset>
void expect_hacks(Context& ctx, const Csr<T, Offset>& A, std::int32_t hack_rows) {
  const Groups<T> expected = hacks_of(A, hack_rows);
  const Dia<T> D = to_dia(ctx, A, hack_rows, no_limit);
  EXPECT_NO_THROW(validate(D));
  EXPECT_EQ(held(D.hack_offsets()), expected.offsets);
  EXPECT_EQ(held(D.offsets()), expected.keys);
  EXPECT_TRUE(held(D.values()) == expected.values);
}

/// use(A) for random matrices of all shapes, whose groups of `rows` rows with keys of `cols` columns hold at most about
/// 6 million places.
template <class T, class Offset, class Use>
void for_shapes(std::int32_t rows, std::int32_t cols, Use&& use) {
  for (const Shape& shape : nasty_shapes()) {
    const Csr<T, Offset> A = random_csr<T, Offset>(57, shape);
    const std::int64_t groups = detail::ceil_div(A.rows(), rows) * detail::ceil_div(A.cols() + A.rows(), cols);
    if (std::min(A.nnz(), groups) * rows * cols > 6'000'000) continue;
    SCOPED_TRACE(fmt::format("{}, {} x {}", shape.name, rows, cols));
    use(A);
  }
}

TEST_P(Formats, blocks_of_every_size_are_those_that_entries_fall_into) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t dim : {1, 2, 5, 33, 64}) {
      for_shapes<T, std::int32_t>(dim, dim, [&](const auto& A) {
        expect_blocks(ctx, A, {dim, dim, BlockOrder::row_major});
        expect_blocks(ctx, A, {dim, dim, BlockOrder::column_major});
        expect_blocked_ell(ctx, A, dim);
      });
      for_shapes<T, std::int64_t>(dim, 3, [&](const auto& A) {
        expect_blocks(ctx, A, {dim, 3, BlockOrder::row_major});
        expect_blocks(ctx, A, {3, dim, BlockOrder::column_major});
      });
    }
    for (const std::int32_t dim : {100, 1024})
      for_shapes<T, std::int64_t>(dim, dim, [&](const auto& A) { expect_blocked_ell(ctx, A, dim); });
  });
}

TEST_P(Formats, hacks_of_every_size_hold_the_diagonals_they_meet) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t hack_rows : {1, 7, 32, 64, 100, 1024, 1500, 1 << 20}) {
      for_shapes<T, std::int32_t>(hack_rows, 1, [&](const auto& A) { expect_hacks(ctx, A, hack_rows); });
      for_shapes<T, std::int64_t>(hack_rows, 1, [&](const auto& A) { expect_hacks(ctx, A, hack_rows); });
    }
    const Csr<T> A = poisson2d<T>(100);
    for (const std::int32_t hack_rows : {1500, 1 << 17}) expect_hacks(ctx, A, hack_rows);
  });
}

TEST_P(Formats, groups_beyond_those_that_a_device_takes_at_a_time) {
  with_scalar([&]<class T>(T) {
    if constexpr (std::is_same_v<T, float>) {
      Context ctx = context();
      const Csr<T> A = poisson2d<T>(600);  // 360,000 rows; an H200 holds 270,000 threads
      expect_blocks(ctx, A, {2, 2});
      expect_blocked_ell(ctx, A, 3);
      expect_hacks(ctx, A, 7);
      expect_hacks(ctx, A, 64);
    }
  });
}

/// update(ctx, F) gives the values that a new conversion of `changed` has, from a graph, too, and does nothing where
/// it is skipped.
template <class T>
void expect_updated(Context& ctx, const Csr<T>& A, const std::function<AnyMatrix<T>(const Csr<T>&)>& convert) {
  Csr<T> changed = A.clone();
  for (T& value : changed.values().edit()) value = value * T(2) + T(3);
  AnyMatrix<T> F = convert(A);
  const auto values = [](const AnyMatrix<T>& matrix) {
    return std::visit(
        [](const auto& m) -> std::vector<T> {
          if constexpr (requires { m.values(); })
            return held(m.values());
          else
            return {};
        },
        matrix);
  };
  run_skipped(ctx, [&] { update_values(ctx, changed, F); });
  EXPECT_TRUE(values(F) == values(convert(A)));
  replay(ctx, [&] { update_values(ctx, changed, F); });
  EXPECT_TRUE(values(F) == values(convert(changed)));
}

TEST_P(Formats, new_values_of_blocks_and_diagonals_can_be_captured_and_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(58, nasty_shapes()[6]);
    for (const Blocking blocks : {Blocking{1, 1}, Blocking{5, 5, BlockOrder::column_major}, Blocking{33, 64},
                                  Blocking{64, 64, BlockOrder::column_major}, Blocking{2, 7}}) {
      SCOPED_TRACE(fmt::format("{} x {}", blocks.row_dim, blocks.col_dim));
      const auto bsr = [&](const Csr<T>& from) { return to_bsr(ctx, from, blocks, no_limit); };
      expect_updated<T>(ctx, A, [&](const Csr<T>& from) -> AnyMatrix<T> { return bsr(from); });
      expect_updated<T>(ctx, A, [&](const Csr<T>& from) -> AnyMatrix<T> { return to_bsrx(ctx, bsr(from)); });
      expect_updated<T>(ctx, A, [&](const Csr<T>& from) -> AnyMatrix<T> { return to_gebsc(ctx, bsr(from)); });
    }
    for (const std::int32_t dim : {1, 5, 33, 100})
      expect_updated<T>(ctx, A,
                        [&](const Csr<T>& from) -> AnyMatrix<T> { return to_blocked_ell(ctx, from, dim, no_limit); });
    for (const std::int32_t hack_rows : {0, 1, 7, 100})
      expect_updated<T>(ctx, A,
                        [&](const Csr<T>& from) -> AnyMatrix<T> { return to_dia(ctx, from, hack_rows, no_limit); });
  });
}

/// The same SELL arrays with another padding, taken over.
template <class T>
void expect_adopted(Context& ctx, IndexBase base, Padding padding, Ints columns, std::initializer_list<double> values,
                    const std::vector<std::int32_t>* lengths) {
  const Sell<T> expected = to_sell(ctx, example_5_5<T>(), SellLayout{2});
  Array<std::int32_t> adopted(std::move(columns)), row_lengths(lengths ? *lengths : Ints(5));
  Array<T> adopted_values(numbers<T>(values));
  Array<std::int64_t> offsets(Longs{0, 4, 10, 14});
  ctx.dispatch([&](const auto& where) {
    const SellView<kernel_t<T>> arrays{
        5, 5, 2, 0, offsets.update(where), adopted.update(where), adopted_values.update(where), nullptr, base};
    adopt_padding(where, arrays, padding, lengths ? row_lengths.read(where) : nullptr);
  });
  EXPECT_EQ(held(adopted), held(expected.col_indices()));
  EXPECT_EQ(held(adopted_values), held(expected.values()));
}

TEST_P(Formats, every_padding_of_the_seeds_is_taken_over) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Ints lengths{2, 1, 3, 1, 2};
    for (const Ints* known : {static_cast<const Ints*>(nullptr), &lengths}) {
      expect_adopted<T>(ctx, IndexBase::one, Padding::last_column, {1, 2, 4, 2, 1, 4, 3, 4, 5, 4, 2, 1, 5, 1},
                        {1, 3, 2, 0, 4, 7, 5, 0, 6, 0, 8, 0, 9, 0}, known);
      expect_adopted<T>(ctx, IndexBase::zero, Padding::first_column, {0, 1, 3, 0, 0, 3, 2, 0, 4, 0, 1, 0, 4, 0},
                        {1, 3, 2, 0, 4, 7, 5, 0, 6, 0, 8, 0, 9, 0}, known);
      expect_adopted<T>(ctx, IndexBase::zero, Padding::minus_one, {0, 1, 3, -1, 0, 3, 2, -1, 4, -1, 1, -1, 4, -1},
                        {1, 3, 2, std::nan(""), 4, 7, 5, 99, 6, 99, 8, 99, 9, 99}, known);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Formats, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
