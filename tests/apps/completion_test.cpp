// Completion in shells and editors, and the manual page.
#include <algorithm>
#include <sstream>

#include "apps/case/keys.hpp"
#include "tests/apps/program.hpp"

namespace krill::apps {
namespace {

using test::contains;
using Lines = std::vector<std::string>;

class Completion : public test::Program {
 protected:
  bool has(const std::string& program) { return std::system(("command -v " + program + " >/dev/null").c_str()) == 0; }
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(krill("completion bash").code, 0);
    folder_.write("krill.bash", test::contents(outputs_ / "stdout"));
  }

  /// What bash proposes for a line with the cursor at its end.
  Lines proposals(const std::string& typed) {
    const std::string script = folder_.write("complete.sh",
                                             "source krill.bash\n"
                                             "COMP_LINE='" +
                                                 typed +
                                                 "' COMP_POINT=${#COMP_LINE}\n"
                                                 "COMP_WORDBREAKS=$' \\t\\n\"><=;|&(:'\n"
                                                 "_krill && printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    const std::string said = outputs_ / "proposals";
    const std::string line = "cd '" + (folder_ / "") + "' && bash " + script + " > " + said;
    EXPECT_EQ(std::system(line.c_str()), 0);
    Lines lines;
    std::istringstream in(test::contents(said));
    for (std::string one; std::getline(in, one);)
      if (!one.empty()) lines.push_back(one);
    std::ranges::sort(lines);
    return lines;
  }
};

TEST_F(Completion, of_bash_knows_commands_options_and_their_values) {
  EXPECT_EQ(proposals("krill so"), (Lines{"solve", "solvers"}));
  EXPECT_EQ(proposals("krill --v"), (Lines{"--version"}));
  EXPECT_EQ(proposals("krill solve --va"), (Lines{"--variant"}));
  EXPECT_EQ(proposals("krill solve case.yaml --backend "), (Lines{"auto", "cuda", "host"}));
  EXPECT_EQ(proposals("krill evaluate x.mtx --portfolio th"), (Lines{"thorough"}));
  EXPECT_EQ(proposals("krill explain solver.stop.rel"), (Lines{"solver.stop.relative"}));
  EXPECT_EQ(proposals("krill explain gm"), (Lines{"gmres"}));
  EXPECT_EQ(proposals("krill generate poisson"), (Lines{"poisson1d", "poisson2d", "poisson3d"}));
  EXPECT_EQ(proposals("krill completion z"), (Lines{"zsh"}));
  for (const auto& command : proposals("krill ")) EXPECT_NE(command, "evaluate-worker");
}

TEST_F(Completion, of_bash_knows_the_keys_of_cases_and_their_words) {
  EXPECT_EQ(proposals("krill solve case.yaml --set solver.res"), (Lines{"solver.restart="}));
  auto solvers = types_of(case_key("solver"));
  std::ranges::sort(solvers);
  EXPECT_EQ(proposals("krill solve --set solver.type="), solvers);
  EXPECT_EQ(proposals("krill solve --set preconditioner.type=jac"), (Lines{"jacobi"}));
  EXPECT_EQ(proposals("krill solve --set output.plot=f"), (Lines{"false"}));
}

TEST_F(Completion, of_bash_names_files) {
  folder_.write("thermal case.yaml", "");
  folder_.write("thermal.mtx", "");
  EXPECT_EQ(proposals("krill solve therm"), (Lines{"thermal case.yaml", "thermal.mtx"}));
  EXPECT_EQ(proposals("krill solve x.yaml --out therm"), (Lines{"thermal case.yaml", "thermal.mtx"}));
}

TEST_F(Completion, of_other_shells_is_right_by_their_own_parsers) {
  for (const std::string shell : {"zsh", "fish"}) {
    const auto outcome = krill("completion " + shell);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "evaluate") && contains(outcome.out, "solver.restart=")) << shell;
    if (!has(shell)) continue;
    EXPECT_EQ(std::system((shell + " -n '" + folder_.write("script", outcome.out) + "'").c_str()), 0);
  }
  EXPECT_EQ(krill("completion csh").code, 2);
}

/// The text of a block of docs/editors.md that begins with the given line.
std::string example(const std::string& language) {
  const std::string text = test::contents("docs/editors.md"), fence = "```" + language + "\n";
  const std::size_t begin = text.find(fence) + fence.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

/// What an editor with the schemas of cases and sweeps at hand says of files beside them.
class Editor : public Completion {
 protected:
  void SetUp() override {
    Completion::SetUp();
    if (IsSkipped()) return;
    if (!has("yaml-language-server")) GTEST_SKIP() << "yaml-language-server is not there";
    folder_.write("case.schema.json", krill("schema").out);
    folder_.write("sweep.schema.json", krill("schema --sweep").out);
  }
  std::string says(const std::string& name, const std::string& text, const std::string& options = "") {
    const std::string line = "timeout 60 python3 tests/apps/language_server.py '" + folder_.write(name, text) + "' " +
                             options + " >'" + (outputs_ / "said") + "'";
    EXPECT_EQ(std::system(line.c_str()), 0);
    return test::contents(outputs_ / "said");
  }
};

TEST_F(Editor, underlines_mistakes_as_the_documentation_shows) {
  const std::string settings = "--settings " + folder_.write("settings.json", example("json")),
                    with_line = example("yaml");
  EXPECT_EQ(says("any.yaml", with_line), "done\n");
  EXPECT_EQ(says("any.yaml", with_line + "solvr: {}\n"), "4:1: Property solvr is not allowed.\ndone\n");
  EXPECT_EQ(says("sweep.yaml", test::contents("configs/sweep.yaml"), settings), "done\n");
  const std::string gmres = test::contents("configs/gmres.yaml");
  EXPECT_EQ(says("case_gmres.yaml", gmres, settings), "done\n");
  EXPECT_TRUE(contains(says("case_gmres.yaml", gmres + "thread: 1\n", settings), "Property thread is not allowed."));
}

TEST_F(Editor, knows_the_keys_of_preconditioners_inside_of_others) {
  const std::string said = says("any.yaml",
                                example("yaml") +
                                    "preconditioner:\n"
                                    "  type: solver\n"
                                    "  inner:\n"
                                    "    preconditioner:\n"
                                    "      type: schwarz\n"
                                    "      inner:\n"
                                    "        type: iluk\n"
                                    "        level: 2\n"
                                    "        levle: 2\n"
                                    "        \n",
                                "--hover 11:10 --complete 13:9");
  std::string expected = "12:9: Property levle is not allowed.\n";
  EXPECT_EQ(said.substr(0, expected.size()), expected);
  const auto& keys = case_key("preconditioner").alternative("iluk")->keys();
  EXPECT_TRUE(contains(said, " " + find_key(keys, "level")->doc + " ")) << said;
  for (const Key& key : keys) {
    const bool proposed = contains(said, "\n" + key.name + " | " + key.doc + "\n");
    EXPECT_EQ(proposed, key.name != "level") << key.name << " in:\n" << said;
  }
  EXPECT_FALSE(contains(said, "\nrestart | ")) << said;
}

TEST_F(Completion, manual_names_every_command_and_formats_without_warnings) {
  const auto page = krill("man");
  ASSERT_EQ(page.code, 0) << page.err;
  for (const std::string name : {"solve CASE", "evaluate FILE", "explain KEY", "version", "\\-\\-variant"})
    EXPECT_TRUE(contains(page.out, name)) << name;
  EXPECT_FALSE(contains(page.out, "evaluate\\-worker"));
  if (!has("groff")) return;
  const std::string warnings = outputs_ / "warnings";
  const std::string line =
      "groff -man -Tutf8 -ww '" + folder_.write("krill.1", page.out) + "' 2>'" + warnings + "' >/dev/null";
  EXPECT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(test::contents(warnings), "");
}

}  // namespace
}  // namespace krill::apps
