// Which complete factorization, and by whose library.
#pragma once
#include <array>
#include <string_view>

namespace krill {

/// L D L^H without exchanges, for Hermitian matrices, or L U with partial pivoting.
enum class DirectMethod { automatic, lu, ldlt };
inline constexpr std::array<std::string_view, 3> direct_method_names{"auto", "lu", "ldlt"};

/// Eigen is in every build; SuiteSparse (CHOLMOD for LDLT, KLU for LU) where it was installed.
enum class DirectLibrary { automatic, eigen, suitesparse };
inline constexpr std::array<std::string_view, 3> direct_library_names{"auto", "eigen", "suitesparse"};

}  // namespace krill
