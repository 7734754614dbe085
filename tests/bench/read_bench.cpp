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
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <unsupported/Eigen/SparseExtra>
#include <vector>

#include "sparse/io/atomic_file.hpp"
#include "sparse/io/matrix_market.hpp"
#include "sparse/io/read.hpp"

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

struct Contender {
  Contender(std::string label, int with_threads, std::function<void()> what)
      : name(std::move(label)), threads(with_threads), run(std::move(what)) {}
  std::string name;
  int threads;
  std::function<void()> run;
  double best_seconds = 1e300;
};

void measure(Contender& contender) {
  omp_set_num_threads(contender.threads);
  const auto start = std::chrono::steady_clock::now();
  contender.run();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  contender.best_seconds = std::min(contender.best_seconds, passed.count());
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t megabytes = argc > 1 ? static_cast<std::size_t>(std::atol(argv[1])) : 100;
  const fs::path path = fs::temp_directory_path() / "krill_read_bench.mtx";
  const krill::InputFile file(path.string(), matrix_text(megabytes * 1'000'000));
  krill::atomic_write(path, file.view());

  std::vector<Contender> contenders;
  contenders.emplace_back("Eigen loadMarket", 1, [&] {
    Eigen::SparseMatrix<double> rival;
    Eigen::loadMarket(rival, path.string());
  });
  for (int threads = 1; threads <= omp_get_max_threads(); threads *= 2) {
    contenders.emplace_back("text to triplets", threads, [&] { krill::parse_matrix_market<double>(file); });
    contenders.emplace_back("file to triplets", threads, [&] { krill::read_matrix<double>(path); });
    contenders.emplace_back("file to CSR", threads, [&] {
      krill::CanonicalReport report;
      krill::assemble(krill::read_matrix<double>(path).matrix, report);
    });
  }
  for (int repeat = 0; repeat < 7; ++repeat)  // in turn, so that what else runs on the machine meets all of them
    for (Contender& contender : contenders) measure(contender);

  const double mb = static_cast<double>(file.text.size()) / 1e6;
  fmt::print("{:.1f} MB, best of 7\n{:<20} {:>7} {:>8} {:>12} {:>12}\n", mb, "", "threads", "MB/s", "MB/s a core",
             "x loadMarket");
  for (const Contender& c : contenders)
    fmt::print("{:<20} {:>7} {:>8.0f} {:>12.0f} {:>12.1f}\n", c.name, c.threads, mb / c.best_seconds,
               mb / c.best_seconds / c.threads, contenders[0].best_seconds / c.best_seconds);
  fs::remove(path);
}
