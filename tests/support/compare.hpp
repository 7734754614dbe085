// Matrices that tests compare.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "tests/support/oracle.hpp"

namespace krill::test {

/// The entries of both, which may have different patterns: `tolerance` times the greatest expected one apart at most.
inline void expect_near(const Reference& made, const Reference& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(made.rows, expected.rows) << what;
  ASSERT_EQ(made.cols, expected.cols) << what;
  std::map<std::pair<std::int32_t, std::int32_t>, Z> difference;
  double greatest = 0;
  for (std::size_t k = 0; k < expected.value.size(); ++k) {
    difference[{expected.row[k], expected.col[k]}] -= expected.value[k];
    greatest = std::max(greatest, modulus(expected.value[k]));
  }
  for (std::size_t k = 0; k < made.value.size(); ++k) difference[{made.row[k], made.col[k]}] += made.value[k];
  for (const auto& [place, d] : difference)
    ASSERT_LE(modulus(d), tolerance * greatest) << what << ", entry " << place.first << ", " << place.second;
}

}  // namespace krill::test
