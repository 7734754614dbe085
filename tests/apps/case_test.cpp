// What a case may say, and what comes of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "apps/case/effective.hpp"
#include "apps/evaluate/sweep.hpp"
#include "tests/apps/cases.hpp"

namespace krill::apps {
namespace {

using test::good_case;
using test::minimal_case;
using test::shipped_cases;
using test::shipped_sweep;

Case parsed(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_case(text, "case.yaml", overrides);
}

TEST(Case, what_is_left_out_has_the_structs_defaults) {
  const Case c = parsed(minimal_case);
  EXPECT_EQ(c.name, "case");
  Case defaults;
  defaults.name = "case";
  defaults.matrix = GeneratorOptions(Poisson1dOptions());
  EXPECT_EQ(effective_json(c), effective_json(defaults));
}

TEST(Case, every_key_arrives_in_its_member) {
  const Case c = parsed(
      "name: all of it\n"
      "matrix: {generate: random_spd, rows: 7, row_entries: 3, shift: 0.5, seed: 9}\n"
      "rhs: {type: manufactured, seed: 4}\n"
      "initial_guess: {type: random, seed: 5}\n"
      "backend: host\nthreads: 3\nprecision: complex64\nformat: coo\nassume: spd\n"
      "solver:\n"
      "  type: pcg\n"
      "  max_iterations: 11\n"
      "  stop: {relative: 1e-3, baseline: initial_residual, absolute: 0.5, time_limit: 9, divergence: 2, stagnation: "
      "7}\n"
      "preconditioner: {type: jacobi}\n"
      "verify: {reference: eigen, tolerance: 1e-4}\n"
      "output: {solution: false, history: False, plot: FALSE}\n");
  EXPECT_EQ(c.name, "all of it");
  const auto& matrix = std::get<RandomSpdOptions>(std::get<GeneratorOptions>(c.matrix));
  EXPECT_EQ(matrix.rows, 7);
  EXPECT_EQ(matrix.row_entries, 3);
  EXPECT_EQ(matrix.shift, 0.5);
  EXPECT_EQ(matrix.seed, 9);
  EXPECT_EQ(std::get<ManufacturedRhs>(c.rhs).seed, 4);
  EXPECT_EQ(std::get<RandomGuess>(c.initial_guess).seed, 5);
  EXPECT_EQ(c.backend, Backend::host);
  EXPECT_EQ(c.threads, 3);
  EXPECT_EQ(c.precision, Precision::complex64);
  EXPECT_EQ(c.format, Format::coo);
  EXPECT_EQ(c.assume, Assume::spd);
  const auto& solver = std::get<PcgOptions>(c.solver);
  EXPECT_EQ(solver.max_iterations, 11);
  EXPECT_EQ(solver.stop.relative, 1e-3);
  EXPECT_EQ(solver.stop.baseline, Baseline::initial_residual);
  EXPECT_EQ(solver.stop.absolute, 0.5);
  EXPECT_EQ(solver.stop.time_limit, 9);
  EXPECT_EQ(solver.stop.divergence, 2);
  EXPECT_EQ(solver.stop.stagnation, 7);
  EXPECT_TRUE(std::holds_alternative<JacobiOptions>(c.preconditioner));
  EXPECT_EQ(c.verify.reference, Reference::eigen);
  EXPECT_EQ(c.verify.tolerance, 1e-4);
  EXPECT_FALSE(c.output.solution || c.output.history || c.output.plot);
}

TEST(Case, numbers_are_read_as_yaml_and_json_write_them) {
  const auto relative = [](const std::string& text) {
    return stop(parsed("matrix: {generate: poisson1d}\nsolver: {type: pcg, stop: {relative: " + text + "}}\n").solver)
        .relative;
  };
  EXPECT_EQ(relative("1e-8"), 1e-8);
  EXPECT_EQ(relative("1E-8"), 1e-8);
  EXPECT_EQ(relative("+1.e-8"), 1e-8);
  EXPECT_EQ(relative(".5"), 0.5);
  EXPECT_EQ(relative("0"), 0);
  EXPECT_EQ(relative("4.9406564584124654e-324"), 4.9406564584124654e-324);
  const auto iterations = [](const std::string& text) {
    return max_iterations(
        parsed("matrix: {generate: poisson1d}\nsolver: {type: pcg, max_iterations: " + text + "}\n").solver);
  };
  EXPECT_EQ(iterations("1e3"), 1000);
  EXPECT_EQ(iterations("12.0"), 12);
  EXPECT_EQ(iterations("2147483647"), 2147483647);
}

TEST(Case, anchors_aliases_and_merge_keys_work) {
  const Case c = parsed(
      "solver: &solver {type: gmres, restart: 7, stop: &stop {relative: 1e-3}}\n"
      "matrix: {generate: poisson1d, nx: &seed 12}\n"
      "rhs: {<<: [{type: random, seed: 3}, {seed: 5}], seed: *seed}\n"
      "initial_guess: {<<: [{type: random}, {type: zero, seed: 8}]}\n");
  EXPECT_EQ(std::get<RandomRhs>(c.rhs).seed, 12);
  EXPECT_EQ(std::get<RandomGuess>(c.initial_guess).seed, 8);
}

TEST(Case, byte_order_mark_crlf_and_accents_do_no_harm) {
  EXPECT_EQ(parsed("\xEF\xBB\xBFname: caf\xC3\xA9\r\nmatrix: {generate: poisson1d}\r\nsolver: {type: pcg}\r\n").name,
            "caf\xC3\xA9");
}

TEST(Case, relative_paths_start_at_the_folder_of_the_case_and_those_of_options_here) {
  const std::string text = "matrix: {file: ../data/a.mtx}\nsolver: {type: pcg}\nrhs: {type: file, path: /tmp/b.mtx}\n";
  const Case c = parse_case(text, "configs/case.yaml", {"initial_guess={type: file, path: x.mtx}"});
  EXPECT_EQ(std::get<MatrixFile>(c.matrix).file, "data/a.mtx");
  EXPECT_EQ(std::get<FileRhs>(c.rhs).path, "/tmp/b.mtx");
  EXPECT_EQ(std::get<FileGuess>(c.initial_guess).path, "x.mtx");
}

TEST(Case, its_name_is_that_of_the_file_where_it_says_none) {
  EXPECT_EQ(parse_case(minimal_case, "configs/thermal.block.yaml").name, "thermal.block");
  EXPECT_EQ(parse_case(minimal_case, ".yaml").name, "case");
}

TEST(Override, changes_one_value_and_the_last_one_wins) {
  const Case c =
      parsed(good_case, {"solver.restart=5", "solver.stop.relative=1e-10", "solver.restart=6", "backend=host"});
  const auto& gmres = std::get<GmresOptions>(c.solver);
  EXPECT_EQ(gmres.restart, 6);
  EXPECT_EQ(gmres.stop.relative, 1e-10);
  EXPECT_EQ(c.backend, Backend::host);
}

TEST(Override, makes_sections_and_replaces_whole_ones) {
  const Case c = parsed(good_case, {"verify.reference=eigen", "matrix={file: a.mtx}", "preconditioner.type=jacobi"});
  EXPECT_EQ(c.verify.reference, Reference::eigen);
  EXPECT_EQ(std::get<MatrixFile>(c.matrix).file, "a.mtx");
  EXPECT_TRUE(std::holds_alternative<JacobiOptions>(c.preconditioner));
}

TEST(Override, changes_the_type_where_the_keys_still_fit) {
  const Case c = parsed(minimal_case, {"solver.type=gmres", "solver.restart=9"});
  EXPECT_EQ(std::get<GmresOptions>(c.solver).restart, 9);
}

TEST(Override, may_repair_a_case_and_fill_an_empty_one) {
  EXPECT_EQ(
      parsed("matrix: {generate: poisson1d}\nsolver: {type: pcg, max_iterations: x}\n", {"solver.max_iterations=3"})
          .name,
      "case");
  EXPECT_EQ(parsed("", {"matrix.generate=poisson1d", "solver.type=pcg", "name=a"}).name, "a");
}

TEST(EffectiveCase, parses_back_to_the_same_case_for_every_type) {
  for (const auto& text : test::all_cases()) {
    const Case c = parsed(text);
    EXPECT_EQ(effective_json(parsed(effective_yaml(c))), effective_json(c)) << text;
    EXPECT_EQ(effective_json(parsed(effective_json(c).dump(2))), effective_json(c)) << text;
  }
}

TEST(BriefCase, parses_back_to_the_same_case_for_every_type_and_names_files_from_its_folder) {
  for (const auto& text : test::all_cases()) {
    const Case c = parsed(text);
    EXPECT_EQ(effective_json(parsed(brief_yaml(c, "."))), effective_json(c)) << brief_yaml(c, ".");
  }
  EXPECT_EQ(brief_yaml(parsed("name: a\nmatrix: {file: data/m.mtx}\nrhs: {type: file, path: b.mtx}\n"
                              "solver: {type: gmres, restart: 31}\nbackend: auto\n"),
                       "out/a"),
            "name: a\nmatrix:\n  file: \"../../data/m.mtx\"\nrhs:\n  type: file\n  path: \"../../b.mtx\"\n"
            "solver:\n  type: gmres\n  restart: 31\n");
}

TEST(EffectiveCase, keeps_every_bit_and_every_letter) {
  for (const std::string relative : {"0.1", "1e-300", "123456789.123456789", "2.2250738585072014e-308", "3"}) {
    const Case c = parsed(minimal_case, {"solver.stop.relative=" + relative});
    EXPECT_EQ(stop(parsed(effective_yaml(c)).solver).relative, stop(c.solver).relative);
  }
  for (const std::string name :
       {"true", "12", "1e3", "a: b", "# x", "- x", "'", "\"\\", "caf\xC3\xA9", " ", "null", "~", "*a", "!x", "yes"}) {
    Case c = parsed(minimal_case);
    c.name = name;
    EXPECT_EQ(parsed(effective_yaml(c)).name, name);
  }
}

TEST(EffectiveCase, names_files_absolutely) {
  const Case c = parsed(minimal_case, {"matrix={file: a.mtx}"});
  EXPECT_EQ(effective_json(c)["matrix"]["file"], (std::filesystem::current_path() / "a.mtx").string());
}

class CaseFile : public testing::Test {
 protected:
  std::string error_of(const std::string& path) {
    try {
      load_case(path);
      return {};
    } catch (const CaseError& error) {
      return error.what();
    }
  }
  std::string folder_ = testing::TempDir();
};

TEST_F(CaseFile, is_read_from_disk) {
  const std::string path = folder_ + "/krill_case_test.yaml";
  std::ofstream(path) << good_case;
  EXPECT_EQ(load_case(path).name, "flow");
  std::filesystem::remove(path);
}
TEST_F(CaseFile, that_comes_with_the_project_is_right) {
  evaluate::SweepInput sweep;
  sweep.path = shipped_sweep;
  EXPECT_NO_THROW(evaluate::Sweep{sweep});
  const std::vector<std::string> cases = shipped_cases();
  EXPECT_GT(cases.size(), 10U);
  for (const std::string& path : cases) EXPECT_EQ(error_of(path), "");
}
TEST_F(CaseFile, that_is_missing_is_named) {
  EXPECT_EQ(error_of("no/such.yaml"), "no/such.yaml: cannot be read: No such file or directory");
}
TEST_F(CaseFile, that_is_a_folder_is_named) {
  EXPECT_EQ(error_of(folder_), folder_ + ": is a folder; expected a YAML file");
}
TEST_F(CaseFile, that_never_ends_is_refused) {
  EXPECT_EQ(error_of("/dev/zero"), "/dev/zero: is longer than 1 MiB; expected a YAML case (is this the matrix?)");
}

}  // namespace
}  // namespace krill::apps
