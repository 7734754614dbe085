// Entries of a matrix in messages.
#pragma once
#include <complex>
#include <string>

#include "sparse/io/analyze.hpp"

namespace krill {

/// "1.5" or "1.5-2i", six digits.
std::string value_text(std::complex<double> value);

/// "a(3, 4) = 1, a(4, 3) = 0"
std::string entry_text(const EntryPair&);

}  // namespace krill
