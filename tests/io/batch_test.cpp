#include <gtest/gtest.h>

#include <complex>

#include "sparse/core/error.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/io/read.hpp"
#include "sparse/io/tar_file.hpp"
#include "sparse/io/write_matrix_market.hpp"
#include "tests/io/files.hpp"

namespace krill::test {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

constexpr const char* two_by_two = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n1 2 -1\n2 2 3\n";

template <class T>
void expect_equal(const AnyMatrix<T>& a, const AnyMatrix<T>& b) {
  const auto &x = std::get<Csr<T>>(a), &y = std::get<Csr<T>>(b);
  EXPECT_TRUE(std::ranges::equal(x.row_offsets().host(), y.row_offsets().host()));
  EXPECT_TRUE(std::ranges::equal(x.col_indices().host(), y.col_indices().host()));
  EXPECT_TRUE(std::ranges::equal(x.values().host(), y.values().host()));
}

template <class T>
class BatchFiles : public ::testing::Test {};
using FileScalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(BatchFiles, FileScalars);

TYPED_TEST(BatchFiles, come_back_as_they_were_written) {
  const Folder folder;
  for (const DiagonalCount diagonals : {DiagonalCount::three, DiagonalCount::five})
    for (const char* name : {"a.tar", "a.tar.gz", "a.tgz", "a.tar.xz", "a.tar.zst"}) {
      const AnyMatrix<TypeParam> A = generate<TypeParam>(BandedBatchOptions{5, 12, diagonals});
      write_batch(folder.path(name), A, 12, "made by a test");
      const BatchInput<TypeParam> input = read_batch<TypeParam>(folder.path(name));
      EXPECT_EQ(input.systems, 12);
      EXPECT_EQ(input.canonical.nnz, nnz(A));
      EXPECT_EQ(input.kind.rows, 5);
      EXPECT_EQ(peek_batch(folder.path(name)).field, is_complex<TypeParam> ? Field::complex : Field::real);
      expect_equal(input.matrix, A);
    }
  EXPECT_EQ(folder.files(), 5U);  // no temporary is left
}

TEST(BatchFile, has_the_same_bytes_each_time) {
  const Folder folder;
  const AnyMatrix<double> A = generate<double>(BandedBatchOptions{5, 12});
  write_batch(folder.path("a.tar.gz"), A, 12);
  write_batch(folder.path("b.tar.gz"), A, 12);
  EXPECT_EQ(read_text(folder.path("a.tar.gz")), read_text(folder.path("b.tar.gz")));
  EXPECT_EQ(read_batch<double>(folder.path("a.tar.gz")).checksum, read_batch<double>(folder.path("b.tar.gz")).checksum);
}

TEST(BatchFile, keeps_the_order_of_the_archive_and_leaves_other_files_out) {
  const Folder folder;
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 7\n1 1 nan\n";
  pack_tar(folder.path("a.tar"), Packing::none,
           {{"b/second.mtx", two_by_two}, {"README", "not a matrix"}, {"a/first.mtx", symmetric}});
  const BatchInput<double> input = read_batch<double>(folder.path("a.tar"));
  EXPECT_EQ(input.systems, 2);
  EXPECT_EQ(input.canonical.non_finite, 1);
  EXPECT_EQ(input.canonical.first_non_finite_row, 2);
  EXPECT_EQ(input.canonical.first_missing_diagonal, 3);
  const auto& A = std::get<Csr<double>>(input.matrix);
  EXPECT_TRUE(std::ranges::equal(A.row_offsets().host(), std::vector{0, 2, 3, 5, 6}));
  EXPECT_TRUE(std::ranges::equal(A.col_indices().host(), std::vector{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(A.values().host()[5], 7);
}

template <class T = double>
std::string refused(const Members& members) {
  const Folder folder;
  pack_tar(folder.path("a.tar"), Packing::none, members);
  const std::string text = thrown<Error>([&] { read_batch<T>(folder.path("a.tar")); });
  const std::string here = folder.path("").string();
  std::string result = text;
  for (std::size_t at = result.find(here); at != result.npos; at = result.find(here)) result.erase(at, here.size());
  return result;
}

TEST(BatchFile, names_the_member_that_does_not_fit) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  EXPECT_EQ(refused({{"x.mtx", two_by_two}, {"y.mtx", head + "3 3 1\n1 1 1\n"}}),
            "a.tar(y.mtx): the matrix has 3 rows, and that of a.tar(x.mtx) has 2; the systems of a batch are of one "
            "size: put those of another size into an archive of their own");
  EXPECT_EQ(refused({{"x.mtx", head + "2 3 1\n1 1 1\n"}}),
            "a.tar(x.mtx): the matrix has 2 rows and 3 columns; the systems of a batch are square");
  EXPECT_EQ(refused({{"x.mtx", head + "5 5 2\n1 1 1\n5 2 1\n"}}),
            "a.tar(x.mtx): a(4, 1) (rows and columns count from 0) lies outside of five diagonals; the systems of a "
            "batch are tridiagonal or pentadiagonal: solve this one by itself");
  EXPECT_EQ(
      refused({{"README", "no matrix"}}),
      "a.tar: there is no matrix in this archive\n  expected a tar archive of Matrix Market files (NAME.mtx), one "
      "for each system");
  EXPECT_NE(refused({{"x.mtx", two_by_two}, {"y.mtx", "hello\n"}}).find("a.tar(y.mtx)"), std::string::npos);
  EXPECT_NE(
      refused({{"x.mtx", two_by_two}, {"y.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n"}})
          .find("complex"),
      std::string::npos);
}

TEST(BatchFile, has_to_be_an_archive) {
  const Folder folder;
  const auto path = folder.write("a.mtx", two_by_two);
  EXPECT_NE(thrown<Error>([&] { read_batch<double>(path); }).find("this is no archive"), std::string::npos);
  EXPECT_NE(thrown<Error>([&] { read_batch<double>(folder.path("b.tar")); }).find("cannot be read"), std::string::npos);
  pack_tar(folder.path("empty.tar"), Packing::none, {});
  EXPECT_NE(thrown<Error>([&] { read_batch<double>(folder.path("empty.tar")); }).find("there is no matrix"),
            std::string::npos);
}

TEST(BatchFile, is_refused_where_the_matrix_has_no_such_blocks) {
  const Folder folder;
  const AnyMatrix<double> A = generate<double>(Poisson1dOptions{12});
  EXPECT_EQ(thrown<InvalidArgument>([&] { write_batch(folder.path("a.tar"), A, 5); }),
            "write_batch: 12 x 12 is no matrix of 5 square blocks of one size");
  EXPECT_EQ(thrown<InvalidArgument>([&] { write_batch(folder.path("a.tar"), A, 3); }),
            "write_batch: entry (3, 4), counted from 0, lies between two systems");
  EXPECT_EQ(folder.files(), 0U);
  EXPECT_NE(thrown<Error>([&] { write_batch(folder.path("none/a.tar"), A, 1); }), "");
  EXPECT_TRUE(names_tar_archive("x/a.tar.gz"));
  EXPECT_FALSE(names_tar_archive("a.mtx.gz"));
}

}  // namespace
}  // namespace krill::test
