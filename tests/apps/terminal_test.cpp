// What users see of the program: its width, its colors, its JSON.
#include "apps/support/terminal.hpp"

#include <sstream>

#include "tests/apps/program.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Outcome;

std::string long_lines(const std::string& text) {
  std::istringstream in(text);
  std::string found;
  for (std::string line; std::getline(in, line);)
    if (line.size() > text_width) found += line + "\n";
  return found;
}

class Terminal : public test::Program {
 protected:
  /// What the program writes to a terminal.
  std::string on_terminal(const std::string& arguments, const std::string& settings) {
    const std::string file = outputs_ / "terminal";
    const std::string line = "cd '" + (folder_ / "") + "' && " + settings + " script -qec \"'" + program_ + "' " +
                             arguments + "\" /dev/null >'" + file + "' 2>&1 </dev/null";
    EXPECT_GE(std::system(line.c_str()), 0);
    return test::contents(file);
  }
};

TEST_F(Terminal, help_fits_80_columns) {
  for (const std::string command :
       {"", "solve", "verify", "evaluate", "generate", "convert", "inspect", "bench", "suite", "suite run",
        "suite baseline", "schema", "explain", "formats", "solvers", "preconditioners", "version", "completion"}) {
    const Outcome o = krill(command + " --help");
    EXPECT_EQ(o.code, 0) << command << o.err;
    EXPECT_EQ(long_lines(o.out), "") << command;
  }
}

TEST_F(Terminal, output_fits_80_columns) {
  folder_.write("case.yaml", "matrix: {generate: poisson2d, nx: 12}\nsolver: auto\nverify: {reference: eigen}\n");
  ASSERT_EQ(krill("generate convection_diffusion2d nx=20 -o m.mtx").code, 0);
  for (const std::string command :
       {"solve case.yaml", "solve case.yaml --verbose",
        "solve case.yaml --set solver=gmres --set scaling=ruiz --verbose",
        "solve case.yaml --set solver=pcg --set 'preconditioner={type: amg, coarse_rows: 9, precision: float64}' "
        "--set contraction_steps=20 --verbose",
        "solve case.yaml --plan --backend host", "solve m.mtx", "inspect m.mtx", "verify case.yaml --backend host",
        "evaluate m.mtx --portfolio quick --backend host", "convert m.mtx n.mtx", "formats", "solvers",
        "preconditioners", "explain solver", "explain preconditioner", "explain matrix", "explain gmres"}) {
    const Outcome o = krill(command);
    EXPECT_EQ(o.code, 0) << command << o.err;
    EXPECT_EQ(long_lines(o.out), "") << command;
  }
  EXPECT_EQ(long_lines(test::contents(folder_ / "out/m/best.yaml")), "");
  ASSERT_EQ(krill("inspect m.mtx --out found").code, 0);
  EXPECT_EQ(long_lines(test::contents(folder_ / "found/suggested.yaml")), "");
}

TEST_F(Terminal, tables_of_suites_and_names_of_files_fit_80_columns) {
  std::filesystem::create_directory(folder_ / "cases");
  folder_.write("cases/a_case_whose_name_is_rather_long_for_the_first_column_of_a_table.yaml",
                "matrix: {generate: poisson2d, nx: 12}\nsolver: auto\nbackend: host\n");
  folder_.write("cases/other.yaml", "matrix: {generate: poisson1d, nx: 9}\nsolver: pcg\nbackend: host\n");
  for (const std::string& command :
       {"generate poisson2d nx=9 -o " + std::string(60, 'm') + ".mtx",
        std::string("suite baseline cases --output base.yaml"), std::string("suite run cases --baseline base.yaml")}) {
    const Outcome o = krill(command);
    EXPECT_EQ(o.code, 0) << command << o.err;
    EXPECT_EQ(long_lines(o.out), "") << command;
  }
}

TEST_F(Terminal, colors_are_for_terminals_that_want_them) {
  if (std::system("command -v script >/dev/null") != 0) GTEST_SKIP() << "script is not installed";
  folder_.write("case.yaml", "matrix: {generate: poisson1d, nx: 9}\nsolver: pcg\nbackend: host\n");
  const std::string solve = "solve case.yaml", too_short = "solve case.yaml --set solver.max_iterations=1";
  EXPECT_TRUE(contains(on_terminal(solve, "env -u NO_COLOR TERM=xterm"), "\x1b[32mconverged\x1b[0m"));
  EXPECT_TRUE(contains(on_terminal(too_short, "env -u NO_COLOR TERM=xterm"), "\x1b[31mmax_iterations\x1b[0m"));
  EXPECT_TRUE(contains(on_terminal(solve, "env NO_COLOR= TERM=xterm"), "\x1b[32m"));
  for (const std::string plain : {"env -u NO_COLOR TERM=dumb", "env NO_COLOR=1 TERM=xterm"}) {
    const std::string out = on_terminal(solve, plain);
    EXPECT_TRUE(contains(out, "converged after")) << plain;
    EXPECT_FALSE(contains(out, "\x1b[3")) << plain;
  }
  EXPECT_FALSE(contains(krill(solve, "env TERM=xterm").out, "\x1b"));
}

TEST_F(Terminal, a_solve_says_first_what_was_asked_and_reasons_once) {
  folder_.write("case.yaml", "matrix: {generate: poisson2d, nx: 12}\nsolver: auto\nbackend: host\n");
  const std::string brief = krill("solve case.yaml").out, whole = krill("solve case.yaml --verbose").out;
  for (const char* detail : {"backward error", "products", "recurrence"}) {
    EXPECT_FALSE(contains(brief, detail)) << brief;
    EXPECT_TRUE(contains(whole, detail)) << whole;
  }
  const std::string reason = "solver: auto is";
  const std::size_t at = whole.find(reason);
  ASSERT_NE(at, std::string::npos) << whole;
  EXPECT_EQ(whole.find("auto is", whole.find("\nconverged")), std::string::npos) << whole;
}

TEST_F(Terminal, json_is_there_for_errors_too) {
  folder_.write("case.yaml", "matrix: {generate: poisson1d}\nsolver: {type: pcg, tol: 1}\n");
  for (const std::string command :
       {"solve case.yaml --json", "solve nowhere.yaml --json", "inspect nowhere.mtx --json",
        "evaluate nowhere.yaml --json", "verify case.yaml --json", "solve --json --nothing"}) {
    const Outcome o = krill(command);
    EXPECT_EQ(o.code, 2) << command;
    const auto json = nlohmann::json::parse(o.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << command << o.out;
    EXPECT_EQ(json["exit_code"], 2) << command;
    EXPECT_FALSE(json["error"].get<std::string>().empty()) << command;
  }
  EXPECT_EQ(krill("solve nowhere.yaml").out, "");
}

TEST_F(Terminal, other_programs_words_are_explained_and_refused_by_ours) {
  for (const auto& [word, ours] :
       std::vector<std::pair<std::string, std::string>>{{"tol", "solver.stop.relative"},
                                                        {"rtol", "solver.stop.relative"},
                                                        {"atol", "solver.stop.absolute"},
                                                        {"max_it", "solver.max_iterations"},
                                                        {"maxiter", "solver.max_iterations"},
                                                        {"precond", "preconditioner"},
                                                        {"ksp_type", "solver.type"},
                                                        {"cg", "pcg"},
                                                        {"ilu", "ilu0"},
                                                        {"tolerance", "solver.stop.relative"}}) {
    const Outcome o = krill("explain " + word);
    EXPECT_EQ(o.code, 0) << word << o.err;
    EXPECT_TRUE(contains(o.out, "Krill calls that " + ours)) << word << "\n" << o.out;
  }
  for (const std::string word : {"tol", "rtol", "atol", "max_it", "maxiter", "tolerance", "precond", "ksp_type"}) {
    const Outcome in_solver =
        krill("solve - --json --set 'solver={type: pcg, " + word + ": 1}' --set matrix.generate=poisson1d");
    EXPECT_TRUE(contains(in_solver.err, "Krill calls that ")) << word << in_solver.err;
  }
  for (const std::string setting :
       {"solver=cg", "preconditioner=ilu", "solver.type=cg", "solver.tol=1e-9", "tol=1e-9"}) {
    folder_.write("case.yaml", "matrix: {generate: poisson1d}\n");
    const Outcome o = krill("solve case.yaml --set " + setting);
    EXPECT_EQ(o.code, 2) << setting;
    EXPECT_TRUE(contains(o.err, "Krill calls that ")) << setting << o.err;
  }
}

TEST_F(Terminal, explains_paths_through_types) {
  for (const std::string word : {"solver.type", "preconditioner.type", "preconditioner.ilu0", "solver.gmres.restart"}) {
    const Outcome o = krill("explain " + word);
    EXPECT_EQ(o.code, 0) << word << o.err;
    EXPECT_FALSE(o.out.empty()) << word;
  }
}

}  // namespace
}  // namespace krill::apps
