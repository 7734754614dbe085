// Odd names, settings and surroundings: each works, or is refused by its name and with the exit code of its kind.
#include <nlohmann/json.hpp>
#include <string>

#include "tests/apps/program.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Outcome;

class OddInput : public test::Program {
 protected:
  const std::string identity_ = test::banner + "2 2 2\n1 1 2\n2 2 2\n";
};

TEST_F(OddInput, names_of_matrices_survive_into_cases_that_run) {
  const std::string long_name(200, 'x');
  for (const std::string& name : {std::string("ta\tb"), std::string("new\nline"), std::string("${HOME}"),
                                  std::string("$${HOME}"), std::string("a: b #c"), long_name}) {
    folder_.write(name + ".mtx", identity_);
    ASSERT_EQ(krill("inspect '" + name + ".mtx' --out found").code, 0) << name;
    const Outcome suggested = krill("solve found/suggested.yaml --out first");
    EXPECT_EQ(suggested.code, 0) << name << suggested.err;
    const auto report = nlohmann::json::parse(test::contents(folder_ / "first/report.json"));
    folder_.write("again.yaml", report["case"].dump());
    const Outcome again = krill("solve again.yaml --out second");
    EXPECT_EQ(again.code, 0) << name << again.err;
  }
}
TEST_F(OddInput, best_yaml_runs_whatever_the_matrix_is_called) {
  folder_.write("${HOME}\t.mtx", identity_);
  const Outcome measured = krill("evaluate '${HOME}\t.mtx' --portfolio quick --backend host --out found");
  ASSERT_EQ(measured.code, 0) << measured.err;
  const Outcome best = krill("solve found/best.yaml --out first");
  EXPECT_EQ(best.code, 0) << best.err;
}
TEST_F(OddInput, names_that_are_no_text_are_refused_as_such) {
  folder_.write("b\xffx.mtx", identity_);
  for (const std::string command : {"solve", "inspect", "inspect --json", "evaluate", "verify"}) {
    const Outcome o = krill(command + " 'b\xffx.mtx'");
    EXPECT_EQ(o.code, 2) << command;
    EXPECT_TRUE(contains(o.err, "the name of the file is not UTF-8 text")) << command << o.err;
  }
}
TEST_F(OddInput, control_characters_in_names_are_not_printed) {
  const std::string bad = test::banner + "2 2 2\n1 1 1\nx\n";
  std::filesystem::create_directory(folder_ / "d");
  folder_.write("d/e\x1b[31mv.mtx", bad);
  const std::string pack = "cd '" + (folder_ / "") + "' && tar cf d.tar d && cp d/*.mtx d/two.mtx && tar cf two.tar d";
  if (std::system(pack.c_str()) != 0) GTEST_SKIP() << "no tar program";
  for (const std::string& name : {std::string("d.tar"), std::string("two.tar"), std::string("d/e\x1b[31mv.mtx")}) {
    const Outcome o = krill("solve '" + name + "'");
    EXPECT_EQ(o.code, 2) << name;
    EXPECT_FALSE(contains(o.out + o.err, "\x1b")) << o.err;
    EXPECT_TRUE(contains(o.err, "e\\x1b[31mv.mtx")) << o.err;
  }
}
TEST_F(OddInput, a_folder_whose_name_is_no_text_can_be_worked_in) {
  std::filesystem::create_directory(folder_ / "w\xff");
  folder_.write("w\xff/a.mtx", identity_);
  const auto there = [&](const std::string& arguments) {
    return krill(arguments, "sh -c 'cd w\xff && exec \"$0\" \"$@\"'");
  };
  EXPECT_EQ(there("solve a.mtx --out o").code, 0);
  EXPECT_EQ(there("inspect a.mtx --out i").code, 0);
  EXPECT_EQ(there("solve i/suggested.yaml --out o").code, 0);
  const Outcome measured = there("evaluate a.mtx --portfolio quick --backend host --out e");
  EXPECT_EQ(measured.code, 2);
  EXPECT_TRUE(contains(measured.err, "the name of the current folder is not UTF-8 text")) << measured.err;
}
/// libgomp ends the program itself where it cannot start a thread.
TEST_F(OddInput, threads_that_cannot_be_started_are_no_mistake_in_the_case) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer needs more addresses than the limit leaves";
#endif
  folder_.write("case.yaml", "matrix: {generate: poisson2d, nx: 300}\nsolver: pcg\nbackend: host\n");
  const Outcome o = krill("solve case.yaml --threads 64", "ulimit -v 300000;");
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_TRUE(contains(o.err, "--threads")) << o.err;
  EXPECT_FALSE(exists("out/case/report.json"));
}
TEST_F(OddInput, long_paths_of_settings_are_refused) {
  folder_.write("case.yaml", "matrix: {generate: poisson1d, nx: 9}\nsolver: pcg\n");
  std::string path = "a";
  for (int i = 1; i < 60'000; ++i) path += ".a";
  const Outcome o = krill("solve case.yaml --set " + path + "=1");
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.err, "krill: --set: the path has more than 50 words\n");
}
TEST_F(OddInput, pipes_are_cases_and_no_matrices) {
  folder_.write("case.yaml", "matrix: {generate: poisson1d, nx: 9}\nsolver: pcg\n");
  EXPECT_EQ(krill("--quiet", "sh -c 'mkfifo p; cat case.yaml >p & exec \"$0\" solve p \"$@\"'").code, 0);
  const Outcome matrix = krill("", "sh -c 'mkfifo p.mtx; exec \"$0\" solve p.mtx \"$@\"'");
  EXPECT_EQ(matrix.code, 2);
  EXPECT_TRUE(contains(matrix.err, "this is a device or a pipe, not a file")) << matrix.err;
}
TEST_F(OddInput, budgets_and_limits_are_numbers) {
  folder_.write("a.mtx", identity_);
  for (const std::string value : {"nan", "inf", "-1", "1e999", "x"}) {
    const Outcome o = krill("evaluate a.mtx --budget " + value);
    EXPECT_EQ(o.code, 2) << value;
    EXPECT_TRUE(contains(o.err, "--budget")) << o.err;
    EXPECT_FALSE(exists("out")) << value;
  }
}
TEST_F(OddInput, a_folder_that_must_not_be_written_is_no_mistake_in_the_case) {
  folder_.write("case.yaml", "matrix: {generate: poisson1d, nx: 9}\nsolver: pcg\n");
  folder_.write("a.mtx", identity_);
  std::string closed = "/sys/kernel";
  if (geteuid() != 0) {
    std::filesystem::create_directory(folder_ / "closed");
    std::filesystem::permissions(folder_ / "closed", std::filesystem::perms::owner_read);
    closed = "closed";
  } else if (!std::filesystem::exists(closed)) {
    GTEST_SKIP() << "root may write everywhere";
  }
  for (const std::string& arguments :
       {"solve case.yaml --out " + closed + "/o", "inspect a.mtx --out " + closed + "/o",
        "convert a.mtx " + closed + "/b.mtx", "verify case.yaml --out " + closed + "/o"}) {
    const Outcome o = krill(arguments);
    EXPECT_EQ(o.code, 3) << arguments << o.err;
    EXPECT_TRUE(contains(o.err, closed)) << o.err;
  }
}
TEST_F(OddInput, a_full_disk_is_no_mistake_in_the_case) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  const Outcome o = krill("generate poisson2d nx=50 -o /dev/full");
  EXPECT_EQ(o.code, 3);
  EXPECT_TRUE(contains(o.err, "No space left on device")) << o.err;
}
TEST_F(OddInput, the_peak_of_the_memory_holds_what_the_solve_held) {
  folder_.write("case.yaml",
                "matrix: {generate: poisson1d, nx: 4}\nsolver: {type: gmres, restart: 4}\nbackend: host\n");
  const Outcome o = krill("solve case.yaml --json");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto report = nlohmann::json::parse(o.out);
  EXPECT_GE(report["peak_host_memory_bytes"].get<double>(), report["memory_peak_bytes"].get<double>());
}

}  // namespace
}  // namespace krill::apps
