#include "apps/commands/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "apps/case/case_file.hpp"
#include "apps/case/suggest.hpp"
#include "apps/case/with_scalar.hpp"
#include "apps/commands/commands.hpp"
#include "apps/commands/solve_sequence.hpp"
#include "apps/commands/voice.hpp"
#include "apps/parallel/agreement.hpp"
#include "apps/parallel/starting_context.hpp"
#include "apps/plan/machine_file.hpp"
#include "apps/plan/plan.hpp"
#include "apps/plan/time_plan.hpp"
#include "apps/report/report.hpp"
#include "apps/support/exit_code.hpp"
#include "apps/support/interruption.hpp"
#include "apps/support/machine.hpp"
#include "apps/support/print.hpp"
#include "apps/system/own_rows.hpp"
#include "apps/system/solve_system.hpp"
#include "apps/verify/second_opinion.hpp"
#include "sparse/core/config.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/io/write_matrix_market.hpp"

namespace krill::apps {
namespace {

constexpr const char* while_reading = "\nkrill: interrupted before the solve began; nothing was written\n";
constexpr const char* while_verifying = "\nkrill: interrupted while verifying; the report says so\n";

LoadedCase read_case(const SolveCommand& command) {
  return load_case_file(command.case_path, command.overrides,
                        {command.variant, command.environment, command.backend, command.threads});
}

/// Where the case is refused, an earlier report in its folder would say otherwise.
LoadedCase read_or_forget(const SolveCommand& command, bool leads) {
  try {
    return read_case(command);
  } catch (const CaseError& error) {
    if (leads && (!command.out.empty() || !error.name.empty()))
      OutputFolder::forget_report(folder_of(command, error.name));
    throw;
  }
}

/// One `krill solve` from the loaded case to the exit code.
class SolveProgram {
 public:
  SolveProgram(const SolveCommand& command, LoadedCase loaded, Interruption& interruption)
      : team_(process_team()),
        leads_(process_leads()),
        voice_(command, leads_),
        interruption_(interruption),
        json_(command.json && leads_),
        verbose_(command.verbose) {
    if (command.variant.empty()) variants_ = std::move(loaded.variants);
    record_.settings = std::move(loaded.settings);
    record_.folder = folder_of(command, record_.settings.name);
    if (team_) {
      const int threads = record_.settings.threads;
      record_.rank_places = settle_with_team(*team_, record_.settings, record_.notes);
      rank_cores_ = gather_records(*team_, cores_of_rank(*team_, threads));
    }
    if (leads_)
      OutputFolder::forget_report(record_.folder);  // what ends this run from here on leaves no other run's word
  }

  int go() {
    start_.emplace(team_, record_.settings);  // meanwhile the host reads
    std::optional<OutputFolder> folder;
    if (leads_) folder.emplace(record_.folder).begin(record_.settings);
    begin_record(record_);
    return with_scalar(record_.precision, [&]<class T>(T) { return solve<T>(folder ? &*folder : nullptr); });
  }

 private:
  /// folder: null where another rank writes.
  template <class T>
  int solve(const OutputFolder* folder) {
    voice_.say(
        fmt::format("krill {}: {}, matrix {}\n", version, record_.settings.name, source_name(record_.settings.matrix)));
    if (!variants_.empty())
      voice_.tell(fmt::format("without its variants; --variant NAME takes one: {}", enumerate(variants_, ", ")));
    Context reader = Context::host(record_.settings.threads);
    reader.restart_memory_peak();
    SourceMatrix<T> source = team_ ? load_in_team<T>(reader, *team_, record_)
                                   : load_matrix<T>(reader, record_.settings.matrix, record_.timings);
    Context& ctx = start_->get();
    if (team_) {
      require_same(*team_, source.origin);
      record_.transport = team_->device_transport();
      if (const std::string slow = slow_transport(*team_, record_.settings.parallel.transport); !slow.empty())
        record_.notes.push_back(slow);
      if (std::string few = few_cores(rank_cores_, source.properties.nnz); !few.empty())
        record_.notes.push_back(std::move(few));
    }
    record_backend(record_, ctx);
    if (ctx.on_cuda()) ctx.restart_memory_peak();
    LinearSystem<T> system = make_system(ctx, record_, std::move(source));
    describe(system.b.size() / record_.matrix.rows);
    run_solver(ctx, system);
    if (team_) ctx.synchronize(), team_->leave_devices();
    if (!folder) return exit_code_of_other_rank();
    if (team_ && record_.device) note_where_one_is_quicker<T>();
    const std::string unwritten = write_files(*folder, system);
    if (record_.settings.verify.reference != Reference::none) {
      // A judge that is cut short, by a signal or by the system for want of memory, leaves a report that says so.
      record_.verification = {Verification::State::not_run, "interrupted while verifying", {}};
      write_report(*folder);
      verify(system);
    }
    write_report(*folder);
    if (json_) print(report_text(record_));
    if (!json_) voice_.say("\n" + summary(record_, verbose_, Paint(voice_.out)));
    if (voice_.silent && exit_code(record_) != 0)
      std::fputs(fmt::format("krill: {}: {}\n", name(record_.result.reason), advice(record_).why).c_str(), stderr);
    if (unwritten.empty()) return exit_code(record_);
    std::fputs(fmt::format("krill: {}\n", unwritten).c_str(), stderr);
    return bad_environment;
  }

  /// Devices that nothing is known of get no note.
  template <class T>
  void note_where_one_is_quicker() {
    const std::string file = shipped_machine(true);
    if (file.empty()) return;
    if (std::string note = slower_than_one<T>(read_machine(file), record_); !note.empty())
      record_.notes.push_back(std::move(note));
  }

  /// What rank 0 verifies and writes is its business.
  int exit_code_of_other_rank() const { return record_.result.reason == Reason::converged ? success : not_converged; }

  void describe(std::int64_t columns) {
    const MatrixProperties& m = record_.matrix;
    if (const std::int32_t systems = systems_of(record_.settings.solver); systems > 0)
      voice_.say(fmt::format("  {} systems of {} rows, one after the other\n", systems, m.rows / systems));
    if (columns > 1) voice_.say(fmt::format("  {} right-hand sides, one after the other, with one set-up\n", columns));
    voice_.describe(record_);
  }

  template <class T>
  void run_solver(Context& ctx, LinearSystem<T>& system) {
    ProgressLine line(voice_.out, voice_.progress_style(), std::string(solver_name(record_)));
    const auto prepared = [&] {
      voice_.say_method(record_,
                        team_ ? team_text(team_->size(), record_.device, record_.threads) : place_text(record_));
      interruption_.is_awaited();
    };
    solve_system(
        ctx, system, record_, prepared,
        [&](const Sight& sight) {
          line.show(sight);
          return !interruption_.requested();
        },
        [&](std::size_t column, const SolveReport& report) {
          line.clear();
          tell_column(column, report, system.b.size() / record_.matrix.rows);
        });
  }

  /// Each of a few right-hand sides as it ends, of many those that fail.
  void tell_column(std::size_t column, const SolveReport& report, std::int64_t count) const {
    constexpr std::int64_t few = 10;
    if (count > few && report.reason == Reason::converged) return;
    voice_.tell(fmt::format("column {} of {}: {} after {} iterations, residual {:.2e}", column, count,
                            name(report.reason), report.iterations, std::abs(report.true_relative)));
  }

  /// What could not be written, on a full disk say, and why; the report, which is small, is tried nevertheless.
  template <class T>
  std::string write_files(const OutputFolder& folder, const LinearSystem<T>& system) {
    std::string failure;
    const auto attempt = [&](const auto& write) {
      try {
        write();
      } catch (const Error& error) {
        if (failure.empty()) failure = error.what();
        record_.notes.emplace_back(error.what());
      }
    };
    attempt([&] { folder.write_history(record_); });
    if (record_.settings.output.solution)
      attempt([&] {
        write_vector(std::filesystem::path(folder.path()) / "solution.mtx", system.x.host(),
                     std::max<std::int64_t>(1, std::ssize(record_.result.systems)),
                     fmt::format("solution of {} by krill {}: {}, relative residual {:.3e}", record_.settings.name,
                                 version, name(record_.result.reason), record_.result.true_relative));
        record_.files.emplace_back("solution.mtx");
      });
    folder.remove_leftovers(record_);
    return failure;
  }

  template <class T>
  void verify(const LinearSystem<T>& system) {
    Verification& v = record_.verification;
    const bool none_converged = record_.result.reason != Reason::converged &&
                                std::ranges::none_of(record_.columns, [](const SolveReport& column) {
                                  return column.reason == Reason::converged;
                                });
    if (none_converged || interruption_.requested()) {
      v.why_not = interruption_.requested() ? "not run: interrupted" : "not run: the solve did not converge";
      return;
    }
    voice_.say("  verifying by Eigen\n");
    interruption_.ends_at_once(while_verifying);
    std::vector<Judgement> found = second_opinion(record_, system.b.host(), system.x.host());
    v.judgement = together(found);
    if (!record_.columns.empty()) v.columns = std::move(found);
    v.state = Verification::State::finished;
    interruption_.is_awaited();
  }

  void write_report(const OutputFolder& folder) {
    record_.timings.total = clock_.milliseconds();
    record_.peak_host_bytes = peak_host_bytes();
    if (!record_.on_cuda)  // memory that no page was written of yet is no part of what the system counts
      record_.peak_host_bytes = std::max(record_.peak_host_bytes, record_.memory_peak_bytes);
    folder.write_report(record_);
  }

  ProcessTeam* team_;                  // null: one process
  std::vector<RankCores> rank_cores_;  // of a team
  bool leads_;                         // speaks, and writes the files
  Stopwatch clock_;
  std::optional<StartingContext> start_;
  Voice voice_;
  Interruption& interruption_;
  bool json_, verbose_;
  std::vector<std::string> variants_;  // which the case has, and which were not asked for
  SolveRecord record_;
};

}  // namespace

std::string folder_of(const SolveCommand& command, const std::string& name) {
  return command.out.empty() ? "out/" + name : command.out;
}

int run_solve(const SolveCommand& command) {
  if (command.ranks < 1)
    throw InvalidArgument(fmt::format("--ranks {}: expected a number of processes", command.ranks));
  if (command.ranks > 1 && !command.plan)
    throw InvalidArgument("--ranks is for --plan; mpirun -n N krill solve CASE starts N processes");
  if (!command.machine.empty() && (!command.plan || command.ranks == 1))
    throw InvalidArgument(
        "--machine is for --plan with --ranks N, N > 1: what the time of an iteration is predicted by");
  if (command.plan && process_team())
    throw InvalidArgument("solve --plan: it is of one process; run it without the launcher");
  if (command.plan) {
    const MemoryPlan plan = plan_memory(read_case(command).settings, command.ranks, command.machine);
    print(command.json ? plan_json(plan).dump(2) + "\n" : plan_text(plan));
    const std::string lack = lack_of_memory(plan);
    return lack.empty() ? success : (complain(lack), bad_environment);
  }
  const bool leads = process_leads();
  Interruption interruption(leads ? while_reading : "");
  LoadedCase loaded = read_or_forget(command, leads);
  if (!step_options(loaded.settings.sequence)) return SolveProgram(command, std::move(loaded), interruption).go();
  if (process_team())
    throw InvalidArgument("sequence: it is solved by one process as yet; run it without the launcher");
  return solve_sequence(command, std::move(loaded.settings), interruption);
}

}  // namespace krill::apps
