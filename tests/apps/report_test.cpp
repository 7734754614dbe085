#include "apps/report/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/report/convergence_plot.hpp"
#include "apps/support/progress_line.hpp"
#include "tests/apps/solve_support.hpp"

namespace krill::apps {
namespace {

using test::contains;

/// A solve that took 40 iterations, each one halving the residual.
SolveRecord record_of(Reason reason) {
  SolveRecord record;
  record.settings = parse_case("matrix: {generate: poisson1d}\nsolver: {type: pcg}\n", "some.yaml");
  record.started_at = "2026-01-02T03:04:05Z";
  record.origin.name = "generated poisson1d";
  record.matrix.rows = record.matrix.cols = 10;
  record.matrix.hermitian = record.matrix.symmetric = true;
  SolveReport& r = record.result;
  r.reason = reason;
  r.iterations = 40;
  r.baseline = r.rhs_norm = 2;
  for (int i = 0; i <= 40; ++i) r.history.push_back(std::pow(0.5, i)), r.history_seconds.push_back(0.25 * i);
  r.initial_relative = 1;
  r.recurrence_relative = r.true_relative = r.history.back();
  r.target_relative = reason == Reason::converged ? 1e-8 : 1e-14;
  record.folder = "out/some";
  record.files = {"report.json"};
  return record;
}

/// A batch of three systems, of which the second ended so.
SolveRecord batch_of(Reason reason) {
  SolveRecord record = record_of(reason);
  record.settings = parse_case("matrix: {generate: banded_batch}\nsolver: {type: banded}\n", "some.yaml");
  record.matrix.rows = record.matrix.cols = 12;
  SystemResult converged = record.result, ended = record.result;
  converged.reason = Reason::converged;
  if (reason == Reason::zero_pivot) ended.pivot_row = 3;
  if (reason == Reason::not_finite) ended.true_relative = std::numeric_limits<double>::quiet_NaN();
  record.result.systems = {converged, ended, converged};
  take_worst(record.result);
  return record;
}

SolveRecord judged(Verdict verdict) {
  SolveRecord record = record_of(Reason::converged);
  record.settings.verify.reference = Reference::eigen;
  record.verification.state = Verification::State::finished;
  record.verification.judgement.verdict = verdict;
  return record;
}

TEST(Report, exit_code_is_0_only_for_what_converged_and_was_verified_where_asked) {
  EXPECT_EQ(exit_code(record_of(Reason::converged)), 0);
  for (int reason = 0; reason <= static_cast<int>(Reason::interrupted); ++reason)
    EXPECT_EQ(exit_code(record_of(static_cast<Reason>(reason))), static_cast<Reason>(reason) != Reason::converged);
  EXPECT_EQ(exit_code(judged(Verdict::pass)), 0);
  EXPECT_EQ(exit_code(judged(Verdict::fail)), 1);
  EXPECT_EQ(exit_code(judged(Verdict::none)), 1);
  SolveRecord cut_short = judged(Verdict::none);
  cut_short.verification.state = Verification::State::not_run;
  EXPECT_EQ(exit_code(cut_short), 1);
}

TEST(Report, json_has_the_fields_that_are_promised) {
  const auto json = nlohmann::json::parse(report_text(record_of(Reason::converged)));
  for (const char* key :
       {"status", "iterations", "residual", "backward_error", "timings_ms", "matrix", "backend", "device", "host",
        "schema_version", "memory_bytes", "verification", "case", "versions", "started_at", "notes", "files"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const char* key :
       {"true_relative", "recurrence_relative", "initial_relative", "target_relative", "baseline", "norm", "history"})
    EXPECT_TRUE(json["residual"].contains(key)) << key;
  for (const char* key : {"read", "assemble", "analyze", "choose", "match", "scale", "order", "convert", "products",
                          "preconditioner_setup", "solve", "total"})
    EXPECT_TRUE(json["timings_ms"].contains(key)) << key;
  for (const char* key : {"rows", "cols", "nnz", "symmetric"}) EXPECT_TRUE(json["matrix"].contains(key)) << key;
  for (const char* key : {"krill", "commit", "compiler", "cuda"}) EXPECT_TRUE(json["versions"].contains(key)) << key;
  EXPECT_EQ(json["schema_version"], 2);
  EXPECT_EQ(json["status"], "converged");
  EXPECT_EQ(json["residual"]["history"].size(), 41u);
  EXPECT_EQ(json["case"]["solver"]["stop"]["relative"], 1e-8);  // a default that nobody wrote
}

TEST(Report, json_stays_json_where_figures_are_not_finite_or_names_are_not_text) {
  SolveRecord record = record_of(Reason::not_finite);
  record.result.true_relative = std::numeric_limits<double>::quiet_NaN();
  record.result.history.push_back(std::numeric_limits<double>::infinity());
  record.origin.name = "bad \xff name \x01.mtx";
  const auto json = nlohmann::json::parse(report_text(record));
  EXPECT_TRUE(json["residual"]["true_relative"].is_null());
  EXPECT_TRUE(json["residual"]["history"].back().is_null());
}

/// Every key below `json` as `key`; what stands under "case" is explained in cases.md, under "matrix" in inspecting.md.
void expect_explained(const nlohmann::json& json, const std::string& page) {
  for (const auto& [key, value] : json.items()) {
    EXPECT_TRUE(contains(page, "`" + key + "`")) << key;
    if (value.is_object() && key != "case" && key != "matrix") expect_explained(value, page);
  }
}

TEST(Report, documentation_explains_every_key_and_status) {
  SolveRecord record = judged(Verdict::pass);
  record.settings = parse_case(
      "matrix: {generate: poisson1d}\nsolver: {type: pcg}\nscaling: {type: ruiz}\nordering: {type: color}\n"
      "verify: {reference: eigen}\n",
      "some.yaml");
  record.device = DeviceInfo{};
  record.transformation.scaling = {1, 1};
  record.transformation.colors = 2;
  const std::string page = test::contents("docs/report.md");
  expect_explained(nlohmann::json::parse(report_text(record)), page);
  expect_explained(nlohmann::json::parse(report_text(record_of(Reason::diverged))), page);
  const auto batch = nlohmann::json::parse(report_text(batch_of(Reason::zero_pivot)));
  for (const auto& [key, value] : batch["systems"].items()) EXPECT_TRUE(contains(page, "`" + key + "`")) << key;
  const std::string troubles = test::contents("docs/troubleshooting.md");
  for (int reason = static_cast<int>(Reason::converged); reason <= static_cast<int>(Reason::interrupted); ++reason) {
    const std::string status = "`" + std::string(name(static_cast<Reason>(reason))) + "`";
    EXPECT_TRUE(contains(page, status)) << status;
    EXPECT_TRUE(status == "`converged`" || contains(troubles, status)) << status;
  }
}

/// Two levels of multigrid, and what was measured of a cycle.
SolveRecord with_levels(double contraction) {
  SolveRecord record = record_of(Reason::converged);
  record.settings = parse_case("matrix: {generate: poisson1d}\nsolver: pcg\npreconditioner: amg\n", "some.yaml");
  LevelReport fine, last;
  fine.rows = 100, fine.entries = 300, fine.longest_row = 5, fine.format = "csr", fine.bytes = 4096;
  fine.max_eigenvalue = 1.96;
  fine.aggregates = 24, fine.aggregated = 90, fine.not_aggregated = 10, fine.least_aggregate = 2,
  fine.greatest_aggregate = 7, fine.transfer_entries = 120, fine.cycle_entries = 1440;
  fine.steps = {{"products", 1.5}, {"strength", 0.5}}, fine.setup_ms = 2;
  last.rows = 24, last.entries = 100, last.longest_row = 6, last.format = "dense inverse", last.cycle_entries = 576;
  record.preconditioner.levels = {fine, last};
  record.preconditioner.facts = {{"method", "aggregation"}, {"contraction", contraction}};
  return record;
}

TEST(Report, levels_are_told_with_all_their_figures) {
  const SolveRecord record = with_levels(0.21);
  const auto setup = nlohmann::json::parse(report_text(record))["preconditioner_setup"];
  EXPECT_EQ(setup["contraction"], 0.21);
  ASSERT_EQ(setup["level"].size(), 2U);
  const auto &fine = setup["level"][0], &last = setup["level"][1];
  EXPECT_EQ(fine["mean_row"], 3.0);
  EXPECT_EQ(fine["share_of_entries"], 0.75);
  EXPECT_EQ(fine["aggregates"]["mean"], 3.75);
  EXPECT_EQ(fine["aggregates"]["greatest"], 7);
  EXPECT_EQ(fine["setup_steps_ms"]["strength"], 0.5);
  EXPECT_TRUE(last["aggregates"].is_null());
  const std::string page = test::contents("docs/report.md");
  for (const auto& [key, value] : fine.items()) EXPECT_TRUE(contains(page, "`" + key + "`")) << key;
  for (const auto& [key, value] : fine["aggregates"].items()) EXPECT_TRUE(contains(page, "`" + key + "`")) << key;

  const std::string text = summary(record, true, Paint());
  EXPECT_TRUE(contains(text,
                       "  level       rows    entries  a row   most  share     memory  products\n"
                       "  0            100        300    3.0      5   75 %   4.00 KiB  csr\n"
                       "  1             24        100    4.2      6   25 %        0 B  dense inverse\n"
                       "  level visits aggregates least   mean  most in none   transfer  lambda    setup\n"
                       "  0          1         24     2    3.8     7      10        120    1.96     2 ms\n"))
      << text;
  EXPECT_TRUE(contains(text, "products 1.5 ms, strength 0.5 ms")) << text;
}

TEST(Report, contraction_is_judged) {
  const auto said = [](double contraction) { return summary(with_levels(contraction), false, Paint()); };
  EXPECT_TRUE(contains(said(0.21), "0.21 a cycle: good\n"));
  EXPECT_TRUE(contains(said(0.5), "0.5 a cycle: fair\n"));
  EXPECT_TRUE(contains(said(0.95), "0.95 a cycle: slow, most is left to the solver\n"));
  for (const double none : {1.0, 1.3, std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(contains(said(none), "a cycle: by cycles alone errors do not shrink, so this")) << said(none);
  SolveRecord other = with_levels(0.8);
  other.settings.preconditioner = JacobiOptions{};
  EXPECT_TRUE(contains(summary(other, false, Paint()), "0.8 an application: slow"));
  other.preconditioner.facts.clear();
  EXPECT_FALSE(contains(summary(other, true, Paint()), "contraction"));
}

TEST(Report, csv_gives_all_digits) {
  SolveReport report;
  report.history = {1, 0.1, 1.0 / 3, std::numeric_limits<double>::quiet_NaN()};
  report.history_seconds = {0, 2e-9, 0.25, 10};
  EXPECT_EQ(
      residuals_csv(report),
      "iteration,relative_residual,seconds\n0,1,0.000000000\n1,0.1,0.000000002\n2,0.3333333333333333,0.250000000\n"
      "3,nan,10.000000000\n");
}

TEST(Report, csv_has_a_line_for_every_system) {
  const SolveReport report = batch_of(Reason::zero_pivot).result;
  EXPECT_EQ(systems_csv(report),
            "system,status,true_relative,zero_pivot_row\n0,converged,9.094947017729282e-13,\n"
            "1,zero_pivot,9.094947017729282e-13,3\n2,converged,9.094947017729282e-13,\n");
  EXPECT_EQ(report.worst_system, 1U);
}

TEST(Report, of_a_batch_is_that_of_the_worst_system) {
  SolveReport report;
  const auto with = [](Reason reason, double relative) {
    SystemResult system;
    system.reason = reason, system.true_relative = relative;
    return system;
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  report.systems = {with(Reason::converged, 5), with(Reason::stagnated, 2), with(Reason::max_iterations, 3)};
  take_worst(report);
  EXPECT_EQ(report.worst_system, 2U);
  EXPECT_EQ(report.reason, Reason::max_iterations);
  report.systems.push_back(with(Reason::not_finite, nan));
  report.systems.push_back(with(Reason::not_finite, nan));
  take_worst(report);
  EXPECT_EQ(report.worst_system, 3U);
  report.systems = {with(Reason::converged, 1), with(Reason::converged, 2)};
  take_worst(report);
  EXPECT_EQ(report.worst_system, 1U);
  EXPECT_EQ(report.reason, Reason::converged);
}

TEST(Summary, names_the_status_first) {
  for (const Reason reason : {Reason::converged, Reason::max_iterations, Reason::interrupted})
    EXPECT_EQ(summary(record_of(reason)).find(name(reason)), 0u);
  EXPECT_EQ(summary(judged(Verdict::fail)).find("converged, but NOT VERIFIED,"), 0u);
}

TEST(Summary, has_a_line_for_each_thing_and_none_is_long) {
  SolveRecord record = judged(Verdict::pass);
  record.known_error = 1e-7;
  record.notes = {"something to know"};
  const std::string text = summary(record, true);
  for (const char* label : {"residual", "backward error", "error", "verification", "PASS", "time", "ran on", "note",
                            "out/some/: report.json"})
    EXPECT_TRUE(contains(text, label)) << label << "\n" << text;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, text_width) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Advice, explains_every_failure_and_proposes_something) {
  for (int i = 2; i <= static_cast<int>(Reason::interrupted); ++i) {
    const Advice help = advice(record_of(static_cast<Reason>(i)));
    EXPECT_FALSE(help.why.empty()) << i;
    EXPECT_FALSE(help.remedy.empty()) << i;
  }
  EXPECT_TRUE(advice(record_of(Reason::converged)).why.empty());
}

TEST(Advice, names_the_worst_system_of_a_batch) {
  for (int i = 2; i <= static_cast<int>(Reason::interrupted); ++i) {
    const Advice help = advice(batch_of(static_cast<Reason>(i)));
    EXPECT_TRUE(contains(help.why, "system 1")) << help.why;
    EXPECT_FALSE(help.remedy.empty()) << i;
  }
  EXPECT_TRUE(contains(advice(batch_of(Reason::zero_pivot)).why, "row 3 of system 1"));
  EXPECT_TRUE(advice(batch_of(Reason::converged)).why.empty());
}

TEST(Advice, foretells_the_iterations_that_the_pace_needs) {
  // 0.5^k <= 1e-14 from k = 46.5; a tenth is added
  EXPECT_TRUE(contains(advice(record_of(Reason::max_iterations)).remedy, "to about 52"))
      << advice(record_of(Reason::max_iterations)).remedy;
}

TEST(Advice, tells_rounding_from_stagnation) {
  SolveRecord record = record_of(Reason::stagnated);
  record.backward_error = 1e-9;
  EXPECT_TRUE(contains(advice(record).why, "has not fallen"));
  record.result.reason = Reason::limit_of_accuracy;
  record.backward_error = 2e-16;
  EXPECT_TRUE(contains(advice(record).why, "is below what float64 reaches")) << advice(record).why;
  EXPECT_TRUE(contains(advice(record).why, "the backward error is 2.0e-16")) << advice(record).why;
  EXPECT_TRUE(contains(advice(record).remedy, "solver.stop.baseline: backward_error")) << advice(record).remedy;
  record.result.reason = Reason::stagnated;
  record.result.recurrence_relative = 1e-15;
  EXPECT_TRUE(contains(advice(record).why, "rounding"));
  record.precision = Precision::float32;
  EXPECT_TRUE(contains(advice(record).remedy, "precision float64"));
}

TEST(Advice, asks_for_no_more_than_there_is) {
  SolveRecord record = record_of(Reason::stagnated);
  const auto remedy_with = [&](int restart) {
    record.settings.solver = GmresOptions{.restart = restart};
    return advice(record).remedy;
  };
  EXPECT_TRUE(contains(remedy_with(9), "Raise solver.restart (it is 9), or try preconditioner: {type: ilu0}"));
  EXPECT_EQ(remedy_with(10), "Try preconditioner: {type: ilu0}.") << "a basis of all vectors";
  record.matrix.rows = record.matrix.cols = 5000;
  const std::string path = "matrix: {generate: poisson1d}\nsolver: {type: gmres, restart: ";
  EXPECT_TRUE(contains(remedy_with(999), "Raise solver.restart"));
  EXPECT_NO_THROW(parse_case(path + "1000}\n", "a.yaml"));
  EXPECT_FALSE(contains(remedy_with(1000), "Raise")) << "a case may not ask for more";
  EXPECT_THROW(parse_case(path + "1001}\n", "a.yaml"), Error);
  record.choices = {{"preconditioner", "ilu0: it takes general matrices"}};  // and the matrix refused that
  EXPECT_EQ(remedy_with(1000), "Compare other methods (krill evaluate).");
  record.result.reason = Reason::max_iterations;
  EXPECT_FALSE(contains(advice(record).remedy, "ilu0")) << advice(record).remedy;
}

TEST(Advice, promises_nothing_of_more_iterations_at_the_limit_of_accuracy) {
  for (const Reason reason : {Reason::max_iterations, Reason::time_limit}) {
    SolveRecord record = record_of(reason);
    EXPECT_TRUE(contains(advice(record).remedy, "Raise")) << advice(record).remedy;
    record.result.rounding_relative = record.result.true_relative = 1e-12;
    EXPECT_TRUE(contains(advice(record).remedy, "Loosen solver.stop.relative")) << advice(record).remedy;
  }
}

TEST(Advice, says_what_was_known_of_a_singular_matrix) {
  SolveRecord record = record_of(Reason::stagnated);
  const std::string of_failure = advice(record).why;
  record.singularity.what = "the matrix is singular";
  EXPECT_EQ(advice(record).why, of_failure + "; the matrix is singular");
  record.singularity.no_solution = true;
  EXPECT_EQ(advice(record).why, "the matrix is singular");
  EXPECT_TRUE(contains(advice(record).remedy, "rhs: {type: manufactured}"));
  record.result.reason = Reason::converged;
  EXPECT_EQ(advice(record).why, "");
}

TEST(Output, folder_that_cannot_be_written_is_refused_before_anything_runs) {
  const test::Scratch scratch;
  const std::string file = scratch.write("file", "");
  try {
    const OutputFolder folder(file + "/below");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), file + "/below: the output folder cannot be made")) << error.what();
    EXPECT_TRUE(contains(error.what(), "--out")) << error.what();
  }
}

TEST(Output, trying_the_folder_leaves_nothing_behind) {
  const test::Scratch scratch;
  const OutputFolder folder(scratch / "a/b");
  EXPECT_TRUE(test::names_in(scratch / "a/b").empty());
}

TEST(Output, writes_what_the_case_asks_for_and_takes_away_what_an_earlier_run_left) {
  const test::Scratch scratch;
  const OutputFolder folder(scratch / "out");
  SolveRecord first = record_of(Reason::converged);
  first.files.clear();
  folder.write(first, "solution.mtx", "x");
  folder.write(first, "mine.txt", "not krill's");
  folder.write_history(first);
  folder.write_report(first);

  SolveRecord second = record_of(Reason::converged);
  second.files.clear();
  second.settings.output = {false, true, false};
  folder.write_history(second);
  folder.remove_leftovers(second);
  folder.write_report(second);
  EXPECT_EQ(test::names_in(folder.path()), (std::vector<std::string>{"mine.txt", "report.json", "residuals.csv"}));
  EXPECT_EQ(test::json_file(folder.path() + "/report.json")["files"],
            (std::vector<std::string>{"residuals.csv", "report.json"}));
}

/// Whether every tag is closed in its turn, attributes are quoted and text holds no bare & or <: XML of the kind that
/// gnuplot writes. Says what is wrong; empty where nothing is.
std::string fault_in_xml(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size();) {
    if (xml[at] == '&') {
      const std::size_t end = xml.find(';', at);
      if (end == std::string::npos || end - at > 8) return "a bare & at " + xml.substr(at, 40);
      at = end + 1;
    } else if (xml[at] != '<') {
      ++at;
    } else {
      std::size_t end = at + 1;
      for (char quote = 0; end < xml.size() && (quote || xml[end] != '>'); ++end) {
        if (xml[end] == '<') return "a bare < at " + xml.substr(at, 40);
        if (quote ? xml[end] == quote : xml[end] == '"' || xml[end] == '\'') quote = quote ? char{0} : xml[end];
      }
      const std::string tag = xml.substr(at + 1, end - at - 1);
      const std::string name = tag.substr(tag.starts_with('/'), tag.find_first_of(" \t\n/", 1) - tag.starts_with('/'));
      if (tag.starts_with('/')) {
        if (open.empty() || open.back() != name) return "an unexpected </" + name + ">";
        open.pop_back();
      } else if (!tag.starts_with('?') && !tag.starts_with('!') && !tag.ends_with('/')) {
        open.push_back(name);
      }
      at = end + 1;
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

TEST(Plot, test_knows_broken_xml) {
  EXPECT_EQ(fault_in_xml("<?xml?><a b='>' c=\"'\"><d/>x &amp; y</a>"), "");
  for (const char* broken : {"<a>", "<a></b>", "</a>", "a & b", "<a <b>", "<a>x < y</a>"})
    EXPECT_NE(fault_in_xml(broken), "") << broken;
}

bool has_gnuplot() { return std::system("gnuplot --version > /dev/null 2>&1") == 0; }

TEST(Plot, is_well_formed_whatever_the_title) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const std::vector<double> history{1, 0.1, 0, std::numeric_limits<double>::quiet_NaN(), 1e-9};
  for (const char* title :
       {"plain", "it's <a> & \"b\"", "`touch /nowhere/at/all` $x _a^b {c} \\n @x", "\xff\x01 \xc3\xa9", ""}) {
    const Drawing drawing = draw(convergence_script({title, "||b - A x|| / ||b||", history, 1e-8, 1e-9}));
    EXPECT_EQ(drawing.failure, "");
    EXPECT_EQ(fault_in_xml(drawing.svg), "");
  }
}

TEST(Plot, takes_histories_of_any_length_and_kind) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  std::vector<double> history;
  history.reserve(100'000);
  for (int i = 0; i < 100'000; ++i) history.push_back(std::pow(0.9999, i));
  const Drawing drawing = draw(convergence_script({"long", "y", history, 1e-8, 1e-9}));
  EXPECT_EQ(drawing.failure, "");
  EXPECT_LT(drawing.svg.size(), 200'000u);
  for (const std::vector<double>& bad : {std::vector<double>{}, {0.0}, {1.0}, {1e-300, 1e300}}) {
    const Drawing one = draw(convergence_script({"bad", "y", bad, 0, 0}));
    EXPECT_EQ(one.failure, "");
    EXPECT_EQ(fault_in_xml(one.svg), "");
  }
}

TEST(Plot, failure_of_gnuplot_is_a_note_and_no_hang) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_TRUE(contains(draw("plot nonsense(\n").failure, "gnuplot ended with 1"));
  EXPECT_TRUE(contains(draw("pause 60\n", 0.2).failure, "took more than 0.2 s"));
  EXPECT_TRUE(draw("pause 60\n", 0.2).svg.empty());
}

TEST(Plot, want_of_gnuplot_is_a_note) {
  const std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  setenv("PATH", "/nowhere", 1);
  EXPECT_TRUE(contains(draw("plot 1\n").failure, "gnuplot is not installed"));
  setenv("PATH", path.c_str(), 1);
}

std::deque<Sight> sights() {
  std::deque<Sight> all;
  for (int i = 0; i <= 10; ++i) all.push_back({10 * i, std::pow(0.1, i * 0.1), 1e-8, 0.5 * i});
  return all;
}

TEST(Progress, knows_rate_and_time_left) {
  const Pace p = pace(sights());  // 0.1^0.01 an iteration, 20 iterations a second, 1e-1 reached, 7 decades to go
  EXPECT_NEAR(p.rate, std::pow(0.1, 0.01), 1e-12);
  EXPECT_NEAR(p.iterations_second, 20, 1e-9);
  EXPECT_NEAR(p.seconds_left, 700 / 20.0, 1e-6);
}

TEST(Progress, promises_nothing_while_the_residual_grows_or_is_unknown) {
  EXPECT_EQ(pace({}).rate, 0);
  EXPECT_EQ(pace({{1, 0.5, 1e-8, 0.1}}).rate, 0);
  EXPECT_LT(pace({{0, 1, 1e-8, 0}, {10, 2, 1e-8, 1}}).seconds_left, 0);
  EXPECT_LT(pace({{0, 1, 1e-8, 0}, {10, std::nan(""), 1e-8, 1}}).seconds_left, 0);
  EXPECT_EQ(pace({{10, 1, 1e-8, 1}, {10, 1, 1e-8, 1}}).rate, 0);
}

TEST(Progress, fits_every_width) {
  const Sight now = sights().back();
  const std::string whole = progress_text("bicgstab", now, pace(sights()), 200);
  EXPECT_EQ(whole, "bicgstab iteration 100, residual 1.00e-01 -> 1e-08, rate 0.977, 35 s left");
  for (std::size_t width = 0; width < 100; ++width)
    EXPECT_LE(progress_text("bicgstab", now, pace(sights()), width).size(), width);
}

TEST(Progress, writes_a_line_every_five_seconds_to_a_pipe_and_nothing_when_silent) {
  const test::Scratch scratch;
  for (const auto style : {ProgressLine::Style::lines, ProgressLine::Style::silent}) {
    std::FILE* out = std::fopen((scratch / "log").c_str(), "w");
    {
      ProgressLine line(out, style, "pcg");
      for (int i = 0; i < 1200; ++i) line.show({i, 0.5, 1e-8, 0.01 * i});
    }
    std::fclose(out);
    const std::string log = test::contents(scratch / "log");
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), style == ProgressLine::Style::lines ? 2 : 0) << log;
    EXPECT_FALSE(contains(log, "\r"));
  }
}

TEST(Progress, draws_the_live_line_anew_and_clears_it) {
  const test::Scratch scratch;
  std::FILE* out = std::fopen((scratch / "log").c_str(), "w");
  {
    ProgressLine line(out, ProgressLine::Style::live, "pcg");
    for (int i = 0; i < 1000; ++i) line.show({i, 0.5, 1e-8, 0.001 * i});
  }
  std::fclose(out);
  const std::string log = test::contents(scratch / "log");
  EXPECT_LE(std::count(log.begin(), log.end(), '\r'), 11);
  EXPECT_GE(std::count(log.begin(), log.end(), '\r'), 9);
  EXPECT_TRUE(log.ends_with("\r\x1b[K"));
  EXPECT_EQ(log.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace krill::apps
