#include "sparse/io/harwell_boeing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <complex>

#include "sparse/core/error.hpp"
#include "sparse/io/fortran_fields.hpp"
#include "tests/io/files.hpp"

namespace krill::test {
namespace {

using Complex128 = std::complex<double>;

/// A file whose counts of lines are made up: nobody needs them.
std::string file_text(const std::string& type, const std::string& sizes, const std::string& formats,
                      const std::string& rest, bool has_rhs = false) {
  return fmt::format("{:<72}{:<8}\n{:14}{:14}{:14}{:14}{:14}\n{:<14}{}\n{}\n{}", "a title", "KEY", 9, 1, 1, 1,
                     has_rhs ? 1 : 0, type, sizes, formats, rest);
}
const std::string three = "             3             3             4             0";
const std::string formats = "(4I3)           (16I2)          (4D8.1)             ";
const std::string three_by_three =
    file_text("RUA", three, formats, "  1  3  4  5\n 1 3 2 1\n 1.5D+00-2.0D-01 3.0D+00 4.0D+00\n");

template <class T = double>
Triplets<T> parse_columns(const std::string& text, std::optional<Columns<T>>* rhs = nullptr) {
  std::optional<Columns<T>> ignored;
  return parse_harwell_boeing<T>(InputFile("m.rua", text), rhs ? *rhs : ignored);
}
template <class T = double>
std::string fault_in(const std::string& text) {
  return thrown<ParseError>([&] { parse_columns<T>(text); });
}

TEST(HarwellBoeing, reads_columns_with_numbers_that_touch) {
  const auto a = parse_columns(three_by_three);
  EXPECT_EQ(a.rows, 3);
  EXPECT_EQ(a.row, (Buffer<std::int32_t>{0, 2, 1, 0}));
  EXPECT_EQ(a.col, (Buffer<std::int32_t>{0, 0, 1, 2}));
  EXPECT_EQ(a.value, (Buffer<double>{1.5, -0.2, 3, 4}));
}

TEST(HarwellBoeing, tells_its_kind) {
  EXPECT_TRUE(looks_like_harwell_boeing(InputFile("m", three_by_three)));
  EXPECT_FALSE(looks_like_harwell_boeing(InputFile("m", "%%MatrixMarket matrix coordinate real general\n1 1 0\n")));
  EXPECT_FALSE(looks_like_harwell_boeing(InputFile("m", "")));
  const MatrixKind kind = parse_harwell_boeing_head(InputFile("m", three_by_three));
  EXPECT_EQ(kind.format, FileFormat::harwell_boeing);
  EXPECT_EQ(kind.field, Field::real);
  EXPECT_EQ(kind.stored_entries, 4);
}

TEST(HarwellBoeing, reads_each_type) {
  const std::string pattern = file_text("PSA", three, "(4I3)           (16I2)", "  1  3  4  5\n 1 3 2 3\n");
  const auto p = parse_columns(pattern);
  EXPECT_EQ(p.field, Field::pattern);
  EXPECT_EQ(p.symmetry, Symmetry::symmetric);
  EXPECT_EQ(p.value, (Buffer<double>(4, 1.0)));
  const std::string complex_text = file_text("CHA", "2 2 2 0", "(3I3)           (2I3)           (2E6.1)",
                                             "  1  3  3\n  1  2\n   1.0   0.0\n   2.5  -3.5\n");
  const auto c = parse_columns<Complex128>(complex_text);
  EXPECT_EQ(c.symmetry, Symmetry::hermitian);
  EXPECT_EQ(c.value, (Buffer<Complex128>{1, {2.5, -3.5}}));
  EXPECT_THROW(parse_columns<double>(complex_text), InvalidArgument);
  EXPECT_EQ(parse_columns(file_text("IZA", "2 2 1 0", "(3I3) (2I3) (2I3)", "  1  2  2\n  2\n -7\n")).value[0], -7);
  EXPECT_EQ(parse_columns(file_text("RRA", "2 3 1 0", "(4I3) (2I3) (2F6.2)", "  1  2  2  2\n  2\n  1.25\n")).cols, 3);
}

TEST(HarwellBoeing, understands_the_formats_that_fortran_writes) {
  const auto format = [](std::string_view text) {
    const auto f = take_fortran_format(text);
    return f ? fmt::format("{}x{}", f->repeat, f->width) : "none";
  };
  EXPECT_EQ(format("(16I5)"), "16x5");
  EXPECT_EQ(format("(1P,5E16.8)"), "5x16");
  EXPECT_EQ(format("(1P5D16.8)"), "5x16");
  EXPECT_EQ(format("  ( 1P , 4 E 20.12 )"), "none");
  EXPECT_EQ(format("(1p,3e25.17e3)"), "3x25");
  EXPECT_EQ(format("(5(1PE16.8))"), "5x16");
  EXPECT_EQ(format("(E26.18)"), "1x26");
  EXPECT_EQ(format("(F8.3)"), "1x8");
  for (const char* text : {"", "(", "()", "(A16)", "(16I)", "(0I5)", "16I5", "(-1I5)", "(99999999999999999999I5)"})
    EXPECT_EQ(format(text), "none") << text;
  std::string_view rest = "(10I8)          (4E20.12)";
  take_fortran_format(rest);
  EXPECT_EQ(take_fortran_format(rest).value_or(FortranFormat{}).width, 20);
}

TEST(HarwellBoeing, reads_exponents_without_a_letter) {
  const std::string text = file_text("RUA", "1 1 1 0", "(2I3) (2I3) (1E12.3)", "  1  2\n  1\n   1.250-105\n");
  EXPECT_EQ(parse_columns(text).value[0], 1.25e-105);
}

TEST(HarwellBoeing, reads_full_and_sparse_right_hand_sides) {
  const std::string matrix = "  1  3  4  5\n 1 3 2 1\n 1.5D+00-2.0D-01 3.0D+00 4.0D+00\n";
  const std::string with_rhs = formats + "(3F6.1)";
  std::optional<Columns<double>> found;
  parse_columns(file_text("RUA", three, with_rhs,
                          "FGX                        2             0\n" + matrix +
                              "   1.0   2.0   3.0\n   4.0   5.0   6.0\n   9.0   9.0   9.0\n",
                          true),
                &found);
  const Columns<double> full = found.value_or(Columns<double>{});
  EXPECT_EQ(full.rows, 3);
  EXPECT_EQ(full.cols, 2);
  EXPECT_EQ(full.values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  parse_columns(
      file_text("RUA", three, with_rhs,
                "M                          2             3\n" + matrix + "  1  2  4\n 2 1 3\n   7.0   8.0   9.0\n",
                true),
      &found);
  EXPECT_EQ(found.value_or(Columns<double>{}).values, (std::vector<double>{0, 7, 0, 8, 0, 9}));
  parse_columns(three_by_three, &found);
  EXPECT_FALSE(found);
}

TEST(HarwellBoeing, refuses_what_holds_no_assembled_matrix) {
  EXPECT_EQ(fault_in(file_text("RSE", three, formats, "")),
            "m.rua:3:1: this matrix consists of unassembled elements\n"
            "  expected an assembled one: third letter a\n  assemble it first");
  EXPECT_NE(fault_in(file_text("qua", three, formats, "")).find("the values of this matrix lie in a file of their own"),
            std::string::npos);
  EXPECT_TRUE(looks_like_rutherford_boeing_supplement(
      InputFile("m", "t\nslnr  FULL_S1  r             5             1             5\n(5E10.1)\n 1.0\n")));
}

TEST(HarwellBoeing, names_the_place_of_a_fault) {
  EXPECT_EQ(fault_in(file_text("RUA", three, formats, "  1  3  2  5\n")),
            "m.rua:5:9: column pointer 3 of 4, \"2\", is out of range\n  expected 3 to 5\n"
            "  correct it, or the head of the file");
  EXPECT_NE(fault_in(file_text("RUA", three, formats, "  1  3  4  5\n 1 4 2 1\n"))
                .find("m.rua:6:4: row index 2 of 4, \"4\", is out of range"),
            std::string::npos);
  EXPECT_NE(fault_in(file_text("RUA", three, formats, "  1  3  4  5\n 1 x 2 1\n")).find("is no whole number"),
            std::string::npos);
  EXPECT_NE(fault_in(file_text("RUA", three, formats, "  1  3  4  5\n 1 3 2 1\n 1.5D+00-2.0D-01\n"))
                .find("value 3 of 4, \"\", is missing"),
            std::string::npos);
  EXPECT_NE(fault_in(file_text("RUA", three, formats, "  1  3  4  5\n 1 3 2 1\n 1.5D+00-2.x\n"))
                .find("m.rua:7:9: value 2 of 4, \"-2.x\", is no number"),
            std::string::npos);
  EXPECT_NE(fault_in(file_text("RSA", "3 4 4 0", formats, "")).find("symmetric and 3 x 4"), std::string::npos);
  EXPECT_NE(fault_in(file_text("RUA", three, "(A3) (16I2) (4D8.1)", "")).find("m.rua:4:1: the format of the pointers"),
            std::string::npos);
  EXPECT_NE(fault_in(file_text("RZA", three, formats, "  1  3  4  5\n 1 3 1 2\n 1.5D+00-2.0D-01 3.0D+00 4.0D+00\n"))
                .find("value 1 of 4, \"1.5D+00\", stands on the diagonal"),
            std::string::npos);
}

TEST(HarwellBoeing, refuses_sizes_that_the_file_cannot_hold_before_allocating) {
  EXPECT_NE(fault_in(file_text("RUA", "3 3 9000000000000000000 0", formats, "  1  3  4  5\n")), "");
  EXPECT_NE(
      fault_in(file_text("RUA", "3 2000000000 4 0", formats, "  1\n")).find("cannot hold 2000000001 column pointers"),
      std::string::npos);
  EXPECT_NE(fault_in(file_text("RUA", "3000000000 3 4 0", formats, "  1\n")).find("at most 2147483647"),
            std::string::npos);
}

}  // namespace
}  // namespace krill::test
