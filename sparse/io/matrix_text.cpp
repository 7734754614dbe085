#include "sparse/io/matrix_text.hpp"

#include <fmt/format.h>

namespace krill {

std::string value_text(std::complex<double> value) {
  if (value.imag() == 0) return fmt::format("{:.6g}", value.real());
  return fmt::format("{:.6g}{:+.6g}i", value.real(), value.imag());
}

std::string entry_text(const EntryPair& pair) {
  return fmt::format("a({}, {}) = {}, a({}, {}) = {}", pair.row, pair.col, value_text(pair.value), pair.col, pair.row,
                     value_text(pair.mirror));
}

}  // namespace krill
