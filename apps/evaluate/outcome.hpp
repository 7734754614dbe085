// What came of one variant.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/report/record.hpp"

namespace krill::apps::evaluate {

/// The milliseconds of one set-up and solve.
struct Sample {
  double match = 0, scale = 0, order = 0, convert = 0, preconditioner = 0, solve = 0;
  double setup() const { return match + scale + order + convert + preconditioner; }
};

/// Median and range of some measured times.
struct Spread {
  double median = 0, min = 0, max = 0;
};
Spread spread(std::vector<double> values);

/// A point of a convergence curve.
struct HistoryPoint {
  int iteration = 0;
  double residual = 0;
};
/// At most about `most` points: of longer histories the least and the greatest residual of every stretch, both ends
/// always.
std::vector<HistoryPoint> thinned(const std::vector<double>& history, std::size_t most = 160);

struct Outcome {
  /// A solver's reason ("converged", "max_iterations", ...), or how it went wrong outside of one: "refused" (the matrix
  /// does not allow the preconditioner), "no_matrix" (it cannot be read), "out_of_memory", "device_error", "no_device",
  /// "crashed", "too_long" (ended from outside), "not_run" (no budget left).
  std::string status = "not_run";
  std::string why, remedy;

  std::vector<Sample> samples;
  int rounds = 0;      ///< how often the variant was measured: finalists are measured again, in turns
  double limit_s = 0;  ///< the time limit that held

  int iterations = 0;
  double true_relative = 0, recurrence_relative = 0, target_relative = 0, backward_error = 0;
  std::optional<double> known_error;
  std::size_t memory_bytes = 0;
  std::string format, precision, backend;
  int threads = 0;
  std::vector<HistoryPoint> history;
  nlohmann::ordered_json facts;   ///< what the preconditioner tells of itself
  nlohmann::ordered_json matrix;  ///< what is known of it
  std::vector<std::string> notes;

  bool converged() const { return status == "converged"; }
  bool finished() const { return status != "not_run"; }
  Spread setup() const;
  Spread solve() const;
  double total(double solves) const { return setup().median + solves * solve().median; }
};

/// What a record tells, but for the sample.
Outcome outcome_of(const SolveRecord&);

/// Both ways; numbers that are not finite are null in JSON and NaN here.
nlohmann::ordered_json to_json(const Outcome&);
Outcome outcome_from(const nlohmann::ordered_json&);

/// The outcome of a variant that has no figures.
Outcome failure(std::string status, std::string why, std::string remedy = {});
Outcome out_of_memory(std::string why);

}  // namespace krill::apps::evaluate
