// Memory by which the kernels of several devices exchange small records.
#pragma once
#include <cstddef>

namespace krill {

/// Of one rank, in the memory of its device. A mailbox has, for each of two exchanges that take turns and each rank,
/// `lines` lines of 16 bytes: 8 of a record, and the number of the exchange behind each 4 of them, for 8 bytes arrive
/// together. All ranks exchange the same records in the same order.
struct TeamSlots {
  static constexpr int max_ranks = 8, lines = 512;
  static constexpr std::size_t mailbox_bytes = std::size_t{2} * max_ranks * lines * 16;

  void* mailbox[max_ranks];  ///< of each rank, as this device reaches it
  int rank, ranks;
  unsigned exchange;  ///< the number of the next one, never 0
};

}  // namespace krill
