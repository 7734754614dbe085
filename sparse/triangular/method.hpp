// How triangles are solved, as users name it.
#pragma once
#include <array>
#include <string_view>

namespace krill {

/// In which order rows are computed, and how one waits for another.
enum class TriangularMethod {
  automatic,
  /// As rows stand. On the host one after the other; on CUDA in one kernel, where a row waits for those that it needs.
  /// No analysis of levels.
  natural,
  /// Sorted by level. On the host the rows of a level in parallel; on CUDA in one kernel, where a row waits for those
  /// that it needs, and rows that are computed at the same time lie side by side.
  by_level,
  /// Sorted by level, with a kernel for each level: for few, wide levels, as a coloring gives.
  level_kernels,
  /// Sorted by level. On the host as by_level; on CUDA one block of threads for a right-hand side goes through the
  /// levels, with the latest results in shared memory: for long chains of narrow levels, as banded matrices have them.
  one_block,
};

inline constexpr std::array<std::string_view, 5> triangular_method_names{"automatic", "natural", "by_level",
                                                                         "level_kernels", "one_block"};
inline std::string_view name(TriangularMethod method) {
  return triangular_method_names[static_cast<std::size_t>(method)];
}

}  // namespace krill
