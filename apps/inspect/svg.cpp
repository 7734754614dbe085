#include "apps/inspect/svg.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>

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

void append_big_endian(std::string& to, std::uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(word >> shift & 255U);
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1U ? 0xedb88320U : 0U);
  }
  return ~crc;
}

void append_chunk(std::string& file, std::string_view type, std::string_view data) {
  append_big_endian(file, static_cast<std::uint32_t>(data.size()));
  const std::string named = std::string(type) + std::string(data);
  file += named;
  append_big_endian(file, crc32(named));
}

/// A zlib stream (RFC 1950) of blocks that are stored as they are (RFC 1951, 3.2.4).
std::string stored(std::string_view bytes) {
  constexpr std::size_t most = 65'535;
  std::string stream = "\x78\x01";
  std::uint32_t a = 1, b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<unsigned char>(byte)) % 65'521;
    b = (b + a) % 65'521;
  }
  for (std::size_t at = 0; at < bytes.size(); at += most) {
    const std::string_view part = bytes.substr(at, most);
    stream += at + most < bytes.size() ? '\0' : '\1';
    for (const std::size_t word : {part.size(), ~part.size()})
      stream += {static_cast<char>(word & 255U), static_cast<char>(word >> 8 & 255U)};
    stream += part;
  }
  append_big_endian(stream, b << 16 | a);
  return stream;
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
  std::string file = "\x89PNG\r\n\x1a\n", head, palette, lines;
  append_big_endian(head, static_cast<std::uint32_t>(image.width));
  append_big_endian(head, static_cast<std::uint32_t>(image.height));
  head += {4, 3, 0, 0, 0};  // bits a pixel, palette, and the only compression, filter and interlacing taken here
  for (const std::string& color : image.palette) {
    const unsigned long rgb = std::stoul(color.substr(1), nullptr, 16);
    for (int shift = 16; shift >= 0; shift -= 8) palette += static_cast<char>(rgb >> shift & 255U);
  }
  for (int y = 0; y < image.height; ++y) {
    lines += '\0';  // no filter
    for (int x = 0; x < image.width; x += 2) {
      const auto* pixel = image.pixels.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                          static_cast<std::size_t>(x);
      lines += static_cast<char>(pixel[0] << 4 | (x + 1 < image.width ? pixel[1] : 0));
    }
  }
  append_chunk(file, "IHDR", head);
  append_chunk(file, "PLTE", palette);
  append_chunk(file, "IDAT", stored(lines));
  append_chunk(file, "IEND", "");
  return file;
}

}  // namespace krill::apps
