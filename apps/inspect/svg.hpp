// A drawing as an SVG document: what the pictures of `krill inspect` are made of.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace krill::apps {

/// Lengths in pixels, y downwards. Colors as SVG writes them.
class Svg {
 public:
  Svg(double width, double height);

  enum class Anchor { start, middle, end };
  /// The baseline of the text begins, has its middle or ends at (x, y).
  void text(double x, double y, std::string_view text, Anchor = Anchor::start, double size = 14,
            std::string_view color = "black");
  /// The same, from below to above.
  void upward_text(double x, double y, std::string_view text);
  void line(double x0, double y0, double x1, double y1, std::string_view color = "black", bool dashed = false);
  void box(double x, double y, double width, double height, std::string_view fill, std::string_view stroke = "none");
  /// A PNG file, its pixels as squares with sharp edges.
  void image(double x, double y, double width, double height, std::string_view png);

  std::string document() const { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

/// Round numbers from `low` to `high`, about `count` of them.
std::vector<double> ticks(double low, double high, int count);

/// A picture of at most 16 colors.
struct IndexedImage {
  int width = 0, height = 0;
  std::vector<unsigned char> pixels;  ///< numbers of colors, by rows
  std::vector<std::string> palette;   ///< "#rrggbb"
};
/// As a PNG file (ISO/IEC 15948).
std::string png(const IndexedImage&);

}  // namespace krill::apps
