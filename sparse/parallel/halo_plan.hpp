// What a rank's products need of vectors that others have parts of.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sparse/core/team.hpp"
#include "sparse/parallel/row_partition.hpp"

namespace krill {

/// Entries that a rank needs beside those of its own rows, its ghosts, and which of its own it sends to whom. Ghosts
/// lie in ascending order of rows, so those of one owner follow each other, and arrive in place.
class HaloPlan {
 public:
  /// `ghosts`: rows of others, ascending, each once. All ranks take part; a message between each two of them. Raises
  /// TeamFailure, and InvalidArgument where a ghost is the rank's own or the order is another one.
  HaloPlan(Team&, const RowPartition&, std::vector<std::int64_t> ghosts);

  std::int64_t begin() const { return begin_; }  ///< the first own row
  std::int64_t own() const { return end_ - begin_; }
  std::int64_t low() const { return low_; }
  std::int64_t high() const { return std::ssize(ghosts_) - low_; }
  std::int64_t size() const { return own() + std::ssize(ghosts_); }
  std::span<const std::int64_t> ghosts() const { return ghosts_; }
  /// Where a row of the whole matrix, own or ghost, lies in a vector of low ghosts, own rows and high ghosts, which is
  /// the order of the whole matrix. O(log ghosts).
  std::int64_t place(std::int64_t row) const;
  /// The same; -1 where it is neither.
  std::int64_t place_or_none(std::int64_t row) const {
    if (row >= begin_ && row < end_) return low_ + row - begin_;
    const std::int64_t at = ghosts_before(row);
    if (!is_ghost(at, row)) return -1;
    return place_of_ghost(at);
  }
  /// Where ghost k lies there: ghosts()[k] == row_at(place_of_ghost(k)).
  std::int64_t place_of_ghost(std::int64_t k) const { return k < low_ ? k : own() + k; }
  /// Which row of the whole matrix lies there: row_at(place(row)) == row.
  std::int64_t row_at(std::int64_t place) const {
    if (place >= low_ && place < low_ + own()) return begin_ + place - low_;
    return ghosts_[static_cast<std::size_t>(place < low_ ? place : place - own())];
  }
  /// The place among the ghosts alone: ghosts()[ghost(row)] == row.
  std::int64_t ghost(std::int64_t row) const;
  /// Entries that leave this rank in an exchange; one that goes to two ranks counts twice.
  std::int64_t sent() const { return std::ssize(packed_rows_); }
  int neighbors() const {
    return static_cast<int>(sends_.size() > receives_.size() ? sends_.size() : receives_.size());
  }

  /// Rows of this rank, counted from its first one, that others need, message after message: sent() of them.
  std::span<const std::int32_t> packed_rows() const { return packed_rows_; }
  /// Whether some of them have to be packed before they leave.
  bool packs() const {
    for (const Send& send : sends_)
      if (!send.is_one_run) return true;
    return false;
  }

  struct Messages {
    std::vector<Team::Outgoing> out = {};
    std::vector<Team::Incoming> in = {};
  };
  /// What brings the ghosts of a vector with these own rows; packed: its entries in packed_rows(). Pointers of any
  /// side.
  template <class T>
  Messages messages(const T* own, const T* packed, T* ghosts) const {
    Messages all;
    for (const Receive& r : receives_)
      all.in.push_back({r.rank, ghosts + r.begin, static_cast<std::size_t>(r.count) * sizeof(T)});
    for (const Send& s : sends_)
      all.out.push_back(
          {s.rank, s.is_one_run ? own + s.first_row : packed + s.begin, static_cast<std::size_t>(s.count) * sizeof(T)});
    return all;
  }

  enum class Way { to_ghosts, to_owners };
  /// What brings lists of entries: one of each of packed_rows() to the rank whose ghost it is, or one of each ghost
  /// back to its owner. List k of those that leave is out[out_offsets[k]], ..., out[out_offsets[k + 1] - 1], and so
  /// come the others in, in the order of ghosts(), or of packed_rows(). Both ends know how long lists are.
  template <class T>
  Messages list_messages(Way way, std::span<const std::int64_t> out_offsets, const T* out,
                         std::span<const std::int64_t> in_offsets, T* in) const {
    Messages all;
    const auto bytes = [](std::span<const std::int64_t> offsets, const auto& run) {
      const auto first = static_cast<std::size_t>(run.begin), end = static_cast<std::size_t>(run.begin + run.count);
      return static_cast<std::size_t>(offsets[end] - offsets[first]) * sizeof(T);
    };
    const auto leave = [&](const auto& run) {
      if (const std::size_t size = bytes(out_offsets, run); size > 0)
        all.out.push_back({run.rank, out + out_offsets[static_cast<std::size_t>(run.begin)], size});
    };
    const auto come = [&](const auto& run) {
      if (const std::size_t size = bytes(in_offsets, run); size > 0)
        all.in.push_back({run.rank, in + in_offsets[static_cast<std::size_t>(run.begin)], size});
    };
    for (const Send& s : sends_) way == Way::to_ghosts ? leave(s) : come(s);
    for (const Receive& r : receives_) way == Way::to_ghosts ? come(r) : leave(r);
    return all;
  }

 private:
  /// Where it lies among the ghosts, or would.
  std::int64_t ghosts_before(std::int64_t row) const {
    return std::ranges::lower_bound(ghosts_, row) - ghosts_.begin();
  }
  bool is_ghost(std::int64_t at, std::int64_t row) const {
    return at < std::ssize(ghosts_) && ghosts_[static_cast<std::size_t>(at)] == row;
  }

  /// Entries of others, counted from 0 in ghosts(), that a rank sends.
  struct Receive {
    int rank;
    std::int64_t begin, count;
  };
  /// Entries packed_rows()[begin], ... go to a rank. Where they are neighbors, they leave as they lie, from row
  /// first_row on.
  struct Send {
    int rank;
    std::int64_t begin, count, first_row;
    bool is_one_run;
  };

  std::int64_t begin_, end_, low_ = 0;
  std::vector<std::int64_t> ghosts_;
  std::vector<std::int32_t> packed_rows_;
  std::vector<Receive> receives_;
  std::vector<Send> sends_;
};

/// Of a vector of low ghosts, own rows and high ghosts on the host, the ghosts, by their owners. All ranks take part.
/// Raises TeamFailure.
template <class T>
void bring_ghosts(Team& team, const HaloPlan& halo, std::span<T> all) {
  const auto low = static_cast<std::ptrdiff_t>(halo.low());
  const T* own = all.data() + low;
  std::vector<T> packed, ghosts(halo.ghosts().size());
  for (const std::int32_t row : halo.packed_rows()) packed.push_back(own[row]);
  const auto [out, in] = halo.messages(own, packed.data(), ghosts.data());
  team.start(out, in);
  team.finish();
  std::copy(ghosts.begin(), ghosts.begin() + low, all.begin());
  std::copy(ghosts.begin() + low, ghosts.end(), all.begin() + low + halo.own());
}

}  // namespace krill
