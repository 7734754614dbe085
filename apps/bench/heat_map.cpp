#include "apps/bench/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <vector>

#include "apps/bench/job.hpp"

namespace krill::apps::bench {
namespace {

struct Cell {
  std::uint32_t rows, batch;
  double ratio;
};

struct HeatPanel {
  std::string title;
  std::vector<Cell> cells;
};

/// "1024 x 256" as numbers; zeros where it is something else.
Cell cell_of(const Row& row) {
  Cell cell{0, 0, *row.ratio};
  const char *begin = row.matrix.data(), *end = begin + row.matrix.size();
  const auto rows = std::from_chars(begin, end, cell.rows);
  if (rows.ec != std::errc() || !std::string_view(rows.ptr, end).starts_with(" x ")) return {};
  std::from_chars(rows.ptr + 3, end, cell.batch);
  return cell;
}

std::vector<HeatPanel> panels_of(const Result& result) {
  std::vector<HeatPanel> panels;
  for (const Row& row : result.rows) {
    if (row.kernel != banded_kernel || !row.ratio || !(*row.ratio > 0)) continue;
    const std::string title = fmt::format("{}, {}", row.variant, row.precision);
    auto panel = std::ranges::find(panels, title, &HeatPanel::title);
    if (panel == panels.end()) panel = panels.insert(panel, {title, {}});
    if (const Cell cell = cell_of(row); cell.batch > 0) panel->cells.push_back(cell);
  }
  return panels;
}

std::vector<std::uint32_t> values_of(const std::vector<HeatPanel>& panels, std::uint32_t Cell::*side) {
  std::vector<std::uint32_t> values;
  for (const HeatPanel& panel : panels)
    for (const Cell& cell : panel.cells) values.push_back(cell.*side);
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::size_t place_of(const std::vector<std::uint32_t>& values, std::uint32_t value) {
  return static_cast<std::size_t>(std::ranges::lower_bound(values, value) - values.begin());
}

std::string tics(const std::vector<std::uint32_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool short_power = values[i] > 1024 && std::has_single_bit(values[i]);
    text += fmt::format("{}'{}' {}", i == 0 ? "" : ", ",
                        short_power ? fmt::format("2^{}", std::countr_zero(values[i])) : std::to_string(values[i]), i);
  }
  return text;
}

}  // namespace

std::string heat_map_script(const Result& result) {
  const std::vector<HeatPanel> panels = panels_of(result);
  const auto rows = values_of(panels, &Cell::rows), batches = values_of(panels, &Cell::batch);
  const std::size_t columns = std::clamp<std::size_t>(panels.size(), 1, 3),
                    lines = std::max<std::size_t>((panels.size() + columns - 1) / columns, 1);
  std::string script;
  const auto out = std::back_inserter(script);
  for (std::size_t p = 0; p < panels.size(); ++p) {
    fmt::format_to(out, "$panel{} << EOD\n", p);
    for (const Cell& cell : panels[p].cells)
      fmt::format_to(out, "{} {} {:.4f} {:.{}f}\n", place_of(batches, cell.batch), place_of(rows, cell.rows),
                     std::log2(cell.ratio), cell.ratio,
                     cell.ratio < 1    ? 2
                     : cell.ratio < 10 ? 1
                                       : 0);
    script += "EOD\n";
  }
  fmt::format_to(out,
                 "set terminal svg size {},{} dynamic background rgb 'white' font 'sans-serif,11'\n"
                 "set multiplot layout {},{} title {} noenhanced\n"
                 "set xlabel 'systems'\nset ylabel 'rows'\nset xrange [-0.5:{}]\nset yrange [-0.5:{}]\n"
                 "set xtics nomirror out ({}) noenhanced\nset ytics nomirror out ({}) noenhanced\n"
                 "set border 3 lc rgb '#444444'\n"
                 "set palette defined (-3 '#EE9A5F', 0 '#ffffff', 3 '#63B0E8')\nset cbrange [-3:3]\nunset colorbox\n",
                 340 * columns, 60 + 300 * lines, lines, columns,
                 gnuplot_string(fmt::format("time of the rival / time of Krill, {}, {}", result.device, result.commit)),
                 static_cast<double>(std::max<std::size_t>(batches.size(), 1)) - 0.5,
                 static_cast<double>(std::max<std::size_t>(rows.size(), 1)) - 0.5, tics(batches), tics(rows));
  for (std::size_t p = 0; p < panels.size(); ++p)
    fmt::format_to(out,
                   "set title {} noenhanced\n"
                   "plot $panel{} using 1:2:(0.5):(0.5):3 with boxxyerror fs solid lc palette notitle, \\\n"
                   "  $panel{} using 1:2:4 with labels font ',9' notitle\n",
                   gnuplot_string(panels[p].title), p, p);
  // Without anything to draw, gnuplot wants a plot all the same.
  return script + (panels.empty() ? "plot 1/0 notitle\n" : "") + "unset multiplot\n";
}

}  // namespace krill::apps::bench
