#include "sparse/core/arena.hpp"

#include <algorithm>
#include <new>

#include "sparse/core/context.hpp"
#include "sparse/core/memory_use.hpp"

namespace krill {
namespace {

constexpr auto alignment = std::align_val_t(ArenaBlocks::alignment);

std::byte* allocate(const Cuda* where, std::size_t bytes) {
  if (where) return static_cast<std::byte*>(device::allocate(*where, bytes, "workspace"));
  auto* memory = static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow));
  if (memory) host_memory::add(bytes);
  return memory;
}

void release(int device, std::byte* memory, std::size_t bytes) {
  constexpr std::uint64_t gone = 0;  // a context's stream goes before its arena
  if (device != Arena::on_host) return device::release(device, gone, memory, bytes);
  host_memory::subtract(bytes);
  ::operator delete(memory, alignment);
}

}  // namespace

ArenaBlocks::Place ArenaBlocks::take(std::size_t bytes) {
  bytes = rounded(bytes);
  const std::size_t block = first_with(bytes);
  takes_.push_back({block, blocks_[block].used});
  blocks_[block].used += bytes;
  return takes_.back();
}

void ArenaBlocks::release(std::size_t count) {
  for (; takes_.size() > count; takes_.pop_back()) blocks_[takes_.back().block].used = takes_.back().offset;
}

std::size_t ArenaBlocks::bytes() const {
  std::size_t sum = 0;
  for (const Block& block : blocks_) sum += block.size;
  return sum;
}

std::size_t ArenaBlocks::first_with(std::size_t bytes) const {
  const auto found =
      std::ranges::find_if(blocks_, [&](const Block& block) { return block.size - block.used >= bytes; });
  return static_cast<std::size_t>(found - blocks_.begin());
}

Arena::~Arena() {
  for (const Memory& block : memory_) release(device_, block.begin, block.size);
}

void* Arena::take(std::size_t bytes, const Cuda* where) {
  if (!blocks_.has_room(bytes)) {
    if (where) device::forbid_in_capture(*where, "growing the workspace");
    const std::size_t size = blocks_.size_of_next(bytes);
    std::byte* memory = allocate(where, size);
    if (!memory) throw OutOfMemory("workspace", size, 0);
    memory_.push_back({memory, size});
    blocks_.add(size);
  }
  const ArenaBlocks::Place place = blocks_.take(bytes);
  return memory_[place.block].begin + place.offset;
}

Frame::Frame(Arena& arena, const Cuda* cuda) : arena_(arena), cuda_(cuda), taken_(arena.blocks_.taken()) {}

Frame::~Frame() { arena_.blocks_.release(taken_); }

}  // namespace krill
