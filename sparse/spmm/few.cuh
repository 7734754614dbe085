// Entries of dense matrices that are moved 16 bytes at a time.
#pragma once
#include <cstdint>
#include <cstring>

#include "sparse/formats/dense.hpp"

namespace krill::detail {

/// Entries side by side, moved at once.
template <class T, int count>
struct alignas(count > 1 ? 16 : alignof(T)) Few {
  T entry[count];
};
/// Of 16 bytes.
template <class T>
constexpr int few = 16 / sizeof(T);

/// Entries that lie at a multiple of 16 bytes, or a single one.
template <int count, class T>
__device__ Few<T, count> load_few(const T* from) {
  if constexpr (count == 1) {
    return {*from};
  } else {
    static_assert(count * sizeof(T) % sizeof(int4) == 0);
    constexpr int parts = count * sizeof(T) / sizeof(int4);
    int4 words[parts];
#pragma unroll
    for (int w = 0; w < parts; ++w) words[w] = reinterpret_cast<const int4*>(from)[w];
    Few<T, count> entries;
    memcpy(&entries, words, sizeof entries);
    return entries;
  }
}
template <int count, class T>
__device__ void store_few(T* to, const Few<T, count>& entries) {
  if constexpr (count == 1) {
    *to = entries.entry[0];
  } else {
    static_assert(count * sizeof(T) % sizeof(int4) == 0);
    constexpr int parts = count * sizeof(T) / sizeof(int4);
    int4 words[parts];
    memcpy(words, &entries, sizeof entries);
#pragma unroll
    for (int w = 0; w < parts; ++w) reinterpret_cast<int4*>(to)[w] = words[w];
  }
}

/// Products::put() of entries side by side in a row, from `column` on, which can be moved so.
template <class Products, int count>
__device__ void put_few(const Products& p, std::int64_t row, std::int32_t column,
                        const typename Products::Sum (&sums)[count]) {
  using Sum = typename Products::Sum;
  using Result = typename Products::Result;
  Result* const to = &p.c.at(row, column);
  const auto alpha = static_cast<Sum>(p.alpha()), beta = static_cast<Sum>(p.beta());
  Few<Result, count> made{};
  if (!(beta == Sum(0))) made = load_few<count>(to);
#pragma unroll
  for (int c = 0; c < count; ++c) {
    const Sum sum = alpha * sums[c];
    made.entry[c] = static_cast<Result>(beta == Sum(0) ? sum : sum + beta * static_cast<Sum>(made.entry[c]));
  }
  store_few<count>(to, made);
}

/// Whether the lines of a matrix begin at, and are made of, whole 16 bytes.
template <class T>
bool comes_in_fews(const DenseView<const T>& m) {
  const auto bits = reinterpret_cast<std::uintptr_t>(m.values) |
                    static_cast<std::uintptr_t>(m.leading_dimension) * sizeof(T) |
                    static_cast<std::uintptr_t>(m.line_length()) * sizeof(T);
  return bits % 16 == 0;
}

}  // namespace krill::detail
