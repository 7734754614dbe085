// What the solver tests share: a solve from start to end on arrays of the test's own.
#pragma once
#include "apps/samples/preconditioners.hpp"
#include "apps/samples/solvers.hpp"
#include "solvers/precond/preconditioner.hpp"
#include "solvers/solver.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {

template <class T>
struct Solved {
  SolveReport report;
  std::vector<T> x;
};

/// Solves A x = b from the guess x0 (zero where empty) with fresh plans.
template <class T>
Solved<T> solve(Context& ctx, const Csr<T>& A, const std::vector<T>& b, const SolverOptions& options,
                const PreconditionerOptions& preconditioner = NoPreconditioner{}, std::vector<T> x0 = {},
                const Watch& watch = {}) {
  const AnyMatrix<T> any(A.clone());
  const MatrixOperator<T> op(any);
  const auto M = make_preconditioner(ctx, preconditioner, any);
  const auto solver = make_solver<T>(options, op, *M);
  if (x0.empty()) x0.assign(b.size(), T(0));
  Array<T> x(std::move(x0));
  Solved<T> result;
  result.report = solver->solve(ctx, Array<T>(b), x, watch);
  result.x.assign(x.host().begin(), x.host().end());
  return result;
}

inline std::vector<SolverOptions> all_solvers(double relative = 1e-8, int max_iterations = 2000) {
  std::vector<SolverOptions> all;
  for (const apps::SolverSample& sample : apps::solver_samples(apps::in_tests, relative)) {
    all.push_back(sample.options);
    std::visit([&](auto& o) { o.max_iterations = max_iterations; }, all.back());
  }
  return all;
}
inline std::string name(const SolverOptions& options) {
  return std::visit([](const auto& o) { return std::string(o.type); }, options);
}

/// The samples for Hermitian positive definite matrices, or those for general ones.
inline std::vector<PreconditionerOptions> preconditioners(bool definite) {
  std::vector<PreconditionerOptions> some;
  for (const apps::PreconditionerSample& sample : apps::preconditioner_samples(apps::in_tests))
    if (definite ? sample.with_pcg() : sample.with_others()) some.push_back(sample.options);
  return some;
}
inline std::vector<PreconditionerOptions> hermitian_preconditioners() { return preconditioners(true); }
inline std::vector<PreconditionerOptions> general_preconditioners() { return preconditioners(false); }
inline std::string name(const PreconditionerOptions& options) {
  return std::visit([](const auto& o) { return std::string(o.type); }, options);
}

}  // namespace krill::test
