#include "krill/sparse/core/arena.hpp"

#include <algorithm>
#include <new>

#include "krill/sparse/core/context.hpp"
#include "krill/sparse/core/memory_use.hpp"

namespace krill {
namespace {

constexpr std::size_t alignment = 256;

std::size_t round_up(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

std::byte* allocate(const Cuda* where, std::size_t bytes) {
  if (where) return static_cast<std::byte*>(device::allocate(*where, bytes, "workspace"));
  auto* memory = static_cast<std::byte*>(::operator new(bytes, std::align_val_t(alignment), std::nothrow));
  if (memory) host_memory::add(bytes);
  return memory;
}

void release(int device, std::byte* memory, std::size_t bytes) {
  constexpr std::uint64_t gone = 0;  // a context's stream goes before its arena
  if (device != Arena::on_host) return device::release(device, gone, memory);
  host_memory::subtract(bytes);
  ::operator delete(memory, std::align_val_t(alignment));
}

}  // namespace

Arena::~Arena() {
  for (const Block& block : blocks_) release(device_, block.memory, block.size);
}

void* Arena::take(std::size_t bytes, const Cuda* where) {
  bytes = round_up(std::max<std::size_t>(bytes, 1));
  while (top_ < blocks_.size() && blocks_[top_].size - blocks_[top_].used < bytes) ++top_;
  if (top_ == blocks_.size()) {
    if (where) device::forbid_in_capture(*where, "growing the workspace");
    const std::size_t size = block_size(bytes, this->bytes());
    std::byte* memory = allocate(where, size);
    if (!memory) throw OutOfMemory("workspace", size, 0);
    blocks_.push_back({memory, size, 0});
  }
  Block& block = blocks_[top_];
  block.used += bytes;
  return block.memory + (block.used - bytes);
}

std::size_t Arena::bytes() const {
  std::size_t sum = 0;
  for (const Block& block : blocks_) sum += block.size;
  return sum;
}

Frame::Frame(Arena& arena, const Cuda* cuda)
    : arena_(arena),
      cuda_(cuda),
      top_(arena.top_),
      used_(arena.top_ < arena.blocks_.size() ? arena.blocks_[arena.top_].used : 0) {}

Frame::~Frame() {
  for (std::size_t b = top_; b < arena_.blocks_.size(); ++b) arena_.blocks_[b].used = b == top_ ? used_ : 0;
  arena_.top_ = top_;
}

}  // namespace krill
