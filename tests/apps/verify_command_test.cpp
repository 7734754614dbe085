// `krill verify` as users run it, and its suites on real matrices.
#include <set>

#include "apps/case/keys.hpp"
#include "apps/commands/commands.hpp"
#include "apps/verify/gallery.hpp"
#include "apps/verify/suites.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/io/read.hpp"
#include "tests/apps/cases.hpp"
#include "tests/apps/program.hpp"
#include "tests/support/backends.hpp"

namespace krill::apps::test {
namespace {

using Json = nlohmann::json;
using verify::Check;
using verify::Ledger;

std::string failures(const Ledger& ledger) {
  std::string text;
  for (const Check& check : ledger.checks())
    if (check.result.verdict == Verdict::fail) text += check.group + ": " + check.name + ", " + check.subject + "\n";
  return text;
}

class Verify : public Program {
 protected:
  Json verified(const std::string& name) const {
    return json_file(folder_ / ("out/verify-" + name + "/verification.json"));
  }
  std::string write_case(const std::string& text) const {
    return folder_.write("case.yaml", "backend: host\nname: flow\n" + text);
  }
};

std::set<std::string> groups_of(const Json& json) {
  std::set<std::string> groups;
  for (const Json& group : json["groups"]) groups.insert(group["group"]);
  return groups;
}

TEST_F(Verify, checks_every_kernel_on_the_path_of_a_case) {
  write_case(
      "matrix: {generate: random_spd, rows: 400}\nformat: sell\nscaling: {type: ruiz}\nordering: {type: rcm}\n"
      "solver: {type: pcg}\npreconditioner: {type: ic0}\n");
  const Outcome o = krill("verify case.yaml");
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(contains(o.out, "PASS: ")) << o.out;
  const Json json = verified("flow");
  EXPECT_EQ(json["verdict"], "PASS");
  EXPECT_EQ(groups_of(json),
            (std::set<std::string>{"vectors", "conversions", "products", "scalings", "orderings", "triangular solves",
                                   "factorizations", "preconditioners", "solvers", "solution"}));
  for (const Json& check : json["checks"]) {
    EXPECT_EQ(check["verdict"], "PASS") << check;
    EXPECT_GT(check["entries"], 0) << check;
    EXPECT_FALSE(check["bound"].get<std::string>().empty()) << check;
  }
  const Json& curves = json["residuals"][0];
  EXPECT_EQ(curves["history"].size(), curves["iterations"].get<std::size_t>() + 1);
  EXPECT_NEAR(curves["iterations"].get<double>(), curves["textbook_iterations"].get<double>(), 2);
  EXPECT_EQ(json["case"]["preconditioner"]["type"], "ic0");
}

TEST_F(Verify, checks_bases_as_they_are_kept) {
  write_case(
      "matrix: {generate: random_spd, rows: 300}\nsolver: {type: fgmres, basis_precision: float16}\n"
      "preconditioner: jacobi\n");
  const Outcome o = krill("verify case.yaml");
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  int of_bases = 0;
  const Json json = verified("flow");
  for (const Json& check : json["checks"])
    if (check["group"] == "bases") {
      ++of_bases;
      EXPECT_TRUE(contains(check["name"], "in float16")) << check;
      EXPECT_EQ(check["verdict"], "PASS");
    }
  EXPECT_EQ(of_bases, 3);
}

TEST_F(Verify, checks_matchings_and_turned_signs) {
  folder_.write("a.mtx", banner + std::string("3 3 6\n1 2 4\n1 1 1\n2 1 5\n2 3 1\n3 3 4\n3 2 1\n"));
  write_case("matrix: {file: a.mtx}\nsolver: gmres\npreconditioner: ilu0\nmatching: product\n");
  const Outcome matched = krill("verify case.yaml");
  EXPECT_EQ(matched.code, 0) << matched.out << matched.err;
  const Json json = verified("flow");
  for (const char* name : {"matching product, certificate", "matching product, system"})
    EXPECT_TRUE(std::ranges::any_of(json["checks"], [&](const Json& c) { return c["name"] == name; }))
        << name << json["checks"];
  folder_.write("a.mtx", banner + std::string("2 2 4\n1 1 -4\n1 2 1\n2 1 1\n2 2 -4\n"));
  write_case("matrix: {file: a.mtx}\nsolver: pcg\npreconditioner: ic0\nscaling: negative\n");
  const Outcome turned = krill("verify case.yaml");
  EXPECT_EQ(turned.code, 0) << turned.out << turned.err;
}

TEST_F(Verify, checks_what_is_solved_by_bands) {
  const auto names = [&](const std::string& text) {
    write_case(text);
    const Outcome o = krill("verify case.yaml");
    EXPECT_EQ(o.code, 0) << o.out << o.err;
    std::set<std::string> found;
    const Json json = verified("flow");
    for (const Json& check : json["checks"])
      if (check["group"] == "banded solves") found.insert(check["name"]);
    return found;
  };
  EXPECT_EQ(names("matrix: {generate: poisson1d, nx: 40}\nsolver: banded\n"),
            (std::set<std::string>{"to_banded, 3 diagonals", "banded lu, 3 diagonals"}));
  EXPECT_EQ(names("matrix: {generate: poisson2d, nx: 8, ny: 5}\nsolver: pcg\npreconditioner: tridiagonal\n"),
            (std::set<std::string>{"to_banded, 3 diagonals", "banded thomas, 3 diagonals"}));
  EXPECT_EQ(
      names("matrix: {generate: poisson2d, nx: 8, ny: 5}\nsolver: pcg\npreconditioner: {type: line, nx: 8, ny: 5}\n"),
      (std::set<std::string>{"to_banded, 3 diagonals, 5 lines of 8", "banded thomas, 3 diagonals, 5 lines of 8",
                             "to_banded, 3 diagonals, 8 lines of 5", "banded thomas, 3 diagonals, 8 lines of 5"}));
}

TEST_F(Verify, prints_json_alone_and_overrides_the_case) {
  write_case("matrix: {generate: poisson2d, nx: 8}\nsolver: {type: pcg}\n");
  const Outcome o =
      krill("verify case.yaml --json --set precision=float32 --set solver.stop.relative=1e-3 --out there");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(Json::parse(o.out)["precision"], "float32");
  EXPECT_EQ(Json::parse(o.out), json_file(folder_ / "there/verification.json"));
  EXPECT_EQ(krill("verify case.yaml --quiet").out, "");
}

TEST_F(Verify, a_solve_that_does_not_converge_fails) {
  write_case("matrix: {generate: poisson2d, nx: 30}\nsolver: {type: pcg, max_iterations: 3}\n");
  const Outcome o = krill("verify case.yaml");
  EXPECT_EQ(o.code, 1) << o.out;
  EXPECT_TRUE(contains(o.out, "max_iterations")) << o.out;
  EXPECT_EQ(verified("flow")["verdict"], "FAIL");
}

TEST_F(Verify, takes_a_variant_and_what_is_left_to_the_rules) {
  write_case(
      "matrix: {generate: poisson2d, nx: 12}\nsolver: {type: auto}\npreconditioner: {type: auto}\n"
      "variants: {direct: {preconditioner: {type: ilu0}, solver: {type: gmres}}}\n");
  EXPECT_EQ(krill("verify case.yaml --backend host").code, 0);
  EXPECT_EQ(krill("verify case.yaml --backend host --variant direct --quiet").code, 0);
  const Json checks = verified("flow-direct")["checks"];
  EXPECT_TRUE(std::ranges::any_of(checks, [](const Json& c) { return contains(c["name"], "gmres with ilu0"); }))
      << checks;
}

TEST_F(Verify, mistakes_are_refused) {
  const auto expect = [&](const std::string& arguments, const std::string& message) {
    const Outcome o = krill(arguments);
    EXPECT_EQ(o.code, 2) << arguments;
    EXPECT_TRUE(contains(o.err, message)) << o.err;
    EXPECT_TRUE(folder_is_empty() || names_in(folder_ / "") == std::vector<std::string>{"case.yaml"});
  };
  expect("verify", "a case is missing");
  expect("verify --all case.yaml", "--all takes no case");
  expect("verify --all --set a=b", "--set and --variant change a case");
  expect("verify nowhere.yaml", "nowhere.yaml");
  expect("verify --al", "did you mean '--all'?");
  write_case("matrix: {generate: poisson2d, nx: 8}\nsolver: {type: cg}\n");
  expect("verify case.yaml", "case.yaml:4");
}

TEST_F(Verify, a_pivot_that_is_zero_is_refused_as_by_a_solve) {
  folder_.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1\n2 1 1\n2 2 1\n");
  write_case("matrix: {file: a.mtx}\nsolver: {type: gmres}\npreconditioner: {type: ilu0}\n");
  const Outcome o = krill("verify case.yaml");
  EXPECT_EQ(o.code, 2) << o.out;
  EXPECT_TRUE(contains(o.err, "row 0")) << o.err;
}

/// Every solver with every kind of preconditioner.
TEST_F(Verify, passes_with_every_solver_and_preconditioner) {
  std::vector<std::string> preconditioners{"ssor, omega: 1.2", "ic0, triangular_solve: isai",
                                           "ic0, triangular_solve: jacobi, precision: float32"};
  for_each_alternative<PreconditionerOptions>([&]<class Options>(std::type_identity<Options>) {
    if constexpr (!std::is_same_v<Options, AutoPreconditioner> && !std::is_same_v<Options, InnerSolverOptions>)
      preconditioners.emplace_back(Options::type);
  });
  preconditioners.emplace_back("solver, inner: {solver: {type: pcg, max_iterations: 3}, preconditioner: ic0}");
  for (const std::string solver : {"pcg", "gmres", "bicgstab", "fcg", "fgmres"})
    for (const std::string& preconditioner : preconditioners) {
      if (solver.starts_with('f') != preconditioner.starts_with("solver")) continue;
      const bool refused = preconditioner == IlutOptions::type || preconditioner == ParilutOptions::type ||
                           preconditioner == SchurOptions::type;
      if (solver == "pcg" && refused) continue;
      const std::string matrix = preconditioner == LineOptions::type    ? "poisson3d, nx: 4, ny: 2, nz: 2"
                                 : preconditioner == SchurOptions::type ? "stokes2d, nx: 4, ny: 2"
                                                                        : "elasticity3d, nx: 4, ny: 2, nz: 2";
      write_case("matrix: {generate: " + matrix + "}\nsolver: {type: " + solver +
                 "}\npreconditioner: {type: " + preconditioner + "}\n");
      const Outcome o = krill("verify case.yaml --quiet");
      EXPECT_EQ(o.code, 0) << solver << " with " << preconditioner << "\n" << o.err;
    }
}

/// The reference of amg represents what the case says, from the coordinates of a generator or of a file.
TEST_F(Verify, judges_amg_by_the_near_null_space_of_the_case) {
  ASSERT_EQ(krill("generate elasticity3d nx=4 ny=2 nz=2 -o bar.mtx --coordinates nodes.mtx").code, 0);
  const Columns<double> nodes = read_vector<double>(folder_ / "nodes.mtx");
  std::string columns = fmt::format("%%MatrixMarket matrix array real general\n{} 2\n", 3 * nodes.rows);
  for (std::int64_t i = 0; i < 3 * nodes.rows; ++i) columns += "1\n";
  for (std::int64_t i = 0; i < 3 * nodes.rows; ++i) columns += fmt::format("{}\n", i % 3 + 0.25);
  folder_.write("columns.mtx", columns);
  for (const std::string matrix :
       {"generate: elasticity3d, nx: 4, ny: 2, nz: 2", "file: bar.mtx, coordinates: nodes.mtx"})
    for (const std::string space :
         {"type: rigid_body}", "block_dim: 3}", "type: file, path: columns.mtx, block_dim: 3}",
          "block_dim: 3}, method: aggregation, over_correction: 1.5"}) {
      write_case("matrix: {" + matrix +
                 "}\nsolver: pcg\npreconditioner: {type: amg, coarse_rows: 20, near_null_space: {" + space + "}\n");
      const Outcome o = krill("verify case.yaml");
      EXPECT_EQ(o.code, 0) << space << "\n" << o.out << o.err;
      const Json json = verified("flow");
      int judged = 0;
      for (const Json& check : json["checks"])
        if (check["group"] == "preconditioners" || check["group"] == "solvers") {
          EXPECT_EQ(check["verdict"], "PASS") << space << check;
          ++judged;
        }
      EXPECT_GE(judged, 3) << space;
      const Outcome plan = krill("solve case.yaml --plan");
      EXPECT_EQ(plan.code, 0) << space << "\n" << plan.err;
      EXPECT_TRUE(contains(plan.out, "  preconditioner ")) << plan.out;
    }
}

/// A file of vectors that does not fit is refused by what is wrong with it, and no solve begins.
TEST_F(Verify, refuses_a_near_null_space_that_does_not_fit) {
  const std::string array = "%%MatrixMarket matrix array real general\n";
  write_case(
      "matrix: {generate: poisson1d, nx: 4}\nsolver: pcg\npreconditioner: {type: amg, near_null_space: {type: file, "
      "path: "
      "columns.mtx}}\n");
  for (const auto& [text, complaint] : {std::pair{"3 1\n1\n1\n1\n", "rows of the near null space"},
                                        {"4 1\n1\n1\nnan\n1\n", "entry 2 (counted from 0"},
                                        {"4 2\n1\n1\n1\n1\n1\n1\n1\ninf\n", "entry 7 (counted from 0"}}) {
    folder_.write("columns.mtx", array + text);
    const Outcome o = krill("solve case.yaml");
    EXPECT_EQ(o.code, 2) << o.out;
    EXPECT_TRUE(contains(o.err, complaint)) << o.err;
  }
  folder_.write("columns.mtx", array + "4 1\n1\n1\n1\n1\n");
  EXPECT_EQ(krill("solve case.yaml").code, 0);
  write_case("matrix: {generate: poisson1d, nx: 4}\nsolver: multigrid\npreconditioner: jacobi\n");
  const Outcome o = krill("solve case.yaml");
  EXPECT_EQ(o.code, 2) << o.out;
  EXPECT_TRUE(contains(o.err, "solver multigrid takes the cycles of preconditioner amg")) << o.err;
}

template <class T>
void expect_suites_pass(Context& ctx, const std::string& name, Csr<T> A) {
  Ledger ledger;
  verify::Selection selection;
  selection.formats = {{"csr", Format::csr},
                       {"coo", Format::coo},
                       {"csc", Format::csc},
                       {"sell", Format::sell},
                       {"bsr 2", Format::bsr, {.block_rows = 2}},
                       {"hyb", Format::hyb},
                       {"auto", Format::automatic}};
  selection.ops = {Op::none, Op::transpose};
  selection.triangles = {{Fill::lower, Diagonal::unit}, {Fill::upper}};
  selection.triangular = {TriangularMethod::automatic};
  selection.preconditioners = {JacobiOptions{}, Ilu0Options{}};
  verify::run_suites(ledger, ctx, verify::Subject<T>(name, std::move(A)), selection);
  EXPECT_GT(ledger.count(Verdict::pass), 30) << name;
  EXPECT_EQ(failures(ledger), "") << name;
}

/// With grids of a dozen points, so that each takes a moment.
TEST(VerifyConfigs, all_pass_on_the_host) {
  const Scratch folder;
  for (const std::string& path : shipped_cases()) {
    VerifyCommand command;
    command.case_path = path, command.backend = "host", command.out = folder / "out";
    command.quiet = true, command.overrides = {"output.plot=false"};
    const Case settings = load_case(command.case_path);
    if (const auto* options = std::get_if<GeneratorOptions>(&settings.matrix))
      std::visit(
          [&](const auto& o) {
            if constexpr (requires { o.nx; }) command.overrides.emplace_back("matrix.nx=12");
            if constexpr (requires { o.ny; }) command.overrides.emplace_back("matrix.ny=12");
            if constexpr (requires { o.nz; }) command.overrides.emplace_back("matrix.nz=12");
          },
          *options);
    EXPECT_EQ(run_verify(command), 0) << command.case_path;
    const Json verification = json_file(folder / "out/verification.json");
    for (const Json& check : verification["checks"]) {
      if (check["name"] == "solver gmres in float32") continue;  // which is judged by whole solves alone
      // the first method of a ladder may fail, so that there are no iterations to compare
      if (settings.on_failure == OnFailure::ladder && check["verdict"] == "not checked") continue;
      EXPECT_EQ(check["verdict"], "PASS") << command.case_path << check;
    }
  }
}

/// A kernel that multiplies, solves or factors with a wrong entry is the same as a reference with another one.
TEST(InjectedInSuites, an_entry_of_the_matrix_that_is_wrong_is_found_by_every_suite) {
  Context ctx = Context::host(1);
  for (const double error : {0.0, 1e-11}) {
    verify::Subject<double> subject("random_spd",
                                    std::get<Csr<double>>(generate<double>(RandomSpdOptions{.rows = 80})));
    subject.rows.value[*subject.rows.find(40, 40)] *= 1 + error;
    verify::Selection selection;
    selection.formats = {{"sell", Format::sell}, {"dia", Format::dia}};
    selection.ops = {Op::none, Op::adjoint};
    selection.scalings = {ScalingMethod::diagonal, ScalingMethod::ruiz};
    selection.orderings = {verify::OrderingMethod::rcm};
    selection.triangles = {{Fill::lower}, {Fill::upper}};
    selection.triangular = {TriangularMethod::natural};
    selection.banded = {{BandedMethod::lu}, {BandedMethod::qr, 5}};
    selection.whole_library = true;
    selection.preconditioners = {Ilu0Options{}, IsaiOptions{}};
    Ledger ledger;
    verify::run_suites(ledger, ctx, subject, selection);
    std::set<std::string> failed;
    for (const auto& group : verify::summarize(ledger.checks()))
      if (group.failed > 0) failed.insert(group.group);
    // Products of a matrix stored in float cannot tell.
    const std::set<std::string> all{"conversions",       "products",      "scalings",       "orderings",
                                    "triangular solves", "banded solves", "factorizations", "preconditioners"};
    EXPECT_EQ(failed, error > 0 ? all : std::set<std::string>()) << failures(ledger);
  }
}

class VerifySuites : public krill::test::OnBackend {};

TEST_P(VerifySuites, hold_their_bounds_on_real_matrices) {
  const char* folder = std::getenv("KRILL_MATRICES");
  if (!folder) GTEST_SKIP() << "KRILL_MATRICES names no folder of matrices";
  Context ctx = context();
  for (const std::string name : {"orsirr_1", "sherman4", "bcsstk08", "add20", "nos7", "gre_1107", "west0479"}) {
    const auto file = std::filesystem::path(folder) / (name + ".mtx.gz");
    if (!std::filesystem::exists(file)) continue;
    MatrixInput<double> input = read_matrix<double>(file.string());
    CanonicalReport report;
    AnyMatrix<double> A = assemble(std::move(input.matrix), report);
    expect_suites_pass(ctx, name, std::move(std::get<Csr<double>>(A)));
  }
}

/// On the host the small ones, for the whole takes a minute.
TEST_P(VerifySuites, pass_on_the_gallery) {
  Context ctx = context();
  Ledger ledger;
  verify::verify_gallery(ledger, ctx, {}, ctx.on_cuda() ? verify::all_rows : 250);
  EXPECT_EQ(failures(ledger), "");
  EXPECT_GT(ledger.count(Verdict::pass), 10'000);
  EXPECT_LT(ledger.count(Verdict::none), ledger.count(Verdict::pass) / 50);
}

INSTANTIATE_TEST_SUITE_P(, VerifySuites, krill::test::backends, krill::test::param_name);

}  // namespace
}  // namespace krill::apps::test
