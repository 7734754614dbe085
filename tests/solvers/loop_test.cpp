#include "solvers/loop.hpp"

#include <chrono>
#include <cstdlib>

#include "sparse/convert/convert.hpp"
#include "sparse/vector/vector.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

using Loop = OnBackend;

TEST_P(Loop, repeats_a_body_as_often_as_asked) {
  for (const int times : {0, 1, 2, 3, 10}) {
    Context ctx = context();
    Array<double> x(std::vector<double>(100, 1.0));
    int calls = 0;
    repeat(ctx, times, [&] {
      ++calls;
      axpby(ctx, 1.0, x, 1.0, x);
    });
    EXPECT_EQ(x.host()[99], std::ldexp(1.0, times));
    EXPECT_EQ(calls, ctx.on_cuda() && times >= 3 ? 2 : times);
  }
}

TEST_P(Loop, trap_25_a_running_solve_makes_no_transfer_allocation_or_synchronisation) {
  Context ctx = context();
  const AnyMatrix<double> A(poisson2d<double>(60));
  const MatrixOperator<double> op(A);
  const auto M = make_preconditioner(ctx, PreconditionerOptions(JacobiOptions{}), A);
  for (const double relative : {1e-6, 1e-12})
    for (const SolverOptions& options : all_solvers(relative)) {
      const auto solver = make_solver<double>(options, op, *M);
      const Array<double> b(std::vector<double>(3600, 1.0));
      Array<double> x(std::vector<double>(3600, 0.0)), y(std::vector<double>(3600, 0.0)),
          z(std::vector<double>(3600, 0.0));
      solver->solve(ctx, b, x);
      solver->solve(ctx, b, y);
      const Counters before = counters();
      const SolveReport report = solver->solve(ctx, b, z);
      const Counters after = counters();
      EXPECT_GT(report.iterations, 10);
      EXPECT_EQ(after.allocations - before.allocations, ctx.on_cuda() ? 1 : 0) << "z itself";
      // in: z; out: the record, ||b - A x||, the scale, the history. None of it grows with the iterations.
      // Going on from the truth looks at the record and at ||b - A x|| once more.
      EXPECT_LE(after.transfers - before.transfers, ctx.on_cuda() ? 5 + 2 * report.restarts_from_truth : 0)
          << name(options);
      EXPECT_TRUE(std::ranges::equal(x.host(), z.host()));
    }
}

TEST_P(Loop, whoever_repeats_the_iteration_the_bits_are_the_same) {
  Context ctx = context(), stepping = context(), replaying = context();
  ctx.loop_control = LoopControl::graph;
  stepping.loop_control = LoopControl::host;
  replaying.loop_control = LoopControl::replay;
  const Csr<double> A = random_hpd<double>(81, 3000, 7);
  const auto b = random_vector<double>(82, 3000);
  for (const SolverOptions& options : all_solvers(1e-10)) {
    const Solved<double> fast = solve(ctx, A, b, options, JacobiOptions{});
    for (Context* other : {&stepping, &replaying}) {
      const Solved<double> slow = solve(*other, A, b, options, JacobiOptions{});
      EXPECT_EQ(fast.report.iterations, slow.report.iterations) << name(options);
      EXPECT_EQ(fast.x, slow.x) << name(options);
      EXPECT_EQ(fast.report.history, slow.report.history) << name(options);
    }
  }
}

/// The graph is captured once, and follows new right-hand sides.
TEST_P(Loop, a_replayed_loop_serves_several_solves) {
  Context ctx = context();
  ctx.loop_control = LoopControl::replay;
  const Csr<double> csr = random_hpd<double>(91, 3000, 7);
  const AnyMatrix<double> A(csr.clone());
  const MatrixOperator<double> op(A);
  const auto M = make_preconditioner(ctx, PreconditionerOptions(JacobiOptions{}), A);
  for (const SolverOptions& options : all_solvers(1e-9)) {
    const auto solver = make_solver<double>(options, op, *M);
    for (std::uint64_t round = 0; round < 3; ++round) {
      const auto b = random_vector<double>(92 + round, 3000);
      Array<double> x(std::vector<double>(3000, 0.0));
      EXPECT_EQ(solver->solve(ctx, Array<double>(b), x).reason, Reason::converged) << name(options);
      const std::vector<double> got(x.host().begin(), x.host().end());
      EXPECT_LE(relative_residual(reference(csr), to_reference(got), to_reference(b)), 1.01e-9) << name(options);
    }
  }
}

TEST_P(Loop, a_captured_plan_follows_changed_inputs) {
  Context ctx = context();
  Csr<double> csr = random_hpd<double>(83, 800, 7);
  AnyMatrix<double> A(csr.clone());
  const MatrixOperator<double> op(A);
  for (const SolverOptions& options : all_solvers(1e-9)) {
    const auto M = make_preconditioner(ctx, PreconditionerOptions(NoPreconditioner{}), A);
    const auto solver = make_solver<double>(options, op, *M);
    for (int round = 0; round < 3; ++round) {
      for (double& value : std::get<0>(A).values().edit()) value *= 1.5;  // new values in the old arrays
      for (double& value : csr.values().edit()) value *= 1.5;
      const auto b = random_vector<double>(84 + static_cast<std::uint64_t>(round), 800);
      Array<double> x(std::vector<double>(800, 0.0));
      const SolveReport report = solver->solve(ctx, Array<double>(b), x);
      const std::vector<double> got(x.host().begin(), x.host().end());
      EXPECT_EQ(report.reason, Reason::converged) << name(options);
      EXPECT_LE(relative_residual(reference(csr), to_reference(got), to_reference(b)), 1.01e-9) << name(options);
    }
  }
}

TEST_P(Loop, every_format_serves_a_captured_loop) {
  Context ctx = context();
  ctx.loop_control = LoopControl::graph;
  const Csr<double> csr = random_hpd<double>(87, 2000, 7);
  const auto b = random_vector<double>(88, 2000);
  const Solved<double> expected = solve(ctx, csr, b, SolverOptions(PcgOptions{}));
  std::vector<AnyMatrix<double>> formats;
  formats.emplace_back(to_coo(ctx, csr));
  formats.emplace_back(to_csr<double, std::int64_t>(ctx, to_coo(ctx, csr)));
  for (const AnyMatrix<double>& A : formats) {
    const MatrixOperator<double> op(A);
    const auto M = make_preconditioner(ctx, PreconditionerOptions(NoPreconditioner{}), A);
    const auto solver = make_solver<double>(SolverOptions(PcgOptions{}), op, *M);
    for (int round = 0; round < 3; ++round) {
      Array<double> x(std::vector<double>(2000, 0.0));
      EXPECT_EQ(solver->solve(ctx, Array<double>(b), x).iterations, expected.report.iterations);
      EXPECT_TRUE(std::ranges::equal(x.host(), expected.x));
    }
  }
}

TEST_P(Loop, an_array_that_a_capture_would_allocate_or_upload_is_named) {
  Context ctx = context();
  if (!ctx.on_cuda()) GTEST_SKIP() << "the host captures nothing";
  for (const bool upload : {false, true}) {
    Array<Progress> progress(std::vector<Progress>(1));
    Array<double> seen(std::vector<double>(10, 1.0)), other(10), late(10, "late array"),
        later(std::vector<double>(10, 1.0), "later array");
    LoopGraph graph;
    int calls = 0;
    try {
      iterate(ctx, graph, progress, [&] {
        if (++calls == 1) return copy(ctx, seen, other);  // run directly; the second call is captured
        copy(ctx, upload ? later : seen, upload ? other : late);
      });
      FAIL();
    } catch (const InvalidArgument& e) {
      EXPECT_EQ(std::string(e.what()).find(upload ? "later array: " : "late array: "), 0u) << e.what();
      EXPECT_NE(std::string(e.what()).find("while a CUDA graph is captured"), std::string::npos) << e.what();
    }
    Array<double> sum(1);
    norm2(ctx, seen, sum);  // the stream is usable again
    EXPECT_GT(sum.host()[0], 3.0);
  }
}

TEST_P(Loop, the_body_runs_directly_once_a_graph) {
  Context ctx = context();
  if (ctx.on_cuda() && ctx.loop_control == LoopControl::host) GTEST_SKIP() << "no graph under KRILL_LOOP=host";
  Array<double> x(std::vector<double>(10, 1.0));
  Array<Progress> progress(std::vector<Progress>(1));
  LoopGraph graph;
  int calls = 0;
  for (int round = 0; round < 3; ++round) {
    progress.edit()[0] = {.reason = Reason::converged};  // nothing is left to do: no body has an effect
    iterate(ctx, graph, progress, [&] { ++calls, axpby(ctx, 2.0, x, 0.0, x); });
    if (round > 0) continue;
    EXPECT_EQ(calls > 1, ctx.on_cuda()) << "directly, and captured";
    calls = 0;
  }
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(x.host()[5], 1.0);
}

TEST_P(Loop, a_plan_serves_one_context_after_another) {
  Context one = context(), two = context(), host = Context::host();
  const AnyMatrix<double> A(poisson2d<double>(30));
  const MatrixOperator<double> op(A);
  const auto M = make_preconditioner(one, PreconditionerOptions(JacobiOptions{}), A);
  const auto solver = make_solver<double>(SolverOptions(PcgOptions{}), op, *M);
  const Array<double> b(std::vector<double>(900, 1.0));
  for (Context* ctx : {&one, &two, &host, &one, &one, &host, &two}) {
    Array<double> x(std::vector<double>(900, 0.0));
    EXPECT_EQ(solver->solve(*ctx, b, x).reason, Reason::converged);
  }
}

TEST_P(Loop, a_watcher_sees_the_solve_and_ends_it_as_interrupted) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(300);
  const auto b = random_vector<double>(85, 90'000);
  for (const LoopControl control : {ctx.loop_control, LoopControl::replay}) {
    ctx.loop_control = control;
    for (const SolverOptions& options : all_solvers(1e-12, 100'000)) {
      int looks = 0;
      const Solved<double> s = solve<double>(ctx, A, b, options, NoPreconditioner{}, {}, [&](const Sight& sight) {
        ++looks;
        EXPECT_GE(sight.relative, 0);
        return sight.iteration < 20;
      });
      EXPECT_EQ(s.report.reason, Reason::interrupted) << name(options) << ": " << name(s.report.reason);
      EXPECT_GE(s.report.iterations, 20);
      EXPECT_GT(looks, 0);
      EXPECT_LE(relative_residual(reference(A), to_reference(s.x), to_reference(b)), 1 + 1e-12) << name(options);
    }
  }
}

TEST_P(Loop, a_time_limit_ends_a_solve) {
  Context ctx = context();
  ctx.loop_control = LoopControl::graph;  // a kernel that holds the loop is through before that
  const Csr<double> A = poisson2d<double>(300);
  const auto b = random_vector<double>(86, 90'000);
  for (SolverOptions options : all_solvers(1e-30, 100'000'0)) {
    std::visit([](auto& o) { o.stop.time_limit = 0.05, o.stop.stagnation = 0; }, options);
    const auto start = std::chrono::steady_clock::now();
    const SolveReport report = solve(ctx, A, b, options).report;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_TRUE(report.reason == Reason::time_limit || report.reason == Reason::stagnated)
        << name(options) << ": " << name(report.reason);
    EXPECT_LT(seconds, 20);
  }
}

/// A cycle may have hundreds of steps, each as expensive as an iteration of another method.
TEST_P(Loop, gmres_is_ended_within_a_cycle) {
  Context ctx = context();
  if (ctx.on_cuda() && ctx.loop_control == LoopControl::host) GTEST_SKIP() << "no graph under KRILL_LOOP=host";
  const AnyMatrix<double> A(poisson2d<double>(150));
  const MatrixOperator<double> op(A);
  const auto M = make_preconditioner(ctx, PreconditionerOptions(NoPreconditioner{}), A);
  const auto solver = make_solver<double>(GmresOptions{.max_iterations = 400, .restart = 400}, op, *M);
  const Array<double> b(random_vector<double>(87, 22'500));
  Array<double> x(std::vector<double>(22'500, 0.0)), y(std::vector<double>(22'500, 0.0));
  if (ctx.on_cuda()) solver->solve(ctx, b, x);  // the first cycle runs while the host captures it
  const SolveReport report = solver->solve(ctx, b, y, [](const Sight& sight) { return sight.iteration < 10; });
  EXPECT_EQ(report.reason, Reason::interrupted);
  EXPECT_GE(report.iterations, 10);
  EXPECT_LE(report.iterations, ctx.on_cuda() ? 399 : 11) << "the host asks before each step";
  EXPECT_LT(report.true_relative, 1) << "x holds what the steps had found";
}

TEST(LoopByName, is_taken_from_the_environment_and_an_unknown_one_is_refused) {
  const char* const before = std::getenv("KRILL_LOOP");
  const std::string kept = before ? before : "";
  setenv("KRILL_LOOP", "host", 1);
  EXPECT_EQ(Context::host().loop_control, LoopControl::host);
  setenv("KRILL_LOOP", "grap", 1);
  EXPECT_EQ(complaint<InvalidArgument>([] { Context::host(); }),
            "KRILL_LOOP: grap is none of auto, graph, persistent, replay, host");
  before ? setenv("KRILL_LOOP", kept.c_str(), 1) : unsetenv("KRILL_LOOP");
}

INSTANTIATE_TEST_SUITE_P(, Loop, backends, param_name);

}  // namespace
}  // namespace krill::test
