// What a rank's products need of vectors that others have parts of.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sparse/core/team.hpp"
#include "sparse/parallel/row_partition.hpp"

namespace krill {

/// Entries that a rank needs beside those of its own rows, its ghosts, and which of its own it sends to whom. A vector
/// lies as low ghosts, own rows, high ghosts: in the order of the whole matrix, so that a rank's rows are a slice of it
/// with columns shifted, whose diagonals and order of entries are the old ones. The ghosts of one owner follow each
/// other, and arrive in place.
class HaloPlan {
 public:
  /// `ghosts`: rows of others, ascending, each once. All ranks take part; a message between each two of them. Raises
  /// TeamFailure, and InvalidArgument where a ghost is the rank's own or the order is another one.
  HaloPlan(Team&, const RowPartition&, std::vector<std::int64_t> ghosts);

  std::int64_t own() const { return end_ - begin_; }
  std::int64_t low() const { return low_; }
  std::int64_t high() const { return std::ssize(ghosts_) - low_; }
  std::int64_t size() const { return own() + std::ssize(ghosts_); }
  std::span<const std::int64_t> ghosts() const { return ghosts_; }
  /// Where a row of the whole matrix, own or ghost, lies in a vector. O(log ghosts).
  std::int64_t place(std::int64_t row) const;
  /// Entries that leave this rank in an exchange; one that goes to two ranks counts twice.
  std::int64_t sent() const { return sent_; }
  int neighbors() const {
    return static_cast<int>(sends_.size() > receives_.size() ? sends_.size() : receives_.size());
  }

  /// Starts to fill the ghosts of `vector`, of size() entries, with what their owners have in their own rows; these
  /// must not change before finish(). `packed`: room for sent() entries. On the host.
  template <class T>
  void start(Team&, T* vector, T* packed) const;
  void finish(Team& team) const { team.finish(); }

 private:
  struct Receive {
    int rank;
    std::int64_t begin, count;  ///< places in the vector
  };
  struct Send {
    int rank;
    std::vector<std::int64_t> places;  ///< in the vector
    bool is_one_run() const { return places.back() - places.front() + 1 == std::ssize(places); }
  };

  std::int64_t begin_, end_, low_ = 0, sent_ = 0;
  std::vector<std::int64_t> ghosts_;
  std::vector<Receive> receives_;
  std::vector<Send> sends_;
};

}  // namespace krill
