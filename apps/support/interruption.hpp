// Ctrl-C, SIGTERM, and a terminal that goes.
#pragma once

namespace krill::apps {

/// While one of these lives (at most one at a time), SIGINT, SIGTERM and SIGHUP are its business: the first one either
/// ends the program at once or is kept for requested(), a second one always ends it. The exit code is 1 then. Where
/// SIGHUP was ignored before, as under nohup, it stays so. SIGPIPE
/// and SIGXFSZ are ignored: that nobody reads the output, or that a file may not grow, fails the write and not the
/// solve.
class Interruption {
 public:
  /// `farewell` as for ends_at_once().
  explicit Interruption(const char* farewell);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// From now on a signal ends the program after writing this text, which must live on, to the standard error.
  void ends_at_once(const char* farewell);
  /// From now on a first signal only makes requested() true.
  void is_awaited();
  bool requested() const;
};

}  // namespace krill::apps
