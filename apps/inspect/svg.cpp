#include "apps/inspect/svg.hpp"

#include <fmt/format.h>
#include <png.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "sparse/core/error.hpp"

namespace krill::apps {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      result += c;
  }
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve(bytes.size() / 3 * 4 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) result += i + k > bytes.size() ? '=' : digits[word >> (18 - 6 * k) & 63U];
  }
  return result;
}

}  // namespace

Svg::Svg(double width, double height)
    : text_(
          fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                      "font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                      width, height)) {}

void Svg::text(double x, double y, std::string_view text, Anchor anchor, double size, std::string_view color) {
  constexpr std::array<std::string_view, 3> names{"start", "middle", "end"};
  fmt::format_to(std::back_inserter(text_),
                 "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\" fill=\"{}\">{}</text>\n", x, y,
                 names[static_cast<std::size_t>(anchor)], size, color, escaped(text));
}

void Svg::upward_text(double x, double y, std::string_view text) {
  fmt::format_to(std::back_inserter(text_),
                 "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\" "
                 "font-size=\"14\">{}</text>\n",
                 x, y, escaped(text));
}

void Svg::line(double x0, double y0, double x1, double y1, std::string_view color, bool dashed) {
  fmt::format_to(std::back_inserter(text_),
                 "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n", x0, y0, x1, y1,
                 color, dashed ? R"( stroke-width="1.5" stroke-dasharray="6 4")" : "");
}

void Svg::box(double x, double y, double width, double height, std::string_view fill, std::string_view stroke) {
  fmt::format_to(std::back_inserter(text_),
                 "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"{}\"/>\n", x,
                 y, width, height, fill, stroke);
}

void Svg::image(double x, double y, double width, double height, std::string_view png) {
  fmt::format_to(std::back_inserter(text_),
                 "<image x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" preserveAspectRatio=\"none\" "
                 "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
                 x, y, width, height, base64(png));
}

std::vector<double> ticks(double low, double high, int count) {
  const double wanted = std::max((high - low) / count, 1e-300), power = std::pow(10, std::floor(std::log10(wanted)));
  double step = 10 * power;
  for (const double digit : {5.0, 2.0, 1.0})
    if (digit * power >= wanted) step = digit * power;
  std::vector<double> found;
  for (double k = std::ceil(low / step); k * step <= high; ++k) found.push_back(k * step);
  return found;
}

std::string png(const IndexedImage& image) {
  std::vector<unsigned char> colors;
  for (const std::string& color : image.palette) {
    const unsigned long rgb = std::stoul(color.substr(1), nullptr, 16);
    for (int shift = 16; shift >= 0; shift -= 8) colors.push_back(static_cast<unsigned char>(rgb >> shift & 255U));
  }
  png_image head{};
  head.version = PNG_IMAGE_VERSION;
  head.width = static_cast<png_uint_32>(image.width), head.height = static_cast<png_uint_32>(image.height);
  head.format = PNG_FORMAT_RGB_COLORMAP;
  head.colormap_entries = static_cast<png_uint_32>(image.palette.size());
  std::string file;
  const auto write = [&](void* memory) {  // without memory it says how much is needed
    png_alloc_size_t size = file.size();
    if (!png_image_write_to_memory(&head, memory, &size, 0, image.pixels.data(), 0, colors.data()))
      throw Error(fmt::format("a picture of {} x {} pixels cannot be drawn: {}", image.width, image.height,
                              std::string_view(head.message)));
    file.resize(size);
  };
  write(nullptr);
  write(file.data());
  return file;
}

}  // namespace krill::apps
