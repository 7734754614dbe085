#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "apps/inspect/pictures.hpp"
#include "apps/inspect/svg.hpp"
#include "sparse/convert/convert.hpp"

namespace krill::apps {
namespace {

constexpr int shades = 15;
constexpr double plot_side = 560, left = 92, top = 70, gap_to_scale = 34, scale_width = 18;

/// The first place of a cell, and the end of the one before it.
std::int64_t first_place(std::int32_t cell, std::int32_t cells, std::int32_t places) {
  return (static_cast<std::int64_t>(cell) * places + cells - 1) / cells;
}
std::int64_t places_of(std::int32_t cell, std::int32_t cells, std::int32_t places) {
  return first_place(cell + 1, cells, places) - first_place(cell, cells, places);
}

/// White for nothing, then from light to dark blue, the lightness falling evenly: told apart without seeing colors.
std::vector<std::string> palette() {
  struct Color {
    double red, green, blue;
  };
  constexpr Color light{158, 202, 225}, middle{49, 113, 178}, dark{8, 24, 70};
  std::vector<std::string> colors{"#ffffff"};
  for (int shade = 0; shade < shades; ++shade) {
    const double t = 2.0 * shade / (shades - 1);
    const Color &from = t < 1 ? light : middle, &to = t < 1 ? middle : dark;
    const double s = t < 1 ? t : t - 1;
    const auto mix = [&](double a, double b) { return static_cast<int>(std::lround(a + s * (b - a))); };
    colors.push_back(
        fmt::format("#{:02x}{:02x}{:02x}", mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)));
  }
  return colors;
}

/// The least and the greatest density of the cells that are not empty.
struct Span {
  double min = 1, max = 0;

  /// 1: the lightest shade.
  int shade(double density) const {
    if (!(density > 0)) return 0;
    if (!(max > min)) return shades;
    const double t = std::log(density / min) / std::log(max / min);
    return 1 + static_cast<int>(std::lround(t * (shades - 1)));
  }
};

Span densities(const Raster& raster) {
  Span span;
  for (std::int32_t i = 0; i < raster.cell_rows; ++i)
    for (std::int32_t j = 0; j < raster.cell_cols; ++j)
      if (const double d = raster.density(i, j); d > 0)
        span.min = std::min(span.min, d), span.max = std::max(span.max, d);
  return span;
}

std::string picture(const Raster& raster, const Span& span, const std::vector<std::string>& colors) {
  IndexedImage image{raster.cell_cols, raster.cell_rows, {}, colors};
  for (std::int32_t i = 0; i < raster.cell_rows; ++i)
    for (std::int32_t j = 0; j < raster.cell_cols; ++j)
      image.pixels.push_back(static_cast<unsigned char>(span.shade(raster.density(i, j))));
  return png(image);
}

std::string density_text(double density) { return fmt::format("{:.3g} %", 100 * density); }

void draw_scale(Svg& svg, double x, double height, const Span& span, const std::vector<std::string>& colors) {
  if (!(span.max > span.min)) return;
  const double step = height / shades;
  for (int shade = 0; shade < shades; ++shade)
    svg.box(x, top + height - (shade + 1) * step, scale_width, step + 0.5, colors[static_cast<std::size_t>(shade) + 1]);
  svg.box(x, top, scale_width, height, "none", "#444444");
  for (const double part : {0.0, 0.5, 1.0}) {
    const double y = top + height * (1 - part), density = span.min * std::pow(span.max / span.min, part);
    svg.line(x + scale_width, y, x + scale_width + 5, y, "#444444");
    svg.text(x + scale_width + 9, y + 5, density_text(density), Svg::Anchor::start, 13);
  }
  svg.text(x + scale_width + 74, top - 14, "share of positions that hold an entry", Svg::Anchor::end, 13);
}

}  // namespace

double Raster::density(std::int32_t row, std::int32_t col) const {
  const auto places = static_cast<double>(places_of(row, cell_rows, rows) * places_of(col, cell_cols, cols));
  const std::int64_t count =
      counts[static_cast<std::size_t>(row) * static_cast<std::size_t>(cell_cols) + static_cast<std::size_t>(col)];
  return static_cast<double>(count) / places;
}

template <class T>
Raster rasterize(const AnyMatrix<T>& A) {
  Raster raster{rows(A), cols(A), 0, 0, nnz(A), {}};
  const std::int32_t side = std::max({raster.rows, raster.cols, 1}), cells = std::min(side, Raster::max_cells);
  const auto cells_of = [&](std::int32_t places) {
    return std::max(1, static_cast<std::int32_t>(static_cast<std::int64_t>(places) * cells / side));
  };
  raster.cell_rows = cells_of(raster.rows), raster.cell_cols = cells_of(raster.cols);
  raster.counts.resize(static_cast<std::size_t>(raster.cell_rows) * static_cast<std::size_t>(raster.cell_cols));
  Context host = Context::host();
  with_csr(host, A, [&](const auto& csr) {
    const auto offsets = csr.row_offsets().host();
    const auto columns = csr.col_indices().host();
    for (std::int32_t i = 0; i < raster.rows; ++i) {
      const std::int64_t row = static_cast<std::int64_t>(i) * raster.cell_rows / raster.rows;
      for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k) {
        const std::int64_t col = static_cast<std::int64_t>(columns[k]) * raster.cell_cols / raster.cols;
        ++raster.counts[static_cast<std::size_t>(row * raster.cell_cols + col)];
      }
    }
  });
  return raster;
}

std::string spy_plot(const Raster& raster, const std::string& name) {
  const double longer = std::max({raster.rows, raster.cols, 1});
  const double width = std::max(20.0, plot_side * raster.cols / longer);
  const double height = std::max(20.0, plot_side * raster.rows / longer);
  const double scale_height = std::max(height, 150.0);
  Svg svg(left + width + gap_to_scale + scale_width + 92, top + std::max(height, scale_height) + 64);
  svg.text(left, 28, name, Svg::Anchor::start, 17);
  svg.text(left, 50, fmt::format("{} x {}, {} entries", raster.rows, raster.cols, raster.nnz), Svg::Anchor::start, 14,
           "#444444");

  const Span span = densities(raster);
  const std::vector<std::string> colors = palette();
  svg.image(left, top, width, height, picture(raster, span, colors));
  svg.box(left, top, width, height, "none", "#444444");
  for (const double row : ticks(0, raster.rows, height > 100 ? 6 : 1)) {
    const double y = top + height * row / std::max(raster.rows, 1);
    svg.line(left - 5, y, left, y, "#444444");
    svg.text(left - 9, y + 5, fmt::format("{:.0f}", row), Svg::Anchor::end, 13);
  }
  for (const double col : ticks(0, raster.cols, width > 100 ? 6 : 1)) {
    const double x = left + width * col / std::max(raster.cols, 1);
    svg.line(x, top + height, x, top + height + 5, "#444444");
    svg.text(x, top + height + 20, fmt::format("{:.0f}", col), Svg::Anchor::middle, 13);
  }
  svg.text(left + width / 2, top + height + 46, "column", Svg::Anchor::middle);
  svg.upward_text(22, top + height / 2, "row");
  draw_scale(svg, left + width + gap_to_scale, scale_height, span, colors);
  return svg.document();
}

template Raster rasterize(const AnyMatrix<double>&);
template Raster rasterize(const AnyMatrix<std::complex<double>>&);

}  // namespace krill::apps
