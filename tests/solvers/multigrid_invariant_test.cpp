// What holds for hierarchies and cycles, whatever they are made of.
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/precond/level_smoothers.hpp"
#include "sparse/coarsen/aggregate.hpp"
#include "sparse/core/device.hpp"
#include "sparse/io/generate.hpp"
#include "tests/solvers/applied.hpp"

namespace krill::test {
namespace {

using MultigridInvariant = OnBackendAndScalar;

MultigridOptions with_levels_of(MultigridMethod method) {
  MultigridOptions o;
  o.method = method, o.coarse_rows = 10;
  return o;
}
constexpr MultigridMethod methods[]{MultigridMethod::smoothed_aggregation, MultigridMethod::aggregation};
constexpr SmootherKind smoothers[]{SmootherKind::chebyshev, SmootherKind::l1_jacobi,
                                   SmootherKind::multicolor_gauss_seidel, SmootherKind::ilu0, SmootherKind::isai};

template <class T>
FinestLevel<T> finest_of(const AnyMatrix<T>& A, const MultigridOptions& o) {
  return {.A = A, .hermitian = true, .make_smoothing = smoothing_pairs<T>(o.smoother)};
}

template <class T>
std::vector<T> cycled(Context& ctx, const Hierarchy<T>& hierarchy, const std::vector<T>& b) {
  Array<T> x(std::ssize(b));
  hierarchy.cycle().apply(ctx, Array<T>(b), x, nullptr);
  return contents(x);
}

/// A grid with other values: the same pattern and, as couplings stay alike, the same strong graph.
template <class T>
AnyMatrix<T> grid_plus(double shift) {
  Csr<T> A = poisson2d<T>(17);
  const auto offsets = A.row_offsets().host(), columns = A.col_indices().host();
  const std::span<T> values = A.values().edit();
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
      if (columns[k] == i) values[k] += T(static_cast<real_t<T>>(shift));
  return A;
}

/// A power of two changes no rounding; a sum is that of answers to rounding.
TEST_P(MultigridInvariant, cycles_are_linear) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(poisson2d<T>(17));
    const std::int64_t n = rows(A);
    const auto u = random_vector<T>(3, n), v = random_vector<T>(4, n);
    std::vector<T> sum, twice;
    for (std::size_t i = 0; i < u.size(); ++i) sum.push_back(u[i] + v[i]), twice.push_back(T(-4) * u[i]);
    for (const MultigridMethod method : methods)
      for (const MultigridCycle cycle : {MultigridCycle::v, MultigridCycle::w, MultigridCycle::f})
        for (const SmootherKind kind : smoothers) {
          MultigridOptions o = with_levels_of(method);
          o.cycle = cycle, o.smoother.type = kind;
          const Hierarchy<T> hierarchy(ctx, o, finest_of(A, o));
          ASSERT_GE(hierarchy.levels().size(), 3u);
          const auto Mu = cycled(ctx, hierarchy, u), Mv = cycled(ctx, hierarchy, v), Ms = cycled(ctx, hierarchy, sum),
                     Mt = cycled(ctx, hierarchy, twice);
          double most = 0;
          for (const T& value : Ms) most = std::max<double>(most, std::abs(value));
          for (std::size_t i = 0; i < u.size(); ++i) {
            EXPECT_EQ(Mt[i], T(-4) * Mu[i]) << i;
            // Three cycles of some 50 operations each, and the last level's inverse with a condition below 200.
            EXPECT_NEAR(std::abs(Z(Ms[i]) - Z(Mu[i]) - Z(Mv[i])), 0, 150 * 20 * epsilon<T>() * most) << i;
          }
        }
  });
}

TEST_P(MultigridInvariant, levels_are_valid_matrices) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::array matrices{AnyMatrix<T>(poisson2d<T>(17)), generate<T>(Jumps3dOptions{.nx = 8, .block = 2}),
                              generate<T>(PowerLawLaplacianOptions{.rows = 600}),
                              generate<T>(ConvectionDiffusion2dOptions{.nx = 15})};
    for (const AnyMatrix<T>& A : matrices)
      for (const MultigridMethod method : methods) {
        const Hierarchy<T> hierarchy(ctx, with_levels_of(method), {.A = A, .hermitian = &A != &matrices.back()});
        ASSERT_GE(hierarchy.levels().size(), 2u);
        for (const auto& level : hierarchy.levels()) {  // columns ascend, none twice
          if (level->A) {
            EXPECT_NO_THROW(validate(std::get<Csr<T>>(*level->A)));
          }
          const auto* transfer = dynamic_cast<const MatrixTransfer<T>*>(level->transfer.get());
          if (!transfer) continue;
          EXPECT_NO_THROW(validate(std::get<Csr<T>>(transfer->prolongation())));
          EXPECT_NO_THROW(validate(std::get<Csr<T>>(transfer->restriction())));
        }
      }
  });
}

/// Whatever is kept, and whatever smooths.
TEST_P(MultigridInvariant, the_same_values_again_give_the_same_bits) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    AnyMatrix<T> A(poisson2d<T>(17));
    const auto b = random_vector<T>(8, rows(A));
    for (const MultigridMethod method : methods)
      for (const auto reuse : {HierarchyReuse::aggregates, HierarchyReuse::interpolation, HierarchyReuse::hierarchy})
        for (const SmootherKind kind : smoothers) {
          MultigridOptions o = with_levels_of(method);
          o.reuse = reuse, o.smoother.type = kind;
          Hierarchy<T> hierarchy(ctx, o, finest_of(A, o));
          const std::vector<T> before = cycled(ctx, hierarchy, b);
          hierarchy.update(ctx, A);
          EXPECT_EQ(cycled(ctx, hierarchy, b), before);
        }
  });
}

/// With three levels and more: an update that keeps aggregates is a fresh set-up where that finds the same ones.
TEST_P(MultigridInvariant, new_values_make_what_a_fresh_set_up_makes_of_the_same_aggregates) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto b = random_vector<T>(8, 17 * 17);
    for (const MultigridMethod method : methods) {
      // Coarse graphs of smoothed levels follow small changes; a factor of two changes none.
      Csr<T> twice = poisson2d<T>(17);
      for (T& value : twice.values().edit()) value *= static_cast<real_t<T>>(2);
      const AnyMatrix<T> other =
          method == MultigridMethod::aggregation ? grid_plus<T>(0.05) : AnyMatrix<T>(std::move(twice));
      MultigridOptions o = with_levels_of(method);
      o.reuse = HierarchyReuse::aggregates;
      AnyMatrix<T> A(poisson2d<T>(17));
      Hierarchy<T> hierarchy(ctx, o, {.A = A, .hermitian = true});
      const Hierarchy<T> fresh(ctx, o, {.A = other, .hermitian = true});
      ASSERT_GE(hierarchy.levels().size(), 3u);
      ASSERT_EQ(fresh.levels().size(), hierarchy.levels().size());
      for (std::size_t l = 0; l + 1 < fresh.levels().size(); ++l) {  // which is the case here
        if (const auto* plain = dynamic_cast<const AggregateTransfer<T>*>(fresh.levels()[l]->transfer.get())) {
          const auto& kept = dynamic_cast<const AggregateTransfer<T>&>(*hierarchy.levels()[l]->transfer);
          ASSERT_EQ(contents(plain->aggregates().of_row), contents(kept.aggregates().of_row));
          continue;
        }
        const auto pattern = [&](const Hierarchy<T>& of) {
          return contents(
              std::get<Csr<T>>(dynamic_cast<const MatrixTransfer<T>&>(*of.levels()[l]->transfer).prolongation())
                  .col_indices());
        };
        ASSERT_EQ(pattern(fresh), pattern(hierarchy)) << l;
      }
      const std::vector<T> before = cycled(ctx, hierarchy, b);
      std::get<Csr<T>>(A).values() = std::get<Csr<T>>(other).values().clone();
      hierarchy.update(ctx, A);
      EXPECT_EQ(cycled(ctx, hierarchy, b), cycled(ctx, fresh, b));
      EXPECT_NE(cycled(ctx, hierarchy, b), before);
      for (std::size_t l = 1; l < fresh.levels().size(); ++l)
        EXPECT_EQ(contents(std::get<Csr<T>>(*hierarchy.levels()[l]->A).values()),
                  contents(std::get<Csr<T>>(*fresh.levels()[l]->A).values()))
            << l;
    }
  });
}

/// Counted, after a first run.
TEST_P(MultigridInvariant, applying_and_updating_moves_allocates_and_waits_for_nothing) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    AnyMatrix<T> A(poisson2d<T>(17));
    const Array<T> b(random_vector<T>(8, rows(A)));
    Array<T> x(b.size());
    const auto count = [&](auto&& work) {
      work();
      work();  // the second one may still take workspace to its size
      ctx.synchronize();
      const Counters before = counters();
      for (int k = 0; k < 3; ++k) work();
      const Counters after = counters();
      EXPECT_EQ(after.transfers, before.transfers);
      EXPECT_EQ(after.allocations, before.allocations);
      EXPECT_EQ(after.synchronizations, before.synchronizations);
    };
    for (const MultigridMethod method : methods)
      for (const MultigridCycle cycle : {MultigridCycle::v, MultigridCycle::w, MultigridCycle::f, MultigridCycle::k})
        for (const SmootherKind kind : {SmootherKind::chebyshev, SmootherKind::l1_jacobi})
          for (const auto reuse : {HierarchyReuse::aggregates, HierarchyReuse::interpolation}) {
            MultigridOptions o = with_levels_of(method);
            o.cycle = cycle, o.reuse = reuse, o.smoother = {.type = kind, .eigenvalue_steps = 0};
            Hierarchy<T> hierarchy(ctx, o, finest_of(A, o));
            count([&] { hierarchy.cycle().apply(ctx, b, x, nullptr); });
            count([&] { hierarchy.recompute(ctx, A); });
            hierarchy.check();
          }
    for (const SmootherKind kind : smoothers) {
      MultigridOptions o = with_levels_of(MultigridMethod::smoothed_aggregation);
      o.smoother.type = kind;
      const Hierarchy<T> hierarchy(ctx, o, finest_of(A, o));
      count([&] { hierarchy.cycle().apply(ctx, b, x, nullptr); });
    }
  });
}

TEST_P(MultigridInvariant, aggregates_do_not_hang_on_the_number_of_threads) {
  if (std::get<0>(GetParam()) != Backend::host) GTEST_SKIP() << "of threads of the host";
  with_scalar([&]<class T>(T) {
    const AnyMatrix<T> A = generate<T>(Jumps3dOptions{.nx = 16, .block = 4});
    const auto aggregates = [&](int threads) {
      Context ctx = Context::host(threads);
      const auto& csr = std::get<Csr<T>>(A);
      return contents(aggregate_mis2(ctx, strong_graph(ctx, csr), csr).of_row);
    };
    const auto expected = aggregates(1);
    for (const int threads : {2, 3, 7}) EXPECT_EQ(aggregates(threads), expected) << threads;
  });
}

INSTANTIATE_TEST_SUITE_P(, MultigridInvariant, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
