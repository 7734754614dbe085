#include "apps/bench/result_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "apps/report/markdown.hpp"

namespace krill::apps::bench {
namespace {

std::string number(const std::optional<double>& value, const char* form) {
  return value ? fmt::format(fmt::runtime(form), *value) : std::string();
}
std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:.1f} %", 100 * *share) : ""; }
/// Four digits, whatever the size.
std::string milliseconds(const std::optional<double>& ms) {
  if (!ms) return {};
  if (*ms == 0) return "0";
  return fmt::format("{:.{}f}", *ms, *ms < 1 ? 4 : *ms < 10 ? 3 : *ms < 100 ? 2 : 1);
}

/// ", 2 colors", where there are some.
std::string colors_text(const std::optional<std::int64_t>& colors) {
  return colors ? fmt::format(", {} colors", *colors) : std::string();
}

/// Which rows have something to say in a column.
enum class ShownFor { all, kernels, solvers };

struct Column {
  const char* head;
  std::size_t width;  ///< 0: that of the names it will hold
  bool right;         ///< numbers
  std::string (*text)(const Row&);
  ShownFor of = ShownFor::all;
};

/// What a row says after its kernel; the terminal and Markdown show the same.
constexpr Column columns[] = {
    {"case", 0, false, [](const Row& r) { return r.matrix; }},
    {"precision", 10, false, [](const Row& r) { return r.precision; }},
    {"variant", 0, false, [](const Row& r) { return r.variant + colors_text(r.colors); }},
    {"cache", 5, false, [](const Row& r) { return r.cache; }},
    {"ms", 8, true, [](const Row& r) { return milliseconds(r.ms); }},
    {"spread", 7, true, [](const Row& r) { return percent(r.spread); }},
    {"GB/s", 7, true, [](const Row& r) { return number(r.gbps, "{:.1f}"); }},
    {"ceiling", 8, true, [](const Row& r) { return percent(r.ceiling_share); }},
    {"setup ms", 8, true, [](const Row& r) { return milliseconds(r.setup_ms); }},
    {"total ms", 8, true, [](const Row& r) { return milliseconds(r.total_ms); }, ShownFor::solvers},
    {"iterations", 10, true, [](const Row& r) { return r.iterations ? std::to_string(*r.iterations) : ""; },
     ShownFor::solvers},
    {"ms each", 7, true, [](const Row& r) { return milliseconds(r.iteration_ms); }, ShownFor::solvers},
    {"break-even", 10, true, [](const Row& r) { return number(r.break_even, "{:.0f}"); }, ShownFor::kernels},
    {"rival ms", 8, true, [](const Row& r) { return milliseconds(r.rival_ms); }},
    {"ratio", 6, true, [](const Row& r) { return number(r.ratio, "{:.2f}"); }},
    {"rival", 0, false,
     [](const Row& r) {
       if (!r.rival_ms) return std::string();
       const std::string iterations = r.rival_iterations ? fmt::format(", {} iterations", *r.rival_iterations) : "";
       return r.rival + " " + r.rival_variant + colors_text(r.rival_colors) + iterations;
     }},
};
constexpr std::size_t names = 3;  // columns that a row without a time has, too
constexpr std::size_t kernel_width = 10;

bool is_shown(const Column& column, RowKinds kinds) {
  return column.of == ShownFor::all || (column.of == ShownFor::kernels ? kinds.kernels : kinds.solvers);
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  return right ? fmt::format("{:>{}}", text, width) : fmt::format("{:<{}}", text, width);
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::vector<std::string> kernels_of(const Result& result) {
  std::vector<std::string> kernels;
  for (const Row& row : result.rows)
    if (std::find(kernels.begin(), kernels.end(), row.kernel) == kernels.end()) kernels.push_back(row.kernel);
  return kernels;
}

std::string markdown_table(const Result& result, const std::string& kernel) {
  std::string text = fmt::format("\n### {}\n\n|", kernel), rule = "|";
  const bool solver = std::ranges::any_of(
      result.rows, [&](const Row& row) { return row.kernel == kernel && row.iterations.has_value(); });
  const RowKinds kinds{!solver, solver};
  for (const Column& column : columns)
    if (is_shown(column, kinds)) text += markdown_cell(column.head), rule += column.right ? "---:|" : "---|";
  text += "\n" + rule + "\n";
  for (const Row& row : result.rows) {
    if (row.kernel != kernel) continue;
    text += "|";
    for (const Column& column : columns) {
      if (!is_shown(column, kinds)) continue;
      const bool says_why = !row.error.empty() && &column == &std::end(columns)[-1];
      text += markdown_cell(says_why ? "error: " + row.error : column.text(row));
    }
    text += "\n";
  }
  return text;
}

}  // namespace

RowTable::RowTable(std::size_t case_width, std::size_t variant_width, RowKinds kinds)
    : case_width_(std::max<std::size_t>(case_width, 4)),
      variant_width_(std::max<std::size_t>(variant_width, 7)),
      kinds_(kinds) {}

std::string RowTable::head() const {
  std::string line = padded("kernel", kernel_width, false);
  for (std::size_t i = 0; i < std::size(columns); ++i) {
    if (!is_shown(columns[i], kinds_)) continue;
    const std::size_t width = i == 0 ? case_width_ : i == 2 ? variant_width_ : columns[i].width;
    line += "  " + padded(columns[i].head, width, columns[i].right);
  }
  return without_trailing_blanks(line);
}

std::string RowTable::line(const Row& row) const {
  std::string line = padded(row.kernel, kernel_width, false);
  for (std::size_t i = 0; i < (row.error.empty() ? std::size(columns) : names); ++i) {
    if (!is_shown(columns[i], kinds_)) continue;
    const std::size_t width = i == 0 ? case_width_ : i == 2 ? variant_width_ : columns[i].width;
    line += "  " + padded(columns[i].text(row), width, columns[i].right);
  }
  if (!row.error.empty()) line += "  error: " + row.error;
  line = without_trailing_blanks(line);
  if (!row.rival_error.empty()) line += fmt::format("{:{}}  {}: {}\n", "", kernel_width, row.rival, row.rival_error);
  return line;
}

std::string ceilings_text(const Ceilings& ceilings) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<double>& gbps) {
    if (gbps) text += fmt::format("{}{} {:.1f} GB/s", text.empty() ? "" : ", ", name, *gbps);
  };
  add("copy", ceilings.copy);
  add("triad", ceilings.triad);
  add("read", ceilings.read);
  return text;
}

std::string means_text(const std::vector<Row>& rows) {
  std::string text;
  for (const GeometricMean& mean : geometric_means(rows))
    text += fmt::format("geometric mean of the ratios: {} {:.2f} ({} row{})\n", mean.kernel, mean.ratio, mean.rows,
                        mean.rows == 1 ? "" : "s");
  return text;
}

std::string markdown(const std::vector<Result>& results) {
  std::string text;
  for (const Result& result : results) {
    if (!text.empty()) text += "\n";
    text += fmt::format("## {}\n\nCommit {}{}{}.", result.device.empty() ? "unknown device" : result.device,
                        result.commit.empty() ? "unknown" : result.commit,
                        result.driver.empty() ? "" : ", driver " + result.driver,
                        result.date.empty() ? "" : ", " + result.date);
    const std::string ceilings = ceilings_text(result.ceilings);
    text += ceilings.empty() ? "\n" : fmt::format(" Ceilings: {}.\n", ceilings);
    for (const std::string& kernel : kernels_of(result)) text += markdown_table(result, kernel);
    const std::string means = means_text(result.rows);
    if (!means.empty()) text += "\n" + means;
  }
  return text;
}

}  // namespace krill::apps::bench
