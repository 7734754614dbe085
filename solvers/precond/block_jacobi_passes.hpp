// The parts of block Jacobi: where the blocks lie, their inversion, the product with their inverses.
#pragma once
#include <limits>

#include "solvers/precond/block_jacobi.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/core/pivot_size.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// Square blocks of `dim` rows along a diagonal, row i of them all in slices of 32 rows: in a slice column j of every
/// row, then column j + 1, so that the lanes of a warp, a row each, read neighbors.
struct BlockLayout {
  static constexpr std::int64_t slice = 32;
  std::int32_t dim = 1;

  constexpr std::int64_t blocks(std::int64_t rows) const { return (rows + dim - 1) / dim; }
  /// Rows with the last block padded to full size.
  constexpr std::int64_t padded_rows(std::int64_t rows) const { return blocks(rows) * dim; }
  constexpr std::int64_t size(std::int64_t rows) const { return (padded_rows(rows) + slice - 1) / slice * slice * dim; }
  /// Entry j of row i in its block.
  constexpr std::int64_t at(std::int64_t i, std::int32_t j) const { return (i / slice * dim + j) * slice + i % slice; }
  /// The first row of row i's block; rows fit 32 bits, which divide faster.
  constexpr std::int64_t first(std::int64_t i) const {
    const auto row = static_cast<std::uint32_t>(i), size = static_cast<std::uint32_t>(dim);
    return row / size * size;
  }
};

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

/// A row of D^-1 times r.
template <class T>
struct BlockProduct {
  std::int32_t rows;
  BlockLayout layout;
  const T *inverses, *r;

  constexpr T row(std::int64_t i) const {
    const std::int64_t first = layout.first(i), left = rows - first;
    const auto cols = static_cast<std::int32_t>(left < layout.dim ? left : layout.dim);
    const T* mine = inverses + layout.at(i, 0);
    T sum{};
    for (std::int32_t j = 0; j < cols; ++j) sum += mine[j * BlockLayout::slice] * r[first + j];
    return sum;
  }
  /// A row of D^-H times r.
  constexpr T row_of_adjoint(std::int64_t i) const {
    const std::int64_t first = layout.first(i);
    const auto column = static_cast<std::int32_t>(i - first);
    T sum{};
    for (std::int64_t j = first; j < first + layout.dim && j < rows; ++j)
      sum += conj(inverses[layout.at(j, column)]) * r[j];
    return sum;
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
