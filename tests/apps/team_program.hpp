// Runs the krill program as several processes, by the launcher that is installed.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/apps/program.hpp"

namespace krill::apps::test {

/// Its folder has a small case, case.yaml. Skipped where there is no launcher or no module for MPI.
class TeamProgram : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
    const auto module = std::filesystem::path(program_).parent_path() / "libkrill_team_mpi.so";
    if (!std::filesystem::exists(module)) GTEST_SKIP() << "this build has no module for MPI";
    folder_.write("case.yaml", R"(name: shared
matrix: {generate: poisson2d, nx: 24}
format: csr
solver: {type: pcg, stop: {relative: 1.0e-10}}
preconditioner: {type: jacobi}
ordering: none
verify: {reference: eigen}
output: {plot: false}
)");
  }

  /// By so many ranks; more of them than cores, and root, too; mpirun has a terminal. Two minutes are too long. Open
  /// MPI leaves memory behind, of modules that are gone in the end, so that a leak has no name to suppress it by.
  Outcome ranks(int count, const std::string& arguments, const std::string& before_program = "") {
    return krill(arguments,
                 "NO_COLOR=1 ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                 "OMPI_MCA_btl_vader_single_copy_mechanism=none OMP_NUM_THREADS=1 KRILL_TEAM_PATIENCE=60 "
                 "timeout 120 mpirun --oversubscribe --bind-to none -n " +
                     std::to_string(count) + " " + before_program);
  }
  nlohmann::json report(const std::string& folder) const { return json_file(folder_ / (folder + "/report.json")); }
  /// A solve that goes on until something ends it, by steps too small to get anywhere; in the folder `end`. Beside it
  /// runs what a shell does by itself, for each rank as RANK: $$ is the rank's process, $PPID mpirun's, and `begun`
  /// waits until the solver is under way.
  Outcome endless(int count, const std::string& beside, const std::string& settings = "") {
    std::filesystem::remove_all(folder_ / "end");
    folder_.write("as_rank.sh",
                  "#!/bin/sh\nRANK=$OMPI_COMM_WORLD_RANK\n"
                  "begun() { until grep -q 'richardson with' \"$LOG\"; do sleep 0.05; done; sleep 0.3; }\n" +
                      beside + "\nexec \"$@\"\n");
    return ranks(count,
                 "solve case.yaml --out end --backend host --set verify.reference=none --set solver.type=richardson "
                 "--set solver.relaxation=1e-9 --set solver.max_iterations=1000000000 --set solver.stop.relative=0 "
                 "--set solver.stop.stagnation=0 " +
                     settings,
                 "env LOG='" + (outputs_ / "stdout") + "' sh as_rank.sh");
  }
  /// How often text holds part.
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
};

}  // namespace krill::apps::test
