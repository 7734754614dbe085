// krill bench: what is measured, written, compared and refused.
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/difference.hpp"
#include "apps/bench/job.hpp"
#include "apps/bench/result_text.hpp"
#include "apps/bench/timing.hpp"
#include "sparse/convert/work.hpp"
#include "sparse/spmv/work.hpp"
#include "tests/apps/program.hpp"

namespace krill::apps::test {
namespace {

using namespace bench;
using Json = nlohmann::json;

Row row_of(const std::string& kernel, const std::string& matrix, double ms) {
  Row row;
  row.kernel = kernel, row.matrix = matrix, row.precision = "float64", row.variant = "csr", row.cache = "cold";
  row.ms = ms;
  return row;
}
Result result_of(std::vector<Row> rows) { return {"abc", "2026-01-01T00:00:00Z", "H", "13.0", {}, std::move(rows)}; }

// The byte model.

TEST(ByteModel, csr_by_hand) {
  // -1, 2, -1 on four points: 10 entries of 8 + 4 bytes, 5 offsets of 4, x and y of 4 values.
  const AnyMatrix<double> A = generate<double>(Poisson1dOptions{4});
  EXPECT_EQ(matrix_bytes(A), 10 * 12 + 5 * 4);
  EXPECT_EQ(spmv_bytes<double>(matrix_bytes(A), 4, 4, false), 140 + 4 * 8 + 4 * 8);
  EXPECT_EQ(spmv_bytes<double>(matrix_bytes(A), 4, 4, true), 140 + 4 * 8 + 2 * 4 * 8);
  EXPECT_EQ((csr2csc_bytes<double, std::int32_t>(4, 4, 10)), 2 * 140);
  EXPECT_EQ((csr2csc_bytes<std::complex<float>, std::int64_t>(2, 5, 3)), 2 * 3 * 12 + 3 * 8 + 6 * 8);
  EXPECT_EQ((row_index_bytes<std::int32_t>(4, 10)), 5 * 4 + 10 * 4);
}

TEST(ByteModel, vectors_of_a_rectangle) { EXPECT_EQ(spmv_bytes<float>(100, 3, 5, false), 100 + 5 * 4 + 3 * 4); }

// Rotation and timing.

TEST(Timing, cold_sets_go_round_over_more_than_the_cache) {
  EXPECT_EQ(rotation(100, 250, false).copies, 3u);
  EXPECT_TRUE(rotation(100, 250, false).cold);
  EXPECT_EQ(rotation(1000, 250, false).copies, 1u);
  EXPECT_TRUE(rotation(1000, 250, false).cold);
}

TEST(Timing, what_is_warm_says_so) {
  EXPECT_EQ(rotation(100, 250, true).copies, 1u);
  EXPECT_FALSE(rotation(100, 250, true).cold);
  EXPECT_FALSE(rotation(1, 250'000'000, false).cold) << "too many copies";
  EXPECT_FALSE(rotation(0, 250'000'000, false).cold);
}

TEST(Timing, every_copy_is_used_equally_often) {
  Context ctx = Context::host(1);
  std::vector<int> calls(3);
  const Timing timing = measure(ctx, 3, [&](std::size_t i) { ++calls.at(i); });
  EXPECT_EQ(calls[0], calls[1]);
  EXPECT_EQ(calls[1], calls[2]);
  EXPECT_GT(timing.ms, 0);
  EXPECT_GE(timing.spread, 0);
}

// Matrices.

template <class T>
std::vector<T> dense(const AnyMatrix<T>& A) {
  std::vector<T> result(static_cast<std::size_t>(rows(A)) * static_cast<std::size_t>(cols(A)));
  with_csr(A, [&](const auto& a) {
    validate(a);
    for (std::int32_t i = 0; i < a.rows(); ++i)
      for (auto k = a.row_offsets().host()[i]; k < a.row_offsets().host()[i + 1]; ++k)
        result[static_cast<std::size_t>(i) * a.cols() + a.col_indices().host()[k]] = a.values().host()[k];
  });
  return result;
}

TEST(RepeatBlocks, is_block_diagonal) {
  // (1 2 0; 0 0 3), an empty row, three times
  const auto A = AnyMatrix<double>(Csr<double>(3, {0, 2, 2, 3}, {0, 1, 2}, {1., 2., 3.}));
  const AnyMatrix<double> three = repeat_blocks(A, 3);
  ASSERT_EQ(rows(three), 9);
  ASSERT_EQ(cols(three), 9);
  ASSERT_EQ(nnz(three), 9);
  const auto one = dense(A), all = dense(three);
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j)
      EXPECT_EQ(all[static_cast<std::size_t>(i * 9 + j)],
                i / 3 == j / 3 ? one[static_cast<std::size_t>(i % 3 * 3 + j % 3)] : 0)
          << i << " " << j;
}

TEST(RepeatBlocks, of_rectangles_and_of_64_bit_offsets) {
  const auto A = AnyMatrix<std::complex<float>>(
      Csr<std::complex<float>, std::int64_t>(2, {std::int64_t{0}, std::int64_t{1}}, {1}, {{5, 6}}));
  const auto two = repeat_blocks(A, 2);
  EXPECT_EQ(rows(two), 2);
  EXPECT_EQ(cols(two), 4);
  const std::vector<std::complex<float>> expected{{}, {5, 6}, {}, {}, {}, {}, {}, {5, 6}};
  EXPECT_EQ(dense(two), expected);
}

TEST(RepeatBlocks, too_many_are_refused_with_what_is_possible) {
  const AnyMatrix<double> A = generate<double>(Poisson1dOptions{1000});
  try {
    repeat_blocks(A, 3'000'000);
    FAIL() << "no error";
  } catch (const InvalidArgument& e) {
    EXPECT_TRUE(contains(e.what(), "--repeat-blocks 3000000")) << e.what();
    EXPECT_TRUE(contains(e.what(), "at most 2147483 blocks")) << e.what();
  }
}

TEST(RepeatBlocks, auto_fills_the_machine_and_says_so) {
  const Scratch folder;
  const std::string file = folder.write("tiny.mtx.txt", banner + "2 2 2\n1 1 1\n2 2 1\n");
  const BenchMatrix matrix = named_matrix(file, {});
  const auto made = make_matrix<double>(matrix, {0, 1000});
  EXPECT_EQ(made.name, "tiny x 28");  // 36 bytes each
  EXPECT_EQ(rows(made.A), 56);
  EXPECT_EQ(make_matrix<double>(matrix, {1, 1000}).name, "tiny");
  EXPECT_EQ(make_matrix<double>(matrix, {0, 10}).name, "tiny");
}

TEST(Suites, have_the_same_seven_families) {
  EXPECT_EQ(suite("targets").size(), 7u);
  EXPECT_EQ(suite("small").size(), 7u);
  for (const BenchMatrix& matrix : suite("targets")) EXPECT_EQ(named_matrix(matrix.name, {}).name, matrix.name);
}

TEST(Suites, random_columns_are_distinct) {
  const auto made = make_matrix<double>({"rnd", RandomColumns{1000, 16}}, {});
  const auto& A = std::get<Csr<double>>(made.A);
  validate(A);
  EXPECT_EQ(A.nnz(), 16'000);
  for (int i = 0; i <= 1000; ++i) EXPECT_EQ(A.row_offsets().host()[static_cast<std::size_t>(i)], 16 * i);
  EXPECT_EQ(nnz(make_matrix<double>({"rnd", RandomColumns{3, 16}}, {}).A), 9) << "no more than there are";
}

TEST(Suites, power_law_rows_and_columns) {
  const auto made = make_matrix<float>({"pow", PowerLaw{1'000'000}}, {});
  const auto& A = std::get<Csr<float>>(made.A);
  validate(A);
  EXPECT_NEAR(static_cast<double>(A.nnz()), 12.6e6, 0.1e6);
  std::vector<int> in_column(static_cast<std::size_t>(A.cols()));
  for (const auto col : A.col_indices().host()) ++in_column[static_cast<std::size_t>(col)];
  std::int32_t longest = 0;
  for (std::size_t i = 0; i < 1'000'000; ++i)
    longest = std::max(longest, A.row_offsets().host()[i + 1] - A.row_offsets().host()[i]);
  EXPECT_GT(longest, 1000);
  EXPECT_GT(*std::max_element(in_column.begin(), in_column.end()), 1000);
}

// Results.

TEST(Results, survive_the_file) {
  const Scratch folder;
  Row full = row_of("spmv", "p3d256", 0.25);
  full.rows = 7, full.nnz = 1LL << 40, full.bytes = 1e9, full.gbps = 4000, full.ceiling_share = 0.9;
  full.rival = "cuSPARSE", full.rival_variant = "CSR_ALG2", full.rival_ms = 0.5, full.ratio = 2, full.spread = 0.01;
  full.setup_ms = 3, full.break_even = 12, full.rival_error = "CSR_ALG1: no";
  Row failed = row_of("spmv", "rnd", 1);
  failed.ms.reset(), failed.error = "out of memory";
  Result result = result_of({full, failed});
  result.ceilings = {4000, 4100, {}};
  const auto back = read_results(folder.write("r.json", to_json(result).dump()));
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(to_json(back[0]), to_json(result));
  EXPECT_EQ(back[0].rows[0].nnz, 1LL << 40);
  EXPECT_TRUE(to_json(result)["rows"][1]["ms"].is_null());
  EXPECT_TRUE(to_json(result)["rows"][1]["rival"].is_null());
}

TEST(Results, bad_files_are_named) {
  const Scratch folder;
  const auto expect = [&](const std::string& text, const std::string& message) {
    try {
      read_results(folder.write("r.json", text));
      ADD_FAILURE() << "no error for " << text;
    } catch (const Error& e) {
      EXPECT_TRUE(contains(e.what(), message)) << e.what();
      EXPECT_TRUE(contains(e.what(), "r.json")) << e.what();
    }
  };
  expect("{", "is not JSON");
  expect("[]", "is an empty list");
  expect("3", "the result is 3, expected an object");
  expect("{}", "the result is {}, expected an object with a list of rows");
  expect(R"({"rows": 3})", ".rows is 3, expected a list");
  expect(R"({"rows": [{"ms": "fast"}]})", R"(the result.rows[0].ms is "fast", expected a number or null)");
  expect(R"([{"rows": []}, {"rows": [{"kernel": 1}]}])", "result[1].rows[0].kernel is 1, expected text or null");
}

TEST(Results, geometric_means_by_kernel) {
  std::vector<Row> rows{row_of("spmv", "a", 1), row_of("spmv", "b", 1), row_of("csr2csc", "a", 1)};
  rows[0].ratio = 2, rows[1].ratio = 8;
  const auto means = geometric_means(rows);
  ASSERT_EQ(means.size(), 1u);
  EXPECT_EQ(means[0].kernel, "spmv");
  EXPECT_EQ(means[0].rows, 2);
  EXPECT_NEAR(means[0].ratio, 4, 1e-14);
}

TEST(Results, markdown_keeps_cells_together) {
  Row failed = row_of("spmv", "a|b", 1);
  failed.ms.reset(), failed.error = "no\nroom";
  const std::string text = markdown({result_of({row_of("spmv", "p3d256", 0.25), failed})});
  EXPECT_TRUE(contains(text, "## H\n\nCommit abc, driver 13.0, 2026-01-01")) << text;
  EXPECT_TRUE(contains(text, "\n### spmv\n\n| case | precision | variant | cache | ms |")) << text;
  EXPECT_TRUE(contains(text, "\n| p3d256 | float64 | csr | cold | 0.2500 |")) << text;
  EXPECT_TRUE(contains(text, "| a\\|b |")) << text;
  EXPECT_TRUE(contains(text, "| error: no room |\n")) << text;
}

TEST(Results, the_table_fits_80_columns_and_says_once_what_rows_share) {
  Row row = row_of("spmv", "p3d256", 1234.5);
  row.variant = "gtsv_interleaved thomas", row.spread = 0.12345, row.gbps = 4321.5, row.ceiling_share = 1;
  row.setup_ms = 1234.5, row.iterations = 20'000, row.rival_ms = 1, row.ratio = 123.45, row.rival = "Eigen 3.4.0";
  Row failed = row;
  failed.error = "there is no room for a matrix of this size on the host, nor is there any elsewhere";
  failed.rival_error = "no room there either, which is said in a sentence that takes a second line";
  RowTable table(row.variant.size());
  std::string text;
  for (const Row& one : {row, row, failed}) text += table.lines(one, false);
  row.kernel = "pcg", row.variant = "ilu0 in color order";
  RowTable solvers(row.variant.size());
  text += solvers.lines(row, true);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  const auto count = [&](const std::string& words) {
    std::size_t times = 0;
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++times;
    return times;
  };
  EXPECT_EQ(count("p3d256, float64, cold; ratio to Eigen 3.4.0"), 2U) << text;
  EXPECT_EQ(count("setup ms"), 1U) << text;
  EXPECT_EQ(count("123.45"), 3U) << text;
  EXPECT_EQ(count("error: there is no room"), 1U) << text;
}

TEST(Difference, verdicts) {
  using Kind = Change::Kind;
  Row failed = row_of("spmv", "fails", 1);
  failed.ms.reset(), failed.cache.clear(), failed.error = "refused";
  const auto before = result_of({row_of("spmv", "same", 1), row_of("spmv", "slower", 1), row_of("spmv", "faster", 1),
                                 row_of("spmv", "gone", 1), row_of("spmv", "fails", 1)});
  const auto after = result_of({row_of("spmv", "same", 1.04), row_of("spmv", "slower", 1.06),
                                row_of("spmv", "faster", 0.9), failed, row_of("spmv", "new", 1)});
  const auto changes = compare({before}, {after}, 0.05);
  const std::vector<Kind> expected{Kind::same, Kind::slower, Kind::faster, Kind::gone, Kind::fails, Kind::added};
  ASSERT_EQ(changes.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(changes[i].kind, expected[i]) << i;
  EXPECT_TRUE(got_worse(changes));
  EXPECT_FALSE(got_worse(compare({before}, {before}, 0)));
  EXPECT_TRUE(contains(difference_text(changes, 0.05),
                       "4 rows compared: 1 slower, 1 fail now, 1 faster, 1 within 5 % or their spread"));
}

TEST(Difference, lets_pass_what_the_rounds_spread) {
  const auto kind = [](double ms, double spread_before, double spread_after) {
    Row before = row_of("spmv", "a", 1), after = row_of("spmv", "a", ms);
    before.spread = spread_before, after.spread = spread_after;
    return compare({result_of({before})}, {result_of({after})}, 0.05)[0].kind;
  };
  EXPECT_EQ(kind(1.2, 0.01, 0.01), Change::Kind::slower);
  EXPECT_EQ(kind(1.2, 0.25, 0.01), Change::Kind::same);
  EXPECT_EQ(kind(1.2, 0.01, 0.25), Change::Kind::same);
  EXPECT_EQ(kind(1.3, 0.25, 0.25), Change::Kind::slower);
  EXPECT_EQ(kind(0.8, 0.01, 0.3), Change::Kind::same);
}

TEST(Difference, warm_and_cold_are_different_rows) {
  Row warm = row_of("spmv", "a", 1);
  warm.cache = "warm";
  EXPECT_FALSE(got_worse(compare({result_of({warm})}, {result_of({row_of("spmv", "a", 9)})}, 0.05)));
}

// Jobs.

/// A subject on the host whose rows are kept.
struct Bench {
  Context ctx = Context::host(2);
  std::vector<Row> rows;
  std::vector<std::string> formats;

  BenchSubject<double> subject(const Rival<double>* rival = nullptr) {
    return {ctx,
            "grid",
            "float64",
            std::make_shared<const AnyMatrix<double>>(generate<double>(Poisson2dOptions{30})),
            rival,
            10,
            true,
            formats,
            [this](const Row& row) { rows.push_back(row); }};
  }
};

TEST(Job, what_fails_is_a_row_with_an_error) {
  Bench bench;
  const auto subject = bench.subject();
  Row row = subject.row("spmv", "csr");
  measure_job<double>(subject, row, [](std::size_t) -> Job<double> { throw OutOfMemory("a matrix", 8, 4); });
  EXPECT_TRUE(contains(row.error, "a matrix")) << row.error;
  EXPECT_FALSE(row.ms || row.gbps || row.ratio);
  EXPECT_EQ(row.nnz, 4380);
}

TEST(Job, a_wrong_result_has_no_time) {
  Bench bench;
  const auto subject = bench.subject();
  Row row = subject.row("spmv", "csr");
  measure_job<double>(subject, row, [](std::size_t) {
    Job<double> job;
    job.run = [] {};
    job.bytes = 8;
    job.fault = [] { return "wrong result"; };
    return job;
  });
  EXPECT_EQ(row.error, "wrong result");
  EXPECT_FALSE(row.ms);
}

/// Its only algorithm leaves y as it is, or refuses.
struct LazyRival final : Rival<double> {
  bool refuses = false;
  struct Nothing final : RivalRun {
    void operator()() override {}
  };
  std::string name() const override { return "lazy"; }
  std::vector<std::string> algorithms(const Task<double>&) const override { return {"none"}; }
  std::unique_ptr<RivalRun> prepare(Context&, const std::string&, const Task<double>&) const override {
    if (refuses) throw Error("no such thing");
    return std::make_unique<Nothing>();
  }
};

TEST(Job, a_rival_with_a_wrong_result_or_an_error_has_no_time) {
  for (const bool refuses : {false, true}) {
    Bench bench;
    bench.formats = {"csr"};
    LazyRival rival;
    rival.refuses = refuses;
    bench_spmv(bench.subject(&rival));
    ASSERT_EQ(bench.rows.size(), 1u);
    EXPECT_TRUE(bench.rows[0].ms);
    EXPECT_FALSE(bench.rows[0].rival_ms || bench.rows[0].ratio);
    EXPECT_TRUE(contains(bench.rows[0].rival_error, refuses ? "none: no such thing" : "none: wrong result"))
        << bench.rows[0].rival_error;
  }
}

/// Needs y = 1 to make it 2, and takes as long to bring the 1 back.
struct OverwritingRival final : Rival<double> {
  struct Doubling final : RivalRun {
    Array<double>& y;
    explicit Doubling(Array<double>& y_) : y(y_) { restore(); }
    void operator()() override {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      y.edit()[0] += y.host()[0];
    }
    bool restore() override {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      y.edit()[0] = 1;
      return true;
    }
  };
  std::string name() const override { return "overwriting"; }
  std::vector<std::string> algorithms(const Task<double>&) const override { return {"doubling"}; }
  std::unique_ptr<RivalRun> prepare(Context&, const std::string&, const Task<double>& task) const override {
    return std::make_unique<Doubling>(*task.y);
  }
};

TEST(Job, restoring_what_a_rival_overwrites_takes_no_time) {
  Bench bench;
  const OverwritingRival rival;
  const auto subject = bench.subject(&rival);
  Row row = subject.row("doubling", "none");
  measure_job<double>(subject, row, [](std::size_t) {
    auto y = std::make_shared<Array<double>>(std::vector<double>{2});
    Job<double> job;
    job.run = [] {};
    job.bytes = 8;
    job.task.y = y.get();
    job.fault = [result = y.get()] { return result->host()[0] == 2 ? "" : "wrong result"; };
    job.keeps = y;
    return job;
  });
  EXPECT_EQ(row.error + row.rival_error, "");
  ASSERT_TRUE(row.rival_ms);
  EXPECT_LT(*row.rival_ms, 9);  // of 10 for both
}

TEST(Rivals, cusparse_lists_its_algorithms_without_a_device) {
  try {
    require_cusparse_module();
  } catch (const InvalidArgument& e) {
    EXPECT_TRUE(contains(e.what(), "libkrill_bench_cusparse.so")) << e.what();
    EXPECT_TRUE(contains(e.what(), "\n  ")) << "no advice: " << e.what();
    GTEST_SKIP() << e.what();
  }
  Context host = Context::host(1);  // no handle of cuSPARSE's is made
  const auto rival = make_cusparse_rival<double>(host);
  EXPECT_TRUE(rival->name().starts_with("cuSPARSE 1")) << rival->name();
  const AnyMatrix<double> A = generate<double>(Poisson1dOptions{4});
  Task<double> task{.kernel = "spmv", .A = &A};
  EXPECT_EQ(rival->algorithms(task), (std::vector<std::string>{"CSR_ALG1", "CSR_ALG2"}));
  task.kernel = "csr2csc";
  EXPECT_EQ(rival->algorithms(task), (std::vector<std::string>{"CSR2CSC_ALG1"}));
  task.kernel = "coo2csr";
  EXPECT_TRUE(rival->algorithms(task).empty());
  task.A = nullptr;
  EXPECT_TRUE(rival->algorithms(task).empty());
  const Banded<double> banded(BandLayout::interleaved(4, 3)), padded(BandLayout::interleaved(4, 3, 5));
  task.bands = &banded;
  EXPECT_TRUE(rival->algorithms(task).empty());
  for (const char* kernel : {"gtsv2", "gtsv2_nopivot", "gtsv2_strided", "gtsv_interleaved thomas",
                             "gtsv_interleaved lu", "gtsv_interleaved qr", "gpsv_interleaved"}) {
    task.kernel = kernel, task.bands = &banded;
    EXPECT_EQ(rival->algorithms(task).size(), 1u) << kernel;
    task.bands = &padded;
    EXPECT_TRUE(rival->algorithms(task).empty()) << kernel;
  }
}

// The command.

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
    EXPECT_EQ(result["rows"][static_cast<std::size_t>(i + 2)]["bytes"], 3 * given);
  }
  for (const Json& row : result["rows"]) {
    EXPECT_TRUE(row["error"].is_null()) << row;
    EXPECT_EQ(row["ratio"].is_null(), row["variant"] == "new values") << row;
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
         "batch, banded, pcg, gmres, bicgstab or solvers");
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
