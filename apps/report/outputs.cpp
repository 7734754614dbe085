#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "apps/case/inputs.hpp"
#include "apps/report/convergence_plot.hpp"
#include "apps/report/report.hpp"
#include "solvers/method/type_name.hpp"
#include "sparse/io/atomic_file.hpp"

namespace krill::apps {
namespace {

constexpr std::string_view report_name = "report.json";
constexpr std::array<std::string_view, 7> optional_names{"residuals.csv",   "systems.csv",  "columns.csv", "steps.csv",
                                                         "convergence.svg", "solution.mtx", "steps.svg"};

/// "solution_07.mtx", of a step.
bool names_step_solution(const std::string& name) {
  constexpr std::string_view begin = "solution_", end = ".mtx";
  return name.size() > begin.size() + end.size() && name.starts_with(begin) && name.ends_with(end) &&
         name.find_first_not_of("0123456789", begin.size()) == name.size() - end.size();
}

}  // namespace

int exit_code(const SolveRecord& record) {
  if (!record.steps.empty()) return std::ranges::all_of(record.steps, &StepResult::good) ? 0 : 1;
  if (record.result.reason != Reason::converged) return 1;
  const Verification& v = record.verification;
  return v.state == Verification::State::not_asked || v.judgement.verdict == Verdict::pass ? 0 : 1;
}

std::string_view status(const SolveRecord& record) {
  if (record.steps.empty()) return name(record.result.reason);
  return record.steps[summed(record.steps).worst].status;
}

std::string_view format_used(const SolveRecord& record) {
  if (record.settings.format == Format::automatic) return record.products.method;
  return krill::name(record.settings.format);
}

std::string_view solver_name(const SolveRecord& record) { return type_name(record.settings.solver); }

std::string_view preconditioner_name(const SolveRecord& record) { return type_name(record.settings.preconditioner); }

std::string method_name(const SolveOptions& method) {
  const std::string_view preconditioner = type_name(method.preconditioner);
  return fmt::format("{}{}{}", type_name(method.solver), preconditioner == "none" ? "" : " with ",
                     preconditioner == "none" ? "" : preconditioner);
}

std::string_view ordering_name(const SolveRecord& record) { return type_name(record.settings.ordering); }

std::string_view scaling_name(const SolveRecord& record) { return type_name(record.settings.scaling); }

std::string_view matching_name(const SolveRecord& record) { return type_name(record.settings.matching); }

std::string residuals_csv(const SolveReport& report) {
  std::string text = "iteration,relative_residual,seconds\n";
  for (std::size_t i = 0; i < report.history.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{},{},{:.9f}\n", i, report.history[i], report.history_seconds.at(i));
  return text;
}

std::string residuals_csv(const std::vector<SolveReport>& columns) {
  std::string text = "column,iteration,relative_residual,seconds\n";
  for (std::size_t j = 0; j < columns.size(); ++j)
    for (std::size_t i = 0; i < columns[j].history.size(); ++i)
      fmt::format_to(std::back_inserter(text), "{},{},{},{:.9f}\n", j, i, columns[j].history[i],
                     columns[j].history_seconds.at(i));
  return text;
}

std::string columns_csv(const SolveReport& report) {
  std::string text = "column,status,iterations,true_relative,target_relative,seconds\n";
  for (std::size_t j = 0; j < report.systems.size(); ++j) {
    const SystemResult& column = report.systems[j];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{:.9f}\n", j, name(column.reason), column.iterations,
                   std::abs(column.true_relative), std::abs(column.target_relative), column.seconds);
  }
  return text;
}

std::string systems_csv(const SolveReport& report) {
  std::string text = "system,status,true_relative,zero_pivot_row\n";
  for (std::size_t j = 0; j < report.systems.size(); ++j) {
    const SystemResult& system = report.systems[j];
    fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", j, name(system.reason), system.true_relative,
                   system.pivot_row ? fmt::format("{}", *system.pivot_row) : "");
  }
  return text;
}

OutputFolder::OutputFolder(std::string path) : path_(std::move(path)) {
  make_output_folder(path_);
  const AtomicFile probe(std::filesystem::path(path_) / report_name);  // gone again without a trace
}

void OutputFolder::forget_report(const std::string& path) {
  const auto file = std::filesystem::path(path) / report_name;
  std::error_code ignored;
  if (std::ifstream(file).get() == '{') std::filesystem::remove(file, ignored);  // else it is something else's
}

/// The names of all files that a run may leave here.
std::vector<std::string> OutputFolder::outputs() const {
  std::vector<std::string> names(optional_names.begin(), optional_names.end());
  names.emplace_back(report_name);
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(path_, ignored))
    if (std::string name = file.path().filename().string(); names_step_solution(name)) names.push_back(std::move(name));
  return names;
}

void OutputFolder::begin(const Case& settings, const std::vector<std::string>& kept) const {
  const std::vector<std::string> inputs = input_files(settings);
  const auto* guess = std::get_if<FileGuess>(&settings.initial_guess);
  const auto is_output = [&](const std::string& input, const std::string& name) {
    std::error_code unknown;
    return std::filesystem::equivalent(input, std::filesystem::path(path_) / name, unknown);
  };
  const std::vector<std::string> names = outputs();
  for (const std::string& name : names)  // before any of them goes
    if (std::ranges::any_of(inputs, [&](const auto& file) { return is_output(file, name); }))
      throw InvalidArgument(
          fmt::format("{}: the case reads this file, and its own output would replace it; choose "
                      "another folder with --out",
                      (std::filesystem::path(path_) / name).string()));
  for (const std::string& name : names)
    if (!(guess && is_output(guess->path, name)) && std::ranges::find(kept, name) == kept.end()) remove(name);
}

void OutputFolder::remove(const std::string& name) const {
  std::error_code ignored;
  std::filesystem::remove(std::filesystem::path(path_) / name, ignored);
}

void OutputFolder::write(SolveRecord& record, const std::string& name, std::string_view contents) const {
  atomic_write(std::filesystem::path(path_) / name, contents);
  if (std::ranges::find(record.files, name) == record.files.end()) record.files.push_back(name);
}

void OutputFolder::write_history(SolveRecord& record) const {
  const SolveReport& r = record.result;
  const bool several = std::ranges::any_of(record.steps, &StepResult::climbed);  // methods, none of which is of all
  const std::string title =
      fmt::format("{}: {}{}", record.settings.name, several ? "" : method_name(record.settings) + ", ", status(record));
  if (!record.steps.empty()) {
    if (record.settings.output.history) write(record, "steps.csv", steps_csv(record.steps));
    if (record.settings.output.plot) draw_as(record, "steps.svg", steps_script(title, record.steps));
    return;
  }
  if (record.settings.output.history)
    write(record, "residuals.csv", record.columns.empty() ? residuals_csv(r) : residuals_csv(record.columns));
  if (record.settings.output.history && !record.columns.empty())
    write(record, "columns.csv", columns_csv(r));
  else if (record.settings.output.history && !r.systems.empty())
    write(record, "systems.csv", systems_csv(r));
  if (!record.settings.output.plot) return;
  ConvergencePlot plot{title,           fmt::format("||b - A x|| / {}", norm_of(stop(record.settings.solver).baseline)),
                       r.history,       r.target_relative,
                       r.true_relative, {}};
  for (std::size_t j = 0; j < record.columns.size(); ++j)
    if (j != r.worst_system) plot.others.push_back(record.columns[j].history);
  draw_as(record, "convergence.svg", convergence_script(plot));
}

void OutputFolder::draw_as(SolveRecord& record, const std::string& name, const std::string& script) const {
  const Drawing drawing = draw(script);
  if (drawing.failure.empty())
    write(record, name, drawing.svg);
  else
    record.notes.push_back(drawing.failure);
}

void OutputFolder::remove_leftovers(const SolveRecord& record) const {
  for (const std::string& name : outputs())
    if (name != report_name && std::ranges::find(record.files, name) == record.files.end()) remove(name);
}

void OutputFolder::write_report(SolveRecord& record) const {
  const std::string name(report_name);
  if (std::ranges::find(record.files, name) == record.files.end()) record.files.push_back(name);
  write(record, name, report_text(record));
}

}  // namespace krill::apps
