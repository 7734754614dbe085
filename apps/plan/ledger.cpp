#include "krill/apps/plan/ledger.hpp"

#include <algorithm>
#include <numeric>

#include "krill/sparse/core/arena.hpp"

namespace krill::apps {
namespace {

constexpr std::size_t workspace_alignment = 256, pool_granule = 512;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Ledger::Ledger(bool on_cuda) : on_cuda_(on_cuda) {
  if (on_cuda) scratch({1});
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
  std::size_t top = 0, used = on_cuda_ && !blocks_.empty() ? workspace_alignment : 0;  // the word of sums over the grid
  for (const std::size_t take : takes) {
    const std::size_t bytes = round_up(std::max<std::size_t>(take, 1), workspace_alignment);
    while (top < blocks_.size() && blocks_[top] - used < bytes) ++top, used = 0;
    if (top == blocks_.size()) {
      blocks_.push_back(Arena::block_size(bytes, workspace()));
      add(blocks_.back());
    }
    used += bytes;
  }
}

std::size_t Ledger::workspace() const { return std::accumulate(blocks_.begin(), blocks_.end(), std::size_t{0}); }

}  // namespace krill::apps
