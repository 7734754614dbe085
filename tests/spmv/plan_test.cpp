#include "sparse/spmv/plan.hpp"

#include <array>
#include <limits>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/spmv/packed.hpp"
#include "sparse/vector/vector.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {

using namespace detail;
namespace {

using Plan = OnBackendAndScalar;

template <class T>
void expect_planned(const Array<T>& y, const Product& expected) {
  ASSERT_EQ(static_cast<std::size_t>(y.size()), expected.y.size());
  for (std::size_t i = 0; i < expected.y.size(); ++i)
    ASSERT_LE(modulus(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << "entry " << i;
}

/// y = alpha op(A) x + beta y by the plan, against the judge.
template <class T>
void check_plan(Context& ctx, const SpmvPlan<T>& plan, Op op, const Reference& ref) {
  const auto x = random_vector<T>(81, plan.cols()), y0 = random_vector<T>(82, plan.rows());
  const T alpha = random_vector<T>(83, 1)[0];
  for (const T beta : {T(0), random_vector<T>(84, 1)[0]}) {
    Array<T> y(y0);
    plan.apply(ctx, alpha, Array<T>(x), beta, y);
    expect_planned(y, product(op, Z(alpha), ref, to_reference(x), Z(beta), to_reference(y0), epsilon<T>()));
  }
  Array<T> r(plan.rows());
  plan.residual(ctx, Array<T>(x), Array<T>(y0), r);
  expect_planned(r, product(op, -1.0, ref, to_reference(x), 1.0, to_reference(y0), epsilon<T>()));
}

/// Three steps of a recurrence by the plan's rows, x = 0 before them or not, against the same with vectors.
template <class T>
void check_steps(Context& ctx, const SpmvPlan<T>& plan, const Reference& ref) {
  using R = real_t<T>;
  const std::int64_t n = plan.rows();
  std::vector<R> inverse;
  for (std::int64_t i = 0; i < n; ++i) inverse.push_back(R(1) / R(3 + i % 5));
  const std::vector<R> factors{0, 1.5, 0.75, 0.25, 1.25, 0.5, -0.5, 0.75, 1.5};
  const auto b = random_vector<T>(88, n), x0 = random_vector<T>(89, n);
  const Array<R> inverse_on(inverse), factors_on(factors);
  for (const bool from_zero : {false, true}) {
    Array<T> x(x0), d(n), next_d(n), r(n), next_r(n);
    const Array<T> x_before(x0), rhs(b), start(from_zero ? std::vector<T>(b.size()) : x0);
    Array<wide_t<T>> dot(1);
    replay(ctx, [&] {
      copy(ctx, x_before, x);
      plan.take_step(ctx, start, rhs, r, {inverse_on, factors_on, 0, nullptr, &d});
      plan.take_step(ctx, d, r, next_r, {inverse_on, factors_on, 1, &d, &next_d, &x, from_zero});
      plan.take_step(ctx, next_d, next_r, x, {inverse_on, factors_on, 2, &next_d}, {&rhs, &dot});
    });
    std::vector<Z> expected(b.size()), now = to_reference(from_zero ? std::vector<T>(b.size()) : x0), former(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) expected[i] = Z(b[i]);
    double size = 1;
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<Z> v = k == 0 ? now : former;
      expected = product(Op::none, -1.0, ref, v, 1.0, expected, epsilon<T>()).y;
      for (std::size_t i = 0; i < b.size(); ++i) {
        former[i] = double(factors[3 * k]) * former[i] + double(factors[3 * k + 1] * inverse[i]) * expected[i];
        now[i] += double(factors[3 * k + 2]) * former[i];
        size = std::max({size, std::abs(former[i]), std::abs(expected[i]), std::abs(now[i])});
      }
    }
    Z sum{};
    for (std::size_t i = 0; i < b.size(); ++i) {
      ASSERT_LE(std::abs(Z(x.host()[i]) - now[i]), 1000 * epsilon<T>() * size) << i;
      sum += std::conj(Z(b[i])) * Z(x.host()[i]);
    }
    EXPECT_LE(std::abs(Z(dot.host()[0]) - sum), double(n) * epsilon<double>() * size * size);
  }
}

TEST_P(Plan, takes_steps_of_a_recurrence_with_residuals) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto rows : {std::int32_t{100}, 3000}) {
      const AnyMatrix<T> grid(poisson2d<T>(rows == 100 ? 10 : 54));
      const AnyMatrix<T> uneven(random_csr<T>(90, {"uneven", rows, rows, [](std::int32_t row, std::mt19937_64&) {
                                                     return row % 700 == 9 ? 90 : 1 + row % 11;
                                                   }}));
      for (const AnyMatrix<T>* A : {&grid, &uneven})
        for (const SpmvMethod method : {SpmvMethod::in_place, SpmvMethod::smallest}) {
          const SpmvPlan<T> plan(ctx, *A, Op::none, method);
          ASSERT_TRUE(plan.takes_steps());
          check_steps(ctx, plan, reference(std::get<Csr<T>>(*A)));
        }
    }
    // One row that many threads have.
    const AnyMatrix<T> arrow(random_csr<T>(
        91, {"arrow", 30'000, 30'000, [](std::int32_t row, std::mt19937_64&) { return row == 17 ? 20'000 : 2; }}));
    check_steps(ctx, SpmvPlan<T>(ctx, arrow), reference(std::get<Csr<T>>(arrow)));
    const Csr<T> grid = poisson2d<T>(9);
    for (const NamedFormat& named : all_formats()) {
      const auto F = converted<T>(ctx, grid, named);
      if (!F) continue;
      SCOPED_TRACE(named.name);
      const SpmvPlan<T> plan(ctx, *F);
      const bool no_rows = std::holds_alternative<Hyb<T>>(*F) || std::holds_alternative<Bsrx<T>>(*F);
      ASSERT_EQ(plan.takes_steps(), !no_rows);
      if (plan.takes_steps()) check_steps(ctx, plan, reference(grid));
    }
    const AnyMatrix<T> hyb(to_hyb(ctx, poisson2d<T>(4)));
    const SpmvPlan<T> other(ctx, hyb);
    EXPECT_FALSE(other.takes_steps());
    Array<T> x(std::vector<T>(16)), b(std::vector<T>(16)), r(16), d(16);
    const Array<real_t<T>> inverse(std::vector<real_t<T>>(16, 1)), factors(std::vector<real_t<T>>(3, 1));
    RecurrenceStep<T> step{inverse, factors, 0};
    step.d = &d;
    EXPECT_THROW(other.take_step(ctx, x, b, r, step), InvalidArgument);
    const AnyMatrix<T> csr(poisson2d<T>(4));
    const SpmvPlan<T> plan(ctx, csr);
    step.d = nullptr;
    EXPECT_THROW(plan.take_step(ctx, x, b, r, step), InvalidArgument);
    Array<T> short_d(15);
    step.d = &short_d;
    EXPECT_THROW(plan.take_step(ctx, x, b, r, step), ShapeMismatch);
  });
}

TEST_P(Plan, in_place_multiplies_every_format_with_every_op) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> A = random_csr<T>(85, shape);
      const Reference ref = reference(A);
      for (const NamedFormat& named : all_formats()) {
        const auto F = converted<T>(ctx, A, named);
        if (!F) continue;
        for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
          SCOPED_TRACE(shape.name + std::string(", ") + named.name + (op == Op::none ? "" : ", transposed"));
          check_plan(ctx, SpmvPlan<T>(ctx, *F, op), op, ref);
        }
      }
    }
  });
}

/// Rows that no single block should have to take.
const std::vector<Shape>& long_rows() {
  static const std::vector<Shape> shapes{
      {"one row of all", 1, 200'000, [](std::int32_t, std::mt19937_64&) { return 200'000; }},
      {"long beside empty", 700, 100'000, [](std::int32_t row, std::mt19937_64&) { return row == 300 ? 100'000 : 0; }},
      {"some long", 600, 70'000, [](std::int32_t row, std::mt19937_64&) { return row % 250 == 3 ? 70'000 : 3; }},
      {"all long", 300, 1500, [](std::int32_t, std::mt19937_64&) { return 1500; }},
      {"dense", 700, 512, [](std::int32_t, std::mt19937_64&) { return 512; }},
      {"long among short", 40'000, 60'000,
       [](std::int32_t row, std::mt19937_64&) { return row % 19'997 == 7 ? 50'000 : row % 4; }},
      {"long among middling", 20'000, 60'000,
       [](std::int32_t row, std::mt19937_64&) { return row % 9'000 == 8'999 ? 50'000 : row % 13; }},
  };
  return shapes;
}

TEST_P(Plan, long_rows_are_divided_without_a_change_of_result) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : long_rows()) {
      SCOPED_TRACE(shape.name);
      const AnyMatrix<T> A = random_csr<T>(86, shape);
      const Reference ref = reference(std::get<Csr<T>>(A));
      const SpmvPlan<T> plan(ctx, A);
      check_plan(ctx, plan, Op::none, ref);
      const AnyMatrix<T> wide = with_offsets<std::int64_t>(ctx, std::get<Csr<T>>(A).clone());
      check_plan(ctx, SpmvPlan<T>(ctx, wide), Op::none, ref);
      const Array<T> x(random_vector<T>(87, cols(A)));
      Array<T> y(rows(A)), again(rows(A));
      Array<wide_t<T>> dot(1), dot_again(1);
      plan.apply(ctx, T(1), x, T(0), y, {&y, &dot});
      double squares = 0;
      for (const T& value : y.host()) squares += std::norm(Z(value));
      EXPECT_LE(std::abs(Z(dot.host()[0]) - squares), static_cast<double>(y.size()) * epsilon<double>() * squares);
      for (int i = 0; i < 10; ++i) {
        replay(ctx, [&] { plan.apply(ctx, T(1), x, T(0), again, {&again, &dot_again}); });
        ASSERT_TRUE(std::ranges::equal(y.host(), again.host()));
        ASSERT_EQ(dot.host()[0], dot_again.host()[0]);
      }
    }
  });
}

/// A matrix with the pattern of a 5-point stencil on an n x n grid and values of the caller's.
template <class T, class Value>
Csr<T> stencil(std::int32_t n, Value&& value) {
  Csr<T> A = poisson2d<T>(n);
  std::size_t k = 0;
  for (T& entry : A.values().edit()) entry = value(k++, entry);
  return A;
}

/// A x by the coded form of A.
template <class T>
Array<T> packed_product(Context& ctx, Packed<T>& packed, const Csr<T>& A, const std::vector<T>& x) {
  packed.fill(ctx, A);
  const Array<T> ax(x);
  Array<T> y(A.rows());
  ctx.dispatch([&](const auto& where) {
    using K = kernel_t<T>;
    run_product(where, krill::Product<PackedView<const K>>{
                           {K(1)}, packed.view(where), ax.read(where), {K(0)}, y.write(where), {}});
  });
  return y;
}

template <class T>
void check_packed(Context& ctx, Csr<T> A, ColumnCode columns, ValueCode values) {
  Packed<T> packed(ctx, A, longest_row(ctx, A.row_offsets()));
  EXPECT_EQ(packed.sizes().columns, columns);
  EXPECT_EQ(packed.sizes().values, values);
  const auto x = random_vector<T>(88, A.cols());
  expect_planned(packed_product(ctx, packed, A, x),
                 product(Op::none, 1.0, reference(A), to_reference(x), 0.0,
                         std::vector<Z>(static_cast<std::size_t>(A.rows())), epsilon<T>()));
}

/// Rows of twelve lengths that take turns, entry k of row i in column i + first + k; rows before `begin` have none.
template <class T, class Value>
Csr<T> rows_of_patterns(std::int32_t rows, std::int32_t cols, std::int32_t begin, std::int32_t first, Value&& value) {
  constexpr std::array lengths = {7, 1, 27, 0, 3, 4, 5, 8, 9, 12, 16, 17};
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  for (std::int32_t i = 0; i < rows; ++i) {
    const std::size_t kind = static_cast<std::size_t>(i) / 5 % lengths.size();
    for (int k = 0; i >= begin && k < lengths[kind]; ++k)
      columns.push_back(i + first + k), values.push_back(value(kind, k, values.size()));
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  return {cols, Array<std::int32_t>(std::move(offsets)), Array<std::int32_t>(std::move(columns)),
          Array<T>(std::move(values))};
}

TEST_P(Plan, rows_of_patterns_take_nothing_of_x_but_their_own) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto by_kind = [](std::size_t kind, int k, std::size_t) {
      return T(static_cast<real_t<T>>(1 + kind) + static_cast<real_t<T>>(k) / 4);
    };
    const auto by_entry = [](std::size_t, int, std::size_t at) {
      return T(static_cast<real_t<T>>(std::sin(static_cast<double>(at))));
    };
    const auto check = [&](Csr<T> A, ValueCode values) {
      check_packed(ctx, A.clone(), ColumnCode::pattern, values);
      Packed<T> packed(ctx, A, longest_row(ctx, A.row_offsets()));
      std::vector<T> x(static_cast<std::size_t>(A.cols()), T(1));
      for (std::size_t j = 3; j < x.size(); j += 50) x[j] = T(std::numeric_limits<real_t<T>>::quiet_NaN());
      const Array<T> y = packed_product(ctx, packed, A, x);
      for (std::int32_t i = 0; i < A.rows(); ++i) {
        bool meets = false;
        for (auto k = static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i) + 1]); ++k)
          meets = meets || A.col_indices().host()[k] % 50 == 3;
        const T y_i = y.host()[static_cast<std::size_t>(i)];
        ASSERT_EQ(y_i != y_i, meets) << "row " << i;
      }
    };
    for (const auto& [rows, cols, begin, first] : std::array<std::array<std::int32_t, 4>, 3>{
             {{2500, 2527, 0, 0}, {2500, 9000, 0, 5000}, {2500, 2450, 80, -79}}}) {
      SCOPED_TRACE(cols);
      check(rows_of_patterns<T>(rows, cols, begin, first, by_kind), ValueCode::pattern);
      check(rows_of_patterns<T>(rows, cols, begin, first, by_entry), ValueCode::full);
    }
  });
}

TEST_P(Plan, every_code_of_columns_and_values_gives_the_product) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    constexpr bool words = sizeof(T) <= 8;
    constexpr bool narrow = sizeof(real_t<T>) == 8;
    const auto exact = [](std::size_t k, T) { return T(static_cast<real_t<T>>(static_cast<float>(k) * 0.37F)); };
    const auto any = [](std::size_t k, T) { return T(static_cast<real_t<T>>(std::sin(static_cast<double>(k)))); };
    const ValueCode few_values = words ? ValueCode::dictionary : ValueCode::narrow;
    const ValueCode exact_values = narrow ? ValueCode::narrow : ValueCode::full;
    const auto few = [](std::size_t k, T) { return T(static_cast<real_t<T>>((k * 2654435761U >> 9) % 16)); };
    check_packed(ctx, poisson2d<T>(50), ColumnCode::pattern, ValueCode::pattern);
    check_packed(ctx, stencil<T>(50, few), ColumnCode::pattern, few_values);
    check_packed(ctx, stencil<T>(50, exact), ColumnCode::pattern, exact_values);
    check_packed(ctx, stencil<T>(50, any), ColumnCode::pattern, ValueCode::full);
    const Shape near{"", 3000, 3000,
                     [](std::int32_t, std::mt19937_64& e) { return static_cast<std::int32_t>(e() % 9); }};
    check_packed(ctx, random_csr<T>(89, near), ColumnCode::delta16, ValueCode::full);
    const Shape far{"", 500, 200'000,
                    [](std::int32_t, std::mt19937_64& e) { return static_cast<std::int32_t>(e() % 9); }};
    check_packed(ctx, random_csr<T>(90, far), ColumnCode::absolute, ValueCode::full);
    Csr<T> ones = random_csr<T>(91, far);
    for (T& value : ones.values().edit()) value = T(1);
    check_packed(ctx, std::move(ones), ColumnCode::absolute, few_values);
    for (const Shape& shape : nasty_shapes()) {
      SCOPED_TRACE(shape.name);
      const Csr<T> A = random_csr<T>(92, shape);
      const Packed<T> looked(ctx, A, longest_row(ctx, A.row_offsets()));
      check_packed(ctx, A.clone(), looked.sizes().columns, looked.sizes().values);
    }
  });
}

TEST_P(Plan, automatic_is_right_whatever_it_chooses_and_says_why) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    std::vector<Csr<T>> matrices;
    matrices.push_back(poisson2d<T>(90));
    matrices.push_back(stencil<T>(90, [](std::size_t k, T) { return T(static_cast<real_t<T>>(std::cos(1.0 * k))); }));
    matrices.push_back(random_dominant<T>(93, 6000, 7));
    matrices.push_back(poisson2d<T>(5));
    for (Csr<T>& csr : matrices) {
      const Reference ref = reference(csr);
      const AnyMatrix<T> A(std::move(csr));
      const SpmvPlan<T> smallest(ctx, A, Op::none, SpmvMethod::smallest);
      check_plan(ctx, smallest, Op::none, ref);
      EXPECT_EQ(smallest.report().ms, 0);
      EXPECT_LE(smallest.report().bytes, smallest.report().csr_bytes);
      const SpmvPlan<T> plan(ctx, A, Op::none, SpmvMethod::automatic);
      check_plan(ctx, plan, Op::none, ref);
      EXPECT_FALSE(plan.report().why.empty());
      EXPECT_GT(plan.report().bytes, 0U);
      SCOPED_TRACE(plan.report().method + ": " + plan.report().why);
      const Array<T> x(random_vector<T>(94, cols(A)));
      Array<T> y(rows(A)), again(rows(A));
      plan.apply(ctx, T(1), x, T(0), y);
      replay(ctx, [&] { plan.apply(ctx, T(1), x, T(0), again); });
      EXPECT_TRUE(std::ranges::equal(y.host(), again.host()));
    }
  });
}

TEST_P(Plan, new_values_reach_every_plan) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto change = [](Csr<T>& csr) {
      std::size_t k = 0;
      for (T& value : csr.values().edit()) value = T(static_cast<real_t<T>>(std::sin(1.0 * static_cast<double>(++k))));
    };
    // Rows that are alike stay so, are so no more, and are so again.
    const auto scale = [](Csr<T>& csr) {
      for (T& value : csr.values().edit()) value *= T(3);
    };
    const auto change_all_alike = [](Csr<T>& csr) { std::ranges::fill(csr.values().edit(), T(3)); };
    for (const Op op : {Op::none, Op::transpose, Op::adjoint})
      for (const SpmvMethod method : {SpmvMethod::in_place, SpmvMethod::automatic, SpmvMethod::smallest}) {
        AnyMatrix<T> A(poisson2d<T>(90));
        auto& csr = std::get<Csr<T>>(A);
        SpmvPlan<T> plan(ctx, A, op, method);
        for (const int turn : {0, 1, 2, 3}) {
          turn == 1 ? change(csr) : turn == 2 ? change_all_alike(csr) : scale(csr);
          plan.update(ctx);
          check_plan(ctx, plan, op, reference(csr));
        }
      }
    Csr<T> csr = random_csr<T>(95, nasty_shapes()[6]);
    Csr<T> changed = csr.clone();
    change(changed);
    for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
      for (const NamedFormat& named : all_formats()) {
        auto F = converted<T>(ctx, csr, named);
        if (!F) continue;
        SCOPED_TRACE(named.name);
        SpmvPlan<T> plan(ctx, *F, op);
        update_values(ctx, changed, *F);
        plan.update(ctx);
        check_plan(ctx, plan, op, reference(changed));
      }
      AnyMatrix<T> wide = with_offsets<std::int64_t>(ctx, csr.clone());
      SpmvPlan<T> plan(ctx, wide, op);
      std::ranges::copy(changed.values().host(), std::get<Csr<T, std::int64_t>>(wide).values().edit().begin());
      plan.update(ctx);
      check_plan(ctx, plan, op, reference(changed));
    }
  });
}

TEST_P(Plan, takes_the_form_that_another_precision_has) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto rounded = [](const Csr<wide_t<T>>& A, double scale) {
      std::vector<T> values;
      for (const wide_t<T>& value : A.values().host()) values.push_back(T(scale * value));
      return Csr<T>(A.cols(), Array<std::int32_t>(contents(A.row_offsets())),
                    Array<std::int32_t>(contents(A.col_indices())), Array<T>(std::move(values)));
    };
    const std::int32_t n = ctx.on_cuda() ? 400 : 120;  // less is not sliced there
    Csr<wide_t<T>> stencils = poisson2d<wide_t<T>>(n);
    for (wide_t<T>& value : stencils.values().edit()) value *= 1.1;
    for (const double scale : {1.0, 0x1p-70}) {
      AnyMatrix<T> A(rounded(stencils, scale));
      const AnyMatrix<wide_t<T>> wide(stencils.clone());
      const SpmvPlan<wide_t<T>> by_names(ctx, wide, Op::none, SpmvMethod::smallest);
      ASSERT_TRUE(by_names.names_rows());
      SpmvPlan<T> plan(ctx, A, by_names, scale);
      EXPECT_TRUE(plan.names_rows());
      EXPECT_EQ(plan.report().method, "packed");
      EXPECT_LT(plan.report().bytes, plan.report().csr_bytes / 5);
      check_plan(ctx, plan, Op::none, reference(std::get<Csr<T>>(A)));
      for (T& value : std::get<Csr<T>>(A).values().edit()) value *= T(3);
      plan.update(ctx);
      check_plan(ctx, plan, Op::none, reference(std::get<Csr<T>>(A)));
    }
    const AnyMatrix<wide_t<T>> wide(std::move(stencils));
    const AnyMatrix<T> A(poisson2d<T>(n));
    const SpmvPlan<wide_t<T>> in_place(ctx, wide);
    EXPECT_FALSE(in_place.names_rows());
    EXPECT_THROW(SpmvPlan<T>(ctx, A, in_place, 1.0), InvalidArgument);
  });
}

TEST_P(Plan, new_values_of_transposes_reach_products_that_are_captured_already) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> csr = random_csr<T>(96, nasty_shapes()[6]);
    Csr<T> changed = csr.clone();
    for (T& value : changed.values().edit()) value = value * T(2) + T(3);
    for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
      std::vector<AnyMatrix<T>> matrices;
      matrices.emplace_back(csr.clone());
      matrices.emplace_back(with_offsets<std::int64_t>(ctx, csr.clone()));
      matrices.emplace_back(to_csc(ctx, csr));
      for (AnyMatrix<T>& A : matrices) {
        SCOPED_TRACE(A.index());
        SpmvPlan<T> plan(ctx, A, op);
        const auto x = random_vector<T>(97, plan.cols());
        const Array<T> ax(x);
        const Array<double> one{1.0};
        Array<T> y(plan.rows());
        Array<double> products{0.0};  // that were computed
        int calls = 0;                // directly, or by a capture
        Array<Progress> progress(std::vector<Progress>(1));
        LoopGraph graph;
        const auto multiply = [&](const Csr<T>& values) {
          progress.edit()[0] = {};
          const auto body = [&] {
            ++calls;
            plan.apply(ctx, T(1), ax, T(0), y);
            axpby(ctx, 1.0, one, 1.0, products);
          };
          int looks = 0;
          const Stopwatch watch;  // long enough for the graph to begin on a device that others use, too
          const double min_ms = ctx.on_cuda() ? 100 : 0;
          iterate(ctx, graph, progress, body, [&](const Progress&) {
            return ++looks < 20 || watch.milliseconds() < min_ms ? Reason::running : Reason::interrupted;
          });
          expect_planned(y, product(op, 1.0, reference(values), to_reference(x), 0.0,
                                    std::vector<Z>(static_cast<std::size_t>(y.size())), epsilon<T>()));
        };
        multiply(csr);
        const int calls_before = calls;
        const double products_before = products.host()[0];
        update_values(ctx, changed, A);
        plan.update(ctx);
        multiply(changed);
        if (!ctx.on_cuda() || ctx.loop_control == LoopControl::host) continue;
        EXPECT_LE(calls, calls_before + 1) << "the first capture serves";
        EXPECT_GT(products.host()[0], products_before + 1) << "and its products were the last";
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Plan, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
