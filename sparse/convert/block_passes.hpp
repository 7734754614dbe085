// The passes between formats of blocks.
#pragma once
#include "sparse/convert/formats.hpp"
#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/row_of_entry.hpp"
#include "sparse/core/pass.hpp"

namespace krill::detail {

/// begins[I], ends[I] = row_offsets[I], row_offsets[I + 1]. Over the block rows.
struct OpenRows {
  using Sum = NoSum;
  const std::int32_t* row_offsets;
  std::int32_t *begins, *ends;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    begins[i] = row_offsets[i], ends[i] = row_offsets[i + 1];
    return {};
  }
};

/// out[k] = block permutation[k] of in, blocks of `size` entries. Over all entries.
template <class T, class Index = std::int32_t>
struct GatherBlocks {
  using Sum = NoSum;
  const T* in;
  const Index* permutation;
  std::int64_t size;
  T* out;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t v) const {
    out[v] = in[permutation[v / size] * size + v % size];
    return {};
  }
};

/// A number for each size of square blocks.
struct BySquare {
  std::int64_t of[largest_square + 1] = {};

  constexpr BySquare& operator+=(const BySquare& other) {
    for (int dim = smallest_square; dim <= largest_square; ++dim) of[dim] += other.of[dim];
    return *this;
  }
};

/// Over `samples` entries, one from each of as many equal pieces of A: shares->of[b] = what each is of its block of b x
/// b, in parts of `whole`. An entry beside n - 1 others in its block is 1 / n of it, so the shares of all entries add
/// up to the number of blocks, and sums of integers are the same in any order. The position of the entry in its piece
/// moves on by the golden section, so that it does not keep step with a period of the matrix. A is zero-based and
/// sorted. Reads a few sectors of the 15 rows around each, and where they begin.
template <class Offset>
struct SampleSquares {
  using Sum = BySquare;
  static constexpr std::int64_t whole = std::int64_t{1} << 32;
  CsrView<const NoValue, Offset> a;
  std::int64_t samples;
  BySquare* shares;

  constexpr bool begin() const { return true; }
  constexpr BySquare entry(std::int64_t s) const {
    const std::int64_t k = sampled(s);
    const std::int32_t row = row_of_entry(a.row_offsets, a.rows, k), col = a.col_indices[k];
    constexpr std::int32_t reach = largest_square - 1;
    const std::int32_t first = row < reach ? 0 : row - reach, last = a.rows - row <= reach ? a.rows - 1 : row + reach;
    std::int32_t entries[largest_square + 1] = {};  // of the block in which the entry lies
    for (std::int32_t i = first; i <= last; ++i) {
      const Offset end = a.row_offsets[i + 1];
      for (Offset e = lower_entry(a, i, col - reach); e < end && a.col_indices[e] - col <= reach; ++e)
        for (int dim = smallest_square; dim <= largest_square; ++dim)
          entries[dim] += i / dim == row / dim && a.col_indices[e] / dim == col / dim;
    }
    BySquare share;
    for (int dim = smallest_square; dim <= largest_square; ++dim) share.of[dim] = whole / entries[dim];
    return share;
  }
  constexpr void finish(const BySquare& sum) const { *shares = sum; }

 private:
  constexpr std::int64_t sampled(std::int64_t s) const {
    const std::int64_t from = s * a.nnz / samples, length = (s + 1) * a.nnz / samples - from;
    const auto fraction = static_cast<std::uint32_t>(s) * 2'654'435'769U;  // of 2^32
    return from + static_cast<std::int64_t>((std::uint64_t{fraction} * static_cast<std::uint64_t>(length)) >> 32);
  }
};

}  // namespace krill::detail
