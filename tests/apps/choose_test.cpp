// The rules behind `auto`, and solves that leave the method to them.
#include "solvers/method/choose.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apps/commands/solve.hpp"
#include "solvers/method/type_name.hpp"
#include "sparse/io/generate.hpp"
#include "tests/apps/solve_support.hpp"
#include "tests/support/backends.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Scratch;

MatrixProperties properties_of(const GeneratorOptions& options) {
  return analyze(Host{1, {}, nullptr}, generate<double>(options));
}

MatrixProperties of_poisson() {
  Poisson2dOptions grid;
  grid.nx = 150, grid.ny = 150;
  return properties_of(grid);
}

MatrixProperties of_convection() {
  ConvectionDiffusion2dOptions grid;
  grid.nx = 150, grid.ny = 150;
  return properties_of(grid);
}

template <class... Variants>
std::vector<std::string_view> types(const Variants&... chosen) {
  return {std::visit([](const auto& o) { return o.type; }, chosen)...};
}
std::vector<std::string_view> types(const SolveOptions& m) {
  return types(m.solver, m.preconditioner, m.ordering, m.scaling);
}

using Types = std::vector<std::string_view>;

TEST(Choose, suits_matrix_and_backend) {
  EXPECT_EQ(types(choose(of_poisson(), false).method), (Types{"pcg", "ic0", "none", "none"}));
  EXPECT_EQ(types(choose(of_poisson(), true).method), (Types{"pcg", "chebyshev", "none", "none"}));
  EXPECT_EQ(types(choose(of_convection(), false).method), (Types{"bicgstab", "ilu0", "none", "none"}));
  EXPECT_EQ(types(choose(of_convection(), true).method), (Types{"bicgstab", "isai", "none", "none"}));
  AmgOptions cycle_k;
  cycle_k.cycle = MultigridCycle::k;
  for (const PreconditionerOptions& varies :
       {PreconditionerOptions(InnerSolverOptions{}), PreconditionerOptions(cycle_k)}) {
    const std::string name(type_name(varies));
    EXPECT_EQ(types(choose(of_poisson(), false, {.preconditioner = varies}).method),
              (Types{"fcg", name, "none", "none"}));
    EXPECT_EQ(types(choose(of_convection(), false, {.preconditioner = varies}).method),
              (Types{"fgmres", name, "none", "none"}));
  }
  EXPECT_EQ(types(choose(of_convection(), true, {.preconditioner = Ilu0Options{}}).method),
            (Types{"bicgstab", "ilu0", "color", "none"}));
}

/// By size and what rows add up to: grids have it, dominant rows have not.
TEST(Choose, takes_multigrid_for_large_diffusion) {
  MatrixProperties m = of_poisson();
  const auto chosen = [&](bool on_cuda) { return types(choose(m, on_cuda).method)[1]; };
  m.rows = m.cols = 120'000, m.null_rows = 100'000;
  EXPECT_EQ(chosen(false), "amg");
  EXPECT_EQ(chosen(true), "chebyshev");
  m.rows = m.cols = 600'000, m.null_rows = 590'000;
  EXPECT_EQ(chosen(true), "amg");
  EXPECT_EQ(std::get<AmgOptions>(choose(m, true).method.preconditioner).method, MultigridMethod::automatic);
  m.mean_row = 6.9;
  EXPECT_EQ(chosen(true), "chebyshev") << "a grid in three dimensions pays later";
  EXPECT_EQ(chosen(false), "amg");
  m.mean_row = 26.6;
  EXPECT_EQ(chosen(false), "ic0") << "and long rows later still";
  EXPECT_EQ(chosen(true), "chebyshev");
  m.rows = m.cols = 4'096'000, m.null_rows = 3'900'000;
  EXPECT_EQ(chosen(false), "amg");
  EXPECT_EQ(chosen(true), "amg");
  m.mean_row = 60;
  EXPECT_EQ(chosen(true), "chebyshev");
  m.rows = m.cols = 600'000, m.mean_row = 5, m.null_rows = 100'000;
  EXPECT_EQ(chosen(true), "chebyshev");
  EXPECT_NE(multigrid_fit(m, true).why.find("100000 of 600000 rows add up to 0"), std::string::npos);
}

TEST(Choose, solver_multigrid_takes_amg) {
  const MatrixProperties m = of_poisson();
  EXPECT_EQ(types(choose(m, false, {.solver = MultigridSolverOptions{}}).method),
            (Types{"multigrid", "amg", "none", "none"}));
  EXPECT_EQ(types(choose(m, false, {.solver = MultigridSolverOptions{}, .preconditioner = JacobiOptions{}}).method)[1],
            "jacobi");
}

TEST(Choose, solves_saddle_points_block_by_block) {
  MatrixProperties m = properties_of(Stokes2dOptions{.nx = 40});
  const auto block_by_block = [&](const SolveOptions& open = {}) { return choose(m, false, open).method; };
  EXPECT_EQ(types(block_by_block()), (Types{"gmres", "schur", "none", "none"}));
  EXPECT_EQ(type_name(block_by_block().matching), "none");
  EXPECT_EQ(types(choose(m, true).method), (Types{"gmres", "schur", "none", "none"}));
  EXPECT_EQ(std::get<SchurOptions>(block_by_block().preconditioner).form, SchurForm::least_squares);
  EXPECT_EQ(types(block_by_block({.solver = BicgstabOptions{}}))[1], "ilu0") << "with a matching";
  EXPECT_EQ(types(block_by_block({.matching = GreatestProduct{}}))[1], "ilu0");
  SolveOptions named;
  named.preconditioner = SchurOptions{};
  EXPECT_EQ(types(block_by_block(named)), (Types{"gmres", "schur", "none", "none"}));
  EXPECT_EQ(type_name(block_by_block(named).matching), "none") << "it would change the diagonal that tells the blocks";
  m.negative_diagonal = 1;
  EXPECT_EQ(std::get<SchurOptions>(block_by_block().preconditioner).form, SchurForm::diagonal);
  m.constraint_rows = 0;
  EXPECT_EQ(types(block_by_block())[1], "ilu0");
}

TEST(Choose, divides_by_no_zero_diagonal_and_scales_instead) {
  MatrixProperties m = of_convection();
  m.zero_diagonal = 1, m.first_zero_diagonal = 3, m.positive_diagonal = false;
  m.min_row_norm = 1e-9 * m.infinity_norm;
  m.structure->rank = m.rows - 1;  // so that rows cannot be matched to columns
  EXPECT_EQ(types(choose(m, false).method), (Types{"gmres", "none", "none", "ruiz"}));
  m.empty_rows = 1;
  EXPECT_EQ(types(choose(m, false).method), (Types{"gmres", "none", "none", "none"}));
}

TEST(Choose, matches_rows_to_columns_where_the_diagonal_is_weak) {
  const auto matching = [](const MatrixProperties& m, const SolveOptions& open = {}) {
    return type_name(choose(m, false, open).method.matching);
  };
  MatrixProperties m = of_convection();
  EXPECT_EQ(matching(m), "none");
  m.small_diagonal = 1;
  EXPECT_EQ(matching(m), "product");
  m.zero_diagonal = 1;
  EXPECT_EQ(types(choose(m, false).method), (Types{"gmres", "ilu0", "none", "none"}));
  EXPECT_EQ(types(choose(m, true).method), (Types{"bicgstab", "isai", "none", "none"}));
  EXPECT_EQ(matching(m, {.solver = PcgOptions{}}), "none");
  EXPECT_EQ(matching(m, {.matching = NoMatching{}}), "none");
  m.structure.reset();
  EXPECT_EQ(matching(m), "none");
  MatrixProperties definite = of_poisson();
  definite.small_diagonal = 1;
  EXPECT_EQ(matching(definite), "none");
}

TEST(Choose, goes_on_to_replaced_pivots_where_rows_are_matched) {
  const SolveOptions method{.preconditioner = IsaiOptions{}, .matching = GreatestProduct{}};
  MatrixProperties m = of_convection();
  m.zero_diagonal = 1;
  const auto next = weaker(method, m);
  ASSERT_TRUE(next && std::holds_alternative<Ilu0Options>(*next));
  EXPECT_EQ(std::get<Ilu0Options>(*next).shift.type, LuShift::nonzero);
  EXPECT_TRUE(
      std::holds_alternative<JacobiOptions>(*weaker({.preconditioner = *next, .matching = GreatestProduct{}}, m)));
}

TEST(Choose, turns_the_sign_of_a_matrix_that_may_be_negative_definite) {
  MatrixProperties m = of_poisson();
  m.positive_diagonal = false, m.negative_diagonal = m.rows, m.first_not_positive_diagonal = 0;
  m.definiteness = Definiteness::not_positive_definite;
  EXPECT_EQ(types(choose(m, false).method), (Types{"pcg", "ic0", "none", "negative"}));
  EXPECT_EQ(types(choose(m, false, {.scaling = NoScaling{}}).method)[0], "bicgstab");
  EXPECT_EQ(types(choose(m, false, {.solver = GmresOptions{}}).method), (Types{"gmres", "ilu0", "none", "none"}));
  m.indefinite_pair = true;
  EXPECT_EQ(types(choose(m, false).method)[0], "bicgstab");
}

TEST(Choose, leaves_nothing_open_and_changes_nothing_else) {
  for (const MatrixProperties& m : {of_poisson(), of_convection(), MatrixProperties{}})
    for (const bool on_cuda : {false, true}) {
      for (const auto type : types(choose(m, on_cuda).method)) EXPECT_NE(type, "auto");
      SolveOptions fixed{.solver = RichardsonOptions{},
                         .preconditioner = SsorOptions{},
                         .ordering = AmdOrdering{},
                         .scaling = RuizScaling{},
                         .matching = NoMatching{}};
      const Choice kept = choose(m, on_cuda, fixed);
      EXPECT_EQ(types(kept.method), (Types{"richardson", "ssor", "amd", "ruiz"}));
      EXPECT_TRUE(kept.reasons.empty());
    }
}

TEST(Choose, fits_open_parts_to_the_others) {
  // A Hermitian method for a Hermitian matrix only with a Hermitian preconditioner.
  EXPECT_EQ(types(choose(of_poisson(), false, {.preconditioner = Parilu0Options{}}).method)[0], "bicgstab");
  EXPECT_EQ(types(choose(of_poisson(), false, {.preconditioner = BlockJacobiOptions{}}).method)[0], "pcg");
  EXPECT_EQ(types(choose(of_poisson(), false, {.preconditioner = IsaiOptions{}}).method)[0], "pcg");
  const IsaiOptions general{.form = IsaiForm::general};
  EXPECT_EQ(types(choose(of_poisson(), false, {.preconditioner = general}).method)[0], "bicgstab");
  EXPECT_EQ(types(choose(of_convection(), false, {.solver = PcgOptions{}}).method)[1], "jacobi");
  EXPECT_EQ(types(choose(of_poisson(), false, {.solver = GmresOptions{}}).method)[1], "ilu0");
}

TEST(Choose, keeps_the_limits_of_solver_automatic) {
  AutoSolver open;
  open.max_iterations = 17, open.stop.relative = 1e-3;
  const Choice choice = choose(of_poisson(), false, {.solver = open});
  EXPECT_EQ(max_iterations(choice.method.solver), 17);
  EXPECT_EQ(stop(choice.method.solver).relative, 1e-3);

  const MatrixProperties line = properties_of(Poisson1dOptions{50});
  const SolveOptions eliminated = choose(line, false, {.solver = open}).method;
  EXPECT_EQ(types(eliminated)[0], "banded");
  EXPECT_EQ(max_iterations(eliminated.solver), BandedOptions{}.max_iterations);
  open.max_iterations = 2;
  EXPECT_EQ(max_iterations(choose(line, false, {.solver = open}).method.solver), 2);
}

TEST(Choose, takes_a_weaker_preconditioner_in_the_place_of_a_refused_one) {
  const MatrixProperties m = of_poisson();
  const auto next = weaker({.preconditioner = Ic0Options{}}, m);
  ASSERT_TRUE(next);
  EXPECT_TRUE(std::holds_alternative<JacobiOptions>(*next));
  EXPECT_TRUE(std::holds_alternative<NoPreconditioner>(*weaker({.preconditioner = *next}, m)));
  EXPECT_FALSE(weaker({.preconditioner = NoPreconditioner{}}, m));
}

class AutoSolve : public krill::test::OnBackend {
 protected:
  int run(const std::string& text) {
    return run_solve({.case_path = scratch_.write("case.yaml", text),
                      .backend = krill::test::name(GetParam()),
                      .out = scratch_ / "out",
                      .quiet = true});
  }
  nlohmann::json report() const { return test::json_file(scratch_ / "out/report.json"); }
  Scratch scratch_;
};

const std::string open_method =
    "solver: {type: auto, stop: {relative: 1.0e-9}}\npreconditioner: {type: auto}\nordering: {type: auto}\n"
    "scaling: {type: auto}\nmatching: {type: auto}\nverify: {reference: eigen}\n";

TEST_P(AutoSolve, converges_and_says_what_it_chose_and_why) {
  for (const std::string matrix : {"poisson2d, nx: 40", "convection_diffusion2d, nx: 40", "helmholtz2d, nx: 30",
                                   "elasticity3d, nx: 5", "resistor_network, nx: 30"}) {
    EXPECT_EQ(run("matrix: {generate: " + matrix + "}\n" + open_method), 0) << matrix;
    const nlohmann::json r = report();
    for (const std::string key : {"solver", "preconditioner", "ordering", "scaling", "matching"}) {
      EXPECT_NE(r["case"][key]["type"], "auto") << matrix;
      const std::string type = r["case"][key]["type"], why = r["choices"][key];
      EXPECT_TRUE(why.starts_with(type)) << why;
    }
    EXPECT_EQ(r["case"]["solver"]["stop"]["relative"], 1e-9);
  }
}

TEST_P(AutoSolve, leaves_an_unstable_factor) {
  const std::string of_waves = "matrix: {generate: helmholtz2d, nx: 50, wavenumber: ";
  EXPECT_EQ(run(of_waves + "60}\n" + open_method), 0);
  EXPECT_EQ(report()["preconditioner"], "jacobi");
  EXPECT_TRUE(contains(report()["notes"].dump(), "it is unstable")) << report()["notes"];
  EXPECT_EQ(run(of_waves + "20}\n" + open_method), 0);
  EXPECT_NE(report()["preconditioner"], "jacobi");
}

TEST_P(AutoSolve, goes_on_to_something_weaker_where_the_matrix_refuses) {
  // The second pivot of ilu0 is 1 - 1 = 0.
  scratch_.write(
      "A.mtx",
      "%%MatrixMarket matrix coordinate real general\n3 3 7\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n2 3 2\n3 2 1\n3 3 1\n");
  const std::string matrix = "matrix: {file: A.mtx}\nsolver: {type: gmres}\n";
  EXPECT_EQ(run(matrix + "preconditioner: {type: auto}\n"), 0);
  EXPECT_EQ(report()["preconditioner"], "jacobi");
  EXPECT_TRUE(contains(report()["notes"].dump(), "the pivot is 0 in row 1")) << report()["notes"];
  EXPECT_THROW(run(matrix + "preconditioner: {type: ilu0}\n"), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(, AutoSolve, krill::test::backends, krill::test::param_name);

}  // namespace
}  // namespace krill::apps
