#include "apps/inspect/graph.hpp"

#include <algorithm>
#include <vector>

namespace krill::apps {
namespace {

constexpr std::int32_t nobody = -1;

/// Sets of rows, each named by one of its rows.
class Sets {
 public:
  explicit Sets(std::int32_t rows) : above_(static_cast<std::size_t>(rows)) {
    for (std::int32_t i = 0; i < rows; ++i) above(i) = i;
  }
  std::int32_t name(std::int32_t i) {
    while (above(i) != i) i = above(i) = above(above(i));
    return i;
  }
  void join(std::int32_t i, std::int32_t j) {
    const std::int32_t a = name(i), b = name(j);
    above(std::max(a, b)) = std::min(a, b);
  }

 private:
  std::int32_t& above(std::int32_t i) { return above_[static_cast<std::size_t>(i)]; }
  std::vector<std::int32_t> above_;
};

/// Gives each row a column of its own as far as that is possible.
template <class Offset>
class Matching {
 public:
  explicit Matching(const Pattern<Offset>& A)
      : A_(A),
        row_of_(static_cast<std::size_t>(A.cols), nobody),
        seen_(static_cast<std::size_t>(A.cols), nobody),
        looked_(static_cast<std::size_t>(A.rows)),
        next_(static_cast<std::size_t>(A.rows)),
        looks_left_(100 * static_cast<std::int64_t>(A.columns.size()) + 1000) {}

  /// Whether row i got a column; others may have changed theirs for it.
  bool match(std::int32_t i) {
    path_.assign(1, i);
    next(i) = 0;
    while (!path_.empty()) {
      const std::int32_t row = path_.back();
      if (const std::int32_t column = free_column(row); column != nobody) return hand_on(column), true;
      const std::int32_t taken = unseen_column(row, i);
      if (taken == nobody) {
        path_.pop_back();
      } else {
        const std::int32_t other = row_of_[static_cast<std::size_t>(taken)];
        next(other) = 0;
        path_.push_back(other);
      }
    }
    return false;
  }
  bool has_given_up() const { return looks_left_ < 0; }

 private:
  std::size_t& next(std::int32_t row) { return next_[static_cast<std::size_t>(row)]; }

  /// A column of the row that nobody has. Each entry is looked at once in all: a column that is taken stays taken.
  std::int32_t free_column(std::int32_t row) {
    const auto columns = A_.row(row);
    for (std::size_t& k = looked_[static_cast<std::size_t>(row)]; k < columns.size(); ++k)
      if (row_of_[static_cast<std::size_t>(columns[k])] == nobody) return columns[k];
    return nobody;
  }
  /// The next column of the row that this search, which `root` names, has not tried.
  std::int32_t unseen_column(std::int32_t row, std::int32_t root) {
    const auto columns = A_.row(row);
    for (std::size_t& k = next(row); k < columns.size() && looks_left_ >= 0; ++k, --looks_left_) {
      std::int32_t& seen = seen_[static_cast<std::size_t>(columns[k])];
      if (seen == root) continue;
      seen = root;
      return columns[k++];
    }
    return nobody;
  }
  /// The last row of the path takes the column, each one before it that which its follower leaves.
  void hand_on(std::int32_t column) {
    for (std::size_t k = path_.size(); k-- > 0;) {
      const std::int32_t row = path_[k];
      row_of_[static_cast<std::size_t>(column)] = row;
      if (k > 0) column = A_.row(path_[k - 1])[next(path_[k - 1]) - 1];
    }
  }

  const Pattern<Offset>& A_;
  std::vector<std::int32_t> row_of_, seen_;  // of columns
  std::vector<std::size_t> looked_, next_;   // of rows
  std::vector<std::int32_t> path_;
  std::int64_t looks_left_;
};

}  // namespace

template <class Offset>
Components components(const Pattern<Offset>& A) {
  Sets sets(A.rows);
  for (std::int32_t i = 0; i < A.rows; ++i)
    for (const std::int32_t j : A.row(i)) sets.join(i, j);
  std::vector<std::int32_t> sizes(static_cast<std::size_t>(A.rows));
  for (std::int32_t i = 0; i < A.rows; ++i) ++sizes[static_cast<std::size_t>(sets.name(i))];
  Components found;
  found.count = static_cast<std::int32_t>(std::ranges::count_if(sizes, [](std::int32_t size) { return size > 0; }));
  found.single = static_cast<std::int32_t>(std::ranges::count(sizes, 1));
  if (A.rows == 0) return found;
  const auto largest = std::ranges::max_element(sizes);
  found.largest = *largest;
  const auto name = static_cast<std::int32_t>(largest - sizes.begin());
  for (std::int32_t i = 0; i < A.rows && !found.first_outside; ++i)
    if (sets.name(i) != name) found.first_outside = i;
  return found;
}

template <class Offset>
std::optional<StructuralRank> structural_rank(const Pattern<Offset>& A) {
  Matching<Offset> matching(A);
  StructuralRank found;
  for (std::int32_t i = 0; i < A.rows; ++i) {
    if (matching.match(i))
      ++found.rank;
    else if (!found.first_row)
      found.first_row = i;
    if (matching.has_given_up()) return {};
  }
  return found;
}

template Components components(const Pattern<std::int32_t>&);
template Components components(const Pattern<std::int64_t>&);
template std::optional<StructuralRank> structural_rank(const Pattern<std::int32_t>&);
template std::optional<StructuralRank> structural_rank(const Pattern<std::int64_t>&);

}  // namespace krill::apps
