// Products of a sparse matrix in blocks of 16-bit numbers with a dense one (kernel catalogue GEN-SPMM, L3-BSRMM).
#pragma once
#include "sparse/formats/blocked_ell.hpp"
#include "sparse/formats/bsr.hpp"
#include "sparse/spmm/mixed.hpp"

namespace krill {

/// Who multiplies blocks of 16-bit numbers.
enum class TensorCores {
  none,     ///< the same units as everything else: sums of float, zeros in blocks take no part
  allowed,  ///< tensor cores, where there are any (compute capability 8.0) and blocks have multiples of 16 rows and
            ///< columns
};

/// C = alpha A op_b(B) + beta C. A: Bsr or BlockedEll of Half or BFloat16; B of the same type, C of that or float.
/// Shapes, orders, beta and rounding are those of spmm_mixed; values beyond A's last row or column take no part.
/// Repeatable bitwise. Asynchronous and capturable after a first run; allocates nothing but workspace.
///
/// With tensor cores products are exact and sums are those of float, but truncated and in another order, which loses up
/// to twice as much as rounding; and zeros that blocks are filled up with are multiplied, so that infinity and NaN in B
/// reach all rows of a block. Where they cannot serve, and on the host, `allowed` is `none`.
///
/// Reads A once for 128 columns of B; rows of B are brought together in the workspace first where they are not lines of
/// whole 16 bytes, unless tensor cores multiply. A block row is one thread block's at most (with tensor cores a
/// warp's): a few very long ones are slow. Raises ShapeMismatch and InvalidArgument.
template <class Matrix, class Result>
void spmm_mixed(Context&, Op op_b, const Scalar<float>& alpha, const Matrix& A, const Dense<value_t<Matrix>>& B,
                const Scalar<float>& beta, Dense<Result>& C, TensorCores = TensorCores::none);

namespace detail {

/// Block rows of any of the formats, as kernels read them: entry (i, j) of block k, in block row I, lies at values[k
/// block_step + I row_step + i step_i + j step_j].
template <class T>
struct AnyBlocks {
  std::int32_t rows = 0, cols = 0, row_dim = 1, col_dim = 1;
  std::int64_t stored_blocks = 0;
  const std::int32_t *begins = nullptr, *ends = nullptr;  ///< null: `width` blocks in each block row
  std::int64_t width = 0;
  std::int32_t last_columns = 0;  ///< that the last of `width` blocks has
  const std::int32_t* col_indices = nullptr;
  const T* values = nullptr;
  std::int64_t block_step = 0, row_step = 0, step_i = 0, step_j = 0;
  std::int32_t base = 0;

  constexpr std::int32_t block_rows() const { return (rows + row_dim - 1) / row_dim; }
  constexpr std::int64_t begin(std::int32_t block_row) const {
    return begins ? begins[block_row] - base : block_row * width;
  }
  constexpr std::int64_t end(std::int32_t block_row) const {
    return begins ? ends[block_row] - base : (block_row + 1) * width;
  }
  constexpr const T* block(std::int32_t block_row, std::int64_t k) const {
    return values + k * block_step + block_row * row_step;
  }
  /// The first column of block k; negative where it is padding.
  constexpr std::int64_t first_column(std::int64_t k) const { return std::int64_t{col_indices[k] - base} * col_dim; }
  /// Columns of block k from there on that lie in the matrix and are stored.
  constexpr std::int32_t columns(std::int32_t block_row, std::int64_t k) const {
    const std::int64_t first = first_column(k);
    if (first < 0) return 0;
    const std::int32_t stored = !begins && k + 1 == end(block_row) ? last_columns : col_dim;
    return first + stored > cols ? static_cast<std::int32_t>(cols - first) : stored;
  }
  /// Whether the rows of blocks come in pieces of so many entries, each at a multiple of its size.
  bool comes_in(std::int64_t count) const {
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(values));
    return step_j == 1 && address % (count * std::int64_t{sizeof(T)}) == 0 && col_dim % count == 0 &&
           block_step % count == 0 && row_step % count == 0 && step_i % count == 0;
  }
};

template <class T>
AnyBlocks<T> any_blocks(const BsrView<const T>& a) {
  const bool by_rows = a.blocks.order == BlockOrder::row_major;
  return {a.rows,
          a.cols,
          a.blocks.row_dim,
          a.blocks.col_dim,
          a.stored_blocks,
          a.row_begins,
          a.row_ends,
          0,
          0,
          a.col_indices,
          a.values,
          a.blocks.size(),
          0,
          by_rows ? a.blocks.col_dim : 1,
          by_rows ? 1 : a.blocks.row_dim,
          static_cast<std::int32_t>(a.base)};
}
template <class T>
AnyBlocks<T> any_blocks(const BlockedEllView<const T>& a) {
  const std::int32_t dim = a.block_dim;
  const std::int64_t width = a.width(), block_rows = ceil_div(a.rows, dim);
  return {a.rows,
          a.cols,
          dim,
          dim,
          block_rows * width,
          nullptr,
          nullptr,
          width,
          static_cast<std::int32_t>(a.ell_cols - (width - 1) * dim),
          a.col_indices,
          a.values,
          dim,
          dim * a.ell_cols - width * dim,
          a.ell_cols,
          1,
          static_cast<std::int32_t>(a.base)};
}

/// C = alpha A B + beta C. Types is a row of MixedTable, or one type.
template <class Types>
struct BlockProducts : MixedDense<Types> {
  AnyBlocks<kernel_t<typename Types::Storage>> a;
};
template <class T>
using OneType = MixedTypes<T, T, T, T>;

/// Tensor cores are for 16-bit numbers.
template <class Types>
void run_blocks(const Host&, const BlockProducts<Types>&, TensorCores);
template <class Types>
void run_blocks(const Cuda&, const BlockProducts<Types>&, TensorCores);

template <class T, class Where>
struct BlockProductKernels {
  static constexpr auto list =
      instance<void(const Where&, const BlockProducts<OneType<kernel_t<T>>>&, TensorCores)>(run_blocks);
};
template <class T, class Where>
struct NarrowBlockKernels {
  template <class Result>
  using Products = BlockProducts<MixedTypes<T, T, Result, float>>;
  static constexpr std::tuple list{instance<void(const Where&, const Products<T>&, TensorCores)>(run_blocks),
                                   instance<void(const Where&, const Products<float>&, TensorCores)>(run_blocks)};
};

}  // namespace detail
}  // namespace krill
