// The program's commands, exit codes and messages.
#include "tests/apps/program.hpp"

#include "apps/case/keys.hpp"
#include "sparse/core/optional_libraries.hpp"

namespace krill::apps::test {
namespace {

using Json = nlohmann::json;

const std::string spd_case = "matrix: {generate: poisson2d, nx: 10}\nsolver: {type: pcg}\nbackend: host\n";
class Usage : public Program {};

TEST_F(Usage, help_is_success_for_every_command) {
  for (const std::string command : {"", "solve", "verify", "generate", "convert", "inspect", "schema", "explain",
                                    "formats", "solvers", "preconditioners", "version"}) {
    const Outcome o = krill(command + " --help");
    EXPECT_EQ(o.code, 0) << command;
    EXPECT_TRUE(contains(o.out, "Usage: krill")) << o.out;
    EXPECT_EQ(o.err, "");
  }
  EXPECT_EQ(krill("--version").code, 0);
}

TEST_F(Usage, what_only_tells_something_succeeds) {
  for (const std::string command :
       {"schema", "schema --markdown", "explain gmres", "formats", "solvers", "preconditioners", "version"}) {
    const Outcome o = krill(command);
    EXPECT_EQ(o.code, 0) << command << o.err;
    EXPECT_FALSE(o.out.empty());
    EXPECT_EQ(o.err, "");
  }
}

TEST_F(Usage, schema_and_version_are_json) {
  EXPECT_EQ(Json::parse(krill("schema").out)["title"], "Krill case");
  const Json version = Json::parse(krill("version --json").out);
  for (const std::string key : {"version", "commit", "compiler", "cuda", "libraries"})
    EXPECT_TRUE(version.contains(key)) << key;
  for (const auto& [name, is_there] : {std::pair("METIS", with_metis), {"SuiteSparse", with_suitesparse}})
    EXPECT_EQ(version["libraries"][name], is_there ? "in this build" : "not in this build");
}

TEST_F(Usage, lists_are_complete) {
  const std::string formats = krill("formats").out;
  for (const auto name : format_names) EXPECT_TRUE(contains(formats, "\n  " + std::string(name) + " ")) << name;
  for (const std::string key : {"solver", "preconditioner"}) {
    const std::string list = krill(key + "s").out;
    for (const auto& type : types_of(case_key(key))) EXPECT_TRUE(contains(list, "\n  " + type + " ")) << type;
  }
}

TEST_F(Usage, mistakes_are_named_with_a_proposal) {
  const auto expect = [&](const std::string& arguments, const std::string& message) {
    const Outcome o = krill(arguments);
    EXPECT_EQ(o.code, 2) << arguments;
    EXPECT_EQ(o.out, "");
    EXPECT_TRUE(contains(o.err, message)) << o.err;
    EXPECT_TRUE(o.err.starts_with("krill: ")) << o.err;
  };
  expect("", "krill: a command is missing; expected one of solve, verify, evaluate,");
  expect("slove case.yaml", "krill: there is no command 'slove'; did you mean 'solve'?");
  expect("frobnicate", "krill: there is no command 'frobnicate'\n");
  expect("--vresion", "krill: krill has no option --vresion; did you mean '--version'?");
  expect("solve", "krill: solve: CASE is required");
  expect("solve case.yaml --bakend host", "krill: solve has no option --bakend; did you mean '--backend'?");
  expect("solve case.yaml --backend gpu", "krill: solve: --backend: gpu not in {auto,host,cuda}");
  expect("solve case.yaml another.yaml", "krill: solve: ");
  expect("generate poisson3 -o a.mtx", "krill: there is no generator 'poisson3'; did you mean 'poisson3d'?");
  expect("generate poisson3d", "krill: generate: --output is required");
  expect("generate poisson3d nq=4 -o a.mtx",
         "krill: nq=4: unknown key \"nq\"; did you mean 'nx', 'ny' or 'nz'? allowed: nx, ny, nz, stencil");
  expect("generate poisson3d nx=0 -o a.mtx", "krill: nx=0: nx is 0, expected an integer of at least 1");
  expect("generate poisson3d nx -o a.mtx", "krill: nx: expected key=value");
  expect("convert a.mtx b.mtx --symmetric --general", "krill: convert: --");
  expect("explain relativ", "krill: a case has nothing that is called 'relativ'; did you mean 'relative'?");
  EXPECT_TRUE(folder_is_empty());
}

TEST_F(Usage, a_full_standard_output_is_an_error) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  const int status = std::system(("'" + program_ + "' schema >/dev/full 2>/dev/null").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST_F(Usage, openmp_waits_passively_unless_the_user_says_otherwise) {
  const Outcome by_default = krill("formats", "env -u OMP_WAIT_POLICY OMP_DISPLAY_ENV=true");
  EXPECT_EQ(by_default.code, 0);
  EXPECT_TRUE(contains(by_default.err, "PASSIVE")) << by_default.err;
  const Outcome as_told = krill("formats", "env OMP_WAIT_POLICY=active OMP_DISPLAY_ENV=true");
  EXPECT_EQ(as_told.code, 0);
  EXPECT_FALSE(contains(as_told.err, "PASSIVE")) << as_told.err;
}

TEST_F(Usage, arguments_survive_the_restart) {
  const Outcome o = krill("explain 'a  b $c'", "env -u OMP_WAIT_POLICY");
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(contains(o.err, "'a  b $c'")) << o.err;
}

class SolveCommandLine : public Program {};

TEST_F(SolveCommandLine, the_effective_case_of_the_report_runs_again) {
  folder_.write("case.yaml", spd_case);
  const Json report = Json::parse(krill("solve case.yaml --json").out);
  folder_.write("again.yaml", report["case"].dump());
  const Json again = Json::parse(krill("solve again.yaml --json").out);
  EXPECT_EQ(again["case"], report["case"]);
  EXPECT_EQ(again["iterations"], report["iterations"]);
}

TEST_F(SolveCommandLine, options_reach_the_case) {
  folder_.write("case.yaml", spd_case);
  const Json report = Json::parse(
      krill("solve case.yaml --json --out there --set solver.type=gmres --set solver.restart=7 --backend host").out);
  EXPECT_EQ(report["case"]["solver"]["restart"], 7);
  EXPECT_TRUE(exists("there/report.json"));
  EXPECT_FALSE(exists("out"));
}

TEST_F(SolveCommandLine, a_bad_case_is_2_with_all_errors_and_writes_nothing) {
  folder_.write("case.yaml", "matrix: {generate: poisson1d, nx: 0}\nsolver: {type: cg}\n");
  const Outcome o = krill("solve case.yaml --out there");
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.err,
            "krill: case.yaml:1:35: matrix.nx is 0, expected an integer of at least 1\n"
            "krill: case.yaml:2:16: solver.type is cg, expected one of pcg, fcg, gmres, fgmres, bicgstab, richardson, "
            "multigrid, "
            "banded, direct or "
            "auto; Krill "
            "calls that pcg\n");
  EXPECT_FALSE(exists("there") || exists("out"));
}

TEST_F(SolveCommandLine, bad_input_is_2_and_writes_nothing) {
  const auto expect = [&](const std::string& text, const std::string& message) {
    folder_.write("case.yaml", text);
    const Outcome o = krill("solve case.yaml");
    EXPECT_EQ(o.code, 2) << text << o.out;
    EXPECT_TRUE(contains(o.err, message)) << o.err;
    EXPECT_TRUE(o.err.starts_with("krill: ")) << o.err;
    for (const std::string file : {"report.json", "residuals.csv", "solution.mtx"})
      EXPECT_FALSE(exists("out/case/" + file)) << text;
  };
  const std::string gmres = "solver: {type: gmres}\nbackend: host\n";
  folder_.write("wide.mtx", banner + "2 3 1\n1 1 1\n");
  folder_.write("square.mtx", banner + "2 2 3\n1 1 4\n2 2 4\n1 2 1\n");
  folder_.write("nan.mtx", banner + "1 1 1\n1 1 nan\n");
  folder_.write("short.mtx", banner + "2 2 3\n1 1 4\n");
  folder_.write("huge.mtx", banner + "1000000000000000000 1000000000000000000 1\n1 1 1\n");
  folder_.write("b3.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
  expect("matrix: {file: none.mtx}\n" + gmres, "none.mtx");
  expect("matrix: {file: short.mtx}\n" + gmres, "short.mtx:4:1");
  expect("matrix: {file: huge.mtx}\n" + gmres, "huge.mtx:2:1");
  expect("matrix: {file: wide.mtx}\n" + gmres, "square");
  expect("matrix: {file: nan.mtx}\n" + gmres, "nan");
  expect("matrix: {file: square.mtx}\nrhs: {type: file, path: b3.mtx}\n" + gmres, "3 entries");
  expect("matrix: {file: square.mtx}\nsolver: {type: pcg}\nbackend: host\n", "assume: spd");
  expect("matrix: {generate: convection_diffusion2d, nx: 5}\nsolver: {type: pcg}\nbackend: host\n", "a(");
}

TEST_F(SolveCommandLine, no_device_is_3) {
  if (Json::parse(krill("version --json").out)["cuda"]["why_no_device"].is_null())
    GTEST_SKIP() << "there is a CUDA device";
  folder_.write("case.yaml", spd_case);
  const Outcome o = krill("solve case.yaml --backend cuda");
  EXPECT_EQ(o.code, 3);
  EXPECT_TRUE(o.err.starts_with("krill: no CUDA device")) << o.err;
}

TEST_F(SolveCommandLine, more_memory_than_there_is_is_3) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer needs more address space than this test allows";
#endif
  folder_.write("case.yaml", "matrix: {generate: poisson1d, nx: 2147483647}\nsolver: {type: pcg}\nbackend: host\n");
  const Outcome o = krill("solve case.yaml", "ulimit -v 8000000;");
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_TRUE(o.err.starts_with("krill: ")) << o.err;
}

}  // namespace
}  // namespace krill::apps::test
