// Solves with a batch of tridiagonal or pentadiagonal matrices, or with one of them and many right-hand sides (kernel
// catalogue TRI-GTSV2, TRI-GTSV2NP, TRI-GTSV2STRIDED, TRI-GTSVINTER, TRI-GPSVINTER).
#pragma once
#include <array>
#include <optional>

#include "sparse/core/memory_ledger.hpp"
#include "sparse/core/work.hpp"
#include "sparse/formats/banded.hpp"
#include "sparse/formats/dense.hpp"

namespace krill {

template <class T>
class PeriodicBandedPlan;
template <class T>
class BandedFactor;

/// thomas: elimination without pivoting; stable where matrices are diagonally dominant or Hermitian positive definite,
///         elsewhere a small pivot takes digits away and a zero gives infinities or NaN.
/// lu:     elimination with partial pivoting. As quick as thomas where memory is the limit, quicker than qr everywhere.
/// qr:     Givens rotations with three diagonals, Householder reflections with five.
/// automatic: the quickest that is stable: thomas where all rows are known to be diagonally dominant, else lu.
enum class BandedMethod { thomas, lu, qr, automatic };
inline constexpr std::array<std::string_view, 4> banded_method_names{"thomas", "lu", "qr", "auto"};

/// The columns of X as a batch of vectors. Raises InvalidArgument where X has no entries.
template <class T>
BandLayout columns_of(const Dense<T>& X) {
  const BandLayout l = X.order() == Order::column_major
                           ? BandLayout::strided(X.rows(), X.cols(), X.leading_dimension())
                           : BandLayout::interleaved(X.rows(), X.cols(), X.leading_dimension());
  require_layout("banded: columns", l);
  return l;
}

/// A pivot that is exactly zero, or on CUDA so small that one divided by it overflows: that system has no solution, or
/// many, and its x has infinities or NaN.
struct BandedZeroPivot {
  std::int32_t system, row;  ///< counted from 0
  friend bool operator==(const BandedZeroPivot&, const BandedZeroPivot&) = default;
};

/// Workspace and method for solves with batches of one layout. Systems share nothing: whatever one holds (NaN, a
/// singular matrix), the others come out bit by bit as they do without it. On CUDA systems are divided among threads,
/// one long system as well as many short ones (partition.hpp); what the parts leave over is eliminated without pivoting
/// for thomas, else with partial pivoting. Short ones, and long ones of thousands side by side, have a thread each, or
/// one for each end (division.hpp).
template <class T>
class BandedPlan {
 public:
  /// Takes all memory that a solve needs. Of a layout alone, automatic is lu. Raises InvalidArgument: a layout as
  /// require_layout has it; 3 diagonals or 5.
  BandedPlan(Context& ctx, const BandLayout& layout, int diagonals, BandedMethod method = BandedMethod::lu,
             Op op = Op::none)
      : BandedPlan(ctx, layout, layout, diagonals, method, op) {}
  /// For matrices like these; automatic looks at their values, O(n), and waits. Keeps nothing of them.
  explicit BandedPlan(Context&, const Banded<T>& A, BandedMethod method = BandedMethod::automatic, Op = Op::none);
  /// b and x lie in a layout of their own, a vector a system, or as many as it has where `matrices` is one system (a
  /// batch with constant coefficients, or many right-hand sides); that is then eliminated anew for each of them, where
  /// a BandedFactor has it eliminated once. Raises InvalidArgument also where rows or systems are not as many.
  BandedPlan(Context&, const BandLayout& matrices, const BandLayout& vectors, int diagonals, BandedMethod,
             Op = Op::none);
  static HeldMemory memory(MemoryLedger&, const BandLayout& vectors, int diagonals, BandedMethod);

  const BandLayout& layout() const { return layout_; }
  const BandLayout& vectors() const { return vectors_; }
  int diagonals() const { return diagonals_; }
  BandedMethod method() const { return method_; }
  Op op() const { return op_; }
  std::size_t bytes() const { return detail::bytes_of(workspace_, zero_rows_); }
  Work work() const;

  /// op(A_j) x_j = b_j for every system; b and x lie as vectors() says and may be the same array, but no band of A. A
  /// and padding stay as they are. Asynchronous, capturable, the same bits in every run and for any number of threads.
  /// Raises ShapeMismatch, and InvalidArgument where A is of another layout or number of diagonals, and where x is a
  /// band.
  void solve(Context&, const Banded<T>& A, const Array<T>& b, Array<T>& x);
  /// op(A) X = B, for a plan whose vectors are the columns_of() both.
  void solve(Context&, const Banded<T>& A, const Dense<T>& B, Dense<T>& X);

  /// The first system, or vector, of the last solve that had a zero pivot, and its first such row. Waits; O(batch) on
  /// the host.
  std::optional<BandedZeroPivot> zero_pivot() const;
  /// The same of one system. Raises InvalidArgument.
  std::optional<std::int32_t> zero_pivot(std::int32_t system) const;

 private:
  friend class PeriodicBandedPlan<T>;
  friend class BandedFactor<T>;
  /// A may have more rows than the plan has, the first of which it then solves with.
  void run(Context&, const BandLayout& of_A, const Banded<T>& A, const Array<T>& b, Array<T>& x);

  BandLayout layout_, vectors_;
  int diagonals_;
  BandedMethod method_;
  Op op_;
  bool on_cuda_;
  Array<T> workspace_;
  Array<std::int32_t> zero_rows_;
};

}  // namespace krill
