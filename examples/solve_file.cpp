// Solves the system in a file as `krill solve` does with auto everywhere, and says what was chosen and how it ended.
//   solve_file [MATRIX]     a file (.mtx, .rb, .rua, also compressed), square; else a model problem
#include <fmt/core.h>

#include <krill/krill.hpp>

namespace {

krill::AnyMatrix<double> load(int argc, char** argv) {
  if (argc < 2) return krill::generate<double>(krill::ConvectionDiffusion2dOptions{.nx = 64});
  krill::CanonicalReport found;  // what the file had: duplicates, missing diagonal entries, ...
  return krill::assemble(krill::read_matrix<double>(argv[1]).matrix, found);
}

int run(int argc, char** argv) {
  krill::Context ctx = krill::Context::automatic();
  const krill::AnyMatrix<double> A = load(argc, argv);
  const auto n = static_cast<std::size_t>(rows(A));
  const krill::Array<double> b(std::vector<double>(n, 1.0));
  krill::Array<double> x(std::vector<double>(n, 0.0));  // the initial guess, then the solution

  const krill::SystemReport report = solve(ctx, A, b, x);

  for (const auto& [key, why] : report.choices) fmt::print("{}: {}\n", key, why);
  for (const std::string& note : report.notes) fmt::print("note: {}\n", note);
  fmt::print("{} with {}: {} after {} iterations, ||b - A x|| / ||b|| = {:.2e}\n", type_name(report.options.solver),
             type_name(report.options.preconditioner), name(report.result.reason), report.result.iterations,
             report.result.true_relative);
  return report.result.reason == krill::Reason::converged ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const krill::Error& error) {  // a file that cannot be read, entries that are not finite, no memory
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
