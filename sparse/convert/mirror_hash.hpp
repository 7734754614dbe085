// Sums that vanish where a matrix is its own mirror image: a look at symmetry that reads each entry once.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "sparse/core/counter_random.hpp"
#include "sparse/core/types.hpp"

namespace krill::detail {

/// Another word for each pair of rows.
constexpr std::uint64_t pair_word(std::int64_t row, std::int64_t col) {
  return static_cast<std::uint64_t>(row < col ? row << 32 | col : col << 32 | row);
}

/// A hash of the place of an entry above the diagonal, less that of one below it; 0 on the diagonal. The sum over a
/// symmetric pattern is 0 modulo 2^64; over another one it is so by an accident of one in 2^64.
constexpr std::uint64_t mirror_hash(std::int64_t row, std::int64_t col) {
  if (row == col) return 0;
  const std::uint64_t hash = CounterRandom::mixed(pair_word(row, col));
  return row < col ? hash : -hash;
}

/// The same of places and values: the sum over a Hermitian matrix is 0. Zeros are alike, whatever their sign.
template <class T>
constexpr std::uint64_t mirror_hash(std::int64_t row, std::int64_t col, T value) {
  const auto with = [](std::uint64_t word, auto part) {
    using Bits = std::conditional_t<sizeof part == 8, std::uint64_t, std::uint32_t>;
    return CounterRandom::mixed(word ^ std::bit_cast<Bits>(part == 0 ? decltype(part)(0) : part));
  };
  if (row == col) return 0;
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // words times it are far apart; of one pair, values tell them
  std::uint64_t hash = with(pair_word(row, col) * odd, real(value));
  if constexpr (is_complex<T>) hash = with(hash, row < col ? value.im : -value.im);
  return row < col ? hash : -hash;
}

}  // namespace krill::detail
