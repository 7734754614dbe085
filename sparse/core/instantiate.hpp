// The type lists of explicit instantiation: the only two function-like macros of Krill. A file defines one local line
// that names what to instantiate, feeds it here, and undefines it.
#pragma once
#include <complex>
#include <cstdint>

#include "krill/sparse/core/types.hpp"

/// line(T) for the four scalars of the public interface.
#define KRILL_FOR_SCALARS(line) line(float) line(double) line(std::complex<float>) line(std::complex<double>)

/// line(T, Offset) for the four scalars and the two types of row offsets.
#define KRILL_FOR_SCALARS_AND_OFFSETS(line)                                                         \
  line(float, std::int32_t) line(double, std::int32_t) line(std::complex<float>, std::int32_t)      \
      line(std::complex<double>, std::int32_t) line(float, std::int64_t) line(double, std::int64_t) \
          line(std::complex<float>, std::int64_t) line(std::complex<double>, std::int64_t)
