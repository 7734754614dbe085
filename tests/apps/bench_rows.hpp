// Rows of results, made up.
#pragma once
#include "apps/bench/result_text.hpp"

namespace krill::apps::test {

inline bench::Row row_of(const std::string& kernel, const std::string& matrix, double ms) {
  bench::Row row;
  row.kernel = kernel, row.matrix = matrix, row.precision = "float64", row.variant = "csr", row.cache = "cold";
  row.ms = ms;
  return row;
}
inline bench::Result result_of(std::vector<bench::Row> rows) {
  return {"abc", "2026-01-01T00:00:00Z", "H", "13.0", {}, std::move(rows)};
}

}  // namespace krill::apps::test
