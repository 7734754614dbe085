#include "sparse/io/read.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "sparse/core/error.hpp"
#include "tests/io/files.hpp"

namespace krill::test {
namespace {

using Complex128 = std::complex<double>;
const std::string two_by_two = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -1\n";

TEST(Read, tells_the_kind_without_reading_the_entries) {
  const Folder folder;
  const MatrixKind kind =
      peek_matrix(folder.write("m", "%%MatrixMarket matrix coordinate complex hermitian\n3 3 7\nx"));
  EXPECT_EQ(kind.format, FileFormat::matrix_market);
  EXPECT_EQ(kind.field, Field::complex);
  EXPECT_EQ(kind.symmetry, Symmetry::hermitian);
  EXPECT_EQ(kind.rows, 3);
  EXPECT_EQ(kind.cols, 3);
  EXPECT_EQ(kind.stored_entries, 7);
  EXPECT_FALSE(kind.vector);
  EXPECT_EQ(name(kind.symmetry), "hermitian");
  EXPECT_EQ(name(kind.field), "complex");
}

TEST(Read, tells_the_kind_behind_comments_longer_than_what_is_looked_at_first) {
  const Folder folder;
  for (const std::size_t length : {(1u << 20) - 60, (1u << 20) - 50, (1u << 20) + 10, 3u << 20}) {
    const auto path = folder.write(
        "m", "%%MatrixMarket matrix coordinate real general\n%" + std::string(length, 'c') + "\n123 456 1\n1 1 1\n");
    EXPECT_EQ(peek_matrix(path).rows, 123) << length;
    EXPECT_EQ(peek_matrix(path).cols, 456) << length;
  }
}

TEST(Read, hands_over_matrix_checksum_and_size) {
  const Folder folder;
  pack(folder.path("m.gz"), Packing::gzip, two_by_two);
  for (const auto& path : {folder.write("m.mtx", two_by_two), folder.path("m.gz")}) {
    const auto input = read_matrix<double>(path);
    EXPECT_EQ(input.matrix.value.size(), 2u);
    EXPECT_EQ(input.kind.symmetry, Symmetry::symmetric);
    EXPECT_EQ(input.bytes, static_cast<std::int64_t>(two_by_two.size()));
    EXPECT_EQ(input.checksum, read_matrix<float>(folder.path("m.mtx")).checksum);
    EXPECT_EQ(input.checksum.size(), 22u);
    EXPECT_FALSE(input.rhs);
  }
}

TEST(Read, finds_the_rhs_of_a_collection_archive) {
  const Folder folder;
  pack_tar(folder.path("A.tar.gz"), Packing::gzip,
           {{"A/A.mtx", two_by_two}, {"A/A_b.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"}});
  const auto input = read_matrix<float>(folder.path("A.tar.gz"));
  ASSERT_TRUE(input.rhs);
  const Columns<float> rhs = input.rhs.value_or(Columns<float>{});
  EXPECT_EQ(rhs.rows, 2);
  EXPECT_EQ(rhs.cols, 2);
  EXPECT_EQ(rhs.values, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_NE(input.rhs_name.find("A_b.mtx"), std::string::npos);
}

TEST(Read, reads_cr_only_files) {
  const Folder folder;
  const auto path = folder.write("m", "%%MatrixMarket matrix coordinate real general\r2 2 2\r1 1 1.0\r2 2 2.5\r");
  EXPECT_EQ(peek_matrix(path).stored_entries, 2);
  EXPECT_EQ(read_matrix<double>(path).matrix.value[1], 2.5);
}

TEST(Read, makes_columns_of_arrays_coordinates_and_vectors) {
  const Folder folder;
  const auto columns = [&](const std::string& text) { return read_vector<double>(folder.write("v", text)); };
  const std::string banner = "%%MatrixMarket ";
  EXPECT_EQ(columns(banner + "matrix array real general\n3 1\n1\n2\n3\n").values, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(columns(banner + "vector coordinate real general\n4 4\n1 101\n2 202\n4 1\n4 2\n").values,
            (std::vector<double>{101, 202, 0, 3}));
  EXPECT_EQ(columns(banner + "matrix coordinate real general\n2 2 2\n2 1 5\n1 2 6\n").values,
            (std::vector<double>{0, 5, 6, 0}));
  EXPECT_EQ(columns(banner + "matrix array real skew-symmetric\n2 2\n5\n").values, (std::vector<double>{0, 5, -5, 0}));
  const auto path = folder.write("v", banner + "matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n");
  EXPECT_EQ(read_vector<Complex128>(path).values, (std::vector<Complex128>{1, {2, 3}, {2, -3}, 4}));
}

TEST(Read, refuses_columns_that_do_not_fit_into_memory) {
  const Folder folder;
  const auto path =
      folder.write("v", "%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 1\n1 1 1\n");
  EXPECT_THROW(read_vector<double>(path), OutOfMemory);
}

TEST(Read, says_what_a_file_without_a_known_form_seems_to_be) {
  const Folder folder;
  const auto fault = [&](const std::string& text) {
    return thrown<ParseError>([&] { read_matrix<double>(folder.write("m", text)); });
  };
  const std::string expected =
      "\n  expected a Matrix Market banner (%%MatrixMarket ...), or the head of a Harwell-Boeing or Rutherford-Boeing "
      "matrix\n  ";
  EXPECT_EQ(
      fault("3 3 1\n1 1 1\n"),
      folder.path("m").string() + ":1:1: the file begins with \"3 3 1\"" + expected +
          "where these are sizes and entries: put \"%%MatrixMarket matrix coordinate real general\" before them; where "
          "hypre wrote it: call it NAME.00000, as hypre does");
  EXPECT_NE(fault("hello\n").find("convert it to Matrix Market form first"), std::string::npos);
  EXPECT_NE(fault("title\nestr  FULL_E2  r             5             2            10\n(5E10.1)\n 1.0\n")
                .find("supplementary Rutherford-Boeing file, which holds no matrix"),
            std::string::npos);
}

}  // namespace
}  // namespace krill::test
