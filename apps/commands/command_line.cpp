#include "apps/commands/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <system_error>
#include <thread>

#include "apps/case/suggest.hpp"
#include "apps/commands/command_options.hpp"
#include "apps/parallel/process_team.hpp"
#include "apps/support/exit_code.hpp"
#include "apps/support/print.hpp"
#include "apps/support/terminal.hpp"
#include "sparse/core/config.hpp"
#include "sparse/core/error.hpp"
#include "sparse/io/atomic_file.hpp"

namespace krill::apps {
namespace {

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const auto* command : program.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// What is wrong with the command line. The parser's own text is the last resort: it proposes nothing.
std::string usage_error(const CLI::App& program, const CLI::ParseError& error, int argc, const char* const* argv) {
  const auto commands = command_names(program);
  if (argc < 2) return fmt::format("a command is missing; expected {}; krill --help tells more", one_of(commands));
  const auto unknown_option = [](const std::string& path, const CLI::App& app, const std::string& word) -> std::string {
    const auto names = option_names(app);
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || std::find(names.begin(), names.end(), name) != names.end()) return {};
    return fmt::format("{} has no option {}{}", path, name, did_you_mean(name, names));
  };
  const auto chosen = program.get_subcommands();
  if (const auto text = unknown_option(program.get_name(), program, argv[1]); chosen.empty() && !text.empty())
    return text;
  if (chosen.empty())
    return fmt::format("there is no command '{}'{}\n  expected {}; krill --help tells more", argv[1],
                       did_you_mean(argv[1], commands), one_of(commands));
  const CLI::App* command = chosen.front();
  std::string path = command->get_name(), problem;
  int first = 2;  // of the words that are the command's own
  for (auto inner = command->get_subcommands(); !inner.empty(); inner = command->get_subcommands(), ++first)
    command = inner.front(), path += " " + command->get_name();
  if (const auto inner = command_names(*command); !inner.empty())
    return fmt::format("{}: expected {}{}\n  krill {} --help tells more", path, one_of(inner),
                       first < argc ? did_you_mean(argv[first], inner) : "", path);
  for (int i = first; i < argc && problem.empty(); ++i) problem = unknown_option(path, *command, argv[i]);
  if (problem.empty()) problem = fmt::format("{}: {}", path, error.what());
  return fmt::format("{}\n  krill {} --help tells more", problem, path);
}

/// Help in text_width columns.
class Help : public CLI::Formatter {
 public:
  Help() { column_width(34); }
  std::string make_option_desc(const CLI::Option* option) const override { return right(option->get_description()); }
  std::string make_subcommand(const CLI::App* command) const override {
    return fmt::format("  {:<{}}{}\n", command->get_name(), column_width_ - 2,
                       wrapped(command->get_description(), column_width_));
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), 0) + "\n";
  }
  /// Lines that begin with blanks are examples, and stay as they are.
  std::string make_footer(const CLI::App* app) const override {
    std::istringstream lines(app->get_footer());
    std::string text;
    for (std::string line; std::getline(lines, line);) text += (line.starts_with(' ') ? line : wrapped(line, 0)) + "\n";
    return text;
  }

 private:
  std::string right(const std::string& text) const { return wrapped(text, 0, text_width - column_width_); }
};

int parse_and_run(int argc, const char* const* argv) {
  CLI::App program("Krill solves sparse linear systems with preconditioned Krylov methods, on a CPU or a GPU.",
                   "krill");
  program.set_version_flag("--version", "krill " + std::string(version), "Print the version");
  program.require_subcommand(1);
  program.formatter(std::make_shared<Help>());
  program.footer(
      "Start with:\n"
      "  krill solve configs/quickstart.yaml\n"
      "  krill solve --help");
  Action action;
  add_commands(program, action);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked_for_help) {
    return process_team() && process_team()->rank() > 0 ? success : program.exit(asked_for_help);
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(usage_error(program, error, argc, argv));
  }
  const std::string command = program.get_subcommands().front()->get_name();
  if (process_team() && command != "solve" && command != "verify" && command != "bench")
    throw InvalidArgument(
        fmt::format("{}: several processes share solve, verify CASE and bench scaling, no other command; run it "
                    "without the launcher",
                    command));
  return action();
}

/// Says it; where JSON was asked for, that says it, too.
int report(const std::string& message, ExitCode code, bool json) {
  complain(message);
  if (!json) return code;
  const nlohmann::ordered_json object{{"krill", version}, {"error", message}, {"exit_code", static_cast<int>(code)}};
  std::fputs((object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n").c_str(), stdout);
  return code;
}

/// Runs it, whatever comes of it.
Ending end_of(int argc, const char* const* argv) {
  const auto failure = [](const std::string& message, ExitCode code) { return Ending{code, true, message}; };
  try {
    return {parse_and_run(argc, argv)};
  } catch (const LateTeam& error) {
    return failure(error.what(), bad_environment);
  } catch (const TeamFailure& error) {
    return {bad_environment, false, error.what()};  // the rank that gave up says why
  } catch (const NoDevice& error) {
    return failure(error.what(), bad_environment);
  } catch (const OutOfMemory& error) {
    return failure(error.what(), bad_environment);
  } catch (const CudaError& error) {
    return failure(error.what(), bad_environment);
  } catch (const WriteError& error) {
    return failure(error.what(), bad_environment);
  } catch (const std::filesystem::filesystem_error& error) {
    return failure(error.what(), bad_environment);
  } catch (const std::system_error& error) {
    return failure(fmt::format("no thread can be started: {}", error.code().message()), bad_environment);
  } catch (const std::bad_alloc&) {
    return failure("out of memory on the host", bad_environment);
  } catch (const std::exception& error) {
    return failure(error.what(), bad_input);
  }
}

/// As one process of several: one of them speaks, and all end with the same code.
int run_as_rank(const Launched& launch, int argc, const char* const* argv, bool json) {
  std::unique_ptr<ProcessTeam> team;
  try {
    team = std::make_unique<ProcessTeam>(launch);
  } catch (const Error& error) {
    // Nobody hears of anybody: the others leave the first one time to speak before the launcher ends all of them.
    if (launch.rank == 0) return report(error.what(), bad_environment, json);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return bad_environment;
  }
  set_process_team(team.get());
  const auto conclude = [&](const Ending& mine) {
    if (mine.failed) team->give_up();
    const Ending all = team->conclude(mine);
    if (all.failed && team->rank() == 0) report(all.message, static_cast<ExitCode>(all.exit_code), json);
    return all;
  };
  team->when_lost([&](const Ending& mine) {
    const Ending all = conclude(mine);
    std::fflush(nullptr);
    std::_Exit(all.exit_code);
  });
  const Ending all = conclude(end_of(argc, argv));
  team->close();
  set_process_team(nullptr);
  return all.exit_code;
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  const std::span words(argv, static_cast<std::size_t>(argc));
  const bool json = std::ranges::find(words, std::string_view("--json")) != words.end();
  if (const Launched launch = launch_of_environment(); launch.size > 1) return run_as_rank(launch, argc, argv, json);
  const Ending ending = end_of(argc, argv);
  return ending.failed ? report(ending.message, static_cast<ExitCode>(ending.exit_code), json) : ending.exit_code;
}

}  // namespace krill::apps
