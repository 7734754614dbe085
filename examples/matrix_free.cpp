// Conjugate gradients with an operator and a preconditioner of one's own; no matrix is stored.
// matrix_free_cuda.cu compiles the operator's pass for the other backend.
#include <fmt/core.h>

#include <krill/solvers/pcg.hpp>
#include <krill/sparse/core/pass_host.hpp>
#include <krill/sparse/vector/vector.hpp>

#include "laplacian.hpp"

namespace {

/// The product runs inside a solver's loop, which CUDA captures: everything goes through passes and doors of Krill with
/// the context that is handed in, and nothing is allocated or looked at from the host.
class Laplacian final : public krill::Operator<double> {
 public:
  explicit Laplacian(std::int64_t n) : n_(n) {}
  std::int64_t rows() const override { return n_ * n_; }
  /// It is its own transpose.
  void apply(krill::Context& ctx, krill::Op, const krill::Array<double>& x, krill::Array<double>& y) const override {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, rows(), LaplacianProduct{n_, x.read(where), y.write(where)});
    });
  }

 private:
  std::int64_t n_;
};

/// M = I / 4, the inverse of the diagonal.
class Quarter final : public krill::Preconditioner<double> {
 public:
  explicit Quarter(std::int64_t rows) : rows_(static_cast<double>(rows)) {}
  const krill::Array<double>& apply(krill::Context& ctx, const krill::Array<double>& r,
                                    krill::Array<double>& z) const override {
    axpby(ctx, 0.25, r, 0.0, z);
    return z;
  }
  krill::ApplicationWork work() const override { return {{2 * rows_ * sizeof(double), rows_}}; }

 private:
  double rows_;
};

}  // namespace

int main() {
  constexpr std::int64_t n = 100;
  krill::Context ctx = krill::Context::automatic();
  const Laplacian A(n);
  const Quarter M(n * n);
  const krill::Array<double> b(std::vector<double>(n * n, 1.0));
  krill::Array<double> x(std::vector<double>(n * n, 0.0));

  krill::Pcg<double> solver(A, M, {.stop = {.relative = 1e-10}});
  const krill::SolveReport report = solver.solve(ctx, b, x);
  fmt::print("{} after {} iterations, ||b - A x|| / ||b|| = {:.2e}\n", name(report.reason), report.iterations,
             report.true_relative);
  return report.reason == krill::Reason::converged ? 0 : 1;
}
