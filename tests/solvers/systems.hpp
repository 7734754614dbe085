// What the solver tests share: a solve from start to end on arrays of the test's own.
#pragma once
#include "krill/solvers/solver.hpp"
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
  PcgOptions pcg;
  GmresOptions gmres;
  BicgstabOptions bicgstab;
  pcg.stop.relative = gmres.stop.relative = bicgstab.stop.relative = relative;
  pcg.max_iterations = gmres.max_iterations = bicgstab.max_iterations = max_iterations;
  return {pcg, gmres, bicgstab};
}
inline std::string name(const SolverOptions& options) {
  return std::visit([](const auto& o) { return std::string(o.type); }, options);
}

/// Those that are Hermitian positive definite where A is.
inline std::vector<PreconditionerOptions> hermitian_preconditioners() {
  Bic0Options in_blocks;
  in_blocks.block_dim = 3;
  return {JacobiOptions{}, BlockJacobiOptions{4}, ChebyshevOptions{}, GaussSeidelOptions{}, SsorOptions{1.3},
          Ilu0Options{},   Ic0Options{},          in_blocks,          IsaiOptions{}};
}
/// Those for general matrices.
inline std::vector<PreconditionerOptions> general_preconditioners() {
  Bilu0Options in_blocks;
  in_blocks.block_dim = 3;
  return {JacobiOptions{},
          BlockJacobiOptions{4},
          GaussSeidelOptions{SweepDirection::forward},
          GaussSeidelOptions{SweepDirection::backward},
          SsorOptions{0.8},
          Ilu0Options{},
          in_blocks,
          IsaiOptions{}};
}
inline std::string name(const PreconditionerOptions& options) {
  return std::visit([](const auto& o) { return std::string(o.type); }, options);
}

}  // namespace krill::test
