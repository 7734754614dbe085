// From a precision that is known when the program runs to a scalar type.
#pragma once
#include <complex>

#include "apps/case/case.hpp"

namespace krill::apps {

/// Calls f with a T() of the scalar type; automatic is float64.
template <class F>
decltype(auto) with_scalar(Precision precision, F&& f) {
  switch (precision) {
    case Precision::float32:
      return f(float());
    case Precision::complex64:
      return f(std::complex<float>());
    case Precision::complex128:
      return f(std::complex<double>());
    case Precision::automatic:
    case Precision::float64:
      break;
  }
  return f(double());
}

}  // namespace krill::apps
