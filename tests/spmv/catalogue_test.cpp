// The kernel catalogue's vectors of products with a vector, and products of views in coordinates.
#include "tests/support/catalogue.hpp"

#include <bit>

#include "sparse/convert/convert.hpp"
#include "sparse/spmv/product.hpp"
#include "sparse/spmv/spmv.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/base_one.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using SpmvCatalogue = OnBackendAndScalar;

/// Trap 8: x and y have as many entries as the matrix says, be that the size in whole blocks, as in the vector, or the
/// one that blocks stick out of.
TEST_P(SpmvCatalogue, TV_BSRMV_and_trap_8_vectors_need_no_padding) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const BlockOrder order : {BlockOrder::row_major, BlockOrder::column_major})
      for (const std::int32_t cols : {6, 5}) {
        const Bsr<T> A(4, cols, {2, 2, order}, from_base_one(ctx, Array<std::int32_t>{1, 3, 6}),
                       from_base_one(ctx, Array<std::int32_t>{1, 2, 1, 2, 3}),
                       Array<T>(tv::a45_blocks<T>(order == BlockOrder::column_major)));
        std::vector<T> x = tv::numbers<T>({1, 2, 3, 4, 5, 6});
        x.resize(static_cast<std::size_t>(cols));
        Array<T> y(tv::numbers<T>({10, 20, 30, 40}));
        spmv(ctx, Op::none, T(2), A, Array<T>(x), T(3), y);
        EXPECT_EQ(contents(y), tv::numbers<T>({48, 86, 236, 234}));
      }
  });
}

/// The arrays of TV-BSRXMV, which count from one, as kernels see them.
template <class T>
struct MaskedCall {
  Array<std::int32_t> mask{2}, begins{-99, 4}, ends{-99, 5}, columns{1, 2, 1, 2, 3};
  Array<T> values{tv::a45_blocks<T>(true)}, x{tv::numbers<T>({1, 2, 3, 4, 5, 6})};

  void run(Context& ctx, T alpha, T beta, Array<T>& y) const {
    using K = kernel_t<T>;
    ctx.dispatch([&](const auto& where) {
      const BsrView<const K> a{4,
                               6,
                               {2, 2, BlockOrder::column_major},
                               5,
                               begins.read(where),
                               ends.read(where),
                               columns.read(where),
                               values.read(where),
                               IndexBase::one};
      krill::Product<BsrView<const K>> p{{std::bit_cast<K>(alpha)}, a, x.read(where), {std::bit_cast<K>(beta)},
                                         y.update(where),           {}};
      p.mask = mask.read(where), p.mask_size = 1;
      run_product(where, p);
    });
  }
};

/// Trap 9: what other block rows say of their blocks may be anything, and their part of y stays; a block row of the
/// mask without blocks still gets beta y.
TEST_P(SpmvCatalogue, TV_BSRXMV_and_trap_9_rows_outside_of_a_mask_are_not_looked_at) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    MaskedCall<T> call;
    Array<T> y(tv::numbers<T>({10, 20, 30, 40}));
    call.run(ctx, T(2), T(3), y);
    EXPECT_EQ(contents(y), tv::numbers<T>({10, 20, 146, 174}));
    run_skipped(ctx, [&] { call.run(ctx, T(2), T(3), y); });
    EXPECT_EQ(contents(y), tv::numbers<T>({10, 20, 146, 174}));
    replay(ctx, [&] { call.run(ctx, T(2), T(0), y); });
    EXPECT_EQ(contents(y), tv::numbers<T>({10, 20, 56, 54}));
    call.ends = Array<std::int32_t>{-99, 4};
    call.run(ctx, T(2), T(3), y);
    EXPECT_EQ(contents(y), tv::numbers<T>({10, 20, 168, 162}));

    const Bsrx<T> A(4, 6, {2, 2, BlockOrder::column_major}, Array<std::int32_t>{-99, 3}, Array<std::int32_t>{-99, 4},
                    from_base_one(ctx, call.columns), call.values.clone());
    const Array<std::int32_t> second{1};
    y = Array<T>(tv::numbers<T>({10, 20, 30, 40}));
    spmv_masked(ctx, T(2), A, second, call.x, T(3), y);
    EXPECT_EQ(contents(y), tv::numbers<T>({10, 20, 146, 174}));
    run_skipped(ctx, [&] { spmv_masked(ctx, T(2), A, second, call.x, T(3), y); });
    EXPECT_EQ(contents(y), tv::numbers<T>({10, 20, 146, 174}));
    replay(ctx, [&] { spmv_masked(ctx, T(1), A, second, call.x, T(0), y); });
    EXPECT_EQ(contents(y), tv::numbers<T>({10, 20, 28, 27}));
    spmv_masked(ctx, T(2), A, Array<std::int32_t>(0), call.x, T(0), y);
    EXPECT_EQ(contents(y), tv::numbers<T>({10, 20, 28, 27}));
    EXPECT_THROW(spmv_masked(ctx, T(1), A, Array<std::int32_t>{0, 1, 1}, call.x, T(0), y), ShapeMismatch);
  });
}

TEST_P(SpmvCatalogue, TV_DIA_and_TV_HDIA_and_TV_PSBELL_multiply) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Array<T> x(tv::numbers<T>({1, 2, 3, 4, 5}));
    const AnyMatrix<T> matrices[] = {to_dia(ctx, tv::psbell<T>()), to_dia(ctx, tv::psbell<T>(), 2),
                                     to_ell(ctx, tv::psbell<T>()), to_sell(ctx, tv::psbell<T>(), SellLayout{2})};
    for (const AnyMatrix<T>& A : matrices) {
      Array<T> y(5);
      spmv(ctx, Op::none, T(1), A, x, T(0), y);
      EXPECT_EQ(contents(y), tv::numbers<T>({9, 6, 49, 28, 61}));
    }
  });
}

TEST_P(SpmvCatalogue, trap_7_beta_zero_overwrites_nan_in_every_format) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Array<T> x(tv::numbers<T>({1, 2, 3, 4, 5})), zero{T(0)}, one{T(1)};
    const std::vector<T> nan(5, T(std::numeric_limits<real_t<T>>::quiet_NaN()));
    const Csr<T> A = tv::psbell<T>();
    for (const NamedFormat& named : all_formats()) {
      const auto F = converted<T>(ctx, A, named);
      if (!F) continue;
      Array<T> y(nan), z(nan);
      spmv(ctx, Op::none, T(1), *F, x, T(0), y);
      spmv(ctx, Op::none, one, *F, x, zero, z);
      EXPECT_EQ(contents(y), tv::numbers<T>({9, 6, 49, 28, 61})) << named.name;
      EXPECT_EQ(contents(z), tv::numbers<T>({9, 6, 49, 28, 61})) << named.name;
    }
  });
}

using SpmvViews = OnBackendAndScalar;

/// Coordinates apart or in pairs, from either base.
template <class T>
struct CooArrays {
  std::int32_t rows, cols, stride;
  IndexBase base;
  Array<std::int32_t> row_indices, col_indices;  // in pairs: all in the first
  Array<T> values;

  CooArrays(const Coo<T>& A, IndexBase its_base, bool in_pairs)
      : rows(A.rows()), cols(A.cols()), stride(in_pairs ? 2 : 1), base(its_base), values(A.values().clone()) {
    std::vector<std::int32_t> r, c;
    for (std::size_t k = 0; k < static_cast<std::size_t>(A.nnz()); ++k) {
      r.push_back(A.row_indices().host()[k] + static_cast<int>(base));
      (in_pairs ? r : c).push_back(A.col_indices().host()[k] + static_cast<int>(base));
    }
    row_indices = Array(std::move(r)), col_indices = Array(std::move(c));
  }
  template <class Where>
  CooView<const kernel_t<T>> view(const Where& where) const {
    const std::int32_t* first = row_indices.read(where);
    return {rows, cols,  values.size(), first, stride == 2 ? first + 1 : col_indices.read(where), values.read(where),
            base, stride};
  }
};

template <class T>
void expect_close(const Array<T>& y, const Product& expected) {
  for (std::size_t i = 0; i < expected.y.size(); ++i)
    ASSERT_LE(std::abs(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << "entry " << i;
}

/// GEN-SPMAT-CREATECOO, -CREATECOOAOS.
TEST_P(SpmvViews, of_coordinates_follow_the_formula) {
  with_scalar([&]<class T>(T) {
    using K = kernel_t<T>;
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> csr = random_csr<T>(1, shape);
      const Coo<T> A = to_coo(ctx, csr);
      const auto x = random_vector<T>(2, A.cols()), b = random_vector<T>(3, A.rows());
      const Array<T> ax(x), ab(b);
      const Product expected =
          product(Op::none, -1.0, reference(csr), to_reference(x), 1.0, to_reference(b), epsilon<T>());
      for (const IndexBase base : {IndexBase::zero, IndexBase::one})
        for (const bool in_pairs : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << shape.name << ", base " << static_cast<int>(base) << ", stride " << (in_pairs ? 2 : 1));
          const CooArrays<T> arrays(A, base, in_pairs);
          Array<T> y(b), r(A.rows());
          Array<wide_t<T>> rr(1);
          ctx.dispatch([&](const auto& where) {
            const auto a = arrays.view(where);
            krill::Product<CooView<const K>> p{{K(-1)}, a, ax.read(where), {K(1)}, y.update(where), {}};
            run_product(where, p);
            p.z = ab.read(where), p.y = r.write(where);
            p.dots = {p.y, rr.write(where), nullptr, nullptr};
            run_product(where, p);
          });
          expect_close(y, expected);
          EXPECT_EQ(contents(y), contents(r));
          if (A.rows() == 0) continue;
          long double sum = 0;
          for (const T& entry : r.host()) sum += std::norm(std::complex<long double>(Z(entry)));
          EXPECT_NEAR(Z(rr.host()[0]).real(), static_cast<double>(sum),
                      epsilon<double>() * static_cast<double>((A.rows() + 4) * sum));
        }
    }
  });
}

TEST_P(SpmvViews, of_hybrids_follow_the_formula_from_either_base) {
  with_scalar([&]<class T>(T) {
    using K = kernel_t<T>;
    Context ctx = context();
    const Csr<T> A = random_csr<T>(4, nasty_shapes()[6]);
    const auto x = random_vector<T>(5, A.cols()), y0 = random_vector<T>(6, A.rows());
    const Array<T> ax(x);
    const Product expected =
        product(Op::none, 2.0, reference(A), to_reference(x), -1.0, to_reference(y0), epsilon<T>());
    for (const HybPartition partition : {HybPartition::automatic, HybPartition::maximum}) {
      const Hyb<T> H = to_hyb(ctx, A, partition);
      for (const IndexBase base : {IndexBase::zero, IndexBase::one}) {
        const CooArrays<T> rest(H.coo(), base, false);
        const Array<std::int32_t> columns =
            base == IndexBase::one ? to_base_one(ctx, H.ell().col_indices()) : H.ell().col_indices().clone();
        const auto multiply = [&](K alpha, Array<T>& y) {
          ctx.dispatch([&](const auto& where) {
            HybView<const K> a{H.ell().view(where), rest.view(where)};
            a.ell.col_indices = columns.read(where), a.ell.base = base;
            run_product(where,
                        krill::Product<HybView<const K>>{{alpha}, a, ax.read(where), {K(-1)}, y.update(where), {}});
          });
        };
        Array<T> y(y0);
        multiply(K(2), y);
        expect_close(y, expected);
        const auto once = contents(y);
        run_skipped(ctx, [&] { multiply(K(3), y); });
        EXPECT_EQ(contents(y), once);
      }
    }
  });
}

TEST_P(SpmvViews, of_coordinates_can_be_captured_and_skipped) {
  with_scalar([&]<class T>(T) {
    using K = kernel_t<T>;
    Context ctx = context();
    const Coo<T> A = to_coo(ctx, random_csr<T>(7, nasty_shapes()[6]));
    const Array<T> x(random_vector<T>(8, A.cols()));
    for (const bool in_pairs : {false, true}) {
      const CooArrays<T> arrays(A, IndexBase::one, in_pairs);
      Array<T> y(A.rows()), again(A.rows());
      const auto multiply = [&](K alpha, Array<T>& to) {
        ctx.dispatch([&](const auto& where) {
          run_product(where, krill::Product<CooView<const K>>{
                                 {alpha}, arrays.view(where), x.read(where), {K(0)}, to.write(where), {}});
        });
      };
      multiply(K(2), y);
      replay(ctx, [&] { multiply(K(2), again); });
      EXPECT_EQ(contents(again), contents(y));
      run_skipped(ctx, [&] { multiply(K(5), again); });
      EXPECT_EQ(contents(again), contents(y));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, SpmvCatalogue, backends_and_scalars, param_name);
INSTANTIATE_TEST_SUITE_P(, SpmvViews, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
