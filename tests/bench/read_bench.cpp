// Speed of Matrix Market reading: MB/s with 1 and more threads, and the ratio to Eigen's loadMarket, in one run.
//   read_bench [megabytes]
#include <fmt/format.h>
#include <omp.h>

#include <Eigen/SparseCore>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <unsupported/Eigen/SparseExtra>

#include "krill/sparse/io/atomic_file.hpp"
#include "krill/sparse/io/matrix_market.hpp"
#include "krill/sparse/io/read.hpp"

namespace fs = std::filesystem;

namespace {

/// Column by column, as the collections store them; values have all their digits.
std::string matrix_text(std::size_t bytes) {
  constexpr std::int64_t entries_a_column = 8, bytes_an_entry = 36;
  const std::int64_t n = static_cast<std::int64_t>(bytes) / bytes_an_entry / entries_a_column + entries_a_column;
  std::string text =
      fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", n, n, n * entries_a_column);
  text.reserve(bytes + bytes / 4);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> value(-1, 1);
  for (std::int64_t col = 1; col <= n; ++col)
    for (std::int64_t k = 0; k < entries_a_column; ++k)
      fmt::format_to(std::back_inserter(text), "{} {} {}\n", (col + k * (n / entries_a_column)) % n + 1, col,
                     value(random));
  return text;
}

template <class F>
double seconds(F f) {
  double best = 1e300;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    f();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t megabytes = argc > 1 ? static_cast<std::size_t>(std::atol(argv[1])) : 100;
  const fs::path path = fs::temp_directory_path() / "krill_read_bench.mtx";
  const krill::InputFile file(path.string(), matrix_text(megabytes * 1'000'000));
  krill::atomic_write(path, file.view());
  const double mb = static_cast<double>(file.text.size()) / 1e6;
  fmt::print("{:.1f} MB\n", mb);

  Eigen::SparseMatrix<double> rival;
  const auto start = std::chrono::steady_clock::now();
  Eigen::loadMarket(rival, path.string());
  const double rival_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{:<34} {:8.1f} MB/s\n", "Eigen loadMarket", mb / rival_s);

  const int most_threads = omp_get_max_threads();
  for (int threads = 1; threads <= most_threads; threads *= 2) {
    omp_set_num_threads(threads);
    const double parse_s = seconds([&] { krill::parse_matrix_market<double>(file); });
    const double read_s = seconds([&] { krill::read_matrix<double>(path); });
    const double all_s = seconds([&] {
      krill::CanonicalReport report;
      krill::assemble(krill::read_matrix<double>(path).matrix, report);
    });
    fmt::print("{} thread(s): text to triplets        {:8.1f} MB/s, {:.1f} a core\n", threads, mb / parse_s,
               mb / parse_s / threads);
    fmt::print("{} thread(s): file to triplets        {:8.1f} MB/s, {:5.1f} times Eigen\n", threads, mb / read_s,
               rival_s / read_s);
    fmt::print("{} thread(s): file to CSR             {:8.1f} MB/s, {:5.1f} times Eigen\n", threads, mb / all_s,
               rival_s / all_s);
  }
  fs::remove(path);
}
