// The values of blocks whose pattern is known: BSR, BSRX, GEBSC, Blocked-ELL.
#pragma once
#include "sparse/core/instantiate.hpp"
#include "sparse/formats/blocked_ell.hpp"
#include "sparse/formats/bsr.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

// How formats number their blocks. A group is a block row, or in GEBSC a block column, and has the blocks first(group)
// to end(group) - 1. Entry (i, j) of block b is entry (row(), col()) of the matrix; its value lies at values[at()], or
// nowhere if at() is negative.

/// BSR and BSRX.
template <class T>
struct BsrPlaces {
  static constexpr bool rows_stay = true;  ///< a group's blocks all have the same rows
  BsrView<const T> to;
  T* values;

  constexpr std::int32_t groups() const { return to.block_rows(); }
  constexpr Blocking blocks() const { return to.blocks; }
  constexpr std::int64_t first(std::int32_t group) const { return to.row_begins[group]; }
  constexpr std::int64_t end(std::int32_t group) const { return to.row_ends[group]; }
  constexpr std::int64_t row(std::int32_t group, std::int64_t, std::int32_t i) const {
    return std::int64_t{group} * to.blocks.row_dim + i;
  }
  constexpr std::int64_t col(std::int32_t, std::int64_t b, std::int32_t j) const {
    return std::int64_t{to.col_indices[b]} * to.blocks.col_dim + j;
  }
  constexpr std::int64_t at(std::int32_t, std::int64_t b, std::int32_t i, std::int32_t j) const {
    return b * to.blocks.size() + to.blocks.at(i, j);
  }
};

/// GEBSC, whose arrays are its transpose in GEBSR.
template <class T>
struct GebscPlaces {
  static constexpr bool rows_stay = false;
  BsrView<const T> transposed;
  T* values;

  constexpr std::int32_t groups() const { return transposed.block_rows(); }
  constexpr Blocking blocks() const { return transposed.blocks.transposed(); }
  constexpr std::int64_t first(std::int32_t group) const { return transposed.row_begins[group]; }
  constexpr std::int64_t end(std::int32_t group) const { return transposed.row_ends[group]; }
  constexpr std::int64_t row(std::int32_t, std::int64_t b, std::int32_t i) const {
    return std::int64_t{transposed.col_indices[b]} * blocks().row_dim + i;
  }
  constexpr std::int64_t col(std::int32_t group, std::int64_t, std::int32_t j) const {
    return std::int64_t{group} * blocks().col_dim + j;
  }
  constexpr std::int64_t at(std::int32_t, std::int64_t b, std::int32_t i, std::int32_t j) const {
    return b * blocks().size() + blocks().at(i, j);
  }
};

/// Blocked-ELL. The columns of padding are negative, so no entry stands there.
template <class T>
struct BlockedEllPlaces {
  static constexpr bool rows_stay = true;
  BlockedEllView<const T> to;
  T* values;

  constexpr std::int32_t groups() const { return static_cast<std::int32_t>(detail::ceil_div(to.rows, to.block_dim)); }
  constexpr Blocking blocks() const { return {to.block_dim, to.block_dim, BlockOrder::row_major}; }
  constexpr std::int64_t first(std::int32_t group) const { return group * to.width(); }
  constexpr std::int64_t end(std::int32_t group) const { return (group + std::int64_t{1}) * to.width(); }
  constexpr std::int64_t row(std::int32_t group, std::int64_t, std::int32_t i) const {
    return std::int64_t{group} * to.block_dim + i;
  }
  constexpr std::int64_t col(std::int32_t, std::int64_t b, std::int32_t j) const {
    return std::int64_t{to.col_indices[b]} * to.block_dim + j;
  }
  constexpr std::int64_t at(std::int32_t group, std::int64_t b, std::int32_t i, std::int32_t j) const {
    const std::int64_t c = (b - first(group)) * to.block_dim + j, r = row(group, b, i);
    return r < to.rows && c < to.ell_cols ? r * to.ell_cols + c : -1;
  }
};

/// The values of A in all places of the blocks, zeros where it has no entry. Both are zero-based.
template <class Places, class T, class Offset>
void fill_blocks(const Host&, const CsrView<const T, Offset>& from, Places to);
template <class Places, class T, class Offset>
void fill_blocks(const Cuda&, const CsrView<const T, Offset>& from, Places to);

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct FillBlocksKernels {
  using From = CsrView<const T, Offset>;
  static constexpr std::tuple list{instance<void(const Where&, const From&, BsrPlaces<T>)>(fill_blocks),
                                   instance<void(const Where&, const From&, GebscPlaces<T>)>(fill_blocks),
                                   instance<void(const Where&, const From&, BlockedEllPlaces<T>)>(fill_blocks)};
};

}  // namespace krill::detail
