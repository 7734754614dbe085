#include "sparse/spmm/plan.hpp"

#include "sparse/convert/convert.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/spmm/coded_rows.hpp"
#include "tests/spmm/dense_operands.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using SpmmPlans = OnBackendAndScalar;

/// The adjoint of B.
template <class T>
Dense<T> adjoint_of(const Dense<T>& B, Order order) {
  Dense<T> made(B.cols(), B.rows(), order);
  const auto from = B.host();
  const auto to = made.edit();
  for (std::int64_t j = 0; j < B.cols(); ++j)
    for (std::int64_t i = 0; i < B.rows(); ++i) {
      to.at(j, i) = from.at(i, j);
      if constexpr (!std::is_same_v<T, real_t<T>>) to.at(j, i) = std::conj(from.at(i, j));
    }
  return made;
}

TEST_P(SpmmPlans, follow_the_formula_in_every_format_for_every_op) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const T alpha = random_vector<T>(1, 1)[0], beta = random_vector<T>(2, 1)[0];
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> A = random_csr<T>(61, shape);
      if (A.nnz() > 20'000) continue;
      const Reference ref = reference(A);
      for (const NamedFormat& named : all_formats()) {
        const auto F = converted<T>(ctx, A, named);
        if (!F) continue;
        for (const Op op_a : ops) {
          const std::int64_t k = 9;
          const SpmmPlan<T> plan(ctx, *F, op_a, k);
          for (const Op op_b : ops) {
            const Order order = orders[(op_a == Op::none) != (op_b == Op::none)];
            const std::int64_t inner = A.cols(op_a);
            const auto B = random_dense<T>(3, op_b == Op::none ? inner : k, op_b == Op::none ? k : inner, order);
            const auto before = random_dense<T>(4, A.rows(op_a), k, order);
            Dense<T> C = before.clone();
            plan.apply(ctx, op_b, alpha, B, beta, C);
            expect_product(op_a, op_b, alpha, ref, B, beta, before, C, shape.name + std::string(", ") + named.name);
          }
        }
      }
    }
  });
}

/// Tiles that are known change no bit, nor does a number of columns that was not foreseen.
TEST_P(SpmmPlans, of_csr_are_spmm_bit_by_bit_for_any_number_of_columns) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const AnyMatrix<T> A = random_csr<T>(31, shape);
      for (const Op op : ops)
        for (const std::int64_t foreseen : {1, 2, 8, 33}) {
          const SpmmPlan<T> plan(ctx, A, op, foreseen);
          ASSERT_EQ(plan.cols(), op == Op::none ? cols(A) : rows(A));
          for (const std::int64_t k : {std::int64_t{1}, std::int64_t{3}, foreseen})
            for (const Order order : orders) {
              const auto B = random_dense<T>(3, plan.cols(), k, order);
              Dense<T> C(plan.rows(), k, order), expected(plan.rows(), k, order);
              plan.apply(ctx, Op::none, T(2), B, T(0), C);
              spmm(ctx, op, Op::none, T(2), A, B, T(0), expected);
              ASSERT_EQ(contents(C.values()), contents(expected.values()))
                  << shape.name << ", " << foreseen << ", " << k;
            }
        }
    }
  });
}

TEST_P(SpmmPlans, follow_new_values) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Shape shape = nasty_shapes()[6];
    const Csr<T> first = random_csr<T>(33, shape);
    Csr<T> second = first.clone();
    for (T& value : second.values().edit()) value *= T(3);
    const Reference ref = reference(second);
    for (const NamedFormat& named : all_formats()) {
      auto F = converted<T>(ctx, first, named);
      auto G = converted<T>(ctx, second, named);
      if (!F || !G) continue;
      for (const Op op : ops) {
        AnyMatrix<T> moving = *converted<T>(ctx, first, named);
        SpmmPlan<T> plan(ctx, moving, op, 4);
        update_values(ctx, second, moving);
        plan.update(ctx);
        const auto B = random_dense<T>(3, plan.cols(), 4, Order::column_major);
        const auto before = random_dense<T>(4, plan.rows(), 4, Order::column_major);
        Dense<T> C = before.clone();
        plan.apply(ctx, Op::none, T(1), B, T(0), C);
        expect_product(op, Op::none, T(1), ref, B, T(0), before, C, named.name);
      }
    }
  });
}

TEST_P(SpmmPlans, can_be_captured_skipped_and_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : {nasty_shapes()[6], nasty_shapes()[8]})
      for (const Op op : ops)
        for (const Order order : orders) {
          const AnyMatrix<T> A = random_csr<T>(33, shape);
          const SpmmPlan<T> plan(ctx, A, op, 20);
          const auto B = random_dense<T>(3, plan.cols(), 20, order), other = random_dense<T>(5, plan.cols(), 20, order);
          Dense<T> C(plan.rows(), 20, order), again(plan.rows(), 20, order);
          replay(ctx, [&] { plan.apply(ctx, Op::none, T(2), B, T(0), C); });
          plan.apply(ctx, Op::none, T(2), B, T(0), again);
          EXPECT_EQ(contents(C.values()), contents(again.values()));
          run_skipped(ctx, [&] { plan.apply(ctx, Op::none, T(2), other, T(0), C); });
          EXPECT_EQ(contents(C.values()), contents(again.values()));
        }
  });
}

/// A matrix of each code of columns and values, by name.
template <class T>
std::vector<std::pair<std::string, Csr<T>>> coded_samples() {
  const auto with_values = [](Csr<T> A, auto&& value) {
    std::size_t k = 0;
    for (T& entry : A.values().edit()) entry = T(static_cast<real_t<T>>(value(k++)));
    return A;
  };
  const auto few = [](std::size_t k) { return static_cast<double>((k * 2654435761U >> 9) % 16); };
  const auto exact = [](std::size_t k) { return static_cast<float>(k) * 0.37F; };
  const auto any = [](std::size_t k) { return std::sin(static_cast<double>(k)); };
  const auto length = [](std::int32_t, std::mt19937_64& e) { return static_cast<std::int32_t>(e() % 9); };
  std::vector<std::pair<std::string, Csr<T>>> samples;
  samples.emplace_back("row patterns with values", poisson2d<T>(30));
  samples.emplace_back("row patterns, few values", with_values(poisson2d<T>(30), few));
  samples.emplace_back("row patterns, short values", with_values(poisson2d<T>(30), exact));
  samples.emplace_back("row patterns, any values", with_values(poisson2d<T>(30), any));
  samples.emplace_back("differences", random_csr<T>(89, {"", 900, 900, length}));
  samples.emplace_back("columns", random_csr<T>(90, {"", 300, 70'000, length}));
  samples.emplace_back("columns of long rows",
                       random_csr<T>(90, {"", 90, 70'000, [](std::int32_t, std::mt19937_64&) { return 40; }}));
  samples.emplace_back("columns, few values", with_values(random_csr<T>(90, {"", 300, 70'000, length}), few));
  return samples;
}

TEST_P(SpmmPlans, coded_matrices_follow_the_formula) {
  with_scalar([&]<class T>(T) {
    using K = kernel_t<T>;
    Context ctx = context();
    for (const auto& [name, A] : coded_samples<T>()) {
      detail::Packed<T> packed(ctx, A, detail::longest_row(ctx, A.row_offsets()));
      packed.fill(ctx, A);
      const Reference ref = reference(A);
      for (const std::int64_t k : {3, 9})
        for (const Order order : orders) {
          if (k == 3 && A.cols() > A.rows()) continue;  // takes long
          const auto B = random_dense<T>(3, A.cols(), k, order), before = random_dense<T>(4, A.rows(), k, order);
          const auto turned = adjoint_of(B, order);
          Dense<T> C = before.clone();
          ctx.dispatch([&](const auto& where) {
            const detail::RowProducts<detail::CodedRows<const K>> products{
                {{K(2)}, turned.view(where).transposed(), true, {K(3)}, C.output(where, Scalar<T>(3))},
                {packed.view(where)}};
            run_products(where, products, A.nnz());
          });
          expect_product(Op::none, Op::none, T(2), ref, B, T(3), before, C, name);
        }
    }
  });
}

/// Whatever is chosen, in all numbers of columns, with new values, and from a captured graph.
TEST_P(SpmmPlans, automatic_is_right_whatever_it_chooses_and_says_why) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    std::vector<AnyMatrix<T>> matrices;
    matrices.emplace_back(poisson2d<T>(90));
    matrices.emplace_back(random_dominant<T>(93, 3500, 7));
    matrices.emplace_back(poisson2d<T>(5));
    for (AnyMatrix<T>& A : matrices)
      for (const SpmvMethod method : {SpmvMethod::automatic, SpmvMethod::smallest}) {
        SpmmPlan<T> plan(ctx, A, Op::none, 3, method);
        EXPECT_FALSE(plan.report().why.empty());
        if (method == SpmvMethod::smallest) {
          EXPECT_EQ(plan.report().ms, 0);
        }
        for (const bool changed : {false, true}) {
          SCOPED_TRACE(plan.report().method + ": " + plan.report().why);
          auto& csr = std::get<Csr<T>>(A);
          if (changed)
            for (T& value : csr.values().edit()) value *= T(3);
          plan.update(ctx);
          const Reference ref = reference(csr);
          for (const std::int64_t k : {1, 3, 4}) {
            const auto B = random_dense<T>(3, plan.cols(), k, Order::column_major);
            const auto before = random_dense<T>(4, plan.rows(), k, Order::column_major);
            Dense<T> C = before.clone(), again(plan.rows(), k);
            plan.apply(ctx, Op::adjoint, T(2), adjoint_of(B, Order::row_major), T(1), C);
            expect_product(Op::none, Op::none, T(2), ref, B, T(1), before, C, "automatic");
            plan.apply(ctx, Op::none, T(2), B, T(0), C);
            replay(ctx, [&] { plan.apply(ctx, Op::none, T(2), B, T(0), again); });
            EXPECT_EQ(contents(C.values()), contents(again.values()));
          }
        }
      }
    const SpmmPlan<T> transposed(ctx, matrices[0], Op::transpose, 3, SpmvMethod::automatic);
    EXPECT_EQ(transposed.report().method, "csr");
  });
}

TEST_P(SpmmPlans, refuse_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A = random_csr<T>(33, nasty_shapes()[6]);  // 1000 x 900
    EXPECT_THROW(SpmmPlan<T>(ctx, A, Op::none, 0), InvalidArgument);
    const SpmmPlan<T> plan(ctx, A, Op::none, 3), transposed(ctx, A, Op::transpose, 3);
    const Dense<T> B(900, 3), tall(901, 3);
    Dense<T> C(1000, 3), narrow(1000, 2);
    EXPECT_THROW(plan.apply(ctx, Op::none, T(1), tall, T(0), C), ShapeMismatch);
    EXPECT_THROW(plan.apply(ctx, Op::transpose, T(1), B, T(0), C), ShapeMismatch);
    EXPECT_THROW(plan.apply(ctx, Op::none, T(1), B, T(0), narrow), ShapeMismatch);
    EXPECT_THROW(transposed.apply(ctx, Op::none, T(1), B, T(0), C), ShapeMismatch);
  });
}

INSTANTIATE_TEST_SUITE_P(, SpmmPlans, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
