// The child process in which variants run, so that none of them can take the sweep along: it reads requests, a line of
// JSON each, and answers in the same way.
//
//   {"case": ...}                                     the first: whose matrix is loaded, precision and backend stay
//     -> {"loaded": {source, checksum, rows, ...}, "kind": "definite" | "general"}  or  {"outcome": ...}, and the end
//   {"case": ..., "repeats": 3, "time_limit": 60}     another case with the same matrix, precision and backend
//     -> {"run": 0}, {"run": 1}, ... as runs end, then {"outcome": ...}
#pragma once
#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>

#include "apps/support/interruption.hpp"

namespace krill::apps::evaluate {

/// The side of the worker itself: answers until there are no more requests, or the parent is gone. Returns the exit
/// code.
int run_worker(int parent);

/// How a worker ended without an answer.
struct WorkerEnd {
  enum class Kind { died, too_long, interrupted };
  Kind kind = Kind::died;
  int signal = 0;          ///< that ended it; 0: it exited
  int exit_code = 0;       ///< where it exited
  std::string last_words;  ///< the end of what it wrote to the standard error
};

/// A worker, as the sweep sees it. It dies with this, and with the process.
class Worker {
 public:
  /// Starts the program itself once more. Raises Error where the system has no process to give.
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void send(const nlohmann::ordered_json& request);
  /// The next answer. Ends the worker after so many seconds without one, or as soon as an interruption was requested.
  std::variant<nlohmann::ordered_json, WorkerEnd> receive(double seconds, const Interruption&);

 private:
  std::optional<std::string> take_line();
  WorkerEnd end(WorkerEnd::Kind);

  int process_ = -1, requests_ = -1, answers_ = -1, words_ = -1;
  std::string buffer_;
};

}  // namespace krill::apps::evaluate
