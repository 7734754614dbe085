// The files of data/ are what the generators make today: their numbers never change, on any machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "sparse/io/read.hpp"
#include "tests/io/dense.hpp"

namespace krill::test {
namespace {

/// The recipes of data/MANIFEST.tsv; what is made by hand has none.
const std::map<std::string, GeneratorOptions>& recipes() {
  static const std::map<std::string, GeneratorOptions> all{
      {"poisson2d.mtx", Poisson2dOptions{12, 10}},
      {"convection_diffusion2d.mtx", ConvectionDiffusion2dOptions{12, 10, 40}},
      {"elasticity3d.mtx", Elasticity3dOptions{2, 1, 1}},
      {"helmholtz2d.mtx", Helmholtz2dOptions{12, 10, 8, 0.2}},
      {"random_dominant.mtx", RandomDominantOptions{60, 5}},
      {"power_law_laplacian.mtx", PowerLawLaplacianOptions{120, 2}},
      {"resistor_network.mtx.gz", ResistorNetworkOptions{20, 20}},
  };
  return all;
}

TEST(Data, files_hold_what_the_generators_make) {
  for (const auto& [file, options] : recipes()) {
    SCOPED_TRACE(file);
    CanonicalReport report;
    const AnyMatrix<Z> any = assemble(read_matrix<Z>("data/" + file).matrix, report);
    const Reference read = reference(std::get<Csr<Z>>(any));
    const Reference now = needs_complex(options) ? made<Z>(options) : made<double>(options);
    EXPECT_EQ(read.row, now.row);
    EXPECT_EQ(read.col, now.col);
    EXPECT_EQ(read.value, now.value);
    EXPECT_EQ(report.duplicates, 0);
  }
}

TEST(Data, every_file_stands_in_the_manifest) {
  std::set<std::string> listed, found;
  std::ifstream manifest("data/MANIFEST.tsv");
  std::string line;
  for (std::getline(manifest, line); std::getline(manifest, line);) {
    listed.insert(line.substr(0, line.find('\t')));
    EXPECT_EQ(std::ranges::count(line, '\t'), 2) << line;
  }
  for (const auto& entry : std::filesystem::directory_iterator("data"))
    if (entry.is_regular_file() && entry.path().filename() != "MANIFEST.tsv") found.insert(entry.path().filename());
  EXPECT_EQ(listed, found);
}

}  // namespace
}  // namespace krill::test
