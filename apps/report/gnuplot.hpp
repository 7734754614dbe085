// gnuplot, where there is one.
#pragma once
#include <string>
#include <string_view>

namespace krill::apps {

/// What came of a script: an SVG document, or the reason why there is none.
struct Drawing {
  std::string svg;
  std::string failure;  ///< empty where svg is not
};

/// Runs the script, which draws one plot, after `set terminal svg`. The user's own gnuplot settings play no part; a
/// program that takes more than `seconds` is ended. Never throws for want of gnuplot or for a script that fails.
Drawing draw(const std::string& script, double seconds = 30);

/// The text as a gnuplot string that stands for itself: single quotes, no control characters, bytes that are not UTF-8
/// dropped. `noenhanced` is the business of the command that gets it.
std::string gnuplot_string(std::string_view text);

}  // namespace krill::apps
