#include "sparse/io/hypre_ij.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "sparse/core/error.hpp"
#include "sparse/io/checksum.hpp"
#include "sparse/io/read.hpp"
#include "tests/io/files.hpp"

namespace krill::test {
namespace {

using Complex128 = std::complex<double>;

/// As hypre prints a tridiagonal matrix of 5 rows from three processes, the second of which has none: of each row the
/// columns of its own process first.
void write_tridiagonal(const Folder& folder, const std::string& name, int base = 0) {
  const auto line = [&](int i, int j, double value) {
    return fmt::format("{} {} {:.14e}\n", i + base, j + base, value);
  };
  const auto head = [&](int first, int last) { return fmt::format("{0} {1} {0} {1}\n", first + base, last + base); };
  std::string a = head(0, 2), c = head(3, 4);
  for (int i = 0; i < 3; ++i) {
    a += line(i, i, 2);
    if (i > 0) a += line(i, i - 1, -1);
    a += line(i, i + 1, -1.5);
  }
  for (int i = 3; i < 5; ++i) {
    c += line(i, i, 2);
    if (i < 4) c += line(i, i + 1, -1.5);
    c += line(i, i - 1, -1);
  }
  folder.write(name + ".00000", a);
  folder.write(name + ".00001", head(3, 2));
  folder.write(name + ".00002", c);
}

constexpr const char* tridiagonal =
    "%%MatrixMarket matrix coordinate real general\n5 5 13\n1 1 2\n1 2 -1.5\n2 1 -1\n2 2 2\n2 3 -1.5\n3 2 -1\n3 3 2\n"
    "3 4 -1.5\n4 3 -1\n4 4 2\n4 5 -1.5\n5 4 -1\n5 5 2\n";

template <class T>
Csr<T> assembled(const std::filesystem::path& path, CanonicalReport& report) {
  return std::get<Csr<T>>(assemble(read_matrix<T>(path).matrix, report));
}

template <class T>
void expect_equal(const Csr<T>& a, const Csr<T>& b) {
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  EXPECT_TRUE(std::ranges::equal(a.row_offsets().host(), b.row_offsets().host()));
  EXPECT_TRUE(std::ranges::equal(a.col_indices().host(), b.col_indices().host()));
  EXPECT_TRUE(std::ranges::equal(a.values().host(), b.values().host()));
}

TEST(HypreIj, parts_are_the_matrix_that_a_matrix_market_file_holds) {
  const Folder folder;
  write_tridiagonal(folder, "A");
  write_tridiagonal(folder, "from_one", 1);
  const auto market = folder.write("A.mtx", tridiagonal);
  CanonicalReport expected, found;
  const auto a = assembled<double>(market, expected);
  for (const char* name : {"A", "A.00000", "from_one", "from_one.00000"}) {
    SCOPED_TRACE(name);
    expect_equal(assembled<double>(folder.path(name), found), a);
    EXPECT_EQ(found.stored_entries, 13);
    EXPECT_EQ(found.duplicates, 0);
    const MatrixKind kind = peek_matrix(folder.path(name));
    EXPECT_EQ(kind.format, FileFormat::hypre_ij);
    EXPECT_EQ(kind.field, Field::real);
    EXPECT_EQ(kind.rows, 5);
    EXPECT_EQ(kind.cols, 5);
  }
  const auto input = read_matrix<float>(folder.path("A"));
  const std::string text =
      read_text(folder.path("A.00000")) + read_text(folder.path("A.00001")) + read_text(folder.path("A.00002"));
  EXPECT_EQ(input.checksum, checksum(text));
  EXPECT_EQ(input.bytes, std::ssize(text));
  EXPECT_EQ(input.kind.stored_entries, 13);
  EXPECT_EQ(name(input.kind.format), "hypre IJ");
}

TEST(HypreIj, columns_may_be_shared_otherwise_than_rows) {
  const Folder folder;
  folder.write("P.00000", "0 1 0 0\n0 0 1\n1 2 2e-3\n");
  folder.write("P.00001", "2 3 1 2\n2 1 3\n3 2 4\n");
  const auto input = read_matrix<double>(folder.path("P"));
  EXPECT_EQ(input.matrix.rows, 4);
  EXPECT_EQ(input.matrix.cols, 3);
  EXPECT_EQ(input.matrix.col, (Buffer<std::int32_t>{0, 2, 1, 2}));
  EXPECT_EQ(input.matrix.value, (Buffer<double>{1, 2e-3, 3, 4}));
}

TEST(HypreIj, complex_matrices_and_patterns_are_told_by_the_first_entry) {
  const Folder folder;
  folder.write("C.00000", "0 0 0 0\n");
  folder.write("C.00001", "1 1 1 1\n1 1 1.5 , -2\n1 0 nan , inf\n");
  EXPECT_EQ(peek_matrix(folder.path("C")).field, Field::complex);
  const auto input = read_matrix<Complex128>(folder.path("C"));
  EXPECT_EQ(input.matrix.value[0], Complex128(1.5, -2));
  CanonicalReport report;
  assembled<Complex128>(folder.path("C"), report);
  EXPECT_EQ(report.non_finite, 1);
  EXPECT_EQ(report.first_non_finite_row, 1);
  EXPECT_NE(thrown<InvalidArgument>([&] { read_matrix<double>(folder.path("C")); }).find("complex128"),
            std::string::npos);
  folder.write("S.00000", "0 1 0 1\n0 0\n1 1\n1 0\n");
  EXPECT_EQ(peek_matrix(folder.path("S")).field, Field::pattern);
  EXPECT_EQ(read_matrix<double>(folder.path("S")).matrix.value, (Buffer<double>{1, 1, 1}));
}

TEST(HypreIj, vectors_have_each_row_once_in_any_order) {
  const Folder folder;
  folder.write("b.00000", "0 1\n1 -2.5e-3\n0 4\n");
  folder.write("b.00001", "2 1\n");
  folder.write("b.00002", "2 2\n2 7\n");
  for (const char* name : {"b", "b.00000"}) {
    const auto b = read_vector<double>(folder.path(name));
    EXPECT_EQ(b.rows, 3);
    EXPECT_EQ(b.cols, 1);
    EXPECT_EQ(b.values, (std::vector<double>{4, -2.5e-3, 7}));
  }
  EXPECT_EQ(peek_matrix(folder.path("b")).cols, 1);
  write_tridiagonal(folder, "A");
  EXPECT_NE(thrown<InvalidArgument>([&] { read_vector<double>(folder.path("A")); }).find("hypre wrote a matrix"),
            std::string::npos);
}

/// Their contents decide, as of all files.
TEST(HypreIj, other_files_with_numbers_in_their_names_are_what_they_are) {
  const Folder folder;
  folder.write("A.00003", tridiagonal);
  EXPECT_EQ(peek_matrix(folder.path("A.00003")).format, FileFormat::matrix_market);
  EXPECT_FALSE(find_ij_files(folder.path("A.00003")));
  EXPECT_FALSE(find_ij_files(folder.path("A")));
  EXPECT_FALSE(find_ij_files(folder.write("B.000", "0 0 0 0\n0 0 1\n")));
  EXPECT_FALSE(find_ij_files(folder.write("B.000000", "0 0 0 0\n0 0 1\n")));
}

class WrongParts : public testing::Test {
 protected:
  void SetUp() override { write_tridiagonal(folder_, "A"); }

  /// The first line of the message, and all of it.
  std::string fault() const {
    return thrown<Error>([&] { read_matrix<double>(folder_.path("A")); });
  }
  void expect_fault(const std::string& part, const std::string& text, const std::string& expected) {
    folder_.write(part, text);
    EXPECT_EQ(fault(), folder_.path(part).string() + expected);
    write_tridiagonal(folder_, "A");
    EXPECT_EQ(fault(), "");
  }
  std::string at(const std::string& name) const { return folder_.path(name).string(); }

  Folder folder_;
};

TEST_F(WrongParts, are_missing_in_the_middle) {
  std::filesystem::remove(folder_.path("A.00001"));
  EXPECT_EQ(fault(), at("A.00001") +
                         ": this part is missing, A.00002 is there\n  add it, or remove the parts behind it where they "
                         "belong to another matrix");
}

TEST_F(WrongParts, are_missing_at_the_end) {
  std::filesystem::remove(folder_.path("A.00002"));
  EXPECT_EQ(fault(),
            at("A.00000") +
                ":9:3: column index 3 is out of range (entry 8 of this part)\n  expected 0 to 2, as the heads of "
                "the 2 parts say\n  correct this entry, or add the parts that are missing: A.00002, ...");
}

TEST_F(WrongParts, are_missing_at_the_beginning) {
  std::filesystem::remove(folder_.path("A.00000"));
  EXPECT_EQ(thrown<Error>([&] { read_matrix<double>(folder_.path("A.00002")); }),
            at("A.00002") +
                ": this is part 2 (counted from 0) of a matrix or vector in several files\n  give the name of "
                "the first one, " +
                at("A.00000") + ", or " + at("A") + " for all of them");
  folder_.write("A.00000", "3 2 3 2\n");
  EXPECT_EQ(fault(), at("A.00000") +
                         ":1:1: the rows of the first part begin at 3\n  expected 0, or 1\n  where parts "
                         "before this one are missing, add them");
}

TEST_F(WrongParts, overlap_or_leave_gaps) {
  const std::string remedy =
      "\n  remove parts of another matrix of this name, as a run with more processes leaves behind, or write all of "
      "them "
      "anew";
  expect_fault("A.00002", "2 4 2 4\n",
               ":1:1: the rows of this part begin at 2, those of A.00001 end at 2\n  expected them to begin at 3, with "
               "neither a gap nor rows of both" +
                   remedy);
  expect_fault("A.00002", "4 4 3 4\n",
               ":1:1: the rows of this part begin at 4, those of A.00001 end at 2\n  expected them to begin at 3, with "
               "neither a gap nor rows of both" +
                   remedy);
  expect_fault(
      "A.00002", "3 4 4 4\n",
      ":1:1: the columns of this part begin at 4, those of A.00001 end at 2\n  expected them to begin at 3, with "
      "neither a gap nor columns of both" +
          remedy);
  folder_.write("A.00003", "3 4 3 4\n");
  EXPECT_EQ(fault(), at("A.00003") +
                         ":1:1: the rows of this part begin at 3, those of A.00002 end at 4\n  expected them "
                         "to begin at 5, with neither a gap nor rows of both" +
                         remedy);
}

TEST_F(WrongParts, have_wrong_heads) {
  const std::string range =
      "\n  expected the first and the last one of a range, from 0 on; the last one before the first where there is "
      "none\n"
      "  correct the first line";
  expect_fault("A.00001", "3 1 3 2\n", ":1:1: the head has 3 1" + range);
  expect_fault("A.00001", "3 2 -3 2\n", ":1:5: the head has -3 2" + range);
  expect_fault("A.00001", "3 2 3\n",
               ":1:1: the head has 3 words\n  expected \"ilower iupper jlower jupper\", of a vector \"jlower jupper\"\n"
               "  check that this file belongs to the others, and is whole");
  expect_fault(
      "A.00001", "3 2 x 2\n",
      ":1:5: \"x\" stands in the head\n  expected whole numbers: \"ilower iupper jlower jupper\"\n  correct the "
      "first line");
  expect_fault(
      "A.00001", "3 2\n",
      ":1:1: this is a part of a vector, the first one of a matrix\n  expected parts of one kind\n  remove the "
      "file, or give it another name");
  expect_fault("A.00002", "3 3000000000 3 4\n",
               ":1:1: the matrix has 3000000001 rows\n  expected at most 2147483647\n  indices have 32 bits: larger "
               "systems cannot be solved here");
  expect_fault("A.00001", "3 99999999999999999999 3 2\n",
               ":1:3: \"99999999999999999999\" stands in the head\n  expected whole numbers: \"ilower iupper jlower "
               "jupper\"\n  correct the first line");
}

TEST_F(WrongParts, have_wrong_entries) {
  expect_fault("A.00002", "3 4 3 4\n3 3 2\n2 2 1\n",
               ":3:1: row index 2 is out of range (entry 2 of this part)\n  expected 3 to 4, as the head " +
                   at("A.00002") + ":1 says\n  move this line to the part that has the row, or correct the head");
  expect_fault("A.00001", "3 2 3 2\n\n3 3 2\n",
               ":3:1: row index 3 is out of range (entry 1 of this part)\n  expected none, as the head " +
                   at("A.00001") + ":1 says\n  move this line to the part that has the row, or correct the head");
  expect_fault("A.00002", "3 4 3 4\n3 5 2\n",
               ":2:3: column index 5 is out of range (entry 1 of this part)\n  expected 0 to 4, as the heads of the 3 "
               "parts say\n  correct this entry, or add the parts that are missing: A.00003, ...");
  expect_fault(
      "A.00002", "3 4 3 4\n3 3 x\n",
      ":2:5: the value is \"x\" (entry 1 of this part)\n  expected a decimal number such as -1.5e-3\n  correct "
      "this line");
  expect_fault(
      "A.00002", "3 4 3 4\n3 3 1\n3 4\n",
      ":3:4: the line ends where the value should stand (entry 2 of this part)\n  expected a decimal number such "
      "as -1.5e-3\n  correct this line");
  expect_fault("A.00002", "3 4 3 4\n3 3 1 , 2\n",
               ":2:7: the entry is followed by \",\" (entry 1 of this part)\n  expected the end of the line: the first "
               "entry is real\n  correct this line");
  folder_.write("A.00000", "0 2 0 2\n0 0 1 , 2\n1 1 1 2\n");
  EXPECT_EQ(thrown<Error>([&] { read_matrix<Complex128>(folder_.path("A")); }),
            at("A.00000") +
                ":3:7: the comma is \"2\" (entry 2 of this part)\n  expected \"row column real , imaginary\"\n"
                "  correct this line");
}

TEST(HypreIj, parts_of_vectors_lack_no_row_and_repeat_none) {
  const Folder folder;
  folder.write("b.00000", "0 1\n0 1\n1 2\n");
  const auto fault = [&](const std::string& text) {
    folder.write("b.00001", text);
    return thrown<ParseError>([&] { read_vector<double>(folder.path("b")); });
  };
  const std::string file = folder.path("b.00001").string();
  EXPECT_EQ(fault("2 4\n2 1\n4 2\n"), file +
                                          ":4:1: the part ends after 2 of its entries, without row 3\n  expected 3, as "
                                          "the head " +
                                          file +
                                          ":1 says\n  check that the file is whole, or correct the "
                                          "head");
  EXPECT_EQ(
      fault("2 4\n2 1\n4 2\n4 3\n"),
      file + ":4:1: row 4 stands here again\n  expected each row of a vector once\n  remove one of the two lines");
  EXPECT_EQ(
      fault("2 2\n2 1\n2 1\n"),
      file + ":3:1: row 2 stands here again\n  expected each row of a vector once\n  remove one of the two lines");
  EXPECT_NE(fault("2 3\n2 1\n4 2\n").find("row index 4 is out of range"), std::string::npos);
}

}  // namespace
}  // namespace krill::test
