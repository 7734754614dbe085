#include "sparse/spmm/mixed.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "sparse/convert/convert.hpp"
#include "tests/spmm/narrow_operands.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

constexpr const char* row_names[] = {"float16",
                                     "complex_float16",
                                     "float16_to_float32",
                                     "bfloat16",
                                     "complex_bfloat16",
                                     "bfloat16_to_float32",
                                     "int8_to_int32",
                                     "int8_to_float32",
                                     "float32_by_float64",
                                     "complex64_by_complex128"};
constexpr int row_count = std::tuple_size_v<MixedTable>;
static_assert(std::size(row_names) == row_count);

/// A test on each backend with each row of the table.
class Mixed : public ::testing::TestWithParam<std::tuple<Backend, int>> {
 protected:
  void SetUp() override {
    if (std::get<0>(GetParam()) == Backend::cuda && device::count() == 0) GTEST_SKIP() << device::absence();
  }
  Context context() const { return make_context(std::get<0>(GetParam())); }

  /// use(Types{}) with the row that the parameter names.
  template <class F, std::size_t... Row>
  static void with_row(int wanted, F&& use, std::index_sequence<Row...>) {
    ((static_cast<int>(Row) == wanted ? use(mixed_row_t<Row>{}) : void()), ...);
  }
  template <class F>
  void with_types(F&& use) const {
    with_row(std::get<1>(GetParam()), use, std::make_index_sequence<row_count>());
  }
};

/// Storage is exact: what may be lost is what the type of computation loses in each sum, and one rounding at the end,
/// of two parts where the result is complex.
template <class Types>
void expect_within(const Array<typename Types::Result>& y, const Product& expected, const std::string& what) {
  using Final = Rounding<typename Types::Result>;
  ASSERT_EQ(static_cast<std::size_t>(y.size()), expected.y.size()) << what;
  for (std::size_t i = 0; i < expected.y.size(); ++i) {
    const double bound =
        expected.bound[i] + Final::epsilon * (std::abs(expected.y[i]) + expected.bound[i]) + Final::least;
    ASSERT_LE(std::abs(judged(y.host()[i]) - expected.y[i]), bound) << what << ", entry " << i;
  }
}

/// A matrix in the judge's type and in every form that the product takes.
template <class T>
struct Forms {
  Csr<T> csr;
  Csr<T, std::int64_t> long_csr;
  Coo<T> coo;
  CooAos<T> coo_aos;
  Reference reference;
};

template <class T>
Forms<T> random_forms(Context& ctx, std::uint64_t seed, const Shape& shape) {
  const Csr<float> pattern = random_csr<float>(seed, shape);
  const Csr<float, std::int64_t> longer = with_offsets<std::int64_t>(ctx, pattern.clone());
  const std::vector<T> values = random_numbers<T>(seed + 1, pattern.nnz());
  Reference reference = krill::test::reference(pattern);
  reference.value = judged(values);
  std::vector<std::int32_t> pairs;
  for (std::size_t k = 0; k < values.size(); ++k) pairs.push_back(reference.row[k]), pairs.push_back(reference.col[k]);
  return {{shape.cols, pattern.row_offsets().clone(), pattern.col_indices().clone(), Array(values)},
          {shape.cols, longer.row_offsets().clone(), longer.col_indices().clone(), Array(values)},
          {shape.rows, shape.cols, Array(reference.row), Array(reference.col), Array(values)},
          {shape.rows, shape.cols, Array(pairs), Array(values)},
          std::move(reference)};
}

template <class Index>
Array<Index> one_based(const Array<Index>& indices) {
  std::vector<Index> v = contents(indices);
  for (Index& index : v) ++index;
  return Array(std::move(v));
}

/// One-based views of every form, through the overloads below the door.
template <class Types>
void expect_views_within(Context& ctx, Op op, typename Types::Compute alpha, const Forms<typename Types::Storage>& A,
                         const Array<typename Types::Vector>& x, const Product& expected, const std::string& what) {
  using T = kernel_t<typename Types::Storage>;
  Array<typename Types::Result> y(std::ssize(expected.y));
  const auto offsets = one_based(A.csr.row_offsets());
  const auto long_offsets = one_based(A.long_csr.row_offsets());
  const auto rows = one_based(A.coo.row_indices()), cols = one_based(A.coo.col_indices()),
             pairs = one_based(A.coo_aos.indices());
  const std::int32_t m = A.csr.rows(), n = A.csr.cols();
  ctx.dispatch([&](const auto& where) {
    const auto run = [&]<class View>(const View& view) {
      const Scalar<typename Types::Compute> factor(alpha);
      const auto column = [](auto* values, std::int64_t size) {
        return DenseView<std::remove_pointer_t<decltype(values)>>{static_cast<std::int32_t>(size), 1, size,
                                                                  Order::column_major, values};
      };
      const auto from = column(x.read(where), x.size());
      if (y.size() > 0)
        run_product(
            where, op,
            MixedProduct<Types, View>{{factor.read(where), from, false, {}, column(y.write(where), y.size())}, view});
      expect_within<Types>(y, expected, what);
    };
    const T* values = A.csr.values().read(where);
    const std::int64_t nnz = A.csr.nnz();
    run(CsrView<const T>{m, n, nnz, offsets.read(where), cols.read(where), values, IndexBase::one});
    run(CsrView<const T, std::int64_t>{m, n, nnz, long_offsets.read(where), cols.read(where), values, IndexBase::one});
    run(CooView<const T>{m, n, nnz, rows.read(where), cols.read(where), values, IndexBase::one});
    const std::int32_t* both = pairs.read(where);
    run(CooView<const T>{m, n, nnz, both, both + 1, values, IndexBase::one, 2});
  });
}

TEST_P(Mixed, follows_its_formula_for_every_shape_op_format_and_base) {
  with_types([&]<class Types>(Types) {
    using Result = typename Types::Result;
    using Compute = typename Types::Compute;
    constexpr double epsilon = Rounding<Compute>::epsilon;
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const auto A = random_forms<typename Types::Storage>(ctx, 61, shape);
      for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
        const auto x = random_numbers<typename Types::Vector>(63, A.csr.cols(op));
        const auto y0 = random_numbers<Result>(64, A.csr.rows(op));
        const Array<typename Types::Vector> ax(x);
        const auto factors = random_numbers<Compute>(65, 2);
        const auto expect = [&](Compute beta, const std::vector<Result>& before, const Product& expected) {
          const auto run = [&](const auto& matrix) {
            Array<Result> y(before);
            spmv_mixed(ctx, op, factors[0], matrix, ax, beta, y);
            expect_within<Types>(y, expected, shape.name);
          };
          run(A.csr), run(A.long_csr), run(A.coo), run(A.coo_aos);
        };
        const auto judge = [&](Compute beta) {
          return product(op, judged(factors[0]), A.reference, judged(x), judged(beta), judged(y0), epsilon);
        };
        expect(factors[1], y0, judge(factors[1]));
        const Product without = judge(Compute(0));
        expect(Compute(0), std::vector<Result>(y0.size(), not_a_number<Result>()), without);
        expect_views_within<Types>(ctx, op, factors[0], A, ax, without, shape.name);
      }
    }
  });
}

TEST_P(Mixed, scalars_may_lie_in_arrays) {
  with_types([&]<class Types>(Types) {
    using Result = typename Types::Result;
    using Compute = typename Types::Compute;
    Context ctx = context();
    const auto A = random_forms<typename Types::Storage>(ctx, 71, nasty_shapes()[7]);
    const Array<typename Types::Vector> x(random_numbers<typename Types::Vector>(72, A.csr.cols()));
    const Array<Compute> two{Compute(2)}, zero{Compute(0)};
    Array<Result> y(A.csr.rows()),
        z(std::vector<Result>(static_cast<std::size_t>(A.csr.rows()), not_a_number<Result>()));
    spmv_mixed(ctx, Op::none, Compute(2), A.csr, x, Compute(0), y);
    spmv_mixed(ctx, Op::none, two, A.csr, x, zero, z);
    EXPECT_EQ(judged(contents(y)), judged(contents(z)));
  });
}

TEST_P(Mixed, gives_the_same_bits_every_time) {
  with_types([&]<class Types>(Types) {
    using Result = typename Types::Result;
    using Compute = typename Types::Compute;
    Context ctx = context(), one = Context::host(1);
    const auto A = random_forms<typename Types::Storage>(ctx, 73, nasty_shapes().back());
    for (const Op op : {Op::none, Op::adjoint}) {
      const Array<typename Types::Vector> x(random_numbers<typename Types::Vector>(74, A.csr.cols(op)));
      Array<Result> y(A.csr.rows(op)), again(A.csr.rows(op));
      spmv_mixed(ctx, op, Compute(1), A.csr, x, Compute(0), y);
      for (int i = 0; i < 3; ++i) {
        spmv_mixed(ctx.on_cuda() ? ctx : one, op, Compute(1), A.csr, x, Compute(0), again);
        ASSERT_EQ(judged(contents(y)), judged(contents(again)));
      }
    }
  });
}

TEST_P(Mixed, stands_in_a_loop_and_heeds_its_skip) {
  with_types([&]<class Types>(Types) {
    using Result = typename Types::Result;
    using Compute = typename Types::Compute;
    Context ctx = context();
    const auto A = random_forms<typename Types::Storage>(ctx, 75, nasty_shapes()[6]);
    for (const Op op : {Op::none, Op::adjoint}) {
      const Array<typename Types::Vector> x(random_numbers<typename Types::Vector>(76, A.csr.cols(op)));
      Array<Result> y(A.csr.rows(op)), once(A.csr.rows(op));
      const auto run = [&](const auto& matrix) {
        spmv_mixed(ctx, op, Compute(1), matrix, x, Compute(0), once);
        replay(ctx, [&] { spmv_mixed(ctx, op, Compute(1), matrix, x, Compute(0), y); });
        EXPECT_EQ(judged(contents(y)), judged(contents(once)));
        run_skipped(ctx, [&] { spmv_mixed(ctx, op, Compute(2), matrix, x, Compute(1), y); });
        EXPECT_EQ(judged(contents(y)), judged(contents(once)));
      };
      run(A.csr), run(A.long_csr), run(A.coo), run(A.coo_aos);
    }
  });
}

TEST_P(Mixed, refuses_wrong_shapes_and_aliases_by_name) {
  with_types([&]<class Types>(Types) {
    using Result = typename Types::Result;
    using Compute = typename Types::Compute;
    Context ctx = context();
    const auto A = random_forms<typename Types::Storage>(ctx, 77, nasty_shapes()[6]);  // 1000 x 900
    const Array<typename Types::Vector> x(900);
    Array<Result> y(1000), small(900);
    EXPECT_EQ(complaint<ShapeMismatch>([&] { spmv_mixed(ctx, Op::adjoint, Compute(1), A.csr, x, Compute(0), y); }),
              "spmv_mixed: x has 900 entries, 1000 are needed");
    EXPECT_EQ(complaint<ShapeMismatch>([&] { spmv_mixed(ctx, Op::none, Compute(1), A.coo, x, Compute(0), small); }),
              "spmv_mixed: y has 900 entries, 1000 are needed");
    const Dense<typename Types::Vector> B(900, 4);
    Dense<Result> C(1000, 5);
    EXPECT_EQ(
        complaint<ShapeMismatch>([&] { spmm_mixed(ctx, Op::none, Op::none, Compute(1), A.csr, B, Compute(0), C); }),
        "spmm_mixed: columns of C has 5 entries, 4 are needed");
    EXPECT_EQ(complaint<InvalidArgument>([&] { MixedPlan<Types>(ctx, A.csr, Op::none, 0); }),
              "mixed plan: columns: expected 1 to 2147483647, got 0");
    if constexpr (std::is_same_v<typename Types::Vector, Result>) {
      const auto square = random_forms<typename Types::Storage>(ctx, 78, nasty_shapes().back());
      Array<Result> both(square.csr.rows());
      EXPECT_EQ(complaint<InvalidArgument>(
                    [&] { spmv_mixed(ctx, Op::none, Compute(1), square.csr, both, Compute(0), both); }),
                "spmv_mixed: x and y must not be the same array");
    }
  });
}

/// A product with many columns: its operands, and what is expected of C.
template <class Types>
struct ManyColumns {
  using Compute = typename Types::Compute;
  Op op_a, op_b;
  Compute alpha, beta;
  Dense<typename Types::Vector> B;
  Dense<typename Types::Result> before;

  ManyColumns(const Forms<typename Types::Storage>& A, std::int64_t k, Order of_b, Order of_c)
      : op_a(ops[k % 3]),
        op_b(ops[(k + (of_c == Order::row_major)) % 3]),
        alpha(random_numbers<Compute>(83, 2)[0]),
        beta(k % 2 ? random_numbers<Compute>(83, 2)[1] : Compute(0)),
        B(random_numbers_in<typename Types::Vector>(81, op_b == Op::none ? A.csr.cols(op_a) : k,
                                                    op_b == Op::none ? k : A.csr.cols(op_a), of_b, k % 4)),
        before(random_numbers_in<typename Types::Result>(82, A.csr.rows(op_a), k, of_c, k % 4)) {}

  void expect(const Reference& A, const Dense<typename Types::Result>& C, const std::string& what) const {
    for (std::int64_t j = 0; j < C.cols(); ++j) {
      const Product expected = product(op_a, judged(alpha), A, judged_column(B, op_b, j), judged(beta),
                                       judged_column(before, Op::none, j), Rounding<Compute>::epsilon);
      Array<typename Types::Result> column(C.rows());
      for (std::int32_t i = 0; i < C.rows(); ++i) column.edit()[static_cast<std::size_t>(i)] = C.host().at(i, j);
      expect_within<Types>(column, expected, what + ", column " + std::to_string(j));
    }
  }
};

TEST_P(Mixed, many_columns_follow_the_formula_in_every_order_and_form_and_a_plan_gives_the_same_bits) {
  with_types([&]<class Types>(Types) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const auto A = random_forms<typename Types::Storage>(ctx, 61, shape);
      if (A.csr.nnz() > 20'000) continue;
      for (const std::int64_t k : {1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 33, 128})
        for (const Order of_b : orders)
          for (const Order of_c : orders) {
            if (k > 9 && (A.csr.nnz() > 3'000 || (of_b == of_c) != (k % 2 == 0))) continue;
            const ManyColumns<Types> many(A, k, of_b, of_c);
            const std::string what = shape.name + ", " + std::to_string(k) + " columns";
            const auto run = [&](const auto& matrix) {
              auto C = many.before.clone(), D = many.before.clone();
              spmm_mixed(ctx, many.op_a, many.op_b, many.alpha, matrix, many.B, many.beta, C);
              many.expect(A.reference, C, what);
              const MixedPlan<Types> plan(ctx, matrix, many.op_a, k);
              plan.apply(ctx, many.op_b, many.alpha, many.B, many.beta, D);
              ASSERT_EQ(contents(D.values()).size(), contents(C.values()).size());
              ASSERT_EQ(std::memcmp(C.values().host().data(), D.values().host().data(), C.bytes()), 0) << what;
            };
            k % 4 == 0 ? run(A.csr) : k % 4 == 1 ? run(A.long_csr) : k % 4 == 2 ? run(A.coo) : run(A.coo_aos);
          }
    }
  });
}

/// One row of 100,000 entries between short ones falls into tiles.
TEST_P(Mixed, long_rows_are_divided) {
  with_types([&]<class Types>(Types) {
    Context ctx = context();
    const Shape shape{"a long row", 40, 100'000,
                      [](std::int32_t row, std::mt19937_64&) { return row == 7 ? 100'000 : 3; }};
    const auto A = random_forms<typename Types::Storage>(ctx, 91, shape);
    for (const std::int64_t k : {1, 3, 12})
      for (const Order order : orders) {
        ManyColumns<Types> many(A, 3, order, order);
        many.op_a = Op::none;
        many.op_b = Op::none;
        many.B = random_numbers_in<typename Types::Vector>(92, A.csr.cols(), k, order, 0);
        many.before = random_numbers_in<typename Types::Result>(93, A.csr.rows(), k, order, 0);
        auto C = many.before.clone();
        spmm_mixed(ctx, Op::none, Op::none, many.alpha, A.csr, many.B, many.beta, C);
        many.expect(A.reference, C, std::to_string(k) + " columns");
      }
  });
}

TEST_P(Mixed, plans_follow_new_values_and_stand_in_a_loop) {
  with_types([&]<class Types>(Types) {
    using Compute = typename Types::Compute;
    Context ctx = context();
    auto A = random_forms<typename Types::Storage>(ctx, 75, nasty_shapes()[6]);
    for (const Op op : {Op::none, Op::adjoint})
      for (const std::int64_t k : {1, 9}) {
        MixedPlan<Types> plan(ctx, A.csr, op, k), pairs(ctx, A.coo_aos, op, k);
        EXPECT_EQ(plan.rows(), A.csr.rows(op));
        EXPECT_EQ(plan.cols(), A.csr.cols(op));
        const auto renewed = random_numbers<typename Types::Storage>(static_cast<std::uint64_t>(k) + 95, A.csr.nnz());
        std::ranges::copy(renewed, A.csr.values().edit().begin());
        std::ranges::copy(renewed, A.coo_aos.values().edit().begin());
        plan.update(ctx), pairs.update(ctx);
        const auto B = random_numbers_in<typename Types::Vector>(76, A.csr.cols(op), k, Order::row_major, 0);
        Dense<typename Types::Result> C(A.csr.rows(op), k), once(A.csr.rows(op), k);
        spmm_mixed(ctx, op, Op::none, Compute(1), A.csr, B, Compute(0), once);
        for (const auto* of : {&plan, &pairs}) {
          replay(ctx, [&] { of->apply(ctx, Op::none, Compute(1), B, Compute(0), C); });
          EXPECT_EQ(judged(contents(C.values())), judged(contents(once.values())));
          run_skipped(ctx, [&] { of->apply(ctx, Op::none, Compute(2), B, Compute(1), C); });
          EXPECT_EQ(judged(contents(C.values())), judged(contents(once.values())));
        }
        replay(ctx, [&] { spmm_mixed(ctx, op, Op::none, Compute(1), A.csr, B, Compute(0), C); });
        EXPECT_EQ(judged(contents(C.values())), judged(contents(once.values())));
        run_skipped(ctx, [&] { spmm_mixed(ctx, op, Op::none, Compute(2), A.coo, B, Compute(1), C); });
        EXPECT_EQ(judged(contents(C.values())), judged(contents(once.values())));
      }
  });
}

TEST_P(Mixed, one_column_is_spmv_bit_by_bit) {
  with_types([&]<class Types>(Types) {
    using Compute = typename Types::Compute;
    Context ctx = context();
    const auto A = random_forms<typename Types::Storage>(ctx, 73, nasty_shapes().back());
    const auto x = random_numbers<typename Types::Vector>(74, A.csr.cols());
    const Dense<typename Types::Vector> B(A.csr.cols(), 1, Array(x));
    Array<typename Types::Result> y(A.csr.rows()), z(A.csr.rows());
    Dense<typename Types::Result> C(A.csr.rows(), 1);
    spmv_mixed(ctx, Op::none, Compute(2), A.csr, Array(x), Compute(0), y);
    spmm_mixed(ctx, Op::none, Op::none, Compute(2), A.csr, B, Compute(0), C);
    EXPECT_EQ(judged(contents(y)), judged(contents(C.values())));
    const MixedPlan<Types> plan(ctx, A.csr, Op::none, 1);
    plan.apply(ctx, Compute(2), Array(x), Compute(0), z);
    EXPECT_EQ(judged(contents(y)), judged(contents(z)));
  });
}

INSTANTIATE_TEST_SUITE_P(
    , Mixed, ::testing::Combine(::testing::Values(Backend::host, Backend::cuda), ::testing::Range(0, row_count)),
    [](const auto& info) { return name(std::get<0>(info.param)) + "_" + row_names[std::get<1>(info.param)]; });

using MixedBytes = OnBackend;

/// One row with entries in columns 0, 1, ...
Csr<std::int8_t> one_row(std::vector<std::int8_t> values) {
  const auto n = static_cast<std::int32_t>(values.size());
  std::vector<std::int32_t> columns(values.size());
  std::iota(columns.begin(), columns.end(), 0);
  return {n, Array<std::int32_t>{0, n}, Array(std::move(columns)), Array(std::move(values))};
}

TEST_P(MixedBytes, TV_SPMV_I8_and_trap_23_add_up_beyond_the_range_of_a_byte) {
  Context ctx = context();
  const auto A = one_row({127, 127, -128});
  const Array x(std::vector<std::int8_t>{127, 127, 1});
  Array<std::int32_t> y(1);
  spmv_mixed(ctx, Op::none, 1, A, x, 0, y);
  EXPECT_EQ(y.host()[0], 32'130);
  Array<float> z(1);
  spmv_mixed(ctx, Op::none, 1, A, x, 0, z);
  EXPECT_EQ(z.host()[0], 32'130.0f);
}

TEST_P(MixedBytes, wrap_around_where_32_bits_do_not_hold_the_sum) {
  Context ctx = context();
  constexpr std::size_t n = 140'000;
  const std::vector<std::int8_t> least(n, -128);
  const auto A = one_row(least);
  const Array x(least);
  Array<std::int32_t> y(std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::max()});
  const std::int64_t sum = std::int64_t{n} * 16'384;
  spmv_mixed(ctx, Op::none, 1, A, x, 0, y);
  EXPECT_EQ(y.host()[0], static_cast<std::int32_t>(sum));
  spmv_mixed(ctx, Op::none, std::numeric_limits<std::int32_t>::min(), A, x, -1, y);
  EXPECT_EQ(y.host()[0], static_cast<std::int32_t>(-sum));  // the product with 2^31 is a multiple of 2^32
  Array<float> z(1);
  spmv_mixed(ctx, Op::none, 1, A, x, 0, z);
  EXPECT_NEAR(z.host()[0], double(sum), double(n) * std::numeric_limits<float>::epsilon() * double(sum));
}

TEST_P(MixedBytes, of_halves_round_once_and_overflow_to_infinity) {
  Context ctx = context();
  const Csr<Half> A(3, Array<std::int32_t>{0, 3, 5}, Array<std::int32_t>{0, 1, 2, 0, 1},
                    Array(std::vector{Half(2048), Half(1), Half(1), Half(65504), Half(32)}));
  const Array x(std::vector{Half(1), Half(1), Half(1)});
  Array<Half> y(2);
  spmv_mixed(ctx, Op::none, 1, A, x, 0, y);
  EXPECT_EQ(y.host()[0], 2050.0f);  // 2048 + 1 + 1; in halves 2048 + 1 is 2048
  EXPECT_EQ(y.host()[1], std::numeric_limits<float>::infinity());
}

/// y = alpha I x for all 65536 numbers of two bytes: what is widened and rounded by the device's instructions is what
/// the host makes of it.
template <class Number>
void expect_converted_as_on_the_host(Context& ctx) {
  std::vector<Number> all;
  std::vector<std::int32_t> indices;
  for (std::int32_t i = 0; i < 65'536; ++i)
    all.push_back(Number::from_bits(static_cast<std::uint16_t>(i))), indices.push_back(i);
  const auto n = static_cast<std::int32_t>(all.size());
  const Array x(std::vector<Number>(all.size(), Number(1)));
  const Coo<Number> A(n, n, Array(indices), Array(indices), Array(all));
  for (const float alpha : {1.0f, 1.00048828125f, 0.998046875f, 0.3f, 1.0f / 4096, 3.0f}) {
    Array<Number> y(n);
    spmv_mixed(ctx, Op::none, alpha, A, x, 0, y);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float expected = Number(alpha * all[i]), found = y.host()[i];
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(found) : found == expected) << i << " times " << alpha;
    }
  }
}

TEST_P(MixedBytes, are_converted_as_on_the_host) {
  Context ctx = context();
  expect_converted_as_on_the_host<Half>(ctx);
  expect_converted_as_on_the_host<BFloat16>(ctx);
}

INSTANTIATE_TEST_SUITE_P(, MixedBytes, backends, param_name);

}  // namespace
}  // namespace krill::test
