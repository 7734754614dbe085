#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "apps/case/case_file.hpp"
#include "apps/case/steps.hpp"
#include "apps/case/with_scalar.hpp"
#include "apps/commands/commands.hpp"
#include "apps/parallel/starting_context.hpp"
#include "apps/report/gnuplot.hpp"
#include "apps/support/exit_code.hpp"
#include "apps/support/machine.hpp"
#include "apps/support/print.hpp"
#include "apps/support/terminal.hpp"
#include "apps/system/linear_system.hpp"
#include "apps/verify/case_path.hpp"
#include "apps/verify/gallery.hpp"
#include "apps/verify/verification.hpp"
#include "sparse/io/atomic_file.hpp"

namespace krill::apps {
namespace {

using verify::Check;
using verify::Ledger;

constexpr std::int64_t max_shown_failures = 10;

/// One `krill verify`.
class VerifyProgram {
 public:
  explicit VerifyProgram(const VerifyCommand& command)
      : command_(command),
        team_(process_team()),
        leads_(process_leads()),
        silent_(command.quiet || !leads_),
        out_(command.json ? stderr : stdout) {
    run_.started_at = utc_now();
    if (team_) run_.ranks = team_->size();
    run_.ledger = Ledger([this](const Check& check) { saw(check); });
  }

  int go() {
    StartingContext start = prepare();
    Context& ctx = start.get();
    run_.threads = ctx.threads();
    if (team_ && run_.settings)
      if (const std::string slow = slow_transport(*team_, run_.settings->parallel.transport); !slow.empty())
        notes_.push_back(slow);
    folder_ = command_.out.empty() ? "out/verify-" + run_.name : command_.out;
    if (leads_) make_folder();
    try {
      run_.settings ? verify_one(ctx, *run_.settings) : verify_all(ctx);
    } catch (const CudaError& error) {
      if (team_) throw;  // the others wait
      run_.ended_early = error.what();
      run_.ledger.fail(run_.ledger.current(), run_.ended_early);
    }
    clear_line();
    if (!leads_) return success;
    run_.seconds = clock_.milliseconds() / 1000;
    finish();
    return exit_code(run_);
  }

 private:
  /// Reads the case, where there is one, of a sequence the first step, before any device is asked for.
  StartingContext prepare() {
    Case settings;
    if (command_.all) {
      run_.name = "all";
      settings.backend = command_.backend == "host"   ? Backend::host
                         : command_.backend == "cuda" ? Backend::cuda
                                                      : Backend::automatic;
      settings.threads = command_.threads;
    } else {
      const Reading reading{command_.variant, command_.environment, command_.backend, command_.threads};
      settings = load_case_file(command_.case_path, command_.overrides, reading).settings;
      if (step_options(settings.sequence)) settings = CaseSteps(settings).at(0);
      run_.name = settings.name;
      if (team_) {
        settle_with_team(*team_, settings, notes_);
        team_->set_timeout(std::max(settings.parallel.timeout, ProcessTeam::timeout_of_lone_work));
      }
      run_.settings = settings;
    }
    StartingContext start(team_, settings);
    if (start.get().on_cuda()) run_.device = device::info(settings.device);
    return start;
  }

  void make_folder() const {
    make_output_folder(folder_);
    const auto report = std::filesystem::path(folder_) / "verification.json";
    const AtomicFile probe(report);  // gone again without a trace
    std::error_code ignored;
    std::filesystem::remove(report, ignored);  // an earlier run's, which would stay if this one is cut short
  }

  void verify_one(Context& ctx, const Case& settings) {
    run_.precision = resolve_precision(settings);
    say(fmt::format("{}, {}\n", run_.name, precision_names[static_cast<std::size_t>(run_.precision)]));
    for (const std::string& note : notes_) say("  " + wrapped(note, 4) + "\n");
    say("\n" + verify::check_head());
    with_scalar(run_.precision, [&]<class T>(T) {
      team_ ? verify::verify_shared_case<T>(run_.ledger, *team_, ctx, settings, [&] { team_->leave_devices(); })
            : verify::verify_case<T>(run_.ledger, ctx, settings);
    });
  }

  void verify_all(Context& ctx) {
    verify::verify_gallery(run_.ledger, ctx, [&](const std::string& subject, int number, int of) {
      if (command_.quiet || !is_live(out_)) return;
      std::fputs(("\r\x1b[K" + fmt::format("  {} of {}: {}", number, of, subject).substr(0, columns(out_) - 1)).c_str(),
                 out_);
      std::fflush(out_);
    });
  }

  void saw(const Check& check) {
    if (!command_.all) {
      if (check.group != group_) say(paint_.heading(check.group) + "\n");
      group_ = check.group;
      say(verify::check_line(check, paint_));
    }
    if (check.result.verdict != Verdict::fail || failures_++ >= max_shown_failures) return;
    clear_line();
    std::fputs(verify::failure_text(check, command_.quiet ? Paint(stderr) : paint_).c_str(),
               command_.quiet ? stderr : out_);
  }

  void clear_line() const {
    if (command_.all && !command_.quiet && is_live(out_)) std::fputs("\r\033[K", out_);
  }

  void finish() {
    const auto path = std::filesystem::path(folder_);
    std::string files = "verification.json", note;
    std::error_code ignored;
    std::filesystem::remove(path / "residuals.svg", ignored);  // of an earlier run
    const bool plot = run_.settings && run_.settings->output.plot;
    if (const std::string script = plot ? verify::curves_script(run_) : ""; !script.empty()) {
      const Drawing drawing = draw(script);
      if (drawing.failure.empty()) atomic_write(path / "residuals.svg", drawing.svg), files += ", residuals.svg";
      note = drawing.failure;
    }
    const std::string text =
        verification_json(run_).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    atomic_write(path / "verification.json", text);
    say("\n" + verify::group_table(run_.ledger) + "\n" + verify::verdict_line(run_, paint_));
    if (failures_ > max_shown_failures)
      say(fmt::format("  {} failures in detail, all of them in verification.json\n", max_shown_failures));
    if (!note.empty()) say("  " + wrapped(note, 4) + "\n");
    say(fmt::format("  files: {}/: {}\n", folder_, files));
    if (command_.json) print(text);
  }

  void say(const std::string& text) const {
    if (silent_) return;
    std::fputs(text.c_str(), out_);
    std::fflush(out_);
  }

  const VerifyCommand& command_;
  ProcessTeam* team_;  // null: one process
  bool leads_, silent_;
  std::FILE* out_;
  Paint paint_{out_};
  Stopwatch clock_;
  verify::VerifyResult run_;
  std::vector<std::string> notes_;  // of what the team settled
  std::string folder_;
  std::string group_;  ///< of the last check
  std::int64_t failures_ = 0;
};

}  // namespace

int run_verify(const VerifyCommand& command) {
  if (command.all != command.case_path.empty())
    throw InvalidArgument(command.all ? "verify: --all takes no case: it goes through matrices of its own"
                                      : "verify: a case is missing; expected CASE, or --all for the gallery");
  if (command.all && !(command.overrides.empty() && command.variant.empty()))
    throw InvalidArgument("verify: --set and --variant change a case, and --all has none");
  if (command.all && process_team())
    throw InvalidArgument(
        "verify --all: one process goes through it; run krill verify --all without the launcher, or, on several ranks, "
        "mpirun -n N krill verify CASE");
  return VerifyProgram(command).go();
}

}  // namespace krill::apps
