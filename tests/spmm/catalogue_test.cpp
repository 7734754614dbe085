// The kernel catalogue's vectors of products with a dense matrix.
#include "tests/support/catalogue.hpp"

#include "sparse/convert/convert.hpp"
#include "sparse/spmm/batch.hpp"
#include "sparse/spmm/plan.hpp"
#include "sparse/spmm/spmm.hpp"
#include "sparse/spmv/product.hpp"
#include "sparse/vector/sparse_dense.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/base_one.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using SpmmCatalogue = OnBackendAndScalar;

/// The test program of the Fortran bindings: coordinates from one become rows, a vector is scattered, and what follows
/// is multiplied.
TEST_P(SpmmCatalogue, TV_FORTRAN) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Coo<T> coo(4, 4, from_base_one(ctx, Array<std::int32_t>{1, 1, 1, 2, 3, 3, 3, 4, 4}),
                     from_base_one(ctx, Array<std::int32_t>{1, 3, 4, 2, 1, 3, 4, 2, 4}),
                     Array<T>(tv::numbers<T>({1, 2, 3, 4, 5, 6, 7, 8, 9})));
    const Csr<T> A = to_csr(ctx, coo);
    EXPECT_EQ(contents(to_base_one(ctx, A.row_offsets())), (tv::Ints{1, 4, 5, 8, 10}));

    Array<T> first(tv::numbers<T>({10, 20, 30, 40})), second(tv::numbers<T>({50, 60, 70, 80}));
    const SparseVector<T> x(4, from_base_one(ctx, Array<std::int32_t>{1, 2, 4}),
                            Array<T>(tv::numbers<T>({100, 200, 400})));
    scatter(ctx, x, second);
    EXPECT_EQ(contents(second), tv::numbers<T>({100, 200, 70, 400}));
    spmv(ctx, Op::none, T(2), A, first, T(3), second);
    EXPECT_EQ(contents(second), tv::numbers<T>({680, 760, 1230, 2240}));

    std::vector<T> both = contents(first);
    for (const T& entry : second.host()) both.push_back(entry);
    const Dense<T> B(4, 2, Array<T>(both));
    Dense<T> C(4, 2, Array<T>(std::vector<T>(10)), Order::column_major, 5);
    spmm(ctx, Op::none, Op::none, T(5), A, B, T(0), C);
    EXPECT_EQ(contents(C.values()), tv::numbers<T>({950, 400, 2550, 2600, 0, 49300, 15200, 132300, 131200, 0}));

    // products of the arrays from one, as kernels take them
    const FromOne<T> arrays(A);
    second = Array<T>(tv::numbers<T>({100, 200, 70, 400}));
    ctx.dispatch([&](const auto& where) {
      using K = kernel_t<T>;
      run_product(where, krill::Product<CsrView<const K>>{
                             {K(2)}, arrays.view(where), first.read(where), {K(3)}, second.update(where), {}});
    });
    EXPECT_EQ(contents(second), tv::numbers<T>({680, 760, 1230, 2240}));
  });
}

TEST_P(SpmmCatalogue, TV_GEMMI) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Dense<T> A(2, 2, Array<T>(tv::numbers<T>({1, 2, 3, 4})));
    const Csc<T> B(2, Array<std::int32_t>{0, 1, 1, 3}, Array<std::int32_t>{1, 0, 1},
                   Array<T>(tv::numbers<T>({5, 6, 7})));
    Dense<T> C(2, 3, Array<T>(std::vector<T>(6, T(1))));
    dense_times_sparse(ctx, T(2), A, B, T(1), C);
    EXPECT_EQ(contents(C.values()), tv::numbers<T>({31, 41, 1, 1, 55, 81}));
  });
}

/// B as it stands, and the transpose of a B that is stored so.
TEST_P(SpmmCatalogue, TV_BSRMM) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Dense<T> B(6, 2, Array<T>(tv::numbers<T>({1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10, 12})));
    const Dense<T> turned(2, 6, Array<T>(tv::numbers<T>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})));
    for (const bool by_columns : {true, false}) {
      const Bsr<T> A(4, 6, {2, 2, by_columns ? BlockOrder::column_major : BlockOrder::row_major},
                     Array<std::int32_t>{0, 2, 5}, Array<std::int32_t>{0, 1, 0, 1, 2},
                     Array<T>(tv::a45_blocks<T>(by_columns)));
      for (const Op op : {Op::none, Op::transpose}) {
        Dense<T> C(4, 2);
        spmm(ctx, Op::none, op, T(1), A, op == Op::none ? B : turned, T(0), C);
        EXPECT_EQ(contents(C.values()), tv::numbers<T>({13, 21, 126, 99, 18, 26, 146, 114}));
      }
    }
  });
}

/// Trap 7 with many columns, where C is scaled first in other libraries.
TEST_P(SpmmCatalogue, trap_7_beta_zero_overwrites_nan_in_every_column) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T nan(std::numeric_limits<real_t<T>>::quiet_NaN());
    const AnyMatrix<T> A = tv::a45<T>();
    const Dense<T> B(5, 9, Array<T>(std::vector<T>(45, T(1))));
    Dense<T> C(4, 9, Array<T>(std::vector<T>(36, nan))), D = C.clone();
    spmm(ctx, Op::none, Op::none, T(1), A, B, T(0), C);
    SpmmPlan<T>(ctx, A, Op::none, 9).apply(ctx, Op::none, T(1), B, T(0), D);
    std::vector<T> expected;
    for (int j = 0; j < 9; ++j)
      for (const int sum : {5, 5, 20, 15}) expected.push_back(T(static_cast<real_t<T>>(sum)));
    EXPECT_EQ(contents(C.values()), expected);
    EXPECT_EQ(contents(D.values()), expected);
  });
}

/// A without columns, B without columns, and both.
TEST_P(SpmmCatalogue, products_without_columns_are_nothing_or_beta_C) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> none(0, Array<std::int32_t>{0, 0, 0}, Array<std::int32_t>(0), Array<T>(0));
    Dense<T> C(2, 3, Array<T>(std::vector<T>(6, T(2)))), empty(4, 0);
    spmm(ctx, Op::none, Op::none, T(1), none, Dense<T>(0, 3), T(3), C);
    EXPECT_EQ(contents(C.values()), std::vector<T>(6, T(6)));
    spmm(ctx, Op::none, Op::none, T(1), tv::a45<T>(), Dense<T>(5, 0), T(0), empty);
    EXPECT_EQ(empty.values().size(), 0);
    EXPECT_THROW(Dense<T>(4, 2, Order::column_major, 3), InvalidArgument);
    EXPECT_THROW(Dense<T>(4, 2, Order::row_major, 1), InvalidArgument);
  });
}

INSTANTIATE_TEST_SUITE_P(, SpmmCatalogue, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
