// What shells and `man` know of the command line, made of its own description.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace krill::apps {

/// A script for bash, zsh or fish that completes commands, options, their values, keys of cases and file names.
std::string completion_script(const CLI::App& program, const std::string& shell);

/// The manual page krill(1), in roff.
std::string manual_page(const CLI::App& program, const std::string& version);

}  // namespace krill::apps
