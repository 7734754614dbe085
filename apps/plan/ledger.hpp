// A ledger of memory that is not there: what a run would hold, and the most that it would hold at a time.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

#include "krill/sparse/core/arena.hpp"

namespace krill::apps {

/// Books memory as Array and Arena take it. A model of a set-up holds what the set-up holds, for as long, in the same
/// order; the peak follows. One phase after the other; the one of the peak is remembered.
class Ledger {
 public:
  /// On CUDA memory comes in multiples of 512 bytes, and a context has a block of workspace from the beginning.
  explicit Ledger(bool on_cuda);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

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
    friend class Ledger;
    Held(Ledger& ledger, std::size_t bytes) : ledger_(&ledger), bytes_(bytes) {}
    void swap(Held& other) noexcept { std::swap(ledger_, other.ledger_), std::swap(bytes_, other.bytes_); }

    Ledger* ledger_ = nullptr;
    std::size_t bytes_ = 0;
  };

  [[nodiscard]] Held hold(std::size_t bytes);
  /// Workspace that one operation takes at a time. It grows as an Arena does, and stays.
  void scratch(std::initializer_list<std::size_t> takes);
  void begin(std::string phase) { phase_ = std::move(phase); }

  std::size_t peak() const { return peak_; }
  const std::string& phase_of_peak() const { return phase_of_peak_; }
  std::size_t workspace() const { return workspace_.bytes(); }

 private:
  void add(std::size_t bytes);
  void take(std::size_t bytes);

  bool on_cuda_;
  std::size_t now_ = 0, peak_ = 0;
  ArenaBlocks workspace_;
  std::string phase_ = "start", phase_of_peak_ = "start";
};

}  // namespace krill::apps
