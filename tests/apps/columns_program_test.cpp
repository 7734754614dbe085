// Several right-hand sides: `krill solve` of them, their reports, and what is refused.
#include <complex>
#include <sstream>

#include "apps/case/file_list.hpp"
#include "sparse/core/error.hpp"
#include "sparse/io/read.hpp"
#include "tests/apps/program.hpp"
#include "tests/support/backends.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::contents;
using test::Outcome;

using Names = std::vector<std::string>;

TEST(FileList, stands_for_numbers_and_words) {
  EXPECT_EQ(files_named("b.mtx"), (Names{"b.mtx"}));
  EXPECT_EQ(files_named("b_{9..11}.mtx"), (Names{"b_9.mtx", "b_10.mtx", "b_11.mtx"}));
  EXPECT_EQ(files_named("b_{09..11}.mtx"), (Names{"b_09.mtx", "b_10.mtx", "b_11.mtx"}));
  EXPECT_EQ(files_named("{2..1}"), (Names{"2", "1"}));
  EXPECT_EQ(files_named("{left,right}/{1..2}"), (Names{"left/1", "left/2", "right/1", "right/2"}));
  for (const char* plain : {"b_{}.mtx", "b_{x}.mtx", "b_{1..x}.mtx", "b_{-1..2}.mtx", "b_{1..2.mtx", "}{"})
    EXPECT_EQ(files_named(plain), (Names{plain}));
  EXPECT_THROW(files_named("{1..100001}"), InvalidArgument);
  EXPECT_THROW(files_named("{1..400}{1..400}"), InvalidArgument);
  EXPECT_THROW(files_named("{0..9223372036854775807}"), InvalidArgument);
}

TEST(FileList, takes_the_name_of_a_file_that_is_there_as_it_is) {
  const test::Scratch folder;
  const std::string name = folder.write("b_{1..3}.mtx", "");
  EXPECT_EQ(files_named(name), (Names{name}));
}

/// Dense columns of a file.
std::string array_file(int rows, const std::vector<std::vector<std::string>>& columns) {
  std::string text =
      "%%MatrixMarket matrix array real general\n" + std::to_string(rows) + " " + std::to_string(columns.size()) + "\n";
  for (const auto& column : columns)
    for (const std::string& entry : column) text += entry + "\n";
  return text;
}

class ColumnsProgram : public test::Program {
 protected:
  nlohmann::json report(const std::string& folder = "out") {
    return test::json_file(folder_ / (folder + "/report.json"));
  }
  /// A case of diag(1, 2, 4); `more` are lines of it.
  void write_case(const std::string& more) {
    folder_.write("A.mtx", test::banner + "3 3 3\n1 1 1\n2 2 2\n3 3 4\n");
    folder_.write("case.yaml", "matrix: {file: A.mtx}\nsolver: {type: bicgstab}\noutput: {plot: false}\n" + more);
  }
};

class ColumnsPrecisions
    : public ColumnsProgram,
      public testing::WithParamInterface<std::tuple<krill::test::Backend, krill::test::ScalarKind>> {
 protected:
  void SetUp() override {
    if (std::get<0>(GetParam()) == krill::test::Backend::cuda && device::count() == 0)
      GTEST_SKIP() << device::absence();
    ColumnsProgram::SetUp();
  }
};

/// Scaled and reordered, so that each column goes there and back; in single precision b is rounded, and judged as
/// given.
TEST_P(ColumnsPrecisions, are_solved_and_judged_one_by_one) {
  folder_.write("case.yaml",
                "matrix: {generate: convection_diffusion2d, nx: 12}\nrhs: {type: random, columns: 3}\n"
                "solver: {type: gmres, stop: {relative: 1e-4}}\npreconditioner: {type: ilu0}\nordering: {type: rcm}\n"
                "scaling: {type: ruiz}\nverify: {reference: eigen}\noutput: {plot: false}\n");
  const auto& [backend, scalar] = GetParam();
  const std::string options =
      " --backend " + krill::test::name(backend) + " --set precision=" + krill::test::name(scalar);
  const Outcome o = krill("solve case.yaml --out out" + options);
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(contains(o.out, "3 right-hand sides, one after the other, with one set-up")) << o.out;
  EXPECT_TRUE(contains(o.out, "column 2 of 3: converged after")) << o.out;
  EXPECT_TRUE(contains(o.out, "3 of 3 converged; the worst is column")) << o.out;
  EXPECT_TRUE(contains(o.out, "3 of 3 columns pass")) << o.out;
  const auto r = report();
  EXPECT_EQ(r["systems"], nullptr);
  EXPECT_EQ(r["columns"]["count"], 3);
  EXPECT_EQ(r["columns"]["statuses"], nlohmann::json({{"converged", 3}}));
  ASSERT_EQ(r["columns"]["each"].size(), 3U);
  EXPECT_EQ(r["verification"]["verdict"], "PASS");
  EXPECT_EQ(r["verification"]["columns"].size(), 3U);
  int iterations = 0;
  double worst = 0;
  for (const auto& column : r["columns"]["each"]) {
    iterations += column["iterations"].get<int>();
    worst = std::max(worst, column["true_relative"].get<double>());
    EXPECT_GT(column["iterations"], 0);
    EXPECT_LE(column["true_relative"], column["target_relative"]);
  }
  EXPECT_EQ(r["iterations"], iterations);
  EXPECT_EQ(r["residual"]["true_relative"], worst);
  const auto x = krill::read_vector<std::complex<double>>(folder_ / "out/solution.mtx");
  EXPECT_EQ(x.rows, 144);
  ASSERT_EQ(x.cols, 3);
  // The first column by itself: the same bits.
  ASSERT_EQ(krill("solve case.yaml --out one --set rhs.columns=1" + options).code, 0);
  const auto one = krill::read_vector<std::complex<double>>(folder_ / "one/solution.mtx");
  EXPECT_TRUE(std::equal(one.values.begin(), one.values.end(), x.values.begin()));
  EXPECT_EQ(report("one")["columns"], nullptr);
}
INSTANTIATE_TEST_SUITE_P(, ColumnsPrecisions, krill::test::backends_and_scalars, krill::test::param_name);

TEST_F(ColumnsProgram, come_from_one_file_or_several) {
  write_case("rhs: {type: file, path: 'b_{1..2}.mtx'}\n");
  folder_.write("b_1.mtx", array_file(3, {{"1", "2", "4"}, {"2", "4", "8"}}));
  folder_.write("b_2.mtx", array_file(3, {{"3", "6", "12"}}));
  const Outcome o = krill("solve case.yaml --out out --set verify.reference=eigen");
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  const auto x = krill::read_vector<double>(folder_ / "out/solution.mtx");
  ASSERT_EQ(x.cols, 3);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(x.values[i], static_cast<double>(i / 3 + 1), 1e-7);
  std::istringstream lines(contents(folder_ / "out/columns.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "column,status,iterations,true_relative,target_relative,seconds");
  for (const char* begin : {"0,converged,", "1,converged,", "2,converged,"}) {
    std::getline(lines, line);
    EXPECT_TRUE(line.starts_with(begin)) << line;
  }
  EXPECT_TRUE(contents(folder_ / "out/residuals.csv").starts_with("column,iteration,relative_residual,seconds\n0,0,"));
  // The solutions as guesses, one for each.
  const Outcome again = krill("solve case.yaml --out again --set 'initial_guess={type: file, path: out/solution.mtx}'");
  EXPECT_EQ(again.code, 0) << again.out;
  EXPECT_EQ(report("again")["iterations"], 0);
  // An input may not be an output.
  std::filesystem::rename(folder_ / "b_2.mtx", folder_ / "out/solution.mtx");
  EXPECT_EQ(krill("solve case.yaml --out out --set 'rhs.path={b_1,out/solution}.mtx'").code, 2);
  EXPECT_TRUE(exists("out/solution.mtx"));
}

TEST_F(ColumnsProgram, that_are_not_finite_harm_no_other) {
  write_case("rhs: {type: file, path: b.mtx}\nverify: {reference: eigen}\n");
  folder_.write("b.mtx", array_file(3, {{"1", "2", "4"}, {"1", "nan", "1"}, {"2", "4", "8"}, {"inf", "0", "0"}}));
  const Outcome o = krill("solve case.yaml --out out");
  EXPECT_EQ(o.code, 1) << o.out << o.err;
  EXPECT_TRUE(contains(o.out, "2 of 4 converged; the worst is column 1")) << o.out;
  EXPECT_TRUE(contains(o.out, "column 1 of b has an entry that is not finite")) << o.out;
  EXPECT_TRUE(contains(o.out, "entry 1 of column 1 (both")) << o.out;
  const auto r = report();
  ASSERT_EQ(r["verification"]["columns"].size(), 2U);
  EXPECT_EQ(r["verification"]["columns"][1]["column"], 2);
  EXPECT_EQ(r["verification"]["columns"][1]["verdict"], "PASS");
  EXPECT_EQ(r["status"], "not_finite");
  EXPECT_EQ(r["columns"]["statuses"], nlohmann::json({{"converged", 2}, {"not_finite", 2}}));
  const auto x = krill::read_vector<double>(folder_ / "out/solution.mtx");
  ASSERT_EQ(x.cols, 4);
  for (const std::size_t i : {0, 1, 2}) EXPECT_NEAR(x.values[i], 1, 1e-7);
  for (const std::size_t i : {3, 4, 5}) EXPECT_EQ(x.values[i], 0);
  for (const std::size_t i : {6, 7, 8}) EXPECT_NEAR(x.values[i], 2, 1e-7);
}

TEST_F(ColumnsProgram, are_refused_with_what_to_do) {
  write_case("rhs: {type: file, path: 'b_{1..2}.mtx'}\n");
  folder_.write("b_1.mtx", array_file(3, {{"1", "2", "4"}}));
  const auto refusal = [&](const std::string& more = "") {
    const Outcome o = krill("solve case.yaml --out out " + more);
    EXPECT_EQ(o.code, 2) << o.out;
    EXPECT_FALSE(exists("out/report.json"));
    return o.err;
  };
  EXPECT_TRUE(contains(refusal(), "b_2.mtx: the file cannot be read"));
  folder_.write("b_2.mtx", array_file(2, {{"1", "2"}}));
  EXPECT_TRUE(contains(refusal(), "b_2.mtx has 2 entries, the matrix has 3 rows"));
  folder_.write("b_2.mtx", "%%MatrixMarket matrix array real general\n3 0\n");
  const std::string none = refusal();
  EXPECT_TRUE(contains(none, "b_2.mtx")) << none;
  folder_.write("b_2.mtx", "%%MatrixMarket matrix array complex general\n3 1\n1 1\n1 0\n1 0\n");
  const std::string complex = refusal();
  EXPECT_TRUE(contains(complex, "complex128")) << complex;
  folder_.write("b_2.mtx", array_file(3, {{"1", "2", "4"}}));
  folder_.write("x.mtx", array_file(3, {{"1", "2", "4"}, {"1", "2", "4"}, {"1", "2", "4"}}));
  const std::string guess = refusal("--set 'initial_guess={type: file, path: x.mtx}'");
  EXPECT_TRUE(contains(guess, "x.mtx has 3 columns; one, or one for each of the 2 right-hand sides is expected"));
  const Outcome batch = krill(
      "solve case.yaml --set 'matrix={generate: banded_batch}' --set solver=banded --set 'rhs={type: random, columns: "
      "2}'");
  EXPECT_EQ(batch.code, 2);
  EXPECT_TRUE(contains(batch.err, "rhs.columns is not used by a batch")) << batch.err;
}

TEST_F(ColumnsProgram, keep_a_failed_one_apart) {
  folder_.write("case.yaml",
                "matrix: {generate: poisson2d, nx: 30}\nrhs: {type: file, path: b.mtx}\n"
                "solver: {type: pcg, max_iterations: 5}\noutput: {plot: false}\n");
  std::string text = "%%MatrixMarket matrix array real general\n900 2\n";
  for (int i = 0; i < 900; ++i) text += "0\n";
  for (int i = 0; i < 900; ++i) text += "1\n";
  folder_.write("b.mtx", text);
  const Outcome o = krill("solve case.yaml --out out");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(contains(o.out, "column 1: after 5 iterations")) << o.out;
  const auto r = report();
  EXPECT_EQ(r["status"], "max_iterations");
  EXPECT_EQ(r["columns"]["each"][0]["status"], "converged");
  EXPECT_EQ(r["columns"]["worst"], 1);
}

/// A hundred columns take a few lines of the terminal, and all of the files.
TEST_F(ColumnsProgram, are_shown_as_far_as_there_is_room) {
  folder_.write("case.yaml",
                "matrix: {generate: poisson1d, nx: 50}\nrhs: {type: random, columns: 100}\n"
                "solver: {type: pcg, max_iterations: 3}\noutput: {plot: false}\n");
  const Outcome o = krill("solve case.yaml --out out");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(contains(o.out, "90 more did not converge (columns.csv)")) << o.out;
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  const std::string csv = contents(folder_ / "out/columns.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 101);
  EXPECT_EQ(report()["columns"]["each"].size(), 100U);
}

}  // namespace
}  // namespace krill::apps
