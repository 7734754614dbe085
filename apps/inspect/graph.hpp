// What the pattern of a matrix says as a graph: parts that do not meet, rows that no pivot is left for.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace krill::apps {

/// A pattern in CSR; Offset counts entries.
template <class Offset>
struct Pattern {
  std::int32_t rows = 0, cols = 0;
  std::span<const Offset> offsets;
  std::span<const std::int32_t> columns;

  std::span<const std::int32_t> row(std::int32_t i) const {
    const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
    return columns.subspan(begin, static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]) - begin);
  }
};

/// The connected components of a square matrix's graph, entries in either triangle linking row and column.
struct Components {
  std::int32_t count = 0;
  std::int32_t largest = 0;                   ///< rows of the largest one, the first of that size
  std::int32_t single = 0;                    ///< components of one row
  std::optional<std::int32_t> first_outside;  ///< the first row that is not in the largest one
};
/// O(nnz), by union and find.
template <class Offset>
Components components(const Pattern<Offset>&);

/// The most entries of which no two share a row or column: below the number of rows, the matrix is singular whatever
/// its values are.
struct StructuralRank {
  std::int32_t rank = 0;
  std::optional<std::int32_t> first_row;  ///< the first one that no entry is left for
};
/// Augmenting paths with a look ahead (Duff 1981, MC21). O(nnz) as a rule; nothing where it takes more than 100 looks
/// at each entry.
template <class Offset>
std::optional<StructuralRank> structural_rank(const Pattern<Offset>&);

}  // namespace krill::apps
