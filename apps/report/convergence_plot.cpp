#include "apps/report/convergence_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace krill::apps {
namespace {

constexpr std::size_t stretches = 1000, max_others = 50;

bool can_be_drawn(double y) { return std::isfinite(y) && y > 0; }

/// The indices to draw, ascending.
std::vector<std::size_t> thinned(std::span<const double> history, std::size_t most = stretches) {
  const std::size_t stride = history.size() / most + 1;
  std::vector<std::size_t> kept;
  for (std::size_t begin = 0; begin < history.size(); begin += stride) {
    std::size_t least = begin, greatest = begin;
    for (std::size_t i = begin; i < std::min(begin + stride, history.size()); ++i) {
      if (history[i] < history[least]) least = i;
      if (history[i] > history[greatest]) greatest = i;
    }
    kept.push_back(std::min(least, greatest));
    if (least != greatest) kept.push_back(std::max(least, greatest));
  }
  if (!history.empty() && kept.back() + 1 != history.size()) kept.push_back(history.size() - 1);
  std::erase_if(kept, [&](std::size_t i) { return !can_be_drawn(history[i]); });
  return kept;
}

/// Lines with a gap between one history and the next.
std::string other_curves(const std::vector<std::span<const double>>& others) {
  const std::size_t count = std::min(others.size(), max_others);
  std::string lines;
  for (std::size_t k = 0; k < count; ++k) {
    for (const std::size_t i : thinned(others[k], stretches / count))
      fmt::format_to(std::back_inserter(lines), "{} {:.6e}\n", i, others[k][i]);
    lines += "\n";
  }
  return lines;
}

std::size_t longest(const ConvergencePlot& plot) {
  std::size_t most = plot.history.size();
  for (const auto& other : plot.others) most = std::max(most, other.size());
  return most;
}

}  // namespace

std::string convergence_script(const ConvergencePlot& plot) {
  std::string script = "$residuals << EOD\n";
  const std::vector<std::size_t> points = thinned(plot.history);
  for (const std::size_t i : points) fmt::format_to(std::back_inserter(script), "{} {:.6e}\n", i, plot.history[i]);
  // A plot without any point is an error to gnuplot; a line at 1 is honest: nothing was gained.
  if (points.empty()) script += "0 1\n";
  const double last = plot.history.empty() ? 0 : static_cast<double>(plot.history.size() - 1);
  fmt::format_to(std::back_inserter(script), "EOD\n$truth << EOD\n{} {:.6e}\nEOD\n", last, plot.true_relative);
  fmt::format_to(std::back_inserter(script),
                 "set title {} noenhanced\n"
                 "set xlabel 'iteration'\n"
                 "set ylabel {} noenhanced\n"
                 "set logscale y 10\nset format y '10^{{%L}}'\nset grid lc rgb '#dddddd'\n"
                 "set key top right\nset xrange [0:{}]\nset offsets 0, 0, graph 0.03, graph 0.03\n",
                 gnuplot_string(plot.title), gnuplot_string(plot.baseline),
                 std::max(static_cast<double>(longest(plot)) - 1, 1.0));
  // Blue, vermilion and black of Okabe and Ito, told apart by every kind of eye; line style and mark differ as well.
  const std::string others = other_curves(plot.others);
  const bool has_others = others.find_first_not_of('\n') != std::string::npos;
  if (has_others) script += "$others << EOD\n" + others + "EOD\n";
  script += has_others ? "plot $others using 1:2 with lines lw 1 lc rgb '#BBBBBB' title 'other columns', " : "plot ";
  script += "$residuals using 1:2 with lines lw 2 lc rgb '#0072B2' title 'recurrence'";
  if (can_be_drawn(plot.target))
    fmt::format_to(std::back_inserter(script), ", {:.6e} with lines lw 2 dt 2 lc rgb '#D55E00' title 'target'",
                   plot.target);
  if (can_be_drawn(plot.true_relative))
    script += ", $truth using 1:2 with points pt 7 ps 0.8 lc rgb 'black' title 'true residual at the end'";
  return script + "\n";
}

}  // namespace krill::apps
