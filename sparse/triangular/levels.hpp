// The order in which a triangle's rows can be computed. A row's level is the length of the longest chain of rows that
// it waits for; rows of one level do not depend on each other (Anderson and Saad 1989).
#pragma once
#include "sparse/core/memory_ledger.hpp"
#include "sparse/formats/csr.hpp"
#include "sparse/triangular/triangle.hpp"

namespace krill {

/// The rows of a triangle, sorted so that each comes after those that it depends on.
class LevelSchedule {
 public:
  /// Rows as they stand: from the first to the last in a lower triangle, from the last to the first in an upper one.
  /// has_levels() is false then. O(rows), without a wait.
  LevelSchedule(Context&, std::int32_t rows, Fill);

  /// Sorted by level, and inside a level as they stand. O(nnz) and, on CUDA, as many waits inside one kernel as there
  /// are levels, and one of the host. The entries beside the triangle are not looked at.
  template <class Offset>
  LevelSchedule(Context&, const Array<Offset>& row_offsets, const Array<std::int32_t>& col_indices, Fill);

  /// A copy, on the context's side.
  LevelSchedule copy(Context&) const;

  std::int32_t rows() const { return static_cast<std::int32_t>(order_.size()); }
  Fill fill() const { return fill_; }
  bool has_levels() const { return levels_ > 0; }
  std::int32_t levels() const { return levels_; }
  /// Rows of the widest level.
  std::int32_t widest() const;

  const Array<std::int32_t>& order() const { return order_; }      ///< place to row
  const Array<std::int32_t>& inverse() const { return inverse_; }  ///< of order(): row to place
  /// Level l has the places offsets()[l] to offsets()[l + 1] - 1.
  const Array<std::int32_t>& offsets() const { return offsets_; }
  std::size_t bytes() const { return detail::bytes_of(order_, inverse_, offsets_); }
  /// What it takes to make this one, or a copy of it, anywhere.
  HeldMemory memory(MemoryLedger&) const;
  HeldMemory memory_of_copy(MemoryLedger&) const;

 private:
  explicit LevelSchedule(Fill fill) : fill_(fill) {}

  Fill fill_;
  std::int32_t levels_ = 0;
  Array<std::int32_t> order_{0, "level order"}, inverse_{0, "inverse level order"}, offsets_{0, "level offsets"};
};

}  // namespace krill

// The kernels behind it: pointers on the tag's side.
namespace krill::detail {

/// depths[row] = 1 + the row's level. On CUDA a block of threads does `rounds` of rows.
template <class Offset>
void find_depths(const Host&, const Steps&, const Offset* row_offsets, const std::int32_t* col_indices,
                 std::int32_t* depths, std::int32_t rounds);
template <class Offset>
void find_depths(const Cuda&, const Steps&, const Offset* row_offsets, const std::int32_t* col_indices,
                 std::int32_t* depths, std::int32_t rounds);

/// order = the rows by depth, those of one depth in the order of steps; sorted[place] = their depths.
void sort_by_depth(const Host&, const Steps&, std::int32_t deepest, const std::int32_t* depths, std::int32_t* sorted,
                   std::int32_t* order);
void sort_by_depth(const Cuda&, const Steps&, std::int32_t deepest, const std::int32_t* depths, std::int32_t* sorted,
                   std::int32_t* order);
void sort_by_depth_scratch(MemoryLedger&, std::int32_t rows, std::int32_t deepest);

}  // namespace krill::detail
