// Memory plans against what runs held at most.
#include "apps/plan/plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <type_traits>

#include "apps/commands/solve.hpp"
#include "sparse/core/memory_ledger.hpp"
#include "sparse/core/memory_use.hpp"
#include "tests/apps/solve_support.hpp"
#include "tests/support/backends.hpp"

namespace krill::apps {
namespace {

using krill::test::Backend;
using test::Scratch;

TEST(HostMemory, counts_arrays_and_workspace_while_they_live) {
  const std::size_t before = host_memory::use().now;
  host_memory::restart_peak();
  {
    Array<double> allocated(1000, "allocated");
    allocated.edit();
    const Array<std::int32_t> taken_over(std::vector<std::int32_t>(500));
    EXPECT_EQ(host_memory::use().now, before + 8000 + 2000);
    const Array<double> never_used(1'000'000, "never used");
    EXPECT_EQ(host_memory::use().now, before + 10'000);
    Array<double> moved = std::move(allocated);
    EXPECT_EQ(host_memory::use().now, before + 10'000);
  }
  EXPECT_EQ(host_memory::use().now, before);
  EXPECT_EQ(host_memory::use().peak, before + 10'000);
  {
    const Context ctx = Context::host(1);
    Frame frame(ctx.host_tag());
    frame.take<double>(10);
    EXPECT_EQ(host_memory::use().now, before + (std::size_t{1} << 20));
  }
  EXPECT_EQ(host_memory::use().now, before);
}

TEST(MemoryLedger, remembers_the_peak_and_its_phase) {
  MemoryLedger ledger(MemoryTarget::host(1));
  ledger.begin("first");
  auto kept = ledger.hold(100);
  {
    ledger.begin("second");
    const auto temporary = ledger.hold(50);
  }
  ledger.begin("third");
  kept += ledger.hold(30);
  EXPECT_EQ(kept.bytes(), 130U);
  EXPECT_EQ(ledger.peak(), 150U);
  EXPECT_EQ(ledger.phase_of_peak(), "second");
}

/// As much as an arena that takes the same.
TEST(MemoryLedger, grows_workspace_as_an_arena_does) {
  const Context ctx = Context::host(1);
  MemoryLedger ledger(MemoryTarget::host(1));
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{900'000}, std::size_t{3'000'000}, std::size_t{10}}) {
    Frame frame(ctx.host_tag());
    frame.take<char>(bytes);
    frame.take<char>(bytes / 2);
    ledger.scratch({bytes, bytes / 2});
    EXPECT_EQ(ledger.workspace(), ctx.workspace_bytes()) << bytes;
  }
}

/// The plan of a case and the peak of its run.
class PlannedPeak : public krill::test::OnBackend {
 protected:
  void expect_within_a_tenth(const std::string& text) {
    const std::string path = scratch_.write("case.yaml", text + "output: {plot: false, solution: false}\n");
    const std::string backend = krill::test::name(GetParam());
    const MemoryPlan plan = plan_memory(load_case(path, {"backend=" + backend}));
    run_solve({.case_path = path, .backend = backend, .out = scratch_ / "out", .quiet = true});
    const auto report = test::json_file(scratch_ / "out/report.json");
    const auto measured = report["memory_peak_bytes"].get<double>(), planned = static_cast<double>(plan.peak);
    EXPECT_NEAR(planned / measured, 1, 0.1) << text << plan_text(plan);
  }
  Scratch scratch_;
};

/// The preconditioners that there are, and other ways of theirs.
std::vector<std::string> preconditioners() {
  std::vector<std::string> all{"chebyshev, precision: float32",
                               "gauss_seidel, direction: forward",
                               "ic0, precision: float32",
                               "ic0, triangular_solve: jacobi",
                               "ic0, triangular_solve: isai, solve_corrections: 1",
                               "ilu0, precision: float32, triangular_solve: natural",
                               "isai, form: general, precision: float32",
                               "isai, form: general, most_entries: 5"};
  [&]<class... Options>(std::type_identity<std::variant<Options...>>) {
    (all.emplace_back(Options::type), ...);
  }(std::type_identity<PreconditionerOptions>());
  std::erase(all, AutoPreconditioner::type);
  std::erase(all, InnerSolverOptions::type);
  const std::string inner = "solver, inner: {solver: {type: gmres, max_iterations: 4, restart: 4}, preconditioner: ";
  for (const char* rest : {"chebyshev}", "ilu0}, precision: float32", "chebyshev}, precision: float32"})
    all.push_back(inner + rest);
  return all;
}

TEST_P(PlannedPeak, with_every_preconditioner) {
  for (const std::string matrix : {"poisson3d, nx: 24", "elasticity3d, nx: 9"})
    for (const std::string& preconditioner : preconditioners()) {
      if (preconditioner == LineOptions::type && !matrix.starts_with("poisson")) continue;  // three unknowns a point
      if (preconditioner == SchurOptions::type) continue;                                   // no saddle points
      const std::string solver = preconditioner.starts_with("solver") ? "richardson" : "bicgstab";
      expect_within_a_tenth(
          fmt::format("matrix: {{generate: {}}}\nformat: csr\nsolver: {{type: {}, max_iterations: 3}}\n"
                      "preconditioner: {{type: {}}}\n",
                      matrix, solver, preconditioner));
    }
}

TEST_P(PlannedPeak, with_what_coarse_levels_have_to_represent) {
  for (const std::string space : {"type: rigid_body", "block_dim: 3"})
    expect_within_a_tenth(
        fmt::format("matrix: {{generate: elasticity3d, nx: 9}}\nformat: csr\nsolver: {{type: pcg, max_iterations: 3}}\n"
                    "preconditioner: {{type: amg, near_null_space: {{{}}}}}\n",
                    space));
}

TEST_P(PlannedPeak, with_restriction_by_the_adjoint) {
  for (const std::string reuse : {"nothing", "aggregates"})
    expect_within_a_tenth(
        fmt::format("matrix: {{generate: convection_diffusion3d, nx: 24}}\nformat: csr\n"
                    "solver: {{type: bicgstab, max_iterations: 3}}\n"
                    "preconditioner: {{type: amg, restriction: adjoint_matrix, reuse: {}}}\n",
                    reuse));
}

TEST_P(PlannedPeak, with_the_blocks_of_a_saddle_point) {
  for (const std::string keys : {"form: diagonal", "form: least_squares", "block: ilut, complement: ic0"})
    expect_within_a_tenth(
        fmt::format("matrix: {{generate: stokes2d, nx: 60}}\nformat: csr\nsolver: {{type: gmres, max_iterations: 3}}\n"
                    "preconditioner: {{type: schur, {}}}\n",
                    keys));
}

TEST_P(PlannedPeak, with_parts_of_the_matrix) {
  const std::string a_solver = "inner: {type: solver, inner: {solver: {type: gmres, max_iterations: 4, restart: 4}}}";
  for (const std::string& keys :
       {std::string("parts: 6"), std::string("parts: 6, inner: ilu0, overlap: 1"), std::string("parts: 6, inner: amg"),
        std::string("inner: amg"), std::string("parts: 300, inner: jacobi, coarse: constants"),
        std::string("parts: 6, inner: {type: iluk, level: 2}"), std::string("parts: 6, inner: chebyshev"),
        std::string("inner: {type: isai, precision: float32}"), "parts: 6, overlap: 1, " + a_solver})
    expect_within_a_tenth(
        fmt::format("matrix: {{generate: poisson3d, nx: 30}}\nformat: csr\nsolver: {{type: {}, max_iterations: "
                    "3}}\npreconditioner: {{type: schwarz, {}}}\n",
                    keys.ends_with(a_solver) ? "richardson" : "bicgstab", keys));
}

TEST_P(PlannedPeak, with_pivots) {
  expect_within_a_tenth(
      "matrix: {generate: random_dominant, rows: 4000, dominance: 0.2}\nformat: csr\n"
      "solver: {type: gmres, max_iterations: 3}\npreconditioner: {type: ilut, row_entries: 20, pivoting: 1, shift: "
      "{type: nonzero}}\n");
}

TEST_P(PlannedPeak, with_every_solver) {
  for (const std::string solver : {"bicgstab", "richardson", "gmres, restart: 30",
                                   "fgmres, restart: 30, basis_precision: float16, kept_precision: float32"})
    for (const std::string preconditioner : {"none", "jacobi", "ilu0"})
      expect_within_a_tenth(
          fmt::format("matrix: {{generate: convection_diffusion3d, nx: 24}}\nformat: csr\n"
                      "solver: {{type: {}, max_iterations: 40}}\npreconditioner: {{type: {}}}\n",
                      solver, preconditioner));
}

TEST_P(PlannedPeak, with_a_direct_solver) {
  for (const std::string matrix : {"poisson2d, nx: 120", "convection_diffusion2d, nx: 100"})
    for (const std::string precision : {"float64", "complex64"})
      expect_within_a_tenth(
          fmt::format("matrix: {{generate: {}}}\nprecision: {}\nformat: csr\nsolver: {{type: direct, stop: {{relative: "
                      "1.0e-3}}}}\n",
                      matrix, precision));
}

TEST_P(PlannedPeak, with_a_batch) {
  for (const char* diagonals : {"3", "5"})
    expect_within_a_tenth(fmt::format(
        "matrix: {{generate: banded_batch, rows: 500, systems: 400, diagonals: {}}}\nformat: csr\nsolver: banded\n",
        diagonals));
}

TEST_P(PlannedPeak, with_several_right_hand_sides) {
  for (const char* precision : {"float32", "float64"})
    for (const char* preconditioner : {"none", "ilu0"})
      expect_within_a_tenth(
          fmt::format("matrix: {{generate: convection_diffusion3d, nx: 24}}\nformat: csr\nprecision: {}\n"
                      "rhs: {{type: random, columns: 7}}\nsolver: {{type: bicgstab, max_iterations: 3}}\n"
                      "preconditioner: {{type: {}}}\n",
                      precision, preconditioner));
}

TEST_P(PlannedPeak, with_scalings_and_orderings) {
  for (const std::string scaling : {"none", "diagonal", "ruiz"})
    for (const std::string ordering : {"none", "rcm", "color"})
      expect_within_a_tenth(
          fmt::format("matrix: {{generate: resistor_network, nx: 120}}\nformat: csr\n"
                      "scaling: {{type: {}}}\nordering: {{type: {}}}\n"
                      "solver: {{type: pcg, max_iterations: 3}}\npreconditioner: {{type: ic0}}\n",
                      scaling, ordering));
}

TEST_P(PlannedPeak, with_matchings) {
  for (const std::string scaling : {"none", "ruiz"})
    for (const std::string ordering : {"none", "rcm"})
      expect_within_a_tenth(
          fmt::format("matrix: {{generate: convection_diffusion2d, nx: 120}}\nformat: csr\nmatching: product\n"
                      "scaling: {}\nordering: {}\n"
                      "solver: {{type: bicgstab, max_iterations: 3}}\npreconditioner: ilu0\n",
                      scaling, ordering));
}

TEST_P(PlannedPeak, with_every_format) {
  for (const std::string_view format : std::span(format_names).subspan(1))  // what auto tries may lose
    for (const std::string preconditioner : {"none", "jacobi", "block_jacobi", "chebyshev", "ic0"})
      expect_within_a_tenth(
          fmt::format("matrix: {{generate: poisson3d, nx: 40}}\nformat: {}\n"
                      "solver: {{type: pcg, max_iterations: 3}}\npreconditioner: {{type: {}}}\n",
                      format, preconditioner));
}

TEST_P(PlannedPeak, with_the_backward_error_as_baseline) {
  for (const std::string format : {"csr", "ell", "coo"})
    expect_within_a_tenth(fmt::format(
        "matrix: {{generate: poisson3d, nx: 40}}\nformat: {}\nsolver: {{type: pcg, max_iterations: 3, stop: "
        "{{baseline: backward_error}}}}\npreconditioner: {{type: none}}\n",
        format));
}

/// Blocks that are those of the matrix, rows sorted, a wide COO part.
TEST_P(PlannedPeak, with_layouts_of_their_own) {
  for (const std::string layout :
       {"format: bsr\nlayout: {block_rows: 3}", "format: sell\nlayout: {sort_window: 256}",
        "format: hyb\nlayout: {ell_width: 3}", "format: gebsr\nlayout: {block_rows: 2, block_cols: 3}"})
    for (const std::string preconditioner : {"none", "bilu0", "ilu0, precision: float32"})
      expect_within_a_tenth(
          fmt::format("matrix: {{generate: elasticity3d, nx: 12}}\n{}\n"
                      "solver: {{type: bicgstab, max_iterations: 3}}\npreconditioner: {{type: {}}}\n",
                      layout, preconditioner));
}

TEST_P(PlannedPeak, with_every_precision) {
  for (const std::string precision : {"float32", "float64", "complex64", "complex128"})
    expect_within_a_tenth(
        fmt::format("matrix: {{generate: poisson3d, nx: 24}}\nprecision: {}\nformat: csr\n"
                    "solver: {{type: gmres, restart: 10, max_iterations: 10}}\n"
                    "preconditioner: {{type: ilu0}}\n",
                    precision));
}

/// A file whose values float32 rounds stays in double precision, as the judge.
TEST_P(PlannedPeak, with_a_file_that_is_rounded) {
  std::string entries;
  constexpr int n = 20'000;
  for (int i = 1; i <= n; ++i)
    entries += fmt::format("{0} {0} 2.1\n", i) + (i > 1 ? fmt::format("{} {} -1.05\n", i, i - 1) : "");
  const std::string matrix = scratch_.write(
      "a.mtx", fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} {1}\n", n, 2 * n - 1) + entries);
  for (const std::string scaling : {"none", "ruiz"})
    expect_within_a_tenth(
        fmt::format("matrix: {{file: {}}}\nprecision: float32\nformat: csr\nscaling: {{type: {}}}\n"
                    "solver: {{type: gmres, restart: 10, max_iterations: 10}}\npreconditioner: {{type: ilu0}}\n",
                    matrix, scaling));
}

INSTANTIATE_TEST_SUITE_P(, PlannedPeak, krill::test::backends, krill::test::param_name);

TEST(Plan, of_a_device_needs_none) {
  Scratch scratch;
  const std::string path = scratch.write(
      "case.yaml", "matrix: {generate: poisson2d, nx: 100}\nsolver: {type: auto}\npreconditioner: {type: auto}\n");
  const MemoryPlan plan = plan_memory(load_case(path, {"backend=cuda"}));
  EXPECT_TRUE(plan.for_cuda);
  EXPECT_EQ(plan.choices.size(), 2U);
  EXPECT_GE(plan.peak, plan.during_solve);
  EXPECT_TRUE(test::contains(plan_text(plan), "chebyshev"));
}

TEST(Plan, says_what_to_change_where_memory_is_short) {
  MemoryPlan plan;
  plan.peak = 200, plan.free = 150, plan.phase_of_peak = "solve";
  EXPECT_EQ(lack_of_memory(plan),
            "the peak of 200 B, in the solve, is 50 B more than is free on the host: a preconditioner without factors "
            "(jacobi, chebyshev), precision float32 or format csr take less");
  EXPECT_EQ(plan_json(plan)["exit_code"], 3);
  plan.settings.solver = GmresOptions{.restart = 20};
  plan.per_step = 8;
  EXPECT_TRUE(test::contains(lack_of_memory(plan), "set solver.restart: 13, or less, or solver.basis_precision:"));
  plan.per_step = 2;
  EXPECT_TRUE(test::contains(lack_of_memory(plan), "on the host: set solver.basis_precision: float32 or float16, or"));
  plan.free = 200;
  EXPECT_EQ(lack_of_memory(plan), "");
  EXPECT_FALSE(plan_json(plan).contains("error"));
}

TEST(Plan, names_a_restart_that_fits) {
  Scratch scratch;
  const std::string path = scratch.write("case.yaml",
                                         "matrix: {generate: poisson2d, nx: 100}\n"
                                         "solver: {type: gmres, restart: 200}\npreconditioner: {type: none}\n");
  MemoryPlan plan = plan_memory(load_case(path, {"backend=host"}));
  EXPECT_GE(plan.per_step, 10'000 * sizeof(double));
  plan.free = plan.peak - 10 * plan.per_step;
  EXPECT_TRUE(test::contains(lack_of_memory(plan), "set solver.restart: 190, or less")) << lack_of_memory(plan);
  EXPECT_LE(plan_memory(load_case(path, {"backend=host", "solver.restart=190"})).peak, plan.free);
}

}  // namespace
}  // namespace krill::apps
