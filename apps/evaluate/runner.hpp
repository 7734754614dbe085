// Runs variants in workers, one worker for all that share matrix, precision and backend.
#pragma once
#include <optional>
#include <string>

#include "apps/evaluate/outcome.hpp"
#include "apps/evaluate/portfolio.hpp"
#include "apps/evaluate/worker.hpp"

namespace krill::apps::evaluate {

class Runner {
 public:
  explicit Runner(const Interruption& interruption) : interruption_(interruption) {}

  /// Cases with the same text can share a worker.
  static std::string group(const Case&);

  /// Measures one variant, whatever becomes of the worker; `limit` is in seconds, for one set-up and solve. Where it is
  /// interrupted, the outcome is not_run.
  Outcome measure(const Case&, int repeats, double limit);
  /// Loads the matrix; nothing where that fails, as measure() will tell.
  std::optional<SystemKind> kind(const Case&);

  /// What the rules of `auto` choose for the matrix that was loaded last, as chosen_by_rules() says it.
  const std::vector<std::string>& chosen() const { return chosen_; }

  /// The CUDA device that something ran on; empty where nothing did.
  const std::string& device() const { return device_; }
  /// Ends the worker.
  void close() { worker_.reset(); }

 private:
  std::optional<Outcome> prepare(const Case&);

  const Interruption& interruption_;
  std::optional<Worker> worker_;
  std::string group_, device_;  // group_, kind_ and matrix_: of the worker
  SystemKind kind_ = SystemKind::general;
  std::vector<std::string> chosen_;
  nlohmann::ordered_json matrix_;
};

}  // namespace krill::apps::evaluate
