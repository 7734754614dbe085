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
  Step next(Context& ctx, SystemSequence<double>& sequence, const SolveOptions& options,
            std::shared_ptr<const AnyMatrix<double>> A) {
    Step step;
    const auto n = static_cast<std::size_t>(rows(*A));
    const std::vector<double> b(n, 1);
    Array<double> x{std::vector<double>(n)};
    auto system = prepare(ctx, options, A, step.facts);
    step.setup = sequence.solve(ctx, std::move(system), Array<double>(b), x, step.facts, [] {}, {});
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
