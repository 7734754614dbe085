// Another program, or this one once more, run to its end.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace krill::apps {

struct ChildProcess {
  std::string program;                                     ///< a path, or a name that is looked for in PATH
  std::vector<std::string> arguments;                      ///< from argv[0] on
  std::string input = {};                                  ///< what it reads from its standard input
  double seconds = 0;                                      ///< after which it is ended by SIGKILL
  std::function<bool()> cancelled = [] { return false; };  ///< asked every few milliseconds; true ends it, too
};

/// How it ended, and all that it wrote.
struct ChildEnd {
  int start_error = 0;  ///< errno where it could not be started
  int exit_code = 0;    ///< where it exited by itself
  int signal = 0;       ///< that ended it; 0: none
  bool out_of_time = false, cancelled = false;
  std::string out, err;
};

/// Runs the program and waits for it. Its streams are files without names, so nothing needs quoting and none of them
/// can fill up. Raises nothing. A child that is krill itself ends with this process, however that ends.
ChildEnd run_child(const ChildProcess&);

/// What a krill does first: where another one has started it by run_child, it will not outlive that one.
void end_with_parent();

}  // namespace krill::apps
