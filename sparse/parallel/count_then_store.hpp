// Lists of entries, of which nobody knows beforehand how long they are, in one array.
#pragma once
#include <numeric>
#include <vector>

#include "sparse/core/pass_host.hpp"

namespace krill::detail {

/// Stores n lists one after the other: count(i) is how many entries list i has, reserve(all) takes memory for all of
/// them, and store(i, first) stores list i from place `first` on. offsets: n + 1, where each list begins. count and
/// store are called once for each list, by all threads where `work`, about the entries that they look at, is worth it.
template <class Offset, class Count, class Reserve, class Store>
void count_then_store(const Host& host, std::int64_t work, std::int64_t n, Offset* offsets, Count count,
                      Reserve reserve, Store store) {
  std::vector<std::int64_t> first_of_blocks(static_cast<std::size_t>((n + sum_block - 1) / sum_block) + 1);
  for_blocks(host, n, sum_block, work, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t entries = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t of_list = count(i);
      offsets[i + 1] = static_cast<Offset>(of_list);
      entries += of_list;
    }
    first_of_blocks[static_cast<std::size_t>(begin / sum_block) + 1] = entries;
  });
  std::partial_sum(first_of_blocks.begin(), first_of_blocks.end(), first_of_blocks.begin());
  reserve(first_of_blocks.back());
  offsets[0] = 0;
  for_blocks(host, n, sum_block, work, [&](std::int64_t begin, std::int64_t end) {
    auto first = static_cast<Offset>(first_of_blocks[static_cast<std::size_t>(begin / sum_block)]);
    for (std::int64_t i = begin; i < end; ++i) {
      const auto next = static_cast<Offset>(first + offsets[i + 1]);
      store(i, first);
      offsets[i + 1] = first = next;
    }
  });
}

}  // namespace krill::detail
