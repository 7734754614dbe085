#include "apps/commands/solve_sequence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "apps/case/effective.hpp"
#include "apps/case/inputs.hpp"
#include "apps/case/method_text.hpp"
#include "apps/case/steps.hpp"
#include "apps/case/with_scalar.hpp"
#include "apps/commands/voice.hpp"
#include "apps/report/report.hpp"
#include "apps/support/exit_code.hpp"
#include "apps/support/journal.hpp"
#include "apps/support/machine.hpp"
#include "apps/support/print.hpp"
#include "apps/support/terminal.hpp"
#include "apps/system/solve_system.hpp"
#include "apps/verify/second_opinion.hpp"
#include "solvers/method/type_name.hpp"
#include "sparse/core/config.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/io/checksum.hpp"
#include "sparse/io/write_matrix_market.hpp"

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* journal_name = "steps.jsonl";
constexpr const char* last_solution = "solution.mtx";
constexpr double disk_limit = 1e9, bytes_of_number = 25;  ///< of a solution's text, all digits and the end of the line

template <class T>
std::string bytes_checksum(std::span<const T> values) {
  return checksum({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

/// Of the places of the entries of a matrix in CSR.
template <class T>
std::string pattern_of(const AnyMatrix<T>& A) {
  return std::visit(
      []<class Matrix>(const Matrix& a) -> std::string {
        if constexpr (is_csr<Matrix>)
          return checksum(bytes_checksum(a.row_offsets().host()) + bytes_checksum(a.col_indices().host()));
        return {};
      },
      A);
}

/// The steps of this run have, one after the other.
template <class T>
struct Inherited {
  std::optional<SystemSequence<T>> systems;  ///< from the first step that is no more refused
  std::optional<Array<T>> solution;
  std::size_t solved_step = 0;  ///< whose solution that is
};

/// One `krill solve` of a sequence, from the case to the exit code.
class SequenceProgram {
 public:
  SequenceProgram(const SolveCommand& command, Case settings, Interruption& interruption)
      : command_(command), voice_(command, true), interruption_(interruption) {
    record_.settings = std::move(settings);
    record_.folder = folder_of(command, record_.settings.name);
    record_.started_at = utc_now();
    OutputFolder::forget_report(record_.folder);
  }

  int go() {
    steps_.emplace(record_.settings);
    find_keys();
    const OutputFolder folder(record_.folder);
    journal_.emplace(in_folder(journal_name), command_.fresh);
    const std::vector<std::string> kept = resume();
    folder.begin(record_.settings, kept);
    interruption_.is_awaited();
    say_beginning();
    std::exception_ptr end;  // before the last step
    try {
      if (left_ > 0) run_all();
    } catch (const Error&) {
      end = std::current_exception();
    }
    return finish(folder, end);
  }

 private:
  const StepOptions& options() const { return *step_options(record_.settings.sequence); }
  std::string in_folder(const std::string& name) const {
    return (std::filesystem::path(record_.folder) / name).string();
  }
  bool is_asked_to_verify() const { return record_.settings.verify.reference != Reference::none; }

  // What is left to do -------------------------------------------------------------------------------------------

  /// Raises Error where a file is missing.
  void find_keys() {
    const Json all = effective_json(record_.settings);
    Json more{{"verify", all.at("verify")}, {"solution", all.at("output").at("solution")}};
    for (const char* key : {"reuse", "factor", "guess", "solutions"}) more[key] = all.at("sequence").at(key);
    Inputs inputs;
    std::map<std::string, int> times;  // a value may come again: each time is a step of its own
    for (std::size_t k = 0; k < steps_->count(); ++k) {
      const std::string key = inputs.key(steps_->at(k), more);
      const int time = ++times[key];
      keys_.push_back(time == 1 ? key : fmt::format("{}-{}", key, time));
    }
  }

  /// Takes the steps that were finished before out of the journal; returns the files that they have left.
  std::vector<std::string> resume() {
    std::vector<std::string> kept;
    record_.steps.resize(steps_->count());
    for (std::size_t k = 0; k < steps_->count(); ++k) {
      StepResult& step = record_.steps[k];
      try {
        if (const Json* before = journal_->find(keys_[k])) {
          step = step_from(*before);
          step.resumed = step.solution.empty() || (step.solution == solution_name(k) && exists(step.solution));
        }
      } catch (const Json::exception&) {  // written by another version, or damaged
      }
      if (!step.resumed) step = {};
      step.name = steps_->name(k);
      if (!step.solution.empty()) kept.push_back(step.solution);
      left_ += !step.resumed;
    }
    if (left_ < steps_->count() && kept.empty() && record_.settings.output.solution && exists(last_solution))
      kept.emplace_back(last_solution);
    record_.files = kept;
    return kept;
  }
  bool exists(const std::string& name) const {
    std::error_code ignored;
    return std::filesystem::exists(in_folder(name), ignored);
  }

  /// Of the first step that can be read. Raises Error where there is none.
  Precision precision() const {
    for (std::size_t k = 0;; ++k) {
      try {
        return resolve_precision(steps_->at(k));
      } catch (const Error&) {
        if (k + 1 == steps_->count()) throw;
      }
    }
  }

  void say_beginning() const {
    voice_.say(fmt::format("krill {}: {}, {} steps\n", version, record_.settings.name, steps_->count()));
    if (left_ < steps_->count())
      voice_.tell(fmt::format("{} finished before, from {} (--fresh solves them again)", steps_->count() - left_,
                              in_folder(journal_name)));
  }

  // Solving ------------------------------------------------------------------------------------------------------

  void run_all() {
    record_.precision = precision();
    context_.emplace(make_context(record_.settings));
    record_backend(record_, *context_);
    with_scalar(record_.precision, [&]<class T>(T) { run<T>(); });
  }

  template <class T>
  void run() {
    Inherited<T> inherited;
    for (std::size_t k = 0; k < steps_->count() && !interruption_.requested(); ++k) {
      if (record_.steps[k].resumed) continue;
      SolveRecord one;
      run_step(k, one, inherited);
      tell_step(k, one.attempts);
      const std::string& status = record_.steps[k].status;
      if (status == name(Reason::interrupted)) break;
      if (status != "refused") journal_->append(keys_[k], to_json(record_.steps[k]));  // else it may be mended any time
    }
    write_last(inherited);
  }

  template <class T>
  void run_step(std::size_t k, SolveRecord& one, Inherited<T>& inherited) {
    StepResult& step = record_.steps[k];
    try {
      LinearSystem<T> system = load(k, one, inherited);
      solve(k, one, inherited, system);
    } catch (const OutOfMemory&) {
      throw;
    } catch (const NoDevice&) {
      throw;
    } catch (const CudaError&) {
      throw;
    } catch (const Error& error) {
      step.status = "refused", step.why = error.what();
    }
  }

  /// The system of a step, with the method that was chosen for the first one. Raises InvalidArgument where its pattern
  /// is another one.
  template <class T>
  LinearSystem<T> load(std::size_t k, SolveRecord& one, Inherited<T>& inherited) {
    one.settings = steps_->at(k);
    one.precision = record_.precision, one.folder = record_.folder;
    Context reader = Context::host(record_.settings.threads);
    SourceMatrix<T> source = load_matrix<T>(reader, one.settings.matrix, one.timings);
    const std::string pattern = pattern_of(source.A);
    for (std::size_t j = 0; j < steps_->count(); ++j) {
      if (record_.steps[j].pattern.empty()) continue;
      if (record_.steps[j].pattern != pattern)
        throw InvalidArgument(fmt::format(
            "{}: its entries ({} in {} rows) stand in other places than those of step {} ({}); the steps of "
            "a sequence have one pattern: store a 0 where one has no entry, or solve it by itself",
            source.origin.name, source.properties.nnz, source.properties.rows, j + 1, record_.steps[j].name));
      break;
    }
    if (inherited.systems) {
      if (!is_suitable(source)) {
        inherited.systems.reset();
        method_ = first_method_;
        inherited.systems.emplace(method_, options());
      }
      static_cast<SolveOptions&>(one.settings) = method_;
    }
    LinearSystem<T> system = make_system(*context_, one, std::move(source));
    record_.steps[k].pattern = pattern;
    if (!inherited.systems) {
      static_cast<SolveOptions&>(record_.settings) = first_method_ = method_ = one.settings;
      inherited.systems.emplace(method_, options());
      record_.choices = one.choices;
      voice_.describe(one);
    }
    return system;
  }

  /// False where the ladder has chosen the method in an earlier step, and this matrix does not allow it.
  template <class T>
  bool is_suitable(const SourceMatrix<T>& source) const {
    if (!has_climbed_) return true;
    try {
      SolveOptions method = method_;
      choose_method(method, source, context_->on_cuda());
      return true;
    } catch (const InvalidArgument&) {
      return false;
    }
  }

  template <class T>
  void solve(std::size_t k, SolveRecord& one, Inherited<T>& inherited, LinearSystem<T>& system) {
    StepResult& step = record_.steps[k];
    start_from_previous(k, one, inherited, system.x);
    ProgressLine line(voice_.out, voice_.progress_style(), std::string(type_name(method_.solver)));
    const auto prepared = [&] {
      static_cast<SolveOptions&>(one.settings) = method_;
      if (std::exchange(has_said_method_, true)) return;
      one.threads = record_.threads, one.device = record_.device;
      const bool leaves_device = context_->on_cuda() && std::holds_alternative<DirectOptions>(method_.solver);
      voice_.say_method(one, leaves_device ? "the host" : place_text(one));
    };
    const StepSetup setup = solve_step(*context_, *inherited.systems, system, one, prepared, [&](const Sight& sight) {
      line.show(sight);
      return !interruption_.requested();
    });
    line.clear();
    static_cast<SolveOptions&>(one.settings) = setup.method;
    has_climbed_ = has_climbed_ || one.attempts.size() > 1;
    step.made_anew = setup.made_anew, step.setup_why = setup.why;
    book(one, step);
    if (step.status == name(Reason::interrupted)) return;
    if (is_asked_to_verify()) verify(one, system, step);
    if (step.status == name(Reason::converged)) inherited.solution = system.x.clone(), inherited.solved_step = k;
    write_solution(k, system.x);
  }

  /// x of the nearest step before that converged: of this run, or from its file.
  template <class T>
  void start_from_previous(std::size_t k, SolveRecord& one, const Inherited<T>& inherited, Array<T>& x) {
    if (options().guess == StepGuess::initial) return;
    std::size_t before = k;
    while (before > 0 && record_.steps[before - 1].status != name(Reason::converged)) --before;
    if (before-- == 0) return;
    if (inherited.solution && inherited.solved_step == before) {
      if (inherited.solution->size() == x.size()) x = inherited.solution->clone();
      return;
    }
    const std::string& own = record_.steps[before].solution;
    const std::string file = in_folder(own.empty() ? last_solution : own);
    try {
      Columns<T> found = read_vector<T>(file);
      found.rows = static_cast<std::int32_t>(std::ssize(found.values)), found.cols = 1;
      require_vector(file, found, x.size());
      x = Array<T>(std::move(found.values), "x");
    } catch (const Error&) {
      one.notes.emplace_back("the solution of the step before is not there any more: started from initial_guess");
    }
  }

  /// What a solve tells, in the step and in the whole.
  void book(SolveRecord& one, StepResult& step) {
    const SolveReport& r = one.result;
    const Timings& t = one.timings;
    const Advice help = advice(one);
    step.status = name(r.reason), step.why = help.why, step.remedy = help.remedy;
    step.iterations = r.iterations, step.true_relative = r.true_relative, step.target_relative = r.target_relative;
    step.known_error = one.known_error;
    step.read_ms = t.read + t.assemble + t.analyze + t.choose;
    step.setup_ms = t.match + t.scale + t.order + t.convert + t.products + t.preconditioner_setup;
    step.preconditioner_ms = t.preconditioner_setup, step.solve_ms = t.solve;
    step.method = method_text(one.settings), step.attempts = attempts_json(one.attempts);
    step.notes = one.notes;
    Timings sum = record_.timings;
    for (const auto part :
         {&Timings::read, &Timings::assemble, &Timings::analyze, &Timings::choose, &Timings::match, &Timings::scale,
          &Timings::order, &Timings::convert, &Timings::products, &Timings::preconditioner_setup, &Timings::solve})
      sum.*part += t.*part;
    std::vector<ChoiceReason> choices = std::move(record_.choices);
    static_cast<SolveFacts&>(record_) = one;
    static_cast<SolveOptions&>(record_.settings) = one.settings;
    record_.choices = std::move(choices), record_.timings = sum, record_.notes.clear(), record_.attempts.clear();
    record_.origin = one.origin;
  }

  template <class T>
  void verify(SolveRecord& one, const LinearSystem<T>& system, StepResult& step) const {
    if (step.status != name(Reason::converged)) {
      step.verdict = name(Verdict::none);
      return;
    }
    const Judgement found = together(second_opinion(one, system.b.host(), system.x.host()));
    step.verdict = name(found.verdict);
    if (found.verdict != Verdict::pass) step.why = "the solution is not verified: " + found.reason;
  }

  // Writing ------------------------------------------------------------------------------------------------------

  /// "solution_07.mtx" of 20 steps.
  std::string solution_name(std::size_t k) const {
    return fmt::format("solution_{:0{}}.mtx", k + 1, std::to_string(steps_->count()).size());
  }

  template <class T>
  void write_solution(std::size_t k, const Array<T>& x) {
    const double all = static_cast<double>(x.size()) * static_cast<double>(steps_->count()) * bytes_of_number *
                       (is_complex<T> ? 2 : 1);
    const StepSolutions which = options().solutions;
    if (!record_.settings.output.solution || which == StepSolutions::last ||
        (which == StepSolutions::automatic && all > disk_limit))
      return;
    StepResult& step = record_.steps[k];
    if (write_as(solution_name(k), k, x)) step.solution = solution_name(k);
  }

  /// The solution of the last step that converged, where steps have no files of their own.
  template <class T>
  void write_last(const Inherited<T>& inherited) {
    const std::size_t k = inherited.solved_step;
    if (inherited.solution && record_.settings.output.solution && record_.steps[k].solution.empty())
      write_as(last_solution, k, *inherited.solution);
  }

  /// False where the disk does not take it.
  template <class T>
  bool write_as(const std::string& name, std::size_t k, const Array<T>& x) {
    const StepResult& step = record_.steps[k];
    try {
      write_vector(in_folder(name), x.host(), x.size() / record_.matrix.rows,
                   fmt::format("step {}, solution of {} by krill {}: {}, relative residual {:.3e}", k + 1,
                               record_.settings.name, version, step.status, step.true_relative));
    } catch (const Error& error) {
      if (unwritten_.empty()) unwritten_ = error.what();
      return false;
    }
    if (std::ranges::find(record_.files, name) == record_.files.end()) record_.files.push_back(name);
    return true;
  }

  int finish(const OutputFolder& folder, const std::exception_ptr& end) {
    refuse_if_nothing_could_begin(end);
    const bool interrupted = interruption_.requested();
    if (const auto next = std::ranges::find(record_.steps, "not_run", &StepResult::status); next != record_.steps.end())
      if (interrupted && std::ranges::find(record_.steps, "interrupted", &StepResult::status) == record_.steps.end())
        next->status = name(Reason::interrupted), next->why = "a signal (Ctrl-C) ended the sequence";
    for (StepResult& step : record_.steps)
      if (step.status == name(Reason::interrupted)) step.remedy = "The same command goes on from here.";
    sum_up();
    try {
      folder.write_history(record_);
      folder.remove_leftovers(record_);
    } catch (const Error& error) {
      if (unwritten_.empty()) unwritten_ = error.what();
    }
    if (!unwritten_.empty()) record_.notes.push_back(unwritten_);
    record_.timings.total = clock_.milliseconds();
    record_.peak_host_bytes = peak_host_bytes();
    folder.write_report(record_);
    if (command_.json) print(report_text(record_));
    if (!command_.json) voice_.say("\n" + summary(record_, command_.verbose, Paint(voice_.out)));
    if (voice_.silent && exit_code(record_) != 0)
      std::fputs(fmt::format("krill: {}: {}\n", status(record_), advice(record_).why).c_str(), stderr);
    if (end) std::rethrow_exception(end);
    if (!unwritten_.empty()) return std::fputs(fmt::format("krill: {}\n", unwritten_).c_str(), stderr), bad_environment;
    return exit_code(record_);
  }

  /// As a case by itself is refused.
  void refuse_if_nothing_could_begin(const std::exception_ptr& end) const {
    if (std::ranges::any_of(record_.steps, &StepResult::ran)) return;
    if (end) std::rethrow_exception(end);
    if (const auto first = std::ranges::find(record_.steps, "refused", &StepResult::status);
        first != record_.steps.end() && !interruption_.requested())
      throw InvalidArgument(first->why);
  }

  /// The result of the whole is that of the worst step.
  void sum_up() {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    const StepsSummary sum = summed(record_.steps);
    const StepResult& worst = record_.steps[sum.worst];
    record_.result = {};
    record_.result.iterations = sum.iterations;
    record_.result.true_relative = worst.ran() ? worst.true_relative : unknown;
    record_.result.target_relative = worst.ran() ? worst.target_relative : unknown;
    for (double* figure :
         {&record_.result.recurrence_relative, &record_.result.initial_relative, &record_.result.baseline,
          &record_.result.rhs_norm, &record_.residual_norm, &record_.solution_norm, &record_.backward_error})
      *figure = unknown;
    record_.columns.clear();
    for (const StepResult& step : record_.steps)
      if (step.known_error) record_.known_error = std::max(record_.known_error.value_or(0), *step.known_error);
    constexpr std::size_t most_notes = 5;
    for (std::size_t k = 0; k < record_.steps.size(); ++k)
      for (const std::string& note : record_.steps[k].notes)
        if (record_.notes.size() < most_notes) record_.notes.push_back(fmt::format("step {}: {}", k + 1, note));
    if (!is_asked_to_verify()) return;
    record_.verification.state = Verification::State::finished;
    const bool pass = std::ranges::all_of(record_.steps, [](const StepResult& step) { return step.verdict == "PASS"; });
    const bool fail = std::ranges::any_of(record_.steps, [](const StepResult& step) { return step.verdict == "FAIL"; });
    record_.verification.judgement.verdict = pass ? Verdict::pass : fail ? Verdict::fail : Verdict::none;
    if (!pass) record_.verification.judgement.reason = "steps are not verified: steps.each says which";
  }

  // Telling ------------------------------------------------------------------------------------------------------

  void tell_step(std::size_t k, const std::vector<Attempt>& attempts) {
    const StepResult& step = record_.steps[k];
    const std::string which = fmt::format("step {} of {} ({})", k + 1, steps_->count(), step.name);
    if (step.ran())
      voice_.tell(fmt::format("{}: {} after {} iterations, residual {:.2e}; {}", which, step.status, step.iterations,
                              std::abs(step.true_relative), cost_text(step, attempts)));
    else
      voice_.tell(fmt::format("{}: {}{}", which, step.status, step.status == "refused" ? ": " + step.why : ""));
    if (step.climbed())
      for (std::size_t j = 0; j < attempts.size(); ++j)
        voice_.say("    " + wrapped(fmt::format("{}. {}", j + 1, attempt_text(attempts[j])), 7) + "\n");
    const bool first = std::exchange(is_first_, false);
    if (!first || step.good() || step.status == name(Reason::interrupted)) return;
    if (step.status != "refused") voice_.tell("why: " + step.why);
    if (!step.remedy.empty()) voice_.tell("try: " + step.remedy);
    voice_.tell("the other steps follow; Ctrl-C ends them, and what is finished is kept");
    if (voice_.silent) std::fputs(fmt::format("krill: {}: {}: {}\n", which, step.status, step.why).c_str(), stderr);
  }

  /// What the step did to be solved, and its time.
  std::string cost_text(const StepResult& step, const std::vector<Attempt>& attempts) const {
    if (step.climbed()) {
      double ms = 0;
      for (const Attempt& a : attempts) ms += a.milliseconds;
      return fmt::format("{}, {:.0f} ms", step.setup_why, ms);
    }
    if (std::holds_alternative<NoPreconditioner>(method_.preconditioner))
      return fmt::format("{:.0f} ms", step.setup_ms + step.solve_ms);
    const std::string why = step.setup_why.empty() ? "" : " (" + step.setup_why + ")";
    return fmt::format("preconditioner {}{}, {:.0f} ms", step.made_anew ? "made" : "kept", why,
                       step.setup_ms + step.solve_ms);
  }

  const SolveCommand& command_;
  Stopwatch clock_;
  Voice voice_;
  Interruption& interruption_;
  std::optional<CaseSteps> steps_;
  std::vector<std::string> keys_;  ///< of the journal
  std::optional<Journal> journal_;
  std::optional<Context> context_;
  SolveOptions method_;        ///< of the next step, once the first one has chosen
  SolveOptions first_method_;  ///< what the first one has chosen
  std::size_t left_ = 0;       ///< steps that are not finished yet
  bool is_first_ = true, has_said_method_ = false, has_climbed_ = false;
  std::string unwritten_;  ///< what the disk did not take, and why
  SolveRecord record_;
};

}  // namespace

int solve_sequence(const SolveCommand& command, Case settings, Interruption& interruption) {
  return SequenceProgram(command, std::move(settings), interruption).go();
}

}  // namespace krill::apps
