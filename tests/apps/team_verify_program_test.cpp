// `krill verify` as several processes: what it compares, and that it sees what is wrong.
#include <map>
#include <set>
#include <utility>

#include "apps/case/case_file.hpp"
#include "apps/verify/case_path.hpp"
#include "tests/apps/team_program.hpp"
#include "tests/support/altering_team.hpp"
#include "tests/support/thread_team.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Outcome;
using test::TeamProgram;

TEST_F(TeamProgram, verifies_a_case_beside_one_rank) {
  for (const auto& [n, method] : {std::pair(2, "--set solver.type=pcg"),
                                  std::pair(2,
                                            "--set solver.type=bicgstab --set format=sell --set precision=complex64 "
                                            "--set solver.stop.relative=1e-5"),
                                  std::pair(3, "--set solver.type=gmres --set ordering=rcm --set scaling=ruiz")}) {
    const Outcome found = ranks(n, std::string("verify case.yaml --out v ") + method);
    ASSERT_EQ(found.code, 0) << method << found.out << found.err;
    EXPECT_EQ(count(found.out, "PASS: 6 checks passed, by " + std::to_string(n) + " ranks on the host, 1 thread each"),
              1U)
        << "one rank speaks:\n"
        << found.out;
    const auto json = test::json_file(folder_ / "v/verification.json");
    EXPECT_EQ(json["verdict"], "PASS");
    EXPECT_EQ(json["ranks"], n);
    std::set<std::string> groups, names;
    for (const auto& check : json["checks"]) {
      groups.insert(check["group"]), names.insert(check["name"]);
      EXPECT_EQ(check["verdict"], "PASS") << check;
      EXPECT_GT(check["entries"], 0) << check;
      EXPECT_FALSE(check["bound"].get<std::string>().empty()) << check;
    }
    EXPECT_EQ(groups, (std::set<std::string>{"products", "ranks", "solution"}));
    EXPECT_TRUE(names.contains("iterations beside those of one rank"));
  }
}

TEST_F(TeamProgram, verify_fails_where_the_solve_does) {
  const Outcome found = ranks(2, "verify case.yaml --out v --set solver.max_iterations=3");
  EXPECT_EQ(found.code, 1) << found.out << found.err;
  EXPECT_TRUE(contains(found.out, "the solve ends as max_iterations after 3 iterations")) << found.out;
  EXPECT_EQ(test::json_file(folder_ / "v/verification.json")["failed"], 1);
}

/// As many iterations, and of either kind: the judge says what it did not judge.
TEST_F(TeamProgram, verify_compares_no_iterations_of_parts) {
  const Outcome found = ranks(2, "verify case.yaml --set preconditioner.type=schwarz");
  EXPECT_EQ(found.code, 0) << found.out << found.err;
  EXPECT_TRUE(contains(found.out, "PASS: 5 checks passed, 1 not checked")) << found.out;
}

/// The verdicts of all checks, where messages of so many bytes arrive otherwise than they were sent.
std::map<std::string, Verdict> verdicts_with_errors_in(std::size_t bytes, const std::string& settings_beside = "") {
  const test::Scratch folder;
  std::string parts;  // rank 1 has all rows
  for (int row = 0; row < 24 * 24; ++row) parts += "1\n";
  folder.write("parts.txt", parts);
  const std::string path = folder.write(
      "case.yaml",
      "matrix: {generate: poisson2d, nx: 24}\nbackend: host\nformat: csr\nsolver: gmres\npreconditioner: jacobi\n" +
          settings_beside);
  const Case settings = load_case_file(path, {}, {}).settings;
  std::map<std::string, Verdict> verdicts;
  krill::test::run_team(2, [&](Team& team) {
    krill::test::AlteringTeam crooked(team, [&](std::span<const Team::Incoming> messages) {
      for (const Team::Incoming& message : messages)
        if (message.size == bytes) *static_cast<double*>(message.bytes) *= 1.01;
    });
    Context ctx = Context::host(1);
    ctx.team = &crooked;
    verify::Ledger ledger;
    verify::verify_shared_case<double>(ledger, crooked, ctx, settings, [] {});
    if (team.rank() > 0) {
      EXPECT_TRUE(ledger.checks().empty());
      return;
    }
    for (const verify::Check& check : ledger.checks()) verdicts[check.name] = check.result.verdict;
  });
  return verdicts;
}

TEST(SharedCase, passes_by_way_of_a_team_that_changes_nothing) {
  const auto verdicts = verdicts_with_errors_in(0);
  EXPECT_EQ(verdicts.size(), 6U);
  for (const auto& [name, verdict] : verdicts) EXPECT_EQ(verdict, Verdict::pass) << name;
}

TEST(SharedCase, fails_where_a_ghost_is_wrong) {
  const auto verdicts = verdicts_with_errors_in(24 * sizeof(double));
  EXPECT_EQ(verdicts.at("spmv csr on 2 ranks"), Verdict::fail);
  EXPECT_EQ(verdicts.at("spmv csr on 2 ranks, with a dot"), Verdict::fail);
  EXPECT_EQ(verdicts.at("x and report of all ranks"), Verdict::pass);
  EXPECT_NE(verdicts.at("x beside that of one rank"), Verdict::pass);
  EXPECT_EQ(verdicts.at("solution by Eigen"), Verdict::fail);
}

/// Where one rank has all rows, nothing comes from others, in products neither.
TEST(SharedCase, multiplies_in_the_partition_of_the_case) {
  const auto verdicts = verdicts_with_errors_in(24 * sizeof(double), "parallel: {partition: {file: parts.txt}}\n");
  EXPECT_EQ(verdicts.size(), 6U);
  for (const auto& [name, verdict] : verdicts) EXPECT_EQ(verdict, Verdict::pass) << name;
}

TEST(SharedCase, fails_where_ranks_have_another_x) {
  const auto verdicts = verdicts_with_errors_in(288 * sizeof(double));
  EXPECT_EQ(verdicts.at("x and report of all ranks"), Verdict::fail);
  EXPECT_EQ(verdicts.at("solution by Eigen"), Verdict::fail);
}

}  // namespace
}  // namespace krill::apps
