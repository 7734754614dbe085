// `krill` as several processes, by the launcher that is installed, and what they verify.
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "apps/case/case_file.hpp"
#include "apps/parallel/agreement.hpp"
#include "apps/verify/case_path.hpp"
#include "sparse/core/device.hpp"
#include "sparse/core/optional_libraries.hpp"
#include "sparse/io/read.hpp"
#include "tests/apps/program.hpp"
#include "tests/support/altering_team.hpp"
#include "tests/support/thread_team.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Outcome;

class TeamProgram : public test::Program {
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
  nlohmann::json report(const std::string& folder) const {
    return test::json_file(folder_ / (folder + "/report.json"));
  }
  /// A solve that goes on until something ends it, in the folder `end`; beside it runs what a shell does by itself, for
  /// each rank as RANK: $$ is the rank's process, $PPID mpirun's, and `begun` waits until the solver is under way.
  Outcome endless(int count, const std::string& beside, const std::string& settings = "") {
    std::filesystem::remove_all(folder_ / "end");
    folder_.write("as_rank.sh",
                  "#!/bin/sh\nRANK=$OMPI_COMM_WORLD_RANK\n"
                  "begun() { until grep -q 'richardson with' \"$LOG\"; do sleep 0.05; done; sleep 0.3; }\n" +
                      beside + "\nexec \"$@\"\n");
    return ranks(count,
                 "solve case.yaml --out end --backend host --set verify.reference=none --set solver.type=richardson "
                 "--set solver.max_iterations=10000000 --set solver.stop.relative=0 --set solver.stop.stagnation=0 " +
                     settings,
                 "env LOG='" + (outputs_ / "stdout") + "' sh as_rank.sh");
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
};

TEST_F(TeamProgram, is_not_for_sequences) {
  const Outcome found =
      ranks(2, "solve case.yaml --set 'sequence={type: parameter, parameter: nx, from: 24, to: 25, steps: 2}'");
  EXPECT_NE(found.code, 0);
  EXPECT_TRUE(contains(found.err, "sequence: it is solved by one process as yet")) << found.err;
}

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

/// Ranks that have their own rows only and those that have the whole matrix of a packed file come to the same bits.
TEST_F(TeamProgram, makes_or_reads_own_rows_with_the_same_bits) {
  const auto compare = [&](const std::string& generated, const std::string& settings) {
    SCOPED_TRACE(generated + " " + settings);
    ASSERT_EQ(krill("generate " + generated + " -o A.mtx").code, 0);
    ASSERT_EQ(std::system(("cd '" + (folder_ / "") + "' && gzip -kf A.mtx").c_str()), 0);
    std::string made = "{generate: " + generated;
    for (auto at = made.find(' ', made.find(' ') + 1); at != std::string::npos; at = made.find(' ', at + 2))
      made.replace(at, 1, ", ");
    for (auto at = made.find('='); at != std::string::npos; at = made.find('=', at)) made.replace(at, 1, ": ");
    for (const int n : {1, 2, 3, 4}) {
      SCOPED_TRACE(n);
      const auto solve = [&](const std::string& matrix, const std::string& out) {
        const Outcome found =
            n == 1 ? krill("solve case.yaml " + settings + " --backend host --threads 1 --set 'matrix=" + matrix +
                           "' --out " + out)
                   : ranks(n, "solve case.yaml " + settings + " --set 'matrix=" + matrix + "' --out " + out);
        EXPECT_EQ(found.code, 0) << found.out << found.err;
        return report(out);
      };
      const auto whole = solve("{file: A.mtx.gz}", "whole"), shares = solve("{file: A.mtx}", "shares"),
                 rows = solve(made + "}", "rows");
      for (const auto& own : {shares, rows}) {
        EXPECT_EQ(own["iterations"], whole["iterations"]);
        EXPECT_EQ(own["residual"], whole["residual"]);
        EXPECT_EQ(own["verification"]["verdict"], "PASS");
        if (n == 1) continue;
        EXPECT_EQ(own["team"]["matrix"], "own rows") << own["team"];
        EXPECT_TRUE(own["team"]["why_whole"].is_null());
        EXPECT_EQ(own["team"]["imbalance"], whole["team"]["imbalance"]);
      }
      if (n > 1) {
        EXPECT_EQ(whole["team"]["matrix"], "whole");
        EXPECT_EQ(whole["team"]["why_whole"],
                  "the file is packed, or holds no square matrix in coordinates, and is read whole");
      }
      EXPECT_EQ(test::contents(folder_ / "shares/solution.mtx"), test::contents(folder_ / "whole/solution.mtx"));
      EXPECT_EQ(test::contents(folder_ / "rows/solution.mtx"), test::contents(folder_ / "whole/solution.mtx"));
    }
  };
  compare("poisson2d nx=24", "--set rhs.type=manufactured");
  compare("poisson2d nx=24", "--set preconditioner=isai");
  compare("jumps3d nx=8 block=3", "--set preconditioner.type=chebyshev --set rhs.type=random");
  compare("convection_diffusion2d nx=20 ny=31",
          "--set solver.type=gmres --set 'preconditioner={type: schwarz, inner: ilu0}'");
  compare("elasticity3d nx=3", "--set 'preconditioner={type: block_jacobi, block_dim: 3}'");
  compare("random_dominant rows=300", "--set solver=auto --set preconditioner=auto --set ordering=none");
}

/// As many parts as there are ranks, fewer and more; the matrix and the vectors are those of Matrix Market files.
TEST_F(TeamProgram, reads_the_parts_that_hypre_writes) {
  ASSERT_EQ(krill("generate convection_diffusion2d nx=20 ny=31 -o A.mtx").code, 0);
  krill::CanonicalReport canonical;
  const auto any = krill::assemble(krill::read_matrix<double>(folder_ / "A.mtx").matrix, canonical);
  const auto& A = std::get<krill::Csr<double>>(any);
  std::string b = fmt::format("%%MatrixMarket matrix array real general\n{} 1\n", A.rows());
  const auto entry = [](std::int32_t row) { return fmt::format("{:.17g}\n", 1 + 0.37 * (row % 11)); };
  for (std::int32_t row = 0; row < A.rows(); ++row) b += entry(row);
  folder_.write("b.mtx", b);
  for (const int parts : {1, 2, 3, 5})
    for (int k = 0; k < parts; ++k) {
      const std::int32_t begin = A.rows() * k / parts, end = A.rows() * (k + 1) / parts;
      std::string rows = fmt::format("{0} {1} {0} {1}\n", begin, end - 1), own = fmt::format("{} {}\n", begin, end - 1);
      for (std::int32_t row = begin; row < end; ++row) {
        const auto at = [&](std::int32_t i) { return A.row_offsets().host()[static_cast<std::size_t>(i)]; };
        for (auto e = static_cast<std::size_t>(at(row)); std::cmp_less(e, at(row + 1)); ++e)
          rows += fmt::format("{} {} {:.17g}\n", row, A.col_indices().host()[e], A.values().host()[e]);
        own += fmt::format("{} {}", row, entry(row));
      }
      folder_.write(fmt::format("A{}.{:05}", parts, k), rows);
      folder_.write(fmt::format("b{}.{:05}", parts, k), own);
    }
  const std::string method = "--backend host --set solver.type=gmres --set preconditioner=jacobi --set matrix.file=";
  for (const int n : {1, 2, 3, 4}) {
    const auto solve = [&](const std::string& arguments) {
      const Outcome found = n == 1 ? krill("solve case.yaml --threads 1 " + method + arguments)
                                   : ranks(n, "solve case.yaml " + method + arguments);
      EXPECT_EQ(found.code, 0) << found.out << found.err;
    };
    solve("A.mtx --set 'rhs={type: file, path: b.mtx}' --set 'initial_guess={type: file, path: b.mtx}' --out market");
    for (const int parts : {1, 2, 3, 5}) {
      SCOPED_TRACE(fmt::format("{} parts on {} ranks", parts, n));
      solve(
          fmt::format("A{0}.00000 --set 'rhs={{type: file, path: b{0}}}' --set 'initial_guess={{type: file, path: "
                      "b{0}.00000}}' --out parts",
                      parts));
      EXPECT_EQ(test::contents(folder_ / "parts/solution.mtx"), test::contents(folder_ / "market/solution.mtx"));
      EXPECT_EQ(report("parts")["verification"]["verdict"], "PASS");
      EXPECT_EQ(report("parts")["matrix"]["file"]["format"], "hypre IJ") << report("parts")["matrix"];
      if (n == 1) continue;
      EXPECT_EQ(report("parts")["team"]["matrix"], "own rows");
    }
  }
  const Outcome seen = krill("inspect A3");
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_TRUE(contains(seen.out, "hypre IJ, sparse real, general")) << seen.out;
  std::filesystem::remove(folder_ / "A3.00001");
  const Outcome missing = ranks(3, "solve case.yaml --set matrix.file=A3");
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(contains(missing.err, "A3.00001: this part is missing, A3.00002 is there")) << missing.err;
}

TEST_F(TeamProgram, has_the_whole_matrix_where_that_is_needed) {
  const auto why = [&](const std::string& settings) {
    const Outcome found = ranks(2, "solve case.yaml --set verify.reference=none --out whole " + settings);
    EXPECT_EQ(found.code, 0) << found.out << found.err;
    const auto team = report("whole")["team"];
    EXPECT_EQ(team["matrix"], team["why_whole"].is_null() ? "own rows" : "whole");
    return team["why_whole"].is_null() ? "" : team["why_whole"].get<std::string>();
  };
  EXPECT_EQ(why(""), "");
  EXPECT_EQ(why("--set precision=float32 --set solver.stop.relative=1e-5"), "");
  EXPECT_EQ(why("--set ordering=rcm"), "ordering rcm looks at the whole matrix");
  EXPECT_EQ(why("--set scaling.type=diagonal"), "scaling diagonal is of the whole matrix, which judges");
  EXPECT_EQ(why("--set preconditioner=isai"), "");
  EXPECT_EQ(why("--set preconditioner=block_jacobi"),
            "preconditioner block_jacobi looks for its block_dim in the whole matrix; name it");
  EXPECT_EQ(why("--set 'matrix={generate: random_spd, rows: 200}'"),
            "random_spd makes no rows without all edges of its graph");
  EXPECT_EQ(why("--set 'matrix={generate: anisotropic2d, nx: 20}' --set precision=float32 "
                "--set solver.stop.relative=1e-4"),
            "values were rounded to single precision, and the whole matrix in double precision judges");
  EXPECT_EQ(why("--set 'matrix={generate: stokes2d, nx: 6}' --set solver.type=gmres --set preconditioner=none"),
            "zeros on the diagonal make its structural rank a question, which takes the whole matrix");
}

/// More ranks than units of rows.
TEST_F(TeamProgram, solves_with_ranks_that_have_no_rows) {
  ASSERT_EQ(krill("generate poisson2d nx=7 -o A.mtx").code, 0);
  for (const std::string matrix : {"{generate: poisson2d, nx: 7}", "{file: A.mtx}"}) {
    const Outcome found = ranks(4, "solve case.yaml --set 'matrix=" + matrix + "' --out few");
    ASSERT_EQ(found.code, 0) << found.err;
    const auto team = report("few")["team"];
    EXPECT_EQ(team["matrix"], "own rows");
    EXPECT_TRUE(std::ranges::any_of(team["parts"], [](const auto& part) { return part["rows"] == 0; }));
    EXPECT_EQ(report("few")["verification"]["verdict"], "PASS");
  }
}

/// What ranks refuse together is what one process refuses.
TEST_F(TeamProgram, refuses_matrices_in_the_words_of_one_process) {
  const auto compare = [&](const std::string& settings, int code = 2) {
    SCOPED_TRACE(settings);
    const Outcome one = krill("solve case.yaml --backend host " + settings);
    EXPECT_EQ(one.code, code);
    for (const int n : {2, 3}) {
      const Outcome many = ranks(n, "solve case.yaml " + settings);
      EXPECT_EQ(many.code, code) << many.err;
      EXPECT_TRUE(contains(many.err, one.err.substr(one.err.find("krill: ") + 7))) << many.err << one.err;
    }
  };
  compare("--set 'matrix={generate: convection_diffusion2d, nx: 20}'");
  compare("--set 'matrix={generate: helmholtz2d, nx: 20, damping: 0, wavenumber: 60}'");
  std::string text = "%%MatrixMarket matrix coordinate real general\n40 40 40\n";
  for (int i = 1; i <= 40; ++i) text += std::to_string(i) + " " + std::to_string(i) + (i == 33 ? " x" : " 1.5") + "\n";
  folder_.write("wrong.mtx", text);
  compare("--set 'matrix={file: wrong.mtx}'");
  folder_.write("short.mtx", text.substr(0, 150));
  compare("--set 'matrix={file: short.mtx}'");
  text.replace(text.find(" x"), 2, " nan");
  folder_.write("nan.mtx", text);
  compare("--set 'matrix={file: nan.mtx}'");
  compare("--set 'matrix={file: none.mtx}'");
}

/// What is foreseen is what ranks then have.
TEST_F(TeamProgram, has_the_parts_of_the_plan) {
  const Outcome planned = krill("solve case.yaml --plan --ranks 3 --json");
  ASSERT_EQ(planned.code, 0) << planned.err;
  const auto plan = nlohmann::json::parse(planned.out);
  ASSERT_EQ(ranks(3, "solve case.yaml --out run").code, 0);
  const auto parts = report("run")["team"]["parts"];
  ASSERT_EQ(plan["ranks"].size(), 3U);
  for (std::size_t r = 0; r < 3; ++r)
    for (const auto& [key, value] : plan["ranks"][r].items())
      EXPECT_EQ(value, parts[r][key]) << key << " of rank " << r;
  EXPECT_EQ(plan["imbalance"], report("run")["team"]["imbalance"]);
  const Outcome text = krill("solve case.yaml --plan --ranks 3");
  EXPECT_TRUE(contains(text.out, "of the largest of 3 ranks")) << text.out;
  EXPECT_TRUE(contains(text.out, "ghosts")) << text.out;
  const Outcome unplanned = krill("solve case.yaml --ranks 3");
  EXPECT_EQ(unplanned.code, 2);
  EXPECT_TRUE(contains(unplanned.err, "--ranks is for --plan; mpirun -n N")) << unplanned.err;
  const Outcome open = krill("solve case.yaml --plan --ranks 3 --set preconditioner.type=auto");
  EXPECT_TRUE(contains(open.out, "auto chose preconditioner")) << open.out;
  const Outcome refused = krill("solve case.yaml --plan --ranks 3 --set preconditioner.type=ic0");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "does not run on several ranks")) << refused.err;
}

TEST_F(TeamProgram, has_the_same_bytes_twice) {
  ASSERT_EQ(ranks(3, "solve case.yaml --out a --set solver.type=gmres --set verify.reference=none").code, 0);
  ASSERT_EQ(ranks(3, "solve case.yaml --out b --set solver.type=gmres --set verify.reference=none").code, 0);
  EXPECT_EQ(test::contents(folder_ / "a/solution.mtx"), test::contents(folder_ / "b/solution.mtx"));
  EXPECT_EQ(report("a")["residual"], report("b")["residual"]);
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

TEST_F(TeamProgram, bench_scaling_has_rows_of_either_kind) {
  const Outcome found = ranks(2, "bench scaling --matrix poisson2d nx=24 --preconditioner jacobi --out r.json");
  ASSERT_EQ(found.code, 0) << found.out << found.err;
  EXPECT_EQ(count(found.out, "us a step"), 1U) << "one rank speaks:\n" << found.out;
  const auto result = test::json_file(folder_ / "r.json");
  EXPECT_TRUE(contains(result["device"].get<std::string>(), "2 ranks on the host, 1 thread each"));
  ASSERT_EQ(result["rows"].size(), 6U);
  std::set<std::string> variants;
  for (std::size_t k = 0; k < 6; ++k) {
    const auto& row = result["rows"][k];
    const int rows = k < 3 ? 576 : 1152;
    const double ms = row["ms"], one = row["one_rank_ms"], speed_up = row["speed_up"];
    EXPECT_EQ(row["kernel"], "scaling");
    EXPECT_EQ(row["case"], std::string("poisson2d nx=24") + (k < 3 ? "" : " with 2 times the rows") + " on 2 ranks");
    EXPECT_EQ(row["rows"], rows);
    EXPECT_EQ(row["ranks"], 2);
    EXPECT_EQ(row["halo_bytes"], 24 * 8);
    EXPECT_GT(ms, 0);
    EXPECT_NEAR(speed_up, rows / 576 * one / ms, 1e-9 * speed_up);
    EXPECT_NEAR(row["efficiency"].get<double>(), speed_up / 2, 1e-9 * speed_up);
    EXPECT_GT(row["iterations"], 10);
    variants.insert(row["variant"]);
  }
  EXPECT_EQ(variants, (std::set<std::string>{"pcg, jacobi", "bicgstab, jacobi", "gmres, jacobi"}));
  EXPECT_EQ(result["rows"][0]["one_rank_ms"], result["rows"][3]["one_rank_ms"]);
}

TEST_F(TeamProgram, bench_scaling_has_the_preconditioners_that_are_named) {
  const Outcome found =
      ranks(3, "bench scaling --matrix jumps3d nx=6 block=3 --preconditioner chebyshev,isai,schwarz --out r.json");
  ASSERT_EQ(found.code, 0) << found.out << found.err;
  const auto rows = test::json_file(folder_ / "r.json")["rows"];
  ASSERT_EQ(rows.size(), 18U);
  std::set<std::string> variants;
  for (const auto& row : rows) {
    EXPECT_TRUE(row["error"].is_null()) << row;
    EXPECT_GT(row["ms"], 0);
    EXPECT_TRUE(row["rows"] == 216 || row["rows"] == 648);
    variants.insert(row["variant"]);
  }
  EXPECT_EQ(variants.size(), 9U);
  const Outcome refused = ranks(2, "bench scaling --matrix poisson2d nx=12 --preconditioner ilu0");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "scaling is measured with none, jacobi, chebyshev, isai and schwarz"))
      << refused.err;
}

/// A matrix that no rank makes alone is still made whole by all of them.
TEST_F(TeamProgram, bench_scaling_takes_graphs_and_files) {
  ASSERT_EQ(krill("generate poisson2d nx=20 -o A.mtx").code, 0);
  for (const std::string matrix : {"resistor_network nx=20", "A.mtx"}) {
    const Outcome found = ranks(2, "bench scaling --preconditioner jacobi --matrix " + matrix + " --out r.json");
    EXPECT_EQ(found.code, 0) << found.out << found.err;
    EXPECT_EQ(test::json_file(folder_ / "r.json")["rows"][0]["rows"], 400);
  }
}

TEST_F(TeamProgram, bench_scaling_says_once_what_a_solver_does_not_take) {
  const Outcome found = ranks(3, "bench scaling --matrix convection_diffusion2d nx=12 --preconditioner none");
  EXPECT_EQ(found.code, 0) << found.out << found.err;
  EXPECT_EQ(count(found.out, "the matrix is not symmetric"), 1U) << found.out;
  EXPECT_EQ(count(found.out, "gmres, none"), 2U) << found.out;
}

TEST_F(TeamProgram, bench_scaling_is_for_several_processes) {
  const Outcome alone = krill("bench scaling --matrix poisson2d nx=12 --backend host");
  EXPECT_EQ(alone.code, 2);
  EXPECT_TRUE(contains(alone.err, "started by a launcher: mpirun -n 2 krill bench scaling")) << alone.err;
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

/// A file of a partition of the case's 576 rows: a number for each, by `rank`.
template <class Rank>
std::string numbers(Rank rank) {
  std::string text;
  for (int i = 0; i < 576; ++i) text += std::to_string(rank(i)) + "\n";
  return text;
}

TEST_F(TeamProgram, shares_rows_by_the_graph_or_a_file) {
  folder_.write("parts.txt", numbers([](int i) { return i % 2 == 0 ? 2 : 0; }));
  std::string integers;
  for (int i = 0; i < 576; ++i) integers += std::string{static_cast<char>(i % 2 == 0 ? 2 : 0), 0, 0, 0};
  folder_.write("parts.bin", integers);
  ASSERT_EQ(ranks(3, "solve case.yaml --out rows").code, 0);
  EXPECT_EQ(report("rows")["team"]["partition"], "rows");
  for (const std::string partition : {"parts.txt", "{file: parts.bin}", "graph"}) {
    if (partition == "graph" && !with_metis) continue;
    const std::string set = " --set 'parallel.partition=" + partition + "'";
    const Outcome found = ranks(3, "solve case.yaml --out team" + set);
    ASSERT_EQ(found.code, 0) << found.out << found.err;
    const auto many = report("team");
    EXPECT_EQ(many["verification"]["verdict"], "PASS") << partition;
    EXPECT_NEAR(many["iterations"].get<int>(), report("rows")["iterations"].get<int>(), 1);
    EXPECT_EQ(many["team"]["partition"], partition == "graph" ? "graph" : "file");
    const auto& parts = many["team"]["parts"];
    for (std::size_t r = 0; partition != "graph" && r < 3; ++r) EXPECT_EQ(parts[r]["rows"], r == 1 ? 0 : 288);

    const Outcome planned = krill("solve case.yaml --plan --ranks 3 --json" + set);
    ASSERT_EQ(planned.code, 0) << planned.err;
    const auto plan = nlohmann::json::parse(planned.out);
    for (std::size_t r = 0; r < 3; ++r)
      for (const auto& [key, value] : plan["ranks"][r].items())
        EXPECT_EQ(value, parts[r][key]) << partition << ": " << key << " of rank " << r;
  }
}

TEST_F(TeamProgram, refuses_files_that_are_no_partition) {
  const auto refusal = [&](const std::string& name, const std::string& contents) {
    folder_.write(name, contents);
    const Outcome found = krill("solve case.yaml --plan --ranks 2 --set parallel.partition=" + name);
    EXPECT_EQ(found.code, 2) << found.out;
    return found.err;
  };
  const auto expect = [](const std::string& found, const std::string& sentence) {
    EXPECT_TRUE(contains(found, sentence)) << found;
  };
  expect(refusal("high.txt", numbers([](int i) { return i == 6 ? 2 : 1; })),
         "high.txt:7: rank 2; a rank from 0 to 1 is needed, for there are 2");
  expect(refusal("low.txt", numbers([](int i) { return i == 9 ? -1 : 1; })), "low.txt:10: rank -1; a rank from 0 to 1");
  expect(refusal("word.txt", "0\n\n1 one\n"), "word.txt:3: \"1 one\" is no number; a rank from 0 to 1 is needed");
  expect(refusal("point.txt", "0\n0.5\n"),
         "point.txt:2: \"0.5\" is no number; a rank from 0 to 1 is needed, one a line");
  expect(refusal("long.txt", numbers([](int) { return 0; }) + "1\n"),
         "long.txt:577: more numbers than the matrix has rows, which are 576");
  expect(refusal("short.txt", "0\n1\n1\n"),
         "short.txt:3: the file ends after 3 numbers; the matrix has 576 rows, each needs one");
  expect(refusal("short.bin", std::string(4 * 575, '\0')),
         "short.bin: the file has 2300 bytes, taken for 32-bit integers, as it is no text; of 576 rows 2304 bytes");
  std::string integers(std::size_t{4} * 576, '\0');
  integers[40] = 3;
  expect(refusal("high.bin", integers), "high.bin: row 10 (counted from 0) has rank 3; a rank from 0 to 1");
  for (const auto& [name, sentence] : {std::pair("high.txt", "high.txt:7: rank 2; a rank from 0 to 1 is needed"),
                                       std::pair("none.txt", "none.txt: cannot be read: No such file or directory")}) {
    const Outcome found = ranks(2, "solve case.yaml --set parallel.partition=" + std::string(name));
    EXPECT_EQ(found.code, 2) << found.out;
    EXPECT_EQ(count(found.err, "krill: "), 1U) << found.err;
    EXPECT_TRUE(contains(found.err, sentence)) << found.err;
    EXPECT_FALSE(exists("out/shared/solution.mtx"));
  }
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

/// mpirun hands it on, a second before it kills them all.
TEST_F(TeamProgram, writes_x_where_mpirun_is_told_to_end) {
  for (const std::string signal : {"TERM", "INT"}) {
    const Outcome found = endless(2, "[ $RANK != 0 ] || { begun; kill -" + signal + " $PPID; } &");
    EXPECT_NE(found.code, 0) << signal;
    ASSERT_TRUE(exists("end/report.json")) << signal << found.out << found.err;
    EXPECT_EQ(report("end")["status"], "interrupted");
    EXPECT_EQ(test::contents(folder_ / "end/solution.mtx").substr(0, 14), "%%MatrixMarket");
  }
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

}  // namespace
}  // namespace krill::apps
