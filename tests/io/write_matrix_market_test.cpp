#include "sparse/io/write_matrix_market.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>

#include "sparse/core/error.hpp"
#include "sparse/io/atomic_file.hpp"
#include "sparse/io/read.hpp"
#include "tests/io/files.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

template <class T>
class WriteMatrixMarket : public testing::Test {};
using Scalars = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(WriteMatrixMarket, Scalars);

/// A finite number with random bits: of any magnitude, subnormal too.
template <class R>
R random_bits(std::mt19937_64& engine) {
  for (;;) {
    const std::uint64_t bits = engine();
    R value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) return value;
  }
}
template <class T>
T random_number(std::mt19937_64& engine) {
  if constexpr (is_complex<T>)
    return {random_bits<real_t<T>>(engine), random_bits<real_t<T>>(engine)};
  else
    return random_bits<T>(engine);
}
template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

template <class T>
void expect_round_trip(const Csr<T>& a, const std::filesystem::path& path, Symmetry symmetry) {
  CanonicalReport report;
  const auto read = assemble(read_matrix<T>(path).matrix, report);
  const auto& b = std::get<Csr<T>>(read);
  EXPECT_EQ(a.cols(), b.cols());
  EXPECT_TRUE(same_bits(a.row_offsets().host(), b.row_offsets().host()));
  EXPECT_TRUE(same_bits(a.col_indices().host(), b.col_indices().host()));
  EXPECT_TRUE(same_bits(a.values().host(), b.values().host()));
  EXPECT_EQ(peek_matrix(path).symmetry, symmetry);
}

TYPED_TEST(WriteMatrixMarket, comes_back_to_the_bit) {
  using T = TypeParam;
  const Folder folder;
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    for (const Shape& shape : nasty_shapes()) {
      SCOPED_TRACE(shape.name + ", seed 5");
      Csr<T> a = random_csr<T>(5, shape);
      std::mt19937_64 engine(5);
      for (T& value : a.values().edit()) value = random_number<T>(engine);
      const AnyMatrix<T> matrix = a.clone();
      write_matrix_market(folder.path("a.mtx"), matrix);
      expect_round_trip(a, folder.path("a.mtx"), Symmetry::general);
    }
  }
  EXPECT_EQ(folder.files(), 1u);
}

TYPED_TEST(WriteMatrixMarket, writes_one_triangle_of_a_hermitian_matrix) {
  using T = TypeParam;
  const Folder folder;
  const Csr<T> a = random_hpd<T>(3, 5000, 20);  // several pieces
  const AnyMatrix<T> matrix = a.clone();
  const Symmetry symmetry = is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric;
  write_matrix_market(folder.path("a.mtx"), matrix, symmetry);
  expect_round_trip(a, folder.path("a.mtx"), symmetry);
  EXPECT_EQ(peek_matrix(folder.path("a.mtx")).stored_entries, (a.nnz() + a.rows()) / 2);
}

TYPED_TEST(WriteMatrixMarket, writes_columns) {
  using T = TypeParam;
  const Folder folder;
  std::mt19937_64 engine(9);
  std::vector<T> values(3000);
  std::ranges::generate(values, [&] { return random_number<T>(engine); });
  write_vector<T>(folder.path("b.mtx"), values, 3, "three columns");
  const auto read = read_vector<T>(folder.path("b.mtx"));
  EXPECT_EQ(read.rows, 1000);
  EXPECT_EQ(read.cols, 3);
  EXPECT_TRUE(same_bits<T>(values, read.values));
  EXPECT_THROW(write_vector<T>(folder.path("c.mtx"), values, 7), ShapeMismatch);
  EXPECT_EQ(folder.files(), 1u);
}

AnyMatrix<double> small(std::vector<double> values) {  // (v0 v1; v2 v3)
  return Csr<double>(2, Array<std::int32_t>{0, 2, 4}, Array<std::int32_t>{0, 1, 0, 1}, Array(std::move(values)));
}

TEST(WriteMatrixMarketText, has_banner_comments_and_the_fewest_digits) {
  const Folder folder;
  write_matrix_market(folder.path("a"), small({0.1, -0.0, 1e300, 4}), Symmetry::general, "made by\nhand");
  EXPECT_EQ(
      read_text(folder.path("a")),
      "%%MatrixMarket matrix coordinate real general\n% made by\n% hand\n2 2 4\n1 1 0.1\n1 2 -0\n2 1 1e+300\n2 2 4\n");
  write_matrix_market(folder.path("a"), small({1, 2, 2, 3}), Symmetry::symmetric);
  EXPECT_EQ(read_text(folder.path("a")),
            "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 2\n2 2 3\n");
  write_matrix_market(folder.path("a"), small({0, -2, 2, 0}), Symmetry::skew_symmetric);
  EXPECT_EQ(read_text(folder.path("a")), "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 2\n");
}

TEST(WriteMatrixMarketText, writes_coordinates) {
  const Folder folder;
  const AnyMatrix<double> a =
      Coo<double>(2, 2, Array<std::int32_t>{0, 0, 1}, Array<std::int32_t>{0, 1, 0}, Array<double>{1, 5, 5});
  write_matrix_market(folder.path("a"), a, Symmetry::symmetric);
  EXPECT_EQ(read_text(folder.path("a")), "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 5\n");
}

TEST(WriteMatrixMarketText, writes_triplets_as_they_were_read) {
  const Folder folder;
  for (const char* text : {"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n1 1\n",
                           "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n3 1 0.5\n3 1 2\n",
                           "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n"}) {
    write_matrix_market(folder.path("b"), read_matrix<double>(folder.write("a", text)).matrix);
    EXPECT_EQ(read_text(folder.path("b")), text);
  }
}

TEST(WriteMatrixMarketText, refuses_a_symmetry_that_is_not_there) {
  const Folder folder;
  EXPECT_EQ(thrown<InvalidArgument>([&] {
              write_matrix_market(folder.path("a"), small({1, 2, 2.5, 3}), Symmetry::symmetric);
            }),
            "write_matrix_market: entry (0, 1), counted from 0, has no mirror image that makes the matrix symmetric\n"
            "  write it as general");
  EXPECT_THROW(write_matrix_market(folder.path("a"), small({1, 2, -2, 3}), Symmetry::skew_symmetric), InvalidArgument);
  EXPECT_EQ(folder.files(), 0u);
}

TEST(AtomicFile, appears_whole_or_not_at_all) {
  const Folder folder;
  const auto path = folder.write("a", "old");
  {
    AtomicFile file(path);
    file.write("new");
    EXPECT_EQ(read_text(path), "old");
  }
  EXPECT_EQ(read_text(path), "old");
  EXPECT_EQ(folder.files(), 1u);
  atomic_write(path, "new");
  EXPECT_EQ(read_text(path), "new");
  EXPECT_EQ(folder.files(), 1u);
  const auto permissions = std::filesystem::status(path).permissions();
  EXPECT_NE(permissions & std::filesystem::perms::owner_read, std::filesystem::perms::none);
}

TEST(AtomicFile, follows_links_and_writes_devices_directly) {
  const Folder folder;
  folder.write("target", "old");
  std::filesystem::create_symlink("target", folder.path("link"));
  atomic_write(folder.path("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(read_text(folder.path("target")), "new");
  atomic_write("/dev/null", "text");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AtomicFile, says_why_it_cannot_be_written) {
  const Folder folder;
  const auto fault = [](const std::filesystem::path& path) {
    return thrown<Error>([&] { atomic_write(path, "text"); });
  };
  EXPECT_EQ(fault(folder.path("none") / "a"), (folder.path("none") / "a").string() +
                                                  ": the file cannot be written: No such file or directory\n"
                                                  "  create the folder first, or choose another one");
  EXPECT_NE(fault(folder.path("")).find("Is a directory"), std::string::npos);
  EXPECT_NE(fault(folder.write("file", "") / "a").find("Not a directory"), std::string::npos);
  if (geteuid() != 0) {
    std::filesystem::create_directory(folder.path("closed"));
    std::filesystem::permissions(folder.path("closed"), std::filesystem::perms::owner_read);
    EXPECT_NE(fault(folder.path("closed") / "a").find("choose a folder that you may write to"), std::string::npos);
    std::filesystem::permissions(folder.path("closed"), std::filesystem::perms::owner_all);
  }
}

TEST(AtomicFile, reports_a_full_disk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(thrown<Error>([] { atomic_write("/dev/full", "text"); }),
            "/dev/full: the file cannot be written: No space left on device\n"
            "  free some space, or choose another folder");
}

}  // namespace
}  // namespace krill::test
