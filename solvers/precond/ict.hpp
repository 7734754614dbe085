// Incomplete Cholesky factorization that drops what is small.
#pragma once
#include <string_view>

#include "solvers/precond/ic0.hpp"

namespace krill {

/// diagonal: what is dropped is added to two entries of the diagonal, so that pivots stay positive.
enum class DropCompensation { none, diagonal };
inline constexpr std::array<std::string_view, 2> drop_compensation_names{"none", "diagonal"};

struct IctOptions : Ic0Options {
  static constexpr std::string_view type = "ict";
  static constexpr std::string_view doc =
      "incomplete Cholesky factorization ICT(p, tau), whose rows keep their largest entries, for Hermitian positive "
      "definite systems that ic0 and ick are too weak for; found on the host by one thread, for cuda, too; shifts as "
      "in "
      "ic0";
  int row_entries = DropOptions{}.max_row_entries;
  double drop_tolerance = DropOptions{}.tolerance;
  DropCompensation compensation = DropCompensation::none;

  FactorRecipe recipe() const {
    FactorRecipe r = Ic0Options::recipe();
    r.type = type, r.drops = DropOptions{row_entries, drop_tolerance, compensation == DropCompensation::diagonal};
    return r;
  }
};
template <class Fields>
void describe(Fields& fields, IctOptions& o) {
  detail::describe_drops(fields, o.row_entries, o.drop_tolerance);
  fields.choice("compensation", o.compensation, drop_compensation_names,
                "diagonal: what is dropped is added to the diagonal, so that pivots of a positive definite matrix stay "
                "positive without a shift (Ajiz and Jennings 1984)");
  describe(fields, static_cast<Ic0Options&>(o));
}

}  // namespace krill
