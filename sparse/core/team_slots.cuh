// Records of several devices, exchanged inside of a kernel.
#pragma once
#include <cstring>

#include "sparse/core/team_slots.hpp"

namespace krill {

/// One exchange, by the threads of one block: each line by one thread. Without slots it is none. All of them make it
/// before the first tells, and none tells or hears after end(), which one of them calls behind a barrier. A line that
/// is written anew was read before its reader told of the exchange between the two, and its writer has heard that.
class DeviceExchange {
 public:
  __device__ explicit DeviceExchange(TeamSlots* slots) : slots_(slots), number_(slots ? load_number() : 0) {}
  __device__ int ranks() const { return slots_->ranks; }

  __device__ void tell(int line, uint2 word) const {
    for (int r = 0; r < slots_->ranks; ++r)
      asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(place(r, slots_->rank, line)), "r"(word.x),
                   "r"(number_), "r"(word.y)
                   : "memory");
  }
  __device__ uint2 hear(int line, int rank) const {
    uint4 got;
    do
      asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(got.x), "=r"(got.y), "=r"(got.z), "=r"(got.w)
                   : "l"(place(slots_->rank, rank, line))
                   : "memory");
    while (got.y != number_ || got.w != number_);
    return {got.x, got.z};
  }
  __device__ void end() const { slots_->exchange = number_ + 1 == 0 ? 1 : number_ + 1; }

 private:
  __device__ unsigned load_number() const { return *static_cast<const volatile unsigned*>(&slots_->exchange); }
  __device__ uint4* place(int mailbox, int sender, int line) const {
    return static_cast<uint4*>(slots_->mailbox[mailbox]) +
           ((number_ % 2) * TeamSlots::max_ranks + sender) * TeamSlots::lines + line;
  }

  TeamSlots* slots_;
  unsigned number_;
};

/// By one thread: add(record) for that of each rank, in their order.
template <class Record, class Add>
__device__ void exchange_records(TeamSlots* slots, const Record& mine, Add&& add) {
  constexpr int lines = (sizeof(Record) + 7) / 8;
  static_assert(lines <= TeamSlots::lines);
  const DeviceExchange exchange(slots);
  uint2 words[lines] = {};
  memcpy(words, &mine, sizeof mine);
#pragma unroll
  for (int line = 0; line < lines; ++line) exchange.tell(line, words[line]);
  for (int r = 0; r < exchange.ranks(); ++r) {
    Record record;
#pragma unroll
    for (int line = 0; line < lines; ++line) words[line] = exchange.hear(line, r);
    memcpy(&record, words, sizeof record);
    add(record);
  }
  exchange.end();
}

/// The sum of what the ranks have, by one thread of each.
template <class Sum>
__device__ Sum sum_over_ranks(TeamSlots* slots, const Sum& mine) {
  Sum total{};
  exchange_records(slots, mine, [&](const Sum& sum) { total += sum; });
  return total;
}

}  // namespace krill
