// Sequences: `krill solve` of steps with one pattern, their reports, what is refused, and what is kept where a run ends
// early.
#include <fmt/format.h>

#include <complex>
#include <sstream>

#include "apps/case/case_file.hpp"
#include "apps/case/effective.hpp"
#include "apps/case/steps.hpp"
#include "sparse/core/error.hpp"
#include "sparse/io/read.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/files.hpp"
#include "tests/support/backends.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::contents;
using test::Outcome;

/// Steps of the convection-diffusion matrix, a line of YAML.
const std::string moving_flow =
    "matrix: {generate: convection_diffusion2d, nx: 12}\n"
    "sequence: {type: parameter, parameter: peclet, from: 10, to: 40, steps: 4, reuse: always}\n"
    "solver: {type: bicgstab, stop: {relative: 1e-4}}\npreconditioner: ilu0\noutput: {plot: false}\n";

TEST(SequenceCase, goes_through_the_values_of_a_parameter) {
  const auto cases = [](const std::string& more) {
    return CaseSteps(parse_case(
        "matrix: {generate: convection_diffusion2d}\nsolver: pcg\nsequence: {type: parameter, " + more + "}\n",
        "case.yaml"));
  };
  const auto peclet = [](const CaseSteps& steps, std::size_t k) {
    return std::get<ConvectionDiffusion2dOptions>(std::get<GeneratorOptions>(steps.at(k).matrix)).peclet;
  };
  const CaseSteps even = cases("parameter: peclet, from: 1, to: 4, steps: 4");
  ASSERT_EQ(even.count(), 4U);
  for (const std::size_t k : {0, 1, 2, 3}) EXPECT_DOUBLE_EQ(peclet(even, k), static_cast<double>(k + 1));
  EXPECT_EQ(even.name(1), "peclet = 2");
  const CaseSteps ratio = cases("parameter: peclet, from: 1000, to: 1, steps: 4, spacing: geometric");
  for (const auto& [k, value] : {std::pair(0, 1000.0), std::pair(1, 100.0), std::pair(2, 10.0), std::pair(3, 1.0)})
    EXPECT_NEAR(peclet(ratio, static_cast<std::size_t>(k)), value, 1e-12 * value);
  const CaseSteps whole = cases("parameter: nx, from: 10, to: 30, steps: 3");
  EXPECT_EQ(std::get<ConvectionDiffusion2dOptions>(std::get<GeneratorOptions>(whole.at(1).matrix)).nx, 20);
  const CaseSteps listed = cases("parameter: peclet, values: [20, 3.5e1, 0.1, 20]");
  ASSERT_EQ(listed.count(), 4U);
  EXPECT_EQ(peclet(listed, 0), 20);
  EXPECT_EQ(peclet(listed, 1), 35);
  EXPECT_EQ(peclet(listed, 2), 0.1);
  EXPECT_EQ(peclet(listed, 3), 20);
  EXPECT_EQ(listed.name(1), "peclet = 35");
}

/// The effective case has one of the two ways to say values, so that it can be read again.
TEST(SequenceCase, of_values_is_written_and_read_again) {
  for (const std::string values : {"values: [20, 0.1, 1.0e-08]", "from: 1, to: 2, steps: 3"}) {
    const Case first = parse_case(
        "matrix: {generate: convection_diffusion2d}\nsolver: pcg\n"
        "sequence: {type: parameter, parameter: peclet, " +
            values + "}\n",
        "case.yaml");
    const std::string text = effective_yaml(first);
    EXPECT_EQ(contains(text, "  values: [20, 0.1, 1.0e-08]\n"), values.starts_with("values")) << text;
    EXPECT_EQ(contains(text, "  from: "), values.starts_with("from")) << text;
    EXPECT_EQ(effective_yaml(parse_case(text, "case.yaml")), text);
  }
}

TEST(SequenceCase, of_a_variant_keeps_its_list_of_values) {
  const std::string text =
      "matrix: {generate: convection_diffusion2d}\nsolver: pcg\nvariants:\n"
      "  far: {sequence: {type: parameter, parameter: peclet, values: [20, 800, 3]}}\n";
  const test::Scratch folder;
  const LoadedCase loaded = load_case_file(folder.write("case.yaml", text), {}, {.variant = "far"});
  EXPECT_EQ(CaseSteps(loaded.settings).count(), 3U);
}

TEST(SequenceCase, is_refused_with_what_to_do) {
  const auto refusal = [](const std::string& sequence, const std::string& more = "") {
    try {
      parse_case(
          "matrix: {generate: convection_diffusion2d}\nsolver: bicgstab\n" + more + "\nsequence: " + sequence + "\n",
          "case.yaml");
      return std::string();
    } catch (const CaseError& error) {
      return std::string(error.what());
    }
  };
  const std::string parameter = "{type: parameter, parameter: ";
  EXPECT_EQ(refusal(parameter + "peclet, from: 1, to: 2}"), "");
  EXPECT_EQ(refusal(parameter + "pecle}"),
            "case.yaml:4:40: sequence.parameter is pecle, expected a number of convection_diffusion2d: nx, ny or "
            "peclet; did you mean 'peclet'?");
  EXPECT_TRUE(contains(refusal("parameter"), "sequence.parameter is missing, expected a number of"));
  const std::string no_values =
      "case.yaml:4:11: sequence does not say the values of peclet; expected from and to, or a list: values: [1, 2, 5]";
  for (const char* one : {"peclet}", "peclet, from: 1}", "peclet, to: 2, steps: 5}"})
    EXPECT_EQ(refusal(parameter + one), no_values) << one;
  EXPECT_EQ(refusal(parameter + "peclet, values: [1, 2]}"), "");
  const std::string list = "expected a list of 2 to 100000 numbers";
  EXPECT_EQ(refusal(parameter + "peclet, values: []}"), "case.yaml:4:56: sequence.values is an empty list, " + list);
  EXPECT_TRUE(contains(refusal(parameter + "peclet, values: [3]}"), "sequence.values has 1 number, " + list));
  EXPECT_TRUE(contains(refusal(parameter + "peclet, values: 3}"), "sequence.values is 3, " + list));
  for (const char* bad : {".nan", ".inf", "-.inf", "nan", "inf", "twenty", "~", "[1, 2]", "1e999"})
    EXPECT_TRUE(contains(refusal(fmt::format("{}peclet, values: [1, {}]}}", parameter, bad)),
                         "number 2 of sequence.values is "))
        << refusal(fmt::format("{}peclet, values: [1, {}]}}", parameter, bad));
  for (const char* both : {"from: 1", "to: 1", "steps: 5", "spacing: linear"}) {
    const std::string key(both, std::string_view(both).find(':'));
    EXPECT_TRUE(contains(refusal(fmt::format("{}peclet, values: [1, 2], {}}}", parameter, both)),
                         "sequence." + key + " is not used with sequence.values; keep one of them"))
        << both;
  }
  EXPECT_EQ(refusal(parameter + "peclet, values: [1, -2]}"),
            "case.yaml:4:56: step 2 of sequence would have peclet = -2, expected a number of at least 0");
  EXPECT_TRUE(contains(refusal(parameter + "nx, values: [10, 12.5]}"),
                       "step 2 of sequence would have nx = 12.5, expected an integer"));
  EXPECT_TRUE(contains(refusal(parameter + "scheme}"), "sequence.parameter is scheme, expected a number"));
  EXPECT_TRUE(contains(refusal(parameter + "peclet, from: 1, to: -1}"),
                       "step 6 of sequence would have peclet = -0.111111, expected a number of at least 0"))
      << refusal(parameter + "peclet, from: 1, to: -1}");
  EXPECT_TRUE(contains(refusal(parameter + "nx, from: 1, to: 2, steps: 3}"),
                       "step 2 of sequence would have nx = 1.5, expected an integer"));
  EXPECT_TRUE(contains(refusal(parameter + "peclet, from: 0, to: 1, spacing: geometric}"), "neither 0"));
  EXPECT_TRUE(
      contains(refusal(parameter + "peclet, factor: 0.5}"), "sequence.factor is 0.5, expected a number of at "));
  EXPECT_TRUE(
      contains(refusal(parameter + "peclet, values: [1, 2]}", "format: sell"), "format is sell, expected csr or auto"));
  EXPECT_EQ(refusal(parameter + "peclet, values: [1, 2]}", "on_failure: ladder"), "");
  EXPECT_TRUE(contains(refusal("{type: files, from: 3}"), "\"from\" is not used by sequence with type files"));
  EXPECT_THROW(parse_case("matrix: {file: a.mtx}\nsolver: pcg\nsequence: {type: parameter, parameter: nx}\n", "c.yaml"),
               CaseError);
  EXPECT_THROW(parse_case("matrix: {generate: banded_batch}\nsolver: banded\nsequence: files\n", "c.yaml"), CaseError);
}

TEST(SequenceCase, of_files_needs_as_many_of_each) {
  const auto steps = [](const std::string& matrix, const std::string& rhs) {
    return CaseSteps(parse_case(fmt::format("matrix: {{file: '{}'}}\nrhs: {{type: file, path: '{}'}}\nsolver: pcg\n"
                                            "sequence: files\n",
                                            matrix, rhs),
                                "case.yaml"));
  };
  const CaseSteps both = steps("A_{1..3}.mtx", "b_{1..3}.mtx");
  EXPECT_EQ(both.count(), 3U);
  EXPECT_EQ(std::get<MatrixFile>(both.at(2).matrix).file, "A_3.mtx");
  EXPECT_EQ(std::get<FileRhs>(both.at(2).rhs).path, "b_3.mtx");
  EXPECT_EQ(both.name(0), "A_1.mtx");
  EXPECT_EQ(std::get<FileRhs>(steps("A_{1..3}.mtx", "b.mtx").at(2).rhs).path, "b.mtx");
  const CaseSteps rhs = steps("A.mtx", "b_{1..2}.mtx");
  EXPECT_EQ(std::get<MatrixFile>(rhs.at(1).matrix).file, "A.mtx");
  EXPECT_EQ(rhs.name(1), "b_2.mtx");
  EXPECT_THROW(steps("A_{1..3}.mtx", "b_{1..2}.mtx"), InvalidArgument);
  EXPECT_THROW(steps("A.mtx", "b.mtx"), InvalidArgument);
}

class SequenceProgramTest : public test::Program {
 protected:
  nlohmann::json report(const std::string& folder = "out") {
    return test::json_file(folder_ / (folder + "/report.json"));
  }
  std::vector<double> solution(const std::string& file) { return krill::read_vector<double>(folder_ / file).values; }
  /// A_1.mtx, A_2.mtx, ... of the flow.
  void write_matrices(int count) {
    for (int k = 1; k <= count; ++k)
      ASSERT_EQ(krill(fmt::format("generate convection_diffusion2d nx=12 peclet={0}0 -o A_{0}.mtx", k)).code, 0);
  }
  void write_files_case(const std::string& files, const std::string& more = "") {
    folder_.write("case.yaml", "matrix: {file: '" + files + "'}\nsequence: {type: files}\n" +
                                   "solver: {type: bicgstab}\npreconditioner: ilu0\noutput: {plot: false}\n" + more);
  }
};

class SequenceOnBackend : public SequenceProgramTest, public testing::WithParamInterface<krill::test::Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == krill::test::Backend::cuda && device::count() == 0) GTEST_SKIP() << device::absence();
    SequenceProgramTest::SetUp();
  }
  Outcome solve(const std::string& arguments) {
    return krill("solve " + arguments + " --backend " + krill::test::name(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(, SequenceOnBackend, krill::test::backends, krill::test::param_name);

class SequencePrecisions
    : public SequenceProgramTest,
      public testing::WithParamInterface<std::tuple<krill::test::Backend, krill::test::ScalarKind>> {
 protected:
  void SetUp() override {
    if (std::get<0>(GetParam()) == krill::test::Backend::cuda && device::count() == 0)
      GTEST_SKIP() << device::absence();
    SequenceProgramTest::SetUp();
  }
};

/// Scaled and reordered; in single precision values are rounded, and judged as given.
TEST_P(SequencePrecisions, steps_are_solved_and_judged_one_by_one) {
  folder_.write("case.yaml", moving_flow +
                                 "rhs: {type: random, columns: 2}\nordering: rcm\nscaling: symmetric\n"
                                 "verify: {reference: eigen}\n");
  const auto& [backend, scalar] = GetParam();
  const Outcome o = krill("solve case.yaml --out out --backend " + krill::test::name(backend) +
                          " --set precision=" + krill::test::name(scalar));
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(contains(o.out, "case, 4 steps\n")) << o.out;
  EXPECT_TRUE(contains(o.out, "step 3 of 4 (peclet = 30): converged after")) << o.out;
  EXPECT_TRUE(contains(o.out, "converged: 4 of 4 steps, ")) << o.out;
  EXPECT_TRUE(contains(o.out, "4 of 4 steps pass")) << o.out;
  const auto r = report();
  EXPECT_EQ(r["status"], "converged");
  EXPECT_EQ(r["verification"]["verdict"], "PASS");
  EXPECT_EQ(r["steps"]["count"], 4);
  EXPECT_EQ(r["steps"]["statuses"], nlohmann::json({{"converged", 4}}));
  EXPECT_EQ(r["steps"]["preconditioners_made"], 1);
  EXPECT_EQ(r["matrix"]["rows"], 144);
  ASSERT_EQ(r["steps"]["each"].size(), 4U);
  int iterations = 0;
  double worst = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const auto& step = r["steps"]["each"][k];
    EXPECT_EQ(step["step"], k + 1);
    EXPECT_EQ(step["made_anew"], k == 0);
    EXPECT_EQ(step["verdict"], "PASS");
    EXPECT_LE(step["true_relative"], step["target_relative"]);
    EXPECT_EQ(step["preconditioner_ms"] == 0, k > 0);
    iterations += step["iterations"].get<int>();
    worst = std::max(worst, step["true_relative"].get<double>());
    const auto x = krill::read_vector<std::complex<double>>(folder_ / fmt::format("out/solution_{}.mtx", k + 1));
    EXPECT_EQ(x.rows, 144);
    EXPECT_EQ(x.cols, 2);
  }
  EXPECT_EQ(r["iterations"], iterations);
  EXPECT_EQ(r["residual"]["true_relative"], worst);
  std::istringstream lines(contents(folder_ / "out/steps.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            "step,name,status,iterations,true_relative,target_relative,preconditioner,read_ms,setup_ms,"
            "preconditioner_ms,solve_ms");
  for (const char* begin : {"1,peclet = 10,converged,", "2,peclet = 20,converged,", "3,peclet = 30,converged,"}) {
    std::getline(lines, line);
    EXPECT_TRUE(line.starts_with(begin)) << line;
  }
}
INSTANTIATE_TEST_SUITE_P(, SequencePrecisions, krill::test::backends_and_scalars, krill::test::param_name);

TEST_P(SequenceOnBackend, without_anything_left_by_earlier_steps_has_the_bits_of_single_solves) {
  folder_.write("case.yaml", moving_flow);
  ASSERT_EQ(solve("case.yaml --out all --set sequence.reuse=never --set sequence.guess=initial").code, 0);
  ASSERT_EQ(solve("case.yaml --out one --set sequence=none --set matrix.peclet=30").code, 0);
  EXPECT_EQ(solution("all/solution_3.mtx"), solution("one/solution.mtx"));
  const auto steps = report("all")["steps"]["each"];
  for (const auto& step : steps) EXPECT_EQ(step["made_anew"], true);
  EXPECT_EQ(report("one")["steps"], nullptr);
  // With the solution before as the guess a step has less to do.
  ASSERT_EQ(solve("case.yaml --out next --set sequence.reuse=never --set sequence.to=10.1").code, 0);
  const auto each = report("next")["steps"]["each"];
  EXPECT_LT(each[3]["iterations"], each[0]["iterations"]);
}

TEST_P(SequenceOnBackend, files_and_members_of_an_archive_are_the_same) {
  write_matrices(3);
  std::vector<std::pair<std::string, std::string>> members;
  for (int k = 1; k <= 3; ++k) {
    const std::string name = fmt::format("A_{}.mtx", k);
    std::string b = "%%MatrixMarket matrix array real general\n144 1\n";
    for (int i = 0; i < 144; ++i) b += fmt::format("{}\n", (i * k) % 7 + 1);
    folder_.write(fmt::format("b_{}.mtx", k), b);
    members.emplace_back(fmt::format("A_{}_b.mtx", k), b);
    members.emplace_back(name, contents(folder_ / name));
  }
  krill::test::pack_tar(folder_ / "steps.tar.gz", krill::test::Packing::gzip, members);
  write_files_case("A_{1..3}.mtx");
  const Outcome files = solve("case.yaml --out files --set 'rhs={type: file, path: \"b_{1..3}.mtx\"}'");
  ASSERT_EQ(files.code, 0) << files.out << files.err;
  const Outcome archive = solve("case.yaml --out archive --set matrix=steps.tar.gz --set 'rhs={type: file}'");
  ASSERT_EQ(archive.code, 0) << archive.out << archive.err;
  EXPECT_TRUE(contains(archive.out, "step 2 of 3 (A_2.mtx): converged")) << archive.out;
  for (const int k : {1, 2, 3})
    EXPECT_EQ(solution(fmt::format("files/solution_{}.mtx", k)), solution(fmt::format("archive/solution_{}.mtx", k)));
  // One matrix, and right-hand sides that follow each other: one set-up.
  const Outcome rhs =
      solve("case.yaml --out rhs --set matrix=A_1.mtx --set 'rhs={type: file, path: \"b_{1..3}.mtx\"}'");
  ASSERT_EQ(rhs.code, 0) << rhs.out << rhs.err;
  EXPECT_EQ(report("rhs")["steps"]["preconditioners_made"], 1);
  EXPECT_TRUE(contains(rhs.out, "preconditioner kept (the same matrix)")) << rhs.out;
  // One member by its name.
  const Outcome one = solve("'steps.tar.gz(A_2.mtx)' --out one");
  EXPECT_EQ(one.code, 0) << one.err;
}

TEST_P(SequenceOnBackend, steps_that_cannot_be_solved_harm_no_other) {
  write_matrices(5);
  ASSERT_EQ(krill("generate poisson2d nx=12 stencil=9 -o A_3.mtx").code, 0);
  std::string nan = contents(folder_ / "A_4.mtx");
  const auto last = nan.find_last_of(' ');
  folder_.write("A_4.mtx", nan.substr(0, last) + " nan\n");
  write_files_case("A_{1..5}.mtx");
  const Outcome o = solve("case.yaml --out out");
  EXPECT_EQ(o.code, 1) << o.out << o.err;
  EXPECT_TRUE(contains(o.out, "step 3 of 5 (A_3.mtx): refused: ")) << o.out;
  EXPECT_TRUE(contains(o.out, "refused: 3 of 5 steps, ")) << o.out;
  const auto r = report();
  EXPECT_EQ(r["status"], "refused");
  EXPECT_EQ(r["steps"]["worst"], 3);
  EXPECT_EQ(r["steps"]["statuses"], nlohmann::json({{"converged", 3}, {"refused", 2}}));
  const std::string pattern = r["steps"]["each"][2]["why"], values = r["steps"]["each"][3]["why"];
  EXPECT_TRUE(contains(pattern, "stand in other places than those of step 1 (A_1.mtx)")) << pattern;
  EXPECT_TRUE(contains(values, "A_4.mtx") && contains(values, "nan")) << values;
  for (const char* there : {"out/solution_1.mtx", "out/solution_2.mtx", "out/solution_5.mtx"})
    EXPECT_TRUE(exists(there));
  EXPECT_FALSE(exists("out/solution_3.mtx"));
  EXPECT_TRUE(contains(contents(folder_ / "out/steps.csv"), "\n3,A_3.mtx,refused,,,,,,,,\n"));
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  // Mended, the others are not solved again.
  write_matrices(5);
  const Outcome mended = solve("case.yaml --out out");
  EXPECT_EQ(mended.code, 0) << mended.out << mended.err;
  EXPECT_TRUE(contains(mended.out, "3 finished before")) << mended.out;
  EXPECT_EQ(report()["steps"]["from_journal"], 3);
}

TEST_P(SequenceOnBackend, a_first_step_that_fails_is_told_before_the_rest) {
  folder_.write("case.yaml", moving_flow + "name: flow\n");
  const Outcome o = solve("case.yaml --set solver.max_iterations=1 --set sequence.reuse=never");
  EXPECT_EQ(o.code, 1);
  const auto why = o.out.find("why: after 1 iterations"), next = o.out.find("step 2 of 4");
  ASSERT_NE(why, std::string::npos) << o.out;
  EXPECT_LT(why, next);
  EXPECT_LT(o.out.find("the other steps follow; Ctrl-C ends them"), next);
  const auto r = report("out/flow");
  EXPECT_EQ(r["status"], "max_iterations");
  EXPECT_TRUE(contains(r["why"], "step 1 (peclet = 10): after 1 iterations")) << r["why"];
  EXPECT_TRUE(contains(o.out, "Or set on_failure: ladder")) << o.out;
  const Outcome quiet = solve("case.yaml --quiet --fresh --set solver.max_iterations=1");
  EXPECT_TRUE(contains(quiet.err, "krill: step 1 of 4 (peclet = 10): max_iterations")) << quiet.err;
}

TEST_F(SequenceProgramTest, a_missing_file_is_told_before_anything_runs) {
  write_matrices(2);
  write_files_case("A_{1..3}.mtx");
  const Outcome o = krill("solve case.yaml --out out");
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(contains(o.err, "A_3.mtx: cannot be read: No such file")) << o.err;
  EXPECT_FALSE(exists("out"));
}

TEST_F(SequenceProgramTest, of_which_no_step_can_begin_is_refused_as_a_case_is) {
  folder_.write("case.yaml", moving_flow);
  const Outcome o = krill("solve case.yaml --out out --set 'solver={type: pcg}'");
  EXPECT_EQ(o.code, 2) << o.out;
  EXPECT_TRUE(contains(o.err, "pcg")) << o.err;
  EXPECT_FALSE(exists("out/report.json"));
  folder_.write("one.yaml", "matrix: {file: A.mtx}\nsolver: pcg\nsequence: files\n");
  const Outcome one = krill("solve one.yaml");
  EXPECT_EQ(one.code, 2);
  EXPECT_TRUE(contains(one.err, "neither matrix.file nor rhs.path names several files")) << one.err;
  const Outcome evaluated = krill("evaluate case.yaml");
  EXPECT_EQ(evaluated.code, 2);
  EXPECT_TRUE(contains(evaluated.err, "case.yaml:2:11: sequence is of krill solve")) << evaluated.err;
}

TEST_P(SequenceOnBackend, finished_steps_are_not_solved_again) {
  write_matrices(4);
  write_files_case("A_{1..4}.mtx");
  ASSERT_EQ(solve("case.yaml --out out").code, 0);
  const auto first = report();
  const Outcome again = solve("case.yaml --out out");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "4 finished before, from out/steps.jsonl")) << again.out;
  const auto second = report();
  EXPECT_EQ(second["matrix"], nullptr);
  EXPECT_EQ(second["iterations"], first["iterations"]);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(second["steps"]["each"][k]["from_journal"], true);
    EXPECT_EQ(second["steps"]["each"][k]["true_relative"], first["steps"]["each"][k]["true_relative"]);
    EXPECT_EQ(second["steps"]["each"][k]["solve_ms"], first["steps"]["each"][k]["solve_ms"]);
  }
  EXPECT_TRUE(exists("out/solution_4.mtx"));
  // Another matrix, a solution that is gone: these steps alone. Other options: all.
  ASSERT_EQ(krill("generate convection_diffusion2d nx=12 peclet=35 -o A_3.mtx").code, 0);
  std::filesystem::remove(folder_ / "out/solution_1.mtx");
  EXPECT_TRUE(contains(solve("case.yaml --out out").out, "2 finished before"));
  EXPECT_TRUE(exists("out/solution_1.mtx"));
  EXPECT_EQ(report()["steps"]["each"][2]["from_journal"], false);
  EXPECT_FALSE(contains(solve("case.yaml --out out --set sequence.reuse=never").out, "finished before"));
  EXPECT_FALSE(contains(solve("case.yaml --out out --fresh").out, "finished before"));
  // What is not this sequence's goes.
  EXPECT_EQ(solve("case.yaml --out out --set matrix.file='A_{1..2}.mtx'").code, 0);
  EXPECT_FALSE(exists("out/solution_4.mtx"));
  EXPECT_TRUE(exists("out/solution_2.mtx"));
}

TEST_P(SequenceOnBackend, another_value_is_the_only_one_that_is_solved_again) {
  folder_.write("case.yaml", moving_flow);
  const auto redone = [&](const std::string& values) {
    const Outcome o =
        solve("case.yaml --out out --set 'sequence={type: parameter, parameter: peclet, values: " + values + "}'");
    EXPECT_EQ(o.code, 0) << o.out << o.err;
    std::string marks;
    const auto r = report();
    for (const auto& step : r["steps"]["each"]) marks += step["from_journal"] == false ? 'x' : '.';
    return marks;
  };
  EXPECT_EQ(redone("[20, 35, 80]"), "xxx");
  EXPECT_EQ(redone("[20, 35, 80]"), "...");
  EXPECT_EQ(redone("[20, 40, 80]"), ".x.");
  EXPECT_EQ(report()["steps"]["each"][1]["name"], "peclet = 40");
  EXPECT_EQ(redone("[20, 40, 20]"), "..x") << "a value that comes again is a step of its own";
  EXPECT_EQ(redone("[20, 40, 20]"), "...");
  // The same values, said in the other way.
  const Outcome o = solve(
      "case.yaml --out out --set sequence.reuse=slower --set sequence.from=20 "
      "--set sequence.to=40 --set sequence.steps=2");
  EXPECT_TRUE(contains(o.out, "2 finished before")) << o.out << o.err;
  const Outcome both = solve("case.yaml --set 'sequence.values=[1, 2]'");
  EXPECT_EQ(both.code, 2);
  EXPECT_TRUE(contains(both.err, "case.yaml:2:54: sequence.from is not used with sequence.values")) << both.err;
}

/// Each attempt and its reason; what solved a step is where the next ones begin.
TEST_P(SequenceOnBackend, a_step_that_fails_climbs_the_ladder) {
  folder_.write("case.yaml", moving_flow + "on_failure: ladder\nverify: {reference: eigen}\n");
  const std::string weak = "case.yaml --out out --set solver.max_iterations=3 --set preconditioner=none";
  const Outcome o = solve(weak);
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  const auto steps = report()["steps"]["each"];
  const auto& attempts = steps[0]["attempts"];
  ASSERT_GE(attempts.size(), 2U);
  EXPECT_EQ(attempts.front()["why"], "the first method");
  EXPECT_EQ(attempts.front()["status"], "max_iterations");
  EXPECT_EQ(attempts.back()["status"], "converged");
  EXPECT_EQ(steps[0]["method"], attempts.back()["method"]);
  EXPECT_EQ(steps[0]["setup_why"], fmt::format("attempt {} of the ladder", attempts.size()));
  for (std::size_t k = 1; k < 4; ++k) {
    EXPECT_EQ(steps[k]["attempts"][0]["method"], steps[k - 1]["method"]);
    EXPECT_EQ(steps[k]["verdict"], "PASS");
  }
  EXPECT_TRUE(report()["attempts"].empty());
  EXPECT_TRUE(contains(o.out, "    1. the first method (bicgstab): max_iterations at ")) << o.out;
  EXPECT_TRUE(contains(o.out, fmt::format("converged, attempt {}", attempts.size()))) << o.out;
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  // All of it is in the journal.
  ASSERT_EQ(solve(weak).code, 0);
  EXPECT_EQ(report()["steps"]["each"][0]["attempts"], attempts);
  EXPECT_EQ(report()["steps"]["each"][0]["method"], steps[0]["method"]);
  // Without a ladder all fail.
  EXPECT_EQ(solve(weak + " --set on_failure=stop").code, 1);
  EXPECT_EQ(report()["steps"]["statuses"], nlohmann::json({{"max_iterations", 4}}));
  EXPECT_TRUE(report()["steps"]["each"][0]["attempts"].empty());
}

TEST_P(SequenceOnBackend, auto_climbs_unless_the_case_forbids_it) {
  folder_.write("case.yaml", moving_flow);
  const std::string weak =
      "case.yaml --out out --set preconditioner=none --set 'solver={type: auto, max_iterations: 3}'";
  const Outcome o = solve(weak);
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_GE(report()["steps"]["each"][0]["attempts"].size(), 2U);
  EXPECT_EQ(solve(weak + " --set on_failure=stop").code, 1);
}

/// pcg, which the ladder finds for the symmetric matrix of the first step, is not for the others.
TEST_P(SequenceOnBackend, a_method_that_a_matrix_does_not_allow_gives_way_to_the_first_one) {
  folder_.write("case.yaml", moving_flow + "on_failure: ladder\n");
  const Outcome o = solve(
      "case.yaml --out out --set solver.max_iterations=8 --set preconditioner=none "
      "--set 'sequence={type: parameter, parameter: peclet, values: [0, 20, 40]}'");
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  const auto steps = report()["steps"]["each"];
  EXPECT_TRUE(contains(steps[0]["method"], "pcg")) << steps[0];
  EXPECT_TRUE(contains(steps[1]["attempts"][0]["method"], "bicgstab")) << steps[1];
}

TEST_F(SequenceProgramTest, interrupted_or_killed_it_goes_on_where_it_was) {
  const std::string long_flow =
      "name: flow\nmatrix: {generate: convection_diffusion2d, nx: 150}\n"
      "sequence: {type: parameter, parameter: peclet, from: 10, to: 400, steps: 40, reuse: never}\n"
      "solver: {type: bicgstab}\npreconditioner: ilu0\nbackend: host\nthreads: 1\noutput: {plot: false}\n";
  folder_.write("case.yaml", long_flow);
  const pid_t child = start("solve case.yaml");
  await_lines("out/flow/steps.jsonl", 2);
  kill(child, SIGINT);
  EXPECT_EQ(end_of(child), 1) << contents(outputs_ / "stderr");
  const auto r = report("out/flow");
  EXPECT_EQ(r["status"], "interrupted");
  EXPECT_TRUE(contains(r["remedy"], "The same command goes on from here"));
  const std::size_t finished = count_lines("out/flow/steps.jsonl");
  EXPECT_GE(finished, 2U);
  EXPECT_LT(finished, 40U);
  EXPECT_EQ(r["steps"]["statuses"]["converged"], finished);
  const pid_t killed = start("solve case.yaml");
  await_lines("out/flow/steps.jsonl", finished + 2);
  kill(killed, SIGKILL);
  end_of(killed);
  const Outcome o = krill("solve case.yaml");
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(contains(o.out, "finished before, from out/flow/steps.jsonl")) << o.out;
  EXPECT_FALSE(contains(o.out, "step 1 of 40")) << o.out;
  EXPECT_EQ(report("out/flow")["steps"]["statuses"], nlohmann::json({{"converged", 40}}));
  for (const char* there : {"out/flow/solution_01.mtx", "out/flow/solution_40.mtx"}) EXPECT_TRUE(exists(there));
}

TEST_F(SequenceProgramTest, one_run_at_a_time_writes_a_folder) {
  folder_.write("case.yaml",
                "name: flow\nmatrix: {generate: convection_diffusion2d, nx: 300}\n"
                "sequence: {type: parameter, parameter: peclet, from: 10, to: 400, steps: 400}\n"
                "solver: {type: bicgstab}\nbackend: host\nthreads: 1\n");
  const pid_t child = start("solve case.yaml");
  await_lines("out/flow/steps.jsonl", 1);
  const Outcome second = krill("solve case.yaml");
  EXPECT_EQ(second.code, 2);
  EXPECT_TRUE(contains(second.err, "another krill is writing here")) << second.err;
  kill(child, SIGKILL);
  end_of(child);
}

TEST_P(SequenceOnBackend, writes_the_solutions_that_are_asked_for) {
  folder_.write("case.yaml", moving_flow);
  ASSERT_EQ(solve("case.yaml --out all").code, 0);
  ASSERT_EQ(solve("case.yaml --out last --set sequence.solutions=last").code, 0);
  EXPECT_EQ(test::names_in(folder_ / "last"),
            (std::vector<std::string>{"report.json", "solution.mtx", "steps.csv", "steps.jsonl"}));
  EXPECT_EQ(solution("last/solution.mtx"), solution("all/solution_4.mtx"));
  ASSERT_EQ(solve("case.yaml --out none --set output.solution=false").code, 0);
  EXPECT_EQ(test::names_in(folder_ / "none"), (std::vector<std::string>{"report.json", "steps.csv", "steps.jsonl"}));
  // All finished: what is there stays.
  ASSERT_EQ(solve("case.yaml --out last --set sequence.solutions=last").code, 0);
  EXPECT_TRUE(exists("last/solution.mtx"));
}

TEST_F(SequenceProgramTest, is_drawn_and_planned) {
  folder_.write("case.yaml", moving_flow);
  ASSERT_EQ(krill("solve case.yaml --out out --set output.plot=true").code, 0);
  if (std::system("command -v gnuplot >/dev/null 2>&1") == 0) {
    const std::string svg = contents(folder_ / "out/steps.svg");
    for (const char* word : {"iterations", "milliseconds", "preconditioner made", "set-up"})
      EXPECT_TRUE(contains(svg, word)) << word;
  } else {
    EXPECT_TRUE(contains(report()["notes"].dump(), "gnuplot is not installed"));
  }
  const Outcome plan = krill("solve case.yaml --plan");
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_TRUE(contains(plan.out, "the first of 4 steps")) << plan.out;
  EXPECT_TRUE(contains(plan.out, "next step")) << plan.out;
  EXPECT_FALSE(contains(plan.out, "matrix as given")) << plan.out;
  const Outcome ladder = krill("solve case.yaml --plan --backend host --set on_failure=ladder");
  EXPECT_TRUE(contains(ladder.out, "matrix as given")) << ladder.out;
  const auto json = nlohmann::json::parse(krill("solve case.yaml --plan --json").out);
  EXPECT_EQ(json["steps"], 4);
  const auto one = nlohmann::json::parse(krill("solve case.yaml --plan --json --set sequence=none").out);
  EXPECT_GT(json["peak_bytes"], one["peak_bytes"]);
  EXPECT_EQ(krill("verify case.yaml --out verified --quiet").code, 0) << "of the first step";
}

}  // namespace
}  // namespace krill::apps
