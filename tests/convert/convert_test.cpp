#include "sparse/convert/convert.hpp"

#include <map>

#include "sparse/convert/checked_offsets.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using Convert = OnBackendAndScalar;

template <class T, class Offset>
void expect_equal(const Csr<T, Offset>& a, const Csr<T, Offset>& b, const std::string& what) {
  EXPECT_EQ(a.rows(), b.rows()) << what;
  EXPECT_EQ(a.cols(), b.cols()) << what;
  EXPECT_TRUE(std::ranges::equal(a.row_offsets().host(), b.row_offsets().host())) << what;
  EXPECT_TRUE(std::ranges::equal(a.col_indices().host(), b.col_indices().host())) << what;
  EXPECT_TRUE(std::ranges::equal(a.values().host(), b.values().host())) << what;
}

/// As many as one block of CUDA adds up, in either width, and more.
TEST_P(Convert, counts_add_up_to_offsets) {
  Context ctx = context();
  const auto check = [&]<class Offset>(Offset, std::int64_t n) {
    std::vector<Offset> counts, expected{0};
    for (std::int64_t i = 0; i < n; ++i) {
      counts.push_back(static_cast<Offset>(i * 7919 % 13));
      expected.push_back(expected.back() + counts.back());
    }
    const Array<Offset> given(counts);
    Array<Offset> offsets(n + 1);
    ctx.dispatch([&](const auto& where) { scan_counts(where, n, given.read(where), offsets.write(where)); });
    EXPECT_TRUE(std::ranges::equal(offsets.host(), expected)) << n << " counts of " << sizeof(Offset) << " bytes";
  };
  for (const std::int64_t n : {0, 1, 2, 31, 1023, 1025, 4095, 4096, 4097, 8191, 8192, 8193, 20'000})
    check(std::int32_t{}, n), check(std::int64_t{}, n);
}

TEST_P(Convert, csr_to_coo_and_back_changes_nothing) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> A = random_csr<T>(3, shape);
      const Coo<T> coo = to_coo(ctx, A);
      EXPECT_NO_THROW(validate(coo)) << shape.name;
      expect_equal(to_csr(ctx, coo), A, shape.name);
      expect_equal(to_csr<T, std::int64_t>(ctx, coo), random_csr<T, std::int64_t>(3, shape), shape.name);
    }
  });
}

TEST_P(Convert, the_transpose_holds_every_entry_once_and_sorted) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> A = random_csr<T>(4, shape);
      Array<std::int32_t> permutation;
      const Csr<T> At = transpose(ctx, A, Op::transpose, &permutation);
      EXPECT_NO_THROW(validate(At)) << shape.name;
      EXPECT_EQ(At.rows(), A.cols());
      expect_equal(transpose(ctx, At), A, shape.name);
      std::vector<bool> seen(static_cast<std::size_t>(A.nnz()));
      for (std::size_t k = 0; k < seen.size(); ++k) {
        const auto from = static_cast<std::size_t>(permutation.host()[k]);
        ASSERT_FALSE(seen[from]);
        seen[from] = true;
        ASSERT_EQ(At.values().host()[k], A.values().host()[from]);
      }
    }
  });
}

TEST_P(Convert, the_adjoint_is_conjugated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T, std::int64_t> A = random_csr<T, std::int64_t>(5, nasty_shapes()[6]);
    const Csr<T, std::int64_t> At = transpose(ctx, A), Ah = transpose(ctx, A, Op::adjoint);
    for (std::size_t k = 0; k < static_cast<std::size_t>(A.nnz()); ++k)
      ASSERT_EQ(Z(Ah.values().host()[k]), std::conj(Z(At.values().host()[k])));
  });
}

/// The entries of A on and below the diagonal.
template <class T>
Csr<T> lower_triangle(const Csr<T>& A, bool with_diagonal) {
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  for (std::int32_t i = 0; i < A.rows(); ++i) {
    for (auto k = A.row_offsets().host()[static_cast<std::size_t>(i)];
         k < A.row_offsets().host()[static_cast<std::size_t>(i) + 1]; ++k) {
      const std::int32_t col = A.col_indices().host()[static_cast<std::size_t>(k)];
      if (col < i || (with_diagonal && col == i))
        columns.push_back(col), values.push_back(A.values().host()[static_cast<std::size_t>(k)]);
    }
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  return {A.cols(), Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

TEST_P(Convert, expanding_a_triangle_gives_the_matrix_back) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_hpd<T>(6, 500, 9);
    const Csr<T> lower = lower_triangle(A, true);
    expect_equal(expand(ctx, lower, Mirror::hermitian), A, "lower");
    expect_equal(expand(ctx, transpose(ctx, lower, Op::adjoint), Mirror::hermitian), A, "upper");
  });
}

/// Not conjugated, from either triangle.
TEST_P(Convert, a_symmetric_triangle_keeps_its_values) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> lower = lower_triangle(random_hpd<T>(9, 100, 5), true), upper = transpose(ctx, lower);
    std::map<std::pair<std::int32_t, std::int32_t>, Z> expected;
    const Reference stored = reference(lower);
    for (std::size_t k = 0; k < stored.row.size(); ++k)
      expected[{stored.row[k], stored.col[k]}] = expected[{stored.col[k], stored.row[k]}] = stored.value[k];
    for (const Csr<T>* triangle : {&lower, &upper}) {
      const Csr<T> A = expand(ctx, *triangle, Mirror::symmetric);
      validate(A);
      const Reference found = reference(A);
      ASSERT_EQ(found.row.size(), expected.size());
      for (std::size_t k = 0; k < found.row.size(); ++k)
        ASSERT_EQ(found.value[k], expected.at({found.row[k], found.col[k]}));
    }
  });
}

TEST_P(Convert, a_skew_triangle_changes_its_sign) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> lower = lower_triangle(random_hpd<T>(7, 100, 5), false);
    const Csr<T> A = expand(ctx, lower, Mirror::skew_symmetric), At = transpose(ctx, A);
    EXPECT_EQ(A.nnz(), 2 * lower.nnz());
    for (std::size_t k = 0; k < static_cast<std::size_t>(A.nnz()); ++k)
      ASSERT_EQ(A.values().host()[k], -At.values().host()[k]);
  });
}

TEST_P(Convert, both_triangles_are_refused_by_name) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A(2, Array<std::int32_t>{0, 2, 3}, Array<std::int32_t>{0, 1, 0}, Array<T>(std::vector<T>(3, T(1))));
    try {
      expand(ctx, A, Mirror::symmetric);
      FAIL();
    } catch (const InvalidArgument& e) {
      EXPECT_STREQ(e.what(),
                   "expand: row 1 has an entry below the diagonal and row 0 one above it; a symmetric matrix is stored "
                   "as one triangle");
    }
  });
}

TEST_P(Convert, the_diagonal_has_zeros_where_nothing_is_stored) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Csr<T> A(3, Array<std::int32_t>{0, 1, 2, 4}, Array<std::int32_t>{0, 2, 0, 2},
             Array<T>(std::vector<T>{T(5), T(6), T(7), T(8)}));
    Coo<T> coo = to_coo(ctx, A);
    const AnyMatrix<T> both[] = {AnyMatrix<T>(std::move(A)), AnyMatrix<T>(std::move(coo))};
    for (const AnyMatrix<T>& any : both) {
      const Array<T> d = diagonal(ctx, any);
      EXPECT_EQ(std::vector<T>(d.host().begin(), d.host().end()), (std::vector<T>{T(5), T(0), T(8)}));
    }
  });
}

using ConvertSizes = OnBackend;

/// How sums, products and conversions count their entries before they allocate them.
TEST_P(ConvertSizes, more_entries_than_32_bits_count_are_refused) {
  Context ctx = context();
  const Array<std::int64_t> counted{2'000'000'000, 147'483'647, 1};
  const auto sizes = [&]<class Offset>(Offset, std::int64_t rows) {
    return detail::checked_offsets<Offset>(ctx, rows, "row_offsets", [&](const auto& where, std::int64_t* counts) {
      copy_bytes(where, counts, counted.read(where), static_cast<std::size_t>(rows) * sizeof(std::int64_t));
    });
  };
  EXPECT_EQ(sizes(std::int32_t{}, 2).nnz, 2'147'483'647);
  EXPECT_EQ(complaint<InvalidArgument>([&] { sizes(std::int32_t{}, 3); }),
            "csr: 2147483648 entries do not fit 32-bit row offsets (at most 2147483647); use 64-bit offsets");
  EXPECT_EQ(contents(sizes(std::int64_t{}, 3).offsets),
            (std::vector<std::int64_t>{0, 2'000'000'000, 2'147'483'647, 2'147'483'648}));
}

INSTANTIATE_TEST_SUITE_P(, ConvertSizes, backends, param_name);

TEST(ConvertHost, a_transpose_is_the_same_for_any_number_of_threads) {
  const Csr<double> A =
      random_csr<double>(8, {"", 30000, 7000, [](std::int32_t row, std::mt19937_64&) { return row % 11; }});
  Context one = Context::host(1), five = Context::host(5);
  expect_equal(transpose(one, A), transpose(five, A), "transpose");
}

INSTANTIATE_TEST_SUITE_P(, Convert, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
