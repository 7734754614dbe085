// Tridiagonal and pentadiagonal matrices that are factored once and solved with many times.
#pragma once
#include "sparse/banded/banded_plan.hpp"

namespace krill {

/// L and U of a batch of matrices, with the exchanges of their rows, or of one matrix for many vectors. A solve with
/// them has the bits that BandedPlan has where both divide systems alike: always on the host, and on CUDA, in real
/// types, but for 1024 and more interleaved systems that a plan solves in chunks, for a factor is quicker with a thread
/// for each end of a system from there on.
///
/// Of a row of three diagonals a solve reads 3 entries of a factor by thomas and 4 by lu, of five 5 and 7, with a byte
/// on exchanges; with b, x, and what goes down written and read again, that is 7 and 8 entries (9 and 11), where an
/// elimination moves 9 and 11 (13 and 17). Where an elimination moves less than that, a factor keeps the matrices in
/// its place and eliminates anew (keeps_matrices()): with qr; of one row; and on CUDA where systems go in chunks (9
/// entries a row, where a factor of chunks would have 10), lie one after the other, or are so short that each matrix
/// moves once.
template <class T>
class BandedFactor {
 public:
  /// Factors op(A_j) of every system. automatic: thomas where A is diagonally dominant now, else lu. Keeps nothing of A
  /// itself. O(n); waits where it has to choose, not else. Not inside a capture. Raises InvalidArgument.
  explicit BandedFactor(Context& ctx, const Banded<T>& A, BandedMethod method = BandedMethod::automatic,
                        Op op = Op::none)
      : BandedFactor(ctx, A, A.layout(), method, op) {}
  /// b and x lie in a layout of their own, a vector a system, or as many as it has where A is one system. Raises
  /// InvalidArgument also where rows or systems are not as many.
  BandedFactor(Context&, const Banded<T>& A, const BandLayout& vectors, BandedMethod = BandedMethod::automatic,
               Op = Op::none);
  static HeldMemory memory(MemoryLedger&, const BandLayout& matrices, const BandLayout& vectors, int diagonals,
                           BandedMethod);

  const BandLayout& layout() const { return layout_; }
  const BandLayout& vectors() const { return vectors_; }
  int diagonals() const { return diagonals_; }
  BandedMethod method() const { return method_; }
  Op op() const { return op_; }
  bool keeps_matrices() const { return plan_.has_value(); }
  /// Whether one for such matrices would, where automatic is lu.
  static bool keeps_matrices(bool on_cuda, const BandLayout& matrices, const BandLayout& vectors, int diagonals,
                             BandedMethod);
  std::size_t bytes() const;
  /// Of a solve.
  Work work() const;

  /// New values of matrices in the same layout; method and op stay. O(n), no wait, capturable. Raises InvalidArgument
  /// where A is of another layout or number of diagonals.
  void update(Context&, const Banded<T>& A);

  /// op(A_j) x_j = b_j for every system; b and x lie as vectors() says and may be the same array. Padding stays as it
  /// is. Asynchronous, capturable, the same bits in every run and for any number of threads. Raises ShapeMismatch.
  void solve(Context&, const Array<T>& b, Array<T>& x);
  /// op(A) X = B, for vectors that are the columns_of() both.
  void solve(Context&, const Dense<T>& B, Dense<T>& X);

  /// The first system that had a zero pivot when it was last factored, and its first such row: solutions of that system
  /// have infinities or NaN, those of others are as they are without it. Waits; O(batch) on the host.
  std::optional<BandedZeroPivot> zero_pivot() const;
  /// The same of one system. Raises InvalidArgument.
  std::optional<std::int32_t> zero_pivot(std::int32_t system) const;

 private:
  void run(Context&, const Array<T>& b, Array<T>& x);

  BandLayout layout_, vectors_;
  int diagonals_;
  BandedMethod method_;
  Op op_;
  bool on_cuda_;
  Array<T> words_;
  Array<std::uint8_t> exchanges_;
  Array<std::int32_t> zero_rows_;
  // In place of those, where it keeps the matrices: a solve with zeros, which are left alone, finds their pivots.
  std::optional<Banded<T>> matrices_;
  std::optional<BandedPlan<T>> plan_;
  Array<T> zeros_;
};

}  // namespace krill
