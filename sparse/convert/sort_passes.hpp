// The entry-by-entry parts of sorts and permutations, written once for both backends.
#pragma once
#include <bit>
#include <cstdint>

#include "sparse/convert/sort.hpp"
#include "sparse/core/pass.hpp"

namespace krill::detail {

/// permutation[k] = k.
template <class Index>
struct FillIdentity {
  using Sum = NoSum;
  Index* permutation;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return permutation[k] = static_cast<Index>(k), NoSum{}; }
};

/// out[k] = in[permutation[k]], or its conjugate.
template <class T, class Index>
struct GatherPermuted {
  using Sum = NoSum;
  const T* in;
  const Index* permutation;
  T* out;
  bool conjugate;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return out[k] = conj_if(conjugate, in[permutation[k]]), NoSum{}; }
};

/// out[permutation[k]] = in[k].
template <class T, class Index>
struct ScatterPermuted {
  using Sum = NoSum;
  const T* in;
  const Index* permutation;
  T* out;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return out[permutation[k]] = in[k], NoSum{}; }
};

/// Two indices as one number that orders as the pair does: their distances from the least ones, in as many bits as the
/// ranges need.
class PairKey {
 public:
  constexpr PairKey(IndexRange major, IndexRange minor)
      : first_major_(major.first),
        first_minor_(minor.first),
        minor_bits_(bits_of(minor)),
        bits_(bits_of(major) + minor_bits_) {}

  constexpr int bits() const { return bits_; }
  constexpr std::uint64_t pack(std::int32_t major, std::int32_t minor) const {
    return std::uint64_t(distance(first_major_, major)) << minor_bits_ | distance(first_minor_, minor);
  }
  constexpr std::int32_t major(std::uint64_t key) const { return index(first_major_, key >> minor_bits_); }
  constexpr std::int32_t minor(std::uint64_t key) const {
    return index(first_minor_, key & ((std::uint64_t(1) << minor_bits_) - 1));
  }

 private:
  // Modulo 2^32, where the distance of any two indices fits.
  static constexpr std::uint32_t distance(std::int32_t from, std::int32_t to) {
    return static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from);
  }
  static constexpr std::int32_t index(std::int32_t from, std::uint64_t distance) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(from) + static_cast<std::uint32_t>(distance));
  }
  static constexpr int bits_of(IndexRange range) {
    return range.last > range.first ? std::bit_width(distance(range.first, range.last)) : 1;
  }

  std::int32_t first_major_, first_minor_;
  int minor_bits_, bits_;
};

/// What is compiled for each backend.
template <class Offset, class Where>
struct SortKernels {
  static constexpr std::tuple list{
      instance<void(const Where&, std::int64_t, Offset*)>(identity_permutation),
      instance<void(const Where&, std::int64_t, std::int32_t*, std::int32_t*, Offset*, IndexRange, IndexRange)>(
          sort_pairs),
      instance<void(const Where&, std::int32_t, std::int64_t, const Offset*, std::int32_t*, Offset*, IndexRange)>(
          sort_within_rows)};
};
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct PermutationKernels {
  static constexpr std::tuple list{
      instance<void(const Where&, std::int64_t, const T*, const Offset*, T*, bool)>(apply_permutation),
      instance<void(const Where&, std::int64_t, const T*, const Offset*, T*)>(apply_inverse_permutation)};
};

}  // namespace krill::detail
