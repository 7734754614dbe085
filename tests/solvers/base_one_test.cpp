// Plans, factors, orderings and scalings of matrices whose arrays count from one: what they give is what they give of
// the same matrix from zero, bit by bit.
#include "tests/support/base_one.hpp"

#include "sparse/factor/incomplete.hpp"
#include "sparse/inverse/sparse_inverse.hpp"
#include "sparse/order/coloring.hpp"
#include "sparse/scale/scaling.hpp"
#include "sparse/spmv/plan.hpp"
#include "sparse/triangular/triangular.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/triangular/triangles.hpp"

namespace krill::test {
namespace {

class BaseOneSystem : public OnBackendAndScalar {
 protected:
  /// made(A) is the same vector of the matrix as of what its arrays from one become.
  template <class T, class Made>
  static void expect_same(Context& ctx, const Csr<T>& A, const Made& made) {
    EXPECT_EQ(made(FromOne(A).taken_over(ctx)), made(A));
  }
};

TEST_P(BaseOneSystem, is_multiplied_and_solved_by_plans) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(1, random_dominant<T>(2, 500, 7));
    const Array<T> b(random_vector<T>(3, A.rows()));
    Array<T> x(A.rows());
    for (const Triangle& t : all_triangles())
      expect_same(ctx, A, [&](const Csr<T>& a) {
        TriangularPlan<T>(ctx, a, t).solve(ctx, T(2), b, x);
        return contents(x);
      });
    for (const Op op : {Op::none, Op::adjoint})
      expect_same(ctx, A, [&](const Csr<T>& a) {
        const AnyMatrix<T> any = a.clone();
        SpmvPlan<T>(ctx, any, op).apply(ctx, T(2), b, T(0), x);
        return contents(x);
      });
  });
}

TEST_P(BaseOneSystem, is_factored_and_inverted) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(4, random_hpd<T>(5, 500, 7), true);
    for (const Factorization kind : {Factorization::ilu0, Factorization::ic0})
      expect_same(ctx, A,
                  [&](const Csr<T>& a) { return contents(IncompleteFactor<T>(ctx, a, kind).matrix().values()); });
    for (const InverseForm form : {InverseForm::general, InverseForm::factored})
      expect_same(ctx, A, [&](const Csr<T>& a) { return contents(SparseInverse<T>(ctx, a, form).matrix().values()); });
  });
}

TEST_P(BaseOneSystem, is_colored_reordered_and_scaled) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_dominant<T>(6, 500, 7);
    const Ordering ordering(Array<std::int32_t>(shuffled(7, A.rows())));
    expect_same(ctx, A, [&](const Csr<T>& a) { return contents(color(ctx, a).colors); });
    expect_same(ctx, A, [&](const Csr<T>& a) {
      return contents(Reordered<T, std::int32_t>(ctx, a, ordering).matrix().values());
    });
    expect_same(ctx, A, [&](const Csr<T>& a) {
      const Scaling<T> scaling(ctx, a, ScalingMethod::ruiz);
      return contents(Scaled<T, std::int32_t>(ctx, a, scaling).matrix().values());
    });
  });
}

/// The rows that are reported, and one more, are those of the caller.
TEST_P(BaseOneSystem, has_its_zero_pivots_one_row_before_the_callers) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = from_base_one(ctx, 3, Array<std::int32_t>{1, 2, 3, 5}, Array<std::int32_t>{1, 2, 1, 2},
                                   Array<T>{T(1), T(0), T(3), T(4)});  // a zero in row 2, none stored in row 3
    const IncompleteFactor<T> factor(ctx, A, Factorization::ilu0);
    EXPECT_EQ(*factor.numerical_zero() + 1, 2);
    EXPECT_EQ(*factor.structural_zero() + 1, 3);
    EXPECT_EQ(*TriangularPlan<T>(ctx, A, {}).zero_pivot() + 1, 2);
    EXPECT_EQ(*SparseInverse<T>(ctx, A, InverseForm::general).structural_zero() + 1, 3);
  });
}

INSTANTIATE_TEST_SUITE_P(, BaseOneSystem, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
