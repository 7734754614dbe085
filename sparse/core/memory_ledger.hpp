// A ledger of memory that is not there: what a run would hold, and the most that it would hold at a time.
//
// Whatever sets something up answers for its memory beside the code that takes it: a function `memory` with a ledger
// and what the set-up itself is given, which holds as much, for as long, in the same order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "sparse/core/arena.hpp"

namespace krill {

/// What set-ups ask of a device before they size their workspace.
struct DeviceFigures {
  int multiprocessors = 0;
};
inline constexpr DeviceFigures h200_figures{132};

/// Where a run would be.
struct MemoryTarget {
  bool on_cuda = false;
  int threads = 1;                      ///< of the host
  DeviceFigures device = h200_figures;  ///< on CUDA

  /// On that CUDA device; where there is none, on an H200.
  static MemoryTarget cuda(int device);
  static MemoryTarget host(int threads) { return {false, threads}; }
};

/// Books memory as Array and Arena take it; the peak follows. One phase after the other; the one of the peak is
/// remembered.
class MemoryLedger {
 public:
  /// On CUDA memory comes in multiples of 512 bytes, and a context has a block of workspace from the beginning.
  explicit MemoryLedger(const MemoryTarget&);
  MemoryLedger(const MemoryLedger&) = delete;
  MemoryLedger& operator=(const MemoryLedger&) = delete;

  /// Memory that is given back at the end of its life.
  class Held {
   public:
    Held() = default;
    Held(Held&& other) noexcept { swap(other); }
    Held& operator=(Held&& other) noexcept {
      Held taken(std::move(other));
      swap(taken);
      return *this;
    }
    ~Held() {
      if (ledger_) ledger_->now_ -= bytes_;
    }
    /// Holds the other's memory as well.
    Held& operator+=(Held&& other);
    std::size_t bytes() const { return bytes_; }

   private:
    friend class MemoryLedger;
    Held(MemoryLedger& ledger, std::size_t bytes) : ledger_(&ledger), bytes_(bytes) {}
    void swap(Held& other) noexcept { std::swap(ledger_, other.ledger_), std::swap(bytes_, other.bytes_); }

    MemoryLedger* ledger_ = nullptr;
    std::size_t bytes_ = 0;
  };

  bool on_cuda() const { return target_.on_cuda; }
  int multiprocessors() const { return target_.device.multiprocessors; }
  /// Threads of the host that take part in so much work.
  int threads_for(std::int64_t work) const;

  [[nodiscard]] Held hold(std::size_t bytes);
  /// An array of n entries.
  template <class T>
  [[nodiscard]] Held hold(std::int64_t n) {
    return hold(static_cast<std::size_t>(n) * sizeof(T));
  }
  /// Workspace that one operation takes at a time. It grows as an Arena does, and stays.
  void scratch(std::initializer_list<std::size_t> takes);

  /// The same for what is first used when what was set up is applied.
  void hold_later(std::size_t bytes) { later_ += bytes; }
  void scratch_later(std::size_t bytes);
  [[nodiscard]] Held first_use();

  void begin(std::string phase) { phase_ = std::move(phase); }

  std::size_t peak() const { return peak_; }
  const std::string& phase_of_peak() const { return phase_of_peak_; }
  std::size_t workspace() const { return workspace_.bytes(); }

 private:
  void add(std::size_t bytes);
  void take(std::size_t bytes);

  MemoryTarget target_;
  std::size_t now_ = 0, peak_ = 0, later_ = 0, scratch_later_ = 0;
  ArenaBlocks workspace_;
  std::string phase_ = "start", phase_of_peak_ = "start";
};

using HeldMemory = MemoryLedger::Held;

}  // namespace krill
