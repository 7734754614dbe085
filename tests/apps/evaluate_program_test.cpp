// `krill evaluate` as a process: results, exit codes, and what becomes of a sweep when variants, the program or the
// disk fail.
#include <fcntl.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <set>
#include <sstream>
#include <thread>

#include "tests/apps/program.hpp"

namespace krill::apps {
namespace {

using nlohmann::json;
using test::contains;
using test::contents;
using namespace std::chrono_literals;

/// Three variants that take milliseconds.
const std::string small_sweep =
    "name: small\n"
    "case: {matrix: {generate: poisson2d, nx: 20}, solver: {type: pcg}, backend: host, threads: 1}\n"
    "grid: {preconditioner: [none, jacobi, ssor]}\n"
    "repeats: 2\n";

class Evaluate : public test::Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    folder_.write("sweep.yaml", small_sweep);
  }
  json result(const std::string& folder = "out/small") {
    return test::json_file(folder_ / (folder + "/evaluation.json"));
  }
  std::string status_of(const json& all, const std::string& method) {
    for (const auto& run : all["runs"])
      if (run["name"] == method) return run["status"];
    return "no such run";
  }

  void await_journal(std::size_t lines) { await_lines("out/small/evaluation.jsonl", lines); }
};

TEST_F(Evaluate, writes_results_that_agree_and_a_best_case_that_runs) {
  const auto outcome = krill("evaluate sweep.yaml");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(test::names_in(folder_ / "out/small"),
            (std::vector<std::string>{"best.yaml", "evaluation.csv", "evaluation.html", "evaluation.json",
                                      "evaluation.jsonl"}));
  const json all = result();
  EXPECT_EQ(all["status"], "complete");
  ASSERT_EQ(all["runs"].size(), 3U);
  for (const auto& run : all["runs"]) {
    EXPECT_EQ(run["status"], "converged");
    EXPECT_LE(run["true_relative"], run["target_relative"]);
    const double setup = run["setup_ms"]["median"], solve = run["solve_ms"]["median"];
    EXPECT_DOUBLE_EQ(run["total_ms"]["10"], setup + 10 * solve);
    EXPECT_GE(run["samples_ms"].size(), 2U);
    EXPECT_EQ(run["history"]["iteration"].size(), run["history"]["residual"].size());
    EXPECT_GT(run["memory_bytes"], 0);
  }
  const auto& order = all["systems"][0]["ranking"]["one_solve"];
  for (std::size_t k = 1; k < order.size(); ++k)
    EXPECT_LE(all["runs"][order[k - 1].get<int>()]["total_ms"]["1"], all["runs"][order[k].get<int>()]["total_ms"]["1"]);
  EXPECT_TRUE(contains(outcome.out, "For one solve: pcg + ")) << outcome.out;

  std::istringstream csv(contents(folder_ / "out/small/evaluation.csv"));
  std::string line;
  std::getline(csv, line);
  EXPECT_TRUE(line.starts_with("system,variant,status,iterations,setup_ms,")) << line;
  int lines = 0;
  while (std::getline(csv, line)) lines += line.starts_with("poisson2d,pcg + ");
  EXPECT_EQ(lines, 3);

  const auto solved = krill("solve out/small/best.yaml --out best");
  EXPECT_EQ(solved.code, 0) << solved.err;
  const json report = test::json_file(folder_ / "best/report.json"), best = all["runs"][all["best"].get<int>()];
  EXPECT_EQ(report["iterations"], best["iterations"]) << "the same case, bit for bit";
  EXPECT_EQ(report["residual"]["true_relative"], best["true_relative"]);
}

TEST_F(Evaluate, does_not_run_again_what_is_finished) {
  ASSERT_EQ(krill("evaluate sweep.yaml").code, 0);
  const json first = result();
  const auto again = krill("evaluate sweep.yaml");
  EXPECT_EQ(again.code, 0);
  EXPECT_TRUE(contains(again.out, "3 finished before")) << again.out;
  const json second = result();
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(second["runs"][r]["from_journal"], true);
    EXPECT_EQ(second["runs"][r]["iterations"], first["runs"][r]["iterations"]);
  }
  // One more variant: the others are known.
  EXPECT_EQ(krill("evaluate sweep.yaml --set 'grid.preconditioner=[none, jacobi, ssor, ic0]'").code, 0);
  std::size_t known = 0;
  const json more = result();
  for (const auto& run : more["runs"]) known += run["from_journal"] == true;
  EXPECT_EQ(known, 3U);
  EXPECT_EQ(krill("evaluate sweep.yaml --fresh").code, 0);
  const json fresh = result();
  for (const auto& run : fresh["runs"]) EXPECT_EQ(run["from_journal"], false);
}

TEST_F(Evaluate, changed_files_are_other_inputs) {
  ASSERT_EQ(krill("generate poisson1d nx=40 -o a.mtx").code, 0);
  ASSERT_EQ(krill("evaluate a.mtx --portfolio quick --backend host").code, 0);
  ASSERT_EQ(krill("generate poisson1d nx=50 -o a.mtx").code, 0);
  ASSERT_EQ(krill("evaluate a.mtx --portfolio quick --backend host").code, 0);
  const json second = result("out/a");
  for (const auto& run : second["runs"]) EXPECT_EQ(run["from_journal"], false);
}

TEST_F(Evaluate, variants_that_go_wrong_are_rows_with_a_reason) {
  folder_.write("sweep.yaml", small_sweep + "time_limit: 0.5\n");
  for (const auto& [fault, status, why] :
       {std::tuple("crash:jacobi", "crashed", "SIGSEGV"), std::tuple("kill:jacobi", "out_of_memory", "SIGKILL"),
        std::tuple("hang:jacobi", "too_long", "ended from outside")}) {
    const auto outcome =
        krill("evaluate sweep.yaml --fresh", std::string("ASAN_OPTIONS=handle_segv=0 KRILL_WORKER_FAULT=") + fault);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const json all = result();
    EXPECT_EQ(status_of(all, "pcg + jacobi"), status);
    EXPECT_EQ(status_of(all, "pcg + none"), "converged");
    EXPECT_EQ(status_of(all, "pcg + ssor"), "converged") << "the sweep goes on";
    EXPECT_TRUE(contains(all["runs"][1]["why"].get<std::string>(), why)) << all["runs"][1]["why"];
    EXPECT_NE(all["runs"][1]["remedy"], "");
  }
}

/// Cycles that do not contract end with a reason, and are not ranked among what converged.
TEST_F(Evaluate, a_hierarchy_that_does_not_help_is_last) {
  folder_.write(
      "sweep.yaml",
      "name: small\n"
      "case: {matrix: {generate: poisson2d, nx: 40}, backend: host, threads: 1, contraction_steps: 20}\n"
      "variants:\n"
      "  - {name: too far, solver: multigrid, preconditioner: {type: amg, method: aggregation, coarse_rows: 60, "
      "over_correction: 2, smoother: {type: l1_jacobi, degree: 1}}}\n"
      "  - {name: cycles, solver: multigrid, preconditioner: {type: amg, coarse_rows: 60}}\n"
      "  - {name: plain, solver: pcg}\n");
  const auto outcome = krill("evaluate sweep.yaml");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json all = result();
  const auto contraction = [&](int k) { return all["runs"][k]["preconditioner"]["contraction"]; };
  EXPECT_TRUE(contraction(0).is_null() || contraction(0) >= 1) << contraction(0);
  EXPECT_NE(status_of(all, "too far"), "converged");
  EXPECT_NE(all["runs"][0]["why"], "");
  EXPECT_LT(contraction(1), 0.75);
  EXPECT_EQ(status_of(all, "cycles"), "converged");
  EXPECT_EQ(status_of(all, "plain"), "converged");
  const auto& order = all["systems"][0]["ranking"]["one_solve"];
  EXPECT_EQ(order.size(), 2U);
  for (const auto& k : order) EXPECT_NE(k, 0);
}

TEST_F(Evaluate, refusals_and_slow_solves_keep_their_diagnosis) {
  folder_.write("sweep.yaml",
                "name: small\ncase: {matrix: {generate: helmholtz2d, nx: 12}, backend: host}\n"
                "variants:\n"
                "  - {name: refused, solver: {type: pcg}}\n"
                "  - {name: short, solver: {type: gmres, max_iterations: 2}}\n"
                "  - {name: fine, solver: {type: gmres, restart: 200}}\n");
  EXPECT_EQ(krill("evaluate sweep.yaml").code, 0);
  const json all = result();
  EXPECT_EQ(status_of(all, "refused"), "refused");
  EXPECT_TRUE(contains(all["runs"][0]["why"].get<std::string>(), "pcg needs a Hermitian")) << all["runs"][0]["why"];
  EXPECT_EQ(status_of(all, "short"), "max_iterations");
  EXPECT_EQ(all["runs"][1]["iterations"], 2);
  EXPECT_NE(all["runs"][1]["remedy"], "");
  EXPECT_EQ(all["best"], 2);
  EXPECT_EQ(krill("evaluate sweep.yaml --out none --set 'variants=[{solver: {type: pcg}}]'").code, 1)
      << "none converged";
  EXPECT_FALSE(exists("none/best.yaml"));
}

TEST_F(Evaluate, runs_out_of_memory_one_by_one) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer needs more addresses than the limit leaves";
#endif
  // In 400 MB of address space there is room for the matrix and some vectors of 2 MB, not for a basis of 1000.
  folder_.write(
      "sweep.yaml",
      "name: small\ncase: {matrix: {generate: poisson2d, nx: 500}, rhs: {type: random}, backend: host, threads: 1}\n"
      "variants:\n"
      "  - {name: large, solver: {type: gmres, restart: 1000, stop: {relative: 1e-12}}}\n"
      "  - {name: lean, solver: {type: pcg, stop: {relative: 0.5}}}\n"
      "repeats: 1\n");
  const auto outcome = krill("evaluate sweep.yaml", "ulimit -v 400000;");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(status_of(result(), "large"), "out_of_memory");
  EXPECT_EQ(status_of(result(), "lean"), "converged");
}

TEST_F(Evaluate, budget_leaves_the_rest_for_another_time) {
  folder_.write("sweep.yaml", small_sweep + "budget: 2\ntime_limit: 1\n");
  const auto outcome = krill("evaluate sweep.yaml", "KRILL_WORKER_FAULT=hang:none");
  EXPECT_EQ(outcome.code, 1) << "pcg + none hangs for longer than the budget";
  json all = result();
  EXPECT_EQ(all["status"], "out_of_budget");
  EXPECT_EQ(status_of(all, "pcg + ssor"), "not_run");
  EXPECT_TRUE(contains(all["runs"][2]["why"].get<std::string>(), "budget of 2 s"));
  EXPECT_EQ(krill("evaluate sweep.yaml --budget 0").code, 0);
  EXPECT_EQ(status_of(result(), "pcg + ssor"), "converged");
}

TEST_F(Evaluate, killed_in_the_middle_loses_nothing_that_was_finished) {
  const pid_t child = start("evaluate sweep.yaml", "KRILL_WORKER_FAULT=hang:ssor");
  await_journal(2);
  kill(child, SIGKILL);
  end_of(child);
  EXPECT_FALSE(exists("out/small/evaluation.json"));
  // The journal's last line may be torn as well.
  std::ofstream(folder_ / "out/small/evaluation.jsonl", std::ios::app) << "{\"key\": \"xxh64:12";
  const auto again = krill("evaluate sweep.yaml");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "2 finished before")) << again.out;
  const json all = result();
  EXPECT_EQ(all["runs"][0]["from_journal"], true);
  EXPECT_EQ(all["runs"][2]["from_journal"], false);
  std::istringstream journal(contents(folder_ / "out/small/evaluation.jsonl"));
  for (std::string line; std::getline(journal, line);) EXPECT_TRUE(json::accept(line)) << line;
}

TEST_F(Evaluate, workers_die_with_the_sweep) {
  const pid_t child = start("evaluate sweep.yaml", "KRILL_WORKER_FAULT=hang:ssor");
  await_journal(2);
  std::string children = contents("/proc/" + std::to_string(child) + "/task/" + std::to_string(child) + "/children");
  const pid_t worker = std::stoi(children);
  kill(child, SIGKILL);
  end_of(child);
  for (int i = 0; i < 500 && kill(worker, 0) == 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_NE(kill(worker, 0), 0) << "the worker outlived the sweep";
}

TEST_F(Evaluate, interrupted_writes_what_it_has) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t child = start("evaluate sweep.yaml --fresh", "KRILL_WORKER_FAULT=hang:ssor");
    std::this_thread::sleep_for(300ms);
    await_journal(2);
    kill(child, signal);
    EXPECT_EQ(end_of(child), 1);
    const json all = result();
    EXPECT_EQ(all["status"], "interrupted");
    EXPECT_EQ(status_of(all, "pcg + jacobi"), "converged");
    EXPECT_EQ(status_of(all, "pcg + ssor"), "not_run");
    EXPECT_TRUE(exists("out/small/best.yaml"));
    EXPECT_TRUE(contains(contents(outputs_ / "stderr"), "interrupted; the same command goes on from here"));
  }
}

TEST_F(Evaluate, a_full_disk_loses_nothing_that_was_finished) {
  ASSERT_EQ(krill("evaluate sweep.yaml").code, 0);
  const std::string before = contents(folder_ / "out/small/evaluation.json");
  const auto size = std::filesystem::file_size(folder_ / "out/small/evaluation.jsonl");
  // Files may not grow beyond what the journal has: as on a full disk, the write fails, here with SIGXFSZ ignored.
  const std::string limit = "trap '' XFSZ; ulimit -f " + std::to_string(size / 512) + ";";
  const auto full = krill("evaluate sweep.yaml --set 'grid.preconditioner=[none, jacobi, ssor, ic0]'", limit);
  EXPECT_EQ(full.code, 3) << full.err;
  EXPECT_TRUE(contains(full.err, "evaluation.jsonl: the journal cannot be written")) << full.err;
  EXPECT_TRUE(contains(full.err, "goes on from there")) << full.err;
  EXPECT_TRUE(json::accept(contents(folder_ / "out/small/evaluation.json"))) << "whole, old or new";
  const auto again = krill("evaluate sweep.yaml --set 'grid.preconditioner=[none, jacobi, ssor, ic0]'");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "3 finished before")) << again.out;
}

TEST_F(Evaluate, bad_input_ends_before_anything_runs) {
  const auto bad = [&](const std::string& arguments, const std::string& words) {
    const auto outcome = krill(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments << outcome.err;
    EXPECT_TRUE(contains(outcome.err, words)) << outcome.err;
    EXPECT_FALSE(exists("out")) << arguments;
  };
  bad("evaluate nothing.yaml", "nothing.yaml: cannot be read");
  bad("evaluate nothing.mtx", "nothing.mtx: cannot be read: No such file");
  bad("evaluate sweep.yaml --portfolio big", "--portfolio");
  bad("evaluate sweep.yaml --portfolio quick", "\"preconditioner\" is what the portfolio chooses");
  bad("evaluate sweep.yaml --set repeat=3", "did you mean 'repeats'?");
  folder_.write("broken.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n5 5 1\n");
  const auto broken = krill("evaluate broken.mtx --backend host");
  EXPECT_EQ(broken.code, 2);
  EXPECT_TRUE(contains(broken.err, "broken.mtx:3")) << broken.err;
}

TEST_F(Evaluate, runs_on_cuda_or_says_that_there_is_none) {
  const auto outcome = krill("evaluate sweep.yaml --backend cuda");
  if (json::parse(krill("version --json").out)["cuda"]["devices"].empty()) {
    EXPECT_EQ(outcome.code, 3);
    EXPECT_TRUE(contains(outcome.err, "no CUDA device")) << outcome.err;
    return;
  }
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json all = result();
  EXPECT_TRUE(all["environment"]["device"].is_string());
  for (const auto& run : all["runs"]) EXPECT_EQ(run["backend"], "cuda");
}

TEST_F(Evaluate, a_read_only_folder_is_refused) {
  if (geteuid() == 0) {  // root may write anywhere but where nobody can
    const auto outcome = krill("evaluate sweep.yaml --out /proc/krill");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(contains(outcome.err, "choose another one with --out")) << outcome.err;
    return;
  }
  std::filesystem::create_directory(folder_ / "closed");
  std::filesystem::permissions(folder_ / "closed",
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto outcome = krill("evaluate sweep.yaml --out closed");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.err, "a folder that you may write to")) << outcome.err;
}

TEST_F(Evaluate, one_sweep_at_a_time_writes_a_folder) {
  const pid_t child = start("evaluate sweep.yaml", "KRILL_WORKER_FAULT=hang:ssor");
  await_journal(2);
  const auto second = krill("evaluate sweep.yaml");
  EXPECT_EQ(second.code, 2);
  EXPECT_TRUE(contains(second.err, "another krill is writing here")) << second.err;
  kill(child, SIGKILL);
  end_of(child);
}

TEST_F(Evaluate, several_systems_are_ranked_together) {
  folder_.write("sweep.yaml",
                "name: small\ncase: {backend: host, threads: 1, solver: {type: gmres}}\n"
                "grid:\n  matrix: [{generate: poisson2d, nx: 12}, {generate: convection_diffusion2d, nx: 12}]\n"
                "  preconditioner: [none, jacobi, ilu0]\nrepeats: 1\n");
  ASSERT_EQ(krill("evaluate sweep.yaml").code, 0);
  const json all = result();
  ASSERT_EQ(all["systems"].size(), 2U);
  std::set<std::string> names;
  for (const auto& one : all["overall"]["one_solve"]["ranking"]) {
    names.insert(one["name"].get<std::string>());
    EXPECT_EQ(one["solved"], 2);
    EXPECT_GE(one["ratio"], 1.0);
  }
  EXPECT_EQ(names.size(), 3U) << "the same method is one method on both";
}

TEST_F(Evaluate, a_method_that_solved_some_systems_is_not_recommended_for_all) {
  folder_.write("sweep.yaml",
                "name: small\ncase: {backend: host, threads: 1}\n"
                "grid:\n  matrix: [{generate: poisson2d, nx: 12}, {generate: convection_diffusion2d, nx: 12}]\n"
                "  solver: [pcg, {type: richardson, max_iterations: 1}]\nrepeats: 1\n");
  const auto ended = krill("evaluate sweep.yaml");
  EXPECT_EQ(ended.code, 0) << ended.err;
  const json all = result();
  EXPECT_EQ(all["overall"]["one_solve"]["ranking"][0]["solved"], 1);
  EXPECT_EQ(all["overall"]["one_solve"]["sentence"],
            "For one solve no variant suits all systems: pcg + none solved the most, 1 of 2. Choose for each system by "
            "itself.");
  EXPECT_TRUE(all["best"].is_null());
  EXPECT_FALSE(exists("out/small/best.yaml"));
}

TEST_F(Evaluate, prints_json_or_nothing_where_asked) {
  const auto printed = krill("evaluate sweep.yaml --json");
  EXPECT_EQ(json::parse(printed.out), result());
  const auto quiet = krill("evaluate sweep.yaml --quiet");
  EXPECT_EQ(quiet.out + quiet.err, "");
}

}  // namespace
}  // namespace krill::apps
