#include "apps/commands/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "apps/case/keys.hpp"
#include "apps/case/reference.hpp"
#include "apps/evaluate/sweep.hpp"

namespace krill::apps {
namespace {

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::vector<const CLI::App*> commands_of(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

/// "--set", "-h"; empty for what is given by its place.
std::string option_name(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  return option.get_snames().empty() ? "" : "-" + option.get_snames().front();
}
std::vector<const CLI::Option*> named_options(const CLI::App& command) {
  std::vector<const CLI::Option*> named;
  for (const CLI::Option* option : command.get_options())
    if (!option_name(*option).empty()) named.push_back(option);
  return named;
}
bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// The words that an option or, without one, the arguments of a command are chosen from; none: names of files.
std::vector<std::string> choices(const CLI::App& command, const CLI::Option* option) {
  if (!option && command.get_name() == "explain") return explained_words(evaluate::sweep_keys());
  if (!option && command.get_name() == "completion") return {"bash", "zsh", "fish"};
  if (!option && command.get_name() == "generate") return types_of(case_key("matrix"));
  std::vector<std::string> words;
  const std::string names = option ? option->get_type_name() : "";
  if (names.find('|') == std::string::npos || names.find_first_of(" ,.ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string::npos)
    return words;
  std::istringstream in(names);
  for (std::string word; std::getline(in, word, '|');) words.push_back(word);
  return words;
}

constexpr std::string_view bash_frame = R"(# Completion of krill for bash, made by `krill completion bash`.
_krill() {{
  local line=${{COMP_LINE:0:COMP_POINT}} command previous words options= settings=
  local current=${{line##*[[:blank:]]}}  # what is being typed, an = in it included
  read -ra words <<<"${{line%"$current"}}"
  command=${{words[1]-}} previous=${{words[${{#words[@]}} - 1]-}}
  case $command in
    '') options='{0}' ;;
{1}  esac
  local choices=
  case "$command $previous" in
    'solve --set' | 'evaluate --set') settings=1 ;;
{2}    *) if [[ $current == -* || -z $command ]]; then choices=$options; fi ;;
  esac
  if [[ $settings && $current == *=* ]]; then
    choices='{3}'
  elif [[ $settings ]]; then
    choices='{4}'
    compopt -o nospace 2>/dev/null
  fi
  local IFS=$' \t\n'
  if [[ $choices ]]; then
    COMPREPLY=($(compgen -W "$choices" -- "$current"))
  else
    compopt -o filenames 2>/dev/null
    IFS=$'\n'
    COMPREPLY=($(compgen -f -- "$current"))
  fi
  # What stands before the last = is a word of its own to bash.
  if [[ $current == *=* && $COMP_WORDBREAKS == *=* ]]; then COMPREPLY=("${{COMPREPLY[@]#"${{current%=*}}="}}"); fi
}}
complete -F _krill krill
)";

std::string bash_script(const CLI::App& program) {
  std::string commands = joined({"--help", "--version"}), options, values;
  for (const CLI::App* command : commands_of(program)) {
    commands += " " + command->get_name();
    std::string names;
    for (const CLI::Option* option : named_options(*command)) {
      const std::string name = option_name(*option);
      names += (names.empty() ? "" : " ") + name;
      if (const auto words = choices(*command, option); !words.empty())
        values += fmt::format("    '{} {}') choices='{}' ;;\n", command->get_name(), name, joined(words));
    }
    options += fmt::format("    {}) options='{}' ;;\n", command->get_name(), names);
    if (const auto words = choices(*command, nullptr); !words.empty())
      values += fmt::format("    '{0} {0}') choices='{1}' ;;\n", command->get_name(), joined(words));
  }
  const SettingWords settings = setting_words();
  return fmt::format(bash_frame, commands, options, values, joined(settings.values), joined(settings.keys));
}

/// Text between single quotes.
std::string shell_quoted(const std::string& text) { return replaced(text, "'", "'\\''"); }

/// One specification for _arguments.
std::string zsh_option(const CLI::App& command, const CLI::Option& option) {
  std::string about = option.get_description();
  for (const char* special : {"[", "]", ":"}) about = replaced(about, special, std::string("\\") + special);
  const std::string name = option_name(option);
  std::string values = "_files";
  if (const auto words = choices(command, &option); !words.empty()) values = "(" + joined(words) + ")";
  if (name == "--set") values = "{compadd -S \"\" -- $settings}";
  const std::string argument =
      takes_value(option) ? ":" + replaced(option.get_type_name(), ":", "\\:") + ":" + values : "";
  return fmt::format("'*{}[{}]{}'", name, shell_quoted(about), argument);
}

std::string zsh_script(const CLI::App& program) {
  std::string commands, cases;
  for (const CLI::App* command : commands_of(program)) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(),
                            shell_quoted(replaced(command->get_description(), ":", "\\:")));
    cases += fmt::format("    {}) _arguments", command->get_name());
    for (const CLI::Option* option : named_options(*command)) cases += " \\\n      " + zsh_option(*command, *option);
    const auto words = choices(*command, nullptr);
    cases += fmt::format(" \\\n      '*:argument:{}' ;;\n", words.empty() ? "_files" : "(" + joined(words) + ")");
  }
  const SettingWords settings = setting_words();
  return fmt::format(
      "#compdef krill\n# Completion of krill for zsh, made by `krill completion zsh`.\n_krill() {{\n"
      "  local -a commands settings\n  settings=({} {})\n  commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n{}  esac\n}}\n"
      "if [[ $funcstack[1] == _krill ]]; then _krill \"$@\"; else compdef _krill krill; fi\n",
      joined(settings.keys), joined(settings.values), commands, cases);
}

std::string fish_script(const CLI::App& program) {
  std::string script = "# Completion of krill for fish, made by `krill completion fish`.\n";
  const SettingWords settings = setting_words();
  for (const CLI::App* command : commands_of(program)) {
    const std::string name = command->get_name(), when = "-n '__fish_seen_subcommand_from " + name + "'";
    script += fmt::format("complete -c krill -n __fish_use_subcommand -f -a {} -d '{}'\n", name,
                          replaced(command->get_description(), "'", "\\'"));
    if (const auto words = choices(*command, nullptr); !words.empty())
      script += fmt::format("complete -c krill {} -f -a '{}'\n", when, joined(words));
    for (const CLI::Option* option : named_options(*command)) {
      const std::string long_or_short = option_name(*option);
      auto words = choices(*command, option);
      if (long_or_short == "--set")
        words = settings.keys, std::ranges::copy(settings.values, std::back_inserter(words));
      script += fmt::format(
          "complete -c krill {} {}{}{} -d '{}'\n", when,
          long_or_short.starts_with("--") ? "-l " + long_or_short.substr(2) : "-s " + long_or_short.substr(1),
          takes_value(*option) ? " -r" : "", words.empty() ? "" : " -f -a '" + joined(words) + "'",
          replaced(option->get_description(), "'", "\\'"));
    }
  }
  return script;
}

/// Text as roff shows it: hyphens are those of commands, and no line is taken for a request.
std::string roff(const std::string& text) {
  std::string result = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

/// A footer: paragraphs, and examples, which are indented, line by line.
std::string roff_footer(const std::string& footer) {
  std::string result;
  std::istringstream in(footer);
  bool examples = false;
  for (std::string line; std::getline(in, line);) {
    const bool example = line.starts_with("  ");
    if (example != examples) result += example ? ".nf\n" : ".fi\n";
    examples = example;
    result += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  return result + (examples ? ".fi\n" : "");
}

std::string roff_command(const CLI::App& command) {
  std::string usage = "krill " + command.get_name(), options;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option_name(*option), value = option->get_type_name();
    const bool placed = option->get_positional() && name.empty();
    const std::string shown = placed ? option->get_name(true) : name;
    if (placed) usage += option->get_required() ? " " + shown : " [" + shown + "]";
    options += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(shown),
                           takes_value(*option) && !placed ? " \\fI" + roff(value) + "\\fR" : "",
                           roff(option->get_description()));
  }
  return fmt::format(".SS {}\n{}.\n{}.PP\n{}", roff(usage + " [OPTIONS]"), roff(command.get_description()), options,
                     roff_footer(command.get_footer()));
}

}  // namespace

std::string completion_script(const CLI::App& program, const std::string& shell) {
  return shell == "bash" ? bash_script(program) : shell == "zsh" ? zsh_script(program) : fish_script(program);
}

std::string manual_page(const CLI::App& program, const std::string& version) {
  std::string text = fmt::format(
      ".TH KRILL 1 \"\" \"krill {}\" \"User Commands\"\n.SH NAME\nkrill \\- solves sparse linear systems on a CPU or a "
      "GPU\n.SH SYNOPSIS\n.B krill\n.I COMMAND\n[OPTIONS]\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      version, roff(program.get_description()));
  for (const CLI::App* command : commands_of(program)) text += roff_command(*command);
  return text + ".SH EXAMPLES\n" + roff_footer(program.get_footer());
}

}  // namespace krill::apps
