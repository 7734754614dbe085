// The files of cases: what they include, what they take from the environment, and the variants in them.
#include "apps/case/case_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "apps/case/effective.hpp"
#include "apps/case/parts.hpp"
#include "apps/evaluate/sweep.hpp"
#include "tests/apps/cases.hpp"
#include "tests/apps/program.hpp"

namespace krill::apps {
namespace {

using test::contains;

class Files : public testing::Test {
 protected:
  /// A path below the folder of the test.
  std::string at(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(at(name)).parent_path());
    return folder_.write(name, text);
  }
  LoadedCase load(const std::string& text, const Reading& reading = {},
                  const std::vector<std::string>& set = {}) const {
    return load_case_file(write("case.yaml", text), set, reading);
  }
  /// What is wrong with a case, with names of files as seen from the folder of the test.
  std::string errors(const std::string& text, const Reading& reading = {},
                     const std::vector<std::string>& set = {}) const {
    try {
      load(text, reading, set);
      return {};
    } catch (const CaseError& error) {
      std::string what = error.what();
      for (std::size_t i; (i = what.find(at(""))) != std::string::npos;) what.erase(i, at("").size());
      return what;
    }
  }

  test::Scratch folder_;
};

const std::string base = "name: base\nmatrix: {generate: poisson2d, nx: 9}\nsolver: {type: gmres, restart: 7}\n";

using Include = Files;

TEST_F(Include, puts_the_file_over_what_it_includes) {
  write("base.yaml", base + "rhs: {type: random, seed: 3}\n");
  const Case c =
      load("include: base.yaml\nmatrix: {nx: 5}\nsolver: {stop: {relative: 0.5}}\nrhs: {type: ones}\n").settings;
  EXPECT_EQ(effective_json(c), effective_json(parse_case("name: base\nmatrix: {generate: poisson2d, nx: 5}\n"
                                                         "solver: {type: gmres, restart: 7, stop: {relative: 0.5}}\n"
                                                         "rhs: {type: ones}\n",
                                                         "x.yaml")));
}
TEST_F(Include, drops_keys_that_a_new_type_does_not_have) {
  write("base.yaml", base);
  EXPECT_TRUE(std::holds_alternative<PcgOptions>(load("include: base.yaml\nsolver: {type: pcg}\n").settings.solver));
}
TEST_F(Include, later_files_go_over_earlier_ones_and_files_include_others) {
  write("parts/deep.yaml", base + "threads: 2\n");
  write("parts/one.yaml", "include: deep.yaml\nthreads: 3\ndevice: 1\n");
  write("two.yaml", "threads: 4\n");
  const Case c = load("include: [parts/one.yaml, two.yaml]\n").settings;
  EXPECT_EQ(c.threads, 4);
  EXPECT_EQ(c.device, 1);
  EXPECT_EQ(c.name, "base");
}
TEST_F(Include, paths_start_at_the_file_in_which_they_stand) {
  write("parts/base.yaml", "matrix: {file: a.mtx}\nsolver: {type: pcg}\n");
  const Case c = load("include: parts/base.yaml\ninitial_guess: {type: file, path: x.mtx}\n").settings;
  EXPECT_EQ(std::get<MatrixFile>(c.matrix).file, at("parts/a.mtx"));
  EXPECT_EQ(std::get<FileGuess>(c.initial_guess).path, at("x.mtx"));
}
TEST_F(Include, mistakes_are_told_in_the_file_in_which_they_stand) {
  write("base.yaml", base + "\nthreads: -1\n");
  const std::string found = errors("include: base.yaml\nbackend: hots\n");
  EXPECT_TRUE(contains(found, "base.yaml:5:10: threads is -1")) << found;
  EXPECT_TRUE(contains(found, "case.yaml:2:10: backend is hots")) << found;
  write("base.yaml", "solver: {type: pcg\nmatrix: 1\n");
  EXPECT_TRUE(contains(errors("include: base.yaml\n"), "base.yaml:2:7: not valid YAML")) << found;
}
TEST_F(Include, circles_and_missing_files_are_told_with_the_chain) {
  write("a.yaml", "include: b.yaml\n");
  write("b.yaml", "threads: 1\ninclude: [../" + std::filesystem::path(at("a.yaml")).parent_path().filename().string() +
                      "/a.yaml]\n");
  EXPECT_TRUE(contains(errors("include: a.yaml\n" + base),
                       "b.yaml:2:11: a.yaml is included by itself: case.yaml -> a.yaml -> b.yaml -> a.yaml"))
      << errors("include: a.yaml\n" + base);
  EXPECT_TRUE(contains(errors("include: case.yaml\n" + base), "case.yaml:1:10: case.yaml is included by itself"));
  EXPECT_EQ(errors("include: none.yaml\n" + base),
            "case.yaml:1:10: the included file none.yaml: cannot be read: No such file or directory");
  write("a.yaml", "include: none.yaml\n");
  EXPECT_EQ(errors("include: a.yaml\n" + base),
            "a.yaml:1:10: the included file none.yaml: cannot be read: No such file or directory (case.yaml -> a.yaml "
            "-> none.yaml)");
}
TEST_F(Include, names_and_places_are_checked) {
  EXPECT_EQ(errors("include: {a: b}\n" + base),
            "case.yaml:1:10: include has to be the name of a file, or a list of names");
  EXPECT_TRUE(contains(errors(base + "includ: a.yaml\n"), "did you mean 'include'?"));
  EXPECT_EQ(errors(base, {}, {"include=a.yaml"}),
            "--set include=a.yaml: 'include' can stand at the top of a file only");
  EXPECT_TRUE(contains(errors("include: .\n" + base), "is a folder; expected a YAML file"));
  write("list.yaml", "- 1\n");
  EXPECT_TRUE(contains(errors("include: list.yaml\n" + base), "list.yaml:1:1: expected keys such as"));
}
TEST_F(Include, files_that_multiply_are_refused) {
  for (int i = 0; i < 12; ++i)
    write(fmt::format("f{}.yaml", i), fmt::format("include: [f{0}.yaml, f{0}.yaml]\n", i + 1));
  write("f12.yaml", "threads: 1\n");
  EXPECT_TRUE(contains(errors("include: f0.yaml\n" + base), "more than 100 files are included"));
}

using Environment = Files;

TEST_F(Environment, fills_in_values_only_where_asked_for) {
  setenv("KRILL_TEST_SIZE", "12", 1);
  setenv("KRILL_TEST_FOLDER", "/data", 1);
  const std::string text =
      "matrix: {generate: poisson2d, nx: \"${KRILL_TEST_SIZE}\"}\nsolver: {type: pcg}\n"
      "initial_guess: {type: file, path: '${KRILL_TEST_FOLDER}/x${KRILL_TEST_SIZE}.mtx'}\n";
  EXPECT_TRUE(contains(errors(text),
                       "case.yaml:1:35: \"${KRILL_TEST_SIZE}\": environment variables are filled in with "
                       "the option --env only"))
      << errors(text);
  const Case c =
      load("matrix:\n  generate: poisson2d\n  nx: ${KRILL_TEST_SIZE}\n" + text.substr(text.find("solver")), {"", true})
          .settings;
  EXPECT_EQ(std::get<Poisson2dOptions>(std::get<GeneratorOptions>(c.matrix)).nx, 12);
  EXPECT_EQ(std::get<FileGuess>(c.initial_guess).path, "/data/x12.mtx");
}
TEST_F(Environment, says_what_cannot_be_filled_in) {
  unsetenv("KRILL_TEST_NONE");
  const auto told = [&](const std::string& value) {
    return errors("name: " + value + "\nmatrix: {generate: poisson1d}\nsolver: {type: pcg}\n", {"", true});
  };
  EXPECT_TRUE(
      contains(told("${KRILL_TEST_NONE}"), "case.yaml:1:7: \"${KRILL_TEST_NONE}\": the environment has no variable"));
  EXPECT_TRUE(contains(told("a${"), "expected a name and a } behind ${"));
  EXPECT_TRUE(contains(told("a${}"), "expected a name and a } behind ${"));
  setenv("KRILL_TEST_NONE", "\xff", 1);
  EXPECT_TRUE(contains(told("${KRILL_TEST_NONE}"), "is not UTF-8 text"));
  setenv("KRILL_TEST_NONE", "a: {b", 1);
  EXPECT_EQ(told("${KRILL_TEST_NONE}"), "") << "a value is text, whatever it looks like";
  setenv("KRILL_TEST_NONE", "${HOME}", 1);
  EXPECT_EQ(told("${KRILL_TEST_NONE}"), "") << "and is not filled in again";
}

using Variants = Files;

using Words = Files;

TEST_F(Words, stand_for_sections_in_files_includes_and_settings) {
  const Case c = load(
                     "matrix: poisson2d\nsolver: gmres\npreconditioner: ilu0\nscaling: ruiz\nordering: rcm\n"
                     "rhs: random\nformat: sell\n")
                     .settings;
  EXPECT_EQ(effective_json(c),
            effective_json(parse_case("matrix: {generate: poisson2d}\nsolver: {type: gmres}\nformat: sell\n"
                                      "preconditioner: {type: ilu0}\nscaling: {type: ruiz}\nordering: {type: rcm}\n"
                                      "rhs: {type: random}\n",
                                      "case.yaml")));
  write("base.yaml", "matrix: poisson1d\nsolver: {type: gmres, restart: 7, max_iterations: 9}\n");
  const Case over = load("include: base.yaml\nsolver: bicgstab\n").settings;
  EXPECT_EQ(std::get<BicgstabOptions>(over.solver).max_iterations, 9) << "as {type: bicgstab} would keep it";
  write("short.yaml", "matrix: poisson1d\nsolver: gmres\n");
  EXPECT_EQ(std::get<GmresOptions>(load("include: short.yaml\nsolver: {restart: 3}\n").settings.solver).restart, 3);
  const Case set = load(base, {}, {"solver=gmres", "solver.restart=4", "preconditioner=ilu0"}).settings;
  EXPECT_EQ(std::get<GmresOptions>(set.solver).restart, 4);
  EXPECT_TRUE(std::holds_alternative<Ilu0Options>(set.preconditioner));
  EXPECT_EQ(
      errors(base, {}, {"solver=pgc"}),
      "--set solver=pgc: solver.type is pgc, expected one of pcg, fcg, gmres, fgmres, bicgstab, richardson, multigrid, "
      "banded, direct or auto; did you "
      "mean 'pcg'?");
}
TEST_F(Words, for_a_matrix_are_generators_or_files) {
  EXPECT_EQ(std::get<MatrixFile>(load("matrix: a.mtx\nsolver: pcg\n").settings.matrix).file, at("a.mtx"));
  EXPECT_EQ(std::get<MatrixFile>(load(base, {}, {"matrix=a.mtx"}).settings.matrix).file, "a.mtx");
}
TEST_F(Words, settings_of_another_kind_of_matrix_replace_it) {
  EXPECT_EQ(std::get<MatrixFile>(load(base, {}, {"matrix.file=a.mtx"}).settings.matrix).file, "a.mtx");
  const std::string of_file = "matrix: {file: a.mtx}\nsolver: pcg\n";
  const Case generated = load(of_file, {}, {"matrix.generate=poisson1d", "matrix.nx=5"}).settings;
  EXPECT_EQ(effective_json(generated)["matrix"].dump(), R"({"generate":"poisson1d","nx":5})");
  EXPECT_NE(errors(of_file, {}, {"matrix.nx=5"}), "");
  evaluate::SweepInput sweep;
  sweep.path = write("sweep.yaml", "case: {matrix: poisson1d, solver: gmres}\ngrid: {preconditioner: [none, ilu0]}\n");
  sweep.overrides = {"case.matrix.file=a.mtx", "case.solver=bicgstab"};
  sweep.threads = 3;
  const Case sample = evaluate::Sweep(sweep).sample(0);
  EXPECT_EQ(std::get<MatrixFile>(sample.matrix).file, "a.mtx");
  EXPECT_TRUE(std::holds_alternative<BicgstabOptions>(sample.solver));
  EXPECT_EQ(sample.threads, 3);
}
TEST_F(Words, a_matrix_file_stands_for_a_case_with_everything_automatic) {
  const LoadedCase c = load_case_file("data/thermal.mtx.gz", {"solver.stop.relative=1e-3"}, {"", false, "host", 2});
  EXPECT_EQ(effective_json(c.settings),
            effective_json(parse_case("name: thermal\nmatrix: {file: data/thermal.mtx.gz}\nrhs: ones\nbackend: host\n"
                                      "threads: 2\nsolver: {type: auto, stop: {relative: 1e-3}}\n"
                                      "preconditioner: auto\nordering: auto\nscaling: auto\nmatching: auto\n",
                                      "case.yaml")));
  for (const std::string matrix : {"a.mtx", "a.rua.gz", "a/b.tar.gz"}) EXPECT_TRUE(names_matrix(matrix)) << matrix;
  for (const std::string no_matrix : {"-", "a.yaml", "a.yml", "a.json", "a.b/case", "/dev/stdin", "/dev/fd/63"})
    EXPECT_FALSE(names_matrix(no_matrix)) << no_matrix;
}

using WordsProgram = test::Program;

TEST_F(WordsProgram, a_matrix_in_the_place_of_a_case_is_solved) {
  folder_.write("chain.mtx", test::banner + "3 3 5\n1 1 4\n2 2 4\n3 3 4\n1 2 -1\n3 2 -1\n");
  const auto solved = krill("solve chain.mtx --threads 1");
  EXPECT_EQ(solved.code, 0) << solved.err;
  EXPECT_TRUE(contains(solved.out, "banded on the host, 1 thread\n")) << solved.out;
  EXPECT_TRUE(exists("out/chain/report.json"));
  EXPECT_EQ(krill("verify chain.mtx --quiet --threads 1").code, 0);
}
TEST_F(WordsProgram, a_dash_reads_the_case_from_the_standard_input) {
  folder_.write("in.txt", "matrix: chain.mtx\nsolver: auto\n");
  folder_.write("chain.mtx", test::banner + "2 2 2\n1 1 4\n2 2 4\n");
  const auto solved = krill("- --quiet", "sh -c 'cat in.txt | \"$0\" solve \"$@\"'");
  EXPECT_EQ(solved.code, 0) << solved.err;
  EXPECT_TRUE(exists("out/case/report.json"));
  folder_.write("in.txt", "matrix: chain.mtx\nsolver: autp\n");
  const auto refused = krill("-", "sh -c 'cat in.txt | \"$0\" solve \"$@\"'");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.err.starts_with("krill: standard input:2:9: solver.type is autp")) << refused.err;
}

const std::string with_variants =
    base + "variants:\n  fast: {solver: {type: pcg}, preconditioner: ic0}\n  long: {solver: {restart: 50}}\n";

TEST_F(Variants, are_chosen_by_name) {
  const LoadedCase plain = load(with_variants);
  EXPECT_EQ(plain.variants, (std::vector<std::string>{"fast", "long"}));
  EXPECT_EQ(std::get<GmresOptions>(plain.settings.solver).restart, 7);
  const Case fast = load(with_variants, {"fast"}).settings;
  EXPECT_EQ(fast.name, "base-fast");
  EXPECT_TRUE(std::holds_alternative<PcgOptions>(fast.solver));
  EXPECT_TRUE(std::holds_alternative<Ic0Options>(fast.preconditioner));
  const Case set = load(with_variants, {"long"}, {"solver.restart=60"}).settings;
  EXPECT_EQ(std::get<GmresOptions>(set.solver).restart, 60) << "the command line has the last word";
}
TEST_F(Variants, that_are_not_there_are_refused_with_a_proposal) {
  EXPECT_EQ(errors(with_variants, {"fats"}),
            "--variant fats: the case has no such variant; did you mean 'fast'? it has fast and long");
  EXPECT_EQ(errors(base, {"fast"}), "--variant fast: the case has no variants with names");
  EXPECT_EQ(errors(base + "variants: {a: {preconditioner: {type: chebyshev, degree: [2, 4]}}}\n", {"a"}),
            "--variant a: this variant stands for 2 cases; krill evaluate runs them all");
}
TEST_F(Variants, are_all_checked_with_every_mistake_told_once) {
  const std::string bad = base + "threads: -1\nvariants:\n  a: {solver: {restrat: 5}}\n  b: {backend: hots}\n";
  const std::string found = errors(bad);
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 2) << found;
  EXPECT_TRUE(contains(found, "case.yaml:4:10: threads is -1")) << found;
  EXPECT_TRUE(contains(found, "case.yaml:6:16: unknown key \"restrat\" in solver; did you mean 'restart'?")) << found;
  EXPECT_TRUE(contains(found, "case.yaml:7:16: backend is hots")) << found;
  EXPECT_TRUE(contains(errors(base + "variants: {a: 1}\n"), "case.yaml:4:15: a variant has to be a section"));
  EXPECT_TRUE(contains(errors(base + "variants: 1\n"), "case.yaml:4:11: variants has to be a section"));
  EXPECT_EQ(errors(base + "variants: {a: {preconditioner: {type: chebyshev, degree: []}}, b: {backend: host}}\n"),
            "case.yaml:4:58: an empty list stands for no case; expected values, or leave the key out");
}
TEST_F(Variants, may_make_a_case_complete) {
  const std::string part = "matrix: {generate: poisson1d}\nvariants: {a: {solver: {type: pcg}}}\n";
  EXPECT_EQ(errors(part, {"a"}), "");
  EXPECT_TRUE(contains(errors(part), "case.yaml:1:1: only a variant makes this case complete; --variant takes a"));
}
TEST_F(Variants, of_a_case_are_what_evaluate_runs) {
  evaluate::SweepInput input;
  input.path = write("case.yaml", with_variants);
  const auto runs = evaluate::Sweep(input).variants(0, {});
  ASSERT_EQ(runs.size(), 3U) << "the case itself, and its variants";
  EXPECT_EQ(runs[1].name, "fast");
  EXPECT_TRUE(std::holds_alternative<PcgOptions>(runs[1].settings.solver));
  EXPECT_EQ(runs[2].name, "long");
  input.path = write("sweep.yaml", "case: case.yaml\nvariants: [{name: other, format: ell}]\n");
  EXPECT_EQ(evaluate::Sweep(input).variants(0, {}).size(), 3U) << "those of the sweep and those of the case";
}
TEST_F(Variants, grow_across_included_files) {
  write("base.yaml", with_variants);
  EXPECT_EQ(load("include: base.yaml\nvariants: {long: {solver: {restart: 99}}, new: {format: ell}}\n").variants,
            (std::vector<std::string>{"fast", "long", "new"}));
}

/// Every key of a tree with its place, those that the file itself writes.
void collect_keys(const YamlNode& node, std::vector<YamlNode>& keys) {
  for (const auto& item : node.items) collect_keys(item, keys);
  for (const auto& [key, value] : node.entries) keys.push_back(key), collect_keys(value, keys);
}

TEST_F(Files, every_key_of_every_shipped_case_with_a_wrong_letter_is_refused_with_the_right_proposal) {
  int tried = 0;
  std::vector<std::string> shipped = test::shipped_cases();
  shipped.push_back(test::shipped_sweep);
  for (const std::string& file : shipped) {
    const std::string whole = test::contents(file), name = std::filesystem::path(file).filename();
    std::vector<Diagnostic> none;
    std::vector<YamlNode> keys;
    collect_keys(read_yaml(whole, name, none), keys);
    ASSERT_FALSE(keys.empty()) << name;
    for (const YamlNode& key : keys) {
      std::size_t begin = 0;
      for (int line = 1; line < key.place.line; ++line) begin = whole.find('\n', begin) + 1;
      begin += static_cast<std::size_t>(key.place.column - 1);
      ASSERT_EQ(whole.substr(begin, key.text.size()), key.text) << name;
      for (std::size_t letter = 0; letter < key.text.size(); ++letter) {
        if (key.text[letter] == 'q') continue;
        std::string wrong = whole;
        wrong[begin + letter] = 'q';
        const std::string path = write(name, wrong);
        std::string found;
        try {
          evaluate::SweepInput input;
          input.path = path;
          file == test::shipped_sweep ? void(evaluate::Sweep(input)) : void(load_case(path));
        } catch (const CaseError& error) {
          found = error.what();
        }
        const std::string place = fmt::format("{}:{}:{}: unknown key ", name, key.place.line, key.place.column);
        const std::size_t from = found.find(place);
        ASSERT_NE(from, std::string::npos) << wrong << found;
        const std::string line = found.substr(from, found.find('\n', from) - from);
        EXPECT_LT(line.find("'" + key.text + "'"), line.find("allowed:")) << line;
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 500);
}

TEST_F(Files, anchors_keep_the_place_in_which_they_were_written) {
  EXPECT_EQ(errors("solver: &s\n  type: gmres\n  restart: 0\nmatrix: {generate: poisson1d}\n"
                   "variants:\n  a: {solver: {<<: *s, max_iterations: x}}\n"),
            "case.yaml:3:12: solver.restart is 0, expected an integer from 1 to 1000\n"
            "case.yaml:6:40: solver.max_iterations is x, expected an integer of at least 0");
}

using SolveFile = test::Program;

TEST_F(SolveFile, takes_a_variant_and_says_which_there_are) {
  folder_.write("case.yaml", with_variants + "backend: host\n");
  const auto plain = krill("solve case.yaml --out a");
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_TRUE(contains(plain.out, "without its variants; --variant NAME takes one: fast, long")) << plain.out;
  const auto fast = krill("solve case.yaml --variant fast");
  EXPECT_EQ(fast.code, 0) << fast.err;
  EXPECT_FALSE(contains(fast.out, "--variant")) << fast.out;
  EXPECT_EQ(test::json_file(folder_ / "out/base-fast/report.json")["case"]["solver"]["type"], "pcg");
  EXPECT_EQ(krill("solve case.yaml --variant slow").code, 2);
}
TEST_F(SolveFile, fills_in_the_environment_with_an_option_only) {
  folder_.write("case.yaml", "matrix:\n  generate: poisson1d\n  nx: ${SIZE}\nsolver: {type: pcg}\nbackend: host\n");
  EXPECT_EQ(krill("solve case.yaml --env", "SIZE=20").code, 0);
  const auto refused = krill("solve case.yaml", "SIZE=20");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err,
                       "case.yaml:3:7: \"${SIZE}\": environment variables are filled in with the option "
                       "--env only"))
      << refused.err;
}

}  // namespace
}  // namespace krill::apps
