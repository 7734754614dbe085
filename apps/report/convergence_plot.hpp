// The residual over the iterations, for people.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "apps/report/gnuplot.hpp"

namespace krill::apps {

struct ConvergencePlot {
  std::string title;
  std::string baseline;                              ///< what the residual is relative to, as it stands on the axis
  std::span<const double> history;                   ///< relative residual after 0, 1, ... iterations
  double target = 0;                                 ///< relative; 0: none
  double true_relative = 0;                          ///< of the final x
  std::vector<std::span<const double>> others = {};  ///< histories of other right-hand sides, in grey behind it
};

/// The script: logarithmic scale, the target as a dashed line, the true residual as a point. At most about 2,000 points
/// are drawn: of longer histories the least and the greatest residual of every stretch. Of the others the first 50 are
/// drawn, as coarse as they are many.
std::string convergence_script(const ConvergencePlot&);

}  // namespace krill::apps
