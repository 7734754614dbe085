#include "sparse/spgemm/spgemm.hpp"

#include <numeric>

#include "sparse/spmv/spmv.hpp"
#include "tests/spgemm/sums.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Spgemm = OnBackendAndScalar;

constexpr Op all_ops[] = {Op::none, Op::transpose, Op::adjoint};

/// Adds alpha op(A) op(B), product by product.
template <class T, class Offset>
void add_product(Sums& sums, Op op_a, Op op_b, T alpha, const Csr<T, Offset>& A, const Csr<T, Offset>& B) {
  std::map<std::int32_t, std::vector<std::pair<std::int32_t, LongComplex>>> rows_of_B;
  for_entries_of(op_b, B, [&](std::int32_t i, std::int32_t j, LongComplex value) {
    rows_of_B[i].push_back({j, value});
  });
  for_entries_of(op_a, A, [&](std::int32_t i, std::int32_t k, LongComplex value) {
    if (const auto row = rows_of_B.find(k); row != rows_of_B.end())
      for (const auto& [j, other] : row->second) sums[{i, j}].add(LongComplex(alpha) * value * other);
  });
}

/// Rows of many lengths, one of them with enough entries to make more than 10,000 products.
Shape factor_shape(const char* name, std::int32_t rows, std::int32_t cols) {
  return {name, rows, cols, [](std::int32_t row, std::mt19937_64& e) {
            return row == 17 ? 1600 : row % 50 == 3 ? 40 : row % 3 == 0 ? 0 : 5 + static_cast<std::int32_t>(e() % 9);
          }};
}
template <int longest>
std::int32_t up_to(std::int32_t, std::mt19937_64& e) {
  return static_cast<std::int32_t>(e() % (longest + 1));
}
/// Rows of at most so many entries, for each number of lanes that a team has, and for rows that a thread merges.
Shape short_rows(std::int32_t rows, std::int32_t cols, int longest) {
  return {"up to " + std::to_string(longest), rows, cols,
          longest <= 1    ? up_to<1>
          : longest <= 2  ? up_to<2>
          : longest <= 5  ? up_to<5>
          : longest <= 8  ? up_to<8>
          : longest <= 16 ? up_to<16>
                          : up_to<32>};
}

template <class T, class Offset>
void expect_same(const Csr<T, Offset>& expected, const Csr<T, Offset>& C) {
  EXPECT_EQ(contents(C.row_offsets()), contents(expected.row_offsets()));
  EXPECT_EQ(contents(C.col_indices()), contents(expected.col_indices()));
  EXPECT_EQ(contents(C.values()), contents(expected.values()));
}

/// A with a full block of random entries in place of each of its own.
template <class T>
Csr<T> in_blocks(unsigned seed, const Csr<T>& A, std::int32_t row_dim, std::int32_t col_dim) {
  std::vector<std::int32_t> offsets{0}, columns;
  for (std::int32_t i = 0; i < A.rows() * row_dim; ++i) {
    const auto row = static_cast<std::size_t>(i / row_dim);
    for (std::int32_t k = A.row_offsets().host()[row]; k < A.row_offsets().host()[row + 1]; ++k)
      for (std::int32_t c = 0; c < col_dim; ++c)
        columns.push_back(A.col_indices().host()[static_cast<std::size_t>(k)] * col_dim + c);
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  Array<T> values(random_vector<T>(seed, std::ssize(columns)));
  return {A.cols() * col_dim, Array(std::move(offsets)), Array(std::move(columns)), std::move(values)};
}

TEST_P(Spgemm, finds_patterns_of_blocks_as_those_of_entries) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [rows, inner, cols] : {std::array{3, 3, 6}, {6, 3, 6}, {1, 2, 1}, {2, 1, 1}, {4, 5, 3}})
      for (const int length : {2, 8, 32}) {
        const Csr<T> A = in_blocks(21, random_csr<T>(22, short_rows(90, 70, length)), rows, inner),
                     B = in_blocks(23, random_csr<T>(24, short_rows(70, 200, length)), inner, cols);
        const ProductBlocks blocks{rows, inner, cols};
        SpgemmPlan<T> by_blocks(ctx, Op::none, A, Op::none, B, {.blocks = blocks}),
            by_entries(ctx, Op::none, A, Op::none, B);
        for (SpgemmPlan<T>* plan : {&by_blocks, &by_entries}) plan->update(ctx, T(1), A, B);
        expect_same(by_entries.matrix(), by_blocks.matrix());
        EXPECT_EQ(by_entries.longest_row(), by_blocks.longest_row());
        // Limits count entries, and an operand that has a block with a gap is taken entry by entry.
        const std::int64_t nnz = by_entries.matrix().nnz();
        SpgemmPlan<T>(ctx, Op::none, A, Op::none, B, {.max_entries = nnz, .blocks = blocks});
        EXPECT_THROW(SpgemmPlan<T>(ctx, Op::none, A, Op::none, B, {.max_entries = nnz - 1, .blocks = blocks}),
                     TooManyEntries);
        const Csr<T> uneven = random_csr<T>(25, short_rows(70 * inner, 200 * cols, 5));
        SpgemmPlan<T> mixed(ctx, Op::none, A, Op::none, uneven, {.blocks = blocks}),
            expected(ctx, Op::none, A, Op::none, uneven);
        for (SpgemmPlan<T>* plan : {&mixed, &expected}) plan->update(ctx, T(1), A, uneven);
        expect_same(expected.matrix(), mixed.matrix());
      }
    const Csr<T> A = in_blocks(26, random_csr<T>(27, short_rows(120, 120, 8)), 3, 3),
                 P = in_blocks(28, random_csr<T>(29, short_rows(120, 30, 2)), 3, 6);
    TripleProductPlan<T> by_blocks(ctx, Op::adjoint, P, A, P, {.blocks = {6, 3, 6}}),
        by_entries(ctx, Op::adjoint, P, A, P);
    for (TripleProductPlan<T>* plan : {&by_blocks, &by_entries}) plan->update(ctx, T(1), P, A, P);
    expect_same(by_entries.matrix(), by_blocks.matrix());
  });
}

TEST_P(Spgemm, is_the_product_for_every_op) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T alpha = random_vector<T>(1, 1)[0];
    for (const Op op_a : all_ops)
      for (const Op op_b : all_ops) {
        const bool a_turned = op_a != Op::none, b_turned = op_b != Op::none;
        const auto A = random_csr<T>(31, factor_shape("A", a_turned ? 2000 : 300, a_turned ? 300 : 2000));
        const auto B = random_csr<T>(32, factor_shape("B", b_turned ? 1900 : 2000, b_turned ? 2000 : 1900));
        Sums expected;
        add_product(expected, op_a, op_b, alpha, A, B);
        expect_entries(expected, spgemm(ctx, op_a, op_b, alpha, A, B), "ops");
      }
  });
}

TEST_P(Spgemm, is_the_product_of_rows_of_every_length) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const int of_A : {5, 8, 16, 32})
      for (const int of_B : {1, 2, 8, 32}) {
        const auto A = random_csr<T>(31, short_rows(150, 400, of_A));
        const auto B = random_csr<T>(32, short_rows(400, 500, of_B));
        Sums expected;
        add_product(expected, Op::none, Op::none, T(2), A, B);
        expect_entries(expected, spgemm(ctx, Op::none, Op::none, T(2), A, B), "lengths");
      }
  });
}

/// On CUDA short rows of a large product keep their columns from the count on, and longer ones are listed: a band
/// beside rows that have an entry in every 40th column as well.
TEST_P(Spgemm, keeps_columns_of_short_rows_beside_long_ones) {
  constexpr std::int32_t n = 4200, half = 32;
  std::vector<std::int32_t> offsets{0}, columns;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j)
      if (std::abs(i - j) <= half || (i % 500 == 7 && j % 40 == 0)) columns.push_back(j);
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  with_scalar([&]<class T>(T) {
    const Csr<T> A(n, Array(offsets), Array(columns), Array(std::vector<T>(columns.size(), T(1))));
    Context ctx = context();
    const Csr<T> C = spgemm(ctx, Op::none, Op::none, T(1), A, A);
    const auto c_offsets = C.row_offsets().host(), c_columns = C.col_indices().host();
    const auto values = C.values().host();
    std::vector<float> expected(n);
    std::int64_t products = 0;
    for (std::size_t i = 0; i < n; ++i) {
      std::fill(expected.begin(), expected.end(), 0.0F);
      for (auto k = static_cast<std::size_t>(offsets[i]); k < static_cast<std::size_t>(offsets[i + 1]); ++k) {
        const auto row = static_cast<std::size_t>(columns[k]);
        for (auto e = static_cast<std::size_t>(offsets[row]); e < static_cast<std::size_t>(offsets[row + 1]); ++e)
          expected[static_cast<std::size_t>(columns[e])] += 1, ++products;
      }
      auto at = static_cast<std::size_t>(c_offsets[i]);
      for (std::size_t j = 0; j < n; ++j)
        if (expected[j] > 0) {
          ASSERT_LT(at, static_cast<std::size_t>(c_offsets[i + 1])) << i;
          ASSERT_EQ(c_columns[at], static_cast<std::int32_t>(j)) << i;
          ASSERT_EQ(values[at++], T(expected[j])) << i;
        }
      ASSERT_EQ(at, static_cast<std::size_t>(c_offsets[i + 1])) << i;
    }
    EXPECT_GE(products, std::int64_t{1} << 24) << "else they are found twice";
  });
}

/// The same bits with the pattern as by update(): rows that are merged, that teams hold, that are longer, with windows;
/// with an op, and of three matrices.
TEST_P(Spgemm, has_its_values_as_soon_as_it_is_made) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto check = [&]<class Offset>(Op op, const Csr<T, Offset>& A, const Csr<T, Offset>& B) {
      SpgemmPlan<T, Offset> made(ctx, op, A, Op::none, B, {.with_values = true}), updated(ctx, op, A, Op::none, B);
      updated.update(ctx, T(1), A, B);
      expect_same(updated.matrix(), made.matrix());
      EXPECT_EQ(made.longest_row(), updated.longest_row());
      made.update(ctx, T(1), A, B);
      expect_same(updated.matrix(), made.matrix());
    };
    for (const int of_A : {2, 5, 8, 16, 32})
      for (const int of_B : {1, 2, 8, 16, 32}) {
        const Csr<T> A = random_csr<T>(31, short_rows(301, 400, of_A)),
                     B = random_csr<T>(32, short_rows(400, of_B > 8 ? 90 : 500, of_B));
        check(Op::none, A, B);
        check(Op::adjoint, random_csr<T>(33, short_rows(400, 90, of_A)), B);
      }
    check(Op::none, random_csr<T>(31, factor_shape("A", 300, 2000)), random_csr<T>(32, factor_shape("B", 2000, 1900)));
    check(Op::none, random_csr<T>(31, factor_shape("A", 300, 2000)), random_csr<T>(32, factor_shape("B", 2000, 50)));
    const auto none = [](std::int32_t, std::mt19937_64&) { return 0; };
    check(Op::none, random_csr<T>(1, {"A", 5, 6, none}), random_csr<T>(2, {"B", 6, 7, none}));
    const Shape wide{"wide", 300, 600'000, [](std::int32_t row, std::mt19937_64&) { return row % 60; }};
    check(Op::none,
          random_csr<T, std::int64_t>(31, {"many", 20, 300,
                                           [](std::int32_t row, std::mt19937_64&) {
                                             return row == 7 ? 290 : row % 2 ? 100 : 3;
                                           }}),
          random_csr<T, std::int64_t>(32, wide));
    const Csr<T> A = random_csr<T>(41, short_rows(500, 500, 8)), P = random_csr<T>(42, short_rows(500, 60, 5));
    TripleProductPlan<T> made(ctx, Op::adjoint, P, A, P, {.with_values = true}), updated(ctx, Op::adjoint, P, A, P);
    updated.update(ctx, T(1), P, A, P);
    expect_same(updated.matrix(), made.matrix());
    EXPECT_THROW(SpgemmPlan<T>(ctx, Op::none, A, Op::none, A, {.with_values = true, .max_entries = 100}),
                 TooManyEntries);
  });
}

/// More columns than the bits of a window on CUDA, in a row that no team merges; in several pieces, with a list and
/// without, and under a mask that lacks every other entry.
TEST_P(Spgemm, has_wide_results_and_offsets_of_64_bits) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Shape many{"many", 20, 300, [](std::int32_t row, std::mt19937_64&) {
                       return row == 7 ? 290 : row % 2 ? 100 : 3;
                     }};
    for (const std::int32_t cols : {600'000, 3'000'000}) {  // few windows read all products, many their own
      const Shape wide{"wide", 300, cols, [](std::int32_t row, std::mt19937_64&) { return row % 60; }};
      const auto A = random_csr<T, std::int64_t>(31, many), B = random_csr<T, std::int64_t>(32, wide);
      Sums expected;
      add_product(expected, Op::none, Op::none, T(1), A, B);
      const auto C = spgemm(ctx, Op::none, Op::none, T(1), A, B);
      expect_entries(expected, C, "wide");
      EXPECT_GT(C.row_offsets().host()[8] - C.row_offsets().host()[7], 2 * detail::ProductTuning::piece);
      SpgemmPlan<T, std::int64_t> listed(ctx, Op::none, A, Op::none, B);
      listed.update(ctx, T(1), A, B);
      expect_same(C, listed.matrix());
      std::vector<std::int64_t> offsets{0};
      std::vector<std::int32_t> columns;
      Sums kept;
      for (std::int32_t i = 0; i < C.rows(); offsets.push_back(std::ssize(columns)), ++i)
        for (std::int64_t k = C.row_offsets().host()[static_cast<std::size_t>(i)] + 1,
                          end = C.row_offsets().host()[static_cast<std::size_t>(i) + 1];
             k < end; k += 2) {
          columns.push_back(C.col_indices().host()[static_cast<std::size_t>(k)]);
          kept[{i, columns.back()}] = expected[{i, columns.back()}];
        }
      std::vector<T> values(columns.size());
      const Csr<T, std::int64_t> mask(C.cols(), Array(std::move(offsets)), Array(std::move(columns)),
                                      Array(std::move(values)));
      SpgemmPlan<T, std::int64_t> masked(ctx, Op::none, A, Op::none, B, mask);
      masked.update(ctx, T(1), A, B);
      expect_entries(kept, masked.matrix(), "masked");
    }
  });
}

TEST_P(Spgemm, has_results_without_entries) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto none = [](std::int32_t, std::mt19937_64&) { return 0; };
    for (const auto& [m, k, n] : {std::tuple{0, 5, 4}, {5, 0, 4}, {5, 4, 0}, {5, 6, 7}}) {
      const auto C = spgemm(ctx, Op::none, Op::none, T(1), random_csr<T>(1, {"A", m, k, none}),
                            random_csr<T>(2, {"B", k, n, none}));
      EXPECT_EQ(C.rows(), m);
      EXPECT_EQ(C.cols(), n);
      EXPECT_EQ(C.nnz(), 0);
    }
  });
}

/// (A B) x = A (B x), to within the rounding of all three products.
TEST_P(Spgemm, multiplies_as_its_factors_do) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(31, nasty_shapes().back()), B = random_csr<T>(32, nasty_shapes().back());
    const Array<T> x(std::vector<T>(static_cast<std::size_t>(B.cols()), T(1)));
    Array<T> once(A.rows()), inner(B.rows()), twice(A.rows());
    spmv(ctx, Op::none, T(1), spgemm(ctx, Op::none, Op::none, T(1), A, B), x, T(0), once);
    spmv(ctx, Op::none, T(1), B, x, T(0), inner);
    spmv(ctx, Op::none, T(1), A, inner, T(0), twice);
    // Rows have up to 4 entries of modulus up to sqrt 2, so a sum has 16 terms of up to 2.
    for (std::int64_t i = 0; i < A.rows(); ++i)
      ASSERT_LE(std::abs(once.host()[static_cast<std::size_t>(i)] - twice.host()[static_cast<std::size_t>(i)]),
                32 * 24 * std::numeric_limits<real_t<T>>::epsilon());
  });
}

TEST_P(Spgemm, keeps_entries_that_cancel) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A(2, Array<std::int32_t>{0, 2}, Array<std::int32_t>{0, 1}, Array<T>{T(1), T(-1)});
    const Csr<T> B(2, Array<std::int32_t>{0, 2, 3}, Array<std::int32_t>{0, 1, 1}, Array<T>{T(2), T(3), T(3)});
    const Csr<T> C = spgemm(ctx, Op::none, Op::none, T(1), A, B);
    EXPECT_EQ(contents(C.col_indices()), (std::vector<std::int32_t>{0, 1}));
    EXPECT_EQ(contents(C.values()), (std::vector<T>{T(2), T(0)}));
  });
}

TEST_P(Spgemm, follows_new_values_in_captures_and_does_nothing_when_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Op op : all_ops) {
      const auto A = random_csr<T>(31, factor_shape("A", 300, 2000));
      const auto B = random_csr<T>(32, op == Op::none ? factor_shape("B", 2000, 1900) : factor_shape("B", 1900, 2000));
      Csr<T> other = B.clone();
      const auto values = random_vector<T>(33, B.nnz());
      std::copy(values.begin(), values.end(), other.values().edit().begin());
      const Array<T> two{T(2)};
      SpgemmPlan<T> plan(ctx, Op::none, A, op, B);
      plan.update(ctx, T(1), A, B);
      replay(ctx, [&] { plan.update(ctx, two, A, other); });
      const Csr<T> again = spgemm(ctx, Op::none, op, T(2), A, other);
      expect_same(again, plan.matrix());
      run_skipped(ctx, [&] { plan.update(ctx, T(1), A, B); });
      expect_same(again, plan.matrix());
    }
  });
}

/// On CUDA a plan for many values keeps the place of each product where entries have more than five: of bands, whose
/// rows of C a small team holds, a large one, or pieces, some beside rows of one entry.
TEST_P(Spgemm, sums_by_places_that_were_kept_as_by_seeking_them) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t half : {7, 40, 180}) {
      constexpr std::int32_t n = 700;
      std::vector<std::int32_t> offsets{0}, columns;
      for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = std::max(0, i - half); j <= std::min(n - 1, i + half); ++j)
          if (i % 50 != 9 || j == i) columns.push_back(j);
        offsets.push_back(static_cast<std::int32_t>(columns.size()));
      }
      const auto entries = static_cast<std::int64_t>(columns.size());
      const Csr<T> A(n, Array(offsets), Array(columns), Array(random_vector<T>(34, entries))),
          B(n, Array(offsets), Array(columns), Array(random_vector<T>(35, entries)));
      SpgemmPlan<T> plan(ctx, Op::none, A, Op::none, B);
      const SpgemmPlan<T> seeking(ctx, Op::none, A, Op::none, B, {.max_list_bytes = 0});
      std::int64_t products = 0;
      for (const std::int32_t named : columns)
        products += offsets[static_cast<std::size_t>(named) + 1] - offsets[static_cast<std::size_t>(named)];
      const std::size_t kept = ctx.on_cuda() ? 2 * static_cast<std::size_t>(products) : 0;
      EXPECT_GE(plan.bytes(), seeking.bytes() + kept) << half;
      plan.update(ctx, T(2), A, B);
      expect_same(spgemm(ctx, Op::none, Op::none, T(2), A, B), plan.matrix());
      plan.update(ctx, T(3), B, A);
      expect_same(spgemm(ctx, Op::none, Op::none, T(3), B, A), plan.matrix());
    }
  });
}

TEST_P(Spgemm, adds_another_matrix) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto A = random_csr<T>(31, short_rows(150, 400, 8)), B = random_csr<T>(32, short_rows(400, 500, 8));
    const auto D = random_csr<T>(33, short_rows(150, 500, 16));
    const auto made = [&](std::optional<Scalar<T>> alpha, std::optional<Scalar<T>> beta) {
      return spgemm(ctx, Op::none, Op::none, alpha, A, B, beta, D);
    };
    Sums product, of_D;
    add_product(product, Op::none, Op::none, T(2), A, B);
    add_to(of_D, Op::none, T(3), D);
    expect_entries(product, made(T(2), std::nullopt), "without beta");
    expect_entries(of_D, made(std::nullopt, T(3)), "without alpha");
    add_to(product, Op::none, T(3), D);
    expect_entries(product, made(T(2), T(3)), "both");
    EXPECT_THROW(made(std::nullopt, std::nullopt), InvalidArgument);
    EXPECT_THROW(
        spgemm(ctx, Op::none, Op::none, std::optional<Scalar<T>>(T(1)), A, B, std::optional<Scalar<T>>(T(1)), A),
        ShapeMismatch);
  });
}

/// Trap 10: a factor that is left out leaves its term out, one of zero keeps the term's pattern. Trap 21: there are no
/// steps or buffers to mix up; a plan finds the pattern, update() the values.
TEST_P(Spgemm, TV_GEMM2_and_trap_10_tells_no_factor_from_zero_and_trap_21_has_no_steps) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A(2, Array<std::int32_t>{0, 2, 3}, Array<std::int32_t>{0, 1, 1}, Array<T>{T(1), T(2), T(3)});
    const Csr<T> B(3, Array<std::int32_t>{0, 2, 3}, Array<std::int32_t>{0, 2, 0}, Array<T>{T(1), T(4), T(5)});
    const Csr<T> D(3, Array<std::int32_t>{0, 1, 2}, Array<std::int32_t>{1, 0}, Array<T>{T(7), T(1)});
    using Factor = std::optional<Scalar<T>>;
    const auto expect = [&](Factor beta, std::vector<std::int32_t> offsets, std::vector<std::int32_t> columns,
                            std::vector<T> values) {
      const Csr<T> C = spgemm(ctx, Op::none, Op::none, Factor(T(-1)), A, B, beta, D);
      EXPECT_EQ(contents(C.row_offsets()), offsets);
      EXPECT_EQ(contents(C.col_indices()), columns);
      EXPECT_EQ(contents(C.values()), values);
    };
    expect(Factor(T(1)), {0, 3, 4}, {0, 1, 2, 0}, {T(-11), T(7), T(-4), T(-14)});
    expect(std::nullopt, {0, 2, 3}, {0, 2, 0}, {T(-11), T(-4), T(-15)});
    expect(Factor(T(0)), {0, 3, 4}, {0, 1, 2, 0}, {T(-11), T(0), T(-4), T(-15)});
    SpgemmPlan<T> plan(ctx, Op::none, A, Op::none, B);
    EXPECT_EQ(contents(plan.matrix().col_indices()), (std::vector<std::int32_t>{0, 2, 0}));
    plan.update(ctx, T(-1), A, B);
    EXPECT_EQ(contents(plan.matrix().values()), (std::vector<T>{T(-11), T(-4), T(-15)}));
  });
}

/// Entries of the mask that no product meets, products without a place in it, and rows of every length.
TEST_P(Spgemm, leaves_out_what_a_mask_does_not_have) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Op op : all_ops) {
      const auto A = random_csr<T>(31, factor_shape("A", 300, 2000));
      const auto B = random_csr<T>(32, op == Op::none ? factor_shape("B", 2000, 1900) : factor_shape("B", 1900, 2000));
      const auto mask = random_csr<T>(34, factor_shape("mask", 300, 1900));
      Sums products, expected;
      add_product(products, Op::none, op, T(2), A, B);
      for_entries_of(Op::none, mask, [&](std::int32_t i, std::int32_t j, LongComplex) {
        const auto found = products.find({i, j});
        expected[{i, j}] = found == products.end() ? Sum{} : found->second;
      });
      SpgemmPlan<T> plan(ctx, Op::none, A, op, B, mask);
      const Array<T> two{T(2)};
      replay(ctx, [&] { plan.update(ctx, two, A, B); });
      expect_entries(expected, plan.matrix(), "masked");
      EXPECT_THROW(SpgemmPlan<T>(ctx, Op::none, A, op, B, A), ShapeMismatch);
    }
  });
}

/// P^H A P of a Hermitian A is Hermitian, and R A P what its two products are; with new values, too.
TEST_P(Spgemm, multiplies_three_matrices) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto half = random_csr<T>(31, short_rows(400, 400, 8)), P = random_csr<T>(32, short_rows(400, 60, 8));
    const auto A = spgeam(ctx, Op::none, Op::adjoint, T(1), half, T(1), half);
    TripleProductPlan<T> plan(ctx, Op::adjoint, P, A, P);
    plan.update(ctx, T(1), P, A, P);
    const Csr<T>& C = plan.matrix();
    EXPECT_GE(plan.bytes(), C.bytes());
    ASSERT_EQ(C.rows(), 60);
    ASSERT_EQ(C.cols(), 60);
    Sums expected;
    for_entries_of(Op::adjoint, C, [&](std::int32_t i, std::int32_t j, LongComplex value) {
      Sum& sum = expected[{i, j}];
      // An entry is made of up to 8 x 8 x 16 terms of moduli up to sqrt 8, in either order.
      sum.value = value, sum.moduli = 3 * 1024, sum.terms = 1024;
    });
    expect_entries(expected, C, "Hermitian");

    Csr<T> other = A.clone();
    const auto values = random_vector<T>(33, A.nnz());
    std::copy(values.begin(), values.end(), other.values().edit().begin());
    const Array<T> two{T(2)};
    replay(ctx, [&] { plan.update(ctx, two, P, other, P); });
    expect_same(spgemm(ctx, Op::adjoint, Op::none, T(2), P, spgemm(ctx, Op::none, Op::none, T(1), other, P)),
                plan.matrix());
    EXPECT_THROW(TripleProductPlan<T>(ctx, Op::none, P, A, P), ShapeMismatch);
  });
}

/// What a multigrid method restricts by: R itself, or the transpose that the plan keeps, with values of the last
/// update.
TEST_P(Spgemm, lends_the_restriction_of_a_triple_product) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto A = random_csr<T>(31, short_rows(90, 90, 8)), P = random_csr<T>(32, short_rows(90, 20, 2));
    Csr<T> other = P.clone();
    const auto values = random_vector<T>(33, P.nnz());
    std::copy(values.begin(), values.end(), other.values().edit().begin());
    for (const Op op : {Op::transpose, Op::adjoint}) {
      TripleProductPlan<T> plan(ctx, op, P, A, P);
      expect_same(transpose(ctx, P, op), plan.restriction(P));
      plan.update(ctx, T(1), other, A, other);
      expect_same(transpose(ctx, other, op), plan.restriction(other));
    }
    const auto R = transpose(ctx, P);
    const TripleProductPlan<T> plan(ctx, Op::none, R, A, P);
    EXPECT_EQ(&plan.restriction(R), &R);
  });
}

/// Sums end in double: 1 and terms of a quarter of epsilon each, which sums in single precision would lose one by one.
/// Rows that a thread merges, that teams have, and of a plan that lists products; new values alike.
TEST_P(Spgemm, adds_in_double) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    constexpr real_t<T> small = std::numeric_limits<real_t<T>>::epsilon() / 4;
    for (const std::int32_t terms : {7, 12, 900}) {
      for (const std::int32_t rows : {1, 40}) {  // where rows of one entry follow, products are few enough for a list
        std::vector<std::int32_t> offsets{0}, columns;
        std::vector<T> values;
        for (std::int32_t row = 0; row < rows; ++row) {
          for (std::int32_t k = 0; k < (row == 0 ? terms : 1); ++k)
            columns.push_back(k), values.push_back(k == 0 ? T(1) : T(small));
          offsets.push_back(static_cast<std::int32_t>(columns.size()));
        }
        const Csr<T> A(terms, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values)));
        std::vector<std::int32_t> ascending(static_cast<std::size_t>(terms) + 1);
        std::iota(ascending.begin(), ascending.end(), 0);
        const Csr<T> B(1, Array(std::move(ascending)),
                       Array(std::vector<std::int32_t>(static_cast<std::size_t>(terms))),
                       Array(std::vector<T>(static_cast<std::size_t>(terms), T(1))));
        wide_t<T> expected(1);
        for (std::int32_t k = 1; k < terms; ++k) expected += wide_t<T>(small);
        SpgemmPlan<T> plan(ctx, Op::none, A, Op::none, B);
        plan.update(ctx, T(1), A, B);
        EXPECT_EQ(contents(plan.matrix().values())[0], T(expected)) << terms << " terms, " << rows << " rows";
        EXPECT_EQ(contents(spgemm(ctx, Op::none, Op::none, T(1), A, B).values())[0], T(expected)) << terms;
      }
    }
  });
}

/// So many entries that the host wakes its threads.
TEST_P(Spgemm, is_the_same_for_any_number_of_threads) {
  if (std::get<0>(GetParam()) != Backend::host) GTEST_SKIP();
  with_scalar([&]<class T>(T) {
    const Csr<T> A = random_csr<T>(31, nasty_shapes().back()), B = random_csr<T>(32, nasty_shapes().back());
    const auto made = [&](int threads) {
      Context ctx = Context::host(threads);
      return spgemm(ctx, Op::none, Op::none, T(2), A, B);
    };
    const Csr<T> first = made(1);
    expect_same(first, made(2));
    expect_same(first, made(3));
  });
}

/// A column times a row. On the host it would take seconds to count that.
TEST_P(Spgemm, refuses_more_entries_than_offsets_of_32_bits_hold) {
  if (std::get<0>(GetParam()) != Backend::cuda) GTEST_SKIP();
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    constexpr std::int32_t n = 46'341;  // n n > 2^31 - 1
    std::vector<std::int32_t> places(n + 1);
    std::iota(places.begin(), places.end(), 0);
    const Csr<T> column(1, Array(places), Array(std::vector<std::int32_t>(n)), Array(std::vector<T>(n, T(1))));
    places.pop_back();
    const Csr<T> row(n, Array<std::int32_t>{0, n}, Array(std::move(places)), Array(std::vector<T>(n, T(1))));
    EXPECT_NE(complaint<InvalidArgument>([&] {
                SpgemmPlan<T>(ctx, Op::none, column, Op::none, row);
              }).find("2147488281 entries do not fit 32-bit row offsets"),
              std::string::npos);
  });
}

TEST_P(Spgemm, refuses_more_entries_than_it_may_have) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto A = random_csr<T>(31, factor_shape("A", 300, 2000)),
               B = random_csr<T>(32, factor_shape("B", 2000, 1900));
    const std::int64_t entries = spgemm(ctx, Op::none, Op::none, T(1), A, B).nnz();
    const auto made = [&](std::int64_t most) {
      return SpgemmPlan<T>(ctx, Op::none, A, Op::none, B, {.max_entries = most}).matrix().nnz();
    };
    EXPECT_EQ(made(entries), entries);
    EXPECT_EQ(complaint<TooManyEntries>([&] { made(entries - 1); }),
              "spgemm: the product has " + std::to_string(entries) + " entries, more than the " +
                  std::to_string(entries - 1) + " that it may have");
  });
}

TEST_P(Spgemm, refuses_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(31, nasty_shapes()[6]), B = random_csr<T>(32, nasty_shapes()[6]);  // 1000 x 900
    EXPECT_THROW(SpgemmPlan<T>(ctx, Op::none, A, Op::none, B), ShapeMismatch);
    SpgemmPlan<T> plan(ctx, Op::none, A, Op::transpose, B);
    EXPECT_THROW(plan.update(ctx, T(1), B, B), ShapeMismatch);  // as many rows, other entries
    EXPECT_THROW(plan.update(ctx, T(1), A, A), ShapeMismatch);
    const Csr<T> I = identity<T>(50);
    SpgemmPlan<T> same(ctx, Op::none, I, Op::none, I);
    EXPECT_THROW(same.update(ctx, T(1), same.matrix(), I), InvalidArgument);
    if (ctx.on_cuda()) {
      Context host = Context::host();
      EXPECT_THROW(plan.update(host, T(1), A, B), InvalidArgument);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Spgemm, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
