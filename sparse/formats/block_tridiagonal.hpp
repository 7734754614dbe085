// Block tridiagonal matrices of small dense blocks, one or a batch of them.
#pragma once
#include "sparse/formats/banded.hpp"
#include "sparse/formats/bsr.hpp"

namespace krill {

inline constexpr int largest_tridiagonal_block = 8;

/// Raises InvalidArgument where a layout of blocks is none (require_layout), `size` is not 1 to
/// largest_tridiagonal_block, a system has 2^31 unknowns or more, or all blocks have more than 2^59 entries.
void require_blocks(std::string_view what, const BandLayout& blocks, int size);

/// What kernels see: the size x size blocks A(i, i + k) lie in lower, diagonal and upper for k = -1, 0, 1, block row i
/// of system j as block number layout.at(i, j), its entries by rows. Blocks outside of a matrix (the first of lower,
/// the last of upper) are not read.
template <class T>
struct BlockTridiagonalView {
  BandLayout layout;
  int size = 1;
  T *lower = nullptr, *diagonal = nullptr, *upper = nullptr;
};

/// A batch of block tridiagonal matrices. The layout counts blocks: strided has the block rows of a system one after
/// the other, interleaved block row i of all systems; a block's entries stay together, in the order of rows, as in Bsr.
/// A vector that fits has block row i of system j at its entries size layout.at(i, j) and following.
template <class T>
class BlockTridiagonal {
 public:
  using Value = T;

  /// Blocks of zeros. Raises InvalidArgument as require_blocks does.
  BlockTridiagonal(const BandLayout&, int size);
  /// Blocks that are there, such as Array::borrow_host() and borrow_device() of the caller's memory. Raises
  /// InvalidArgument, and ShapeMismatch where an array has not as many entries as the layout's blocks.
  BlockTridiagonal(const BandLayout&, int size, Array<T> lower, Array<T> diagonal, Array<T> upper);
  /// System j, on the host: every block that is inside of the matrix is stored. Raises InvalidArgument.
  Bsr<T> to_bsr(std::int32_t j = 0) const;

  const BandLayout& layout() const { return layout_; }
  int size() const { return size_; }
  std::size_t bytes() const { return detail::bytes_of(lower_, diagonal_, upper_); }

  /// A(i, i + k) of all systems, k = -1, 0, 1. Raises InvalidArgument.
  const Array<T>& band(int k) const;
  Array<T>& band(int k) { return const_cast<Array<T>&>(std::as_const(*this).band(k)); }

  template <class Where>
  BlockTridiagonalView<const kernel_t<T>> view(const Where& where) const {
    return {layout_, size_, lower_.read(where), diagonal_.read(where), upper_.read(where)};
  }

 private:
  BandLayout layout_;
  int size_;
  Array<T> lower_, diagonal_, upper_;
};

}  // namespace krill
