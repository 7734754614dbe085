// Checksums that name an input in reports.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace krill {

/// XXH64 with seed 0, as the program `xxh64sum` computes it: not cryptographic, about 10 GB/s a core.
/// Source: the xxHash specification, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
std::uint64_t xxh64(std::string_view bytes);

/// "xxh64:" and 16 hexadecimal digits.
std::string checksum(std::string_view bytes);

/// The checksum of bytes that come one after the other, from several ranks, say: it may be sent as it is.
class RunningChecksum {
 public:
  RunningChecksum();
  void add(std::string_view bytes);
  std::string text() const;  ///< as checksum() of all of them

 private:
  alignas(8) std::array<std::byte, 88> state_;
};

}  // namespace krill
