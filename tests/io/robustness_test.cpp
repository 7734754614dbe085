// Damaged files: every prefix and many single-byte changes of good ones are read or refused, and nothing else happens.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <random>

#include "sparse/core/error.hpp"
#include "sparse/io/harwell_boeing.hpp"
#include "sparse/io/matrix_market.hpp"
#include "tests/io/files.hpp"

namespace krill::test {
namespace {

using Complex128 = std::complex<double>;

const std::array matrix_market_files{
    std::string("%%MatrixMarket matrix coordinate real general\n% c\n3 3 4\n1 1 1.5e-3\n2 2 -2\n\n3 1 nan\n3 3 4.D0\n"),
    std::string("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 3 4\n"),
    std::string("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 1\n3 2\n"),
    std::string("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"),
    std::string("%%MatrixMarket vector coordinate integer general\n5 2\n1 1\n5 -2\n")};

const std::array harwell_boeing_files{
    std::string("title\n     9     1     1     1     1\nRUA  3  3  4  0\n(4I3) (16I2) (2D8.1) (3F6.1)\nF  1  0\n"
                "  1  3  4  5\n 1 3 2 1\n 1.5D+00-2.0D-01\n 3.0D+00 4.0D+00\n   1.0   2.0   3.0\n"),
    std::string("title\n  3  1  1  1\nisa   4   4  10   0\n(26I3) (40I2) (26I3)\n  1  5  8 10 11\n"
                " 1 2 3 4 2 3 4 3 4 4\n 32  7 12 17 22 17 22 12 27  2\n"),
    std::string("title\n  3  1  1  1  1\nCUA  2  2  1  0\n(3I3) (2I3) (2E5.1) (2E5.1)\nM  1  1\n  1  2  2\n  2\n"
                "  1.0  2.0\n  1  2\n  2\n  3.0  4.0\n")};

/// Reads and assembles; errors of ours are fine, other exceptions and faults of memory are not.
void read(const std::string& text, bool matrix_market) {
  const InputFile file("m", text);
  thrown<Error>([&] {
    CanonicalReport report;
    std::optional<Columns<Complex128>> rhs;
    // A changed size line may ask for any number of rows that memory holds: that is not what is tested here.
    const MatrixKind kind = matrix_market ? parse_matrix_market_head(file).kind : parse_harwell_boeing_head(file);
    auto matrix = matrix_market ? parse_matrix_market<Complex128>(file) : parse_harwell_boeing<Complex128>(file, rhs);
    if (kind.rows < 100'000) assemble(std::move(matrix), report);
  });
}

template <class Files>
void damage(const Files& files, bool matrix_market) {
  constexpr std::string_view bytes("\0\n\r\t %-+.,0129eEdD()ix\x80\xff", 24);
  for (const std::string& good : files) {
    for (std::size_t size = 0; size <= good.size(); ++size) read(good.substr(0, size), matrix_market);
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const char byte : bytes) {
        std::string text = good;
        text[at] = byte;
        read(text, matrix_market);
        text.insert(at, 1, good[at]);
        read(text, matrix_market);
      }
      std::string text = good;
      read(text.erase(at, 1), matrix_market);
    }
  }
}

TEST(Robustness, damaged_matrix_market_files_are_read_or_refused) { damage(matrix_market_files, true); }

TEST(Robustness, damaged_harwell_boeing_files_are_read_or_refused) { damage(harwell_boeing_files, false); }

TEST(Robustness, undamaged_files_are_read) {
  for (const std::string& text : matrix_market_files)
    EXPECT_NO_THROW(parse_matrix_market<Complex128>(InputFile("m", text))) << text;
  for (const std::string& text : harwell_boeing_files) {
    std::optional<Columns<Complex128>> rhs;
    EXPECT_NO_THROW(parse_harwell_boeing<Complex128>(InputFile("m", text), rhs)) << text;
  }
}

TEST(Robustness, random_bytes_are_refused) {
  std::mt19937_64 engine(23);
  for (int i = 0; i < 2000; ++i) {
    std::string text(engine() % 300, ' ');
    for (char& c : text) c = static_cast<char>(engine());
    if (i % 2) text.insert(0, "%%MatrixMarket matrix coordinate real general\n");
    read(text, true);
    read(text, false);
  }
}

}  // namespace
}  // namespace krill::test
