// krill bench: solvers, lists of matrices, gating, and the roofline picture.
#include <cmath>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/heat_map.hpp"
#include "apps/bench/job.hpp"
#include "apps/bench/roofline.hpp"
#include "solvers/work.hpp"
#include "tests/apps/program.hpp"

namespace krill::apps::test {
namespace {

using namespace bench;
using Json = nlohmann::json;

// The byte model.

TEST(SolverModel, an_iteration_by_hand) {
  const SolveWork pcg = work_of(PcgOptions{}, 1);
  const auto alone = [](const SolveWork& w, auto scalar) { return total<decltype(scalar)>(w, {}, 1000, 10, 50); };
  EXPECT_EQ(alone(pcg, 0.0).bytes, 1000 + 11 * 10 * 8);
  EXPECT_EQ(alone(work_of(BicgstabOptions{}, 1), 0.F).bytes, 2000 + 19 * 10 * 4);
  EXPECT_EQ(alone(work_of(RichardsonOptions{}, 3), 0.F).bytes, 3 * (1000 + 7 * 10 * 4));
  EXPECT_EQ(alone(pcg, 0.0).flops, 2 * (50 + 2 * 10 + 3 * 10));
  EXPECT_EQ(alone(pcg, std::complex<float>()).flops, 4 * alone(pcg, 0.F).flops);
}

TEST(SolverModel, preconditioners_are_applied_as_often_as_the_method_has_it) {
  const ApplicationWork M{.own = {.bytes = 7, .flops = 3}, .products = 2};
  const auto more = [&](const SolverOptions& solver, int iterations) {
    const SolveWork w = work_of(solver, iterations);
    const Work with = total<double>(w, M, 1000, 10, 50), without = total<double>(w, {}, 1000, 10, 50);
    const double applied = (with.flops - without.flops) / (3 + 2 * 2 * 50);
    EXPECT_EQ(with.bytes - without.bytes, applied * (7 + 2 * 1000) + w.apart * 10 * 8);
    return applied;
  };
  EXPECT_EQ(more(PcgOptions{}, 4), 4);
  EXPECT_EQ(more(BicgstabOptions{}, 4), 8);
  EXPECT_EQ(more(RichardsonOptions{}, 4), 4);
  EXPECT_EQ(more(GmresOptions{.restart = 3}, 4), (3 + 1) + (1 + 1)) << "each cycle ends with one more";
  // z beside r in the update; s beside M s in a dot, and in the update.
  EXPECT_EQ(work_of(RichardsonOptions{}, 4).apart, 4);
  EXPECT_EQ(work_of(BicgstabOptions{}, 4).apart, 2 * 4);
  EXPECT_EQ(work_of(PcgOptions{}, 4).apart, 0) << "the direction reads z in the place of r";
}

TEST(SolverModel, cycles_of_gmres_add_up) {
  // Restart 2, three iterations: cycles of two steps and of one. Vectors of n that a step moves beside a basis of j: 2
  // with the product, u and w for the dots and for the update, which writes u; V twice, and what is added to it. A
  // cycle: u = r, V y, x + it, and the residual with its product.
  const auto step = [](int j) { return (2 + 2 + 3) + (2 * j + 1); };
  const auto around = [](int steps) { return 2 + (steps + 1) + 3 + (2 + 3); };
  const double vectors = step(0) + step(1) + around(2) + step(0) + around(1);
  const auto bytes = [](const SolverOptions& options, int iterations) {
    return total<double>(work_of(options, iterations), {}, 1000, 10, 50).bytes;
  };
  GmresOptions options{.restart = 2};
  EXPECT_EQ(bytes(options, 3), (3 + 2) * 1000 + vectors * 10 * 8);
  EXPECT_EQ(bytes(options, 0), 0);
  // In float32 the basis moves half of its 1 + 3 + 2 and 1 + 1. A second sweep moves w three times and j + 1 vectors
  // twice.
  options.basis_precision = BasisPrecision::float32;
  EXPECT_EQ(bytes(options, 3), (3 + 2) * 1000 + (vectors - 0.5 * 8) * 10 * 8);
  options.basis_precision = BasisPrecision::float64, options.orthogonalization = Orthogonalization::cgs2;
  EXPECT_EQ(bytes(options, 3), (3 + 2) * 1000 + (vectors + 3 * 3 + 2 * (1 + 2 + 1)) * 10 * 8);
  // Each step reads M u and keeps it; a cycle adds Z y to x at once, two vectors less.
  EXPECT_EQ(bytes(FgmresOptions{.restart = 2}, 3), (3 + 2) * 1000 + (vectors + 3 * 2 - 2 * 2) * 10 * 8);
}

// Rows.

struct SolverRows {
  Context ctx = Context::host(2);
  std::vector<Row> rows;
  std::vector<std::string> formats;

  template <class T>
  BenchSubject<T> subject(const BenchMatrix& matrix, const Rival<T>* rival = nullptr) {
    return {ctx,
            matrix.name,
            "float64",
            std::make_shared<const AnyMatrix<T>>(make_matrix<T>(matrix, {}).A),
            rival,
            10,
            true,
            formats,
            [this](const Row& row) { rows.push_back(row); }};
  }
  const Row& row(std::string_view variant) const {
    return *std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.variant == variant; });
  }
};
const BenchMatrix grid{"grid", Poisson2dOptions{20}};

void expect_consistent(const Row& row) {
  EXPECT_EQ(row.error, "") << row.variant;
  ASSERT_TRUE(row.ms && row.iterations && row.setup_ms && row.total_ms && row.iteration_ms) << row.variant;
  EXPECT_GT(*row.iterations, 0);
  EXPECT_DOUBLE_EQ(*row.total_ms, *row.setup_ms + *row.ms);
  EXPECT_DOUBLE_EQ(*row.iteration_ms * static_cast<double>(*row.iterations), *row.ms);
  ASSERT_TRUE(row.bytes && row.flops) << row.variant;
}

TEST(BenchSolvers, pcg_takes_as_many_iterations_as_eigen) {
  SolverRows all;
  const auto rival = make_rival<double>(all.ctx, "eigen");
  bench_solver<double, PcgOptions>(all.subject<double>(grid, rival.get()));
  ASSERT_EQ(all.rows.size(), 14u);
  for (const Row& row : all.rows) expect_consistent(row);
  for (const char* variant : {"none", "jacobi"}) {
    const Row& row = all.row(variant);
    ASSERT_TRUE(row.rival_iterations) << row.rival_error;
    EXPECT_NEAR(static_cast<double>(*row.iterations), static_cast<double>(*row.rival_iterations), 1) << variant;
    EXPECT_DOUBLE_EQ(*row.ratio, *row.rival_ms / *row.ms);
  }
  const auto bytes_each = [&](const char* variant) {
    return *all.row(variant).bytes / static_cast<double>(*all.row(variant).iterations);
  };
  const double rows = 20 * 20, entries = 5 * rows - 4 * 20;
  EXPECT_DOUBLE_EQ(bytes_each("jacobi") - bytes_each("none"), 3 * rows * 8);
  // Both triangles without their diagonals, both diagonals, and r, z, z, z.
  EXPECT_DOUBLE_EQ(bytes_each("ic0") - bytes_each("none"), (entries - rows) * 12 + 6 * rows * 8);
  EXPECT_LT(*all.row("ic0").iterations, *all.row("none").iterations);
  EXPECT_TRUE(all.row("ic0").rival_ms) << all.row("ic0").rival_error;
  EXPECT_FALSE(all.row("chebyshev").rival_ms) << "Eigen has none";
}

TEST(BenchSolvers, the_others_solve_the_same_system) {
  SolverRows all;
  bench_solver<float, GmresOptions>(all.subject<float>(grid));
  ASSERT_EQ(all.rows.size(), 9u);
  bench_solver<float, BicgstabOptions>(all.subject<float>(grid));
  ASSERT_EQ(all.rows.size(), 18u);
  for (const Row& row : all.rows) expect_consistent(row);
}

TEST(BenchSolvers, a_matrix_that_is_no_system_is_one_row_that_says_so) {
  SolverRows all;
  bench_solver<double, BicgstabOptions>(all.subject<double>({"rnd", RandomColumns{100, 4}}));
  ASSERT_EQ(all.rows.size(), 1u);
  EXPECT_TRUE(contains(all.rows[0].error, "zeros on its diagonal")) << all.rows[0].error;
  all.rows.clear();
  bench_solver<double, PcgOptions>(all.subject<double>({"wind", ConvectionDiffusion2dOptions{}}));
  ASSERT_EQ(all.rows.size(), 1u);
  EXPECT_TRUE(contains(all.rows[0].error, "pcg needs")) << all.rows[0].error;
}

// The picture.

Result result_with_two_rows() {
  Result result;
  result.device = "A 'quoted' device";
  result.ceilings = {100, 90, {}};
  for (const char* kernel : {"spmv", "pcg"}) {
    Row row;
    row.kernel = kernel, row.ms = 2, row.bytes = 1e8, row.flops = 2e7;
    result.rows.push_back(row);
  }
  result.rows.emplace_back().kernel = "color";  // counts nothing
  return result;
}

TEST(Roofline, has_a_mark_for_each_row_that_counts_operations) {
  const std::string script = roofline_script(result_with_two_rows());
  EXPECT_TRUE(contains(script, "2.000000e-01 1.000000e+01\n")) << script;  // flop/byte, GFLOP/s
  EXPECT_TRUE(contains(script, "100 * x with lines")) << script;
  EXPECT_TRUE(contains(script, "title 'spmv'") && contains(script, "title 'pcg'")) << script;
  EXPECT_FALSE(contains(script, "color'")) << script;
}

TEST(Roofline, gnuplot_draws_it_even_where_there_is_nothing) {
  for (const Result& result : {result_with_two_rows(), Result{}}) {
    const Drawing drawing = draw(roofline_script(result));
    if (contains(drawing.failure, "not installed")) GTEST_SKIP() << drawing.failure;
    EXPECT_EQ(drawing.failure, "");
    EXPECT_TRUE(contains(drawing.svg, "GFLOP/s")) << drawing.svg;
  }
}

Result result_with_ratios() {
  Result result;
  result.device = "a device";
  for (const char* shape : {"3 x 1", "1048576 x 16"}) {
    Row& row = result.rows.emplace_back();
    row.kernel = "banded", row.matrix = shape, row.variant = "gtsv2", row.precision = "float64", row.ratio = 4;
  }
  result.rows.emplace_back(result.rows[0]).variant = "gpsv";
  result.rows.emplace_back(result.rows[0]).ratio.reset();
  return result;
}

TEST(HeatMap, has_a_cell_for_each_ratio) {
  const std::string script = heat_map_script(result_with_ratios());
  EXPECT_TRUE(
      contains(script, "$panel0 << EOD\n0 0 2.0000 4.0\n1 1 2.0000 4.0\nEOD\n$panel1 << EOD\n0 0 2.0000 4.0\nEOD\n"))
      << script;
  EXPECT_TRUE(contains(script, "xtics nomirror out ('1' 0, '16' 1)")) << script;
  EXPECT_TRUE(contains(script, "ytics nomirror out ('3' 0, '2^20' 1)")) << script;
  EXPECT_TRUE(contains(script, "'gpsv, float64'")) << script;
}

TEST(HeatMap, gnuplot_draws_it_even_where_there_is_nothing) {
  for (const Result& result : {result_with_ratios(), result_with_two_rows(), Result{}}) {
    const Drawing drawing = draw(heat_map_script(result));
    if (contains(drawing.failure, "not installed")) GTEST_SKIP() << drawing.failure;
    EXPECT_EQ(drawing.failure, "");
    EXPECT_TRUE(contains(drawing.svg, "systems")) << drawing.svg;
  }
}

// The command.

class BenchSolversProgram : public Program {};

TEST_F(BenchSolversProgram, solvers_are_a_group_and_no_default) {
  const Outcome o = krill("bench solvers --matrix poisson2d nx=16 --backend host --compare eigen --out r.json");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(contains(o.out, "iterations")) << o.out;
  std::vector<std::string> kernels;
  const Json solved = json_file(folder_ / "r.json");
  for (const Json& row : solved["rows"])
    if (kernels.empty() || kernels.back() != row["kernel"].get<std::string>()) kernels.push_back(row["kernel"]);
  EXPECT_EQ(kernels, (std::vector<std::string>{"pcg", "gmres", "bicgstab"}));
  EXPECT_TRUE(contains(krill("bench --markdown r.json").out, "| iterations | ms each |"));
  EXPECT_EQ(krill("bench --matrix poisson1d nx=50 --backend host --out k.json").code, 0);
  const Json others = json_file(folder_ / "k.json");
  EXPECT_FALSE(others["rows"].empty());
  for (const Json& row : others["rows"]) EXPECT_NE(row["kernel"], "pcg");
}

TEST_F(BenchSolversProgram, measures_the_preconditioners_that_are_named) {
  const std::string common = " --matrix poisson2d nx=16 --backend host --out r.json";
  ASSERT_EQ(krill("bench pcg bicgstab --preconditioner 'jacobi,amg, plain aggregates,ic0'" + common).code, 0);
  std::vector<std::string> rows;
  const Json result = json_file(folder_ / "r.json");
  for (const Json& row : result["rows"])
    rows.push_back(row["kernel"].get<std::string>() + " " + row["variant"].get<std::string>());
  EXPECT_EQ(rows, (std::vector<std::string>{"pcg jacobi", "pcg ic0", "pcg amg, plain aggregates", "bicgstab jacobi"}));
  const Outcome odd = krill("bench pcg --preconditioner jacoby" + common);
  EXPECT_EQ(odd.code, 2);
  EXPECT_TRUE(contains(odd.err,
                       "--preconditioner: there is no benchmark with a preconditioner 'jacoby'; did you mean "
                       "'jacobi'?"))
      << odd.err;
  const Outcome none = krill("bench spmv --preconditioner jacobi" + common);
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "only solvers have one")) << none.err;
}

TEST_F(BenchSolversProgram, a_file_lists_the_matrices_of_a_suite) {
  std::filesystem::create_directories(folder_ / "lists");
  folder_.write("lists/a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 3\n");
  folder_.write("lists/mine.txt", "# mine\n\na.mtx\npoisson1d nx=9  # a line\n");
  const std::string rest = " spmv --format csr --backend host --repeat-blocks 1 --out r.json";
  ASSERT_EQ(krill("bench --suite lists/mine.txt" + rest).code, 0);
  const Json rows = json_file(folder_ / "r.json")["rows"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["case"], "a");
  EXPECT_EQ(rows[1]["case"], "poisson1d nx=9");
  folder_.write("lists/bad.txt", "a.mtx\npoison1d\n");
  const Outcome bad = krill("bench --suite lists/bad.txt" + rest);
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.err, "lists/bad.txt:2: ") && contains(bad.err, "did you mean 'poisson1d'")) << bad.err;
  folder_.write("lists/empty.txt", "# nothing\n");
  EXPECT_TRUE(contains(krill("bench --suite lists/empty.txt" + rest).err, "has no matrix"));
}

TEST_F(BenchSolversProgram, results_of_different_devices_do_not_gate) {
  Row row;
  row.kernel = "pcg", row.matrix = "a", row.variant = "none", row.ms = 1, row.iterations = 100;
  Result before{"abc", "", "one", "", {}, {row}}, after = before;
  after.device = "another", after.rows[0].ms = 3, after.rows[0].iterations = 300;
  folder_.write("a.json", to_json(before).dump());
  folder_.write("b.json", to_json(after).dump());
  const Outcome refused = krill("bench --diff a.json b.json");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "a.json was measured on one, b.json on another")) << refused.err;
  const Outcome shown = krill("bench --diff a.json b.json --fail-on none");
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "These are different devices.")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "3.00 times as long, iterations 100 -> 300")) << shown.out;
}

TEST_F(BenchSolversProgram, a_picture_of_an_earlier_result) {
  folder_.write("r.json", to_json(result_with_two_rows()).dump());
  const Outcome without = krill("bench --markdown r.json --roofline r.svg", "PATH=/nowhere");
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_TRUE(contains(without.out, "r.svg: no plot: gnuplot is not installed")) << without.out;
  EXPECT_FALSE(exists("r.svg"));
  const Outcome with = krill("bench --markdown r.json --roofline r.svg");
  if (contains(with.out, "not installed")) GTEST_SKIP() << with.out;
  EXPECT_TRUE(contains(contents(folder_ / "r.svg"), "</svg>"));
  EXPECT_EQ(krill("bench --markdown r.json --heat-map h.svg").code, 0);
  EXPECT_TRUE(contains(contents(folder_ / "h.svg"), "</svg>"));
}

}  // namespace
}  // namespace krill::apps::test
