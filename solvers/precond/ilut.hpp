// Incomplete LU factorization that drops what is small.
#pragma once
#include <string_view>

#include "solvers/precond/ilu0.hpp"

namespace krill {

struct IlutOptions : Ilu0Options {
  static constexpr std::string_view type = "ilut";
  static constexpr std::string_view doc =
      "incomplete LU factorization ILUT(p, tau), whose rows keep their largest entries (Saad 1994), for general "
      "systems "
      "that ilu0 and iluk are too weak for; found on the host by one thread, for cuda, too";
  int row_entries = DropOptions{}.max_row_entries;
  double drop_tolerance = DropOptions{}.tolerance;

  /// Not Hermitian where A is: rows of L and of U drop each their own.
  static constexpr PcgFit suits_pcg() { return {false, "type", type, "ict"}; }
  FactorRecipe recipe() const {
    FactorRecipe r = Ilu0Options::recipe();
    r.type = type, r.drops = DropOptions{row_entries, drop_tolerance};
    return r;
  }
};
template <class Fields>
void describe(Fields& fields, IlutOptions& o) {
  detail::describe_drops(fields, o.row_entries, o.drop_tolerance);
  describe(fields, static_cast<Ilu0Options&>(o));
}

}  // namespace krill
