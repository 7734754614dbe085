// Random numbers as a function of a seed, a purpose and counters. There is no state, so threads may ask in any order.
#pragma once
#include <cstdint>

#include "sparse/core/types.hpp"

namespace krill {

/// Numbers addressed by up to two counters. The standard library's distributions differ from one library to the next;
/// these do not.
class CounterRandom {
 public:
  /// Different `purpose`s of one seed are independent.
  constexpr CounterRandom(int seed, int purpose)
      : key_(mixed(mixed(static_cast<std::uint64_t>(seed)) ^ static_cast<std::uint64_t>(purpose))) {}

  constexpr std::uint64_t bits(std::int64_t a, std::int64_t b = 0) const {
    return mixed(mixed(key_ ^ static_cast<std::uint64_t>(a)) ^ static_cast<std::uint64_t>(b));
  }
  /// Uniform in [0, 1), a multiple of 2^-53.
  constexpr double unit(std::int64_t a, std::int64_t b = 0) const {
    return static_cast<double>(bits(a, b) >> 11) * 0x1p-53;
  }
  /// Uniform in [0, n); the bias is below n / 2^64.
  constexpr std::int64_t below(std::int64_t n, std::int64_t a, std::int64_t b = 0) const {
    return static_cast<std::int64_t>(bits(a, b) % static_cast<std::uint64_t>(n));
  }
  /// Uniform in [-1, 1); both parts, where K is complex.
  template <class K>
  constexpr K symmetric(std::int64_t a, std::int64_t b = 0) const {
    const double first = 2 * unit(a, b) - 1;
    if constexpr (is_complex<K>)
      return {static_cast<real_t<K>>(first), static_cast<real_t<K>>(2 * unit(~a, b) - 1)};
    else
      return static_cast<K>(first);
  }

  /// splitmix64 (Steele, Lea and Flood 2014): a bijection in which every bit of the input moves half of the output.
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t key_;
};

}  // namespace krill
