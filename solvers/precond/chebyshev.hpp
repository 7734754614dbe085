// A Chebyshev polynomial in D^-1 A.
#pragma once
#include <string_view>

#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"
#include "solvers/range.hpp"

namespace krill {

struct ChebyshevOptions {
  static constexpr std::string_view type = "chebyshev";
  static constexpr std::string_view doc =
      "a Chebyshev polynomial in D^-1 A (Golub and Varga 1961), for Hermitian positive definite systems; an "
      "application "
      "takes `degree` products with A and no triangular solve";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = true;
  int degree = 4;
  double eigenvalue_ratio = 30;
  int eigenvalue_steps = 20;
  KeptPrecision precision = KeptPrecision::automatic;

  static constexpr PcgFit suits_pcg() { return {true}; }
  static OptionConflict conflict() { return {}; }
};
template <class Fields>
void describe(Fields& fields, ChebyshevOptions& o) {
  fields.value("degree", o.degree, Range{1.0, 1000.0}, "of the polynomial: products with A in an application");
  fields.value("eigenvalue_ratio", o.eigenvalue_ratio, Range{1.0, Range{}.max, true},
               "the polynomial is made for eigenvalues from the largest one divided by this up to the largest one");
  fields.value("eigenvalue_steps", o.eigenvalue_steps, Range{1.0, 1000.0},
               "Lanczos steps, a product with A each, that estimate the largest eigenvalue of D^-1 A");
  detail::describe_precision(fields, o.precision);
}

template <class T>
MadePreconditioner<T> make(Context&, const ChebyshevOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const ChebyshevOptions&, const PreconditionerInput<T>&);

}  // namespace krill
