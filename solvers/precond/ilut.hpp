// Incomplete LU factorization that drops what is small.
#pragma once
#include <string_view>

#include "solvers/precond/ilu0.hpp"

namespace krill {

struct IlutOptions : Ilu0Options {
  static constexpr std::string_view type = "ilut";
  static constexpr std::string_view doc =
      "incomplete LU factorization ILUT(p, tau), whose rows keep their largest entries (Saad 1994), for general "
      "systems that ilu0 and iluk are too weak for, with pivoting (ILUTP) for those whose pivots vanish; found on the "
      "host by one thread, for cuda, too";
  int row_entries = DropOptions{}.max_row_entries;
  double drop_tolerance = DropOptions{}.tolerance;
  double pivoting = DropOptions{}.pivoting;

  /// Not Hermitian where A is: rows of L and of U drop each their own.
  static constexpr PcgFit suits_pcg() { return {false, "type", type, "ict"}; }
  FactorRecipe recipe() const {
    FactorRecipe r = Ilu0Options::recipe();
    r.type = type;
    r.drops = DropOptions{.max_row_entries = row_entries, .tolerance = drop_tolerance, .pivoting = pivoting};
    return r;
  }
};
template <class Fields>
void describe(Fields& fields, IlutOptions& o) {
  detail::describe_drops(fields, o.row_entries, o.drop_tolerance);
  fields.value("pivoting", o.pivoting, Range{0.0, 1.0},
               "columns are exchanged where the largest entry right of the diagonal times this exceeds the pivot in "
               "modulus (ILUTP: Saad 2003, section 10.4.4); 1: the largest always becomes the pivot; 0: none moves");
  describe(fields, static_cast<Ilu0Options&>(o));
}

}  // namespace krill
