// The command line of the program.
#pragma once

namespace krill::apps {

/// Runs one command. Whatever goes wrong is one message `krill: ...` on the standard error, and an exit code.
int run_command_line(int argc, const char* const* argv);

}  // namespace krill::apps
