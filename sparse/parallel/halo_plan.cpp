#include "sparse/parallel/halo_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/parallel/exchange.hpp"

namespace krill {

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
  const std::vector<std::int64_t> asked = detail::exchange_counts(team, wanted);
  std::vector<Team::Outgoing> out;
  std::vector<Team::Incoming> in;
  std::int64_t first = 0, all_asked = 0;  // of a rank's ghosts; of what others ask for
  for (int r = 0; r < team.size(); ++r) {
    const std::int64_t count = wanted[static_cast<std::size_t>(r)], from_here = asked[static_cast<std::size_t>(r)];
    if (count > 0) {
      receives_.push_back({r, first, count});
      out.push_back({r, ghosts_.data() + first, static_cast<std::size_t>(count) * sizeof(std::int64_t)});
      first += count;
    }
    if (from_here > 0) sends_.push_back({r, all_asked, from_here, 0, false});
    all_asked += from_here;
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(all_asked));
  for (const Send& send : sends_)
    in.push_back({send.rank, rows.data() + send.begin, static_cast<std::size_t>(send.count) * sizeof(std::int64_t)});
  team.start(out, in);
  team.finish();
  for (const std::int64_t row : rows) packed_rows_.push_back(static_cast<std::int32_t>(row - begin_));
  for (Send& send : sends_) {
    const auto mine = packed_rows().subspan(static_cast<std::size_t>(send.begin), static_cast<std::size_t>(send.count));
    send.first_row = mine.front();
    send.is_one_run = mine.back() - mine.front() + 1 == std::ssize(mine);
  }
}

std::int64_t HaloPlan::ghost(std::int64_t row) const {
  const std::int64_t at = ghosts_before(row);
  if (!is_ghost(at, row))
    throw InvalidArgument(fmt::format("halo: row {} is neither this rank's nor one of its ghosts", row));
  return at;
}

std::int64_t HaloPlan::place(std::int64_t row) const {
  const std::int64_t at = place_or_none(row);
  return at < 0 ? ghost(row) : at;  // which raises
}

}  // namespace krill
