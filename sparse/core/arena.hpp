// Scratch memory for the length of one operation.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace krill {

struct Cuda;

/// Which bytes of which block a take gets: the arithmetic of an Arena, by which memory plans count without memory.
class ArenaBlocks {
 public:
  static constexpr std::size_t alignment = 256;
  struct Place {
    std::size_t block, offset;
  };

  bool has_room(std::size_t bytes) const { return first_with(rounded(bytes)) < blocks_.size(); }
  /// The size of the block to add where there is no room: an eighth of all, so that few blocks do.
  std::size_t size_of_next(std::size_t bytes) const {
    return std::max({rounded(bytes), std::size_t{1} << 20, this->bytes() / 8});
  }
  void add(std::size_t size) { blocks_.push_back({size, 0}); }
  /// In the first block that has room, so that a small take does not ask for a block because a large one came before;
  /// there has to be one.
  Place take(std::size_t bytes);
  std::size_t taken() const { return takes_.size(); }
  /// Takes back all but the first `count` takes.
  void release(std::size_t count);
  std::size_t bytes() const;  ///< of all blocks

 private:
  struct Block {
    std::size_t size, used;
  };
  static std::size_t rounded(std::size_t bytes) {
    return (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  }
  std::size_t first_with(std::size_t bytes) const;

  std::vector<Block> blocks_;
  std::vector<Place> takes_;
};

/// A stack of scratch memory on one side. It grows by whole blocks, never inside a stream capture, and moves nothing,
/// so addresses that a CUDA graph holds stay good. Kernels of one stream use it in turn.
class Arena {
 public:
  static constexpr int on_host = -1;
  explicit Arena(int device = on_host) : device_(device) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// 256-byte aligned. Raises OutOfMemory, and InvalidArgument where it would have to grow inside a capture.
  void* take(std::size_t bytes, const Cuda* where);
  std::size_t bytes() const { return blocks_.bytes(); }  ///< held at present

 private:
  friend class Frame;
  struct Memory {
    std::byte* begin;
    std::size_t size;
  };
  int device_;
  ArenaBlocks blocks_;
  std::vector<Memory> memory_;  // of the blocks
};

/// Hands out scratch memory and takes it all back when it ends. Frames nest.
class Frame {
 public:
  template <class Where>
  explicit Frame(const Where& where) : Frame(*where.arena, where.cuda()) {}
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  /// n entries, uninitialised.
  template <class T>
  T* take(std::size_t n) {
    return static_cast<T*>(arena_.take(n * sizeof(T), cuda_));
  }

 private:
  Frame(Arena& arena, const Cuda* cuda);

  Arena& arena_;
  const Cuda* cuda_;
  std::size_t taken_;
};

}  // namespace krill
