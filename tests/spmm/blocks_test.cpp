#include "sparse/spmm/blocks.hpp"

#include "sparse/convert/formats.hpp"
#include "tests/spmm/narrow_operands.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using NarrowBlocks = OnBackend;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// f(T{}, Result{}) for each pair of types.
template <class F>
void for_narrow_types(F&& f) {
  f(Half(), Half()), f(Half(), float()), f(BFloat16(), BFloat16()), f(BFloat16(), float());
}

template <class T>
Array<T> narrowed(const std::vector<float>& values) {
  std::vector<T> made;
  for (const float value : values) made.push_back(T(value));
  return Array(std::move(made));
}

/// The same entries in blocks of 16 bits, and for the judge.
template <class T>
struct InBlocks {
  Bsr<T> bsr;
  Reference reference;

  InBlocks(Context& ctx, Csr<float> A, Blocking blocks) : InBlocks(to_bsr(ctx, rounded(A), blocks), A) {}

 private:
  InBlocks(const Bsr<float>& made, const Csr<float>& A)
      : bsr(made.rows(), made.cols(), made.blocks(), made.row_offsets().clone(), made.col_indices().clone(),
            narrowed<T>(contents(made.values()))),
        reference(krill::test::reference(A)) {}
  static const Csr<float>& rounded(Csr<float>& A) {
    for (float& value : A.values().edit()) value = T(value);
    return A;
  }
};
template <class T>
BlockedEll<T> narrow_blocked_ell(Context& ctx, const Csr<float>& A, std::int32_t dim) {
  const BlockedEll<float> made = to_blocked_ell(ctx, A, dim, GrowthLimit{1e9});
  return {
      made.rows(), made.cols(), dim, made.ell_cols(), made.col_indices().clone(), narrowed<T>(contents(made.values()))};
}

/// C against the judge; `units` of a float's rounding are what one addition may lose.
template <class T, class Result>
void expect_blocks(Op op_b, float alpha, const Reference& A, const Dense<T>& B, float beta, const Dense<Result>& before,
                   const Dense<Result>& C, double units, const std::string& what) {
  for (std::int64_t j = 0; j < C.cols(); ++j) {
    const Product expected = product(Op::none, alpha, A, judged_column(B, op_b, j), beta,
                                     judged_column(before, Op::none, j), units * epsilon<float>());
    for (std::int64_t i = 0; i < C.rows(); ++i) {
      const Z wanted = expected.y[static_cast<std::size_t>(i)];
      const double sums = expected.bound[static_cast<std::size_t>(i)];
      const double bound = sums + Rounding<Result>::epsilon * (std::abs(wanted) + sums) + Rounding<Result>::least;
      ASSERT_LE(std::abs(Z(float(C.host().at(i, j))) - wanted), bound) << what << ", entry " << i << ", " << j;
    }
  }
}

/// A product by each of the units. Tensor cores truncate where others round, which loses up to twice as much.
template <class T, class Result, class Matrix>
void expect_products(Context& ctx, const Matrix& A, const Reference& reference, std::int64_t k, Order of_b, Order of_c,
                     const std::string& what) {
  const Op op_b = ops[k % 3];
  const std::int64_t padding = k % 4 == 0 ? 0 : k % 4 + 4, rows = op_b == Op::none ? A.cols() : k;
  const float alpha = 0.75f, beta = k % 2 ? -1.5f : 0.0f;
  const auto B = random_numbers_in<T>(3, rows, op_b == Op::none ? k : A.cols(), of_b, padding);
  auto before = random_numbers_in<Result>(4, A.rows(), k, of_c, padding);
  if (beta == 0) std::ranges::fill(before.values().edit(), Result(nan));
  for (const TensorCores units : {TensorCores::none, TensorCores::allowed}) {
    auto C = before.clone();
    spmm_mixed(ctx, op_b, alpha, A, B, beta, C, units);
    expect_blocks(op_b, alpha, reference, B, beta, before, C, units == TensorCores::none ? 1 : 2,
                  what + (units == TensorCores::none ? "" : ", tensor cores"));
    const std::int64_t line = C.order() == Order::column_major ? C.rows() : C.cols();
    for (std::int64_t p = 0; p < C.values().size(); ++p) {
      const bool is_padding = p % C.leading_dimension() >= line;
      ASSERT_TRUE(!is_padding || std::isnan(float(C.values().host()[static_cast<std::size_t>(p)]))) << what;
    }
  }
}

/// Rows and columns that blocks do not divide, block rows without a block, more rows than columns.
const Shape block_shapes[] = {
    {"75 x 61", 75, 61,
     [](std::int32_t row, std::mt19937_64& engine) {
       return row / 16 == 1 ? 0 : static_cast<std::int32_t>(engine() % 9);
     }},
    {"192 x 256", 192, 256,
     [](std::int32_t, std::mt19937_64& engine) { return static_cast<std::int32_t>(engine() % 40); }},
    {"1 x 300", 1, 300, [](std::int32_t, std::mt19937_64&) { return 150; }}};

TEST_P(NarrowBlocks, follow_the_formula_for_every_size_width_and_order) {
  Context ctx = context();
  const Blocking blockings[] = {{2, 2},   {3, 3, BlockOrder::column_major},  {4, 8}, {16, 16},
                                {16, 32}, {16, 16, BlockOrder::column_major}};
  int number = 0;
  for_narrow_types([&]<class T, class Result>(T, Result) {
    ++number;
    for (const Shape& shape : block_shapes) {
      const Csr<float> A = random_csr<float>(31, shape);
      for (const Blocking& blocks : blockings) {
        const InBlocks<T> made(ctx, A.clone(), blocks);
        for (const std::int64_t k : {1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 64, 136}) {
          if (++number % 3 != 0) continue;  // another third of all with each kind of numbers
          const Order of_b = orders[k % 2], of_c = orders[k / 2 % 2];
          const auto what = shape.name + ", " + std::to_string(blocks.row_dim) + " x " +
                            std::to_string(blocks.col_dim) + ", " + std::to_string(k) + " columns";
          expect_products<T, Result>(ctx, made.bsr, made.reference, k, of_b, of_c, what);
          if (blocks.row_dim != blocks.col_dim || blocks.order == BlockOrder::column_major) continue;
          Csr<float> rounded = A.clone();
          for (float& value : rounded.values().edit()) value = T(value);
          const auto ell = narrow_blocked_ell<T>(ctx, rounded, blocks.row_dim);
          expect_products<T, Result>(ctx, ell, made.reference, k, of_c, of_b, what + ", blocked_ell");
        }
      }
    }
  });
}

/// Blocked-ELL whose last block in a row is cut, as its ell_cols says.
TEST_P(NarrowBlocks, may_have_a_last_block_of_fewer_columns) {
  Context ctx = context();
  const std::int32_t dim = 16, ell_cols = 20;
  std::vector<float> values(32 * ell_cols);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int>(i % 7) - 3);
  const BlockedEll<Half> A(32, 40, dim, ell_cols, Array<std::int32_t>{0, 2, 1, -1}, narrowed<Half>(values));
  validate(A);
  Reference reference{32, 40, {}, {}, {}};
  for (std::int32_t i = 0; i < 32; ++i)
    for (std::int32_t c = 0; c < (i < 16 ? ell_cols : dim); ++c) {
      const std::int32_t block = i < 16 ? (c < dim ? 0 : 2) : 1;
      reference.row.push_back(i), reference.col.push_back(block * dim + c % dim);
      reference.value.push_back(values[static_cast<std::size_t>(i * ell_cols + c)]);
    }
  for (const std::int64_t k : {3, 24, 64})
    expect_products<Half, float>(ctx, A, reference, k, orders[0], orders[1], "cut");
}

/// Zeros that fill up blocks are no entries, but to tensor cores, which is how they are told apart.
TEST_P(NarrowBlocks, zeros_take_no_part_but_in_tensor_cores) {
  Context ctx = context();
  std::vector<float> values(256, 0.0f);
  values[0] = 2;  // entry (0, 0)
  const Bsr<Half> A(16, 16, {16, 16}, Array<std::int32_t>{0, 1}, Array<std::int32_t>{0}, narrowed<Half>(values));
  Dense<Half> B = random_numbers_in<Half>(3, 16, 32, Order::row_major, 0);
  for (std::int64_t j = 0; j < 32; ++j) B.edit().at(5, j) = Half(nan);
  Dense<float> C(16, 32), D(16, 32);
  spmm_mixed(ctx, Op::none, 1, A, B, 0, C);
  spmm_mixed(ctx, Op::none, 1, A, B, 0, D, TensorCores::allowed);
  for (std::int64_t j = 0; j < 32; ++j) {
    EXPECT_EQ(C.host().at(0, j), 2 * B.host().at(0, j));
    EXPECT_EQ(C.host().at(7, j), 0);
    EXPECT_EQ(std::isnan(D.host().at(7, j)), ctx.on_cuda()) << "only on a device of compute capability 8.0";
  }
}

TEST_P(NarrowBlocks, stand_in_a_loop_heed_its_skip_and_repeat_bit_by_bit) {
  Context ctx = context();
  const InBlocks<BFloat16> A(ctx, random_csr<float>(31, block_shapes[1]), {16, 16});
  for (const TensorCores units : {TensorCores::none, TensorCores::allowed})
    for (const Order order : orders) {
      const auto B = random_numbers_in<BFloat16>(3, 256, 24, order, 0),
                 other = random_numbers_in<BFloat16>(5, 256, 24, order, 0);
      Dense<float> C(192, 24), once(192, 24);
      spmm_mixed(ctx, Op::none, 2, A.bsr, B, 0, once, units);
      replay(ctx, [&] { spmm_mixed(ctx, Op::none, 2, A.bsr, B, 0, C, units); });
      EXPECT_EQ(contents(C.values()), contents(once.values()));
      run_skipped(ctx, [&] { spmm_mixed(ctx, Op::none, 2, A.bsr, other, 0, C, units); });
      EXPECT_EQ(contents(C.values()), contents(once.values()));
    }
}

TEST_P(NarrowBlocks, refuse_what_does_not_fit) {
  Context ctx = context();
  const InBlocks<Half> A(ctx, random_csr<float>(31, block_shapes[1]), {16, 16});
  const Dense<Half> B(255, 4), right(256, 4);
  Dense<float> C(192, 4), narrow(192, 3);
  EXPECT_EQ(complaint<ShapeMismatch>([&] { spmm_mixed(ctx, Op::none, 1, A.bsr, B, 0, C); }),
            "spmm_mixed: rows of op(B) has 255 entries, 256 are needed");
  EXPECT_EQ(complaint<ShapeMismatch>([&] { spmm_mixed(ctx, Op::none, 1, A.bsr, right, 0, narrow); }),
            "spmm_mixed: columns of C has 3 entries, 4 are needed");
}

INSTANTIATE_TEST_SUITE_P(, NarrowBlocks, backends, param_name);

}  // namespace
}  // namespace krill::test
