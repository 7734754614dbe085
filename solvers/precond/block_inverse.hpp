// What stands for the inverse of a block of the matrix.
#pragma once
#include <array>
#include <string_view>

namespace krill {

/// Each with its default options; incomplete LU factors are shifted where a pivot is 0. automatic: what suits blocks
/// that are Hermitian with a positive diagonal, else ilu0. (schwarz takes any preconditioner, with options.)
enum class BlockInverse { automatic, jacobi, ic0, ilu0, ict, ilut, amg };
inline constexpr std::array<std::string_view, 7> block_inverse_names{"auto", "jacobi", "ic0", "ilu0",
                                                                     "ict",  "ilut",   "amg"};

}  // namespace krill
