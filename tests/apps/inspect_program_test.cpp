// `krill inspect`: what it prints and writes, and whether the suggested cases run.
#include <fmt/format.h>
#include <png.h>

#include "apps/case/case.hpp"
#include "apps/commands/solve.hpp"
#include "apps/inspect/pictures.hpp"
#include "apps/inspect/svg.hpp"
#include "sparse/io/generate.hpp"
#include "tests/apps/program.hpp"

namespace krill::apps::test {
namespace {

using Json = nlohmann::json;

class Inspect : public Program {};

TEST_F(Inspect, writes_four_files_and_the_suggested_case_runs_as_it_stands) {
  krill("generate convection_diffusion2d nx=40 -o flow.mtx");
  const Outcome o = krill("inspect flow.mtx --out found --backend host");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(names_in(folder_ / "found"),
            (std::vector<std::string>{"inspection.json", "rows.svg", "spy.svg", "suggested.yaml"}));
  const std::string suggested = contents(folder_ / "found/suggested.yaml");
  EXPECT_TRUE(contains(suggested, "matrix: {file: \"../flow.mtx\"}")) << suggested;
  EXPECT_TRUE(contains(suggested, "\n# gmres, as the matrix is not symmetric")) << suggested;
  EXPECT_EQ(krill("solve found/suggested.yaml --quiet").code, 0);
  const Json j = Json::parse(contents(folder_ / "found/inspection.json"));
  EXPECT_EQ(j["structure"]["components"]["count"], 1);
  EXPECT_EQ(j["suggestion"]["solver"]["type"], "gmres");
  for (const std::string picture : {"spy.svg", "rows.svg"}) {
    const std::string svg = contents(folder_ / ("found/" + picture));
    EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    EXPECT_LT(svg.size(), 300'000U);
  }
}

TEST_F(Inspect, prints_findings_levels_and_the_case) {
  folder_.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 2\n1 2 5\n2 1 4\n3 2 1\n3 3 1\n");
  const std::string text = krill("inspect a.mtx --backend host").out;
  for (const std::string part :
       {"warning       1 row without a diagonal entry (33.3 %) (first: row 1)", "natural order", "color, 2 colors",
        "preconditioner: {type: auto}", "matrix: {file: a.mtx}"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

TEST_F(Inspect, suggests_no_case_where_none_can_run) {
  folder_.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 3 1\n");
  const Outcome o = krill("inspect wide.mtx --out found");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(exists("found/suggested.yaml"));
  EXPECT_TRUE(contains(o.out, "error         2 rows and 3 columns"));
}

TEST_F(Inspect, refuses_a_folder_that_cannot_be_made) {
  folder_.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  const Outcome o = krill("inspect a.mtx --out a.mtx/found");
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(contains(o.err, "the output folder cannot be made")) << o.err;
}

TEST(Raster, counts_every_entry_once_and_densities_are_shares) {
  PowerLawLaplacianOptions graph;
  graph.rows = 1037;
  const AnyMatrix<double> A = generate<double>(graph);
  const Raster raster = rasterize(A);
  EXPECT_EQ(raster.cell_rows, Raster::max_cells);
  std::int64_t sum = 0;
  for (const std::int64_t count : raster.counts) sum += count;
  EXPECT_EQ(sum, nnz(A));
  for (std::int32_t i = 0; i < raster.cell_rows; ++i)
    for (std::int32_t j = 0; j < raster.cell_cols; ++j) {
      EXPECT_GE(raster.density(i, j), 0);
      EXPECT_LE(raster.density(i, j), 1);
    }
}

TEST(Png, holds_the_picture) {
  const IndexedImage image{3, 2, {0, 1, 2, 2, 1, 0}, {"#ffffff", "#123456", "#00ff7f"}};
  const std::string file = png(image);
  png_image head{};
  head.version = PNG_IMAGE_VERSION;
  ASSERT_TRUE(png_image_begin_read_from_memory(&head, file.data(), file.size())) << head.message;
  EXPECT_EQ(head.width, 3u);
  EXPECT_EQ(head.height, 2u);
  head.format = PNG_FORMAT_RGB;
  std::vector<unsigned char> pixels(PNG_IMAGE_SIZE(head));
  ASSERT_TRUE(png_image_finish_read(&head, nullptr, pixels.data(), 0, nullptr)) << head.message;
  EXPECT_EQ(pixels, (std::vector<unsigned char>{255, 255, 255, 0x12, 0x34, 0x56, 0, 255, 127,  //
                                                0, 255, 127, 0x12, 0x34, 0x56, 255, 255, 255}));
}

TEST(Ticks, are_round_numbers_inside) {
  EXPECT_EQ(ticks(0, 100, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(ticks(0, 7, 6), (std::vector<double>{0, 2, 4, 6}));
  EXPECT_EQ(ticks(0, 0, 6), (std::vector<double>{0}));
}

/// Real matrices that the rules solve on the host to 1e-8 with b = 1, quickly. Of bcsstk13, bcsstm10, e05r0500,
/// olm1000, plskz362, qc324 and young1c, pcg or gmres(50) with jacobi (or none) solves none in 2000 iterations.
/// (Solved, too, in seconds: bp_1200, dw2048, rail_20209, rdb2048l, west0479.)
const std::vector<std::string> solved{"1138_bus", "add20",    "arc130",   "bcsstk08", "bcsstk13",       "bcsstk16",
                                      "bcsstm10", "bodyy5",   "cage10",   "e05r0500", "elasticity_bar", "gr_30_30",
                                      "jpwh_991", "memplus",  "olm1000",  "orsirr_1", "pde2961",        "plskz362",
                                      "qc324",    "sherman4", "sherman5", "vem1",     "wathen100",      "young1c"};

class RealMatrices : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder_ / "young1c.mtx.gz"))
      GTEST_SKIP() << "no real matrices; KRILL_MATRICES names their folder";
  }
  /// Everything chosen by auto, with those stopping criteria. Returns the exit code.
  int solve(const std::string& name, const std::string& stop) {
    const std::string path = scratch_.write(
        "case.yaml", fmt::format("matrix: {{file: {}}}\nsolver: {{type: auto, stop: {{time_limit: 60, {}}}}}\n"
                                 "preconditioner: {{type: auto}}\nordering: {{type: auto}}\nscaling: {{type: auto}}\n"
                                 "matching: {{type: auto}}\noutput: {{plot: false}}\n",
                                 (folder_ / (name + ".mtx.gz")).string(), stop));
    return run_solve({.case_path = path, .backend = "host", .out = scratch_ / "out", .quiet = true});
  }
  Json report() const { return Json::parse(contents(scratch_ / "out/report.json")); }

  const std::filesystem::path folder_ =
      std::filesystem::absolute(std::getenv("KRILL_MATRICES") ? std::getenv("KRILL_MATRICES") : "../shared/matrices");
  Scratch scratch_;
};

TEST_F(RealMatrices, are_solved_where_the_rules_are_known_to_do_so) {
  for (const std::string& name : solved) EXPECT_EQ(solve(name, "relative: 1e-8"), 0) << name;
}

TEST_F(RealMatrices, that_allow_no_such_target_end_at_the_limit_of_accuracy) {
  for (const std::string name : {"cryg2500", "lns_131", "nos7", "reorientation_1"}) {
    EXPECT_EQ(solve(name, "relative: 1e-8"), 1) << name;
    const Json missed = report();
    EXPECT_EQ(missed["status"], "limit_of_accuracy") << name;
    EXPECT_LE(missed["backward_error"], 1e-17) << name;
    EXPECT_GT(missed["residual"]["rounding_relative"], 1e-8) << name;
    EXPECT_TRUE(contains(missed["why"], "is below what float64 reaches")) << missed["why"];
    EXPECT_EQ(solve(name, "relative: 1e-16, baseline: backward_error"), 0) << name;
    EXPECT_LE(report()["residual"]["true_relative"], 1e-16) << name;
  }
}

}  // namespace
}  // namespace krill::apps::test
