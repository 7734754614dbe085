// What the pattern of a matrix says of its rank, whatever the values are.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace krill {

/// A pattern in CSR, without values. Offset counts entries.
template <class Offset>
struct PatternView {
  std::int32_t rows = 0, cols = 0;
  std::span<const Offset> offsets;
  std::span<const std::int32_t> columns;

  std::span<const std::int32_t> row(std::int32_t i) const {
    const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
    return columns.subspan(begin, static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]) - begin);
  }
};

/// No row, or no column, is matched.
inline constexpr std::int32_t unmatched = -1;

/// The row of each column in a matching of the most rows and columns: each row and each column is in one pair at most,
/// and each pair is an entry. It starts from the pairs of `row_of_column`, where that is not empty, and keeps the rows
/// and columns that these match. Augmenting paths with a look ahead (Duff 1981, MC21). O(nnz) as a rule; nothing where
/// it takes more than 100 looks at each entry. 12 bytes a row and 8 a column of memory, 8 a row for the longest path.
template <class Offset>
std::optional<std::vector<std::int32_t>> maximum_matching(const PatternView<Offset>&,
                                                          std::vector<std::int32_t> row_of_column = {});

/// Rows and columns, in rising order, of a part of a matrix that cannot have full rank.
struct DeficientPart {
  std::vector<std::int32_t> rows, cols;
};

/// How many pairs a maximum matching has, and where it lacks some: the coarse decomposition of Dulmage and Mendelsohn
/// (1958). Below the number of rows (of a square matrix), the matrix is singular whatever its values are.
struct StructuralRank {
  std::int32_t rank = 0;
  DeficientPart vertical;    ///< rows with entries in these columns only, which are fewer
  DeficientPart horizontal;  ///< columns with entries in these rows only, which are fewer
};

/// The parts that a maximum matching leaves. O(nnz); 4 nnz + 12 (rows + cols) bytes where it lacks pairs.
template <class Offset>
StructuralRank structural_rank(const PatternView<Offset>&, std::span<const std::int32_t> row_of_column);
/// The same with a maximum matching that is found here; nothing where that takes too long.
template <class Offset>
std::optional<StructuralRank> structural_rank(const PatternView<Offset>&);

/// "rows 3, 17 and 18 have entries in columns 5 and 9 only": the smaller part of a matrix without full structural rank.
std::string deficiency_text(const StructuralRank&);

}  // namespace krill
