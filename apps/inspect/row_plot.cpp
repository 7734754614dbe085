#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/inspect/pictures.hpp"
#include "apps/inspect/svg.hpp"

namespace krill::apps {
namespace {

constexpr double left = 92, top = 70, width = 640, height = 340;
constexpr std::int64_t max_bars = 50;
constexpr double far_out = 8;  // the longest row over the mean, beyond which bars double in width

struct Bar {
  std::int64_t first = 0, last = 0;  ///< entries of a row
  std::int64_t rows = 0;
};

/// Bars of one width, or doubling ones where a few rows are much longer than the others.
std::vector<Bar> bars_of(const std::map<std::int64_t, std::int64_t>& lengths, double mean) {
  const std::int64_t least = lengths.begin()->first, most = lengths.rbegin()->first;
  const bool doubling = most - least >= max_bars && static_cast<double>(most) > far_out * mean;
  const std::int64_t step = (most - least) / max_bars + 1;
  std::vector<Bar> bars;
  for (std::int64_t first = least; first <= most; first = bars.back().last + 1)
    bars.push_back({first, doubling ? std::max(2 * first - 1, first) : first + step - 1, 0});
  for (const auto& [length, rows] : lengths)
    std::ranges::find_if(bars, [&](const Bar& bar) { return length <= bar.last; })->rows += rows;
  return bars;
}

std::string label(const Bar& bar) {
  return bar.first == bar.last ? fmt::format("{}", bar.first) : fmt::format("{}-{}", bar.first, bar.last);
}

/// Where a number of rows lies, 0 at the bottom to 1 at the top.
struct Scale {
  double most = 1;
  bool logarithmic = false;

  double operator()(double rows) const {
    if (!logarithmic) return rows / (1.05 * most);
    return rows > 0 ? (std::log10(rows) + 0.3) / (1.05 * (std::log10(most) + 0.3)) : 0;  // one row has a height
  }
  std::vector<double> marks() const {
    if (!logarithmic) return ticks(0, most, 6);
    std::vector<double> powers;
    for (double power = 1; power <= most; power *= 10) powers.push_back(power);
    return powers;
  }
};

Scale scale_of(const std::vector<Bar>& bars) {
  std::int64_t least = 0, most = 1;
  for (const Bar& bar : bars) {
    most = std::max(most, bar.rows);
    if (bar.rows > 0 && (least == 0 || bar.rows < least)) least = bar.rows;
  }
  return {static_cast<double>(most), most > 50 * least};
}

/// Where the mean lies among the bars, in bars.
double place_of(double length, const std::vector<Bar>& bars) {
  for (std::size_t k = 0; k < bars.size(); ++k) {
    const auto begin = static_cast<double>(bars[k].first), end = static_cast<double>(bars[k].last) + 1;
    if (length < end) return static_cast<double>(k) + std::max(0.0, length + 0.5 - begin) / (end - begin);
  }
  return static_cast<double>(bars.size());
}

}  // namespace

std::string row_plot(const std::map<std::int64_t, std::int64_t>& lengths, const std::string& name) {
  std::int64_t rows = 0, nnz = 0;
  for (const auto& [length, count] : lengths) rows += count, nnz += length * count;
  Svg svg(left + width + 40, top + height + 68);
  svg.text(left, 28, name, Svg::Anchor::start, 17);
  if (rows == 0) {
    svg.text(left, 50, "no rows", Svg::Anchor::start, 14, "#444444");
    return svg.document();
  }
  const double mean = static_cast<double>(nnz) / static_cast<double>(rows);
  const std::vector<Bar> bars = bars_of(lengths, mean);
  const Scale scale = scale_of(bars);
  svg.text(left, 50,
           fmt::format("{} rows of {} to {} entries, {:.3g} on average", rows, lengths.begin()->first,
                       lengths.rbegin()->first, mean),
           Svg::Anchor::start, 14, "#444444");
  for (const double mark : scale.marks()) {
    const double y = top + height * (1 - scale(mark));
    svg.line(left, y, left + width, y, "#dddddd");
    svg.text(left - 9, y + 5, fmt::format("{:.0f}", mark), Svg::Anchor::end, 13);
  }
  const double pitch = width / static_cast<double>(bars.size());
  const auto every = static_cast<std::size_t>(std::ceil(64 / pitch));
  for (std::size_t k = 0; k < bars.size(); ++k) {
    const double x = left + pitch * static_cast<double>(k), tall = height * scale(static_cast<double>(bars[k].rows));
    svg.box(x + 0.08 * pitch, top + height - tall, 0.84 * pitch, tall, "#3171b2");
    if (k % every == 0) svg.text(x + pitch / 2, top + height + 20, label(bars[k]), Svg::Anchor::middle, 13);
  }
  svg.line(left, top + height, left + width, top + height, "#444444");
  const double at = left + pitch * place_of(mean, bars);
  svg.line(at, top, at, top + height, "#d55e00", true);
  svg.text(at + 6, top + 14, "mean", Svg::Anchor::start, 13, "#d55e00");
  svg.text(left + width / 2, top + height + 48, "entries of a row", Svg::Anchor::middle);
  svg.upward_text(22, top + height / 2, scale.logarithmic ? "rows (logarithmic)" : "rows");
  return svg.document();
}

}  // namespace krill::apps
