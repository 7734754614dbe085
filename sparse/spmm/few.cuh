// Entries of dense matrices that are moved 16 bytes at a time.
#pragma once
#include <cstdint>

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

/// Whether the lines of a matrix begin at, and are made of, whole 16 bytes.
template <class T>
bool comes_in_fews(const DenseView<const T>& m) {
  const auto bits = reinterpret_cast<std::uintptr_t>(m.values) |
                    static_cast<std::uintptr_t>(m.leading_dimension) * sizeof(T) |
                    static_cast<std::uintptr_t>(m.line_length()) * sizeof(T);
  return bits % 16 == 0;
}

}  // namespace krill::detail
