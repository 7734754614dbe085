// Whether a preconditioner is kept in another precision than the solve's, as users choose it.
#pragma once
#include <array>
#include <string_view>

namespace krill {

/// What a preconditioner is kept and applied in.
enum class KeptPrecision { automatic, float32, float64 };
inline constexpr std::array<std::string_view, 2> kept_precision_names{"auto", "float32"};
/// Where auto is not the precision of the solve, which float64 then asks for.
inline constexpr std::array<std::string_view, 3> kept_precision_names_with_own{"auto", "float32", "float64"};

namespace detail {
template <class Fields>
void describe_precision(Fields& fields, KeptPrecision& o) {
  fields.choice(
      "precision", o, kept_precision_names,
      "float32: kept and applied in single precision inside of a float64 or complex128 solve; auto: in that of "
      "the solve");
}
}  // namespace detail

}  // namespace krill
