// Numbers of two bytes: storage for values whose arithmetic is that of float.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

namespace krill {

/// IEEE 754 binary16: 11 bits of precision, 2^-24 to 65504. To float it converts by itself, exactly, so expressions are
/// computed in float; back is explicit and rounds to nearest, ties to even, with subnormals, and to infinity from 65520
/// on. NaN stays NaN, made quiet; its payload is that of the backend. Its layout is that of CUDA's __half.
struct Half {
  std::uint16_t bits = 0;

  constexpr Half() = default;
  constexpr explicit Half(float value) : bits(narrow(value)) {}
  constexpr operator float() const { return widen(bits); }
  static constexpr Half from_bits(std::uint16_t bits) {
    Half half;
    half.bits = bits;
    return half;
  }

 private:
  // 0.5 has an ulp of 2^-24, which is the unit of subnormals: next to it they are integers in a float's last bits.
  static constexpr std::uint32_t one_half = 0x3f000000;
  static constexpr int shift = 23 - 10;                            // bits of fraction that float has more
  static constexpr std::uint32_t rebias = (127u - 15u) << 23;      // between the biases of the exponents
  static constexpr std::uint32_t min_normal = (127u - 14u) << 23;  // 2^-14
  static constexpr std::uint32_t past_all = (127u + 16u) << 23;    // 2^16
  static constexpr std::uint32_t infinity = 0x7f800000, quiet = 0x00400000;

  static constexpr std::uint16_t narrow(float value) {
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      std::uint16_t rounded;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
      return rounded;
    }
#endif
    const auto all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = all >> 16 & 0x8000, magnitude = all & 0x7fffffff;
    std::uint32_t half = 0x7c00;
    if (magnitude > infinity)
      half |= (magnitude | quiet) >> shift & 0x03ff;
    else if (magnitude < min_normal)
      half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - one_half;
    else if (magnitude < past_all)
      half = (magnitude - rebias + 0x0fff + (magnitude >> shift & 1)) >> shift;  // a carry may well reach infinity
    return static_cast<std::uint16_t>(sign | half);
  }

  static constexpr float widen(std::uint16_t half) {
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      float value;
      asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
      return value;
    }
#endif
    const std::uint32_t sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
    std::uint32_t all = (magnitude << shift) + rebias;
    if (magnitude < 0x0400)
      all = std::bit_cast<std::uint32_t>(std::bit_cast<float>(one_half | magnitude) - 0.5f);
    else if (magnitude >= 0x7c00)
      all = infinity | magnitude << shift | (magnitude > 0x7c00 ? quiet : 0);
    return std::bit_cast<float>(sign | all);
  }
};

/// The upper half of a float: 8 bits of precision, float's range. Converts as Half does; its layout is that of CUDA's
/// __nv_bfloat16.
struct BFloat16 {
  std::uint16_t bits = 0;

  constexpr BFloat16() = default;
  constexpr explicit BFloat16(float value) : bits(narrow(value)) {}
  constexpr operator float() const {
    const std::uint32_t all = std::uint32_t{bits} << 16;
    return std::bit_cast<float>((all & 0x7fffffff) > 0x7f800000 ? all | 0x00400000 : all);
  }
  static constexpr BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 number;
    number.bits = bits;
    return number;
  }

 private:
  static constexpr std::uint16_t narrow(float value) {
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      std::uint16_t rounded;
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
      return rounded;
    }
#endif
    const auto all = std::bit_cast<std::uint32_t>(value);
    const bool nan = (all & 0x7fffffff) > 0x7f800000;
    return static_cast<std::uint16_t>(nan ? all >> 16 | 0x0040 : (all + 0x7fff + (all >> 16 & 1)) >> 16);
  }
};

}  // namespace krill
