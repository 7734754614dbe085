// Results for people: a table on the terminal, one in Markdown.
#pragma once
#include <cstddef>
#include <string>

#include "apps/bench/result.hpp"

namespace krill::apps::bench {

/// What rows a table has: columns that none of them fills are left out.
struct RowKinds {
  bool kernels = true, solvers = false;
};

/// Lines of a table whose rows come one by one: widths are known before.
class RowTable {
 public:
  /// With the longest name of a case and of a variant that will come.
  RowTable(std::size_t case_width, std::size_t variant_width, RowKinds);
  std::string head() const;
  std::string line(const Row&) const;

 private:
  std::size_t case_width_, variant_width_;
  RowKinds kinds_;
};

/// "copy 4288 GB/s, triad 4381 GB/s, read 4422 GB/s".
std::string ceilings_text(const Ceilings&);

/// "geometric mean of the ratios: spmv 1.45 (14 rows)", a line a kernel; empty where there was no rival.
std::string means_text(const std::vector<Row>&);

/// The runs as Markdown: where and when, the ceilings, a table a kernel.
std::string markdown(const std::vector<Result>&);

}  // namespace krill::apps::bench
