// Which rank of a team owns which rows.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace krill {

/// Contiguous rows, rank after rank; some may have none. The same on all ranks.
class RowPartition {
 public:
  /// offsets: where each rank's rows begin, and their number at the end. Raises InvalidArgument unless they begin at 0
  /// and never decrease.
  explicit RowPartition(std::vector<std::int64_t> offsets);

  /// What a row costs in bytes that a solver's iteration moves: an entry in CSR, and entries of some twelve vectors.
  static constexpr std::int64_t bytes_an_entry = 12, bytes_a_row = 100;
  /// Rows of about equal cost for each rank, by their entries: row_offsets as CSR has them, of all rows. Ranks begin at
  /// multiples of `unit` rows. O(ranks log rows).
  template <class Offset>
  static RowPartition by_cost(std::span<const Offset> row_offsets, int ranks, std::int64_t unit = 32);
  /// The same by entries_before(i), which counts the entries of the rows before i, for i up to `rows` that are
  /// multiples of `unit`, and for `rows`.
  static RowPartition by_cost(std::int64_t rows, const std::function<std::int64_t(std::int64_t)>& entries_before,
                              int ranks, std::int64_t unit = 32);

  int ranks() const { return static_cast<int>(offsets_.size()) - 1; }
  std::int64_t rows() const { return offsets_.back(); }
  std::int64_t begin(int rank) const { return offsets_[static_cast<std::size_t>(rank)]; }
  std::int64_t end(int rank) const { return offsets_[static_cast<std::size_t>(rank) + 1]; }
  std::int64_t rows(int rank) const { return end(rank) - begin(rank); }
  int owner(std::int64_t row) const;  ///< of a row of the matrix. O(log ranks).

 private:
  std::vector<std::int64_t> offsets_;
};

}  // namespace krill
