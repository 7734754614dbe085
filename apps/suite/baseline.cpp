#include "apps/suite/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "apps/case/case_file.hpp"
#include "apps/case/check.hpp"
#include "apps/case/fill.hpp"
#include "apps/case/suggest.hpp"

namespace krill::apps::suite {
namespace {

/// The keys of a file.
struct BaselineFile {};
template <class Fields>
void describe(Fields& fields, BaselineFile&) {
  fields.tree("cases", "a section: an expectation for each case", "what is expected of each case, by its path");
}

template <class Options>
std::vector<Key> keys_of() {
  KeyCollector collector;
  Options defaults;
  describe(collector, defaults);
  return std::move(collector.keys);
}

void refuse(const YamlNode& node, std::string message, std::vector<Diagnostic>& found) {
  found.push_back({node.place.source, node.place.line, node.place.column, std::move(message)});
}

Expectation checked(const YamlEntry& entry, std::vector<Diagnostic>& found) {
  Expectation expected;
  const auto& [name, value] = entry;
  if (value.kind != YamlNode::Kind::map) {
    refuse(name, fmt::format("{} has to be a section such as {{status: converged}}", name.text), found);
    return expected;
  }
  const std::size_t earlier = found.size();
  const auto json = check_section(value, keys_of<Expectation>(), found);
  if (found.size() > earlier) return expected;
  FromJson::fill(expected, json);
  const std::vector<std::string> known = statuses();
  if (std::ranges::find(known, expected.status) == known.end())
    refuse(*value.find("status"),
           fmt::format("status is '{}'{}, expected {}", expected.status, did_you_mean(expected.status, known),
                       one_of(known)),
           found);
  if (expected.iterations.min > expected.iterations.max)
    refuse(*value.find("iterations"),
           fmt::format("iterations.least is {}, expected at most iterations.most, {}", expected.iterations.min,
                       expected.iterations.max),
           found);
  return expected;
}

/// A key of YAML: plain where that is safe, else as a JSON string, which YAML reads, too.
std::string yaml_key(const std::string& name) {
  const bool plain = std::ranges::all_of(
      name, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '/' || c == '-'; });
  return plain && !name.starts_with('-') ? name : nlohmann::json(name).dump();
}

/// Two digits are enough for a limit, rounded up.
double rounded_up(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::ceil(value / unit) * unit;
}

}  // namespace

ExpectedResults read_baseline(const std::string& path) {
  std::vector<Diagnostic> found;
  const YamlNode root = read_yaml(read_yaml_text(path), path, found);
  if (!found.empty() && root.kind != YamlNode::Kind::map) refuse_if_any(found);
  require_map(root, path, "baseline", "cases, as krill suite baseline DIR -o FILE writes them", found);
  check_section(root, keys_of<BaselineFile>(), found);
  const YamlNode* cases = root.find("cases");
  if (!cases || cases->kind != YamlNode::Kind::map)
    refuse(cases ? *cases : root, "cases has to be a section: an expectation for each case", found);
  ExpectedResults baseline;
  if (cases)
    for (const YamlEntry& entry : cases->entries) baseline[entry.key.text] = checked(entry, found);
  refuse_if_any(std::move(found));
  return baseline;
}

std::string baseline_yaml(const std::vector<CaseRun>& runs) {
  std::string text =
      "# What krill suite run expects of these cases; krill suite baseline writes such a file from a run.\ncases:\n";
  const auto out = std::back_inserter(text);
  for (const CaseRun& run : runs) {
    const int slack = std::max(2, run.iterations / 10);
    fmt::format_to(out, "  {}:\n    status: {}\n", yaml_key(run.name), run.status);
    if (run.has_figures)
      fmt::format_to(out, "    iterations: {{least: {}, most: {}}}\n", std::max(0, run.iterations - slack),
                     run.iterations + slack);
    if (run.status == "converged" && run.target > 0) fmt::format_to(out, "    true_residual: {:g}\n", run.target);
    if (run.status == "converged" && run.error && *run.error > 0)
      fmt::format_to(out, "    error: {:g}\n", rounded_up(10 * *run.error));
  }
  return text;
}

std::vector<std::string> deviations(const Expectation& expected, const CaseRun& run) {
  std::vector<std::string> found;
  if (run.status != expected.status) {
    found.push_back(fmt::format("the status is {}, expected {}{}", run.status, expected.status,
                                run.why.empty() ? "" : ": " + run.why));
    return found;
  }
  if (!run.has_figures) return found;
  const auto [min, max] = expected.iterations;
  if (run.iterations < min || run.iterations > max)
    found.push_back(fmt::format("{} iterations, expected {} to {}", run.iterations, min, max));
  // Written so that NaN is a deviation.
  if (expected.true_residual > 0 && !(run.true_residual <= expected.true_residual))
    found.push_back(
        fmt::format("the true residual is {:.3g}, expected at most {:g}", run.true_residual, expected.true_residual));
  if (expected.error > 0 && !run.error)
    found.push_back("no error is known, although the baseline has a limit for it: the case has no known solution");
  else if (expected.error > 0 && !(*run.error <= expected.error))
    found.push_back(fmt::format("the error is {:.3g}, expected at most {:g}", *run.error, expected.error));
  return found;
}

}  // namespace krill::apps::suite
