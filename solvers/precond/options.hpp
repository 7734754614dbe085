// What a user can choose about a preconditioner; see solvers/options.hpp for how options are described.
#pragma once
#include <string_view>
#include <variant>

#include "krill/solvers/range.hpp"

namespace krill {

struct NoPreconditioner {
  static constexpr std::string_view type = "none";
  static constexpr std::string_view doc = "no preconditioner";
};
template <class Fields>
void describe(Fields&, NoPreconditioner&) {}

struct JacobiOptions {
  static constexpr std::string_view type = "jacobi";
  static constexpr std::string_view doc = "the inverse of the diagonal";
};
template <class Fields>
void describe(Fields&, JacobiOptions&) {}

struct Ilu0Options {
  static constexpr std::string_view type = "ilu0";
  static constexpr std::string_view doc =
      "incomplete LU factorisation in the pattern of A (Meijerink and van der Vorst 1977), for general systems; in "
      "blocks "
      "(format bsr) the zeros inside them belong to the pattern";
  double boost = 0;
  double boost_tolerance = 0;
};
template <class Fields>
void describe(Fields& fields, Ilu0Options& o) {
  fields.value("boost", o.boost, any_value, "pivots that are too small become this; 0: they do not");
  fields.value("boost_tolerance", o.boost_tolerance, at_least_zero, "too small: of a modulus up to this");
}

struct Ic0Options {
  static constexpr std::string_view type = "ic0";
  static constexpr std::string_view doc =
      "incomplete Cholesky factorisation in the pattern of A (Meijerink and van der Vorst 1977), for Hermitian "
      "positive "
      "definite systems; where it breaks down, with the diagonal multiplied by 1 + shift (Manteuffel 1980)";
  double shift = 0;
};
template <class Fields>
void describe(Fields& fields, Ic0Options& o) {
  fields.value("shift", o.shift, at_least_zero,
               "the shift to begin with; it grows from 0.001 on by doubling until the factorisation exists");
}

/// The registry of preconditioners.
using PreconditionerOptions = std::variant<NoPreconditioner, JacobiOptions, Ilu0Options, Ic0Options>;

}  // namespace krill
