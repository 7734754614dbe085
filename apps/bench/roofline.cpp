#include "apps/bench/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

namespace krill::apps::bench {
namespace {

/// A kernel's color and mark: the colors of Okabe and Ito, which every kind of eye tells apart, and shapes that paper
/// without color tells apart, too.
struct Look {
  const char* color;
  int point;  ///< of gnuplot: circle, square, triangle, ...
};
constexpr std::array<Look, 7> looks{{{"#0072B2", 7},
                                     {"#D55E00", 5},
                                     {"#009E73", 9},
                                     {"#CC79A7", 13},
                                     {"#E69F00", 11},
                                     {"#56B4E9", 15},
                                     {"#000000", 6}}};

struct Point {
  double intensity, gflops;
};

struct KernelPoints {
  std::string name;
  std::vector<Point> points;
};

std::vector<KernelPoints> points_of_kernels(const Result& result) {
  std::vector<KernelPoints> kernels;
  for (const Row& row : result.rows) {
    if (!row.ms || !row.bytes || !row.flops || !(*row.ms > 0 && *row.bytes > 0 && *row.flops > 0)) continue;
    auto kernel = std::ranges::find(kernels, row.kernel, &KernelPoints::name);
    if (kernel == kernels.end()) kernel = kernels.insert(kernel, {row.kernel, {}});
    kernel->points.push_back({*row.flops / *row.bytes, *row.flops / *row.ms * 1e-6});
  }
  return kernels;
}

struct PlotRange {
  double min = std::numeric_limits<double>::infinity(), max = 0;
  void include(double value) { min = std::min(min, value), max = std::max(max, value); }
  /// With some room, and at least a decade, so that one mark stands in the middle.
  PlotRange widened(double factor) const {
    const double middle = std::sqrt(min * max), reach = std::max(factor * std::sqrt(max / min), std::sqrt(10.0));
    return {middle / reach, middle * reach};
  }
};

/// 0.05, 0.1, 0.2, 0.5, ... as tics: numbers that people read, in place of powers of ten.
std::string tics(const PlotRange& range) {
  std::string text;
  for (int decade = static_cast<int>(std::floor(std::log10(range.min))); std::pow(10.0, decade) <= range.max; ++decade)
    for (const int lead : {1, 2, 5}) {
      const double at = lead * std::pow(10.0, decade);
      if (at < range.min || at > range.max) continue;
      text += fmt::format("{}'{:g}' {:g}", text.empty() ? "" : ", ", at, at);
    }
  return text;
}

struct Ceiling {
  const char* name;
  double gbps;
};

/// Those that were measured, the largest first.
std::vector<Ceiling> ceilings_of(const Ceilings& c) {
  std::vector<Ceiling> found;
  for (const auto& [name, gbps] : {std::pair{"copy", c.copy}, {"triad", c.triad}, {"read", c.read}})
    if (gbps && *gbps > 0) found.push_back({name, *gbps});
  std::ranges::sort(found, std::ranges::greater(), &Ceiling::gbps);
  return found;
}

}  // namespace

std::string roofline_script(const Result& result) {
  const std::vector<KernelPoints> kernels = points_of_kernels(result);
  const std::vector<Ceiling> ceilings = ceilings_of(result.ceilings);
  PlotRange x, y;
  for (const KernelPoints& kernel : kernels)
    for (const Point& point : kernel.points) x.include(point.intensity), y.include(point.gflops);
  if (kernels.empty()) x = y = {0.1, 1};
  x = x.widened(1.5);
  if (!ceilings.empty()) y.include(x.max * ceilings.front().gbps / 1.5);
  y = y.widened(1.3);

  std::string script;
  const auto out = std::back_inserter(script);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    fmt::format_to(out, "$kernel{} << EOD\n", k);
    for (const auto& [intensity, gflops] : kernels[k].points) fmt::format_to(out, "{:.6e} {:.6e}\n", intensity, gflops);
    script += "EOD\n";
  }
  fmt::format_to(out,
                 "set title {} noenhanced\n"
                 "set xlabel 'arithmetic intensity (flop/byte)'\n"
                 "set ylabel 'operations a second (GFLOP/s)'\n"
                 "set logscale xy 10\nset xrange [{:g}:{:g}]\nset yrange [{:g}:{:g}]\n"
                 "set xtics nomirror out ({})\nset ytics nomirror out ({})\nset border 3 lc rgb '#444444'\n"
                 "set grid xtics ytics lt 1 lw 0.6 lc rgb '#e4e4e4'\n"
                 "set key outside right top Left reverse samplen 1.5 spacing 1.3\n",
                 gnuplot_string(fmt::format("{}, {}", result.device, result.commit)), x.min, x.max, y.min, y.max,
                 tics(x), tics(y));
  std::string plots;
  const auto add = [&](const std::string& plot) { plots += (plots.empty() ? "plot " : ", \\\n  ") + plot; };
  for (std::size_t i = 0; i < ceilings.size(); ++i)
    add(fmt::format("{:g} * x with lines lw {} dt {} lc rgb '{}' title '{} {:.0f} GB/s'", ceilings[i].gbps,
                    i == 0 ? 2.5 : 1, i == 0 ? 1 : i + 1, i == 0 ? "#444444" : "#888888", ceilings[i].name,
                    ceilings[i].gbps));
  for (std::size_t k = 0; k < kernels.size(); ++k)
    add(fmt::format("$kernel{} using 1:2 with points pt {} ps 0.9 lw 1.5 lc rgb '{}' title {} noenhanced", k,
                    looks[k % looks.size()].point, looks[k % looks.size()].color, gnuplot_string(kernels[k].name)));
  // Without anything to draw, gnuplot wants a plot all the same.
  return script + (plots.empty() ? "plot 1/0 notitle" : plots) + "\n";
}

}  // namespace krill::apps::bench
