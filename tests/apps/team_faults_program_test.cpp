// `krill solve` as several processes, of which one dies, stops, is told to end or cannot write.
#include <cstdlib>
#include <filesystem>

#include "tests/apps/team_program.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Outcome;
using test::TeamProgram;

/// Rank 1 is stopped in the middle of a solve that has no end, as a host that hangs would be.
TEST_F(TeamProgram, ends_where_a_rank_does_not_answer_in_time) {
  const std::string stops = "[ $RANK != 1 ] || { begun; kill -STOP $$; } &\n";
  const auto expect = [&](int count, const std::string& patience, const std::string& sentence) {
    const Outcome found = endless(count, stops + patience, "--set parallel.timeout=2");
    EXPECT_NE(found.code, 0);
    EXPECT_FALSE(exists("end/solution.mtx"));
    EXPECT_TRUE(contains(found.err, sentence)) << found.err;
  };
  const std::string remedy = "if it is only slow, raise parallel.timeout, and KRILL_TEAM_PATIENCE where it is set";
  expect(3, "unset KRILL_TEAM_PATIENCE", ": rank 1 did not answer for 2 s; " + remedy);
  expect(2, "export KRILL_TEAM_PATIENCE=1.5", ": rank 1 did not answer for 1.5 s; " + remedy);
}

TEST_F(TeamProgram, ends_where_a_rank_is_killed) {
  const Outcome found = endless(3, "[ $RANK != 1 ] || { begun; kill -KILL $$; } &");
  EXPECT_NE(found.code, 0);
  EXPECT_TRUE(contains(found.err, "rank 1") && contains(found.err, "signal 9")) << found.err;
  EXPECT_FALSE(exists("end/solution.mtx"));
  EXPECT_FALSE(exists("end/report.json"));
}

/// mpirun waits, hands it on, and kills them all as much later, whatever they do then. So they have to be quick: under
/// sanitizers, beside other tests, seconds may pass until both have a processor at the same time.
TEST_F(TeamProgram, writes_x_where_mpirun_is_told_to_end) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "sanitizers make it too slow for mpirun";
#endif
  setenv("OMPI_MCA_odls_base_sigkill_timeout", "8", 1);
  for (const std::string signal : {"TERM", "INT"}) {
    const Outcome found = endless(2, "[ $RANK != 0 ] || { begun; kill -" + signal + " $PPID; } &");
    EXPECT_NE(found.code, 0) << signal;
    ASSERT_TRUE(exists("end/report.json")) << signal << found.out << found.err;
    EXPECT_EQ(report("end")["status"], "interrupted");
    EXPECT_EQ(test::contents(folder_ / "end/solution.mtx").substr(0, 14), "%%MatrixMarket");
  }
  unsetenv("OMPI_MCA_odls_base_sigkill_timeout");
}

/// And one rank alone is everyone.
TEST_F(TeamProgram, writes_x_where_one_rank_is_told_to_end) {
  const Outcome found = endless(2, "[ $RANK != 1 ] || { begun; kill -TERM $$; } &");
  EXPECT_EQ(found.code, 1) << found.err;
  EXPECT_EQ(report("end")["status"], "interrupted");
  EXPECT_TRUE(exists("end/solution.mtx"));
}

TEST_F(TeamProgram, writes_x_where_the_time_is_over) {
  const Outcome found = endless(3, "", "--set solver.stop.time_limit=0.5");
  EXPECT_EQ(found.code, 1) << found.err;
  EXPECT_EQ(report("end")["status"], "time_limit");
  EXPECT_GT(report("end")["iterations"].get<int>(), 0);
  EXPECT_TRUE(exists("end/solution.mtx"));
}

/// The folder is a file; or what has the name of a file of it is a folder. Rank 0 alone meets that.
TEST_F(TeamProgram, ends_all_ranks_where_one_cannot_write) {
  folder_.write("file", "");
  const Outcome no_folder = ranks(3, "solve case.yaml --out file/out");
  EXPECT_EQ(no_folder.code, krill("solve case.yaml --backend host --out file/out").code);
  EXPECT_NE(no_folder.code, 0);
  EXPECT_EQ(count(no_folder.err, "krill: "), 1U) << no_folder.err;
  EXPECT_TRUE(contains(no_folder.err, "krill: rank 0 of 3: ")) << no_folder.err;
  EXPECT_TRUE(contains(no_folder.err, "file/out")) << no_folder.err;
  std::filesystem::create_directories(folder_ / "out/shared/solution.mtx/in");
  const Outcome no_file = ranks(3, "solve case.yaml");
  EXPECT_EQ(no_file.code, 3);
  EXPECT_EQ(count(no_file.err, "krill: "), 1U) << no_file.err;
  EXPECT_TRUE(contains(no_file.err, "solution.mtx")) << no_file.err;
  EXPECT_EQ(report("out/shared")["status"], "converged");
}

}  // namespace
}  // namespace krill::apps
