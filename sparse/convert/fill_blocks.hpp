// The values of blocks whose pattern stands: BSR, BSRX, GEBSC, Blocked-ELL.
#pragma once
#include "krill/sparse/formats/blocked_ell.hpp"
#include "krill/sparse/formats/bsr.hpp"
#include "krill/sparse/formats/csr.hpp"

namespace krill {

// Where the places of blocks lie. A group is a block row, or in GEBSC a block column; block b of it stands between
// first(group) and past(group); entry (i, j) of it is entry (row, col) of the matrix and lies at values[at], or
// nowhere where that is negative.

/// BSR and BSRX.
template <class T>
struct BsrPlaces {
  static constexpr bool rows_stay = true;  ///< a group's blocks all have the same rows
  BsrView<const T> to;
  T* values;

  constexpr std::int32_t groups() const { return to.block_rows(); }
  constexpr Blocking blocks() const { return to.blocks; }
  constexpr std::int64_t first(std::int32_t group) const { return to.row_begins[group]; }
  constexpr std::int64_t past(std::int32_t group) const { return to.row_ends[group]; }
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
  constexpr std::int64_t past(std::int32_t group) const { return transposed.row_ends[group]; }
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
  constexpr std::int64_t past(std::int32_t group) const { return (group + std::int64_t{1}) * to.width(); }
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

}  // namespace krill
