#include "apps/bench/result_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "apps/report/markdown.hpp"
#include "apps/support/terminal.hpp"

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

std::string microseconds(const std::optional<double>& ms) {
  return number(ms ? std::optional(1e3 * *ms) : ms, "{:.1f}");
}

/// ", 2 colors", where there are some.
std::string colors_text(const std::optional<std::int64_t>& colors) {
  return colors ? fmt::format(", {} colors", *colors) : std::string();
}

std::string megabytes(const std::optional<std::int64_t>& bytes) {
  return bytes ? fmt::format("{:.1f}", static_cast<double>(*bytes) * 1e-6) : std::string();
}

/// Which rows have something to say in a column. calls: all but those of scaling.
enum class ShownFor { all, calls, kernels, solvers, scaling, sparse_results };
enum class RowKind { kernel, solver, scaling };
/// Where a column stands: the terminal has room for some.
enum class Place { everywhere, markdown };

struct Column {
  const char* head;
  std::size_t width;  ///< on the terminal, of numbers; 0: words
  std::string (*text)(const Row&);
  ShownFor of = ShownFor::all;
  Place place = Place::everywhere;
};

/// What a row says after its kernel; on the terminal headings say what several rows share.
constexpr Column columns[] = {
    {"case", 0, [](const Row& r) { return r.matrix; }, ShownFor::all, Place::markdown},
    {"precision", 0, [](const Row& r) { return r.precision; }, ShownFor::all, Place::markdown},
    {"variant", 0, [](const Row& r) { return r.variant + colors_text(r.colors); }},
    {"cache", 0, [](const Row& r) { return r.cache; }, ShownFor::all, Place::markdown},
    {"ms", 8, [](const Row& r) { return milliseconds(r.ms); }, ShownFor::calls},
    {"us a step", 9, [](const Row& r) { return microseconds(r.ms); }, ShownFor::scaling},
    {"spread", 7, [](const Row& r) { return percent(r.spread); }},
    {"one rank", 9, [](const Row& r) { return microseconds(r.one_rank_ms); }, ShownFor::scaling},
    {"speed-up", 8, [](const Row& r) { return number(r.speed_up, "{:.2f}"); }, ShownFor::scaling},
    {"efficiency", 10, [](const Row& r) { return percent(r.efficiency); }, ShownFor::scaling},
    {"halo KB", 7,
     [](const Row& r) {
       return r.halo_bytes ? fmt::format("{:.1f}", static_cast<double>(*r.halo_bytes) * 1e-3) : std::string();
     },
     ShownFor::scaling},
    {"GB/s", 7, [](const Row& r) { return number(r.gbps, "{:.1f}"); }, ShownFor::calls},
    {"ceiling", 7, [](const Row& r) { return percent(r.ceiling_share); }, ShownFor::calls},
    {"setup ms", 8, [](const Row& r) { return milliseconds(r.setup_ms); }, ShownFor::kernels},
    {"setup ms", 8, [](const Row& r) { return milliseconds(r.setup_ms); }, ShownFor::solvers, Place::markdown},
    {"total ms", 8, [](const Row& r) { return milliseconds(r.total_ms); }, ShownFor::solvers, Place::markdown},
    {"iterations", 10, [](const Row& r) { return r.iterations ? std::to_string(*r.iterations) : ""; },
     ShownFor::solvers},
    {"ms each", 7, [](const Row& r) { return milliseconds(r.iteration_ms); }, ShownFor::solvers, Place::markdown},
    {"break-even", 10, [](const Row& r) { return number(r.break_even, "{:.0f}"); }, ShownFor::kernels, Place::markdown},
    {"workspace MB", 12, [](const Row& r) { return megabytes(r.workspace_bytes); }, ShownFor::sparse_results,
     Place::markdown},
    {"rival's MB", 10, [](const Row& r) { return megabytes(r.rival_workspace_bytes); }, ShownFor::sparse_results,
     Place::markdown},
    {"rival ms", 8, [](const Row& r) { return milliseconds(r.rival_ms); }, ShownFor::calls, Place::markdown},
    {"ratio", 6, [](const Row& r) { return number(r.ratio, "{:.2f}"); }, ShownFor::calls},
    {"rival", 0,
     [](const Row& r) {
       if (!r.rival_ms) return std::string();
       const std::string iterations = r.rival_iterations ? fmt::format(", {} iterations", *r.rival_iterations) : "";
       return r.rival + " " + r.rival_variant + colors_text(r.rival_colors) + iterations;
     },
     ShownFor::all, Place::markdown},
};

bool is_shown(const Column& column, RowKind kind, bool sparse_results = false) {
  switch (column.of) {
    case ShownFor::all:
      return true;
    case ShownFor::calls:
      return kind != RowKind::scaling;
    case ShownFor::kernels:
      return kind == RowKind::kernel;
    case ShownFor::solvers:
      return kind == RowKind::solver;
    case ShownFor::scaling:
      return kind == RowKind::scaling;
    case ShownFor::sparse_results:
      break;
  }
  return sparse_results;
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
  const auto any = [&](auto Row::*member) {
    return std::ranges::any_of(result.rows,
                               [&](const Row& row) { return row.kernel == kernel && (row.*member).has_value(); });
  };
  const RowKind kind = any(&Row::ranks) ? RowKind::scaling : any(&Row::iterations) ? RowKind::solver : RowKind::kernel;
  const bool sparse_result = any(&Row::workspace_bytes);
  for (const Column& column : columns)
    if (is_shown(column, kind, sparse_result))
      text += markdown_cell(column.head), rule += column.width > 0 ? "---:|" : "---|";
  text += "\n" + rule + "\n";
  for (const Row& row : result.rows) {
    if (row.kernel != kernel) continue;
    text += "|";
    for (const Column& column : columns) {
      if (!is_shown(column, kind, sparse_result)) continue;
      const bool says_why = !row.error.empty() && &column == &std::end(columns)[-1];
      text += markdown_cell(says_why ? "error: " + row.error : column.text(row));
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string RowTable::lines(const Row& row, bool is_solver) {
  const RowKind kind = row.ranks ? RowKind::scaling : is_solver ? RowKind::solver : RowKind::kernel;
  const auto numbers = [&](const auto& text) {
    std::string line;
    for (const Column& column : columns)
      if (column.width > 0 && column.place == Place::everywhere && is_shown(column, kind))
        line += fmt::format("  {:>{}}", text(column), column.width);
    return line;
  };
  std::string text;
  if (row.kernel != kernel_) {
    const std::string heads = numbers([](const Column& column) { return column.head; });
    text = fmt::format("{}{:<{}}{}\n", kernel_.empty() ? "" : "\n", row.kernel, 2 + variant_width_, heads);
    kernel_ = row.kernel, group_.clear();
  }
  const std::string group =
      fmt::format("{}, {}{}{}", row.matrix, row.precision, row.cache.empty() ? "" : ", ", row.cache);
  if (group != group_) {
    const std::string beside = row.rival.empty() ? "" : "; ratio to " + row.rival;
    text += " " + wrapped(group + beside, 3) + "\n";
    group_ = group;
  }
  const std::string name = row.variant + colors_text(row.colors);
  if (row.error.empty())
    text += without_trailing_blanks(
        fmt::format("  {:<{}}{}", name, variant_width_, numbers([&](const Column& c) { return c.text(row); })));
  else
    text += "  " + wrapped(fmt::format("{}{}error: {}", name, name.empty() ? "" : "  ", row.error), 4) + "\n";
  if (!row.rival_error.empty()) text += "    " + wrapped(fmt::format("{}: {}", row.rival, row.rival_error), 6) + "\n";
  return text;
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
