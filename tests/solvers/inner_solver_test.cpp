#include "solvers/inner_solver.hpp"

#include <chrono>

#include "sparse/vector/vector.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using InnerSolve = OnBackendAndScalar;
using InnerLoop = OnBackend;

template <class T>
std::unique_ptr<Preconditioner<T>> made_inside(Context& ctx, const SolverOptions& options, const MatrixOperator<T>& op,
                                               const PreconditionerOptions& M = NoPreconditioner{}) {
  return std::make_unique<InnerSolver<T>>(options, op, make_preconditioner(ctx, M, *op.matrix()));
}
template <class T>
std::unique_ptr<Preconditioner<T>> made_inside(const SolverOptions& options, const MatrixOperator<T>& op,
                                               std::unique_ptr<Preconditioner<T>> M) {
  return std::make_unique<InnerSolver<T>>(options, op, std::move(M));
}

/// Of a few iterations, as one has it inside.
template <class Options>
Options few(int iterations, double relative = 0.1) {
  Options options{.max_iterations = iterations, .stop = {.relative = relative}};
  if constexpr (requires { options.restart; }) options.restart = iterations;
  return options;
}

struct Pair {
  SolverOptions outer, inside;
  bool definite;
};

/// The solvers that may stand outside, and all that may stand inside.
template <class T>
std::vector<Pair> pairs() {
  const double relative = sizeof(real_t<T>) == 4 ? 1e-5 : 1e-10;
  const StopOptions stop{.relative = relative};
  const FcgOptions fcg{.max_iterations = 200, .stop = stop};
  const FgmresOptions fgmres{.max_iterations = 200, .restart = 20, .stop = stop};
  PcgOptions single = few<PcgOptions>(8);
  single.method = PcgMethod::single_reduction;
  return {{fcg, few<PcgOptions>(8), true},
          {fcg, single, true},
          {fcg, few<FcgOptions>(8), true},
          {fcg, few<GmresOptions>(8), true},
          {fgmres, few<PcgOptions>(8), true},
          {fgmres, few<GmresOptions>(8), false},
          {fgmres, few<FgmresOptions>(8), false},
          {fgmres, few<BicgstabOptions>(4), false},
          {fgmres, RichardsonOptions{.max_iterations = 4, .relaxation = 0.2, .stop = {.relative = 0.1}}, false}};
}

TEST_P(InnerSolve, all_solvers_serve_inside_of_flexible_ones) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto b = random_vector<T>(92, 400);
    for (const auto& [outer, inside, definite] : pairs<T>()) {
      const Csr<T> csr = definite ? random_hpd<T>(91, 400, 6) : random_dominant<T>(91, 400, 6);
      const AnyMatrix<T> A(csr.clone());
      const MatrixOperator<T> op(A);
      const auto M = made_inside<T>(ctx, inside, op, JacobiOptions{});
      Array<T> x(std::vector<T>(400, T(0)));
      const SolveReport report = make_solver<T>(outer, op, *M)->solve(ctx, Array<T>(b), x);
      EXPECT_EQ(report.reason, Reason::converged)
          << name(outer) << " over " << name(inside) << ": " << name(report.reason);
      const std::vector<T> got(x.host().begin(), x.host().end());
      EXPECT_LE(relative_residual(reference(csr), to_reference(got), to_reference(b)), 1.01 * stop(outer).relative)
          << name(outer) << " over " << name(inside);
      EXPECT_LT(report.iterations, solve(ctx, csr, b, outer, JacobiOptions{}).report.iterations)
          << name(outer) << " over " << name(inside);
    }
  });
}

/// k steps of Richardson's iteration from z = 0: the sum of w (I - w A)^j r over j < k, in long double.
TEST_P(InnerSolve, an_application_is_what_the_method_makes_of_r) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> csr = random_dominant<T>(93, 200, 5);
    const AnyMatrix<T> A(csr.clone());
    const MatrixOperator<T> op(A);
    const Reference dense = reference(csr);
    constexpr int steps = 3;
    constexpr double w = 0.25;
    const RichardsonOptions options{.max_iterations = steps, .relaxation = w, .stop = {.relative = 0}};
    const InnerSolver<T> M(options, op, std::make_unique<Identity<T>>());
    for (const double scale : {1.0, 1e-30, 0.0}) {
      auto r = random_vector<T>(94, 200);
      for (T& entry : r) entry *= static_cast<real_t<T>>(scale);
      Array<T> z(std::vector<T>(200, T(7)));
      M.apply(ctx, Array<T>(r), z);

      using Wide = std::complex<long double>;
      std::vector<Wide> expected(200), left(200);
      long double matrix = 0, size = 0;
      for (std::size_t i = 0; i < r.size(); ++i) left[i] = std::complex<double>(r[i]);
      for (std::size_t i = 0; i < r.size(); ++i) size = std::max(size, std::abs(left[i]));
      std::vector<long double> sums(200);
      for (std::size_t k = 0; k < dense.row.size(); ++k)
        sums[static_cast<std::size_t>(dense.row[k])] += std::abs(dense.value[k]);
      for (const long double sum : sums) matrix = std::max(matrix, sum);
      for (int step = 0; step < steps; ++step) {
        const std::vector<Wide> added = left;
        for (std::size_t i = 0; i < left.size(); ++i) expected[i] += static_cast<long double>(w) * added[i];
        for (std::size_t k = 0; k < dense.row.size(); ++k)
          left[static_cast<std::size_t>(dense.row[k])] -=
              static_cast<long double>(w) * Wide(dense.value[k]) * added[static_cast<std::size_t>(dense.col[k])];
      }
      // Each step rounds a product and two sums of at most 201 terms; errors grow as (1 + w ||A||) does.
      const long double bound = steps * 204 * static_cast<long double>(std::numeric_limits<real_t<T>>::epsilon()) *
                                std::pow(1 + static_cast<long double>(w) * matrix, steps) * size;
      for (std::size_t i = 0; i < r.size(); ++i)
        EXPECT_LE(std::abs(Wide(std::complex<double>(z.host()[i])) - expected[i]), bound) << scale << ", row " << i;
    }
  });
}

TEST_P(InnerLoop, two_deep_and_no_deeper) {
  Context ctx = context();
  const Csr<double> csr = random_dominant<double>(95, 300, 6);
  const AnyMatrix<double> A(csr.clone());
  const MatrixOperator<double> op(A);
  const auto b = random_vector<double>(96, 300);
  const FgmresOptions outer{.max_iterations = 50, .restart = 10, .stop = {.relative = 1e-10}};
  auto M = made_inside<double>(few<FgmresOptions>(3), op,
                               made_inside<double>(ctx, few<GmresOptions>(3), op, JacobiOptions{}));
  Array<double> x(std::vector<double>(300, 0.0));
  EXPECT_EQ(make_solver<double>(outer, op, *M)->solve(ctx, Array<double>(b), x).reason, Reason::converged);
  const std::vector<double> got(x.host().begin(), x.host().end());
  EXPECT_LE(relative_residual(reference(csr), to_reference(got), to_reference(b)), 1.01e-10);
  try {
    made_inside<double>(few<FgmresOptions>(3), op, std::move(M));
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(
        e.what(),
        "inner solver fgmres: its preconditioner holds 2 solvers inside of each other already; 2 is as deep as "
        "it goes");
  }
}

TEST_P(InnerLoop, refuses_what_cannot_stand_there) {
  Context ctx = context();
  const AnyMatrix<double> A(poisson2d<double>(4));
  const MatrixOperator<double> op(A);
  const auto M = made_inside<double>(ctx, few<PcgOptions>(3), op);
  const auto refusal = [&](const auto& make) {
    try {
      make();
    } catch (const InvalidArgument& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  for (const SolverOptions& fixed :
       {SolverOptions(PcgOptions{}), SolverOptions(GmresOptions{}), SolverOptions(BicgstabOptions{})}) {
    const std::string expected = "solver " + name(fixed) +
                                 ": the preconditioner is another matrix in every iteration, as a solver or a K-cycle "
                                 "is; use fcg for Hermitian positive definite systems, or fgmres";
    EXPECT_EQ(refusal([&] { make_solver<double>(fixed, op, *M); }), expected);
    EXPECT_EQ(refusal([&] { made_inside<double>(fixed, op, made_inside<double>(ctx, few<PcgOptions>(3), op)); }),
              expected);
  }
  for (const SolverOptions& accepted :
       {SolverOptions(FcgOptions{}), SolverOptions(FgmresOptions{}), SolverOptions(RichardsonOptions{})})
    EXPECT_EQ(refusal([&] { make_solver<double>(accepted, op, *M); }), "accepted");
  for (const bool lower : {false, true}) {
    AmgOptions krylov = apps::detail::with_levels({});
    krylov.method = MultigridMethod::aggregation, krylov.cycle = MultigridCycle::k;
    if (!lower) krylov.precision = KeptPrecision::float64;
    const auto cycle = make_preconditioner<double>(ctx, krylov, A);
    EXPECT_TRUE(refusal([&] { make_solver<double>(PcgOptions{}, op, *cycle); }).starts_with("solver pcg: the precond"));
    EXPECT_EQ(refusal([&] { make_solver<double>(FcgOptions{}, op, *cycle); }), "accepted");
  }
  EXPECT_EQ(refusal([&] { made_inside<double>(ctx, BandedOptions{}, op); }),
            "inner solver banded: it does not iterate; use pcg, gmres or bicgstab inside");
  EXPECT_EQ(refusal([&] { made_inside<double>(ctx, PcgOptions{.stop = {.time_limit = 1}}, op); }),
            "inner solver pcg: stop.time_limit is for the outer solver, whose limit ends this one, too");
  EXPECT_EQ(refusal([&] { made_inside<double>(ctx, PcgOptions{.stop = {.baseline = Baseline::backward_error}}, op); }),
            "inner solver pcg: stop.baseline backward_error is for the outer solver; use rhs");
}

/// By options, as a case has it: with the operator of the solve, with one of its own, and in single precision.
TEST_P(InnerLoop, is_made_by_options_with_new_values) {
  Context ctx = context();
  const auto b = random_vector<double>(108, 300);
  const FgmresOptions outer{.max_iterations = 100, .restart = 20, .stop = {.relative = 1e-10}};
  for (const bool with_products : {true, false})
    for (const KeptPrecision precision : {KeptPrecision::automatic, KeptPrecision::float32}) {
      const InnerSolverOptions inner = apps::detail::inside(
          few<FgmresOptions>(4), apps::detail::inside(few<BicgstabOptions>(2), Ilu0Options{}), precision);
      AnyMatrix<double> A(random_dominant<double>(106, 300, 6));
      MatrixOperator<double> op(A);
      const auto M = make_preconditioner<double>(ctx, inner, A, with_products ? &op : nullptr);
      EXPECT_TRUE(M->varies());
      EXPECT_EQ(M->nested_solvers(), 2);
      const PreconditionerReport report = M->report();
      const auto solvers = std::ranges::find(report.facts, "inner_solver", &Fact::name);
      EXPECT_EQ(std::get<std::string>(solvers->value), "fgmres, bicgstab");
      Array<double> x(std::vector<double>(300, 0.0));
      EXPECT_EQ(make_solver<double>(outer, op, *M)->solve(ctx, Array<double>(b), x).reason, Reason::converged);
      EXPECT_THROW(made_inside<double>(few<FgmresOptions>(3), op, make_preconditioner<double>(ctx, inner, A)),
                   InvalidArgument)
          << "three deep";
      for (std::uint64_t k = 0; double& value : std::get<Csr<double>>(A).values().edit())
        value *= 1 + 0.1 * static_cast<double>(k++ % 3);
      op.update(ctx);
      M->update(ctx, A);
      const auto anew = make_preconditioner<double>(ctx, inner, A, with_products ? &op : nullptr);
      const Array<double> r(b);
      Array<double> z(300, "z"), z_anew(300, "z");
      M->apply(ctx, r, z), anew->apply(ctx, r, z_anew);
      EXPECT_TRUE(std::ranges::equal(z.host(), z_anew.host()));
    }
}

/// An inner solve that would take long, with a tolerance of 0.
TEST_P(InnerLoop, time_limit_and_interruption_of_the_outer_solve_end_the_inner_ones) {
  Context ctx = context();
  const AnyMatrix<double> A(poisson2d<double>(60));
  const MatrixOperator<double> op(A);
  const RichardsonOptions endless{
      .max_iterations = 1'000'000, .relaxation = 1e-9, .stop = {.relative = 0, .stagnation = 0}};
  const auto one = made_inside<double>(ctx, endless, op);
  const auto two = made_inside<double>(few<FgmresOptions>(5), op, made_inside<double>(ctx, endless, op));
  const Array<double> b(random_vector<double>(97, 3600));
  for (const auto* M : {one.get(), two.get()})
    for (const bool limited : {true, false}) {
      const StopOptions stop{.relative = 1e-10, .time_limit = limited ? 0.05 : 0};
      for (const SolverOptions& outer :
           {SolverOptions(FcgOptions{.stop = stop}), SolverOptions(FgmresOptions{.stop = stop})}) {
        Array<double> x(std::vector<double>(3600, 0.0));
        int looks = 0;
        Watch watch;
        if (!limited) watch = [&](const Sight&) { return ++looks < 3; };
        const SolveReport report = make_solver<double>(outer, op, *M)->solve(ctx, b, x, watch);
        EXPECT_EQ(report.reason, limited ? Reason::time_limit : Reason::interrupted) << name(report.reason);
        EXPECT_LT(report.seconds, 5);  // of a busy machine; each inner solve would take longer
      }
    }
}

TEST_P(InnerLoop, an_inner_tolerance_of_zero_takes_all_iterations) {
  Context ctx = context();
  const AnyMatrix<double> A(poisson2d<double>(10));
  const MatrixOperator<double> op(A);
  for (const SolverOptions& inside : {SolverOptions(few<PcgOptions>(60, 0)), SolverOptions(few<GmresOptions>(60, 0))}) {
    const auto M = made_inside<double>(ctx, inside, op);
    for (const SolverOptions& outer : {SolverOptions(FcgOptions{}), SolverOptions(FgmresOptions{})}) {
      Array<double> x(std::vector<double>(100, 0.0));
      const SolveReport report =
          make_solver<double>(outer, op, *M)->solve(ctx, Array<double>(random_vector<double>(98, 100)), x);
      EXPECT_EQ(report.reason, Reason::converged) << name(outer) << " over " << name(inside);
      EXPECT_LE(report.iterations, 2) << "an exact inner solve";
    }
  }
}

TEST_P(InnerLoop, graph_and_host_step_alike_and_a_second_solve_repeats_the_bits) {
  Context graph = context(), stepping = context();
  graph.loop_control = LoopControl::graph;
  stepping.loop_control = LoopControl::host;
  const AnyMatrix<double> A(random_hpd<double>(99, 700, 7));
  const MatrixOperator<double> op(A);
  for (const auto& [outer, inside, definite] : pairs<double>()) {
    std::vector<std::vector<double>> found;
    std::vector<int> iterations;
    for (Context* ctx : {&graph, &stepping}) {
      const auto M = made_inside<double>(*ctx, inside, op, JacobiOptions{});
      const auto solver = make_solver<double>(outer, op, *M);
      for (const std::uint64_t seed : {std::uint64_t{100}, std::uint64_t{101}, std::uint64_t{100}}) {
        const Array<double> b(random_vector<double>(seed, 700));
        Array<double> x(std::vector<double>(700, 0.0));
        const Counters before = counters();
        const SolveReport report = solver->solve(*ctx, b, x);
        const Counters after = counters();
        iterations.push_back(report.iterations);
        found.emplace_back(x.host().begin(), x.host().end());
        if (found.size() % 3 == 1) continue;  // the first solve brings and allocates what the loops use
        EXPECT_LE(after.allocations - before.allocations, ctx->on_cuda() ? 2 : 0) << "b and x";
        if (ctx == &stepping && ctx->on_cuda()) continue;  // which looks at every iteration
        // in: b, x; out: the record, ||b - A x||, the scale, the history
        EXPECT_LE(after.transfers - before.transfers, ctx->on_cuda() ? 6 + 2 * report.restarts_from_truth : 0);
      }
    }
    for (const std::size_t same : {2, 3, 5}) {
      EXPECT_EQ(found[0], found[same]) << name(outer) << " over " << name(inside) << ", " << same;
      EXPECT_EQ(iterations[0], iterations[same]);
    }
    EXPECT_EQ(found[1], found[4]) << name(outer) << " over " << name(inside);
    EXPECT_NE(found[0], found[1]);
  }
}

TEST_P(InnerLoop, does_nothing_where_it_is_skipped) {
  Context ctx = context();
  const AnyMatrix<double> A(random_dominant<double>(102, 500, 7));
  const MatrixOperator<double> op(A);
  for (const auto& [outer, inside, definite] : pairs<double>()) {
    const auto M = made_inside<double>(ctx, inside, op);
    const Array<double> r(random_vector<double>(103, 500));
    Array<double> z(std::vector<double>(500, 7.0));
    axpby(ctx, 0.0, r, 1.0, z);                      // brings z to the backend's side
    run_skipped(ctx, [&] { M->apply(ctx, r, z); });  // before anything else has run
    EXPECT_TRUE(std::ranges::all_of(z.host(), [](double entry) { return entry == 7; })) << name(inside);
  }
}

TEST_P(InnerLoop, one_inner_solver_serves_several_outer_ones_in_turn) {
  Context ctx = context();
  const AnyMatrix<double> A(random_hpd<double>(104, 300, 6));
  const MatrixOperator<double> op(A);
  const auto M = made_inside<double>(ctx, few<PcgOptions>(6), op, JacobiOptions{});
  const Array<double> b(random_vector<double>(105, 300));
  for (int round = 0; round < 3; ++round)
    for (const SolverOptions& outer : {SolverOptions(FcgOptions{}), SolverOptions(FgmresOptions{})}) {
      Array<double> x(std::vector<double>(300, 0.0));
      EXPECT_EQ(make_solver<double>(outer, op, *M)->solve(ctx, b, x).reason, Reason::converged);
    }
}

INSTANTIATE_TEST_SUITE_P(, InnerSolve, backends_and_scalars, param_name);
INSTANTIATE_TEST_SUITE_P(, InnerLoop, backends, param_name);

}  // namespace
}  // namespace krill::test
