#include "tests/solvers/systems.hpp"

namespace krill::test {
namespace {

using RichardsonSolves = OnBackendAndScalar;

/// Iterations of x += w D^-1 (b - A x), entry by entry, until ||b - A x|| <= relative ||b||.
int reference_iterations(const Reference& A, const std::vector<Z>& b, double relaxation, double relative) {
  std::vector<Z> x(b.size()), diagonal(b.size());
  for (std::size_t k = 0; k < A.value.size(); ++k)
    if (A.row[k] == A.col[k]) diagonal[static_cast<std::size_t>(A.row[k])] = A.value[k];
  int iterations = 0;
  for (; relative_residual(A, x, b) > relative && iterations < 5000; ++iterations) {
    std::vector<Z> r = b;
    for (std::size_t k = 0; k < A.value.size(); ++k)
      r[static_cast<std::size_t>(A.row[k])] -= A.value[k] * x[static_cast<std::size_t>(A.col[k])];
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += relaxation * r[i] / diagonal[i];
  }
  return iterations;
}

TEST_P(RichardsonSolves, an_exact_inverse_takes_an_iteration) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> full = random_dominant<T>(71, 300, 6);
    std::vector<std::int32_t> offsets{0}, cols;
    std::vector<T> values;
    for (std::int32_t i = 0; i < full.rows(); ++i) {
      for (auto k = full.row_offsets().host()[static_cast<std::size_t>(i)];
           k < full.row_offsets().host()[static_cast<std::size_t>(i) + 1]; ++k)
        if (const auto at = static_cast<std::size_t>(k); full.col_indices().host()[at] <= i) {
          cols.push_back(full.col_indices().host()[at]);
          values.push_back(full.values().host()[at]);
        }
      offsets.push_back(static_cast<std::int32_t>(cols.size()));
    }
    const Csr<T> lower(full.cols(), Array<std::int32_t>(offsets), Array<std::int32_t>(cols), Array<T>(values));
    RichardsonOptions options;
    options.stop.relative = sizeof(real_t<T>) == 4 ? 1e-5 : 1e-12;
    const Solved<T> s =
        solve(ctx, lower, random_vector<T>(72, 300), options, GaussSeidelOptions{SweepDirection::forward});
    EXPECT_EQ(s.report.reason, Reason::converged);
    EXPECT_EQ(s.report.iterations, 1);
  });
}

INSTANTIATE_TEST_SUITE_P(, RichardsonSolves, backends_and_scalars, param_name);

using RichardsonCounts = OnBackend;

TEST_P(RichardsonCounts, takes_what_a_dense_reference_takes) {
  Context ctx = context();
  const Csr<double> A = random_dominant<double>(73, 200, 5);
  const auto b = random_vector<double>(74, 200);
  for (const double relaxation : {1.0, 0.5}) {
    RichardsonOptions options;
    options.relaxation = relaxation;
    const int found = solve(ctx, A, b, options, JacobiOptions{}).report.iterations;
    EXPECT_NEAR(found, reference_iterations(reference(A), to_reference(b), relaxation, 1e-8), 1) << relaxation;
  }
}

TEST_P(RichardsonCounts, without_a_preconditioner_the_residual_itself_is_the_correction) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(10);
  RichardsonOptions options;
  options.relaxation = 0.24;  // below 2 / (largest eigenvalue, which is below 8)
  const Solved<double> s = solve(ctx, A, random_vector<double>(75, 100), options);
  EXPECT_EQ(s.report.reason, Reason::converged);
  options.relaxation = 0.3;
  EXPECT_EQ(solve(ctx, A, random_vector<double>(75, 100), options).report.reason, Reason::diverged);
}

INSTANTIATE_TEST_SUITE_P(, RichardsonCounts, backends, param_name);

}  // namespace
}  // namespace krill::test
