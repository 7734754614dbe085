#include "apps/suite/suite_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>

#include "apps/report/markdown.hpp"
#include "sparse/core/config.hpp"

namespace krill::apps::suite {
namespace {

/// How many bytes a character of UTF-8 has that XML 1.0 allows and that begins there; 0: none does.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first >= 0x20 || first == '\n' || first == '\t' ? 1 : 0;
  const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                             : first >> 4 == 14              ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  std::uint32_t code = first & (0xffU >> (length + 1));
  for (const char c : text.substr(1, length - 1)) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) return 0;
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code >= least[length] && code < 0x110000 && !surrogate && code != 0xfffe && code != 0xffff ? length : 0;
}

/// Text for an attribute in double quotes, or between tags. What XML cannot say becomes '?'.
std::string xml(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view one = text.substr(0, std::max<std::size_t>(1, length));
    if (length == 0)
      result += '?';
    else if (one == "&")
      result += "&amp;";
    else if (one == "<")
      result += "&lt;";
    else if (one == ">")
      result += "&gt;";
    else if (one == "\"")
      result += "&quot;";
    else if (one == "\n")
      result += "&#10;";
    else
      result += one;
    text.remove_prefix(one.size());
  }
  return result;
}

std::string joined(const std::vector<std::string>& lines, const char* between) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : between) + line;
  return text;
}

/// "backend host", or that each case had its own.
std::string where(const SuiteResult& result) {
  return result.backend.empty() ? "each case on the backend that it names" : "backend " + result.backend;
}

}  // namespace

double SuiteResult::seconds() const {
  return std::accumulate(cases.begin(), cases.end(), 0.0,
                         [](double sum, const CaseResult& one) { return sum + one.run.seconds; });
}
std::size_t SuiteResult::failures() const {
  return static_cast<std::size_t>(std::ranges::count_if(cases, [](const auto& one) { return !one.passed(); }));
}

std::string outcome_text(const CaseRun& run) {
  if (run.status.empty()) return "not run";
  const std::string figures = run.has_figures ? fmt::format(", {} iterations", run.iterations) : "";
  return fmt::format("{}{}, {:.2f} s", run.status, figures, run.seconds);
}

std::string junit_xml(const SuiteResult& result) {
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\"", result.cases.size(), result.failures());
  const std::string time = fmt::format("time=\"{:.3f}\"", result.seconds());
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0} {1}>\n"
      "  <testsuite name=\"{2}\" {0} skipped=\"0\" {1} timestamp=\"{3}\">\n",
      counts, time, xml(result.folder), result.started_at);
  const auto out = std::back_inserter(text);
  for (const CaseResult& one : result.cases) {
    fmt::format_to(out, "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">\n", xml(result.folder),
                   xml(one.run.name), one.run.seconds);
    if (!one.passed())
      fmt::format_to(out, "      <failure message=\"{}\" type=\"deviation\">{}</failure>\n",
                     xml(one.deviations.front()), xml(joined(one.deviations, "\n")));
    fmt::format_to(out, "      <system-out>{}</system-out>\n    </testcase>\n", xml(outcome_text(one.run)));
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string suite_markdown(const SuiteResult& result) {
  std::string text = fmt::format(
      "# Suite {}\n\nkrill {} ({}), {}, {}: {} cases, {} not as expected.\n\n"
      "| case | result | status | iterations | true residual | error | s | deviations |\n"
      "|---|---|---|---:|---:|---:|---:|---|\n",
      result.folder, version, git_commit(), where(result), result.started_at, result.cases.size(), result.failures());
  for (const auto& [run, deviations] : result.cases) {
    const bool figures = run.has_figures;
    text += "|" + markdown_cell(run.name) + markdown_cell(deviations.empty() ? "ok" : "**FAILED**") +
            markdown_cell(run.status.empty() ? "not run" : run.status) +
            markdown_cell(figures ? std::to_string(run.iterations) : "") +
            markdown_cell(figures ? fmt::format("{:.2e}", run.true_residual) : "") +
            markdown_cell(run.error ? fmt::format("{:.2e}", *run.error) : "") +
            markdown_cell(fmt::format("{:.2f}", run.seconds)) + markdown_cell(joined(deviations, "; ")) + "\n";
  }
  return text;
}

}  // namespace krill::apps::suite
