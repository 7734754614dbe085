// Sweeps: what a grid stands for, how variants are put over the shared case, and what is refused, and where.
#include <gtest/gtest.h>

#include "apps/case/effective.hpp"
#include "apps/evaluate/names.hpp"
#include "apps/evaluate/sweep.hpp"
#include "solvers/method/choose.hpp"
#include "solvers/method/type_name.hpp"
#include "tests/apps/solve_support.hpp"

namespace krill::apps::evaluate {
namespace {

using test::contains;
using test::Scratch;

class SweepTest : public ::testing::Test {
 protected:
  Sweep sweep(const std::string& text, SweepInput input = {}) {
    input.path = scratch_.write("sweep.yaml", text);
    return Sweep(input);
  }
  std::string errors(const std::string& text, const SweepInput& input = {}) {
    try {
      sweep(text, input);
    } catch (const CaseError& error) {
      return error.what();
    }
    return {};
  }
  /// The cases of all points, with nothing from a portfolio.
  static std::vector<Case> cases(const Sweep& sweep) {
    std::vector<Case> all;
    for (std::size_t point = 0; point < sweep.points(); ++point)
      for (const Variant& variant : sweep.variants(point, {})) all.push_back(variant.settings);
    return all;
  }
  static std::vector<std::string> methods(const std::vector<Case>& cases) {
    const Names names(cases, cases);
    std::vector<std::string> all;
    for (const Case& one : cases) all.push_back(names.method(one));
    return all;
  }

  Scratch scratch_;
};

using Words = std::vector<std::string>;

TEST_F(SweepTest, grid_is_every_combination_and_lists_in_values_expand) {
  const auto all =
      cases(sweep("case: {matrix: {generate: poisson2d, nx: 5}, solver: {stop: {relative: 1e-5}}}\n"
                  "grid:\n"
                  "  solver: [pcg, {type: gmres, restart: 20}]\n"
                  "  preconditioner: [none, {type: chebyshev, degree: [2, 4]}]\n"));
  EXPECT_EQ(methods(all), (Words{"pcg + none", "pcg + chebyshev(degree=2)", "pcg + chebyshev(degree=4)", "gmres + none",
                                 "gmres + chebyshev(degree=2)", "gmres + chebyshev(degree=4)"}));
  for (const Case& one : all) EXPECT_EQ(stop(one.solver).relative, 1e-5) << "the shared tolerance holds for every type";
  EXPECT_EQ(std::get<GmresOptions>(all[3].solver).restart, 20);
}

TEST_F(SweepTest, runs_with_one_matrix_follow_each_other_and_names_say_what_differs) {
  const auto all =
      cases(sweep("grid:\n"
                  "  precision: [float32, float64]\n"
                  "  matrix: [poisson1d, {generate: poisson2d, nx: [4, 6]}]\n"
                  "  solver: pcg\n"));
  ASSERT_EQ(all.size(), 6U);
  const Names names(all, all);
  EXPECT_EQ(names.system(all[0]), "poisson1d");
  EXPECT_EQ(names.system(all[1]), "poisson1d");
  EXPECT_EQ(names.system(all[2]), "poisson2d(nx=4)");
  EXPECT_EQ(names.system(all[5]), "poisson2d(nx=6)");
  EXPECT_EQ(names.method(all[0]), "pcg + none, float32");
  EXPECT_EQ(names.method(all[1]), "pcg + none, float64");
}

TEST_F(SweepTest, tolerance_belongs_to_the_system) {
  const auto all =
      cases(sweep("case: {matrix: {generate: poisson1d}}\n"
                  "grid: {solver: {type: pcg, stop: {relative: [1e-4, 1e-8]}}}\n"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_NE(system_part(all[0]), system_part(all[1])) << "a solve to 1e-4 does not compete with one to 1e-8";
  EXPECT_EQ(method_part(all[0]), method_part(all[1]));
}

TEST_F(SweepTest, variants_are_put_over_the_case_of_every_point) {
  const Sweep read = sweep(
      "case:\n"
      "  matrix: {generate: poisson2d, nx: 5}\n"
      "  solver: {type: gmres, restart: 20, max_iterations: 77}\n"
      "grid: {rhs: [ones, random]}\n"
      "variants:\n"
      "  - {name: plain, preconditioner: {type: jacobi}}\n"
      "  - {solver: {type: pcg}, preconditioner: {type: ssor, omega: [1, 1.5]}}\n");
  EXPECT_EQ(read.options().portfolio, Portfolio::none);
  ASSERT_EQ(read.points(), 2U);
  const auto all = read.variants(1, {});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "plain");
  EXPECT_EQ(all[1].name, "");
  EXPECT_TRUE(std::holds_alternative<RandomRhs>(all[0].settings.rhs));
  const auto& pcg = std::get<PcgOptions>(all[2].settings.solver);
  EXPECT_EQ(pcg.max_iterations, 77) << "what the new type has, too, stays";
  EXPECT_EQ(std::get<SsorOptions>(all[2].settings.preconditioner).omega, 1.5);
}

TEST_F(SweepTest, portfolio_is_the_default_and_suits_the_matrix) {
  const Sweep read = sweep("case: {matrix: {generate: poisson2d, nx: 5}}\n");
  EXPECT_EQ(read.options().portfolio, Portfolio::standard);
  for (const Portfolio level : {Portfolio::quick, Portfolio::standard, Portfolio::thorough})
    for (const SystemKind kind : {SystemKind::definite, SystemKind::negative_definite, SystemKind::general,
                                  SystemKind::weak_diagonal, SystemKind::no_diagonal}) {
      const auto texts = portfolio(level, kind);
      const auto all = read.variants(0, texts);  // raises where one of them is no case
      EXPECT_EQ(all.size(), texts.size());
      std::set<std::string> different;
      for (const Variant& variant : all) different.insert(method_part(variant.settings).dump());
      EXPECT_EQ(different.size(), texts.size()) << "no entry twice";
      const auto larger = portfolio(Portfolio::thorough, kind);
      EXPECT_TRUE(std::equal(texts.begin(), texts.end(), larger.begin())) << "levels begin with those below";
    }
  EXPECT_TRUE(portfolio(Portfolio::none, SystemKind::general).empty());
}

/// But for `auto`, which chooses one of the others, and Richardson's iteration and multigrid by itself, which need a
/// very good preconditioner.
TEST_F(SweepTest, portfolios_try_all_solvers_and_preconditioners) {
  const Sweep read = sweep("case: {matrix: {generate: poisson2d, nx: 5}}\n");
  std::set<std::size_t> solvers, preconditioners;
  for (const SystemKind kind : {SystemKind::definite, SystemKind::general})
    for (const Variant& variant : read.variants(0, portfolio(Portfolio::thorough, kind, true))) {
      solvers.insert(variant.settings.solver.index()), preconditioners.insert(variant.settings.preconditioner.index());
      if (needs_definite(variant.settings.solver)) {
        EXPECT_EQ(kind, SystemKind::definite);
        EXPECT_TRUE(suits_pcg(variant.settings.preconditioner).holds) << type_name(variant.settings.preconditioner);
      }
    }
  EXPECT_EQ(solvers.size(), std::variant_size_v<SolverOptions> - 4);
  EXPECT_TRUE(solvers.contains(SolverOptions(FcgOptions{}).index())) << "for cycles of multigrid that vary";
  EXPECT_FALSE(solvers.contains(SolverOptions(BandedOptions{}).index())) << "which auto takes where it can";
  EXPECT_EQ(preconditioners.size(), std::variant_size_v<PreconditionerOptions> - 2);
  EXPECT_FALSE(preconditioners.contains(PreconditionerOptions(SchurOptions{}).index()))
      << "which the rules bring where the matrix is a saddle point";
  EXPECT_FALSE(solvers.contains(SolverOptions(AutoSolver{}).index()));
  EXPECT_FALSE(solvers.contains(SolverOptions(RichardsonOptions{}).index()));
  EXPECT_FALSE(solvers.contains(SolverOptions(MultigridSolverOptions{}).index()));
  EXPECT_FALSE(preconditioners.contains(PreconditionerOptions(AutoPreconditioner{}).index()));
}

TEST_F(SweepTest, kind_of_a_system) {
  MatrixProperties m;
  m.hermitian_error = 1e-12, m.positive_diagonal = true, m.definiteness = Definiteness::possibly;
  EXPECT_EQ(system_kind(m, Assume::nothing), SystemKind::definite);
  m.hermitian_error = 0.1;
  EXPECT_EQ(system_kind(m, Assume::nothing), SystemKind::general);
  EXPECT_EQ(system_kind(m, Assume::spd), SystemKind::definite);
  m.hermitian_error = 0, m.positive_diagonal = false;
  EXPECT_EQ(system_kind(m, Assume::nothing), SystemKind::general);
  m.rows = m.cols = 3, m.negative_diagonal = 3;
  EXPECT_EQ(system_kind(m, Assume::nothing), SystemKind::negative_definite);
  m.hermitian_error = 0.1, m.zero_diagonal = 1, m.structure = StructuralRank{3, {}, {}};
  EXPECT_EQ(system_kind(m, Assume::nothing), SystemKind::weak_diagonal);
  m.structure->rank = 2;
  EXPECT_EQ(system_kind(m, Assume::nothing), SystemKind::no_diagonal);
}

TEST_F(SweepTest, variants_have_what_the_rules_choose_and_their_limit) {
  const Sweep read = sweep("case: {matrix: {generate: poisson2d, nx: 5}}\n");
  MatrixProperties m;
  m.rows = m.cols = 100, m.nnz = 500, m.hermitian_error = 0.5, m.small_diagonal = 1, m.lower_bandwidth = 10;
  m.structure = StructuralRank{100, {}, {}};
  const auto texts = chosen_by_rules(m, false);
  const auto all = read.variants(0, texts);
  ASSERT_GT(all.size(), 3U) << "ilu0, jacobi, none, then the steps of the ladder";
  EXPECT_EQ(type_name(all.back().settings.solver), "direct");
  const SolveOptions chosen = choose(m, false).method;
  EXPECT_EQ(std::get<GmresOptions>(all[0].settings.solver).restart, std::get<GmresOptions>(chosen.solver).restart);
  EXPECT_EQ(std::get<Ilu0Options>(all[0].settings.preconditioner).shift.type, LuShift::nonzero);
  EXPECT_EQ(type_name(all[0].settings.matching), "product");
  EXPECT_EQ(type_name(all[1].settings.preconditioner), "jacobi");
  for (const Variant& variant : read.variants(0, portfolio(Portfolio::thorough, SystemKind::general)))
    EXPECT_EQ(max_iterations(variant.settings.solver), AutoSolver{}.max_iterations);
  const Sweep limited = sweep("case: {matrix: {generate: poisson2d, nx: 5}, solver: {max_iterations: 7}}\n");
  for (const Variant& variant : limited.variants(0, portfolio(Portfolio::quick, SystemKind::general)))
    EXPECT_EQ(max_iterations(variant.settings.solver), 7);
}

/// What divides by the diagonal is not run where that has zeros, and matched where the rules of auto match.
TEST_F(SweepTest, the_portfolio_of_a_matrix_without_a_diagonal) {
  const Sweep read = sweep("case: {matrix: {generate: poisson2d, nx: 5}}\n");
  for (const Variant& variant : read.variants(0, portfolio(Portfolio::standard, SystemKind::no_diagonal)))
    EXPECT_EQ(type_name(variant.settings.preconditioner), "none");
  const auto matched = read.variants(0, portfolio(Portfolio::standard, SystemKind::weak_diagonal));
  EXPECT_GT(matched.size(), 5U);
  for (const Variant& variant : matched)  // elimination exchanges rows by itself
    EXPECT_EQ(type_name(variant.settings.matching), takes_preconditioner(variant.settings.solver) ? "product" : "none");
}

TEST_F(SweepTest, cases_and_matrices_are_sweeps_too) {
  const std::string path =
      scratch_.write("flow.yaml", "name: stream\nmatrix: {generate: poisson1d}\nsolver: {type: pcg}\n");
  SweepInput input;
  input.path = path;
  input.portfolio = "quick";
  input.budget = 7;
  const Sweep of_case(input);
  EXPECT_EQ(of_case.options().name, "stream");
  EXPECT_EQ(of_case.options().portfolio, Portfolio::quick);
  EXPECT_EQ(of_case.options().budget, 7);
  EXPECT_EQ(of_case.variants(0, {}).size(), 1U) << "the case as it stands is a variant";
  input.path = "data/thermal.mtx.gz";
  input.overrides = {"rhs.type=random"};
  const Sweep of_matrix(input);
  EXPECT_EQ(of_matrix.options().name, "thermal");
  EXPECT_EQ(std::get<MatrixFile>(of_matrix.sample(0).matrix).file, "data/thermal.mtx.gz");
  EXPECT_TRUE(std::holds_alternative<RandomRhs>(of_matrix.sample(0).rhs));
  EXPECT_EQ(sweep("case: flow.yaml\n").variants(0, portfolio(Portfolio::quick, SystemKind::definite)).size(), 7U);
}

TEST_F(SweepTest, overrides_reach_the_sweep) {
  SweepInput input;
  input.overrides = {"repeats=9", "case.matrix.nx=3", "grid.preconditioner=[none, jacobi]"};
  const Sweep read = sweep("case: {matrix: {generate: poisson1d}, solver: {type: pcg}}\n", input);
  EXPECT_EQ(read.options().repeats, 9);
  EXPECT_EQ(read.points(), 2U);
}

struct Bad {
  std::string name, text, message;
};
class BadSweep : public SweepTest, public ::testing::WithParamInterface<Bad> {};

TEST_P(BadSweep, is_refused_with_its_place) {
  const std::string found = errors(GetParam().text);
  EXPECT_TRUE(contains(found, "sweep.yaml" + GetParam().message)) << found;
}

const std::string head = "case: {matrix: {generate: poisson1d}, solver: {type: pcg}}\n";
INSTANTIATE_TEST_SUITE_P(
    All, BadSweep,
    ::testing::Values(
        Bad{"Empty", "", ":1:1: the sweep is empty; it needs at least a matrix"},
        Bad{"List", "- 1\n", ":1:1: expected keys such as"},
        Bad{"UnknownKey", head + "budgett: 3\n", ":2:1: unknown key \"budgett\"; did you mean 'budget'?"},
        Bad{"WrongType", head + "repeats: many\n", ":2:10: repeats is many, expected an integer from 1 to 1000"},
        Bad{"Range", head + "time_limit: 0\n", ":2:13: time_limit is 0, expected a number above 0"},
        Bad{"UnknownPortfolio", head + "portfolio: qick\n", ":2:12: portfolio is qick"},
        Bad{"NoMatrix", "case: {solver: {type: pcg}}\n", ":1:7: matrix is missing"},
        Bad{"UnknownGridKey", head + "grid: {precond: [ic0]}\n", ":2:8: unknown key \"precond\" in grid"},
        Bad{"NameInGrid", head + "grid: {name: [a]}\n", ":2:8: unknown key \"name\" in grid"},
        Bad{"EmptyList", head + "grid: {preconditioner: []}\n", ":2:8: grid.preconditioner is empty"},
        Bad{"UnknownType", head + "grid: {preconditioner: [ico0]}\n", ":2:25: preconditioner.type is ico0"},
        Bad{"KeyOfAnother", head + "grid:\n  preconditioner:\n    - {type: jacobi, degree: [2, 4]}\n",
            ":4:22: \"degree\" is not used by preconditioner with type jacobi"},
        Bad{"OutOfRange", head + "grid: {preconditioner: [{type: chebyshev, degree: [2, 0]}]}\n",
            ":2:55: preconditioner.degree is 0"},
        Bad{"VariantsNoList", head + "variants: a\n", ":2:11: variants has to be a section"},
        Bad{"VariantNoSection", head + "variants: [jacobi]\n", ":2:12: a variant has to be a section"},
        Bad{"Twice", head + "grid: {format: [csr]}\nvariants: [{format: ell}]\n", ":3:13: \"format\" is what the grid"},
        Bad{"PortfolioAndGrid", head + "portfolio: quick\ngrid: {solver: [pcg]}\n",
            ":3:8: \"solver\" is what the portfolio"},

        Bad{"TooMany",
            head + "grid: {threads: [1,2,3,4,5,6,7,8,9,10], device: [0,1,2,3,4,5,6,7,8,9], "
                   "matrix: {generate: poisson1d, nx: [1,2,3,4,5,6,7,8,9,10,11]}, "
                   "rhs: {type: random, seed: [1,2,3,4,5,6,7,8,9]}}\n",
            ":2:7: the sweep has more than 5000 runs"}),
    [](const auto& info) { return info.param.name; });

TEST_F(SweepTest, every_mistake_is_told_once) {
  const std::string found = errors(
      "case: {matrix: {generate: poisson1d}, rhs: {type: onse}}\n"
      "grid: {solver: [pcg, gmres, bicgstab]}\nrepeats: 0\n");
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 1) << found;
  EXPECT_TRUE(contains(found, ":1:51: rhs.type is onse") && contains(found, ":3:10: repeats is 0")) << found;
  const std::string shared = errors(
      "case: {matrix: {generate: poisson1d}, rhs: {type: onse}}\n"
      "grid: {solver: [pcg, gmres, bicgstab]}\n");
  EXPECT_EQ(std::count(shared.begin(), shared.end(), '\n'), 0) << "three runs share one mistake: " << shared;
  EXPECT_TRUE(contains(shared, "did you mean 'ones'?")) << shared;
}

}  // namespace
}  // namespace krill::apps::evaluate
