// The system that is solved in the place of the one that is given: rows matched to columns, scaled, then reordered.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "solvers/method/options.hpp"
#include "sparse/formats/any_matrix.hpp"
#include "sparse/order/matching.hpp"
#include "sparse/parallel/row_partition.hpp"
#include "sparse/scale/scaling.hpp"

namespace krill {

/// The moduli of the factors of rows and columns.
struct FactorRange {
  double least = std::numeric_limits<double>::infinity(), greatest = 0;
};

/// What matching, scaling and reordering did to the system. Members keep their defaults for what was not asked for.
struct TransformationReport {
  std::int32_t moved_rows = 0;       ///< by the matching
  bool has_greatest_product = true;  ///< false: the matching was completed by the pattern alone
  FactorRange matching, scaling;
  std::int64_t bandwidth_before = 0, bandwidth = 0;  ///< max |i - j| over the entries
  std::int32_t colors = 0;
  double match_ms = 0, scale_ms = 0, order_ms = 0;
};

/// (P D_r B D_c P^T) y = P D_r c with x = F_c D_c P^T y, where B = Q F_r A F_c and c = Q F_r b: Q, F_r and F_c are the
/// matching's, D_r and D_c the scaling's, P that of ordering and partition. Each is the identity where the case asks
/// for none.
template <class T>
class Transformation {
 public:
  /// From the matrix in CSR. Fills in the report. Raises InvalidArgument where rows and columns cannot be matched, a
  /// scaling has nothing to divide by, an ordering cannot be made, or a given partition does not fit. Of the options,
  /// those of matching, scaling and ordering count, and those of the partition where several ranks solve.
  Transformation(Context&, const SolveOptions&, const AnyMatrix<T>& A, TransformationReport&, int ranks = 1);

  /// The memory that it takes, of a matrix in CSR. made: receives that of the new system's matrix, nothing if there is
  /// none.
  static HeldMemory memory(MemoryLedger&, const SolveOptions&, const AnyMatrix<T>& A, bool has_symmetric_pattern,
                           HeldMemory& made, int ranks = 1);

  bool scales() const { return matching_.has_value() || scaling_.has_value(); }
  bool moves_rows() const { return matching_.has_value() || ordering_.has_value(); }
  /// Of the new system's rows, where the options have another partition than `rows`.
  const std::optional<RowPartition>& partition() const { return partition_; }

  /// Hands over the matrix of the new system, in CSR; nothing if the system does not change, or the second time.
  std::optional<AnyMatrix<T>> take_matrix() { return std::exchange(matrix_, std::nullopt); }
  Array<T> rhs(Context&, const Array<T>& b) const;
  Array<T> solution(Context&, const Array<T>& x) const;
  /// x = F_c D_c P^T y, the inverse of solution().
  void bring_back(Context&, const Array<T>& y, Array<T>& x) const;

 private:
  std::optional<Matching<T>> matching_;
  std::optional<Scaling<T>> scaling_;
  std::optional<Ordering> ordering_;
  std::optional<RowPartition> partition_;
  std::optional<AnyMatrix<T>> matrix_;
};

}  // namespace krill
