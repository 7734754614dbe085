// Which entries of a matrix couple their rows strongly.
#pragma once
#include <array>
#include <string_view>

#include "sparse/formats/csr.hpp"

namespace krill {

enum class StrengthMeasure { relative, diagonal };
inline constexpr std::array<std::string_view, 2> strength_measure_names{"relative", "diagonal"};
struct Strength {
  StrengthMeasure measure = StrengthMeasure::relative;
  double threshold = 0.25;
};

/// The graph of strong off-diagonal entries: structurally symmetric, no diagonal, columns sorted.
template <class Offset>
struct StrongGraph {
  Array<Offset> row_offsets;
  Array<std::int32_t> col_indices;

  std::int32_t rows() const { return static_cast<std::int32_t>(row_offsets.size() - 1); }
  std::int64_t nnz() const { return col_indices.size(); }
};

}  // namespace krill
