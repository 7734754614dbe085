#include "sparse/core/memory_ledger.hpp"

#include <algorithm>

#include "sparse/core/context.hpp"

namespace krill {
namespace {

constexpr std::size_t pool_granule = 512;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

MemoryTarget MemoryTarget::cuda(int device) {
  MemoryTarget target{.on_cuda = true};
  if (device >= 0 && device < device::count()) target.device = {device::info(device).multiprocessors};
  return target;
}

MemoryLedger::MemoryLedger(const MemoryTarget& target) : target_(target) {
  if (on_cuda()) take(sizeof(unsigned));  // of sums over the grid
}

MemoryLedger::Held& MemoryLedger::Held::operator+=(Held&& other) {
  if (!ledger_) return *this = std::move(other);
  bytes_ += std::exchange(other.bytes_, 0);
  return *this;
}

int MemoryLedger::threads_for(std::int64_t work) const { return Host{target_.threads, {}, nullptr}.threads_for(work); }

MemoryLedger::Held MemoryLedger::hold(std::size_t bytes) {
  if (on_cuda()) bytes = round_up(bytes, pool_granule);
  add(bytes);
  return {*this, bytes};
}

void MemoryLedger::add(std::size_t bytes) {
  now_ += bytes;
  if (now_ <= peak_) return;
  peak_ = now_;
  phase_of_peak_ = phase_;
}

void MemoryLedger::scratch(std::initializer_list<std::size_t> takes) {
  const std::size_t before = workspace_.taken();
  for (const std::size_t bytes : takes) take(bytes);
  workspace_.release(before);
}

void MemoryLedger::take(std::size_t bytes) {
  if (!workspace_.has_room(bytes)) {
    const std::size_t size = workspace_.size_of_next(bytes);
    workspace_.add(size);
    add(size);
  }
  workspace_.take(bytes);
}

void MemoryLedger::scratch_later(std::size_t bytes) { scratch_later_ = std::max(scratch_later_, bytes); }

MemoryLedger::Held MemoryLedger::first_use() {
  if (scratch_later_ > 0) scratch({std::exchange(scratch_later_, 0)});
  return hold(std::exchange(later_, 0));
}

}  // namespace krill
