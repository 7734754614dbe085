#include "sparse/parallel/halo_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/core/instantiate.hpp"

namespace krill {
namespace {

/// Of each rank, what it has for this one; mine[r]: what this one has for rank r.
std::vector<std::int64_t> transposed(Team& team, const std::vector<std::int64_t>& mine) {
  std::vector<std::int64_t> theirs = mine;  // what stays here stays
  std::vector<Team::Outgoing> out;
  std::vector<Team::Incoming> in;
  for (int r = 0; r < team.size(); ++r) {
    const auto at = static_cast<std::size_t>(r);
    if (r == team.rank()) continue;
    out.push_back({r, &mine[at], sizeof mine[at]});
    in.push_back({r, &theirs[at], sizeof theirs[at]});
  }
  team.start(out, in);
  team.finish();
  return theirs;
}

}  // namespace

HaloPlan::HaloPlan(Team& team, const RowPartition& partition, std::vector<std::int64_t> ghosts)
    : begin_(partition.begin(team.rank())), end_(partition.end(team.rank())), ghosts_(std::move(ghosts)) {
  std::vector<std::int64_t> wanted(static_cast<std::size_t>(team.size()));
  for (std::size_t k = 0; k < ghosts_.size(); ++k) {
    const std::int64_t row = ghosts_[k];
    if ((row >= begin_ && row < end_) || (k > 0 && row <= ghosts_[k - 1]))
      throw InvalidArgument(fmt::format("halo: row {} is no ghost here: rows of others, in ascending order, are", row));
    low_ += row < begin_ ? 1 : 0;
    ++wanted[static_cast<std::size_t>(partition.owner(row))];
  }
  const std::vector<std::int64_t> asked = transposed(team, wanted);
  std::vector<Team::Outgoing> out;
  std::vector<Team::Incoming> in;
  std::int64_t first = 0;  // of a rank's ghosts
  for (int r = 0; r < team.size(); ++r) {
    const std::int64_t count = wanted[static_cast<std::size_t>(r)], from_here = asked[static_cast<std::size_t>(r)];
    if (count > 0) {
      receives_.push_back({r, first < low_ ? first : own() + first, count});
      out.push_back({r, ghosts_.data() + first, static_cast<std::size_t>(count) * sizeof(std::int64_t)});
      first += count;
    }
    if (from_here > 0) sends_.push_back({r, std::vector<std::int64_t>(static_cast<std::size_t>(from_here))});
  }
  for (Send& send : sends_) in.push_back({send.rank, send.places.data(), send.places.size() * sizeof(std::int64_t)});
  team.start(out, in);
  team.finish();
  for (Send& send : sends_) {
    for (std::int64_t& row : send.places) row += low_ - begin_;
    sent_ += std::ssize(send.places);
  }
}

std::int64_t HaloPlan::place(std::int64_t row) const {
  if (row >= begin_ && row < end_) return low_ + row - begin_;
  const std::int64_t ghost = std::ranges::lower_bound(ghosts_, row) - ghosts_.begin();
  if (ghost == std::ssize(ghosts_) || ghosts_[static_cast<std::size_t>(ghost)] != row)
    throw InvalidArgument(fmt::format("halo: row {} is neither this rank's nor one of its ghosts", row));
  return ghost < low_ ? ghost : own() + ghost;
}

template <class T>
void HaloPlan::start(Team& team, T* vector, T* packed) const {
  std::vector<Team::Outgoing> out;
  std::vector<Team::Incoming> in;
  for (const Receive& receive : receives_)
    in.push_back({receive.rank, vector + receive.begin, static_cast<std::size_t>(receive.count) * sizeof(T)});
  for (const Send& send : sends_) {
    const T* from = vector + send.places.front();
    if (!send.is_one_run()) {
      from = packed;
      for (const std::int64_t place : send.places) *packed++ = vector[place];
    }
    out.push_back({send.rank, from, send.places.size() * sizeof(T)});
  }
  team.start(out, in);
}

template <class Value, class T = kernel_t<Value>>
struct HaloInstances {
  static constexpr void (HaloPlan::*start)(Team&, T*, T*) const = &HaloPlan::start<T>;
};
KRILL_INSTANTIATE(HaloInstances);
template void HaloPlan::start(Team&, std::int64_t*, std::int64_t*) const;

}  // namespace krill
