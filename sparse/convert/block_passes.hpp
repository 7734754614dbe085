// The passes between formats of blocks.
#pragma once
#include "krill/sparse/core/pass.hpp"

namespace krill {

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
template <class T>
struct GatherBlocks {
  using Sum = NoSum;
  const T* in;
  const std::int32_t* permutation;
  std::int64_t size;
  T* out;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t v) const {
    out[v] = in[permutation[v / size] * size + v % size];
    return {};
  }
};

}  // namespace krill
