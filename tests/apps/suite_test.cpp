// krill suite: baselines, comparison, JUnit XML, and the program as a user runs it.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <thread>

#include "apps/suite/suite_report.hpp"
#include "tests/apps/program.hpp"

namespace krill::apps::test {
namespace {

using namespace suite;

CaseRun converged(int iterations) {
  CaseRun run{.name = "a.yaml", .status = "converged"};
  run.has_figures = true;
  run.iterations = iterations;
  run.true_residual = 5e-9, run.target = 1e-8;
  return run;
}

std::string errors_of_baseline(const std::string& text) {
  const Scratch folder;
  const std::string path = folder.write("baseline.yaml", text);
  try {
    read_baseline(path);
    return {};
  } catch (const CaseError& error) {
    return std::string(error.what()).substr(path.size());
  }
}

ExpectedResults baseline_of(const std::string& text) {
  const Scratch folder;
  return read_baseline(folder.write("baseline.yaml", text));
}

TEST(SuiteBaseline, what_it_says_is_read) {
  const auto all = baseline_of(
      "cases:\n  sub/a.yaml: {status: max_iterations, iterations: {least: 3, most: 5}, true_residual: 1e-6, "
      "error: 0.5}\n  b.yaml: {}\n");
  ASSERT_EQ(all.size(), 2U);
  const Expectation& a = all.at("sub/a.yaml");
  EXPECT_EQ(a.status, "max_iterations");
  EXPECT_EQ(a.iterations.min, 3);
  EXPECT_EQ(a.iterations.max, 5);
  EXPECT_EQ(a.true_residual, 1e-6);
  EXPECT_EQ(a.error, 0.5);
  EXPECT_EQ(all.at("b.yaml").status, "converged");
}

TEST(SuiteBaseline, what_is_wrong_is_said_with_its_line) {
  EXPECT_PRED2(contains, errors_of_baseline("cases:\n  a.yaml: {status: convergd}\n"),
               ":2:20: status is 'convergd'; did you mean 'converged'?");
  EXPECT_PRED2(contains, errors_of_baseline("cases:\n  a.yaml: {iteration: 3}\n"), ":2:12: unknown key \"iteration\"");
  EXPECT_PRED2(contains, errors_of_baseline("cases:\n  a.yaml: {iterations: {least: 9, most: 3}}\n"),
               "iterations.least is 9, expected at most iterations.most, 3");
  EXPECT_PRED2(contains, errors_of_baseline("cases:\n  a.yaml: converged\n"), ":2:3: a.yaml has to be a section");
  EXPECT_PRED2(contains, errors_of_baseline("cases: [a.yaml]\n"), "cases has to be a section");
  EXPECT_PRED2(contains, errors_of_baseline("case: {}\n"), "unknown key \"case\"");
  EXPECT_PRED2(contains, errors_of_baseline(""), "the baseline is empty");
  EXPECT_PRED2(contains, errors_of_baseline("cases:\n  a.yaml: {true_residual: -1}\n"), "true_residual");
}

TEST(SuiteBaseline, what_was_written_of_runs_is_met_by_them) {
  std::vector<CaseRun> runs{converged(120), converged(0)};
  runs[1].name = "odd: \"name\" #1.yaml";
  runs[0].error = 3.21e-7;
  runs.push_back({.name = "-x.yaml", .status = "refused", .why = "no such file"});
  const ExpectedResults all = baseline_of(baseline_yaml(runs));
  ASSERT_EQ(all.size(), 3U);
  for (const CaseRun& run : runs) {
    ASSERT_TRUE(all.contains(run.name)) << run.name;
    EXPECT_TRUE(deviations(all.at(run.name), run).empty()) << run.name << deviations(all.at(run.name), run).front();
  }
  EXPECT_EQ(all.at("a.yaml").iterations.min, 108);
  EXPECT_EQ(all.at("a.yaml").iterations.max, 132);
  EXPECT_NEAR(all.at("a.yaml").error, 3.21e-6, 0.1e-6);  // two digits, rounded up
  EXPECT_GE(all.at("a.yaml").error, 3.21e-6);
}

TEST(SuiteBaseline, every_deviation_is_named) {
  const Expectation expected{"converged", {100, 110}, 1e-8, 1e-6};
  CaseRun run = converged(105);
  run.error = 1e-6;
  EXPECT_TRUE(deviations(expected, run).empty());
  run.iterations = 111, run.true_residual = std::numeric_limits<double>::quiet_NaN(), run.error = 2e-6;
  const auto found = deviations(expected, run);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], "111 iterations, expected 100 to 110");
  EXPECT_PRED2(contains, found[1], "the true residual is nan");
  EXPECT_EQ(found[2], "the error is 2e-06, expected at most 1e-06");
  run.error = {};
  EXPECT_PRED2(contains, deviations(expected, run).back(), "no error is known");
  run.status = "stagnated", run.why = "the residual stands still";
  EXPECT_EQ(deviations(expected, run),
            std::vector<std::string>{"the status is stagnated, expected converged: the residual stands still"});
}

SuiteResult nasty_result() {
  SuiteResult result{"configs \"<&>\"", "host", "2026-01-02T03:04:05", {}};
  result.cases.push_back({converged(10), {}});
  result.cases.push_back(
      {converged(12), {"x < 1 & \"y\" > 2 | z", std::string("bytes \x01 \xff \xc0\xaf \xed\xa0\x80 \xe2\x82\xac")}});
  result.cases.back().run.name = "b & <c>.yaml";
  return result;
}

TEST(SuiteReport, junit_xml_is_valid_whatever_the_names_are) {
  if (std::system("xmllint --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "xmllint is not installed";
  const Scratch folder;
  const std::string file = folder.write("junit.xml", junit_xml(nasty_result()));
  const std::string schema = std::filesystem::absolute("tests/apps/junit.xsd").string();
  EXPECT_EQ(
      std::system(("xmllint --noout --schema '" + schema + "' '" + file + "' 2>'" + (folder / "words") + "'").c_str()),
      0)
      << contents(folder / "words") << contents(file);
  const std::string query =
      "xmllint --xpath 'string(//testcase[failure]/@name)' '" + file + "' >'" + (folder / "name") + "'";
  ASSERT_EQ(std::system(query.c_str()), 0);
  EXPECT_EQ(contents(folder / "name"), "b & <c>.yaml\n");
}

TEST(SuiteReport, junit_xml_counts) {
  const std::string text = junit_xml(nasty_result());
  EXPECT_PRED2(contains, text, "tests=\"2\" failures=\"1\" errors=\"0\"");
  EXPECT_PRED2(contains, text, "x &lt; 1 &amp; &quot;y&quot; &gt; 2");
  EXPECT_PRED2(contains, text, "bytes ? ? ?? ??? \xe2\x82\xac");
}

TEST(SuiteReport, a_table_has_a_line_for_each_case) {
  const std::string text = suite_markdown(nasty_result());
  EXPECT_PRED2(contains, text, "2 cases, 1 not as expected");
  EXPECT_PRED2(contains, text, "| a.yaml | ok | converged | 10 | 5.00e-09 |");
  EXPECT_PRED2(contains, text, "| **FAILED** | converged | 12 |");
  EXPECT_PRED2(contains, text, "\\| z");  // the bar ends no cell
}

class SuiteProgram : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    std::filesystem::create_directories(folder_ / "cases/sub");
    write("good.yaml", "solver: {type: pcg}\nrhs: {type: manufactured}\n");
    write("sub/short.yaml", "solver: {type: pcg, max_iterations: 2}\n");
    write("bad.yaml", "solver: {type: pgc}\n");
    folder_.write("cases/sweep.yaml", "case: {}\n");
  }
  void write(const std::string& name, const std::string& solver) const {
    folder_.write("cases/" + name, "matrix: {generate: poisson2d, nx: 12}\n" + solver);
  }
  Outcome baseline() { return krill("suite baseline cases -o cases/baseline.yaml --backend host"); }
  Outcome run(const std::string& more = "") {
    return krill("suite run cases --baseline cases/baseline.yaml --backend host " + more);
  }
};

TEST_F(SuiteProgram, a_baseline_of_a_run_is_met_by_the_next_one) {
  const Outcome made = baseline();
  ASSERT_EQ(made.code, 0) << made.err;
  const ExpectedResults all = read_baseline(folder_ / "cases/baseline.yaml");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all.at("good.yaml").status, "converged");
  EXPECT_GT(all.at("good.yaml").error, 0);
  EXPECT_EQ(all.at("sub/short.yaml").status, "max_iterations");
  EXPECT_EQ(all.at("bad.yaml").status, "refused");
  const Outcome again = run("--junit j.xml --markdown m.md");
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_PRED2(contains, again.out, "no cases, left out: baseline.yaml, sweep.yaml\n");
  EXPECT_PRED2(contains, again.out, "3 cases, 0 not as expected");
  EXPECT_PRED2(contains, contents(folder_ / "j.xml"), "failures=\"0\"");
  EXPECT_PRED2(contains, contents(folder_ / "m.md"), "| sub/short.yaml | ok | max_iterations |");
  EXPECT_EQ(names_in(folder_ / "").size(), 3U);  // cases leave no files of their own
}

TEST_F(SuiteProgram, what_changed_fails) {
  ASSERT_EQ(baseline().code, 0);
  write("good.yaml", "solver: {type: pcg, max_iterations: 3}\n");
  write("new.yaml", "solver: {type: gmres}\n");
  std::filesystem::remove(folder_ / "cases/sub/short.yaml");
  const Outcome changed = run("--junit j.xml");
  EXPECT_EQ(changed.code, 1) << changed.err;
  EXPECT_PRED2(contains, changed.out, "the status is max_iterations, expected converged");
  EXPECT_PRED2(contains, changed.out, "the baseline does not have this case");
  EXPECT_PRED2(contains, changed.out, "the baseline has this case, and the folder does not");
  EXPECT_PRED2(contains, changed.out, "4 cases, 3 not as expected");
  EXPECT_PRED2(contains, contents(folder_ / "j.xml"), "tests=\"4\" failures=\"3\"");
}

TEST_F(SuiteProgram, a_case_that_does_not_end_is_ended) {
  ASSERT_EQ(baseline().code, 0);
  folder_.write("cases/good.yaml", "matrix: {generate: poisson3d, nx: 200}\nsolver: {type: pcg}\n");
  const Outcome ended = run("--time-limit 0.3");
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_PRED2(contains, ended.out, "the status is too_long, expected converged: no end within 0.3 s");
}

TEST_F(SuiteProgram, a_suite_that_is_killed_leaves_no_case_running) {
  ASSERT_EQ(baseline().code, 0);
  folder_.write("cases/good.yaml", "matrix: {generate: poisson3d, nx: 200}\nsolver: {type: pcg}\n");
  const std::string line = "cd '" + (folder_ / "") + "' && exec '" + program_ +
                           "' suite run cases --baseline cases/baseline.yaml --backend host >/dev/null 2>&1";
  const pid_t suite = fork();
  if (suite == 0) {
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  const std::string of_suite = "/proc/" + std::to_string(suite) + "/task/" + std::to_string(suite) + "/children";
  // The second case in alphabetical order takes seconds.
  pid_t solve = 0;
  const auto takes_seconds = [&](pid_t child) {
    return contains(contents("/proc/" + std::to_string(child) + "/cmdline"), "good.yaml");
  };
  for (int i = 0; i < 1000 && !(solve > 0 && takes_seconds(solve)); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    solve = std::atoi(contents(of_suite).c_str());
  }
  ASSERT_GT(solve, 0);
  kill(suite, SIGKILL);
  waitpid(suite, nullptr, 0);
  for (int i = 0; i < 500 && kill(solve, 0) == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_NE(kill(solve, 0), 0) << "the case outlived the suite";
}

TEST_F(SuiteProgram, what_cannot_be_used_is_refused_before_anything_runs) {
  const auto refused = [&](const std::string& arguments, const std::string& message) {
    const Outcome got = krill(arguments);
    EXPECT_EQ(got.code, 2) << arguments;
    EXPECT_PRED2(contains, got.err, message) << arguments;
    EXPECT_FALSE(contains(got.out, "good.yaml")) << arguments;
  };
  ASSERT_EQ(baseline().code, 0);
  refused("suite run cases --baseline none.yaml", "none.yaml: cannot be read");
  refused("suite run nowhere --baseline cases/baseline.yaml", "nowhere: No such file or directory");
  refused("suite run cases/sub/.. --baseline cases/baseline.yaml --junit no/such/j.xml", "no/such");
  refused("suite run cases --basline cases/baseline.yaml",
          "suite run has no option --basline; did you mean '--baseline'?");
  refused("suite run cases", "suite run: --baseline is required");
  refused("suite", "suite: expected run or baseline");
  refused("suite rnu", "did you mean 'run'?");
  std::filesystem::create_directories(folder_ / "empty");
  refused("suite baseline empty -o b.yaml", "there is no case");
  EXPECT_FALSE(exists("b.yaml"));
}

}  // namespace
}  // namespace krill::apps::test
