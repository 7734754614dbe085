#include "sparse/core/kept_blocks.hpp"

namespace krill::device {

void* KeptBlocks::take(std::uint64_t stream_id, std::size_t size) {
  const auto found = blocks_.find({stream_id, size});
  if (found == blocks_.end() || found->second.empty()) return nullptr;
  void* const memory = found->second.back();
  found->second.pop_back();
  bytes_ -= size;
  return memory;
}

bool KeptBlocks::keep(std::uint64_t stream_id, std::size_t size, void* memory) {
  const std::size_t room = size > max_small ? max_bytes / 4 * 3 : max_bytes;
  if (size > max_block || bytes_ + size > room) return false;
  blocks_[{stream_id, size}].push_back(memory);
  bytes_ += size;
  return true;
}

std::vector<KeptBlocks::Block> KeptBlocks::give_up(const std::uint64_t* stream_id) {
  std::vector<Block> given;
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    const auto& [stream, size] = at->first;
    if (stream_id && stream != *stream_id) {
      ++at;
      continue;
    }
    for (void* memory : at->second) given.push_back({memory, stream});
    bytes_ -= size * at->second.size();
    at = blocks_.erase(at);
  }
  return given;
}

}  // namespace krill::device
