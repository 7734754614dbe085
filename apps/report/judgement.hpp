// What an independent judge found of a solution.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace krill::apps {

enum class Verdict { none, pass, fail };
constexpr std::string_view name(Verdict verdict) {
  return verdict == Verdict::pass ? "PASS" : verdict == Verdict::fail ? "FAIL" : "no verdict";
}

/// What was found. Norms are 2-norms and relative to the claim's baseline; -1 where not computed.
struct Judgement {
  Verdict verdict = Verdict::none;
  std::string reason;                ///< why there is no pass; empty with one
  std::string judge;                 ///< "Eigen 3.4.0"
  std::string method;                ///< how the reference was found
  double residual = -1;              ///< ||b - A x||
  double tolerance = -1;             ///< its bound: claim + (longest row + 4) epsilon || |A||x| + |b| ||
  double reference_residual = -1;    ///< ||b - A x_ref||
  double difference = -1;            ///< ||A (x - x_ref)||
  double difference_tolerance = -1;  ///< its bound: tolerance + reference_residual
  double error = -1;                 ///< ||x - x_ref|| / ||x_ref||
  double error_expected = -1;        ///< ||A^-1|| difference_tolerance / ||x_ref||, the norm an estimate from below
  double condition = -1;             ///< ||A|| ||A^-1||, an estimate from below
  double seconds = 0;
  std::size_t column = 0;  ///< of several right-hand sides, the one that is judged
};

}  // namespace krill::apps
