#include "krill/apps/solve.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "krill/apps/commands.hpp"
#include "krill/apps/interruption.hpp"
#include "krill/apps/linear_system.hpp"
#include "krill/apps/progress_line.hpp"
#include "krill/apps/report/report.hpp"
#include "krill/apps/verify/second_opinion.hpp"
#include "krill/config.hpp"
#include "krill/sparse/core/stopwatch.hpp"
#include "krill/sparse/core/trace.hpp"
#include "krill/sparse/io/write_matrix_market.hpp"

namespace krill::apps {
namespace {

constexpr const char* while_reading = "\nkrill: interrupted before the solve began; nothing was written\n";
constexpr const char* while_verifying = "\nkrill: interrupted while verifying; the report says so\n";

/// Where a solve speaks: to stdout, to stderr where stdout is for the report, or nowhere.
struct Voice {
  std::FILE* out = stdout;
  bool silent = false;

  explicit Voice(const SolveCommand& command) : out(command.json ? stderr : stdout), silent(command.quiet) {}
  void say(const std::string& text) const {
    if (silent) return;
    std::fputs(text.c_str(), out);  // a terminal that is gone must not end a solve
    std::fflush(out);
  }
  ProgressLine::Style progress_style() const {
    return silent ? ProgressLine::Style::silent : ProgressLine::style_of(out);
  }
};

std::string now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::size_t peak_host_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

Case read_case(const SolveCommand& command) {
  std::vector<std::string> overrides = command.overrides;
  if (!command.backend.empty()) overrides.push_back("backend=" + command.backend);
  return load_case(command.case_path, overrides);
}

Context make_context(const Case& settings) {
  const bool cuda =
      settings.backend == Backend::cuda || (settings.backend == Backend::automatic && device::count() > 0);
  return cuda ? Context::cuda({settings.device}) : Context::host(settings.threads);
}

template <class T>
double relative_error(std::span<const T> x, std::span<const T> known) {
  std::vector<T> difference(x.begin(), x.end());
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= known[i];
  const double size = norm(known);
  return norm(std::span<const T>(difference)) / (size > 0 ? size : 1);
}

template <class T>
std::size_t bytes_on_backend(const LinearSystem<T>& system, std::size_t solver, const Context& ctx) {
  const std::size_t matrix = bytes(system.A) + (system.original ? bytes(*system.original) : 0);
  return matrix + solver + ctx.workspace_bytes() +
         sizeof(T) * static_cast<std::size_t>(system.b.size() + system.x.size());
}

/// One `krill solve` from the loaded case to the exit code.
class Run {
 public:
  Run(const SolveCommand& command, Interruption& interruption)
      : voice_(command), interruption_(interruption), json_(command.json) {
    record_.started_at = now();
    record_.settings = read_case(command);
    record_.folder = command.out.empty() ? "out/" + record_.settings.name : command.out;
  }

  int go() {
    Context ctx = make_context(record_.settings);
    const OutputFolder folder(record_.folder);
    record_.precision = resolve_precision(record_.settings);
    record_.on_cuda = ctx.on_cuda();
    record_.threads = ctx.threads();
    if (ctx.on_cuda()) record_.device = device::info(record_.settings.device);
    switch (record_.precision) {
      case Precision::float32:
        return solve<float>(ctx, folder);
      case Precision::complex64:
        return solve<std::complex<float>>(ctx, folder);
      case Precision::complex128:
        return solve<std::complex<double>>(ctx, folder);
      case Precision::automatic:
      case Precision::float64:
        break;
    }
    return solve<double>(ctx, folder);
  }

 private:
  template <class T>
  int solve(Context& ctx, const OutputFolder& folder) {
    voice_.say(
        fmt::format("krill {}: {}, matrix {}\n", version, record_.settings.name, source_name(record_.settings.matrix)));
    LinearSystem<T> system = load_system<T>(ctx, record_.settings, record_.timings);
    describe(system);
    run_solver(ctx, system);
    write_files(folder, system);
    if (record_.settings.verify.reference != Reference::none) {
      // A judge that is cut short, by a signal or by the system for want of memory, leaves a report that says so.
      record_.verification = {Verification::State::not_run, "interrupted while verifying", {}};
      write_report(folder);
      verify(system);
    }
    write_report(folder);
    if (json_) print(report_text(record_));
    if (!json_) voice_.say("\n" + summary(record_));
    if (voice_.silent && exit_code(record_) != 0)
      std::fputs(fmt::format("krill: {}: {}\n", name(record_.result.reason), advice(record_).why).c_str(), stderr);
    return exit_code(record_);
  }

  template <class T>
  void describe(LinearSystem<T>& system) {
    record_.matrix = system.properties;
    record_.origin = system.origin;
    record_.notes = system.notes;
    record_.transformation = system.transformed;
    const MatrixProperties& m = record_.matrix;
    voice_.say(fmt::format("  {} x {}, {} entries, {}; read in {:.0f} ms\n", m.rows, m.cols, m.nnz,
                           m.hermitian   ? (m.complex ? "Hermitian" : "symmetric")
                           : m.symmetric ? "complex symmetric"
                                         : "nonsymmetric",
                           record_.timings.read + record_.timings.convert));
  }

  template <class T>
  void run_solver(Context& ctx, LinearSystem<T>& system) {
    Stopwatch watch;
    // The matrix comes to the device with the products, so that its way there is no part of the setup.
    const MatrixOperator<T> A(
        system.A, record_.settings.format == Format::automatic ? SpmvMethod::automatic : SpmvMethod::in_place);
    const SpmvPlan<T>& products = A.prepare(ctx);
    ctx.synchronize();
    record_.products = products.report();
    record_.timings.convert += watch.lap();
    const auto preconditioner = make_preconditioner(ctx, system, A);
    ctx.synchronize();
    record_.timings.preconditioner_setup = watch.lap();
    record_.preconditioner = preconditioner->report();
    for (const std::string& note : record_.preconditioner.notes) record_.notes.push_back(note);

    voice_.say(fmt::format("  {} with preconditioner {} on {}\n", solver_name(record_), preconditioner_name(record_),
                           record_.device ? record_.device->name : fmt::format("the host, {} threads", ctx.threads())));
    ProgressLine line(voice_.out, voice_.progress_style(), std::string(solver_name(record_)));
    interruption_.is_awaited();
    std::size_t solver_bytes = 0;
    {
      const TraceRange range("solve");
      record_.result = solve_transformed(ctx, record_.settings.solver, A, *preconditioner, *system.transformation,
                                         system.original ? &*system.original : nullptr, system.b, system.x,
                                         solver_bytes, [&](const Sight& sight) {
                                           line.show(sight);
                                           return !interruption_.requested();
                                         });
    }
    ctx.synchronize();
    record_.timings.solve = watch.lap();
    record_.memory_bytes =
        bytes_on_backend(system, solver_bytes, ctx) + products.bytes() + record_.preconditioner.bytes;
    measure(system);
  }

  /// Messages of rows count those of the system that is solved.
  template <class T>
  std::unique_ptr<Preconditioner<T>> make_preconditioner(Context& ctx, const LinearSystem<T>& system,
                                                         const Operator<T>& products) const {
    try {
      return krill::make_preconditioner<T>(ctx, record_.settings.preconditioner, system.A, &products);
    } catch (const InvalidArgument& error) {
      if (!system.transformation->reorders()) throw;
      throw InvalidArgument(
          fmt::format("{}\n  rows are those of the system in the ordering {}", error.what(), ordering_name(record_)));
    }
  }

  template <class T>
  void measure(const LinearSystem<T>& system) {
    const SolveReport& r = record_.result;
    record_.residual_norm = r.baseline > 0 ? r.true_relative * r.baseline : 0;
    record_.solution_norm = norm(system.x.host());
    const double scale = record_.matrix.frobenius_norm * record_.solution_norm + r.rhs_norm;
    record_.backward_error = scale > 0 ? record_.residual_norm / scale : 0;
    if (system.known) record_.known_error = relative_error(system.x.host(), system.known->host());
  }

  template <class T>
  void write_files(const OutputFolder& folder, const LinearSystem<T>& system) {
    folder.write_history(record_);
    if (record_.settings.output.solution) {
      write_vector(std::filesystem::path(folder.path()) / "solution.mtx", system.x.host(), 1,
                   fmt::format("solution of {} by krill {}: {}, relative residual {:.3e}", record_.settings.name,
                               version, name(record_.result.reason), record_.result.true_relative));
      record_.files.emplace_back("solution.mtx");
    }
    folder.remove_leftovers(record_);
  }

  template <class T>
  void verify(const LinearSystem<T>& system) {
    Verification& v = record_.verification;
    if (record_.result.reason != Reason::converged || interruption_.requested()) {
      v.why_not = interruption_.requested() ? "not run: interrupted" : "not run: the solve did not converge";
      return;
    }
    voice_.say("  verifying by Eigen\n");
    interruption_.ends_at_once(while_verifying);
    v.judgement = second_opinion(record_, system.b.host(), system.x.host());
    v.state = Verification::State::finished;
    interruption_.is_awaited();
  }

  void write_report(const OutputFolder& folder) {
    record_.timings.total = clock_.milliseconds();
    record_.peak_host_bytes = peak_host_bytes();
    folder.write_report(record_);
  }

  Stopwatch clock_;
  Voice voice_;
  Interruption& interruption_;
  bool json_;
  SolveRecord record_;
};

}  // namespace

int run_solve(const SolveCommand& command) {
  Interruption interruption(while_reading);
  return Run(command, interruption).go();
}

}  // namespace krill::apps
