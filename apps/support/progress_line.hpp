// What is seen of a running solve.
#pragma once
#include <cstdio>
#include <deque>
#include <string>

#include "solvers/progress.hpp"

namespace krill::apps {

/// The speed of convergence as the last sights show it; nothing is known before the second one.
struct Pace {
  double rate = 0;               ///< factor of the residual norm in one iteration, geometric mean; 0: not known
  double seconds_left = -1;      ///< until the target at this rate; below 0: not known, or it does not fall
  double iterations_second = 0;  ///< 0: not known
};
Pace pace(const std::deque<Sight>& sights);

/// "pcg iteration 120, residual 3.11e-05 -> 1e-08, rate 0.943, 12 s left", as much of it as fits `width` columns.
std::string progress_text(const std::string& solver, const Sight& now, const Pace& pace, std::size_t width);

/// Shows a solve on `out`: one line that is drawn anew ten times a second on a terminal, a line every five seconds
/// elsewhere.
class ProgressLine {
 public:
  enum class Style { silent, lines, live };
  /// live on a terminal that draws a line anew, else lines.
  static Style style_of(std::FILE* out);

  ProgressLine(std::FILE* out, Style style, std::string solver);
  ~ProgressLine();  ///< Clears the live line.
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// To be called as often as one likes.
  void show(const Sight&);
  /// Clears the live line; the next show() draws it again.
  void clear();

 private:
  std::FILE* out_;
  Style style_;
  std::string solver_;
  std::deque<Sight> sights_;
  double shown_at_ = 0;
  bool drawn_ = false;
};

}  // namespace krill::apps
