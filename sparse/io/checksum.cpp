#include "sparse/io/checksum.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL  // from the header alone: whoever links Krill needs no libxxhash
#include <xxhash.h>

#include <cstring>

namespace krill {

std::uint64_t xxh64(std::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

std::string checksum(std::string_view bytes) { return fmt::format("xxh64:{:016x}", xxh64(bytes)); }

RunningChecksum::RunningChecksum() {
  static_assert(sizeof(XXH64_state_t) == sizeof state_);
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  std::memcpy(state_.data(), &state, sizeof state);
}

void RunningChecksum::add(std::string_view bytes) {
  XXH64_state_t state;
  std::memcpy(&state, state_.data(), sizeof state);
  XXH64_update(&state, bytes.data(), bytes.size());
  std::memcpy(state_.data(), &state, sizeof state);
}

std::string RunningChecksum::text() const {
  XXH64_state_t state;
  std::memcpy(&state, state_.data(), sizeof state);
  return fmt::format("xxh64:{:016x}", XXH64_digest(&state));
}

}  // namespace krill
