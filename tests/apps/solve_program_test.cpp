// `krill solve` as a process: what it prints, its exit codes, and signals.
#include <fcntl.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "apps/support/interruption.hpp"
#include "sparse/io/atomic_file.hpp"
#include "tests/apps/solve_support.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Scratch;
using namespace std::chrono_literals;

class SolveProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* program = std::getenv("KRILL_PROGRAM");
    if (!program) GTEST_SKIP() << "KRILL_PROGRAM names no program";
    program_ = program;
  }

  struct Ended {
    int code = -1;  ///< 128 + signal where a signal ended it
    std::string out, err;
  };

  pid_t start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {program_, "solve"});
    std::filesystem::remove(scratch_ / "stdout");  // what an earlier one said
    const pid_t child = fork();
    if (child != 0) return child;
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int out = open((scratch_ / "stdout").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    const int err = open((scratch_ / "stderr").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(program_.c_str(), argv.data());
    _exit(127);
  }

  /// Waits for a minute at most.
  Ended end_of(pid_t child) {
    int status = 0;
    for (int i = 0; waitpid(child, &status, WNOHANG) == 0; ++i) {
      if (i == 6000) {
        ADD_FAILURE() << "hangs";
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        break;
      }
      std::this_thread::sleep_for(10ms);
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), test::contents(scratch_ / "stdout"),
            test::contents(scratch_ / "stderr")};
  }

  Ended run(const std::vector<std::string>& arguments) { return end_of(start(arguments)); }

  /// Waits until the program has said that.
  void await(const std::string& word) {
    for (int i = 0; i < 3000; ++i) {
      if (std::filesystem::exists(scratch_ / "stdout") && contains(test::contents(scratch_ / "stdout"), word)) return;
      std::this_thread::sleep_for(10ms);
    }
    ADD_FAILURE() << "never said " << word;
  }

  std::string small_case() {
    return scratch_.write("small.yaml", "matrix: {generate: poisson2d, nx: 10}\nsolver: {type: pcg}\n");
  }
  /// Runs for hours.
  std::string endless_case() {
    return scratch_.write("endless.yaml",
                          "matrix: {generate: poisson2d, nx: 700}\n"
                          "rhs: {type: random}\n"
                          "solver: {type: pcg, max_iterations: 100000000, stop: {relative: 0, stagnation: 0}}\n"
                          "verify: {reference: eigen}\n");
  }
  std::string out() const { return scratch_ / "out"; }

  Scratch scratch_;
  std::string program_;
};

TEST_F(SolveProgram, prints_a_summary_with_the_status_first) {
  const Ended end = run({small_case(), "--out", out()});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_TRUE(contains(end.out, "\n\nconverged after ")) << end.out;
  EXPECT_TRUE(contains(end.out, out() + "/: ")) << end.out;
  EXPECT_FALSE(contains(end.out, "\r") || contains(end.out, "\x1b"));
  EXPECT_EQ(end.err, "");
}

TEST_F(SolveProgram, quiet_prints_nothing_but_failure) {
  const Ended end = run({small_case(), "--out", out(), "--quiet"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out + end.err, "");
  const Ended failed = run({small_case(), "--out", out(), "--quiet", "--set", "solver.max_iterations=1"});
  EXPECT_EQ(failed.out, "");
  EXPECT_TRUE(failed.err.starts_with("krill: max_iterations: after 1 iterations the residual is ")) << failed.err;
}

TEST_F(SolveProgram, names_no_preconditioner_where_there_is_none) {
  const std::string path =
      scratch_.write("line.yaml", "matrix: {generate: poisson1d, nx: 30}\nsolver: {type: banded}\n");
  const Ended end = run({path, "--out", out(), "--backend", "host"});
  EXPECT_TRUE(contains(end.out, "\n  banded on the host")) << end.out;
  EXPECT_FALSE(contains(end.out, "preconditioner none")) << end.out;
}

TEST_F(SolveProgram, json_prints_the_report_and_nothing_else) {
  const Ended end = run({small_case(), "--out", out(), "--json"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out, test::contents(out() + "/report.json"));
  EXPECT_EQ(nlohmann::json::parse(end.out)["status"], "converged");
}

/// What is in the folder is never another run's.
TEST_F(SolveProgram, a_run_that_is_killed_leaves_no_report_of_an_earlier_one) {
  ASSERT_EQ(run({small_case(), "--out", out()}).code, 0);
  const pid_t child = start({endless_case(), "--out", out()});
  await("pcg on ");
  kill(child, SIGKILL);
  EXPECT_EQ(end_of(child).code, 128 + SIGKILL);
  for (const char* name : {"report.json", "solution.mtx", "residuals.csv"})
    EXPECT_FALSE(std::filesystem::exists(out() + "/" + name)) << name;
}

TEST_F(SolveProgram, half_written_files_of_a_killed_run_go_with_the_next_one) {
  ASSERT_EQ(run({small_case(), "--out", out()}).code, 0);
  const std::string dead = scratch_.write("out/.solution.mtx.999999999.0.tmp", "half"),
                    alive = scratch_.write("out/.solution.mtx." + std::to_string(getpid()) + ".0.tmp", "half"),
                    other = scratch_.write("out/.notes.tmp", "mine");
  ASSERT_EQ(run({small_case(), "--out", out()}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(alive));
  EXPECT_TRUE(std::filesystem::exists(other));
}

/// A report of yesterday says nothing of the run that is refused today, wherever the refusal comes from.
TEST_F(SolveProgram, a_run_that_is_refused_leaves_no_report_of_an_earlier_one) {
  const std::string report = out() + "/report.json";
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--set", "solver.tpye=pcg"},
                                                {"--set", "matrix={file: nowhere.mtx}"},
                                                {"--set", "rhs={type: file, path: nowhere.mtx}"},
                                                {"--set", "device=99", "--backend", "cuda"}}) {
    ASSERT_EQ(run({small_case(), "--out", out()}).code, 0);
    ASSERT_TRUE(std::filesystem::exists(report));
    std::vector<std::string> arguments{small_case(), "--out", out()};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    EXPECT_NE(run(arguments).code, 0) << wrong.back();
    EXPECT_FALSE(std::filesystem::exists(report)) << wrong.back();
  }
}

TEST_F(SolveProgram, a_terminal_that_goes_is_an_interruption) {
  const pid_t child = start({endless_case(), "--out", out()});
  await("pcg on ");
  kill(child, SIGHUP);
  EXPECT_EQ(end_of(child).code, 1);
  EXPECT_EQ(nlohmann::json::parse(test::contents(out() + "/report.json"))["status"], "interrupted");
}

TEST_F(SolveProgram, nohup_keeps_a_solve_from_hanging_up) {
  const std::string line = "trap '' HUP; '" + program_ + "' solve '" + small_case() + "' --out '" + out() +
                           "' --set matrix.nx=300 >/dev/null & child=$!; sleep 0.1; kill -HUP $child; wait $child";
  EXPECT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(nlohmann::json::parse(test::contents(out() + "/report.json"))["status"], "converged");
}

TEST_F(SolveProgram, a_reader_that_goes_does_not_cost_the_files) {
  const std::string line =
      "'" + program_ + "' solve '" + small_case() + "' --out '" + out() + "' | head -n 1 >/dev/null";
  EXPECT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(nlohmann::json::parse(test::contents(out() + "/report.json"))["status"], "converged");
  EXPECT_TRUE(std::filesystem::exists(out() + "/solution.mtx"));
}

/// Files may not grow beyond a size, as on a disk that becomes full: the report fits, the solution does not.
TEST_F(SolveProgram, a_disk_that_becomes_full_costs_only_the_file_that_does_not_fit) {
  const std::string case_file =
      scratch_.write("large.yaml", "matrix: {generate: poisson2d, nx: 100}\nsolver: {type: pcg}\n");
  const std::string line = "ulimit -f 64; '" + program_ + "' solve '" + case_file + "' --out '" + out() +
                           "' >/dev/null 2>'" + scratch_ / "stderr" + "'";
  const int status = std::system(line.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_TRUE(
      contains(test::contents(scratch_ / "stderr"), "solution.mtx: the file cannot be written: File too large"));
  const auto report = nlohmann::json::parse(test::contents(out() + "/report.json"));
  EXPECT_EQ(report["status"], "converged");
  EXPECT_TRUE(contains(report["notes"].dump(), "solution.mtx: the file cannot be written")) << report["notes"];
  for (const std::string& name : test::names_in(out())) EXPECT_FALSE(contains(name, "solution.mtx")) << name;
}

TEST_F(SolveProgram, an_output_that_would_replace_an_input_is_refused) {
  ASSERT_EQ(run({small_case(), "--out", out()}).code, 0);
  const std::string solution = out() + "/solution.mtx", before = test::contents(solution);
  for (const std::string& setting : {"matrix={file: " + solution + "}", "rhs={type: file, path: " + solution + "}"}) {
    const Ended end = run({small_case(), "--out", out(), "--set", setting});
    EXPECT_EQ(end.code, 2);
    EXPECT_TRUE(contains(end.err, solution + ": the case reads this file, and its own output would replace it"))
        << end.err;
    EXPECT_EQ(test::contents(solution), before);
    EXPECT_TRUE(std::filesystem::exists(out() + "/residuals.csv")) << "refused, the folder stays as it was";
  }
  // A guess is where the solve goes on from, and x is the better of the two.
  const Ended end = run({small_case(), "--out", out(), "--set", "initial_guess={type: file, path: " + solution + "}"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_TRUE(contains(end.out, "converged after 0 iterations")) << end.out;
}

/// The advice, taken by its word, goes on where the solve ended.
TEST_F(SolveProgram, the_advice_to_go_on_works) {
  const Ended first = run({small_case(), "--out", out(), "--set", "solver.max_iterations=5"});
  ASSERT_EQ(first.code, 1);
  const auto before = nlohmann::json::parse(test::contents(out() + "/report.json"));
  const std::string advice = before["remedy"], mark = "--set '";
  const auto begin = advice.find(mark), end = advice.find('\'', begin + mark.size());
  ASSERT_NE(end, std::string::npos) << advice;
  const Ended second = run({small_case(), "--out", out(), "--set", "solver.max_iterations=5", "--set",
                            advice.substr(begin + mark.size(), end - begin - mark.size())});
  const auto after = nlohmann::json::parse(test::contents(out() + "/report.json"));
  EXPECT_LT(after["residual"]["true_relative"].get<double>(), before["residual"]["true_relative"].get<double>())
      << second.err;
  // Where the guess was better, nothing is there to go on from.
  run({small_case(), "--out", out(), "--set", "solver={type: richardson, max_iterations: 3}"});
  const auto kept = nlohmann::json::parse(test::contents(out() + "/report.json"));
  ASSERT_EQ(kept["kept_initial_guess"], true) << kept;
  EXPECT_FALSE(contains(kept["remedy"].get<std::string>(), "initial_guess")) << kept["remedy"];
}

TEST_F(SolveProgram, exit_codes_tell_failures_apart) {
  EXPECT_EQ(run({small_case(), "--out", out(), "--set", "solver.max_iterations=1"}).code, 1);
  const Ended bad = run({small_case(), "--out", out(), "--set", "solver.tpye=pcg"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(bad.err.starts_with("krill: ")) << bad.err;
  EXPECT_EQ(run({scratch_ / "nowhere.yaml", "--out", out()}).code, 2);
  EXPECT_EQ(run({small_case(), "--out", small_case() + "/below"}).code, 2);
}

TEST_F(SolveProgram, interrupt_ends_the_solve_with_a_report_and_the_iterate) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t child = start({endless_case(), "--out", out(), "--backend", "host"});
    await("pcg on ");
    std::this_thread::sleep_for(200ms);
    kill(child, signal);
    const Ended end = end_of(child);
    EXPECT_EQ(end.code, 1) << end.err;
    EXPECT_TRUE(contains(end.out, "\ninterrupted after ")) << end.out;
    const auto report = test::json_file(out() + "/report.json");
    EXPECT_EQ(report["status"], "interrupted");
    EXPECT_GT(report["iterations"].get<int>(), 0);
    EXPECT_LT(report["residual"]["true_relative"].get<double>(), 1);
    EXPECT_EQ(report["verification"]["verdict"], "no verdict");
    EXPECT_TRUE(std::filesystem::exists(out() + "/solution.mtx"));
  }
}

TEST_F(SolveProgram, interrupt_before_the_solve_ends_at_once_and_writes_nothing) {
  const std::string path = scratch_.write(
      "slow.yaml", "matrix: {generate: random_dominant, rows: 2000000, row_entries: 12}\nsolver: {type: gmres}\n");
  const pid_t child = start({path, "--out", out(), "--backend", "host"});
  await("matrix");  // said before the matrix is made, which takes a second
  kill(child, SIGINT);
  const Ended end = end_of(child);
  EXPECT_EQ(end.code, 1);
  EXPECT_TRUE(contains(end.err, "nothing was written")) << end.err;
  EXPECT_TRUE(test::names_in(out()).empty());
}

TEST(Interruption, first_signal_is_kept_and_the_second_one_ends) {
  EXPECT_EXIT(
      {
        Interruption interruption("unused");
        interruption.is_awaited();
        if (interruption.requested()) _exit(7);
        raise(SIGINT);
        if (!interruption.requested()) _exit(8);
        raise(SIGTERM);
        _exit(9);
      },
      ::testing::ExitedWithCode(1), "interrupted again");
}

TEST(Interruption, the_second_one_leaves_no_half_written_file) {
  const Scratch folder;
  EXPECT_EXIT(
      {
        Interruption interruption("unused");
        interruption.is_awaited();
        AtomicFile finished(folder / "first");
        AtomicFile half(folder / "second");
        finished.commit();
        half.write("half");
        raise(SIGINT);
        raise(SIGINT);
        _exit(9);
      },
      ::testing::ExitedWithCode(1), "interrupted again");
  EXPECT_EQ(test::names_in(folder / ""), std::vector<std::string>{"first"});
}

TEST(Interruption, signal_at_the_wrong_time_ends_with_the_last_words) {
  EXPECT_EXIT(
      {
        Interruption interruption("first words\n");
        interruption.ends_at_once("last words\n");
        raise(SIGINT);
      },
      ::testing::ExitedWithCode(1), "last words");
}

TEST(Interruption, gives_the_signals_back) {
  EXPECT_EXIT(
      {
        { const Interruption interruption("unused"); }
        raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace krill::apps
