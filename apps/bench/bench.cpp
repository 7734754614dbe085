// `krill bench`.
#include "apps/bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <nlohmann/json.hpp>

#include "apps/bench/ceilings.hpp"
#include "apps/bench/difference.hpp"
#include "apps/bench/heat_map.hpp"
#include "apps/bench/job.hpp"
#include "apps/bench/request.hpp"
#include "apps/bench/result_text.hpp"
#include "apps/bench/roofline.hpp"
#include "apps/case/suggest.hpp"
#include "apps/case/with_scalar.hpp"
#include "apps/parallel/agreement.hpp"
#include "apps/parallel/starting_context.hpp"
#include "apps/support/machine.hpp"
#include "apps/support/print.hpp"
#include "apps/support/terminal.hpp"
#include "solvers/options.hpp"
#include "sparse/core/config.hpp"
#include "sparse/io/atomic_file.hpp"

namespace krill::apps {
namespace bench {
namespace {

/// A kernel under the name that the command line uses.
template <class T>
struct Kernel {
  const char* name;
  void (*run)(const BenchSubject<T>&);
  /// by_name: takes long, too; of_ranks: for several processes, and nothing else is
  enum Kind { of_a_matrix, without_matrix, solver, by_name, of_ranks } kind = of_a_matrix;
};
template <class T>
constexpr Kernel<T> kernels[] = {{"spmv", bench_spmv<T>},
                                 {"spmv_dot", bench_spmv_dot<T>},
                                 {"spmm", bench_spmm<T>},
                                 {"sddmm", bench_sddmm<T>},
                                 {"spgemm", bench_spgemm<T>},
                                 {"spgeam", bench_spgeam<T>},
                                 {"triple_product", bench_triple_product<T>},
                                 {"prune", bench_prune<T>},
                                 {"convert", bench_convert<T>},
                                 {"csr2csc", bench_csr2csc<T>},
                                 {"triangular", bench_triangular<T>},
                                 {"factor", bench_factor<T>},
                                 {"color", bench_color<T>},
                                 {"coarsen", bench_coarsen<T>},
                                 {"vector", bench_vector<T>, Kernel<T>::without_matrix},
                                 {"basis", bench_basis<T>, Kernel<T>::without_matrix},
                                 {"batch", bench_batch<T>, Kernel<T>::without_matrix},
                                 {banded_kernel, bench_banded<T>, Kernel<T>::without_matrix},
                                 {"pcg", bench_solver<T, PcgOptions>, Kernel<T>::solver},
                                 {"gmres", bench_solver<T, GmresOptions>, Kernel<T>::solver},
                                 {"bicgstab", bench_solver<T, BicgstabOptions>, Kernel<T>::solver},
                                 {"amg", bench_amg<T>, Kernel<T>::by_name},
                                 {scaling_kernel, bench_scaling<T>, Kernel<T>::of_ranks}};

std::vector<std::string> names_of(Kernel<double>::Kind kind) {
  std::vector<std::string> names;
  for (const auto& kernel : kernels<double>)
    if (kernel.kind == kind) names.emplace_back(kernel.name);
  return names;
}

/// Backend, device and threads as a case has them. In a team, what ranks have in the place of `auto`.
Case place_of(const BenchCommand& command, ProcessTeam* team) {
  Case place;
  place.backend = command.backend == "auto"   ? Backend::automatic
                  : command.backend == "cuda" ? Backend::cuda
                                              : Backend::host;
  place.device = command.device, place.threads = command.threads;
  std::vector<std::string> notes;
  if (team) settle_with_team(*team, place, notes);
  if (process_leads())
    for (const std::string& note : notes) print(note + "\n");
  if (place.backend == Backend::automatic) place.backend = device::count() > 0 ? Backend::cuda : Backend::host;
  const bool cuda = place.backend == Backend::cuda;
  if (!cuda && command.device > 0)
    throw InvalidArgument(
        fmt::format("--device {}: this run is on the host; use --backend cuda, or leave it out", command.device));
  if (cuda && command.threads > 0)
    throw InvalidArgument(
        fmt::format("--threads {}: this run is on CUDA; use --backend host, or leave it out", command.threads));
  return place;
}

/// Several processes measure scaling and nothing else, and one process does not.
void require_place(const Request& request, const BenchCommand& command, const ProcessTeam* team) {
  const bool scaling = std::ranges::find(request.kernels, scaling_kernel) != request.kernels.end();
  if (scaling && !team)
    throw InvalidArgument(
        "scaling: it takes several processes, started by a launcher: mpirun -n 2 krill bench scaling");
  if (team && !(scaling && request.kernels.size() == 1))
    throw InvalidArgument(
        "bench: several processes measure scaling and nothing else: mpirun -n N krill bench scaling; run it without "
        "the launcher for other rows");
  if (scaling && command.compare != "none")
    throw InvalidArgument("--compare: scaling has no rival but one rank; leave it out");
}

/// A picture, or a note where it cannot be drawn.
void write_picture(const std::string& file, const std::string& script) {
  const Drawing drawing = draw(script);
  if (!drawing.failure.empty()) return print(fmt::format("{}: {}\n", file, drawing.failure));
  atomic_write(file, drawing.svg);
  print(fmt::format("\n{}\n", file));
}

void write_pictures(const BenchCommand& command, const Result& result) {
  if (!command.roofline.empty()) write_picture(command.roofline, roofline_script(result));
  if (!command.heat_map.empty()) write_picture(command.heat_map, heat_map_script(result));
}

/// One run: ceilings, then every kernel on every matrix in every precision.
class Measurement {
 public:
  explicit Measurement(const BenchCommand& command)
      : command_(command),
        team_(process_team()),
        place_(place_of(command, team_)),
        start_(team_, place_),
        ctx_(start_.get()),
        request_(parse_request(command, ctx_.on_cuda())),
        table_(variant_width()) {
    require_place(request_, command, team_);
    if (team_) team_->set_timeout(ProcessTeam::timeout_of_lone_work);
    require_rival(ctx_, command.compare);
    for (const std::string& file : {command.out, command.roofline, command.heat_map})
      if (!file.empty() && process_leads()) AtomicFile{file};  // fails now where it could not be written in the end
    result_.commit = git_commit();
    result_.date = utc_now();
    std::optional<DeviceInfo> info;
    if (ctx_.on_cuda()) {
      info = device::info(place_.device);
      result_.device = info->name, result_.driver = info->driver;
    } else {
      result_.device = fmt::format("{}, {} thread{}", processor(), ctx_.threads(), ctx_.threads() == 1 ? "" : "s");
    }
    if (team_)
      result_.device =
          fmt::format("{}{}", info ? "" : processor() + ", ", team_text(team_->size(), info, ctx_.threads()));
  }

  int run() {
    say(fmt::format("krill {} ({}) on {}\n", version, result_.commit, result_.device));
    if (team_)
      say(fmt::format("exchanges by {}\n\n", ctx_.on_cuda() ? team_->device_transport() : team_->library()));
    else
      result_.ceilings = measure_ceilings(ctx_), say(fmt::format("{}\n\n", ceilings_text(result_.ceilings)));
    if (std::ranges::any_of(standalone_kernel_names(), [this](const auto& name) { return wanted(name); }))
      for (const Precision precision : request_.precisions) {
        measure_standalone(precision == Precision::automatic ? Precision::float64 : precision);
        write();
      }
    for (const std::string& name : standalone_kernel_names()) std::erase(request_.kernels, name);
    if (request_.kernels.empty()) request_.matrices.clear();
    for (const BenchMatrix& matrix : request_.matrices)
      for (const Precision precision : request_.precisions) {
        measure(matrix, precision);
        write();
      }
    if (result_.rows.empty())
      throw InvalidArgument(fmt::format("nothing was measured: no benchmark of {} has a variant of --format {}",
                                        enumerate(request_.kernels), command_.formats));
    if (team_) ctx_.synchronize(), team_->leave_devices();
    const std::string means = means_text(result_.rows);
    if (!means.empty()) say("\n" + means);
    if (process_leads()) write_pictures(command_, result_);
    return std::any_of(result_.rows.begin(), result_.rows.end(), [](const Row& row) { return row.ms; }) ? 0 : 1;
  }

 private:
  /// Variants are formats; where conversions are timed, "csr to" them, too.
  std::size_t variant_width() const {
    std::size_t width = 0;
    for (const std::string_view format : format_names) width = std::max(width, format.size());
    width += wanted("convert") ? std::string_view("csr to ").size() : 0;
    const bool long_names =
        wanted("triangular") || wanted("factor") || wanted("color") || std::ranges::any_of(request_.kernels, is_solver);
    if (wanted(scaling_kernel)) width = std::max(width, std::string_view("bicgstab, jacobi").size());
    if (wanted(banded_kernel)) width = std::max(width, std::string_view("gtsv_interleaved thomas").size());
    return std::max(width, long_names ? std::string_view("ilu0 in color order").size() : 0);
  }

  static bool is_solver(const std::string& kernel) {
    return std::ranges::any_of(solver_names(), [&](const std::string& name) { return name == kernel; });
  }

  void measure(const BenchMatrix& matrix, Precision precision) {
    if (precision == Precision::automatic)
      precision = needs_complex(matrix) ? Precision::complex128 : Precision::float64;
    with_scalar(precision, [&]<class T>(T) { measure_as<T>(matrix, precision); });
  }

  void measure_standalone(Precision precision) {
    with_scalar(precision, [&]<class T>(T) {
      const auto rival = make_rival<T>(ctx_, command_.compare);
      const auto subject = subject_for<T>("", precision, nullptr, rival.get());
      for (const Kernel<T>& kernel : kernels<T>)
        if (kernel.kind == Kernel<T>::without_matrix && wanted(kernel.name)) kernel.run(subject);
    });
  }

  template <class T>
  BenchSubject<T> subject_for(std::string name, Precision precision, std::shared_ptr<const AnyMatrix<T>> A,
                              const Rival<T>* rival) {
    return {ctx_,
            std::move(name),
            std::string(precision_names[static_cast<std::size_t>(precision)]),
            std::move(A),
            rival,
            largest(result_.ceilings),
            command_.warm,
            request_.formats,
            [this](const Row& row) { report(row); },
            request_.shapes,
            request_.preconditioners,
            team_};
  }

  template <class T>
  void measure_as(const BenchMatrix& matrix, Precision precision) {
    const std::string name(precision_names[static_cast<std::size_t>(precision)]);
    try {
      std::string subject_name = matrix.name;
      std::shared_ptr<const AnyMatrix<T>> A;
      if (process_leads() || !own_rows_of(matrix)) {
        MadeMatrix<T> made = make_matrix<T>(matrix, request_.repeat);
        subject_name = std::move(made.name), A = std::make_shared<const AnyMatrix<T>>(std::move(made.A));
      }
      const auto rival = make_rival<T>(ctx_, command_.compare);
      auto subject = subject_for<T>(std::move(subject_name), precision, std::move(A), rival.get());
      subject.source = &matrix;
      for (const Kernel<T>& kernel : kernels<T>)
        if (kernel.kind != Kernel<T>::without_matrix && wanted(kernel.name)) kernel.run(subject);
    } catch (const Error& error) {
      if (team_) throw;  // the others wait
      report_failure(matrix, name, error.what());
    } catch (const std::bad_alloc&) {
      if (team_) throw;
      report_failure(matrix, name, "out of memory on the host");
    }
  }

  bool wanted(const std::string& kernel) const {
    return std::ranges::find(request_.kernels, kernel) != request_.kernels.end();
  }

  /// A matrix that could not be made, or work that its kernel could not begin.
  void report_failure(const BenchMatrix& matrix, const std::string& precision, const std::string& error) {
    for (const std::string& kernel : request_.kernels) {
      if (has_row(kernel, matrix.name, precision)) continue;
      Row row;
      row.kernel = kernel, row.matrix = matrix.name, row.precision = precision, row.error = error;
      report(row);
    }
  }
  bool has_row(const std::string& kernel, const std::string& matrix, const std::string& precision) const {
    return std::any_of(result_.rows.begin(), result_.rows.end(), [&](const Row& row) {
      return row.kernel == kernel && row.matrix.starts_with(matrix) && row.precision == precision;
    });
  }

  void report(const Row& row) {
    result_.rows.push_back(row);
    say(table_.lines(row, is_solver(row.kernel)));
  }

  /// One process speaks for all.
  static void say(const std::string& text) {
    if (process_leads()) print(text);
  }

  /// After every matrix, so that a run that is cut short leaves what it has measured.
  void write() const {
    if (!command_.out.empty() && process_leads()) atomic_write(command_.out, to_json(result_).dump(2) + "\n");
  }

  const BenchCommand& command_;
  ProcessTeam* team_;  // null: one process
  Case place_;
  StartingContext start_;
  Context& ctx_;
  Request request_;
  RowTable table_;
  Result result_;
};

/// --diff and --markdown only read what was measured before.
void require_no_measurement(const char* option, const BenchCommand& c) {
  if (!c.kernels.empty() || !c.matrices.empty() || !c.suite.empty() || !c.formats.empty() || !c.precisions.empty() ||
      !c.preconditioners.empty() || !c.shapes.empty() || !c.out.empty() || c.warm || c.compare != "none")
    throw InvalidArgument(
        fmt::format("{} measures nothing; leave out kernels, matrices and the other options of a measurement", option));
}

int print_difference(const BenchCommand& command) {
  require_no_measurement("--diff", command);
  const auto before = read_results(command.diff.front()), after = read_results(command.diff.back());
  const auto introduce = [](const std::string& file, const std::vector<Result>& results) {
    for (const Result& r : results)
      print(wrapped(fmt::format("{}: {}, {}, {}", file, r.device, r.commit, r.date), 2) + "\n");
  };
  introduce(command.diff.front(), before);
  introduce(command.diff.back(), after);
  const bool gates = command.fail_on != "none";
  if (before.front().device != after.front().device) {
    if (gates)
      throw InvalidArgument(
          fmt::format("--diff: {} was measured on {}, {} on {}: that is no regression, nor its absence; use --fail-on "
                      "none to see the differences",
                      command.diff.front(), before.front().device, command.diff.back(), after.front().device));
    print("These are different devices.\n");
  }
  const auto changes = compare(before, after, command.tolerance);
  print("\n" + difference_text(changes, command.tolerance));
  return gates && got_worse(changes) ? 1 : 0;
}

}  // namespace

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& kernel : kernels<double>) names.emplace_back(kernel.name);
  return names;
}

/// Not the solvers, which take minutes where kernels take seconds.
std::vector<std::string> default_kernel_names() { return names_of(Kernel<double>::of_a_matrix); }
std::vector<std::string> solver_names() { return names_of(Kernel<double>::solver); }
std::vector<std::string> standalone_kernel_names() { return names_of(Kernel<double>::without_matrix); }

}  // namespace bench

int run_bench(const BenchCommand& command) {
  if (process_team() && (!command.diff.empty() || !command.markdown.empty()))
    throw InvalidArgument("bench: --diff and --markdown are of one process; run it without the launcher");
  if (!command.diff.empty()) return bench::print_difference(command);
  if (!command.markdown.empty()) {
    bench::require_no_measurement("--markdown", command);
    const auto results = bench::read_results(command.markdown);
    print(bench::markdown(results));
    bench::write_pictures(command, results.front());
    return 0;
  }
  return bench::Measurement(command).run();
}

}  // namespace krill::apps
