#include "sparse/io/checksum.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL  // from the header alone: whoever links Krill needs no libxxhash
#include <xxhash.h>

namespace krill {

std::uint64_t xxh64(std::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

std::string checksum(std::string_view bytes) { return fmt::format("xxh64:{:016x}", xxh64(bytes)); }

}  // namespace krill
