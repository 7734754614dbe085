// Solves with batches of block tridiagonal matrices of small dense blocks, or with one of them and many right-hand
// sides.
#pragma once
#include <optional>

#include "sparse/core/memory_ledger.hpp"
#include "sparse/core/work.hpp"
#include "sparse/formats/block_tridiagonal.hpp"

namespace krill {

/// A diagonal block that has no inverse when its turn comes: in exact arithmetic its system is singular, or would have
/// to exchange block rows. A pivot inside of it is zero, or so small that one divided by it overflows; x of that system
/// has infinities or NaN.
struct SingularBlock {
  std::int32_t system, row;  ///< of blocks, counted from 0
  friend bool operator==(const SingularBlock&, const SingularBlock&) = default;
};

/// Workspace for solves with batches of one layout and block size, by block LU (the block Thomas algorithm: Golub, Van
/// Loan 2013, 4.5): partial pivoting inside of diagonal blocks, none between them. That is stable where matrices are
/// Hermitian positive definite or block diagonally dominant (Demmel, Higham, Schreiber 1995); elsewhere a diagonal
/// block that is nearly singular takes digits away. On CUDA a few lanes share a system, a column of each block theirs;
/// where systems are few they are divided into chunks of block rows, which are eliminated at once, so that blocks take
/// their turns in another order. Systems share nothing: whatever one holds (NaN, a singular matrix), the others come
/// out bit by bit as they do without it.
template <class T>
class BlockTridiagonalPlan {
 public:
  /// Takes all memory that a solve needs. Raises InvalidArgument as require_blocks does.
  BlockTridiagonalPlan(Context& ctx, const BandLayout& layout, int size)
      : BlockTridiagonalPlan(ctx, layout, layout, size) {}
  /// b and x lie in a layout of their own, in blocks of `size` entries: a vector a system, or as many as it has where
  /// `matrices` is one system; that is then eliminated anew for each of them. Raises InvalidArgument also where rows or
  /// systems are not as many.
  BlockTridiagonalPlan(Context&, const BandLayout& matrices, const BandLayout& vectors, int size);
  static HeldMemory memory(MemoryLedger&, const BandLayout& vectors, int size);

  const BandLayout& layout() const { return layout_; }
  const BandLayout& vectors() const { return vectors_; }
  int size() const { return size_; }
  std::size_t bytes() const { return detail::bytes_of(workspace_, zero_rows_); }
  Work work() const;

  /// A_j x_j = b_j for every system; b and x have size extent() entries of vectors() and may be the same array, but no
  /// blocks of A. A and padding stay as they are. Asynchronous, capturable, the same bits in every run and for any
  /// number of threads. Raises ShapeMismatch, and InvalidArgument where A is of another layout or block size, and where
  /// x has blocks of A.
  void solve(Context&, const BlockTridiagonal<T>& A, const Array<T>& b, Array<T>& x);

  /// The first system, or vector, of the last solve that had a singular diagonal block, and its first such block row.
  /// Waits; O(batch) on the host.
  std::optional<SingularBlock> singular_block() const;
  /// The same of one system. Raises InvalidArgument.
  std::optional<std::int32_t> singular_block(std::int32_t system) const;

 private:
  BandLayout layout_, vectors_;
  int size_;
  bool on_cuda_;
  Array<T> workspace_;
  Array<std::int32_t> zero_rows_;
};

}  // namespace krill
