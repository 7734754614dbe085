// krill solve with a direct solver, and up the ladder.
#include <gtest/gtest.h>

#include "apps/commands/solve.hpp"
#include "apps/plan/plan.hpp"
#include "sparse/core/error.hpp"
#include "tests/apps/solve_support.hpp"
#include "tests/support/backends.hpp"

namespace krill::apps {
namespace {

class LadderProgram : public krill::test::OnBackend {
 protected:
  int solve_case(const std::string& text) {
    const std::string path = folder_.write("case.yaml", text + "output: {plot: false, history: false}\n");
    return run_solve(
        {.case_path = path, .backend = krill::test::name(GetParam()), .out = folder_ / "out", .quiet = true});
  }
  nlohmann::json report_of_case() const { return test::json_file(folder_ / "out/report.json"); }
  test::Scratch folder_;
};

/// x is judged by another factorization than the one that it was made with.
TEST_P(LadderProgram, a_direct_solve_is_no_judge_of_itself) {
  for (const auto& [settings, method, judge] :
       {std::tuple("matrix: {generate: poisson2d, nx: 20}\n", "ldlt", "SparseLU"),
        std::tuple("matrix: {generate: convection_diffusion2d, nx: 20}\n", "lu", "SparseQR"),
        std::tuple("matrix: {generate: helmholtz2d, nx: 20}\n", "lu", "SparseQR"),
        std::tuple("matrix: {generate: poisson2d, nx: 20}\nprecision: float32\n", "ldlt", "SparseLU")}) {
    const bool single = test::contains(settings, "float32");
    EXPECT_EQ(solve_case(std::string(settings) + "solver: {type: direct, stop: {relative: " +
                         (single ? "1.0e-5" : "1.0e-10") + "}}\nverify: {reference: eigen}\n"),
              0)
        << settings;
    const auto report = report_of_case();
    EXPECT_EQ(report["preconditioner_setup"]["factorization"], method) << settings;
    EXPECT_EQ(report["verification"]["verdict"], "PASS") << settings;
    EXPECT_EQ(report["verification"]["method"], judge) << settings;
    EXPECT_LE(report["iterations"], 3);
  }
}

TEST_P(LadderProgram, the_report_has_every_attempt) {
  const std::string weak =
      "matrix: {generate: resistor_network, nx: 30, decades: 8}\nrhs: {type: random}\n"
      "solver: {type: bicgstab, max_iterations: 30}\n";
  EXPECT_EQ(solve_case(weak), 1);
  EXPECT_TRUE(report_of_case()["attempts"].empty());
  EXPECT_TRUE(test::contains(report_of_case()["remedy"], "on_failure: ladder"));
  EXPECT_EQ(solve_case(weak + "on_failure: ladder\n"), 0);
  const auto report = report_of_case();
  const auto& attempts = report["attempts"];
  ASSERT_GE(attempts.size(), 2U);
  EXPECT_EQ(attempts.front()["status"], "max_iterations");
  EXPECT_EQ(attempts.back()["status"], "converged");
  for (const auto& attempt : attempts) EXPECT_FALSE(attempt["why"].get<std::string>().empty());
  EXPECT_TRUE(test::contains(attempts.back()["method"], report["preconditioner"]));
  EXPECT_LE(report["residual"]["true_relative"], 1e-8);
}

/// auto climbs unless the case forbids it.
TEST_P(LadderProgram, auto_climbs) {
  const std::string weak =
      "matrix: {generate: resistor_network, nx: 30, decades: 8}\nrhs: {type: random}\npreconditioner: none\n"
      "solver: {type: auto, max_iterations: 5}\n";
  EXPECT_EQ(solve_case(weak + "on_failure: stop\n"), 1);
  EXPECT_EQ(solve_case(weak), 0);
  EXPECT_EQ(report_of_case()["solver"], "direct");
}

TEST_P(LadderProgram, names_what_is_singular) {
  folder_.write("A.mtx",
                "%%MatrixMarket matrix coordinate real general\n3 3 9\n1 1 1\n1 2 2\n1 3 3\n2 1 4\n2 2 5\n2 3 6\n"
                "3 1 7\n3 2 8\n3 3 9\n");
  EXPECT_EQ(solve_case("matrix: {file: A.mtx}\nrhs: {type: random}\nsolver: {type: gmres}\non_failure: ladder\n"), 1);
  EXPECT_TRUE(test::contains(report_of_case()["why"], "singular")) << report_of_case()["why"];
}

TEST_P(LadderProgram, refuses_a_ladder_without_steps) {
  try {
    solve_case("matrix: {generate: banded_batch, rows: 5, systems: 4}\nsolver: banded\non_failure: ladder\n");
    ADD_FAILURE() << "not refused";
  } catch (const InvalidArgument& error) {
    EXPECT_TRUE(test::contains(error.what(), "on_failure: ladder is not for a batch")) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(, LadderProgram, krill::test::backends, krill::test::param_name);

TEST(Plan, of_a_direct_solver_is_of_the_host_and_offers_another_one) {
  test::Scratch folder;
  const std::string path =
      folder.write("case.yaml", "matrix: {generate: convection_diffusion2d, nx: 40}\nsolver: direct\nbackend: cuda\n");
  MemoryPlan plan = plan_memory(load_case(path));
  EXPECT_FALSE(plan.for_cuda);
  EXPECT_GT(plan.peak, plan.during_solve) << "what Eigen holds while it factorizes";
  plan.free = plan.peak - 1;
  EXPECT_TRUE(test::contains(lack_of_memory(plan), "an iterative solver")) << lack_of_memory(plan);
}

}  // namespace
}  // namespace krill::apps
