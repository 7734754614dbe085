// Which complete factorization.
#pragma once
#include <array>
#include <string_view>

namespace krill {

/// L D L^H without exchanges, for Hermitian matrices, or L U with partial pivoting.
enum class DirectMethod { automatic, lu, ldlt };
inline constexpr std::array<std::string_view, 3> direct_method_names{"auto", "lu", "ldlt"};

}  // namespace krill
