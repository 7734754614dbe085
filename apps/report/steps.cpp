#include "apps/report/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "apps/report/gnuplot.hpp"

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;

double figure(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// A field of a CSV file, in quotes where it has to be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// Data of a plot: a line "step value" for each step that is meant.
template <class Meant, class Value>
std::string plot_data(const char* name, const std::vector<StepResult>& steps, Meant&& meant, Value&& value) {
  std::string data = fmt::format("${} << EOD\n", name);
  for (std::size_t k = 0; k < steps.size(); ++k)
    if (meant(steps[k])) fmt::format_to(std::back_inserter(data), "{} {:.6g}\n", k + 1, value(steps[k]));
  return data + "EOD\n";
}

}  // namespace

StepsSummary summed(const std::vector<StepResult>& steps) {
  StepsSummary sum;
  const auto is_worse = [](const StepResult& a, const StepResult& b) {
    return a.good() != b.good() ? b.good() : a.good() && a.true_relative > b.true_relative;
  };
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const StepResult& step = steps[k];
    sum.good += step.good(), sum.resumed += step.resumed, sum.made_anew += step.made_anew;
    if (is_worse(step, steps[sum.worst])) sum.worst = k;
    sum.iterations += step.iterations;
    sum.read_ms += step.read_ms, sum.setup_ms += step.setup_ms, sum.solve_ms += step.solve_ms;
    sum.preconditioner_ms += step.preconditioner_ms;
  }
  return sum;
}

nlohmann::ordered_json to_json(const StepResult& s) {
  return {{"status", s.status},
          {"name", s.name},
          {"why", s.why},
          {"remedy", s.remedy},
          {"iterations", s.iterations},
          {"true_relative", s.true_relative},
          {"target_relative", s.target_relative},
          {"known_error", s.known_error ? Json(*s.known_error) : Json()},
          {"verdict", s.verdict},
          {"made_anew", s.made_anew},
          {"setup_why", s.setup_why},
          {"method", s.method},
          {"attempts", s.attempts},
          {"read_ms", s.read_ms},
          {"setup_ms", s.setup_ms},
          {"preconditioner_ms", s.preconditioner_ms},
          {"solve_ms", s.solve_ms},
          {"pattern", s.pattern},
          {"solution", s.solution},
          {"notes", s.notes}};
}

StepResult step_from(const nlohmann::ordered_json& json) {
  StepResult s;
  json.at("status").get_to(s.status);
  json.at("name").get_to(s.name);
  json.at("why").get_to(s.why);
  json.at("remedy").get_to(s.remedy);
  json.at("iterations").get_to(s.iterations);
  s.true_relative = figure(json, "true_relative"), s.target_relative = figure(json, "target_relative");
  if (json.at("known_error").is_number()) s.known_error = figure(json, "known_error");
  json.at("verdict").get_to(s.verdict);
  json.at("made_anew").get_to(s.made_anew);
  json.at("setup_why").get_to(s.setup_why);
  json.at("method").get_to(s.method);
  s.attempts = json.at("attempts");
  s.read_ms = figure(json, "read_ms"), s.setup_ms = figure(json, "setup_ms");
  s.preconditioner_ms = figure(json, "preconditioner_ms"), s.solve_ms = figure(json, "solve_ms");
  json.at("pattern").get_to(s.pattern);
  json.at("solution").get_to(s.solution);
  json.at("notes").get_to(s.notes);
  return s;
}

nlohmann::ordered_json steps_json(const std::vector<StepResult>& steps) {
  if (steps.empty()) return {};
  constexpr std::size_t most = 1000;
  std::map<std::string, std::int64_t> statuses;
  for (const StepResult& step : steps) ++statuses[step.status];
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > most) {
    std::ranges::stable_partition(order, [&](std::size_t k) { return !steps[k].good(); });
    order.resize(most);
  }
  Json each = Json::array();
  for (const std::size_t k : order) {
    Json one{{"step", k + 1}, {"from_journal", steps[k].resumed}};
    one.update(to_json(steps[k]));
    each.push_back(std::move(one));
  }
  const StepsSummary sum = summed(steps);
  return {{"count", steps.size()},       {"statuses", statuses},
          {"worst", sum.worst + 1},      {"preconditioners_made", sum.made_anew},
          {"from_journal", sum.resumed}, {"each", std::move(each)}};
}

std::string steps_csv(const std::vector<StepResult>& steps) {
  std::string text =
      "step,name,status,iterations,true_relative,target_relative,preconditioner,read_ms,setup_ms,preconditioner_ms,"
      "solve_ms\n";
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const StepResult& s = steps[k];
    fmt::format_to(std::back_inserter(text), "{},{},{},", k + 1, csv_field(s.name), s.status);
    text += s.ran() ? fmt::format("{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f}\n", s.iterations, s.true_relative,
                                  s.target_relative, s.made_anew ? "made" : "kept", s.read_ms, s.setup_ms,
                                  s.preconditioner_ms, s.solve_ms)
                    : ",,,,,,,\n";
  }
  return text;
}

std::string steps_script(const std::string& title, const std::vector<StepResult>& steps) {
  const auto iterations = [](const StepResult& s) { return static_cast<double>(s.iterations); };
  const auto ran = [](const StepResult& s) { return s.ran(); };
  const auto made = [](const StepResult& s) { return s.ran() && s.made_anew; };
  const auto failed = [](const StepResult& s) { return !s.good() && s.status != "not_run"; };
  const auto climbed = [](const StepResult& s) { return s.ran() && s.climbed(); };
  const auto any = [&](const auto& meant) { return std::ranges::any_of(steps, meant); };
  std::string script = plot_data("iterations", steps, ran, iterations) + plot_data("made", steps, made, iterations) +
                       plot_data("failed", steps, failed, iterations) +
                       plot_data("climbed", steps, climbed, iterations) +
                       plot_data("setup", steps, ran, [](const StepResult& s) { return s.setup_ms; }) +
                       plot_data("solve", steps, ran, [](const StepResult& s) { return s.solve_ms; });
  fmt::format_to(std::back_inserter(script),
                 "set multiplot layout 2,1 title {} noenhanced\n"
                 "set xrange [0.5:{}.5]\nset grid lc rgb '#dddddd'\nset key tmargin right horizontal samplen 2 "
                 "width -2 font ',12'\n"
                 "set lmargin 10\nset tics font ',11'\n"
                 "set yrange [0:*]\nset offsets 0, 0, graph 0.1, 0\nset ylabel 'iterations'\n",
                 gnuplot_string(title), steps.size());
  // Blue, vermilion and black of Okabe and Ito, told apart by every kind of eye; marks differ as well. A plot without
  // any point is an error to gnuplot, so 0 stands for what is not there.
  script += any(ran) ? "plot $iterations using 1:2 with lines lw 2 lc rgb '#0072B2' notitle" : "plot 0 notitle";
  if (any(made)) script += ", $made using 1:2 with points pt 7 ps 0.8 lc rgb '#0072B2' title 'preconditioner made'";
  if (any(climbed))
    script += ", $climbed using 1:2 with points pt 6 ps 1.3 lw 2 lc rgb '#D55E00' title 'other methods tried'";
  if (any(failed)) script += ", $failed using 1:2 with points pt 2 ps 1 lw 2 lc rgb 'black' title 'failed'";
  script += "\nset xlabel 'step'\nset ylabel 'milliseconds'\n";
  script += any(ran) ? "plot $setup using 1:2 with linespoints pt 5 ps 0.6 lw 2 lc rgb '#D55E00' title 'set-up', "
                       "$solve using 1:2 with linespoints pt 7 ps 0.6 lw 2 lc rgb '#0072B2' title 'solve'"
                     : "plot 0 notitle";
  return script + "\nunset multiplot\n";
}

}  // namespace krill::apps
