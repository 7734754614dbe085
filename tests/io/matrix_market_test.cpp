#include "sparse/io/matrix_market.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <complex>
#include <cstring>

#include "sparse/core/error.hpp"
#include "sparse/io/read.hpp"
#include "tests/io/files.hpp"

namespace krill::test {
namespace {

using Complex128 = std::complex<double>;
const std::string general = "%%MatrixMarket matrix coordinate real general\n";

template <class T = double>
Triplets<T> parse(const std::string& text) {
  return parse_matrix_market<T>(InputFile("m.mtx", text));
}
template <class T = double>
std::string fault(const std::string& text) {
  return thrown<ParseError>([&] { parse<T>(text); });
}

/// "row col value" for each entry.
template <class T>
std::vector<std::tuple<int, int, T>> entries(const Triplets<T>& a) {
  std::vector<std::tuple<int, int, T>> list;
  list.reserve(a.value.size());
  for (std::size_t i = 0; i < a.value.size(); ++i) list.emplace_back(a.row[i], a.col[i], a.value[i]);
  return list;
}
template <class T>
using Entries = std::vector<std::tuple<int, int, T>>;

TEST(MatrixMarket, reads_coordinates_as_they_are_stored) {
  const auto a = parse(general + "% comment\n3 4 3\n3 4 -1.5e-3\n1 1 2\n1 1 0\n");
  EXPECT_EQ(a.rows, 3);
  EXPECT_EQ(a.cols, 4);
  EXPECT_EQ(a.field, Field::real);
  EXPECT_EQ(a.symmetry, Symmetry::general);
  EXPECT_FALSE(a.dense);
  EXPECT_EQ(entries(a), (Entries<double>{{2, 3, -1.5e-3}, {0, 0, 2}, {0, 0, 0}}));
}

TEST(MatrixMarket, reads_every_field_into_every_scalar_that_holds_it) {
  const auto in = [](const char* field, const char* value) {
    return std::string("%%MatrixMarket matrix coordinate ") + field + " general\n2 2 1\n2 1 " + value + "\n";
  };
  EXPECT_EQ(entries(parse<float>(in("real", "0.1"))), (Entries<float>{{1, 0, 0.1f}}));
  EXPECT_EQ(entries(parse<Complex128>(in("real", "0.1"))), (Entries<Complex128>{{1, 0, 0.1}}));
  EXPECT_EQ(entries(parse(in("integer", "-8589934592"))), (Entries<double>{{1, 0, -8589934592.0}}));
  EXPECT_EQ(entries(parse(in("pattern", ""))), (Entries<double>{{1, 0, 1}}));
  EXPECT_EQ(entries(parse<Complex128>(in("pattern", ""))), (Entries<Complex128>{{1, 0, 1}}));
  EXPECT_EQ(entries(parse<Complex128>(in("complex", "1 -2"))), (Entries<Complex128>{{1, 0, {1, -2}}}));
  EXPECT_EQ(entries(parse<std::complex<float>>(in("complex", "1 -2"))),
            (Entries<std::complex<float>>{{1, 0, {1, -2}}}));
}

TEST(MatrixMarket, refuses_a_complex_file_as_real_and_names_the_precision) {
  const std::string text = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n";
  EXPECT_EQ(thrown<InvalidArgument>([&] { parse<float>(text); }),
            "m.mtx: the matrix is complex and was to be read as real\n  ask for precision complex128 or complex64");
}

TEST(MatrixMarket, reads_crlf_tabs_blanks_comments_and_blank_lines) {
  const Entries<double> expected{{0, 0, 1}, {1, 1, 2}};
  EXPECT_EQ(entries(parse("%%MatrixMarket matrix coordinate real general\r\n2 2 2\r\n1 1 1.0\r\n2 2 2.0\r\n")),
            expected);
  EXPECT_EQ(entries(parse("%%MatrixMarket\tmatrix\tcoordinate\treal\tgeneral\n\t2\t2 \t2\n1\t1\t1\n 2  2  2 \t\n")),
            expected);
  EXPECT_EQ(entries(parse(general + "\n % c\n\n2 2 2\n\n1 1 1\n%between\n \t \n2 2 2\n\n% end")), expected);
  EXPECT_EQ(entries(parse("\xEF\xBB\xBF \n %%matrixmarket MATRIX Coordinate REAL General\n2 2 2\n1 1 1\n2 2 2")),
            expected);
}

TEST(MatrixMarket, reads_arrays_down_the_columns) {
  const std::string array = "%%MatrixMarket matrix array real ";
  const auto a = parse(array + "general\n2 3\n1\n2\n3\n%\n4\n\n5\n6\n");
  EXPECT_TRUE(a.dense);
  EXPECT_EQ(entries(a), (Entries<double>{{0, 0, 1}, {1, 0, 2}, {0, 1, 3}, {1, 1, 4}, {0, 2, 5}, {1, 2, 6}}));
  EXPECT_EQ(entries(parse(array + "symmetric\n3 3\n1\n2\n3\n4\n5\n6\n")),
            (Entries<double>{{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {1, 1, 4}, {2, 1, 5}, {2, 2, 6}}));
  EXPECT_EQ(entries(parse(array + "skew-symmetric\n3 3\n1\n2\n3\n")),
            (Entries<double>{{1, 0, 1}, {2, 0, 2}, {2, 1, 3}}));
  EXPECT_EQ(parse(array + "general\n3 0\n").value.size(), 0u);
}

TEST(MatrixMarket, reads_object_vector) {
  const auto sparse = parse("%%MatrixMarket vector coordinate real general\n5 2\n1 1.5\n5 2\n");
  EXPECT_EQ(sparse.cols, 1);
  EXPECT_EQ(entries(sparse), (Entries<double>{{0, 0, 1.5}, {4, 0, 2}}));
  const auto dense = parse("%%MatrixMarket vector array integer general\n2\n7\n8\n");
  EXPECT_EQ(entries(dense), (Entries<double>{{0, 0, 7}, {1, 0, 8}}));
}

TEST(MatrixMarket, accepts_nan_and_infinities) {
  const auto a = parse(general + "2 2 3\n1 1 NaN\n2 1 -inf\n2 2 1e999\n");
  EXPECT_TRUE(std::isnan(a.value[0]));
  EXPECT_EQ(a.value[1], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(a.value[2], std::numeric_limits<double>::infinity());
}

TEST(MatrixMarket, reads_many_pieces_as_one_for_any_number_of_threads) {
  std::string body;
  const int n = 300'000;  // several pieces of a megabyte, one of them with comments and blank lines
  for (int i = 0; i < n; ++i) {
    body += std::to_string(i % 1000 + 1) + " " + std::to_string(i / 1000 + 1) + " " + std::to_string(i) + ".5\n";
    if (i > 100'000 && i < 110'000 && i % 3 == 0) body += i % 2 ? "% comment\n" : " \r\n";
  }
  const std::string text = general + "1000 300 " + std::to_string(n) + "\n" + body;
  for (const int threads : {1, 2, 7}) {
    omp_set_num_threads(threads);
    const auto a = parse(text);
    ASSERT_EQ(a.value.size(), static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_TRUE(a.row[at] == i % 1000 && a.col[at] == i / 1000 && a.value[at] == i + 0.5) << i;
    }
  }
}

TEST(MatrixMarket, names_line_and_column_of_a_faulty_index) {
  const std::string text = "%%MatrixMarket matrix coordinate real general\n%\n3 4 2\n1 1 1\n 3 9999 2\n";
  try {
    parse(text);
    FAIL();
  } catch (const ParseError& e) {
    EXPECT_EQ(e.file, "m.mtx");
    EXPECT_EQ(e.line, 5);
    EXPECT_EQ(e.column, 4);
    EXPECT_STREQ(e.what(),
                 "m.mtx:5:4: column index 9999 is out of range (entry 2 of 2)\n"
                 "  expected 1 to 4, as the size line m.mtx:3 says\n"
                 "  correct this entry, or the number of columns in the size line");
  }
  EXPECT_EQ(fault(general + "2 2 2\n0 0 1\n1 1 2\n"),
            "m.mtx:3:1: row index 0 is out of range (entry 1 of 2)\n"
            "  expected 1 to 2, as the size line m.mtx:2 says\n"
            "  count from 1: where the whole file counts from 0, add 1 to every index");
  EXPECT_EQ(fault(general + "2 2 1\n1.0 1 1\n"),
            "m.mtx:3:1: the row index is \"1.0\" (entry 1 of 1)\n  expected a whole number\n  correct this line");
  EXPECT_NE(fault(general + "2 2 1\n1 -1 1\n").find("m.mtx:3:3: column index -1 is out of range"), std::string::npos);
  EXPECT_NE(fault(general + "2 2 1\n1 99999999999999999999 1\n").find("the column index is"), std::string::npos);
}

TEST(MatrixMarket, names_line_and_column_of_a_faulty_value) {
  EXPECT_EQ(fault(general + "1 1 1\n1 1 1,5\n"),
            "m.mtx:3:5: the value is \"1,5\" (entry 1 of 1)\n  expected a decimal number such as -1.5e-3\n"
            "  correct this line");
  EXPECT_EQ(fault(general + "1 1 1\n1 1\n"),
            "m.mtx:3:4: the line ends where the value should stand (entry 1 of 1)\n"
            "  expected a decimal number such as -1.5e-3\n  correct this line");
  EXPECT_EQ(fault(general + "1 1 1\n1 1 2.5 3.5\n"),
            "m.mtx:3:9: the entry is followed by \"3.5\" (entry 1 of 1)\n"
            "  expected the end of the line: the banner says real\n  correct this line, or the banner");
  EXPECT_EQ(fault("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 2.5\n"),
            "m.mtx:3:5: the value is \"2.5\" (entry 1 of 1)\n"
            "  expected a whole number, as the banner says integer\n"
            "  correct this line, or write real in the banner");
  EXPECT_NE(fault<Complex128>("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2.5\n")
                .find("m.mtx:3:8: the line ends where the imaginary part should stand"),
            std::string::npos);
  EXPECT_NE(fault(general + std::string("1 1 1\n1 1 1\0\n", 13)).find("\"1\\x00\""), std::string::npos);
}

TEST(MatrixMarket, reports_the_first_fault_of_many_pieces) {
  std::string text = general + "1000000 1 300000\n";
  for (int i = 1; i <= 300'000; ++i) text += std::to_string(i) + (i > 150'000 ? " 1 x\n" : " 1 1.0625\n");
  omp_set_num_threads(4);
  EXPECT_NE(fault(text).find("m.mtx:150003:10: the value is \"x\" (entry 150001 of 300000)"), std::string::npos)
      << fault(text);
}

TEST(MatrixMarket, compares_the_entries_with_the_size_line) {
  EXPECT_EQ(fault(general + "2 2 5\n1 1 1\n2 2 2\n"),
            "m.mtx:5:1: the file ends after 2 of its entries\n  expected 5, as the size line m.mtx:2 says\n"
            "  check that the file is whole, or correct the size line");
  EXPECT_EQ(fault(general + "2 2 1\n1 1 1\n\n 2 2 2\n"),
            "m.mtx:5:2: there are 2 entries, this line holds the first one too many\n"
            "  expected 1, as the size line m.mtx:2 says\n  remove what is too much, or correct the size line");
  EXPECT_NE(
      fault("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n").find("the file ends after 3 of its entries"),
      std::string::npos);
}

TEST(MatrixMarket, refuses_sizes_that_the_file_cannot_hold_before_allocating) {
  EXPECT_NE(fault(general + "2 2 9223372036854775807\n1 1 1\n").find("the file ends after 1 of its entries"),
            std::string::npos);
  EXPECT_EQ(fault(general + "4000000000000 4000000000000 1\n1 1 1\n"),
            "m.mtx:2:1: the matrix has 4000000000000 rows\n  expected at most 2147483647\n"
            "  indices have 32 bits: larger systems cannot be solved here");
  EXPECT_NE(fault("%%MatrixMarket matrix array real general\n2147483647 2147483647\n1\n")
                .find("expected 4611686014132420609"),
            std::string::npos);
  EXPECT_NE(fault(general + "1 99999999999999999999 1\n1 1 1\n").find("the number of columns is"), std::string::npos);
}

TEST(MatrixMarket, names_what_is_wrong_with_the_banner) {
  const std::string form =
      "\n  expected \"%%MatrixMarket matrix coordinate|array real|complex|integer|pattern "
      "general|symmetric|skew-symmetric|hermitian\"\n  correct the first line";
  EXPECT_EQ(fault("%%MatrixMarket tensor coordinate real general\n1 1 0\n"),
            "m.mtx:1:16: the banner's object is \"tensor\"" + form);
  EXPECT_EQ(fault("%%MatrixMarket matrix array real"), "m.mtx:1:33: the banner lacks its symmetry" + form);
  EXPECT_EQ(fault("%%Bad matrix coordinate real general\n"),
            "m.mtx:1:1: this is no Matrix Market banner: \"%%Bad\"" + form);
  EXPECT_NE(
      fault("%%MatrixMarket matrix coordinate real general extra\n1 1 0\n").find("m.mtx:1:47: the banner ends with"),
      std::string::npos);
  EXPECT_NE(fault("%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n").find("the banner says real hermitian"),
            std::string::npos);
  EXPECT_NE(fault("%%MatrixMarket matrix coordinate pattern hermitian\n1 1 0\n").find("pattern hermitian"),
            std::string::npos);
  EXPECT_NE(fault("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n").find("pattern skew-symmetric"),
            std::string::npos);
  EXPECT_NE(fault("%%MatrixMarket matrix array pattern general\n1 1\n").find("array and pattern"), std::string::npos);
  EXPECT_NE(fault("%%MatrixMarket vector coordinate real symmetric\n1 0\n").find("vector and symmetric"),
            std::string::npos);
}

TEST(MatrixMarket, names_what_is_wrong_with_the_size_line) {
  EXPECT_EQ(fault(general),
            "m.mtx:2:1: the file ends before its size line\n  expected \"rows cols entries\"\n"
            "  check that the file is whole");
  EXPECT_EQ(fault(general + "%\n2 2\n"),
            "m.mtx:3:4: the size line lacks the number of entries\n"
            "  expected \"rows cols entries\", each a whole number from 0 on\n"
            "  correct the size line");
  EXPECT_NE(fault(general + "-3 3 3\n").find("m.mtx:2:1: the number of rows is \"-3\""), std::string::npos);
  EXPECT_NE(fault(general + "2.0 2 1\n").find("the number of rows is \"2.0\""), std::string::npos);
  EXPECT_NE(fault(general + "2 2 1 9\n").find("m.mtx:2:7: the size line ends with \"9\""), std::string::npos);
  EXPECT_EQ(fault("%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n"),
            "m.mtx:2:1: the matrix is symmetric and 3 x 4\n  expected as many rows as columns\n"
            "  correct the size line, or write general in the banner");
}

TEST(MatrixMarket, refuses_diagonals_that_contradict_the_banner) {
  const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
  EXPECT_EQ(fault(skew + "2 2 2\n2 1 1\n1 1 3\n"),
            "m.mtx:4:1: the diagonal entry contradicts the banner (entry 2 of 2)\n"
            "  expected 0 on the diagonal of a skew-symmetric matrix\n"
            "  correct this entry, or write general in the banner and store both triangles");
  EXPECT_EQ(fault(skew + "2 2 2\n2 1 1\n1 1 0\n"), "");
  const std::string hermitian = "%%MatrixMarket matrix coordinate complex Hermitian\n1 1 1\n1 1 3 ";
  EXPECT_EQ(fault<Complex128>(hermitian + "0\n"), "");
  EXPECT_NE(fault<Complex128>(hermitian + "1\n").find("an imaginary part of 0 on the diagonal"), std::string::npos);
}

}  // namespace
}  // namespace krill::test
