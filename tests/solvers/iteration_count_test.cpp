#include "apps/verify/references/factorization.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/references.hpp"

namespace krill::test {
namespace {

using IterationCount = OnBackend;

struct System {
  std::string name;
  Csr<double> A;
};
std::vector<System> spd_systems() {
  std::vector<System> systems;
  systems.push_back({"poisson 40x40", poisson2d<double>(40)});
  systems.push_back({"poisson 100x100", poisson2d<double>(100)});
  systems.push_back({"random 2000", random_hpd<double>(91, 2000, 9)});
  return systems;
}

TEST_P(IterationCount, pcg_with_jacobi_takes_what_eigen_takes) {
  Context ctx = context();
  for (const System& s : spd_systems()) {
    const auto b = random_vector<double>(92, s.A.rows());
    const int expected = eigen_cg_iterations(reference(s.A), to_reference(b), 1e-8);
    const int found = solve(ctx, s.A, b, SolverOptions(PcgOptions{}), JacobiOptions{}).report.iterations;
    EXPECT_NEAR(found, expected, 1) << s.name;
  }
}

TEST_P(IterationCount, pcg_with_incomplete_factors_takes_what_a_dense_reference_takes) {
  Context ctx = context();
  std::vector<System> systems;
  systems.push_back({"poisson 30x30", poisson2d<double>(30)});
  systems.push_back({"random 700", random_hpd<double>(102, 700, 12)});
  for (const System& s : systems) {
    const auto b = random_vector<double>(103, s.A.rows());
    verify::Rows<double> factor = verify::rows_of(s.A);
    factor.value = verify::ilu0(factor);  // for Hermitian A that of IC(0), up to a scaling
    const int expected = dense_factored_cg_iterations(reference(s.A), reference(factor), to_reference(b), 1e-8);
    for (const PreconditionerOptions& M : {PreconditionerOptions(Ilu0Options{}), PreconditionerOptions(Ic0Options{})})
      EXPECT_NEAR(solve(ctx, s.A, b, SolverOptions(PcgOptions{}), M).report.iterations, expected, 1) << s.name;
  }
}

TEST_P(IterationCount, bicgstab_with_jacobi_takes_what_eigen_takes_within_a_tenth) {
  Context ctx = context();
  std::vector<System> systems = spd_systems();
  systems.push_back({"nonsymmetric 3000", random_dominant<double>(93, 3000, 8)});
  for (const System& s : systems) {
    const auto b = random_vector<double>(94, s.A.rows());
    const int expected = eigen_bicgstab_iterations(reference(s.A), to_reference(b), 1e-8);
    const int found = solve(ctx, s.A, b, SolverOptions(BicgstabOptions{}), JacobiOptions{}).report.iterations;
    EXPECT_NEAR(found, expected, std::max(1.0, 0.1 * expected)) << s.name;
  }
}

TEST_P(IterationCount, gmres_takes_what_a_dense_arnoldi_takes) {
  Context ctx = context();
  for (const std::int32_t n : {30, 200}) {
    const Csr<double> A = random_dominant<double>(95, n, 6);
    const auto b = random_vector<double>(96, n);
    for (const bool jacobi : {false, true}) {
      const int expected = dense_gmres_iterations(reference(A), to_reference(b), 1e-8, jacobi);
      const PreconditionerOptions M =
          jacobi ? PreconditionerOptions(JacobiOptions{}) : PreconditionerOptions(NoPreconditioner{});
      const int found = solve(ctx, A, b, SolverOptions(GmresOptions{2000, n, {}}), M).report.iterations;
      EXPECT_NEAR(found, expected, 1) << n << (jacobi ? " jacobi" : "");
    }
  }
  const Csr<std::complex<double>> A = random_dominant<std::complex<double>>(97, 100, 6);
  const auto b = random_vector<std::complex<double>>(98, 100);
  EXPECT_NEAR(solve(ctx, A, b, SolverOptions(GmresOptions{2000, 100, {}})).report.iterations,
              dense_gmres_iterations(reference(A), to_reference(b), 1e-8, false), 1);
}

const std::vector<SolverOptions>& forms_of_cg() {
  static const std::vector<SolverOptions> forms{PcgOptions{}, PcgOptions{.method = PcgMethod::single_reduction},
                                                FcgOptions{}};
  return forms;
}

TEST_P(IterationCount, every_form_of_cg_ends_after_as_many_iterations_as_there_are_eigenvalues) {
  Context ctx = context();
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<double> values;
  for (std::int32_t i = 0; i < 600; ++i) columns.push_back(i), values.push_back(1 + i % 5), offsets.push_back(i + 1);
  const Csr<double> A(600, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values)));
  for (const SolverOptions& form : forms_of_cg())
    EXPECT_EQ(solve(ctx, A, random_vector<double>(99, 600), form).report.iterations, 5) << name(form);
}

/// In exact arithmetic they are one method, and x the same after each iteration: the energy of its error falls.
TEST_P(IterationCount, every_form_of_cg_takes_the_same_steps) {
  Context ctx = context();
  for (const System& s : spd_systems()) {
    const auto b = random_vector<double>(92, s.A.rows());
    const SolveReport classic = solve(ctx, s.A, b, forms_of_cg()[0], JacobiOptions{}).report;
    for (const SolverOptions& form : forms_of_cg()) {
      const SolveReport report = solve(ctx, s.A, b, form, JacobiOptions{}).report;
      EXPECT_EQ(report.reason, Reason::converged);
      EXPECT_NEAR(report.iterations, classic.iterations, 1) << s.name;
      const std::size_t common = std::min(report.history.size(), classic.history.size());
      for (std::size_t i = 0; i < common; ++i)
        EXPECT_NEAR(report.history[i], classic.history[i], 0.05 * classic.history[i]) << s.name << ' ' << i;
    }
  }
}

/// From a guess of size 1e6 rounding leaves the recurrence 1e6 eps or so away from the truth, for good unless r is
/// computed anew.
TEST_P(IterationCount, replacing_the_residual_keeps_the_recurrence_to_the_truth) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(40);
  const auto b = random_vector<double>(93, A.rows());
  std::vector<double> guess = random_vector<double>(94, A.rows()), gaps;
  for (double& entry : guess) entry *= 1e6;
  for (const int replacement : {0, 50}) {
    const PcgOptions options{.max_iterations = 200,
                             .stop = {.relative = 1e-30},
                             .method = PcgMethod::single_reduction,
                             .replacement = replacement};
    const SolveReport report = solve(ctx, A, b, SolverOptions(options), JacobiOptions{}, guess).report;
    EXPECT_EQ(report.iterations, 200);
    gaps.push_back(std::abs(report.true_relative - report.recurrence_relative));
  }
  EXPECT_LT(gaps[1], 1e-3 * gaps[0]);
  EXPECT_GT(gaps[0], 1e6 * epsilon<double>());
}

TEST_P(IterationCount, the_gmres_residual_never_grows) {
  Context ctx = context();
  const Csr<double> A = random_dominant<double>(100, 800, 6);
  const SolveReport report =
      solve(ctx, A, random_vector<double>(101, 800), SolverOptions(GmresOptions{2000, 10, {}})).report;
  for (std::size_t i = 1; i < report.history.size(); ++i)
    EXPECT_LE(report.history[i], report.history[i - 1] * (1 + 1e-10)) << i;
}

INSTANTIATE_TEST_SUITE_P(, IterationCount, backends, param_name);

}  // namespace
}  // namespace krill::test
