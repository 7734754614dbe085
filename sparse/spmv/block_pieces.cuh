// What the CUDA kernels for blocks share: lanes that take pieces of a row, a few neighboring values of a block each.
#pragma once
#include "sparse/spmv/row_kernel.cuh"

namespace krill::detail {

struct BlockTuning {
  static constexpr int flight = 4;       ///< pieces that a lane asks for before it uses the first. Not varied.
  static constexpr int wide_flight = 3;  ///< of more than 16 bytes, so that registers suffice. Not varied.
};

inline constexpr unsigned no_column = ~0u - 1024;  ///< of a piece that is padding

/// Whether all pointers are multiples of `bytes`, so that each piece of that size is one load.
template <class... Pointers>
bool lie_at_multiples(std::size_t bytes, const Pointers*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % bytes == 0) && ...);
}

/// Piece n of a row in blocks of `parts` pieces each: in block `whole` = n / parts, as piece `part` = n % parts of it.
/// advance() adds such a pair, so that a loop divides only once, before it.
struct PiecePlace {
  unsigned whole, part;

  __device__ static PiecePlace of(unsigned n, unsigned parts) { return {n / parts, n % parts}; }
  __device__ void advance(PiecePlace step, unsigned parts) {
    whole += step.whole, part += step.part;
    if (part >= parts) part -= parts, ++whole;
  }
};

/// `count` neighboring values. whole: they lie at a multiple of their size, up to 16 bytes, and are one load.
template <class T, int count, bool whole>
struct alignas(whole ? count * sizeof(T) : alignof(T)) Piece {
  T values[count];

  __device__ static Piece load(const T* from) { return *reinterpret_cast<const Piece*>(from); }
  /// For values that are read once: the load leaves the caches to x.
  __device__ static Piece load_streaming(const T* from) {
    Piece piece;
    if constexpr (whole && sizeof(Piece) == 16) {
      const int4 words = __ldcs(reinterpret_cast<const int4*>(from));
      memcpy(&piece, &words, sizeof piece);
    } else if constexpr (whole && sizeof(Piece) == 8) {
      const int2 words = __ldcs(reinterpret_cast<const int2*>(from));
      memcpy(&piece, &words, sizeof piece);
    } else {
#pragma unroll
      for (int v = 0; v < count; ++v) piece.values[v] = detail::load_streaming(from + v);
    }
    return piece;
  }
};

/// The sum of a lane's pieces of a row: at, at + step, ... The row knows the pieces of a block (parts()), whether there
/// is a piece at a place (has()), where its block's column stands (block()) and where its values lie (values()). A
/// block has `size` columns; a column below the base is padding. Values beyond the matrix's last column are not read.
/// Behind the last piece a lane loads its first one again: a branch would make lanes wait for each piece.
template <int count, bool whole, class T, class Row>
__device__ T sum_pieces(const Row& row, PiecePlace at, PiecePlace step, const T* x, unsigned cols) {
  using Values = Piece<T, count, whole>;
  constexpr int flight = sizeof(Values) > 16 ? BlockTuning::wide_flight : BlockTuning::flight;
  const auto first = static_cast<std::int32_t>(row.a.base);
  T sum{};
#pragma unroll 1
  while (row.has(at)) {
    const PiecePlace known = at;
    std::int32_t block[flight];
    unsigned column[flight], there = 0;
    Values values[flight], factors[flight];
#pragma unroll
    for (int u = 0; u < flight; ++u) {
      there |= static_cast<unsigned>(row.has(at)) << u;
      const PiecePlace from = row.has(at) ? at : known;
      block[u] = *row.block(from);
      values[u] = Values::load_streaming(row.values(from));
      column[u] = at.part * count;
      at.advance(step, row.parts());
    }
#pragma unroll
    for (int u = 0; u < flight; ++u)
      column[u] = there >> u & 1 && block[u] >= first ? static_cast<unsigned>(block[u] - first) * row.size() + column[u]
                                                      : no_column;
#pragma unroll
    for (int u = 0; u < flight; ++u)
      if (column[u] + count <= cols) factors[u] = Values::load(x + column[u]);
#pragma unroll
    for (int u = 0; u < flight; ++u) {
      if (column[u] + count <= cols) {
#pragma unroll
        for (int v = 0; v < count; ++v) sum += times_unless_zero(values[u].values[v], factors[u].values[v]);
      } else if (count > 1 && column[u] < cols) {  // the matrix ends inside the block
#pragma unroll
        for (int v = 0; v < count - 1; ++v)
          if (column[u] + v < cols) sum += times_unless_zero(values[u].values[v], x[column[u] + v]);
      }
    }
  }
  return sum;
}

}  // namespace krill::detail
