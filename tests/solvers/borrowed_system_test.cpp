// Plans, factors and solvers on memory of the caller's.
#include <functional>

#include "sparse/convert/prune.hpp"
#include "sparse/factor/incomplete.hpp"
#include "sparse/inverse/sparse_inverse.hpp"
#include "sparse/order/coloring.hpp"
#include "sparse/scale/scaling.hpp"
#include "sparse/spgemm/spgemm.hpp"
#include "sparse/spmm/plan.hpp"
#include "sparse/triangular/triangular.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/lent.hpp"

namespace krill::test {
namespace {

class BorrowedSystem : public OnBackendAndScalar {};

/// work(A, x, y) on arrays of Krill's own, then on lent ones: the same bits in y. The lent matrix and vectors are not
/// copied: on the host that would show in the memory, on CUDA in the transfers.
template <class T, class Work>
void expect_same_on_lent_memory(Context& ctx, const Csr<T>& A, const Work& work) {
  const std::vector<T> values = random_vector<T>(22, A.rows()), zeros(values.size(), T(0));
  Array<T> y(zeros);
  work(AnyMatrix<T>(A.clone()), Array<T>(values), y);

  LentCsr<T> matrix(ctx, A);
  Lent<T> lent_values(ctx, values), result(ctx, zeros);
  {
    const AnyMatrix<T> lent(matrix.borrow());
    const Array<T> x = lent_values.borrow_const();
    Array<T> lent_y = result.borrow();
    work(lent, x, lent_y);
  }
  const std::vector<T> found = result.contents();
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], y.host()[i]) << "entry " << i;
}

/// run() for the second time moves, allocates and awaits nothing, and what it needed the first time came without a copy
/// of `bytes`.
template <class Run>
void expect_no_copy(Context& ctx, std::size_t bytes, const Run& run) {
  const std::size_t before = ctx.memory_use().now;
  run();
  EXPECT_LT(ctx.memory_use().now, before + bytes);
  const Counters first = counters();
  run();
  EXPECT_EQ(counters(), first);
}

/// y = the first entries of `values`.
template <class T>
void take_first(Context& ctx, const Array<T>& values, Array<T>& y) {
  ASSERT_GE(values.size(), y.size());
  ctx.dispatch([&](const auto& where) {
    copy_bytes(where, y.write(where), values.read(where), static_cast<std::size_t>(y.size()) * sizeof(T));
  });
}

TEST_P(BorrowedSystem, is_multiplied_by_a_plan) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_dominant<T>(21, 40000, 20);
    for (const Op op : {Op::none, Op::adjoint})
      expect_same_on_lent_memory(ctx, A, [&](const AnyMatrix<T>& a, const Array<T>& x, Array<T>& y) {
        const SpmvPlan<T> plan(ctx, a, op);
        plan.apply(ctx, T(1), x, T(0), y);  // its own copy, where it has one
        expect_no_copy(ctx, std::size_t{1} << 20, [&] { plan.apply(ctx, T(1), x, T(0), y); });
      });
  });
}

TEST_P(BorrowedSystem, is_solved_by_triangles) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    expect_same_on_lent_memory(ctx, random_dominant<T>(23, 3000, 7),
                               [&](const AnyMatrix<T>& a, const Array<T>& x, Array<T>& y) {
                                 TriangularPlan<T, std::int32_t> plan(ctx, std::get<Csr<T>>(a), {Fill::lower});
                                 plan.update(ctx, std::get<Csr<T>>(a));
                                 plan.solve(ctx, T(1), x, y);
                                 expect_no_copy(ctx, std::size_t{1} << 20, [&] { plan.solve(ctx, T(1), x, y); });
                               });
  });
}

TEST_P(BorrowedSystem, is_factored) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    expect_same_on_lent_memory(
        ctx, random_dominant<T>(24, 3000, 7), [&](const AnyMatrix<T>& a, const Array<T>&, Array<T>& y) {
          IncompleteFactor<T, std::int32_t> factor(ctx, std::get<Csr<T>>(a), Factorization::ilu0);
          expect_no_copy(ctx, std::size_t{1} << 20, [&] { factor.update(ctx, std::get<Csr<T>>(a)); });
          take_first(ctx, factor.matrix().values(), y);
        });
  });
}

TEST_P(BorrowedSystem, is_multiplied_by_matrices_and_pruned) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_dominant<T>(25, 3000, 7);
    using Work = std::function<void(const AnyMatrix<T>&, const Csr<T>&, Array<T>&)>;
    const auto values = random_vector<T>(26, std::int64_t{A.rows()} * 3);
    const Work all[] = {
        [&](const AnyMatrix<T>& any, const Csr<T>&, Array<T>& y) {
          const Dense<T> B(A.rows(), 3, Array<T>(values));
          Dense<T> C(A.rows(), 3);
          const SpmmPlan<T> plan(ctx, any, Op::none, 3);
          plan.apply(ctx, Op::none, T(1), B, T(0), C);
          expect_no_copy(ctx, std::size_t{1} << 16, [&] { plan.apply(ctx, Op::none, T(1), B, T(0), C); });
          take_first(ctx, C.values(), y);
        },
        [&](const AnyMatrix<T>&, const Csr<T>& a, Array<T>& y) {
          SpgemmPlan<T> plan(ctx, Op::none, a, Op::none, a);
          plan.update(ctx, T(1), a, a);
          expect_no_copy(ctx, std::size_t{1} << 16, [&] { plan.update(ctx, T(1), a, a); });
          take_first(ctx, plan.matrix().values(), y);
        },
        [&](const AnyMatrix<T>&, const Csr<T>& a, Array<T>& y) {
          SpgeamPlan<T> plan(ctx, Op::none, a, Op::transpose, a);
          plan.update(ctx, T(1), a, T(2), a);
          take_first(ctx, plan.matrix().values(), y);
        },
        [&](const AnyMatrix<T>&, const Csr<T>& a, Array<T>& y) { take_first(ctx, prune(ctx, a, 1e-3).values(), y); },
    };
    for (const Work& work : all)
      expect_same_on_lent_memory(
          ctx, A, [&](const AnyMatrix<T>& a, const Array<T>&, Array<T>& y) { work(a, std::get<Csr<T>>(a), y); });
  });
}

/// The matrix is read where it lies: on CUDA nothing of its size is moved to convert or color it.
TEST_P(BorrowedSystem, is_converted_colored_and_scaled) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = poisson2d<T>(50);
    LentCsr<T> matrix(ctx, A);
    const Csr<T> lent = matrix.borrow();
    const auto expect_same = [&](const auto& made) { EXPECT_EQ(made(lent), made(A)); };
    for (const NamedFormat& named : all_formats()) {
      if (named.format == Format::csr || !converted<T>(ctx, A, named)) continue;  // a copy; too much
      SCOPED_TRACE(named.name);
      expect_same([&](const Csr<T>& a) -> std::vector<T> {
        const AnyMatrix<T> there = convert_format(ctx, a, named.format, named.layout), back = to_csr(ctx, there);
        return contents(std::get<Csr<T>>(back).values());
      });
    }
    expect_same([&](const Csr<T>& a) { return contents(color(ctx, a).colors); });
    expect_same([&](const Csr<T>& a) { return contents(Scaling<T>(ctx, a, ScalingMethod::ruiz).rows()); });
    expect_same(
        [&](const Csr<T>& a) { return contents(SparseInverse<T>(ctx, a, InverseForm::general).matrix().values()); });
    EXPECT_EQ(matrix.values.contents(), contents(A.values()));
    EXPECT_EQ(matrix.col_indices.contents(), contents(A.col_indices()));
    if (!ctx.on_cuda()) return;
    const Counters before = counters();
    const Csc<T> columns = to_csc(ctx, lent);
    EXPECT_EQ(counters().transfers, before.transfers) << "by columns";
  });
}

TEST_P(BorrowedSystem, is_solved_by_conjugate_gradients) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    expect_same_on_lent_memory(ctx, random_hpd<T>(25, 3000, 7),
                               [&](const AnyMatrix<T>& a, const Array<T>& b, Array<T>& x) {
                                 const MatrixOperator<T> op(a);
                                 const auto M = make_preconditioner(ctx, JacobiOptions{}, a);
                                 const auto solver = make_solver<T>(PcgOptions{.stop = {.relative = 1e-4}}, op, *M);
                                 EXPECT_EQ(solver->solve(ctx, b, x).reason, Reason::converged);
                               });
  });
}

/// Kernels that load 16 bytes at a time take other ways where borrowed memory does not lie so.
TEST_P(BorrowedSystem, need_not_lie_at_multiples_of_16_bytes) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_dominant<T>(26, 5000, 5);
    const std::vector<T> values = random_vector<T>(27, A.rows());
    const auto shifted = [&]<class V>(std::span<const V> from) {
      std::vector<V> padded(from.begin(), from.end());
      padded.insert(padded.begin(), V{});
      return Lent<V>(ctx, std::move(padded));
    };
    auto offsets = shifted(A.row_offsets().host()), cols = shifted(A.col_indices().host());
    auto entries = shifted(A.values().host());
    const AnyMatrix<T> lent(Csr<T>(A.cols(), offsets.borrow_from(1), cols.borrow_from(1), entries.borrow_from(1)));
    const Array<T> x(values);
    Array<T> y(A.rows());
    for (const Op op : {Op::none, Op::transpose}) {
      SpmvPlan<T>(ctx, lent, op).apply(ctx, T(1), x, T(0), y);
      const Product expected =
          product(op, T(1), reference(A), to_reference(values), T(0), std::vector<Z>(values.size()), epsilon<T>());
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_LE(std::abs(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << "entry " << i;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, BorrowedSystem, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
