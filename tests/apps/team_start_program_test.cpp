// What processes of `krill` find out before they solve together: their launcher, build, case and devices, and what they
// refuse.
#include <sched.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "apps/parallel/agreement.hpp"
#include "sparse/core/device.hpp"
#include "tests/apps/team_program.hpp"
#include "tests/support/thread_team.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Outcome;
using test::TeamProgram;

/// With nothing in the environment but what is named, as NAME=VALUE.
Launched launch_of(const std::vector<std::pair<const char*, const char*>>& variables) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK",
                           "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_PROCID"})
    unsetenv(name);
  for (const auto& [name, value] : variables) setenv(name, value, 1);
  const Launched found = launch_of_environment();
  for (const auto& [name, value] : variables) unsetenv(name);
  return found;
}

TEST(Launch, is_what_the_environment_of_a_rank_says) {
  const auto expect = [](const Launched& found, int rank, int size, const std::string& launcher) {
    EXPECT_EQ(found.rank, rank);
    EXPECT_EQ(found.size, size);
    EXPECT_EQ(found.launcher, launcher);
  };
  expect(launch_of({}), 0, 1, "");
  expect(launch_of({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}}), 3, 4, "mpirun");
  expect(launch_of({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}), 0, 1, "");
  expect(launch_of({{"OMPI_COMM_WORLD_SIZE", "4"}}), 0, 1, "");
  expect(launch_of({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}), 1, 2, "mpirun");
  expect(launch_of({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "5"}}), 5, 8, "srun");
}

TEST(Launch, of_the_script_of_a_job_of_slurm_is_of_one_process) {
  EXPECT_EQ(launch_of({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}).size, 1);
  EXPECT_EQ(launch_of({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}).size, 1);
}

/// Its helpers on other hosts are started by srun.
TEST(Launch, by_mpirun_inside_a_job_of_slurm_is_that_of_mpirun) {
  const auto inside = [](const char* size, const char* rank) {
    return launch_of({{"OMPI_COMM_WORLD_SIZE", size},
                      {"OMPI_COMM_WORLD_RANK", rank},
                      {"SLURM_NTASKS", "4"},
                      {"SLURM_STEP_NUM_TASKS", "2"},
                      {"SLURM_PROCID", "1"}});
  };
  EXPECT_EQ(inside("8", "6").rank, 6);
  EXPECT_EQ(inside("8", "6").size, 8);
  EXPECT_EQ(inside("1", "0").size, 1);
}

/// Of a launcher that says there are several, without the module.
TEST_F(TeamProgram, never_solves_alone_where_the_module_is_missing) {
  std::filesystem::copy_file(program_, folder_ / "krill");
  program_ = folder_ / "krill";
  const Outcome found = krill("solve case.yaml", "OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0");
  EXPECT_EQ(found.code, 3);
  EXPECT_TRUE(contains(found.err,
                       "krill: mpirun started 4 processes: libkrill_team_mpi.so, by which they would solve "
                       "together, is missing; looked in "))
      << found.err;
  EXPECT_FALSE(exists("out"));
  EXPECT_EQ(krill("solve case.yaml", "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0").code, 0);
}

TEST(Agreement, names_the_rank_with_another_build_and_both) {
  for (const int ranks : {1, 3})
    krill::test::run_team(ranks, [](Team& team) { EXPECT_NO_THROW(require_same_build(team, "0.1.0 abc")); });
  krill::test::run_team(3, [](Team& team) {
    try {
      require_same_build(team, team.rank() == 2 ? "0.2.0-long def" : "0.1.0 abc");
      ADD_FAILURE() << "rank " << team.rank() << " goes on";
    } catch (const InvalidArgument& error) {
      EXPECT_STREQ(error.what(),
                   "rank 2 runs another build of krill than rank 0, 0.2.0-long def where that is 0.1.0 abc; start the "
                   "same program on all hosts");
    }
  });
}

TEST(Agreement, names_a_key_of_another_case) {
  const auto complaint = [](auto&& change) {
    std::string found;
    krill::test::run_team(2, [&](Team& team) {
      Case settings;
      if (team.rank() == 1) change(settings);
      try {
        require_same(team, settings);
      } catch (const InvalidArgument& error) {
        if (team.rank() == 0) found = error.what();
      }
    });
    return found;
  };
  EXPECT_EQ(complaint([](Case&) {}), "");
  EXPECT_TRUE(contains(complaint([](Case& c) { c.parallel.timeout = 7; }), "parallel.timeout is 7"));
  const std::string other_method = complaint([](Case& c) { c.solver = FgmresOptions{}; });
  EXPECT_TRUE(contains(other_method, "solver.type is \"fgmres\" there and ")) << other_method;
}

TEST(Agreement, names_the_rank_with_another_nccl) {
  EXPECT_FALSE(other_nccl(std::array{22809, 22809, 22809}));
  const auto other = other_nccl(std::array{22809, 22809, 22703, 22705});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->rank, 2);
  EXPECT_EQ(other->text, "it has NCCL 2.27.3, where rank 0 has 2.28.9");
}

TEST(Agreement, names_the_rank_that_is_bound_to_few_cores) {
  constexpr std::int64_t many = 1'000'000;
  const auto sentence = [](const std::vector<RankCores>& ranks, std::int64_t entries) {
    return few_cores(ranks, entries);
  };
  EXPECT_EQ(sentence({{16, 16}, {1, 16}, {2, 16}}, many),
            "mpirun lets rank 1 use 1 core where it could use 16, so reading, set-up and what else the host does take "
            "longer; mpirun --bind-to none leaves each rank its part of all cores");
  EXPECT_TRUE(contains(sentence({{2, 3}, {3, 3}}, many), "rank 0 use 2 cores where it could use 3"));
  EXPECT_EQ(sentence({{16, 16}, {16, 16}}, many), "");
  EXPECT_EQ(sentence({{4, 1}, {4, 0}}, many), "") << "they have more than they could use";
  EXPECT_EQ(sentence({{1, 16}, {1, 16}}, 1000), "") << "one thread does that";
}

/// Each rank is bound to one core of the launcher's.
TEST_F(TeamProgram, says_where_ranks_are_bound_to_few_cores) {
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  if (CPU_COUNT(&own) < 4) GTEST_SKIP() << "with fewer than four cores two ranks have no more than one each";
  int core = 0;
  while (!CPU_ISSET(core, &own)) ++core;
  const std::string free = "env -u OMP_NUM_THREADS ", bound = free + "taskset -c " + std::to_string(core) + " ";
  const auto notes = [&](const std::string& rank, const std::string& settings) {
    const Outcome found = ranks(
        2, "solve case.yaml --backend host --out few --set verify.reference=none --set matrix.nx=" + settings, rank);
    EXPECT_EQ(found.code, 0) << found.err;
    return report("few")["notes"].dump();
  };
  const std::string sentence = "mpirun lets rank 0 use 1 core where it could use ";
  EXPECT_TRUE(contains(notes(bound, "200"), sentence));
  EXPECT_TRUE(contains(notes(bound, "200 --threads 2"), sentence + "2,"));
  EXPECT_FALSE(contains(notes(bound, "200 --threads 1"), sentence));
  EXPECT_FALSE(contains(notes(bound, "24"), sentence));
  EXPECT_FALSE(contains(notes("", "200"), sentence)) << "one thread each, as the environment says";
  EXPECT_FALSE(contains(notes(free, "200"), sentence));
}

/// Ranks that read other cases, or none at all: their own environments fill in what differs.
TEST_F(TeamProgram, ends_all_ranks_with_the_message_of_one) {
  folder_.write("case.yaml", test::contents(folder_ / "case.yaml") + "threads: ${THREADS}\n");
  const auto end_with = [&](const std::string& threads, const std::string& sentence) {
    folder_.write("as_rank.sh", "#!/bin/sh\nRANK=$OMPI_COMM_WORLD_RANK\nexport THREADS=" + threads + "\nexec \"$@\"\n");
    const Outcome found = ranks(3, "solve case.yaml --env", "sh as_rank.sh");
    EXPECT_EQ(found.code, 2) << found.err;
    EXPECT_EQ(count(found.err, "krill: "), 1U) << found.err;
    EXPECT_TRUE(contains(found.err, "krill: " + sentence)) << found.err;
    EXPECT_FALSE(exists("out/shared/solution.mtx"));
  };
  end_with("$((RANK / 2 + 1))", "rank 2 has another case than rank 0: threads is 2 there and 1 on rank 0; all ranks");
  end_with("$((1 - 2 * (RANK == 1)))", "rank 1 of 3: ");
}

/// One process a device: here more than there are.
TEST_F(TeamProgram, names_the_rank_that_has_no_device_of_its_own) {
  const int devices = device::count(), ranks_too_many = devices + 2;
  const Outcome refused = ranks(ranks_too_many, "solve case.yaml --backend cuda");
  EXPECT_EQ(refused.code, 3);
  EXPECT_EQ(count(refused.err, "krill: "), 1U) << refused.err;
  EXPECT_TRUE(contains(refused.err, devices == 0 ? "krill: backend cuda: rank 0 has no CUDA device; start as many "
                                                   "processes as there are devices, or use backend: host"
                                                 : "have the same device, GPU-"))
      << refused.err;
  const Outcome open = ranks(ranks_too_many, "solve case.yaml --out open");
  ASSERT_EQ(open.code, 0) << open.err;
  const auto found = report("open");
  EXPECT_TRUE(found["team"]["transport"].is_null());
  EXPECT_TRUE(found["team"]["parts"][0]["device"].is_null());
  for (const auto& part : found["team"]["parts"]) {
    EXPECT_EQ(part["host"], found["host"]["name"]);
    EXPECT_EQ(part["threads"], 1);
    EXPECT_EQ(part["sent_bytes"], 8 * part["sent"].get<int>());
    EXPECT_GT(part["sent_bytes"], 0);
  }
  EXPECT_EQ(contains(found["notes"].dump(), "so all solve on the host"), devices > 0);
}

TEST_F(TeamProgram, refuses_with_one_sentence) {
  const auto refusal = [&](const std::string& arguments, const std::string& sentence) {
    const Outcome found = ranks(2, arguments);
    EXPECT_EQ(found.code, 2) << arguments;
    EXPECT_EQ(count(found.err, "krill: "), 1U) << found.err;
    EXPECT_TRUE(contains(found.err, "krill: " + sentence)) << found.err;
  };
  refusal("solve case.yaml --set preconditioner.type=ic0", "preconditioner ic0: it does not run on several ranks");
  refusal("verify case.yaml --set preconditioner.type=ic0", "preconditioner ic0: it does not run on several ranks");
  refusal("solve case.yaml --set solver=multigrid --set preconditioner=auto",
          "solver multigrid: its cycles do not run on several ranks");
  refusal("verify --all", "verify --all: one process goes through it; run krill verify --all without the launcher");
  refusal("inspect case.yaml", "inspect: several processes share solve, verify CASE and bench scaling, no other");
  refusal("generate poisson2d nx=4 -o A.mtx", "generate: several processes share solve, verify CASE and bench");
  refusal("bench spmv", "bench: several processes measure scaling and nothing else: mpirun -n N krill bench scaling");
  refusal("bench scaling --preconditioner block_jacobi",
          "--preconditioner: scaling is measured with none, jacobi, chebyshev, isai and schwarz");
  refusal("bench --markdown r.json", "bench: --diff and --markdown are of one process");
  refusal("evaluate case.yaml", "evaluate: several processes share solve, verify CASE and bench scaling, no other");
  refusal("suite run . --baseline none.json",
          "suite: several processes share solve, verify CASE and bench scaling, no other");
  refusal("solve case.yaml --plan", "solve --plan: it is of one process; run it without the launcher");
  refusal("solve case.yaml --backend cuda --set device=1", "device: ranks take the devices of their host in order");
  refusal("bench scaling --compare eigen", "--compare: scaling has no rival but one rank; leave it out");
  for (const std::string solver : {"banded", "direct"})
    refusal(
        "solve case.yaml --backend host --set preconditioner=none --set 'matrix={generate: poisson2d, nx: 30, ny: 1}' "
        "--set solver.type=" +
            solver,
        "solver " + solver + ": it does not run on several ranks");
  refusal(
      "solve case.yaml --backend host --set preconditioner=none --set solver=banded "
      "--set 'matrix={generate: banded_batch, rows: 8, systems: 4}'",
      "solver banded: it does not run on several ranks");
  EXPECT_FALSE(exists("A.mtx"));
  EXPECT_FALSE(exists("out/shared/report.json"));
}

TEST_F(TeamProgram, is_not_for_sequences) {
  const Outcome found =
      ranks(2, "solve case.yaml --set 'sequence={type: parameter, parameter: nx, from: 24, to: 25, steps: 2}'");
  EXPECT_NE(found.code, 0);
  EXPECT_TRUE(contains(found.err, "sequence: it is solved by one process as yet")) << found.err;
}

}  // namespace
}  // namespace krill::apps
