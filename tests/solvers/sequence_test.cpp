// Systems of one pattern, one after the other.
#include "solvers/system/sequence.hpp"

#include <cmath>

#include "solvers/system/solve.hpp"
#include "sparse/io/generate.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

std::shared_ptr<const AnyMatrix<double>> convection(double peclet, int nx = 24) {
  return std::make_shared<const AnyMatrix<double>>(
      generate<double>(ConvectionDiffusion2dOptions{.nx = nx, .peclet = peclet}));
}

SolveOptions plain_options() {
  SolveOptions options{.solver = BicgstabOptions{},
                       .preconditioner = Ilu0Options{},
                       .ordering = NaturalOrdering{},
                       .scaling = NoScaling{},
                       .matching = NoMatching{},
                       .format = Format::csr};
  return options;
}

class SequenceOfSystems : public OnBackend {
 protected:
  struct Step {
    StepSetup setup;
    SolveFacts facts;
    std::vector<double> x;
  };
  /// The next step with b = 1 from x = 0, judged by the oracle where it converged.
  Step next(
      Context& ctx, SystemSequence<double>& sequence, const SolveOptions& options,
      std::shared_ptr<const AnyMatrix<double>> A, const std::function<void()>& prepared = [] {},
      const Watch& watch = {}) {
    Step step;
    const auto n = static_cast<std::size_t>(rows(*A));
    const std::vector<double> b(n, 1);
    Array<double> x{std::vector<double>(n)};
    auto system = prepare(ctx, options, A, step.facts);
    step.setup = sequence.solve(ctx, std::move(system), Array<double>(b), x, step.facts, prepared, watch);
    step.x.assign(x.host().begin(), x.host().end());
    if (step.facts.result.reason == Reason::converged) {
      EXPECT_LE(relative_residual(reference(std::get<Csr<double>>(*A)), to_reference(x), to_reference(b)), 1.01e-8);
    }
    return step;
  }
};
INSTANTIATE_TEST_SUITE_P(, SequenceOfSystems, backends, param_name);

TEST_P(SequenceOfSystems, with_new_preconditioners_gives_the_bits_of_solves_by_themselves) {
  Context ctx = context();
  for (const bool reordered : {false, true}) {
    SolveOptions options = plain_options();
    if (reordered) options.ordering = RcmOrdering{}, options.scaling = RuizScaling{};
    SystemSequence<double> sequence(options, {.reuse = Reuse::never});
    for (const double peclet : {10.0, 20.0, 40.0}) {
      const auto A = convection(peclet);
      const Step step = next(ctx, sequence, options, A);
      EXPECT_TRUE(step.setup.made_anew);
      EXPECT_EQ(step.facts.result.reason, Reason::converged);
      Array<double> alone{std::vector<double>(step.x.size())};
      krill::solve(ctx, *A, Array<double>(std::vector<double>(step.x.size(), 1)), alone, options);
      EXPECT_TRUE(std::ranges::equal(step.x, alone.host())) << peclet;
    }
  }
}

TEST_P(SequenceOfSystems, keeps_the_preconditioner_as_it_is_told) {
  Context ctx = context();
  const auto made_anew = [&](ReuseOptions reuse) {
    SolveOptions options = plain_options();
    SystemSequence<double> sequence(options, reuse);
    std::vector<bool> made;
    for (const double peclet : {1.0, 30.0, 300.0, 3000.0}) {
      const Step step = next(ctx, sequence, options, convection(peclet));
      EXPECT_EQ(step.facts.result.reason, Reason::converged) << peclet;
      made.push_back(step.setup.made_anew);
      if (!step.setup.made_anew) {
        EXPECT_EQ(step.facts.timings.preconditioner_setup, 0);
      }
    }
    return made;
  };
  EXPECT_EQ(made_anew({.reuse = Reuse::never}), (std::vector<bool>{true, true, true, true}));
  EXPECT_EQ(made_anew({.reuse = Reuse::slower, .factor = 1e9}), made_anew({.reuse = Reuse::always}));
  const auto always = made_anew({.reuse = Reuse::always});
  EXPECT_TRUE(always[0]);
  EXPECT_FALSE(always[1]);
  const auto slower = made_anew({.reuse = Reuse::slower, .factor = 1.01});
  EXPECT_FALSE(slower[1]);
  EXPECT_TRUE(slower[2]);  // the one for diffusion alone takes more iterations with convection
}

TEST_P(SequenceOfSystems, does_nothing_for_values_that_stay) {
  Context ctx = context();
  SolveOptions options = plain_options();
  SystemSequence<double> sequence(options, {.reuse = Reuse::never});
  const auto A = convection(10);
  const Step first = next(ctx, sequence, options, A), second = next(ctx, sequence, options, A);
  EXPECT_FALSE(second.setup.made_anew);
  EXPECT_EQ(second.setup.why, "the same matrix");
  EXPECT_EQ(first.x, second.x);
}

TEST_P(SequenceOfSystems, solves_once_more_where_an_old_preconditioner_fails) {
  Context ctx = context();
  SolveOptions options = plain_options();
  SystemSequence<double> sequence(options, {.reuse = Reuse::always});
  const int fresh = next(ctx, sequence, options, convection(1)).facts.result.iterations;
  std::get<BicgstabOptions>(options.solver).max_iterations = 2 * fresh;
  auto wild = std::get<Csr<double>>(*convection(1)).clone();  // D A D with D over eight decades
  const auto offsets = wild.row_offsets().host(), cols = wild.col_indices().host();
  const auto d = [](std::int32_t i) { return std::pow(10.0, i % 9 - 4); };
  const auto values = wild.values().edit();
  for (std::int32_t i = 0; i < wild.rows(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
      values[k] *= d(i) * d(cols[k]);
  const Step step = next(ctx, sequence, options, std::make_shared<const AnyMatrix<double>>(std::move(wild)));
  EXPECT_TRUE(step.setup.made_anew);
  ASSERT_FALSE(step.facts.notes.empty());
  EXPECT_NE(step.facts.notes.back().find("with the preconditioner of an earlier step; made anew"), std::string::npos);
}

/// Few iterations of a weak method, and a ladder.
SolveOptions weak_options() {
  SolveOptions options = plain_options();
  options.solver = BicgstabOptions{.max_iterations = 12}, options.preconditioner = NoPreconditioner{};
  options.on_failure = OnFailure::ladder;
  return options;
}

TEST_P(SequenceOfSystems, goes_on_with_the_method_that_solved_a_step) {
  Context ctx = context();
  SolveOptions options = weak_options();
  SystemSequence<double> sequence(options, {.reuse = Reuse::always});
  const Step first = next(ctx, sequence, options, convection(10));
  EXPECT_EQ(first.facts.result.reason, Reason::converged);
  const auto& attempts = first.facts.attempts;
  ASSERT_GE(attempts.size(), 2U);
  EXPECT_EQ(attempts.front().why, "the first method");
  EXPECT_EQ(attempts.front().reason, Reason::max_iterations);
  EXPECT_TRUE(std::holds_alternative<NoPreconditioner>(attempts.front().method.preconditioner));
  EXPECT_EQ(first.setup.why, "attempt " + std::to_string(attempts.size()) + " of the ladder");
  EXPECT_EQ(first.setup.method.preconditioner.index(), attempts.back().method.preconditioner.index());
  EXPECT_EQ(options.preconditioner.index(), first.setup.method.preconditioner.index());
  const Step second = next(ctx, sequence, options, convection(10.5)),
             third = next(ctx, sequence, options, convection(11));
  for (const Step* step : {&second, &third}) {
    EXPECT_EQ(step->facts.result.reason, Reason::converged);
    EXPECT_EQ(step->facts.attempts.size(), 1U) << "no step begins with what failed before";
  }
  EXPECT_EQ(second.setup.why, "another method solved the step before");
  EXPECT_FALSE(third.setup.made_anew);
}

TEST_P(SequenceOfSystems, makes_a_preconditioner_anew_before_it_tries_other_methods) {
  Context ctx = context();
  SolveOptions options = plain_options();
  options.on_failure = OnFailure::ladder;
  SystemSequence<double> sequence(options, {.reuse = Reuse::always});
  EXPECT_EQ(next(ctx, sequence, options, convection(10)).facts.attempts.size(), 1U);
  std::get<BicgstabOptions>(options.solver).max_iterations = 1;
  const Step step = next(ctx, sequence, options, convection(300));
  EXPECT_EQ(step.facts.result.reason, Reason::converged);
  ASSERT_GE(step.facts.attempts.size(), 2U);
  EXPECT_EQ(step.facts.attempts.front().reason, Reason::max_iterations);
  EXPECT_EQ(step.facts.attempts.front().iterations, 1);
}

TEST_P(SequenceOfSystems, climbs_from_a_method_that_the_matrix_refuses) {
  Context ctx = context();
  SolveOptions options = plain_options();
  options.preconditioner = JacobiOptions{}, options.on_failure = OnFailure::ladder;
  SystemSequence<double> sequence(options, {.reuse = Reuse::never});
  next(ctx, sequence, options, convection(10));
  auto broken = std::get<Csr<double>>(*convection(10)).clone();
  broken.values().edit()[0] = 0;  // the first diagonal entry
  const Step step = next(ctx, sequence, options, std::make_shared<const AnyMatrix<double>>(std::move(broken)));
  ASSERT_GE(step.facts.attempts.size(), 2U);
  EXPECT_NE(step.facts.attempts.front().refusal, "");
  EXPECT_EQ(step.facts.result.reason, Reason::converged);
}

/// Singular, b = 1 not in its range: the sums over its columns are 0.
std::shared_ptr<const AnyMatrix<double>> without_solution() {
  auto A = std::get<Csr<double>>(*convection(10)).clone();
  const auto offsets = A.row_offsets().host(), cols = A.col_indices().host();
  std::vector<double> sums(static_cast<std::size_t>(A.cols()));
  const auto values = A.values().edit();
  const auto for_entries = [&](const auto& use) {
    for (std::int32_t i = 0; i < A.rows(); ++i)
      for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
        use(i, cols[k], values[k]);
  };
  for_entries([&](std::int32_t i, std::int32_t j, double value) {
    if (i != j) sums[static_cast<std::size_t>(j)] += value;
  });
  for_entries([&](std::int32_t i, std::int32_t j, double& value) {
    if (i == j) value = -sums[static_cast<std::size_t>(j)];
  });
  return std::make_shared<const AnyMatrix<double>>(std::move(A));
}

TEST_P(SequenceOfSystems, keeps_its_method_where_no_other_one_solves_a_step) {
  Context ctx = context();
  SolveOptions options = plain_options();
  options.on_failure = OnFailure::ladder;
  std::get<BicgstabOptions>(options.solver).max_iterations = 200;
  SystemSequence<double> sequence(options, {.reuse = Reuse::always});
  next(ctx, sequence, options, convection(10));
  const Step failed = next(ctx, sequence, options, without_solution());
  EXPECT_NE(failed.facts.result.reason, Reason::converged);
  EXPECT_GE(failed.facts.attempts.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<Ilu0Options>(options.preconditioner));
  EXPECT_EQ(std::get<BicgstabOptions>(options.solver).max_iterations, 200);
  const Step after = next(ctx, sequence, options, convection(10));
  EXPECT_EQ(after.facts.result.reason, Reason::converged);
  EXPECT_EQ(after.facts.attempts.size(), 1U);
  EXPECT_EQ(after.setup.why, "the step before did not converge");
}

TEST_P(SequenceOfSystems, is_interrupted_between_methods) {
  if (GetParam() == Backend::cuda) GTEST_SKIP() << "a loop on a device asks but now and then";
  Context ctx = context();
  SolveOptions options = weak_options();
  SystemSequence<double> sequence(options, {.reuse = Reuse::always});
  int methods = 0;
  const Step step = next(
      ctx, sequence, options, convection(10), [&] { ++methods; }, [&](const Sight&) { return methods < 2; });
  ASSERT_EQ(step.facts.attempts.size(), 2U);
  EXPECT_EQ(step.facts.attempts.front().reason, Reason::max_iterations);
  EXPECT_EQ(step.facts.result.reason, Reason::interrupted);
  EXPECT_TRUE(std::holds_alternative<NoPreconditioner>(options.preconditioner));
}

/// What needed double precision is for one step: the next begins in single again, with the method of the sequence.
TEST_P(SequenceOfSystems, does_not_hand_on_double_precision) {
  Context ctx = context();
  SolveOptions options = plain_options();
  options.on_failure = OnFailure::ladder;
  std::get<BicgstabOptions>(options.solver).stop.relative = 3.2e-6;  // less than single precision reaches by itself
  SystemSequence<float> sequence(options, {.reuse = Reuse::always});
  for (const double peclet : {10.0, 10.5}) {
    const auto A = std::make_shared<const AnyMatrix<float>>(
        generate<float>(ConvectionDiffusion2dOptions{.nx = 24, .peclet = peclet}));
    SolveFacts facts;
    const Array<float> b{std::vector<float>(24 * 24, 1)};
    Array<float> x{std::vector<float>(24 * 24)};
    auto system = prepare(ctx, options, A, facts);
    const StepSetup setup = sequence.solve(ctx, std::move(system), b, x, facts, [] {}, {});
    EXPECT_EQ(facts.result.reason, Reason::converged);
    ASSERT_GE(facts.attempts.size(), 2U);
    EXPECT_EQ(facts.attempts.front().reason, Reason::limit_of_accuracy);
    EXPECT_TRUE(facts.attempts.back().in_double);
    EXPECT_TRUE(std::holds_alternative<Ilu0Options>(facts.attempts.front().method.preconditioner));
    EXPECT_TRUE(std::holds_alternative<IlutOptions>(setup.method.preconditioner));
    EXPECT_TRUE(std::holds_alternative<Ilu0Options>(options.preconditioner));
    EXPECT_LE(relative_residual(reference(std::get<Csr<float>>(*A)), to_reference(x), to_reference(b)), 3.3e-6);
  }
}

TEST_P(SequenceOfSystems, goes_on_after_a_matrix_that_is_refused) {
  Context ctx = context();
  SolveOptions options = plain_options();
  options.preconditioner = JacobiOptions{};
  SystemSequence<double> sequence(options, {.reuse = Reuse::never});
  next(ctx, sequence, options, convection(10));
  auto broken = std::get<Csr<double>>(*convection(10)).clone();
  broken.values().edit()[0] = 0;  // the first diagonal entry
  EXPECT_THROW(next(ctx, sequence, options, std::make_shared<const AnyMatrix<double>>(std::move(broken))),
               InvalidArgument);
  const Step after = next(ctx, sequence, options, convection(20));
  EXPECT_EQ(after.facts.result.reason, Reason::converged);
  EXPECT_EQ(after.setup.why, "the step before was refused");
}

TEST_P(SequenceOfSystems, makes_all_anew_for_another_pattern_and_for_what_takes_no_values) {
  Context ctx = context();
  SolveOptions options = plain_options();
  SystemSequence<double> sequence(options, {.reuse = Reuse::always});
  next(ctx, sequence, options, convection(10));
  const Step larger = next(ctx, sequence, options, convection(10, 30));
  EXPECT_TRUE(larger.setup.made_anew);
  EXPECT_EQ(larger.facts.result.reason, Reason::converged);
  options.preconditioner = IlutOptions{};
  SystemSequence<double> without_update(options, {.reuse = Reuse::never});
  next(ctx, without_update, options, convection(10));
  const Step anew = next(ctx, without_update, options, convection(200));
  EXPECT_TRUE(anew.setup.made_anew);
  EXPECT_EQ(anew.facts.result.reason, Reason::converged);
  SolveOptions sell = plain_options();
  sell.format = Format::sell;
  SystemSequence<double> in_sell(sell, {});
  EXPECT_THROW(next(ctx, in_sell, sell, convection(10)), InvalidArgument);
}

}  // namespace
}  // namespace krill::test
