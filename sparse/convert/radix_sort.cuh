// A stable sort by column, on as many bits as columns need.
#pragma once
#include <cub/device/device_radix_sort.cuh>

#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

/// Sorts n pairs by their keys, numbers from 0 to end - 1. Workspace: the frame's.
template <class Payload>
void sort_by_key(const Cuda& cuda, Frame& frame, std::int64_t n, std::int64_t end, const std::int32_t* keys,
                 std::int32_t* sorted_keys, const Payload* payload, Payload* sorted_payload) {
  int bits = 1;
  while ((std::int64_t{1} << bits) < end) ++bits;
  std::size_t bytes = 0;
  const auto sort = [&](void* workspace) {
    check(cub::DeviceRadixSort::SortPairs(workspace, bytes, keys, sorted_keys, payload, sorted_payload, n, 0, bits,
                                          cuda.stream));
  };
  sort(nullptr);  // asks for the size
  sort(frame.take<char>(bytes));
}

}  // namespace krill::detail
