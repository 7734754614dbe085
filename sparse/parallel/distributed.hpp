// A matrix whose rows several ranks share.
#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <variant>

#include "sparse/parallel/halo_exchange.hpp"
#include "sparse/spmv/plan.hpp"

namespace krill {

/// Some rows of a matrix, in columns of the whole matrix, ascending in each row. Looks at arrays that stay the
/// caller's.
template <class T>
class RowSlice {
 public:
  /// Row i has the entries from row_offsets[i] on.
  RowSlice(std::span<const std::int64_t> row_offsets, std::span<const std::int64_t> columns, std::span<const T> values)
      : offsets_(row_offsets), columns_(columns), values_(values) {}
  /// As CSR has them on the host. places: a plan in whose places the columns are; it stays the caller's, too.
  template <class Offset>
  RowSlice(std::span<const Offset> row_offsets, std::span<const std::int32_t> columns, std::span<const T> values,
           const HaloPlan* places = nullptr)
      : offsets_(row_offsets), columns_(columns), values_(values), places_(places) {}

  std::int64_t rows() const {
    return std::visit([](const auto& offsets) { return std::ssize(offsets) - 1; }, offsets_);
  }
  std::int64_t nnz() const { return offset(rows()) - offset(0); }
  std::int64_t entries(std::int64_t i) const { return offset(i + 1) - offset(i); }  ///< of row i
  /// Whether all columns of row i are in [begin, end). Looks at the first and the last one.
  bool lies_in(std::int64_t i, std::int64_t begin, std::int64_t end) const {
    const std::int64_t first = offset(i), last = offset(i + 1);
    return first == last || (column(first) >= begin && column(last - 1) < end);
  }
  /// f(column, value) for the entries of row i.
  template <class F>
  void for_entries(std::int64_t i, F&& f) const {
    const auto first = static_cast<std::size_t>(offset(i)), last = static_cast<std::size_t>(offset(i + 1));
    std::visit(
        [&](const auto& columns) {
          if (places_)
            for (std::size_t k = first; k < last; ++k) f(places_->row_at(columns[k]), values_[k]);
          else
            for (std::size_t k = first; k < last; ++k) f(std::int64_t{columns[k]}, values_[k]);
        },
        columns_);
  }

 private:
  std::int64_t offset(std::int64_t i) const {
    return std::visit([i](const auto& offsets) { return std::int64_t{offsets[static_cast<std::size_t>(i)]}; },
                      offsets_);
  }

  std::int64_t column(std::int64_t k) const {
    const std::int64_t stored =
        std::visit([k](const auto& columns) { return std::int64_t{columns[static_cast<std::size_t>(k)]}; }, columns_);
    return places_ ? places_->row_at(stored) : stored;
  }

  std::variant<std::span<const std::int32_t>, std::span<const std::int64_t>> offsets_, columns_;
  std::span<const T> values_;
  const HaloPlan* places_ = nullptr;
};

/// Rows [begin, end) of A, which stays, on the host; places: a plan that stays, too, and in whose places the columns of
/// A are. Raises InvalidArgument where A has no such rows, ShapeMismatch where the plan has not as many places as A
/// columns.
template <class T, class Offset>
RowSlice<T> slice_rows(const Csr<T, Offset>& A, std::int64_t begin, std::int64_t end, const HaloPlan* places = nullptr);
template <class T, class Offset>  // it would not stay
RowSlice<T> slice_rows(const Csr<T, Offset>&&, std::int64_t, std::int64_t, const HaloPlan* = nullptr) = delete;

/// The columns of a rank's rows, those of the partition, that others own: ascending, each once. Raises ShapeMismatch
/// where the rows do not fit the partition or the team, InvalidArgument where a column is none of the square matrix
/// and where rows and ghosts are more than 2^31 - 1. O(rows), and O(m log m) for the m entries of rows with ghosts. By
/// the host's threads, one where it is left out.
template <class T>
std::vector<std::int64_t> ghost_columns(Team&, const RowPartition&, const RowSlice<T>& rows, const Host& = {});
/// The entries of the rows in columns [begin, end), which count from `begin` in what comes back: a rank's diagonal
/// block, say. In CSR. O(nnz), on the host by all threads.
template <class T>
AnyMatrix<T> columns_of(Context&, const RowSlice<T>&, std::int64_t begin, std::int64_t end);
/// The rows in columns that count as the plan's vectors lie. In CSR. Raises InvalidArgument where a column is not in
/// them.
template <class T>
AnyMatrix<T> in_places(Context&, const RowSlice<T>&, const HaloPlan&);
/// The plan's own rows, and between those of its ghosts, without what these have in columns that are not in them: a
/// square matrix in places. In CSR. Raises ShapeMismatch unless the rows are as many, and InvalidArgument where a
/// column of own rows is not in them.
template <class T>
AnyMatrix<T> in_places(Context&, const RowSlice<T>& own, const RowSlice<T>& ghosts, const HaloPlan&);

/// What a rank has of a matrix, for reports.
struct SharedPart {
  std::int64_t first_row = 0, rows = 0, nnz = 0;
  std::int64_t ghosts = 0;       ///< entries of others that a product reads
  std::int64_t sent = 0;         ///< entries that others read, once for each of them
  std::int64_t border_rows = 0;  ///< with ghosts
  std::int64_t border_nnz = 0;   ///< of these rows, in columns of ghosts
  int neighbors = 0;
  std::int64_t cost() const { return RowPartition::bytes_an_entry * nnz + RowPartition::bytes_a_row * rows; }
  friend bool operator==(const SharedPart&, const SharedPart&) = default;
};
/// The greatest cost of a rank's part over the mean one. Part: SharedPart, or what has more to tell.
template <class Part>
double imbalance(const std::vector<Part>& parts) {
  double most = 0, all = 0;
  for (const SharedPart& part : parts) {
    const auto cost = static_cast<double>(part.cost());
    most = std::max(most, cost), all += cost;
  }
  return all > 0 ? most * static_cast<double>(parts.size()) / all : 1;
}

/// What each rank of the partition would have of A, which is square, without ranks. O(nnz log nnz).
template <class T, class Offset>
std::vector<SharedPart> shared_parts(const Csr<T, Offset>& A, const RowPartition&);

/// The rows of a square matrix that are a rank's, for products with vectors of which each rank has its rows, too. A
/// product is that of the diagonal block, in any format, while ghosts are on their way, and then what ghosts add to the
/// border rows: nothing of the vectors is copied. On both backends.
template <class T>
class Distributed {
 public:
  /// rows: those of the partition that are this rank's. All ranks take part. For Format::automatic the block is
  /// multiplied with by an automatic plan, as each rank finds it best. Raises TeamFailure, InvalidArgument as the
  /// conversion to the format does, where rows or columns do not fit the partition, and where a rank's rows and ghosts
  /// are more than 2^31 - 1.
  Distributed(Context&, Team&, RowPartition, const RowSlice<T>& rows, Format = Format::csr, const FormatLayout& = {});
  Distributed(Distributed&&) = delete;  // its plan refers to it

  Team& team() const { return team_; }
  const RowPartition& partition() const { return partition_; }
  const HaloPlan& halo() const { return halo_.plan(); }
  std::int64_t rows() const { return halo().own(); }
  const AnyMatrix<T>& block() const { return *block_; }    ///< rows() x rows()
  const AnyMatrix<T>& border() const { return *border_; }  ///< border rows x ghosts, in CSR
  SharedPart part() const { return part_; }
  const SpmvReport& report() const { return plan_->report(); }  ///< of products with the block
  /// What it keeps beside the block's matrix.
  std::size_t bytes() const;

  /// y = A x, own rows of both, which are different arrays, and the dots of y of all ranks, which leave out no rows.
  /// All ranks take part. Raises TeamFailure, ShapeMismatch and InvalidArgument.
  void apply(Context&, const Array<T>& x, Array<T>& y, const Dots<T>& = {}) const;

 private:
  Team& team_;
  RowPartition partition_;
  HaloExchange<T> halo_;
  SharedPart part_;
  Array<std::int32_t> border_rows_;
  std::unique_ptr<const AnyMatrix<T>> block_, border_;
  std::unique_ptr<const SpmvPlan<T>> plan_;
  Array<std::uint32_t> is_border_;           // a bit a row, as Dots has it
  RowRange inside_;                          // the most neighboring rows without ghosts
  mutable Array<wide_t<T>> first_, second_;  // dots of the rows without ghosts
};

/// A vector of all rows, on every rank, from the own rows of each.
template <class T>
std::vector<T> gather_rows(Team&, const RowPartition&, std::span<const T> own);
/// The same in place: `all` has all rows, of which this rank has brought its own.
template <class T>
void gather_other_rows(Team&, const RowPartition&, std::span<T> all);

}  // namespace krill
