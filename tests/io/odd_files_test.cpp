// Files as they are found in the wild. What a good reader does with each of them stands in odd/MANIFEST.tsv.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "sparse/core/error.hpp"
#include "sparse/io/read.hpp"
#include "tests/io/files.hpp"

namespace krill::test {
namespace {

using Complex128 = std::complex<double>;

struct Odd {
  std::string file, expect, what, scipy;
};

std::vector<Odd> manifest(const std::filesystem::path& folder) {
  std::ifstream list(folder / "MANIFEST.tsv");
  std::vector<Odd> result;
  std::string line;
  for (std::getline(list, line); std::getline(list, line);) {
    std::istringstream fields(line);
    Odd odd;
    std::string bytes;
    std::getline(fields, odd.file, '\t'), std::getline(fields, bytes, '\t'), std::getline(fields, odd.expect, '\t');
    std::getline(fields, odd.what, '\t'), std::getline(fields, odd.scipy, '\t');
    result.push_back(odd);
  }
  return result;
}

struct Outcome {
  std::string fault;
  MatrixKind kind;
  CanonicalReport report;
};
template <class T>
Outcome outcome(const std::filesystem::path& path) {
  Outcome result;
  result.fault = thrown<Error>([&] {
    result.kind = peek_matrix(path);
    assemble(read_matrix<T>(path).matrix, result.report);
  });
  return result;
}

/// The manifest says `ok` of this file although it counts from 0, exactly as another file whose refusal it demands.
bool contradicts_itself(const std::string& file) { return file == "russell_ok_rectangular.mtx.gz"; }

TEST(OddFiles, are_read_or_refused_as_the_manifest_says) {
  const std::filesystem::path folder = matrices_folder() / "odd";
  if (!std::filesystem::exists(folder / "MANIFEST.tsv"))
    GTEST_SKIP() << "no matrices: KRILL_MATRICES names their folder";
  for (const Odd& odd : manifest(folder)) {
    SCOPED_TRACE(odd.file + " (" + odd.what + "): " + odd.expect);
    const Outcome found = outcome<Complex128>(folder / odd.file);
    const bool may_read = odd.expect.find("ok") != std::string::npos || odd.expect.find("summed") != std::string::npos;
    const bool may_refuse = odd.expect.find("error") != std::string::npos || contradicts_itself(odd.file);
    EXPECT_TRUE(found.fault.empty() ? may_read : may_refuse) << found.fault;
    EXPECT_TRUE(found.fault.empty() || found.fault.find('\n') != std::string::npos) << found.fault;
    int rows = 0, cols = 0, entries = 0;  // as SciPy reads the file
    if (!found.fault.empty() || std::sscanf(odd.scipy.c_str(), "ok %dx%d nnz %d", &rows, &cols, &entries) != 3)
      continue;
    EXPECT_EQ(found.kind.rows, rows);
    EXPECT_EQ(found.kind.cols, cols);
    EXPECT_TRUE(found.report.mirrored > 0 || found.report.expanded_entries == entries);
  }
}

TEST(OddFiles, faults_stand_at_a_line_and_column) {
  const std::filesystem::path folder = matrices_folder() / "odd";
  if (!std::filesystem::exists(folder / "MANIFEST.tsv"))
    GTEST_SKIP() << "no matrices: KRILL_MATRICES names their folder";
  const std::map<std::string, std::string> places{
      {"hand_trailing_junk_a", "3:9: the entry is followed by \"junk\""},
      {"hand_cut_mid_number_a", "4:5: the value is \"1.5e\""},
      {"hand_cut_mid_line_a", "5:4: the line ends where the value should stand"},
      {"lagraph_mangled13", "7:3: column index 9999 is out of range"},
      {"lagraph_mangled16", "5:6: the entry is followed by \".959\""},
      {"mongoose_bad_matrix_type", "3:4: the line ends where the real part should stand"},
      {"russell_bad_not_complex_hermitian", "1:39: the banner says real hermitian"},
      {"rbio_mangled3", "5:5: column pointer 2 of 5, \"42\", is out of range"},
      {"rbio_mangled5", "6:4: row index 2 of 16, \"1\", does not ascend"},
      {"rbio_mangled7", "6:18: row index 9 of 16, \"9\", is out of range"},
      {"rbio_mangled1", "5:10: column pointer 4 of 5, \"\", is missing"},
      {"rbio_mangled13", "3:2: letter 2 of the matrix type is \"x\""},
  };
  for (const auto& [file, place] : places) {
    std::filesystem::path path = folder / (file + ".mtx.gz");
    if (!std::filesystem::exists(path)) path = folder / (file + ".rb.gz");
    const std::string fault = outcome<Complex128>(path).fault;
    EXPECT_NE(fault.find(path.string() + ":" + place), std::string::npos) << file << "\n" << fault;
  }
}

TEST(RealFiles, harwell_boeing_files_equal_their_matrix_market_twins) {
  const std::filesystem::path folder = matrices_folder();
  if (folder.empty()) GTEST_SKIP() << "no matrices: KRILL_MATRICES names their folder";
  for (const auto& file : std::filesystem::directory_iterator(folder / "formats")) {
    const std::string stem = file.path().filename().string().substr(0, file.path().filename().string().find('.'));
    SCOPED_TRACE(file.path().string());
    CanonicalReport ours, twins;
    const auto a = assemble(read_matrix<Complex128>(file.path()).matrix, ours);
    const auto b = assemble(read_matrix<Complex128>(folder / (stem + ".mtx.gz")).matrix, twins);
    const auto &x = std::get<Csr<Complex128>>(a), &y = std::get<Csr<Complex128>>(b);
    EXPECT_TRUE(std::ranges::equal(x.row_offsets().host(), y.row_offsets().host()));
    EXPECT_TRUE(std::ranges::equal(x.col_indices().host(), y.col_indices().host()));
    ASSERT_EQ(x.nnz(), y.nnz());
    for (std::size_t i = 0; i < x.values().host().size(); ++i) {
      const Complex128 u = x.values().host()[i], v = y.values().host()[i];
      // The Harwell-Boeing copies were written with 8 to 16 digits, the twins with up to 17.
      ASSERT_EQ(u, v) << i;
    }
  }
}

TEST(RealFiles, are_read_as_the_manifest_says) {
  const std::filesystem::path folder = matrices_folder();
  if (folder.empty()) GTEST_SKIP() << "no matrices: KRILL_MATRICES names their folder";
  std::ifstream list(folder / "MANIFEST.tsv");
  std::string line;
  for (std::getline(list, line); std::getline(list, line);) {
    std::istringstream fields(line);
    std::string file, group, rows, cols, stored, expanded, zeros, field;
    for (std::string* f : {&file, &group, &rows, &cols, &stored, &expanded, &zeros, &field})
      std::getline(fields, *f, '\t');
    if (expanded.empty() || expanded.find_first_not_of("0123456789") != std::string::npos) continue;
    SCOPED_TRACE(file);
    const Outcome found = outcome<Complex128>(folder / file);
    EXPECT_EQ(found.fault, "");
    EXPECT_EQ(std::to_string(found.kind.rows), rows);
    EXPECT_EQ(std::to_string(found.kind.cols), cols);
    EXPECT_EQ(std::to_string(found.kind.stored_entries), stored);
    EXPECT_EQ(std::to_string(found.report.expanded_entries), expanded);
    EXPECT_EQ(std::to_string(found.report.explicit_zeros), zeros);
    EXPECT_EQ(name(found.kind.field), field);
  }
}

}  // namespace
}  // namespace krill::test
