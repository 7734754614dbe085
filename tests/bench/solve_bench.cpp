// Times SpMV and PCG on model problems: on the host against Eigen with the same threads in the same run, on CUDA beside
// the ceiling of a device copy. bench_solve host|cuda [FILE.json]
#include <fmt/format.h>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "solvers/precond/preconditioner.hpp"
#include "solvers/solver.hpp"
#include "sparse/core/config.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/vector/vector.hpp"

using namespace krill;
using Json = nlohmann::ordered_json;

namespace {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The median of `rounds` timings of `repeats` calls each, in ms a call; the device is waited for.
double median_ms(Context& ctx, int rounds, int repeats, const std::function<void()>& work) {
  work();
  ctx.synchronize();
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(rounds));
  for (int r = 0; r < rounds; ++r)
    times.push_back(1e3 / repeats * seconds_of([&] {
                      for (int i = 0; i < repeats; ++i) work();
                      ctx.synchronize();
                    }));
  std::ranges::nth_element(times, times.begin() + rounds / 2);
  return times[static_cast<std::size_t>(rounds) / 2];
}

constexpr int host_iterations = 60;  // enough to time one; Eigen and Krill take the same

struct Case {
  std::string name;
  GeneratorOptions options;
};

class Bench {
 public:
  Bench(Context& ctx, std::string backend) : ctx_(ctx), backend_(std::move(backend)) { measure_ceiling(); }

  void run(const Case& c) {
    const AnyMatrix<double> A = generate<double>(c.options);
    spmv_row(c, A);
    for (const char* M : {"none", "jacobi"}) pcg_row(c, A, M);
  }
  Json report() const {
    return {{"commit", std::string(git_commit())},
            {"device", ctx_.on_cuda() ? device::info(0).name : "host"},
            {"driver", ctx_.on_cuda() ? device::info(0).driver : ""},
            {"ceilings", {{"copy_gbps", copy_gbps_}}},
            {"rows", rows_}};
  }

 private:
  void measure_ceiling() {
    const std::int64_t n = ctx_.on_cuda() ? 1 << 28 : 1 << 24;
    const Array<double> x(std::vector<double>(static_cast<std::size_t>(n), 1.0));
    Array<double> y(n);
    const double ms = median_ms(ctx_, 5, 5, [&] { copy(ctx_, x, y); });
    copy_gbps_ = 16e-6 * static_cast<double>(n) / ms;
    fmt::print("{} backend, {} threads: copy {:.0f} GB/s\n", backend_, ctx_.threads(), copy_gbps_);
  }

  void add(const std::string& kernel, const Case& c, const AnyMatrix<double>& A, const std::string& variant, double ms,
           double bytes, const std::string& rival, double rival_ms, const Json& more = Json::object()) {
    const double gbps = bytes / ms * 1e-6, ratio = rival_ms / ms;
    fmt::print("{:5} {:14} {:24} {:10.4f} ms {:7.1f} GB/s {:5.1f} % of copy", kernel, c.name, variant, ms, gbps,
               100 * gbps / copy_gbps_);
    if (rival_ms > 0) fmt::print("   {} {:10.4f} ms, ratio {:.2f}", rival, rival_ms, ratio);
    fmt::print("\n");
    Json row{{"kernel", kernel},
             {"case", c.name},
             {"rows", rows(A)},
             {"nnz", nnz(A)},
             {"precision", "float64"},
             {"variant", variant},
             {"ms", ms},
             {"bytes", bytes},
             {"gbps", gbps},
             {"ceiling_share", gbps / copy_gbps_}};
    if (rival_ms > 0) row.update({{"rival", rival}, {"rival_ms", rival_ms}, {"ratio", ratio}});
    row.update(more);
    rows_.push_back(row);
  }

  static double matrix_bytes(const AnyMatrix<double>& A) {
    return static_cast<double>(std::visit([](const auto& a) { return a.bytes(); }, A));
  }

  void spmv_row(const Case& c, const AnyMatrix<double>& A) {
    const Array<double> x(std::vector<double>(static_cast<std::size_t>(cols(A)), 1.0));
    Array<double> y(rows(A));
    const int repeats = std::max(1, static_cast<int>((ctx_.on_cuda() ? 2'000'000'000 : 50'000'000) / nnz(A)));
    const auto ours = [&] { spmv(ctx_, Op::none, 1.0, A, x, 0.0, y); };
    const double ms = median_ms(ctx_, 9, std::min(repeats, 200), ours);
    double rival = 0;
    if (!ctx_.on_cuda()) {
      const auto E = to_eigen(A);
      const Eigen::VectorXd ex = Eigen::VectorXd::Ones(E.cols());
      Eigen::VectorXd ey(E.rows());
      rival = median_ms(ctx_, 9, repeats, [&] { ey.noalias() = E * ex; });
    }
    add("spmv", c, A, threads(), ms, matrix_bytes(A) + 8.0 * (rows(A) + static_cast<double>(cols(A))), "eigen", rival);
  }

  void pcg_row(const Case& c, const AnyMatrix<double>& A, const std::string& preconditioner) {
    const bool jacobi = preconditioner == "jacobi";
    const MatrixOperator<double> op(A);
    const auto M = make_preconditioner(
        ctx_, jacobi ? PreconditionerOptions(JacobiOptions{}) : PreconditionerOptions(NoPreconditioner{}), A);
    PcgOptions options;
    options.max_iterations = ctx_.on_cuda() ? 5000 : host_iterations;
    options.stop.stagnation = 0;
    const auto solver = make_solver<double>(SolverOptions(options), op, *M);
    const Array<double> b(std::vector<double>(static_cast<std::size_t>(rows(A)), 1.0));
    SolveReport report;
    std::vector<double> times;
    Counters spent;
    for (int i = 0; i < (ctx_.on_cuda() ? 4 : 3); ++i) {
      Array<double> x(std::vector<double>(static_cast<std::size_t>(rows(A)), 0.0));
      Array<double> there(1);
      norm2(ctx_, x, there);  // x is on the device before the clock starts
      ctx_.synchronize();
      const Counters before = counters();
      report = solver->solve(ctx_, b, x);
      spent = {counters().transfers - before.transfers, counters().allocations - before.allocations,
               counters().synchronizations - before.synchronizations};
      times.push_back(1e3 * report.seconds);
    }
    const double first = times[0], ms = *std::min_element(times.begin() + 1, times.end()) / report.iterations;
    double rival = 0;
    if (!ctx_.on_cuda()) {
      const auto E = to_eigen(A);
      rival = jacobi ? eigen_cg_ms<Eigen::DiagonalPreconditioner<double>>(E)
                     : eigen_cg_ms<Eigen::IdentityPreconditioner>(E);
    }
    const double vectors = jacobi ? 14 : 11;  // n values that the four, or three, passes beside A move
    add("pcg", c, A, preconditioner + " " + threads(), ms, matrix_bytes(A) + 8 * vectors * rows(A), "eigen", rival,
        {{"iterations", report.iterations},
         {"reason", name(report.reason)},
         {"true_relative", report.true_relative},
         {"first_solve_ms", first},
         {"transfers_a_solve", spent.transfers},
         {"allocations_a_solve", spent.allocations}});
    fmt::print(
        "      {} iterations, {}, true residual {:.2e}, first solve {:.2f} ms, {} transfers and {} allocations in the "
        "last solve\n",
        report.iterations, name(report.reason), report.true_relative, first, spent.transfers, spent.allocations);
  }

  using EigenMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  static EigenMatrix to_eigen(const AnyMatrix<double>& A) {
    const auto& csr = std::get<0>(A);
    return Eigen::Map<const EigenMatrix>(csr.rows(), csr.cols(), csr.nnz(), csr.row_offsets().host().data(),
                                         csr.col_indices().host().data(), csr.values().host().data());
  }
  template <class Preconditioner>
  static double eigen_cg_ms(const EigenMatrix& E) {
    Eigen::ConjugateGradient<EigenMatrix, Eigen::Lower | Eigen::Upper, Preconditioner> cg;
    cg.setMaxIterations(host_iterations);
    cg.setTolerance(1e-8);
    cg.compute(E);
    const Eigen::VectorXd b = Eigen::VectorXd::Ones(E.rows());
    double best = 1e300;
    for (int i = 0; i < 3; ++i) {
      Eigen::VectorXd x;
      best = std::min(best, 1e3 * seconds_of([&] { x = cg.solve(b); }) / static_cast<double>(cg.iterations()));
    }
    return best;
  }
  std::string threads() const { return ctx_.on_cuda() ? "" : fmt::format("{} threads", ctx_.threads()); }

  Context& ctx_;
  std::string backend_;
  double copy_gbps_ = 0;
  Json rows_ = Json::array();
};

}  // namespace

int main(int argc, char** argv) try {
  const std::string backend = argc > 1 ? argv[1] : "host";
  Json all = Json::array();
  if (backend == "cuda") {
    Context ctx = Context::cuda();
    Bench bench(ctx, backend);
    bench.run({"p3d256", Poisson3dOptions{256, 0, 0}});
    bench.run({"p3d128", Poisson3dOptions{128, 0, 0}});
    bench.run({"p2d1024", Poisson2dOptions{1024, 0}});
    bench.run({"p3d27", Poisson3dOptions{27, 0, 0}});
    all.push_back(bench.report());
  } else {
    for (const int threads : {1, 2}) {
      Eigen::setNbThreads(threads);
      Context ctx = Context::host(threads);
      Bench bench(ctx, backend);
      bench.run({"p3d100", Poisson3dOptions{100, 0, 0}});
      bench.run({"p2d1024", Poisson2dOptions{1024, 0}});
      bench.run({"p2d200", Poisson2dOptions{200, 0}});  // in the cache: the cores' own speed
      all.push_back(bench.report());
    }
  }
  if (argc > 2) std::ofstream(argv[2]) << (all.size() == 1 ? all[0] : all).dump(2) << "\n";
  return 0;
} catch (const std::exception& e) {
  return fmt::print(stderr, "bench_solve: {}\n", e.what()), 3;
}
