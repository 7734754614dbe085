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
#include "tests/apps/bench_rows.hpp"
#include "tests/apps/program.hpp"

namespace krill::apps::test {
namespace {

using namespace bench;
using Json = nlohmann::json;

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
  full.workspace_bytes = 1LL << 33, full.rival_workspace_bytes = 5;
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

TEST(Results, rows_of_several_ranks_have_columns_of_their_own) {
  Row row = row_of("scaling", "p3d256 on 8 ranks", 1.2345);
  row.variant = "bicgstab, jacobi", row.spread = 0.0123, row.ranks = 8, row.iterations = 400;
  row.one_rank_ms = 9.87654, row.speed_up = 8, row.efficiency = 1, row.halo_bytes = 1'048'576;
  const std::string text = RowTable(row.variant.size()).lines(row, false);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_TRUE(contains(text, "   1234.5    1.2 %     9876.5      8.00     100.0 %   1048.6\n")) << text;
  EXPECT_FALSE(contains(text, "GB/s")) << text;
  const std::string page = markdown({result_of({row})});
  EXPECT_TRUE(contains(page, "| us a step | spread | one rank | speed-up | efficiency | halo KB | rival |")) << page;
}

TEST(BenchMatrices, a_grid_is_enlarged_along_its_last_direction) {
  const auto rows_of = [](const BenchMatrix& matrix) {
    return krill::rows(make_matrix<double>(matrix, RepeatBlocks{1}).A);
  };
  const auto flat = enlarged(named_matrix("poisson2d", {"nx=5"}), 3), deep = enlarged(named_matrix("p3d50", {}), 2);
  ASSERT_TRUE(flat && deep);
  EXPECT_EQ(rows_of(*flat), 5 * 15);
  EXPECT_EQ(std::get<Poisson2dOptions>(std::get<GeneratorOptions>(flat->source)).nx, 5);
  EXPECT_EQ(rows_of(*deep), 50 * 50 * 100);
  EXPECT_EQ(rows_of(*enlarged(named_matrix("poisson1d", {"nx=7"}), 2)), 14);
  EXPECT_FALSE(enlarged(named_matrix("rnd100k", {}), 2));
  EXPECT_FALSE(enlarged(named_matrix("random_spd", {"rows=9"}), 2));
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

/// Needs y = 1 to make it 2, and takes four times as long to bring the 1 back.
struct OverwritingRival final : Rival<double> {
  struct Doubling final : RivalRun {
    Array<double>& y;
    explicit Doubling(Array<double>& y_) : y(y_) { restore(); }
    void operator()() override {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      y.edit()[0] += y.host()[0];
    }
    bool restore() override {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
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
  EXPECT_LT(*row.rival_ms, 20);  // of 25 for both
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

}  // namespace
}  // namespace krill::apps::test
