#include "sparse/vector/vector.hpp"
#include "tests/solvers/systems.hpp"

namespace krill::test {
namespace {

using Flexible = OnBackend;

/// M r = r / 1000 + max |r_i| D^-1 r is another matrix for every r.
class Varying final : public Preconditioner<double> {
 public:
  explicit Varying(const Preconditioner<double>& jacobi) : jacobi_(jacobi) {}
  const Array<double>& apply(Context& ctx, const Array<double>& r, Array<double>& z) const override {
    max_abs(ctx, r, most_);
    const Array<double>& scaled = jacobi_.apply(ctx, r, z);
    axpby(ctx, 1e-3, r, most_, z);
    return scaled;
  }
  ApplicationWork work() const override { return {}; }

 private:
  const Preconditioner<double>& jacobi_;
  mutable Array<double> most_{1};
};

using Vector = std::vector<double>;

double dot_of(const Vector& x, const Vector& y) {
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<long double>(x[i]) * y[i];
  return static_cast<double>(sum);
}
Vector times(const Reference& A, const Vector& x) {
  Vector y(x.size());
  for (std::size_t k = 0; k < A.row.size(); ++k)
    y[static_cast<std::size_t>(A.row[k])] += A.value[k].real() * x[static_cast<std::size_t>(A.col[k])];
  return y;
}

/// ||r|| / ||b|| of flexible CG with Varying, as Notay (2000) has it: each direction against the one before.
std::vector<double> reference_history(const Reference& A, const Vector& b, int iterations) {
  Vector diagonal(b.size()), r = b, p(b.size()), q(b.size());
  for (std::size_t k = 0; k < A.row.size(); ++k)
    if (A.row[k] == A.col[k]) diagonal[static_cast<std::size_t>(A.row[k])] = A.value[k].real();
  std::vector<double> history{1};
  for (int k = 0; k < iterations; ++k) {
    double most = 0;
    for (const double entry : r) most = std::max(most, std::abs(entry));
    Vector z(r.size());
    for (std::size_t i = 0; i < r.size(); ++i) z[i] = 1e-3 * r[i] + most * (r[i] / diagonal[i]);
    const double beta = k == 0 ? 0 : -dot_of(z, q) / dot_of(p, q);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + beta * p[i];
    q = times(A, p);
    const double alpha = dot_of(z, r) / dot_of(p, q);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= alpha * q[i];
    history.push_back(std::sqrt(dot_of(r, r) / dot_of(b, b)));
  }
  return history;
}

template <class Options>
SolveReport solve_varying(Context& ctx, const Csr<double>& csr, const Vector& b, const Options& options) {
  const AnyMatrix<double> A(csr.clone());
  const MatrixOperator<double> op(A);
  const auto jacobi = make_preconditioner(ctx, PreconditionerOptions(JacobiOptions{}), A);
  const Varying M(*jacobi);
  Array<double> x{Vector(b.size())};
  return make_solver<double>(options, op, M)->solve(ctx, Array<double>(b), x);
}

/// GMRES takes M for a matrix, so its residuals are none of x's.
TEST_P(Flexible, fgmres_carries_the_true_residual_whatever_its_preconditioner_does) {
  Context ctx = context();
  const Csr<double> A = random_dominant<double>(35, 1000, 6);
  const auto b = random_vector<double>(36, 1000);
  const SolveReport report = solve_varying(ctx, A, b, FgmresOptions{.max_iterations = 300, .restart = 100});
  EXPECT_EQ(report.reason, Reason::converged) << name(report.reason);
  EXPECT_EQ(report.restarts_from_truth, 0);
  EXPECT_NEAR(report.recurrence_relative, report.true_relative, 1e-2 * report.true_relative + 1e-13);
  EXPECT_GT(solve_varying(ctx, A, b, GmresOptions{.max_iterations = 300, .restart = 100}).iterations,
            2 * report.iterations);
}

/// b of size 1, which the solver does not scale: M depends on that.
TEST_P(Flexible, fcg_takes_the_steps_of_a_reference_with_a_preconditioner_that_varies) {
  Context ctx = context();
  Csr<double> grid = poisson2d<double>(30);  // D A D with D from 1 to 0.1
  const auto size = [](std::int32_t i) { return std::pow(10, -(i % 7) / 6.0); };
  for (std::int32_t i = 0; i < grid.rows(); ++i)
    for (auto k = grid.row_offsets().host()[static_cast<std::size_t>(i)];
         k < grid.row_offsets().host()[static_cast<std::size_t>(i) + 1]; ++k)
      grid.values().edit()[static_cast<std::size_t>(k)] *=
          size(i) * size(grid.col_indices().host()[static_cast<std::size_t>(k)]);
  Vector b = random_vector<double>(37, 900);
  b[0] = 1;
  const std::vector<double> expected = reference_history(reference(grid), b, 25);
  const SolveReport report = solve_varying(ctx, grid, b, FcgOptions{.max_iterations = 25});
  ASSERT_EQ(report.history.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_NEAR(report.history[k], expected[k], 1e-8 * expected[k]) << k;
  const SolveReport by_pcg = solve_varying(ctx, grid, b, PcgOptions{.max_iterations = 25});
  EXPECT_GT(std::abs(by_pcg.history[25] - expected[25]), 1e-6 * expected[25]) << "the method makes a difference";
}

INSTANTIATE_TEST_SUITE_P(, Flexible, backends, param_name);

}  // namespace
}  // namespace krill::test
