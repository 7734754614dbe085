// Results for people: a table on the terminal, one with more columns in Markdown.
#pragma once
#include <cstddef>
#include <string>

#include "apps/bench/result.hpp"

namespace krill::apps::bench {

/// Lines of a table whose rows come one by one, in 80 columns where names of variants have at most 23.
class RowTable {
 public:
  /// With the longest name of a variant that will come.
  explicit RowTable(std::size_t variant_width) : variant_width_(variant_width) {}
  /// A row, after the headings that it does not share with the last one.
  std::string lines(const Row&, bool is_solver);

 private:
  std::size_t variant_width_;
  std::string kernel_, group_;  // of the last row
};

/// "copy 4288 GB/s, triad 4381 GB/s, read 4422 GB/s".
std::string ceilings_text(const Ceilings&);

/// "geometric mean of the ratios: spmv 1.45 (14 rows)", a line a kernel; empty where there was no rival.
std::string means_text(const std::vector<Row>&);

/// The runs as Markdown: where and when, the ceilings, a table a kernel.
std::string markdown(const std::vector<Result>&);

}  // namespace krill::apps::bench
