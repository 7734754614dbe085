#include "sparse/io/checksum.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace krill {
namespace {

constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F, prime3 = 0x165667B19E3779F9,
                        prime4 = 0x85EBCA77C2B2AE63, prime5 = 0x27D4EB2F165667C5;

/// The next little-endian word of the input.
template <class Word>
Word take(std::string_view& bytes) {
  static_assert(std::endian::native == std::endian::little);
  Word word = 0;
  bytes.copy(reinterpret_cast<char*>(&word), sizeof word);
  bytes.remove_prefix(sizeof word);
  return word;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t word) { return std::rotl(lane + word * prime2, 31) * prime1; }

std::uint64_t start_of_long_input(std::string_view& bytes) {
  std::array<std::uint64_t, 4> lane{prime1 + prime2, prime2, 0, 0 - prime1};
  while (bytes.size() >= 32)
    for (std::uint64_t& l : lane) l = round(l, take<std::uint64_t>(bytes));
  std::uint64_t hash = std::rotl(lane[0], 1) + std::rotl(lane[1], 7) + std::rotl(lane[2], 12) + std::rotl(lane[3], 18);
  for (const std::uint64_t l : lane) hash = (hash ^ round(0, l)) * prime1 + prime4;
  return hash;
}

}  // namespace

std::uint64_t xxh64(std::string_view bytes) {
  const std::uint64_t length = bytes.size();
  std::uint64_t hash = (length >= 32 ? start_of_long_input(bytes) : prime5) + length;
  while (bytes.size() >= 8) hash = std::rotl(hash ^ round(0, take<std::uint64_t>(bytes)), 27) * prime1 + prime4;
  if (bytes.size() >= 4) hash = std::rotl(hash ^ take<std::uint32_t>(bytes) * prime1, 23) * prime2 + prime3;
  while (!bytes.empty()) hash = std::rotl(hash ^ take<unsigned char>(bytes) * prime5, 11) * prime1;
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

std::string checksum(std::string_view bytes) { return fmt::format("xxh64:{:016x}", xxh64(bytes)); }

}  // namespace krill
