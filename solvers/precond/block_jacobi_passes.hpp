// The passes of block Jacobi, and the inversion of its blocks.
#pragma once
#include <limits>

#include "solvers/diagonal_blocks.hpp"
#include "solvers/precond/block_jacobi.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/core/pivot_size.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// Words of events: the first block that is singular, and the first that is not finite.
enum BlockEvent { singular_block, not_finite_block, block_events };
inline constexpr std::int32_t no_block = std::numeric_limits<std::int32_t>::max();

struct ClearBlockEvents {
  using Sum = NoSum;
  std::int32_t* events;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t e) const { return events[e] = no_block, NoSum{}; }
};

/// The diagonal blocks of A; rows of the last block beyond A are those of the identity. Over the padded rows.
template <class T, class Offset>
struct GatherDiagonalBlocks {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  BlockLayout layout;
  T* blocks;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int64_t first = layout.first(i);
    for (std::int32_t j = 0; j < layout.dim; ++j)
      blocks[layout.at(i, j)] = T(static_cast<real_t<T>>(i >= a.rows && first + j == i ? 1 : 0));
    if (i >= a.rows) return {};
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const std::int64_t j = a.col_indices[k] - first;
      if (j >= 0 && j < layout.dim) blocks[layout.at(i, static_cast<std::int32_t>(j))] = a.values[k];
    }
    return {};
  }
};

/// z = D^-H r. Moves n (dim + 2) values, those of blocks not in the order of memory.
template <class T>
struct MultiplyBlocksAdjoint {
  using Sum = NoSum;
  BlockProduct<T> product;
  T* z;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return z[i] = product.row_of_adjoint(i), NoSum{}; }
};

/// z = D^-1 r. Moves n (dim + 2) values.
template <class T>
struct MultiplyBlocks {
  using Sum = NoSum;
  BlockProduct<T> product;
  T* z;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return z[i] = product.row(i), NoSum{}; }
};

/// z = D^-1 r, rz = Re r'z. Moves n (dim + 2) values.
template <class T>
struct MultiplyBlocksDot {
  using Sum = double;
  BlockProduct<T> product;
  T* z;
  double* rz;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const {
    const T z_i = product.row(i);
    z[i] = z_i;
    return real(conj(wide(product.r[i])) * wide(z_i));
  }
  constexpr void finish(double sum) const { *rz = sum; }
};

/// Inverts the blocks in place by Gauss-Jordan elimination with partial pivoting, and tells of those that are singular
/// (a zero pivot) or not finite, before or after. O(rows dim^2).
template <class T>
void invert_blocks(const Host&, std::int64_t rows, BlockLayout, T* blocks, std::int32_t* events);
template <class T>
void invert_blocks(const Cuda&, std::int64_t rows, BlockLayout, T* blocks, std::int32_t* events);

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct BlockJacobiPasses {
  static constexpr auto list = passes<Where, ClearBlockEvents, GatherDiagonalBlocks<T, Offset>, MultiplyBlocks<T>,
                                      MultiplyBlocksDot<T>, MultiplyBlocksAdjoint<T>>;
  static constexpr auto kernel =
      instance<void(const Where&, std::int64_t, BlockLayout, T*, std::int32_t*)>(invert_blocks);
};

}  // namespace krill::detail
