// The commands of the program with their options and help texts.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace krill::apps {

/// What a command does once its options have been read; returns the exit code.
using Action = std::function<int()>;

/// Adds all commands to `program`. Parsing a command line then sets `action`; both have to outlive the parse.
void add_commands(CLI::App& program, Action& action);

}  // namespace krill::apps
