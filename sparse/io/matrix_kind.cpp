#include "sparse/io/matrix_kind.hpp"

#include <array>

namespace krill {
namespace {

template <class Enum, std::size_t Size>
std::string_view word(const std::array<std::string_view, Size>& words, Enum value) {
  return words.at(static_cast<std::size_t>(value));
}

}  // namespace

std::string_view name(Field field) {
  return word(std::array<std::string_view, 4>{"real", "complex", "integer", "pattern"}, field);
}
std::string_view name(Symmetry symmetry) {
  return word(std::array<std::string_view, 4>{"general", "symmetric", "skew-symmetric", "hermitian"}, symmetry);
}
std::string_view name(FileFormat format) {
  return word(std::array<std::string_view, 4>{"Matrix Market", "Harwell-Boeing", "Rutherford-Boeing", "hypre IJ"},
              format);
}

}  // namespace krill
