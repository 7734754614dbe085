// Incomplete sparse approximate inverses.
#pragma once
#include <array>
#include <string_view>

#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"
#include "solvers/range.hpp"
#include "sparse/inverse/form.hpp"

namespace krill {

/// Which inverse: M ~ A^-1, or G^H G ~ A^-1 for Hermitian positive definite A.
enum class IsaiForm { automatic, general, factored };
inline constexpr std::array<std::string_view, 3> isai_form_names{"auto", "general", "factored"};

struct IsaiOptions {
  static constexpr std::string_view type = "isai";
  static constexpr std::string_view doc =
      "an incomplete sparse approximate inverse in the pattern of A (Anzt, Huckle, Braeckle and Dongarra 2018), for "
      "Hermitian positive definite systems in factors (Kolotilina and Yeremin 1993); an application is one product, or "
      "two, and no triangular solve";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = false;
  IsaiForm form = IsaiForm::automatic;
  int max_entries = 256;
  KeptPrecision precision = KeptPrecision::automatic;

  constexpr PcgFit suits_pcg() const {
    return {form != IsaiForm::general, "form", isai_form_names[static_cast<std::size_t>(form)], "auto or factored"};
  }
  static OptionConflict conflict() { return {}; }
};
template <class Fields>
void describe(Fields& fields, IsaiOptions& o) {
  fields.choice(
      "form", o.form, isai_form_names,
      "general: M, with M A the identity inside of the pattern; factored: G in the lower triangle's pattern, "
      "with G A G^H near the identity, which a positive definite A needs for solver pcg; auto: factored where "
      "A is Hermitian with a positive diagonal");
  fields.value(
      "most_entries", o.max_entries, Range{1.0, max_inverse_entries},
      "of a row of the inverse, each of which costs a dense system of so many unknowns; longer rows keep those "
      "next to the diagonal");
  detail::describe_precision(fields, o.precision);
}

template <class T>
MadePreconditioner<T> make(Context&, const IsaiOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const IsaiOptions&, const PreconditionerInput<T>&);

}  // namespace krill
