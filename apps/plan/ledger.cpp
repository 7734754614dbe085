#include "krill/apps/plan/ledger.hpp"

namespace krill::apps {
namespace {

constexpr std::size_t pool_granule = 512;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Ledger::Ledger(bool on_cuda) : on_cuda_(on_cuda) {
  if (on_cuda) take(sizeof(unsigned));  // of sums over the grid
}

Ledger::Held& Ledger::Held::operator+=(Held&& other) {
  if (!ledger_) return *this = std::move(other);
  bytes_ += std::exchange(other.bytes_, 0);
  return *this;
}

Ledger::Held Ledger::hold(std::size_t bytes) {
  if (on_cuda_) bytes = round_up(bytes, pool_granule);
  add(bytes);
  return {*this, bytes};
}

void Ledger::add(std::size_t bytes) {
  now_ += bytes;
  if (now_ <= peak_) return;
  peak_ = now_;
  phase_of_peak_ = phase_;
}

void Ledger::scratch(std::initializer_list<std::size_t> takes) {
  const std::size_t before = workspace_.taken();
  for (const std::size_t bytes : takes) take(bytes);
  workspace_.release(before);
}

void Ledger::take(std::size_t bytes) {
  if (!workspace_.has_room(bytes)) {
    const std::size_t size = workspace_.size_of_next(bytes);
    workspace_.add(size);
    add(size);
  }
  workspace_.take(bytes);
}

}  // namespace krill::apps
