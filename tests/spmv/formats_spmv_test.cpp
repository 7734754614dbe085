// Products of every format.
#include "sparse/convert/to_format.hpp"
#include "sparse/spmv/plan.hpp"
#include "sparse/spmv/product.hpp"
#include "sparse/spmv/spmv.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using FormatSpmv = OnBackendAndScalar;

template <class T>
void expect_within(const Array<T>& y, const Product& expected) {
  ASSERT_EQ(static_cast<std::size_t>(y.size()), expected.y.size());
  for (std::size_t i = 0; i < expected.y.size(); ++i)
    ASSERT_LE(modulus(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << "entry " << i;
}

TEST_P(FormatSpmv, every_format_follows_the_formula_for_every_shape_and_op) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> A = random_csr<T>(61, shape);
      const Reference ref = reference(A);
      const T alpha = random_vector<T>(62, 1)[0], factor = random_vector<T>(63, 1)[0];
      for (const NamedFormat& named : all_formats()) {
        const auto F = converted<T>(ctx, A, named);
        if (!F) continue;
        for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
          const auto x = random_vector<T>(64, A.cols(op)), y0 = random_vector<T>(65, A.rows(op));
          for (const T beta : {T(0), factor}) {
            SCOPED_TRACE(shape.name + std::string(", ") + named.name + (op == Op::none ? "" : ", transposed"));
            Array<T> y(y0);
            spmv(ctx, op, alpha, *F, Array<T>(x), beta, y);
            expect_within(y, product(op, Z(alpha), ref, to_reference(x), Z(beta), to_reference(y0), epsilon<T>()));
          }
        }
      }
    }
  });
}

TEST_P(FormatSpmv, nan_reaches_only_rows_that_have_its_column_and_never_through_y) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(66, nasty_shapes()[6]);
    const Reference ref = reference(A);
    const T nan(std::numeric_limits<real_t<T>>::quiet_NaN());
    auto x = random_vector<T>(67, A.cols());
    for (const std::size_t poisoned : {std::size_t{0}, std::size_t{17}, x.size() - 1}) x[poisoned] = nan;
    std::vector<bool> hit(static_cast<std::size_t>(A.rows()));
    for (std::size_t k = 0; k < ref.col.size(); ++k)
      if (x[static_cast<std::size_t>(ref.col[k])] != x[static_cast<std::size_t>(ref.col[k])])
        hit[static_cast<std::size_t>(ref.row[k])] = true;
    for (const NamedFormat& named : all_formats()) {
      const auto F = converted<T>(ctx, A, named);
      if (!F) continue;
      Array<T> y(std::vector<T>(hit.size(), nan)), planned(std::vector<T>(hit.size(), nan));
      spmv(ctx, Op::none, T(1), *F, Array<T>(x), T(0), y);
      SpmvPlan<T>(ctx, *F).apply(ctx, T(1), Array<T>(x), T(0), planned);
      for (std::size_t i = 0; i < hit.size(); ++i) {
        ASSERT_EQ(std::isnan(std::abs(Z(y.host()[i]))), hit[i]) << named.name << ", row " << i;
        ASSERT_EQ(std::isnan(std::abs(Z(planned.host()[i]))), hit[i]) << named.name << " planned, row " << i;
      }
    }
  });
}

TEST_P(FormatSpmv, dots_and_residual_come_in_the_same_pass) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t n = 3000;
    const Csr<T> A = random_dominant<T>(68, n, 6);
    const Reference ref = reference(A);
    const auto x = random_vector<T>(69, n), b = random_vector<T>(70, n);
    const Array<T> ax(x), ab(b);
    for (const NamedFormat& named : all_formats()) {
      const auto F = converted<T>(ctx, A, named);
      if (!F) continue;
      SCOPED_TRACE(named.name);
      Array<T> r(n);
      Array<wide_t<T>> xr(1), rr(1);
      residual(ctx, *F, ax, ab, r, {&ax, &xr, &r, &rr});
      expect_within(r, product(Op::none, -1.0, ref, to_reference(x), 1.0, to_reference(b), epsilon<T>()));
      Z expected_xr = 0, expected_rr = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        expected_xr += std::conj(Z(x[i])) * Z(r.host()[i]);
        expected_rr += std::conj(Z(r.host()[i])) * Z(r.host()[i]);
      }
      EXPECT_LE(std::abs(Z(xr.host()[0]) - expected_xr), 1e-12 * n);
      EXPECT_LE(std::abs(Z(rr.host()[0]) - expected_rr), 1e-12 * std::abs(expected_rr));
    }
  });
}

/// Rows that dots leave out take no part in them, whatever they hold.
TEST_P(FormatSpmv, dots_leave_out_rows) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t n = 3001;
    const Csr<T> A = random_dominant<T>(168, n, 6);
    const auto x = random_vector<T>(169, n);
    auto b = random_vector<T>(170, n), w = random_vector<T>(171, n);
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(n + 31) / 32);
    const auto is_left_out = [](std::int32_t i) { return i % 7 == 3 || i < 40 || i == 3000; };
    for (std::int32_t i = 0; i < n; ++i) {
      if (!is_left_out(i)) continue;
      bits[static_cast<std::size_t>(i / 32)] |= std::uint32_t{1} << (i % 32);
      b[static_cast<std::size_t>(i)] = w[static_cast<std::size_t>(i)] = T(std::numeric_limits<real_t<T>>::quiet_NaN());
    }
    const Array<T> ax(x), ab(b), aw(w);
    const Array<std::uint32_t> left_out(bits);
    bits[1] |= 0b11111u << 8;  // rows 40 to 44, which take part
    const Array<std::uint32_t> misleading(bits);
    const auto expect_dots = [&](const Array<T>& y, const Array<wide_t<T>>& wy, const Array<wide_t<T>>& yy) {
      Z expected_wy = 0, expected_yy = 0;
      double size = 0;
      for (std::int32_t i = 0; i < n; ++i) {
        if (is_left_out(i)) continue;
        const Z of_w(w[static_cast<std::size_t>(i)]), of_y(y.host()[static_cast<std::size_t>(i)]);
        expected_wy += std::conj(of_w) * of_y, expected_yy += std::conj(of_y) * of_y;
        size += std::abs(of_w) * std::abs(of_y);
      }
      EXPECT_LE(std::abs(Z(wy.host()[0]) - expected_wy), 1e-12 * size);
      EXPECT_LE(std::abs(Z(yy.host()[0]) - expected_yy), 1e-12 * std::abs(expected_yy));
    };
    for (const NamedFormat& named : all_formats()) {
      const auto F = converted<T>(ctx, A, named);
      if (!F) continue;
      SCOPED_TRACE(named.name);
      Array<T> y(n);
      Array<wide_t<T>> wy(1), yy(1);
      const Dots<T> dots{&aw, &wy, &y, &yy, &left_out};
      spmv(ctx, Op::none, T(1), *F, ax, T(0), y, dots);
      expect_dots(y, wy, yy);
      residual(ctx, *F, ax, ab, y, dots);
      expect_dots(y, wy, yy);
      SpmvPlan<T>(ctx, *F).apply(ctx, T(1), ax, T(0), y, dots);
      expect_dots(y, wy, yy);
      Dots<T> known = dots;
      known.left_out = &misleading, known.kept = {40, 45};
      spmv(ctx, Op::none, T(1), *F, ax, T(0), y, known);
      expect_dots(y, wy, yy);
      const Array<std::uint32_t> few(1);
      const Dots<T> bad{&aw, &wy, &y, &yy, &few};
      EXPECT_THROW(spmv(ctx, Op::none, T(1), *F, ax, T(0), y, bad), ShapeMismatch);
    }
  });
}

TEST_P(FormatSpmv, wide_slices_are_shared_with_dots_and_in_any_order) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(76, {"", 3000, 3000, [](std::int32_t row, std::mt19937_64& e) {
                                          return row % 400 == 399 ? 513 + static_cast<std::int32_t>(e() % 2000)
                                                                  : static_cast<std::int32_t>(e() % 9);
                                        }});
    const Reference ref = reference(A);
    const auto x = random_vector<T>(77, A.cols());
    const Array<T> ax(x);
    for (const SellLayout layout : {SellLayout{1}, SellLayout{7}, SellLayout{32}, SellLayout{32, 256, false},
                                    SellLayout{64, 3000, true}, SellLayout{1000}}) {
      SCOPED_TRACE(layout.slice_rows);
      const AnyMatrix<T> F = to_sell(ctx, A, layout, {1e6});
      Array<T> y(A.rows());
      Array<wide_t<T>> xy(1);
      spmv(ctx, Op::none, T(1), F, ax, T(0), y, {&ax, &xy});
      expect_within(y, product(Op::none, 1.0, ref, to_reference(x), 0.0, to_reference(x), epsilon<T>()));
      Z expected = 0;
      for (std::size_t i = 0; i < x.size(); ++i) expected += std::conj(Z(x[i])) * Z(y.host()[i]);
      EXPECT_LE(std::abs(Z(xy.host()[0]) - expected), 1e-12 * 3000 * 50);
    }
  });
}

TEST_P(FormatSpmv, repeats_its_bits_is_captured_and_honors_the_skip) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(71, {"", 2000, 2000, [](std::int32_t row, std::mt19937_64& e) {
                                          return row == 700 ? 1500 : static_cast<std::int32_t>(e() % 9);
                                        }});
    const Array<T> x(random_vector<T>(72, A.cols()));
    for (const NamedFormat& named : all_formats()) {
      const auto F = converted<T>(ctx, A, named);
      if (!F) continue;
      SCOPED_TRACE(named.name);
      for (const Op op : {Op::none, Op::transpose}) {
        Array<T> y(A.rows(op)), again(A.rows(op));
        spmv(ctx, op, T(1), *F, x, T(0), y);
        replay(ctx, [&] { spmv(ctx, op, T(1), *F, x, T(0), again); });
        ASSERT_TRUE(std::ranges::equal(y.host(), again.host()));
        run_skipped(ctx, [&] { spmv(ctx, op, T(5), *F, x, T(1), again); });
        ASSERT_TRUE(std::ranges::equal(y.host(), again.host()));
      }
    }
  });
}

TEST_P(FormatSpmv, one_based_views_of_every_format_are_honored) {
  with_scalar([&]<class T>(T) {
    using K = kernel_t<T>;
    Context ctx = context();
    const Csr<T> A = random_csr<T>(73, nasty_shapes()[6]);
    const Sell<T> S = to_sell(ctx, A, SellLayout{32});
    const Bsr<T> B = to_bsr(ctx, A, {3, 2});
    const BlockedEll<T> E = to_blocked_ell(ctx, A, 4);
    const auto one_more = [](const auto& array) {
      std::vector<std::int32_t> shifted(array.host().begin(), array.host().end());
      for (auto& i : shifted) i += i >= 0;
      return Array<std::int32_t>(std::move(shifted));
    };
    const Array<std::int32_t> sell_columns = one_more(S.col_indices()), bsr_columns = one_more(B.col_indices()),
                              bsr_offsets = one_more(B.row_offsets()), ell_columns = one_more(E.col_indices());
    const auto x = random_vector<T>(74, A.cols());
    const Array<T> ax(x);
    const Product expected = product(Op::none, 1.0, reference(A), to_reference(x), 0.0,
                                     std::vector<Z>(static_cast<std::size_t>(A.rows())), epsilon<T>());
    const auto check = [&](auto&& view_on) {
      Array<T> y(A.rows());
      ctx.dispatch([&](const auto& where) {
        auto view = view_on(where);
        view.base = IndexBase::one;
        run_product(where, krill::Product<decltype(view)>{{K(1)}, view, ax.read(where), {K(0)}, y.write(where), {}});
      });
      expect_within(y, expected);
    };
    check([&](const auto& where) {
      auto view = S.view(where);
      view.col_indices = sell_columns.read(where);
      return view;
    });
    check([&](const auto& where) {
      auto view = B.view(where);
      view.col_indices = bsr_columns.read(where);
      view.row_begins = bsr_offsets.read(where), view.row_ends = view.row_begins + 1;
      return view;
    });
    check([&](const auto& where) {
      auto view = E.view(where);
      view.col_indices = ell_columns.read(where);
      return view;
    });
  });
}

INSTANTIATE_TEST_SUITE_P(, FormatSpmv, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
