#include "apps/evaluate/evaluate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "apps/case/effective.hpp"
#include "apps/case/inputs.hpp"
#include "apps/case/yaml_tree.hpp"
#include "apps/evaluate/evaluation.hpp"
#include "apps/evaluate/names.hpp"
#include "apps/evaluate/runner.hpp"
#include "apps/report/report.hpp"
#include "apps/support/exit_code.hpp"
#include "apps/support/journal.hpp"
#include "apps/support/machine.hpp"
#include "apps/support/print.hpp"
#include "sparse/core/config.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/io/atomic_file.hpp"
#include "sparse/io/numbers.hpp"

namespace krill::apps::evaluate {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* while_reading = "\nkrill: interrupted before the sweep began; nothing was written\n";
constexpr int max_rounds = 3;           ///< of measuring a finalist
constexpr double for_finals = 1.0 / 6;  ///< of the budget
constexpr double longest_final = 2000;  ///< milliseconds of a run that is measured again

class Evaluator {
 public:
  Evaluator(const EvaluateCommand& command, Interruption& interruption)
      : command_(command),
        interruption_(interruption),
        sweep_(command.input),
        folder_(command.out.empty() ? "out/" + sweep_.options().name : command.out),
        out_(command.json ? stderr : stdout),
        runner_(interruption) {
    all_.options = sweep_.options();
    all_.started_at = utc_now();
  }

  int go() {
    if (const std::string here = std::filesystem::current_path().string(); text_length(here) != here.size())
      throw InvalidArgument(fmt::format(
          "{}: the name of the current folder is not UTF-8 text, which best.yaml cannot hold; start from another one",
          visible(here)));
    for (std::size_t point = 0; point < sweep_.points(); ++point) inputs_.require(sweep_.sample(point));
    const OutputFolder made(folder_);
    journal_ = std::make_unique<Journal>(folder_ + "/evaluation.jsonl", command_.fresh);
    interruption_.is_awaited();
    std::string disk;
    try {
      plan();
      measure_all();
      measure_finals();
    } catch (const JournalError& error) {
      disk = error.what();
      all_.status = "disk_failed";
      for (Run& run : all_.runs)
        if (!run.outcome.finished()) run.outcome = failure("not_run", "the disk took no more results");
    }
    runner_.close();
    return finish(disk);
  }

 private:
  // What has to be run -------------------------------------------------------------------------------------------

  void plan() {
    std::vector<Case> cases, unnamed;
    std::vector<std::string> given;
    std::set<std::string> known;
    for (std::size_t point = 0; point < sweep_.points() && !interruption_.requested(); ++point)
      for (Variant& variant : sweep_.variants(point, portfolio_for(sweep_.sample(point)))) {
        if (!known.insert(system_part(variant.settings).dump() + method_part(variant.settings).dump()).second) continue;
        if (variant.name.empty()) unnamed.push_back(variant.settings);
        cases.push_back(std::move(variant.settings));
        given.push_back(std::move(variant.name));
      }
    const Names names(cases, unnamed);
    for (std::size_t r = 0; r < cases.size(); ++r) {
      const std::size_t system = system_of(cases[r], names);
      all_.systems[system].runs.push_back(r);
      Run run{given[r].empty() ? names.method(cases[r]) : given[r], system, cases[r], inputs_.key(cases[r], {}), {}};
      run.settings.name = all_.options.name;
      all_.runs.push_back(std::move(run));
    }
    for (Run& run : all_.runs)
      if (auto known_outcome = finished_before(run.key); known_outcome && still_good(*known_outcome)) {
        run.outcome = std::move(*known_outcome);
        run.resumed = true;
      }
    say(fmt::format("krill {}: {}, {} {} of {} {}\n", version, all_.options.name, all_.runs.size(),
                    all_.runs.size() == 1 ? "variant" : "variants", all_.systems.size(),
                    all_.systems.size() == 1 ? "system" : "systems"));
    if (const auto done = std::ranges::count_if(all_.runs, &Run::resumed))
      say(fmt::format("  {} finished before, from {}\n", done, folder_ + "/evaluation.jsonl"));
  }

  std::optional<Outcome> finished_before(const std::string& key) const {
    const Json* outcome = journal_->find(key);
    try {
      if (outcome) return outcome_from(*outcome);
    } catch (const Json::exception&) {  // written by another version, or damaged
    }
    return {};
  }

  std::vector<std::string> portfolio_for(const Case& sample) {
    if (all_.options.portfolio == Portfolio::none) return {};
    const auto kind = runner_.kind(sample);
    std::vector<std::string> texts =
        portfolio(all_.options.portfolio, kind.value_or(SystemKind::general), grid_of(sample.matrix).has_value());
    if (kind) texts.insert(texts.begin(), runner_.chosen().begin(), runner_.chosen().end());
    return texts;
  }

  std::size_t system_of(const Case& settings, const Names& names) {
    const Json part = system_part(settings);
    for (std::size_t s = 0; s < all_.systems.size(); ++s)
      if (all_.systems[s].part == part) return s;
    all_.systems.push_back({names.system(settings), part, {}});
    return all_.systems.size() - 1;
  }

  /// A variant that ran out of time gets another chance where there is more of it.
  bool still_good(const Outcome& o) const {
    const bool out_of_time = o.status == "time_limit" || o.status == "too_long";
    return !out_of_time || o.limit_s >= all_.options.time_limit;
  }

  // Running ------------------------------------------------------------------------------------------------------

  double seconds() const { return 1e-3 * clock_.milliseconds(); }
  double budget_left() const {
    return all_.options.budget > 0 ? all_.options.budget - seconds() : std::numeric_limits<double>::infinity();
  }
  /// What is left before the best are measured again.
  double left_for_all() const { return budget_left() - for_finals * all_.options.budget; }

  using Groups = std::vector<std::vector<std::size_t>>;

  /// Runs with one matrix each, without those that were finished before.
  Groups groups() const {
    Groups all;
    std::map<std::string, std::size_t> places;
    for (std::size_t r = 0; r < all_.runs.size(); ++r) {
      if (all_.runs[r].resumed) continue;
      const auto [at, is_new] = places.try_emplace(Runner::group(all_.runs[r].settings), all.size());
      if (is_new) all.emplace_back();
      all[at->second].push_back(r);
    }
    return all;
  }

  /// Every matrix has its share of the budget; what had no room there is run when all have had theirs.
  void measure_all() {
    std::size_t number = 0;
    Groups left = groups();
    while (!left.empty() && left_for_all() > 0 && !interruption_.requested()) left = measure_shares(left, number);
    const Outcome why = interruption_.requested()
                            ? failure("not_run", "interrupted")
                            : failure("not_run", fmt::format("the budget of {:.3g} s was spent", all_.options.budget),
                                      "Run the sweep again: what is finished is not run again.");
    for (const auto& group : left)
      for (const std::size_t r : group) {
        all_.runs[r].outcome = why;
        say(progress(all_.runs[r], ++number));
      }
    if (!left.empty()) all_.status = interruption_.requested() ? "interrupted" : "out_of_budget";
  }

  /// Returns what did not fit into the shares.
  Groups measure_shares(const Groups& groups, std::size_t& number) {
    Groups left;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const double share_ends = seconds() + left_for_all() / static_cast<double>(groups.size() - g);
      std::vector<std::size_t> rest;
      for (const std::size_t r : groups[g]) {
        Run& run = all_.runs[r];
        run.outcome = failure("not_run", "");
        if (!interruption_.requested() && seconds() < share_ends) run.outcome = measure(run.settings);
        if (!run.outcome.finished()) {
          rest.push_back(r);
          continue;
        }
        keep(run);
        say(progress(run, ++number));
      }
      if (!rest.empty()) left.push_back(std::move(rest));
    }
    return left;
  }

  void keep(const Run& run) {
    if (run.outcome.status == "no_matrix" || run.outcome.status == "no_device") return;  // may be mended any time
    journal_->append(run.key, to_json(run.outcome));
  }

  /// Those that compete for the first place are measured again, in turns, so that a slow minute of the machine hits
  /// all of them.
  void measure_finals() {
    for (const System& system : all_.systems)
      while (measure_final_round(system)) {
      }
    if (interruption_.requested()) all_.status = "interrupted";
  }

  /// One more measurement for each that is among the best now; false where nothing was left to do.
  bool measure_final_round(const System& system) {
    bool measured = false;
    const auto close = finalists(all_, system);
    if (close.size() < 2) return false;
    for (const std::size_t r : close) {
      Run& run = all_.runs[r];
      if (run.outcome.rounds >= max_rounds || run.outcome.total(1) > longest_final) continue;
      if (interruption_.requested() || budget_left() <= 0) return false;
      const Outcome again = measure(run.settings);
      ++run.outcome.rounds;
      if (again.converged())
        run.outcome.samples.insert(run.outcome.samples.end(), again.samples.begin(), again.samples.end());
      if (!interruption_.requested()) keep(run);
      measured = true;
    }
    return measured;
  }

  Outcome measure(const Case& settings) {
    const double limit = std::min(all_.options.time_limit, std::max(0.01, budget_left()));
    return runner_.measure(settings, all_.options.repeats, limit);
  }

  // Telling ------------------------------------------------------------------------------------------------------

  void say(const std::string& text) const {
    if (command_.quiet) return;
    std::fputs(text.c_str(), out_);  // a terminal that is gone must not end a sweep
    std::fflush(out_);
  }

  std::string progress(const Run& run, std::size_t number) const {
    const Outcome& o = run.outcome;
    const std::size_t total =
        all_.runs.size() - static_cast<std::size_t>(std::ranges::count_if(all_.runs, &Run::resumed));
    const std::string where = all_.systems.size() > 1 ? all_.systems[run.system].name + ", " : "";
    const std::string what = o.converged() ? fmt::format("{} iterations, set-up {}, solve {}", o.iterations,
                                                         time_text(o.setup().median), time_text(o.solve().median))
                                           : fmt::format("{}: {}", o.status, o.why.substr(0, o.why.find('\n')));
    const std::string head = fmt::format("  [{:>{}}/{}] ", number, std::to_string(total).size(), total);
    return head + wrapped(fmt::format("{}{}: {}", where, run.method, what), head.size()) + "\n";
  }

  int finish(const std::string& disk) {
    all_.seconds = seconds();
    all_.environment = {{"processor", processor()},
                        {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
                        {"memory_bytes", static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                             static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE))},
                        {"device", runner_.device().empty() ? Json() : Json(runner_.device())}};
    refuse_if_nothing_could_begin();
    const Json json = evaluation_json(all_);
    const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    std::string failed = disk;
    try {
      write("evaluation.json", text);
      write("evaluation.csv", evaluation_csv(all_));
      write("evaluation.html", evaluation_page(json));
      write_best();
    } catch (const Error& error) {
      failed += (failed.empty() ? "" : "\n") + std::string(error.what());
    }
    say(evaluation_text(all_, Paint(out_)));
    if (command_.json) print(text);
    if (!failed.empty()) {
      std::fputs(fmt::format("krill: {}\n  what was finished is in {}/evaluation.jsonl; where there is room for the "
                             "rest, the same command goes on from there\n",
                             failed, folder_)
                     .c_str(),
                 stderr);
      return bad_environment;
    }
    say(fmt::format("\n{}/: evaluation.html, evaluation.json, evaluation.csv{}\n", folder_,
                    best_run(all_) ? ", best.yaml" : ""));
    if (all_.status == "interrupted") {
      std::fputs("krill: interrupted; the same command goes on from here\n", stderr);
      return not_converged;
    }
    return std::ranges::any_of(all_.runs, [](const Run& run) { return run.outcome.converged(); }) ? success
                                                                                                  : not_converged;
  }

  /// A sweep of which no matrix can be read is bad input, and one without its device a bad environment, as a case is.
  void refuse_if_nothing_could_begin() const {
    const auto all_are = [&](std::string_view status) {
      return !all_.runs.empty() &&
             std::ranges::all_of(all_.runs, [&](const Run& run) { return run.outcome.status == status; });
    };
    if (all_are("no_matrix")) throw Error(all_.runs.front().outcome.why);
    if (all_are("no_device")) throw NoDevice(all_.runs.front().outcome.why);
  }

  void write(const std::string& name, const std::string& text) const {
    atomic_write(std::filesystem::path(folder_) / name, text);
  }

  void write_best() const {
    const auto best = best_run(all_);
    std::error_code ignored;
    if (!best) {
      std::filesystem::remove(std::filesystem::path(folder_) / "best.yaml", ignored);
      return;
    }
    const Run& run = all_.runs[*best];
    Case settings = run.settings;
    settings.name += "_best";
    std::string text = fmt::format(
        "# {}\n# for {}: what krill evaluate found best for one solve on {}.\n# Run it: krill solve best.yaml\n",
        run.method, all_.systems[run.system].name, all_.started_at.substr(0, 10));
    write("best.yaml", text + brief_yaml(settings, folder_));
  }

  EvaluateCommand command_;
  Interruption& interruption_;
  Stopwatch clock_;
  Sweep sweep_;
  std::string folder_;
  std::FILE* out_;
  Inputs inputs_;
  std::unique_ptr<Journal> journal_;
  Evaluation all_;
  Runner runner_;
};

}  // namespace

int run_evaluate(const EvaluateCommand& command) {
  Interruption interruption(while_reading);
  return Evaluator(command, interruption).go();
}

int run_worker_command(const WorkerCommand& command) { return run_worker(command.parent); }

}  // namespace krill::apps::evaluate
