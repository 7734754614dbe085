// krill bench from the command line: rows of each kernel, files, mistakes.
#include <cmath>
#include <set>

#include "apps/bench/difference.hpp"
#include "apps/bench/job.hpp"
#include "tests/apps/bench_rows.hpp"
#include "tests/apps/program.hpp"

namespace krill::apps::test {
namespace {

using namespace bench;
using Json = nlohmann::json;

class BenchCommandLine : public Program {
 protected:
  Json measured(const std::string& arguments, int code = 0) {
    const Outcome o = krill("bench " + arguments + " --out r.json");
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_TRUE(contains(o.out, "ratio")) << o.out;
    return json_file(folder_ / "r.json");
  }
};

void expect_consistent(const Json& row, double ceiling) {
  const double ms = row["ms"], bytes = row["bytes"], gbps = row["gbps"];
  EXPECT_NEAR(gbps, bytes / ms * 1e-6, 1e-9 * gbps) << row;
  EXPECT_NEAR(row["ceiling_share"].get<double>(), gbps / ceiling, 1e-9) << row;
  EXPECT_GE(row["spread"].get<double>(), 0);
  EXPECT_TRUE(row["error"].is_null() && row["rival_error"].is_null()) << row;
  if (row["rival_ms"].is_null()) {
    EXPECT_TRUE(row["ratio"].is_null() && row["rival_variant"].is_null()) << row;
  } else {
    EXPECT_NEAR(row["ratio"].get<double>(), row["rival_ms"].get<double>() / ms, 1e-9 * row["ratio"].get<double>());
    EXPECT_TRUE(row["rival"].get<std::string>().starts_with("Eigen")) << row;
  }
}

TEST_F(BenchCommandLine, the_result_has_every_field_and_they_agree) {
  const Json result = measured("--matrix poisson2d nx=60 --backend host --threads 2 --compare eigen --warm");
  for (const std::string key : {"commit", "date", "device", "driver", "ceilings", "rows"})
    EXPECT_TRUE(result.contains(key)) << key;
  double ceiling = 0;
  for (const std::string key : {"copy", "triad", "read"})
    ceiling = std::max(ceiling, result["ceilings"].at(key).get<double>());
  EXPECT_GT(ceiling, 0);
  ASSERT_GE(result["rows"].size(), 5u);
  for (const Json& row : result["rows"]) {
    for (const std::string key :
         {"kernel",   "case",   "rows",   "nnz",          "precision",     "variant",    "cache",
          "ms",       "spread", "bytes",  "gbps",         "ceiling_share", "rival",      "rival_variant",
          "rival_ms", "ratio",  "colors", "rival_colors", "setup_ms",      "break_even", "error"})
      EXPECT_TRUE(row.contains(key)) << key;
    EXPECT_EQ(row["case"], "poisson2d nx=60");
    EXPECT_EQ(row["rows"], 3600);
    EXPECT_EQ(row["nnz"], 17760);
    EXPECT_EQ(row["cache"], "warm");
    expect_consistent(row, ceiling);
  }
  const Json& csr = result["rows"][0];
  EXPECT_EQ(csr["bytes"], 17760 * 12 + 3601 * 4 + 2 * 3600 * 8);
  EXPECT_GE(csr["setup_ms"], 0);
  EXPECT_TRUE(csr["break_even"].is_null());
  EXPECT_FALSE(csr["rival_ms"].is_null());
}

TEST_F(BenchCommandLine, colorings_tell_how_many_colors_they_have) {
  const Json result = measured("color --matrix poisson2d nx=60 --backend host --warm");
  ASSERT_EQ(result["rows"].size(), 1u);
  EXPECT_EQ(result["rows"][0]["colors"], 2);
  EXPECT_TRUE(result["rows"][0]["rival_colors"].is_null());
  EXPECT_EQ(result["rows"][0]["bytes"], (17760 + 3601 + 2 * 3600) * 4);
}

TEST_F(BenchCommandLine, coarse_matrices_are_of_boxes_on_a_grid) {
  const Json result = measured("coarsen --matrix poisson2d nx=60 --backend host --warm");
  // 15 x 30 boxes of 4 x 2 points: 5 points again, of 450
  const int pattern = 14160 * 4 + 3601 * 4, fine = 17760 * 12 + 3601 * 4, coarse = 2160 * 12 + 451 * 4;
  const struct {
    const char *kernel, *variant;
    int bytes;  // 0: depends on hashes
  } expected[] = {{"strong_graph", "relative", fine + pattern},
                  {"aggregates", "mis2", 0},
                  {"aggregates", "matching", fine + (3600 + 451 + 3600) * 4},
                  {"contraction", "whole", fine + 3600 * 4 + coarse},
                  {"contraction", "new values", fine + 3600 * 4 + coarse}};
  ASSERT_EQ(result["rows"].size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const Json& row = result["rows"][i];
    EXPECT_EQ(row["kernel"], expected[i].kernel);
    EXPECT_EQ(row["variant"], expected[i].variant);
    EXPECT_TRUE(row["error"].is_null()) << row;
    if (expected[i].bytes > 0) {
      EXPECT_EQ(row["bytes"], expected[i].bytes) << row;
    }
  }
}

TEST_F(BenchCommandLine, multigrid_is_timed_by_steps_cycle_and_new_values) {
  const Json result = measured("amg --matrix poisson2d nx=60 --backend host --precision float64");
  std::set<std::string> variants;
  for (const Json& row : result["rows"]) {
    EXPECT_TRUE(row["error"].is_null()) << row;
    EXPECT_GE(row["ms"], 0) << row;
    variants.insert(row["variant"].get<std::string>());
  }
  for (const std::string method : {"smoothed_aggregation", "aggregation"})
    for (const std::string what : {"set-up", "set-up: smoother", "set-up: aggregates", "cycle", "new values"})
      EXPECT_TRUE(variants.contains(method + " " + what)) << method << " " << what;
}

TEST_F(BenchCommandLine, products_with_dense_matrices_have_rows_for_columns_and_orders) {
  const Json result = measured("spmm --matrix poisson2d nx=60 --backend host --warm --compare eigen");
  ASSERT_EQ(result["rows"].size(), 5u + 4);
  EXPECT_EQ(result["rows"][0]["variant"], "1 column");
  EXPECT_EQ(result["rows"][2]["variant"], "8 columns");
  EXPECT_EQ(result["rows"][8]["variant"], "128 by rows");
  EXPECT_EQ(result["rows"][2]["bytes"], 17760 * 12 + 3601 * 4 + 8 * 2 * 3600 * 8);
  for (const Json& row : result["rows"]) {
    EXPECT_TRUE(row["error"].is_null()) << row;
    EXPECT_TRUE(row["rival_error"].is_null()) << row;
    EXPECT_FALSE(row["ratio"].is_null()) << row;
  }
}

TEST_F(BenchCommandLine, dots_at_the_places_of_a_matrix_have_rows_for_lengths_and_orders) {
  const Json result = measured("sddmm --matrix poisson2d nx=60 --backend host --warm");
  ASSERT_EQ(result["rows"].size(), 4u);
  EXPECT_EQ(result["rows"][0]["variant"], "32 in lines");
  EXPECT_EQ(result["rows"][3]["variant"], "128 by rows");
  EXPECT_EQ(result["rows"][0]["bytes"], 17760 * 12 + 3601 * 4 + 32 * 2 * 3600 * 8);
  for (const Json& row : result["rows"]) {
    EXPECT_TRUE(row["error"].is_null()) << row;
    EXPECT_FALSE(row["ms"].is_null()) << row;
  }
}

TEST_F(BenchCommandLine, sums_and_products_of_sparse_matrices_have_rows_for_all_and_for_values) {
  const Json result = measured("spgemm spgeam --matrix poisson2d nx=60 --backend host --warm --compare eigen");
  ASSERT_EQ(result["rows"].size(), 4u);
  const double given = 17760 * 12 + 3601 * 4;
  for (const int i : {0, 1}) {
    const Json& row = result["rows"][static_cast<std::size_t>(i)];
    EXPECT_EQ(row["variant"], i == 0 ? "whole" : "new values");
    EXPECT_EQ(row["bytes"], 2 * given + 45'604 * 12 + 3601 * 4) << "13 entries a row, less those beyond the boundary";
    EXPECT_GE(row["workspace_bytes"], 3600 * 8) << "products of rows are counted in 64 bits";
    EXPECT_EQ(result["rows"][static_cast<std::size_t>(i + 2)]["bytes"], 3 * given);
  }
  for (const Json& row : result["rows"]) {
    EXPECT_TRUE(row["error"].is_null()) << row;
    EXPECT_EQ(row["ratio"].is_null(), row["variant"] == "new values") << row;
    EXPECT_FALSE(row["workspace_bytes"].is_null()) << row;
    EXPECT_TRUE(row["rival_workspace_bytes"].is_null()) << row;
  }
}

const std::set<std::string> banded_without_rival{"blocks of 4",     "factored lu", "factored thomas",
                                                 "five strided lu", "periodic lu", "strided to interleaved"};

TEST_F(BenchCommandLine, banded_systems_need_no_matrix) {
  const Json result = measured("banded --backend host --warm --precision float32 --compare eigen --shapes 300x1,20x6");
  ASSERT_EQ(result["rows"].size(), 4u + 12);
  int solves = 0;
  for (const Json& row : result["rows"]) {
    EXPECT_TRUE(row["error"].is_null()) << row;
    EXPECT_EQ(row["kernel"], "banded");
    const std::string variant = row["variant"];
    if (banded_without_rival.contains(variant)) {
      EXPECT_TRUE(row["rival_variant"].is_null()) << row;
      continue;
    }
    ++solves;
    EXPECT_TRUE(row["rival_error"].is_null()) << row;
    EXPECT_EQ(row["rival_variant"], "SparseLU");
    EXPECT_FALSE(row["ratio"].is_null()) << row;
    const double entries = row["nnz"].get<double>() + 2 * row["rows"].get<double>();
    EXPECT_EQ(row["bytes"], entries * 4) << row;
  }
  EXPECT_EQ(solves, 2 + 6);
  EXPECT_EQ(result["rows"][0]["case"], "300 x 1");
  EXPECT_EQ(result["rows"][4]["case"], "20 x 6");
  EXPECT_EQ(result["rows"][4]["rows"], 120);
  EXPECT_EQ(result["rows"][0]["variant"], "gtsv2");
}

TEST_F(BenchCommandLine, a_file_is_repeated_in_the_precisions_asked_for) {
  folder_.write("a.mtx", banner + "2 2 3\n1 1 1\n1 2 2\n2 2 3\n");
  const Json result =
      measured("--backend host --format csr --repeat-blocks 4 --matrix a.mtx spmv --precision float32,complex128");
  ASSERT_EQ(result["rows"].size(), 2u);
  for (const Json& row : result["rows"]) {
    EXPECT_EQ(row["case"], "a x 4");
    EXPECT_EQ(row["rows"], 8);
    EXPECT_EQ(row["nnz"], 12);
    EXPECT_EQ(row["variant"], "csr");
  }
  EXPECT_EQ(result["rows"][0]["precision"], "float32");
  EXPECT_EQ(result["rows"][0]["bytes"], 12 * 8 + 9 * 4 + 16 * 4);
  EXPECT_EQ(result["rows"][1]["precision"], "complex128");
}

TEST_F(BenchCommandLine, what_cannot_be_measured_is_a_row_with_an_error) {
  folder_.write("c.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 2\n");
  const std::string both = "spmv --backend host --format csr --repeat-blocks 1 --matrix c.mtx ";
  const Json mixed = measured(both + "--precision float64,complex64");
  ASSERT_EQ(mixed["rows"].size(), 2u);
  EXPECT_TRUE(mixed["rows"][0]["ms"].is_null());
  EXPECT_TRUE(contains(mixed["rows"][0]["error"], "complex")) << mixed["rows"][0];
  EXPECT_TRUE(mixed["rows"][1]["error"].is_null()) << mixed["rows"][1];
  const Json failed = measured(both + "--precision float64", 1);
  EXPECT_EQ(failed["rows"].size(), 1u);
}

TEST_F(BenchCommandLine, nothing_to_measure_is_an_error) {
  const Outcome o = krill("bench convert --backend host --format csr --matrix poisson1d nx=5");
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(contains(o.err, "nothing was measured: no benchmark of convert has a variant of --format csr")) << o.err;
}

TEST_F(BenchCommandLine, differences_decide_about_the_exit_code) {
  const std::string a = to_json(result_of({row_of("spmv", "a", 1), row_of("spmv", "b", 1)})).dump(),
                    b = to_json(result_of({row_of("spmv", "a", 1.2), row_of("spmv", "b", 0.5)})).dump();
  folder_.write("a.json", a);
  folder_.write("b.json", b);
  const Outcome worse = krill("bench --diff a.json b.json");
  EXPECT_EQ(worse.code, 1);
  EXPECT_TRUE(contains(worse.out, "slower\n  spmv     a ")) << worse.out;
  EXPECT_TRUE(contains(worse.out, "1 -> 1.2 ms, 1.20 times as long")) << worse.out;
  EXPECT_TRUE(contains(worse.out, "faster\n  spmv     b ")) << worse.out;
  EXPECT_EQ(krill("bench --diff a.json b.json --tolerance 0.25").code, 0);
  EXPECT_EQ(krill("bench --diff a.json a.json --tolerance 0").code, 0);
  EXPECT_EQ(krill("bench --diff a.json missing.json").code, 2);
  const Outcome table = krill("bench --markdown a.json");
  EXPECT_EQ(table.code, 0);
  EXPECT_TRUE(contains(table.out, "| a | float64 | csr | cold | 1.000 |")) << table.out;
}

TEST_F(BenchCommandLine, help_shows_examples) {
  const Outcome o = krill("bench --help");
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(contains(o.out, "krill bench spmv csr2csc --compare cusparse --out h200.json")) << o.out;
}

TEST_F(BenchCommandLine, mistakes_are_named_with_a_proposal) {
  const auto expect = [&](const std::string& arguments, const std::string& message) {
    const Outcome o = krill("bench " + arguments);
    EXPECT_EQ(o.code, 2) << arguments << o.out;
    EXPECT_EQ(o.out, "") << arguments;
    EXPECT_TRUE(contains(o.err, message)) << o.err;
  };
  expect("smpv",
         "there is no benchmark for a kernel 'smpv'; did you mean 'spmv'?\n  expected one of spmv, spmv_dot, spmm, "
         "sddmm, spgemm, spgeam, triple_product, prune, convert, csr2csc, triangular, factor, color, coarsen, vector, "
         "basis, batch, banded, pcg, gmres, bicgstab, amg, scaling or solvers");
  expect("--format cs", "--format: there is no benchmark for a format 'cs'; did you mean 'csr' or 'csc'?");
  expect("--format csr,,coo", "--format csr,,coo: a name is missing between commas");
  expect("--precision float46", "--precision: there is no precision 'float46'; did you mean 'float64'?");
  expect("--precision auto", "--precision: there is no precision 'auto'");
  expect("--matrix poison3d", "there is neither a file nor a matrix 'poison3d'; did you mean 'poisson3d'?");
  expect("--matrix p3d256 nx=3", "nx=3: p3d256 is no generator, so it takes no settings");
  expect("--matrix poisson3d nq=3", "nq=3: unknown key \"nq\"; did you mean 'nx', 'ny' or 'nz'?");
  expect("--repeat-blocks some", "--repeat-blocks is 'some', expected auto or an integer of at least 1");
  expect("--repeat-blocks 0", "--repeat-blocks is '0'");
  const std::string sizes = "rows and systems, such as 4096x64, each from 1 to 2147483647, or sweep";
  for (const std::string word :
       {"12", "x", "3x", "x3", "3y4", "0x5", "5x0", "-3x4", "3x4x5", "2147483648x1", "1x2147483648", "sweeps"})
    expect("banded --backend host --shapes 4x4," + word, "--shapes: '" + word + "' is no shape\n  expected " + sizes);
  expect("banded --backend host --shapes 4x4,,5x5", "--shapes 4x4,,5x5: a name is missing between commas");
  expect("spmv --backend host --shapes 4x4", "--shapes: only banded has shapes");
  expect("--markdown r.json --shapes 4x4", "--markdown measures nothing");
  expect("--suite smal", "--suite: there is neither a file nor a suite 'smal'; did you mean 'small'?");
  expect("--fail-on none", "--fail-on requires --diff");
  expect("spmv --backend host --matrix p2d256 --roofline no/such.svg", "no/such.svg");
  expect("--backend host --compare cusparse", "--compare cusparse: cuSPARSE runs on CUDA");
  expect("--backend host --device 1", "--device 1: this run is on the host");
  expect("--backend host --matrix p2d256 --out no/such.json", "no/such.json");
  expect("--tolerance 0.1", "--tolerance requires --diff");
  expect("spmv --markdown r.json", "--markdown measures nothing");
  expect("--diff a.json b.json --warm", "--diff measures nothing");
  EXPECT_TRUE(folder_is_empty());
}

TEST_F(BenchCommandLine, against_cusparse_on_a_device) {
  if (device::count() == 0) GTEST_SKIP() << device::absence();
  try {
    require_cusparse_module();
  } catch (const InvalidArgument& e) {
    GTEST_SKIP() << e.what();
  }
  // Without color: csrcolor of cuSPARSE 12.6 runs out of memory on some machines that other processes use as well.
  const Json result = measured(
      "spmv convert csr2csc banded --shapes 5000x1,3x70,300x1000 --backend cuda --compare cusparse --matrix poisson2d "
      "nx=300 --precision float32,float64,complex64,complex128");
  for (const Json& row : result["rows"]) {
    EXPECT_TRUE(row["error"].is_null()) << row;
    EXPECT_TRUE(row["rival_error"].is_null()) << row;
    // cuSPARSE has no conversions to most formats
    const bool alone = row["kernel"] == "convert" || banded_without_rival.contains(row["variant"].get<std::string>());
    EXPECT_TRUE(alone || !row["ratio"].is_null()) << row;
  }
}

}  // namespace
}  // namespace krill::apps::test
