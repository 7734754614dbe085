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

/// GEN-SPMAT-GETFORMAT.
TEST_P(Formats, a_matrix_tells_its_format) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(50, nasty_shapes()[6]);
    const std::map<Format, Format> same{{Format::gebsr, Format::bsr}, {Format::hll, Format::sell}};
    for (const NamedFormat& named : all_formats()) {
      const auto F = converted<T>(ctx, A, named);
      if (!F) continue;
      const auto also = same.find(named.format);
      EXPECT_EQ(name(format_of(*F)), name(also == same.end() ? named.format : also->second));
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
std::vector<T> held(const Array<T>& array) {
  return {array.host().begin(), array.host().end()};
}

using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;

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

INSTANTIATE_TEST_SUITE_P(, Formats, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
