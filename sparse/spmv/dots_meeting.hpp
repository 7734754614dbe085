// Where the dots of one product come together whose rows two kernels beside each other have.
#pragma once
#include "sparse/core/team_slots.hpp"
#include "sparse/core/types.hpp"

namespace krill {

/// Two dots, or parts of them.
template <class T>
struct DotsSum {
  wide_t<T> first{}, second{};
  constexpr DotsSum& operator+=(const DotsSum& other) { return first += other.first, second += other.second, *this; }
};

/// In memory of the device: each kernel leaves its half here, and the one that comes last goes on with both, and with
/// those of the other ranks.
template <class T>
struct DotsMeeting {
  DotsSum<T> halves[2] = {};
  unsigned arrived = 0;  ///< zero between products
  TeamSlots* slots = nullptr;
};

}  // namespace krill
