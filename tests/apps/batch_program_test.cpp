// Batches of banded systems: `krill solve`, `generate` and `inspect` of them.
#include <cmath>
#include <complex>
#include <sstream>

#include "sparse/io/generate.hpp"
#include "sparse/io/read.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/files.hpp"
#include "tests/support/backends.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::contents;
using test::Outcome;

constexpr const char* batch_case =
    "name: batch\n"
    "matrix: {generate: banded_batch, rows: 40, systems: 30, diagonals: 5}\n"
    "rhs: {type: manufactured}\n"
    "solver: {type: auto, stop: {relative: 1e-5}}\n"
    "verify: {reference: eigen}\n"
    "output: {plot: false}\n";

/// A tridiagonal system of three rows.
std::string three_rows(const std::string& diagonal) {
  return test::banner + "3 3 7\n1 1 2\n1 2 -1\n2 1 -1\n2 2 " + diagonal + "\n2 3 -1\n3 2 -1\n3 3 2\n";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class BatchProgram : public test::Program {
 protected:
  nlohmann::json report(const std::string& folder = "out") {
    return test::json_file(folder_ / (folder + "/report.json"));
  }
  void pack(const std::string& name, const std::vector<std::pair<std::string, std::string>>& members) {
    krill::test::pack_tar(folder_ / name, krill::test::Packing::gzip, members);
  }
  /// A case of the archive a.tar.gz; `more` are lines of it.
  void write_case(const std::string& more = "") {
    folder_.write("case.yaml", "matrix: {batch: a.tar.gz}\nsolver: banded\noutput: {plot: false}\n" + more);
  }
};

class BatchPrecisions : public BatchProgram,
                        public testing::WithParamInterface<std::tuple<krill::test::Backend, krill::test::ScalarKind>> {
 protected:
  void SetUp() override {
    if (std::get<0>(GetParam()) == krill::test::Backend::cuda && device::count() == 0)
      GTEST_SKIP() << device::absence();
    BatchProgram::SetUp();
  }
};

TEST_P(BatchPrecisions, converge_one_by_one) {
  folder_.write("case.yaml", batch_case);
  const auto& [backend, scalar] = GetParam();
  const Outcome o = krill("solve case.yaml --out out --backend " + krill::test::name(backend) +
                          " --set precision=" + krill::test::name(scalar));
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(contains(o.out, "30 of 30 converged")) << o.out;
  const auto r = report();
  EXPECT_EQ(r["status"], "converged");
  EXPECT_EQ(r["solver"], "banded");
  EXPECT_EQ(r["systems"]["count"], 30);
  EXPECT_EQ(r["systems"]["rows"], 40);
  EXPECT_EQ(r["systems"]["statuses"], nlohmann::json({{"converged", 30}}));
  EXPECT_TRUE(r["systems"]["not_converged"].empty());
  EXPECT_EQ(r["systems"]["worst"]["true_relative"], r["residual"]["true_relative"]);
  EXPECT_EQ(r["verification"]["verdict"], "PASS");
  EXPECT_LT(r["known_error"].get<double>(), 1e-4);
  const auto lines = lines_of(contents(folder_ / "out/systems.csv"));
  ASSERT_EQ(lines.size(), 31U);
  EXPECT_EQ(lines[0], "system,status,true_relative,zero_pivot_row");
  EXPECT_EQ(lines[30].substr(0, 13), "29,converged,");
  const auto solution = krill::read_vector<std::complex<double>>(folder_ / "out/solution.mtx");
  EXPECT_EQ(solution.rows, 40);
  EXPECT_EQ(solution.cols, 30);
}
INSTANTIATE_TEST_SUITE_P(, BatchPrecisions, krill::test::backends_and_scalars, krill::test::param_name);

TEST_F(BatchProgram, reports_bad_systems_and_solves_the_others) {
  pack("a.tar.gz", {{"a.mtx", three_rows("2")},
                    {"b.mtx", three_rows("1")},
                    {"c.mtx", three_rows("nan")},
                    {"d.mtx", three_rows("3")}});  // b is singular
  write_case();
  const Outcome o = krill("solve case.yaml --out out --backend host");
  EXPECT_EQ(o.code, 1) << o.out << o.err;
  EXPECT_TRUE(contains(o.out, "2 of 4 converged")) << o.out;
  const auto lines = lines_of(contents(folder_ / "out/systems.csv"));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(contains(lines[1], "0,converged,")) << lines[1];
  EXPECT_TRUE(contains(lines[2], "1,zero_pivot,")) << lines[2];
  EXPECT_EQ(lines[2].substr(lines[2].rfind(',')), ",2");
  EXPECT_EQ(lines[3], "2,not_finite,nan,");
  EXPECT_TRUE(contains(lines[4], "3,converged,")) << lines[4];
  const auto r = report();
  EXPECT_EQ(r["status"], "not_finite");
  EXPECT_EQ(r["exit_code"], 1);
  EXPECT_EQ(r["systems"]["statuses"], nlohmann::json({{"converged", 2}, {"not_finite", 1}, {"zero_pivot", 1}}));
  EXPECT_EQ(r["systems"]["worst"]["system"], 2);
  ASSERT_EQ(r["systems"]["not_converged"].size(), 2U);
  EXPECT_EQ(r["systems"]["not_converged"][0]["zero_pivot_row"], 2);
  EXPECT_EQ(r["systems"]["not_converged"][1]["true_relative"], nullptr);
  const auto x = krill::read_vector<double>(folder_ / "out/solution.mtx");
  ASSERT_EQ(x.values.size(), 12U);
  EXPECT_NEAR(x.values[0], 1.5, 1e-12);
  EXPECT_NEAR(x.values[1], 2, 1e-12);
  EXPECT_NEAR(x.values[10], 1, 1e-12);
  // A format that stores zeros between systems: NaN times these would be NaN.
  EXPECT_EQ(krill("solve case.yaml --out dia --backend host --set format=dia").code, 1);
  EXPECT_EQ(contents(folder_ / "dia/systems.csv"), contents(folder_ / "out/systems.csv"));
}

TEST_F(BatchProgram, lists_a_thousand_failures_at_most) {
  std::vector<std::pair<std::string, std::string>> members;
  for (int j = 0; j < 1005; ++j) members.emplace_back("s" + std::to_string(j) + ".mtx", three_rows("1"));
  pack("a.tar.gz", members);
  write_case();
  EXPECT_EQ(krill("solve case.yaml --out out --quiet").code, 1);
  const auto r = report();
  EXPECT_EQ(r["systems"]["statuses"]["zero_pivot"], 1005);
  EXPECT_EQ(r["systems"]["not_converged"].size(), 1000U);
  EXPECT_EQ(r["status"], "zero_pivot");
  EXPECT_EQ(lines_of(contents(folder_ / "out/systems.csv")).size(), 1006U);
}

TEST_F(BatchProgram, takes_a_column_of_the_right_hand_side_for_every_system) {
  pack("a.tar.gz", {{"a.mtx", three_rows("2")}, {"b.mtx", three_rows("3")}});
  write_case("rhs: {type: file, path: b.mtx}\n");
  const std::string head = "%%MatrixMarket matrix array real general\n";
  folder_.write("b.mtx", head + "3 2\n1\n0\n1\n1\n1\n1\n");
  EXPECT_EQ(krill("solve case.yaml --out out").code, 0);
  const auto x = krill::read_vector<double>(folder_ / "out/solution.mtx");
  for (const double entry : x.values) EXPECT_NEAR(entry, 1, 1e-12);
  const Outcome again = krill(
      "solve case.yaml --out again --set verify.reference=eigen --set "
      "'initial_guess={type: file, path: out/solution.mtx}'");
  EXPECT_EQ(again.code, 0) << again.out;
  EXPECT_EQ(report("again")["iterations"], 0);
  folder_.write("b.mtx", head + "3 1\n1\n0\n1\n");
  EXPECT_TRUE(contains(krill("solve case.yaml").err,
                       "b.mtx has 3 rows and 1 columns; 2 columns, one for each system of the batch, are expected"));
  folder_.write("b.mtx", head + "2 2\n1\n0\n1\n1\n");
  EXPECT_TRUE(contains(krill("solve case.yaml").err, "b.mtx has 2 entries, the matrix has 3 rows"));
}

TEST_F(BatchProgram, judges_a_rounded_batch_by_the_one_in_the_files) {
  folder_.write("case.yaml",
                "matrix: {batch: a.tar}\nrhs: random\nsolver: {type: banded, stop: {relative: 1e-5}}\n"
                "precision: float32\noutput: {plot: false}\nverify: {reference: eigen}\n");
  ASSERT_EQ(krill("generate banded_batch rows=30 systems=20 diagonals=5 -o a.tar").code, 0);
  const Outcome o = krill("solve case.yaml --out out");
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_EQ(report()["systems"]["statuses"]["converged"], 20);
  const Outcome too_much = krill("solve case.yaml --out out --set solver.stop.relative=1e-12");
  EXPECT_EQ(too_much.code, 1);
  EXPECT_EQ(report()["status"], "limit_of_accuracy");
}

TEST_F(BatchProgram, refuses_any_other_method) {
  folder_.write("case.yaml", batch_case);
  const auto refusal = [&](const std::string& change) {
    const Outcome o = krill("solve case.yaml --set " + change);
    EXPECT_EQ(o.code, 2) << change;
    return o.err;
  };
  EXPECT_TRUE(contains(refusal("solver=gmres"), "a batch is solved by solver banded alone"));
  EXPECT_TRUE(contains(refusal("ordering=rcm"), "takes no ordering"));
  EXPECT_TRUE(contains(refusal("scaling=ruiz"), "takes no scaling"));
  EXPECT_TRUE(contains(refusal("matching=product"), "takes no matching"));
  EXPECT_TRUE(contains(refusal("preconditioner=jacobi"), "takes no preconditioner"));
  EXPECT_TRUE(contains(refusal("matrix.rows=0"), "matrix.rows is 0"));
  EXPECT_TRUE(contains(refusal("matrix.systems=0"), "matrix.systems is 0"));
  EXPECT_TRUE(contains(refusal("matrix.diagonals=4"), "matrix.diagonals is 4"));
  EXPECT_TRUE(contains(refusal("matrix.rows=65536 --set matrix.systems=65536"), "at most 2147483647 are possible"));
  EXPECT_TRUE(contains(refusal("matrix.batch=none.tar"), "none.tar: the file cannot be read"));
}

TEST_F(BatchProgram, is_generated_as_an_archive) {
  const Outcome o = krill("generate banded_batch rows=6 systems=12 diagonals=5 -o a.tar.gz");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(contains(o.out, "a.tar.gz: 12 systems of 6 rows, 288 entries")) << o.out;
  EXPECT_EQ(krill::read_batch<double>(folder_ / "a.tar.gz").systems, 12);
  EXPECT_TRUE(contains(krill("generate poisson1d nx=5 -o b.tar").err, "an archive is for a batch of systems"));
  EXPECT_FALSE(exists("b.tar"));
  const Outcome look = krill("inspect a.tar.gz");
  EXPECT_EQ(look.code, 2);
  EXPECT_TRUE(contains(look.err, "the archive holds 12 matrices")) << look.err;
  EXPECT_TRUE(contains(look.err, "matrix: {batch: FILE}")) << look.err;
}

}  // namespace
}  // namespace krill::apps
