// `krill solve` as several processes: what they solve is what one process solves.
#include <map>

#include "tests/apps/team_program.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Outcome;
using test::TeamProgram;

TEST_F(TeamProgram, solves_as_one_process_does) {
  ASSERT_EQ(krill("solve case.yaml --out one --backend host").code, 0);
  const auto one = report("one");
  EXPECT_TRUE(one["team"].is_null());
  for (const int n : {2, 3}) {
    const std::string folder = "team" + std::to_string(n);
    const Outcome found = ranks(n, "solve case.yaml --out " + folder);
    ASSERT_EQ(found.code, 0) << found.out << found.err;
    EXPECT_EQ(count(found.out, " iterations of pcg with jacobi in "), 1U) << "one rank speaks:\n" << found.out;
    const auto many = report(folder);
    EXPECT_EQ(many["status"], "converged");
    EXPECT_EQ(many["verification"]["verdict"], "PASS");
    EXPECT_NEAR(many["iterations"].get<int>(), one["iterations"].get<int>(), 1);
    ASSERT_EQ(many["team"]["ranks"], n);
    std::int64_t rows = 0;
    for (const auto& part : many["team"]["parts"]) {
      EXPECT_EQ(part["first_row"], rows);
      rows += part["rows"].get<std::int64_t>();
      EXPECT_GT(part["ghosts"], 0);
    }
    EXPECT_EQ(rows, 576);
  }
}

/// Preconditioners that need rows of others, and give rows back: those of one process, also where parts overlap.
TEST_F(TeamProgram, imports_rows_of_neighbors) {
  const std::string overlapping =
      " --set solver.type=gmres --set 'preconditioner={type: schwarz, inner: ilu0, overlap: 1";
  const auto check = [&](const std::string& alone, const std::string& shared) {
    ASSERT_EQ(krill("solve case.yaml --out one --backend host" + alone).code, 0);
    const Outcome found = ranks(2, "solve case.yaml --backend host --out two" + shared);
    ASSERT_EQ(found.code, 0) << found.out << found.err;
    EXPECT_EQ(report("two")["verification"]["verdict"], "PASS");
    EXPECT_NEAR(report("two")["iterations"].get<int>(), report("one")["iterations"].get<int>(), 1) << shared;
  };
  for (const std::string form : {"auto", "general", "factored"}) {
    const std::string isai = " --set solver.type=" + std::string(form == "general" ? "gmres" : "pcg") +
                             " --set 'preconditioner={type: isai, form: " + form + "}'";
    check(isai, isai);
  }
  check(overlapping + ", parts: 2}'", overlapping + "}'");
}

/// What stands inside of schwarz arrives with its options, and is that of one process with as many parts.
TEST_F(TeamProgram, has_any_preconditioner_in_its_own_rows) {
  std::map<int, int> iterations;
  for (const int level : {0, 2}) {
    const std::string M = " --set solver.type=gmres --set 'preconditioner={type: schwarz, inner: {type: iluk, level: " +
                          std::to_string(level) + "}";
    ASSERT_EQ(krill("solve case.yaml --out one --backend host" + M + ", parts: 2}'").code, 0);
    const Outcome found = ranks(2, "solve case.yaml --backend host --out two" + M + "}'");
    ASSERT_EQ(found.code, 0) << found.out << found.err;
    EXPECT_EQ(report("two")["verification"]["verdict"], "PASS");
    EXPECT_NEAR(report("two")["iterations"].get<int>(), report("one")["iterations"].get<int>(), 1);
    EXPECT_EQ(report("two")["case"]["preconditioner"]["inner"]["level"], level);
    iterations[level] = report("two")["iterations"];
  }
  EXPECT_LT(iterations[2], iterations[0]);
}

TEST_F(TeamProgram, has_the_same_bytes_twice) {
  ASSERT_EQ(ranks(3, "solve case.yaml --out a --set solver.type=gmres --set verify.reference=none").code, 0);
  ASSERT_EQ(ranks(3, "solve case.yaml --out b --set solver.type=gmres --set verify.reference=none").code, 0);
  EXPECT_EQ(test::contents(folder_ / "a/solution.mtx"), test::contents(folder_ / "b/solution.mtx"));
  EXPECT_EQ(report("a")["residual"], report("b")["residual"]);
}

/// One process has no use for the section: neither its file nor another answer matters, and the bits are the same.
TEST_F(TeamProgram, says_nothing_to_one_process) {
  ASSERT_EQ(krill("solve case.yaml --out plain --backend host").code, 0);
  const Outcome found = krill(
      "solve case.yaml --out parallel --backend host --set 'parallel={partition: none.txt, timeout: 0.001, transport: "
      "nccl}'");
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(test::contents(folder_ / "plain/solution.mtx"), test::contents(folder_ / "parallel/solution.mtx"));
  EXPECT_EQ(report("plain")["notes"], report("parallel")["notes"]);
}

TEST_F(TeamProgram, takes_the_transport_of_the_case) {
  const Outcome by_mpi = ranks(2, "solve case.yaml --backend host --out mpi --set parallel.transport=mpi");
  ASSERT_EQ(by_mpi.code, 0) << by_mpi.err;
  ASSERT_EQ(ranks(2, "solve case.yaml --backend host --out auto").code, 0);
  EXPECT_EQ(test::contents(folder_ / "mpi/solution.mtx"), test::contents(folder_ / "auto/solution.mtx"));
  EXPECT_TRUE(report("mpi")["team"]["transport"].is_null());
  const Outcome by_nccl = ranks(2, "solve case.yaml --backend host --set parallel.transport=nccl");
  EXPECT_EQ(by_nccl.code, 2);
  EXPECT_EQ(count(by_nccl.err, "krill: "), 1U) << by_nccl.err;
  EXPECT_TRUE(contains(by_nccl.err, "krill: parallel.transport nccl: the ranks solve on the host")) << by_nccl.err;
}

}  // namespace
}  // namespace krill::apps
