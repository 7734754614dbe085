#include "sparse/io/structural_rank.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace krill {
namespace {

/// Gives each row a column of its own as far as that is possible.
template <class Offset>
class AugmentingPaths {
 public:
  AugmentingPaths(const PatternView<Offset>& A, std::vector<std::int32_t> row_of_column)
      : A_(A),
        row_of_(std::move(row_of_column)),
        seen_(static_cast<std::size_t>(A.cols), unmatched),
        looked_(static_cast<std::size_t>(A.rows)),
        next_(static_cast<std::size_t>(A.rows)),
        looks_left_(100 * static_cast<std::int64_t>(A.columns.size()) + 1000) {
    row_of_.resize(static_cast<std::size_t>(A.cols), unmatched);
  }

  /// Looks for a column for row i; others may change theirs for it.
  void match(std::int32_t i) {
    path_.assign(1, i);
    next(i) = 0;
    while (!path_.empty()) {
      const std::int32_t row = path_.back();
      if (const std::int32_t column = free_column(row); column != unmatched) return hand_on(column);
      const std::int32_t taken = unseen_column(row, i);
      if (taken == unmatched) {
        path_.pop_back();
      } else {
        const std::int32_t other = row_of_[static_cast<std::size_t>(taken)];
        next(other) = 0;
        path_.push_back(other);
      }
    }
  }
  bool has_given_up() const { return looks_left_ < 0; }
  std::vector<std::int32_t> release() && { return std::move(row_of_); }

 private:
  Offset& next(std::int32_t row) { return next_[static_cast<std::size_t>(row)]; }

  /// A column of the row that nobody has. Each entry is looked at once in all: a column that is taken stays taken.
  std::int32_t free_column(std::int32_t row) {
    const auto columns = A_.row(row);
    for (Offset& k = looked_[static_cast<std::size_t>(row)]; k < std::ssize(columns); ++k)
      if (const std::int32_t j = columns[static_cast<std::size_t>(k)];
          row_of_[static_cast<std::size_t>(j)] == unmatched)
        return j;
    return unmatched;
  }
  /// The next column of the row that this search, which `root` names, has not tried.
  std::int32_t unseen_column(std::int32_t row, std::int32_t root) {
    const auto columns = A_.row(row);
    for (Offset& k = next(row); k < std::ssize(columns) && looks_left_ >= 0; ++k, --looks_left_) {
      std::int32_t& seen = seen_[static_cast<std::size_t>(columns[static_cast<std::size_t>(k)])];
      if (seen == root) continue;
      seen = root;
      return columns[static_cast<std::size_t>(k++)];
    }
    return unmatched;
  }
  /// The last row of the path takes the column, each one before it that which its follower leaves.
  void hand_on(std::int32_t column) {
    for (std::size_t k = path_.size(); k-- > 0;) {
      const std::int32_t row = path_[k];
      row_of_[static_cast<std::size_t>(column)] = row;
      if (k > 0) column = A_.row(path_[k - 1])[static_cast<std::size_t>(next(path_[k - 1]) - 1)];
    }
  }

  const PatternView<Offset>& A_;
  std::vector<std::int32_t> row_of_, seen_;  // of columns
  std::vector<Offset> looked_, next_;        // of rows
  std::vector<std::int32_t> path_;
  std::int64_t looks_left_;
};

/// The partners of rows, given those of columns, or the other way round.
std::vector<std::int32_t> partners(std::span<const std::int32_t> of, std::int32_t size) {
  std::vector<std::int32_t> found(static_cast<std::size_t>(size), unmatched);
  for (std::size_t j = 0; j < of.size(); ++j)
    if (of[j] != unmatched) found[static_cast<std::size_t>(of[j])] = static_cast<std::int32_t>(j);
  return found;
}

struct TransposedPattern {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> columns;
};
template <class Offset>
TransposedPattern transposed(const PatternView<Offset>& A) {
  TransposedPattern made{std::vector<std::int64_t>(static_cast<std::size_t>(A.cols) + 2),
                         std::vector<std::int32_t>(A.columns.size())};
  for (const std::int32_t j : A.columns) ++made.offsets[static_cast<std::size_t>(j) + 2];
  for (std::size_t j = 2; j < made.offsets.size(); ++j) made.offsets[j] += made.offsets[j - 1];
  for (std::int32_t i = 0; i < A.rows; ++i)
    for (const std::int32_t j : A.row(i))
      made.columns[static_cast<std::size_t>(made.offsets[static_cast<std::size_t>(j) + 1]++)] = i;
  made.offsets.pop_back();
  return made;
}

/// Rows without a partner and all that alternating paths lead to from them, in rising order: rows that have entries in
/// these columns only.
template <class Offset>
DeficientPart reached(const PatternView<Offset>& A, std::span<const std::int32_t> row_of_column,
                      std::span<const std::int32_t> column_of_row) {
  DeficientPart part;
  std::vector<char> seen(static_cast<std::size_t>(A.cols));
  for (std::int32_t i = 0; i < A.rows; ++i)
    if (column_of_row[static_cast<std::size_t>(i)] == unmatched) part.rows.push_back(i);
  for (std::size_t next = 0; next < part.rows.size(); ++next)
    for (const std::int32_t j : A.row(part.rows[next])) {
      if (std::exchange(seen[static_cast<std::size_t>(j)], 1)) continue;
      part.cols.push_back(j);
      part.rows.push_back(row_of_column[static_cast<std::size_t>(j)]);
    }
  std::ranges::sort(part.rows);
  std::ranges::sort(part.cols);
  return part;
}

/// "rows 3, 17 and 18", "row 3", "rows 1, 2, 3, 4 and 96 others"
std::string lines_text(std::string_view one, const std::vector<std::int32_t>& lines) {
  constexpr std::size_t most = 5;
  std::string text = fmt::format("{}{}", one, lines.size() == 1 ? "" : "s");
  const std::size_t named = lines.size() <= most ? lines.size() : most - 1;
  for (std::size_t k = 0; k < named; ++k)
    text += fmt::format("{}{}", k == 0 ? " " : k + 1 == lines.size() ? " and " : ", ", lines[k]);
  if (named < lines.size()) text += fmt::format(" and {} others", lines.size() - named);
  return text;
}

std::string part_text(const std::vector<std::int32_t>& many, std::string_view of_many,
                      const std::vector<std::int32_t>& few, std::string_view of_few) {
  const std::string lines = lines_text(of_many, many), verb = many.size() == 1 ? "has" : "have";
  if (few.empty()) return fmt::format("{} {} no entries other than 0", lines, verb);
  return fmt::format("{} {} entries in {} only", lines, verb, lines_text(of_few, few));
}

}  // namespace

template <class Offset>
std::optional<std::vector<std::int32_t>> maximum_matching(const PatternView<Offset>& A,
                                                          std::vector<std::int32_t> row_of_column) {
  std::vector<char> has_column(static_cast<std::size_t>(A.rows));
  for (const std::int32_t i : row_of_column)
    if (i != unmatched) has_column[static_cast<std::size_t>(i)] = 1;
  AugmentingPaths<Offset> paths(A, std::move(row_of_column));
  for (std::int32_t i = 0; i < A.rows; ++i) {
    if (!has_column[static_cast<std::size_t>(i)]) paths.match(i);
    if (paths.has_given_up()) return {};
  }
  return std::move(paths).release();
}

template <class Offset>
StructuralRank structural_rank(const PatternView<Offset>& A, std::span<const std::int32_t> row_of_column) {
  StructuralRank found;
  const std::vector<std::int32_t> column_of_row = partners(row_of_column, A.rows);
  found.rank = static_cast<std::int32_t>(A.cols - std::ranges::count(row_of_column, unmatched));
  if (found.rank < A.rows) found.vertical = reached(A, row_of_column, column_of_row);
  if (found.rank < A.cols) {
    const TransposedPattern transpose = transposed(A);
    const PatternView<std::int64_t> view{A.cols, A.rows, transpose.offsets, transpose.columns};
    found.horizontal = reached(view, column_of_row, row_of_column);
    std::swap(found.horizontal.rows, found.horizontal.cols);
  }
  return found;
}

template <class Offset>
std::optional<StructuralRank> structural_rank(const PatternView<Offset>& A) {
  const auto row_of_column = maximum_matching(A);
  if (!row_of_column) return {};
  return structural_rank(A, *row_of_column);
}

std::string deficiency_text(const StructuralRank& s) {
  const bool by_rows =
      s.horizontal.cols.empty() || (!s.vertical.rows.empty() && s.vertical.rows.size() <= s.horizontal.cols.size());
  if (by_rows) return part_text(s.vertical.rows, "row", s.vertical.cols, "column");
  return part_text(s.horizontal.cols, "column", s.horizontal.rows, "row");
}

using Indices = std::vector<std::int32_t>;
template std::optional<Indices> maximum_matching(const PatternView<std::int32_t>&, Indices);
template std::optional<Indices> maximum_matching(const PatternView<std::int64_t>&, Indices);
template StructuralRank structural_rank(const PatternView<std::int32_t>&, std::span<const std::int32_t>);
template StructuralRank structural_rank(const PatternView<std::int64_t>&, std::span<const std::int32_t>);
template std::optional<StructuralRank> structural_rank(const PatternView<std::int32_t>&);
template std::optional<StructuralRank> structural_rank(const PatternView<std::int64_t>&);

}  // namespace krill
