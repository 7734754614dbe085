// Blocks of device memory that were released, for the next arrays of their size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace krill::device {

/// Blocks by the stream that used them last: work that follows in it needs no wait for a block. An allocation from the
/// driver's pool takes 2 us of the host, which the set-up of a small system does some hundred times.
class KeptBlocks {
 public:
  static constexpr std::size_t granularity = 512, max_block = std::size_t{16} << 20, max_bytes = std::size_t{512} << 20;
  /// A quarter of max_bytes is left for blocks up to this size, which are the most.
  static constexpr std::size_t max_small = std::size_t{1} << 20;

  struct Block {
    void* memory;
    std::uint64_t stream_id;
  };

  /// What is booked for an array of so many bytes, and what take() and keep() want.
  static constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + granularity - 1) / granularity * granularity;
  }

  /// Null where there is none.
  void* take(std::uint64_t stream_id, std::size_t size);
  /// False, and nothing is done, where the block is large or there are enough.
  bool keep(std::uint64_t stream_id, std::size_t size, void* memory);
  /// Those of a stream, or of all where it is null, which are the caller's from then on.
  std::vector<Block> give_up(const std::uint64_t* stream_id = nullptr);

  std::size_t bytes() const { return bytes_; }

 private:
  std::map<std::pair<std::uint64_t, std::size_t>, std::vector<void*>> blocks_;
  std::size_t bytes_ = 0;
};

}  // namespace krill::device
