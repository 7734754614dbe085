// Ranks that solve one system together: processes, or threads with a context each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "sparse/core/error.hpp"

namespace krill {

struct Cuda;
struct TeamSlots;

/// Another rank has given up: what this one waited for does not come.
struct TeamFailure : Error {
  using Error::Error;
};
/// Nothing is known of the others, but that they did not answer in time.
struct LateTeam : TeamFailure {
  using TeamFailure::TeamFailure;
};

/// One rank's end of a team. Whatever all ranks take part in, they take part in in the same order; what decides
/// whether they do has to be known to all of them. One thread a rank.
class Team {
 public:
  /// Bytes for, or from, another rank.
  struct Outgoing {
    int rank;
    const void* bytes;
    std::size_t size;
  };
  struct Incoming {
    int rank;
    void* bytes;
    std::size_t size;
  };

  virtual ~Team() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Of all ranks: all[r] becomes what rank r has as `mine`, of as many bytes everywhere. Waits. Raises TeamFailure.
  virtual void gather(const void* mine, void* all, std::size_t bytes) = 0;
  /// Starts messages between pairs of ranks, several between two of them in the order of the lists; memory is the
  /// caller's until finish(), which waits for them. A message is as long as its receiver expects. Nothing else is asked
  /// of the team in between. finish() raises TeamFailure.
  virtual void start(std::span<const Outgoing>, std::span<const Incoming>) = 0;
  virtual void finish() = 0;

  // The same with memory of devices, in the order of the tag's stream, so that a rank's host need not wait: what is
  // gathered and received is there for what follows in the stream. By default by way of the host, which waits.
  virtual void gather_on(const Cuda&, const void* mine, void* all, std::size_t bytes);
  virtual void start_on(const Cuda&, std::span<const Outgoing>, std::span<const Incoming>);
  virtual void finish_on(const Cuda&);
  /// What graphs of CUDA can hold these three: none, then the host steps the loops of this team; some, but no while
  /// nodes, then it replays them; or all.
  enum class InGraphs { none, but_while_nodes, all };
  virtual InGraphs in_graphs() const { return InGraphs::none; }
  /// On the device of this rank, where kernels can exchange records with those of all others by themselves; else null.
  virtual TeamSlots* slots() const { return nullptr; }
  /// While the host waits for work that stands in a stream: raises TeamFailure where another rank gave up, for which
  /// that work may then wait in vain, and LateTeam where `progress` has been the same number for too long.
  virtual void look_for_failures([[maybe_unused]] std::int64_t progress) {}

  /// Tells the others, without a wait, that this rank takes part in nothing any more: what they wait for raises
  /// TeamFailure.
  virtual void give_up() noexcept = 0;

 private:
  /// Messages on their way by the host.
  struct Staged {
    std::vector<std::vector<std::byte>> out, in;
    std::vector<Incoming> to = {};  ///< on the device
  } staged_;
};

/// What each rank has as `mine`, in the order of ranks.
template <class Record>
std::vector<Record> gather_records(Team& team, const Record& mine) {
  static_assert(std::is_trivially_copyable_v<Record> && !std::is_same_v<Record, bool>);
  std::vector<Record> all(static_cast<std::size_t>(team.size()));
  team.gather(&mine, all.data(), sizeof mine);
  return all;
}

/// Whether it is so on all ranks.
inline bool agree(Team& team, bool mine) {
  for (const char each : gather_records(team, static_cast<char>(mine)))
    if (!each) return false;
  return true;
}

}  // namespace krill
