// Solves A x = b by conjugate gradients with IC(0), on CUDA where there is a device.
//   preconditioned_cg [MATRIX]     a file (.mtx, .rb, also compressed), symmetric positive definite; else a model
//   problem
#include <fmt/core.h>

#include <krill/solvers/pcg.hpp>
#include <krill/solvers/precond/preconditioner.hpp>
#include <krill/sparse/io/generate.hpp>
#include <krill/sparse/io/read.hpp>
#include <krill/sparse/vector/vector.hpp>

namespace {

krill::AnyMatrix<double> load(int argc, char** argv) {
  if (argc < 2) return krill::generate<double>(krill::Poisson3dOptions{.nx = 24});
  krill::CanonicalReport found;  // what the file had: duplicates, missing diagonal entries, ...
  return krill::assemble(krill::read_matrix<double>(argv[1]).matrix, found);
}

int run(int argc, char** argv) {
  krill::Context ctx = krill::Context::automatic();
  const krill::AnyMatrix<double> A = load(argc, argv);

  const auto n = static_cast<std::size_t>(rows(A));
  const krill::Array<double> b(std::vector<double>(n, 1.0));
  krill::Array<double> x(std::vector<double>(n, 0.0));  // the initial guess, then the solution

  const krill::MatrixOperator<double> op(A, krill::SpmvMethod::automatic);
  const auto M = krill::make_preconditioner<double>(ctx, krill::Ic0Options{}, A);
  krill::Pcg<double> solver(op, *M, {.max_iterations = 5000, .stop = {.relative = 1e-10}});
  const krill::SolveReport report = solver.solve(ctx, b, x);

  // The solver's figure, and the same by hand: one product and one norm.
  krill::Array<double> r(rows(A)), norm(1);
  residual(ctx, A, x, b, r);
  norm2(ctx, r, norm);
  fmt::print("{} after {} iterations on {}, ||b - A x|| / ||b|| = {:.2e} (by hand {:.2e})\n", name(report.reason),
             report.iterations, ctx.on_cuda() ? "CUDA" : "the host", report.true_relative,
             norm.host()[0] / report.rhs_norm);
  return report.reason == krill::Reason::converged ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const krill::Error& error) {  // a file that cannot be read, a pivot that is not positive, no memory
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
