// Scratch memory for the length of one operation.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace krill {

struct Cuda;

/// A stack of scratch memory on one side. It grows by whole blocks, never inside a stream capture, and moves nothing,
/// so addresses that a CUDA graph holds stay good. Kernels of one stream use it in turn.
class Arena {
 public:
  static constexpr int on_host = -1;
  /// Of the block that `bytes` make necessary where `held` bytes are there already.
  static constexpr std::size_t block_size(std::size_t bytes, std::size_t held) {
    return std::max({bytes, std::size_t{1} << 20, held / 8});
  }
  explicit Arena(int device = on_host) : device_(device) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// 256-byte aligned. Raises OutOfMemory, and InvalidArgument where it would have to grow inside a capture.
  void* take(std::size_t bytes, const Cuda* where);
  std::size_t bytes() const;  ///< held at present

 private:
  friend class Frame;
  struct Block {
    std::byte* memory;
    std::size_t size, used;
  };
  int device_;
  std::vector<Block> blocks_;
  std::size_t top_ = 0;  // the block in use
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
  std::size_t top_, used_;
};

}  // namespace krill
