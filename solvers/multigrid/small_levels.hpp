// The coarse levels of a V-cycle as one kernel, on CUDA.
#pragma once
#include <memory>

#include "solvers/multigrid/level.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// A level as the kernel sees it: one that is smoothed, or the last one, which its inverse solves.
template <class T, class Offset>
struct SmallLevel {
  std::int32_t rows = 0;
  int lanes = 1, degree = 0;  ///< threads along a row, a power of two; of the smoother's polynomial
  CsrView<const T, Offset> a;
  const real_t<T>*inverse = nullptr, *factors = nullptr;
  T *b = nullptr, *x = nullptr;
  T *r = nullptr, *next_r = nullptr, *d = nullptr, *next_d = nullptr;
  // to the next level: P and R, or aggregates
  CsrView<const T, Offset> p, restriction;
  const std::int32_t *of_row = nullptr, *offsets = nullptr, *members = nullptr;
  real_t<T> correction = 1;
  const T* dense = nullptr;  ///< the inverse, by rows
};

template <class T, class Offset>
struct SmallCycle {
  static constexpr int max_levels = 8;
  SmallLevel<T, Offset> levels[max_levels];
  int count = 0;
};

/// x of the first level = the V-cycle's answer to its b. By a cluster of multiprocessors, whose barriers are quicker
/// than kernels follow each other.
template <class T, class Offset>
void small_cycle(const Cuda&, const SmallCycle<T, Offset>&);
/// Whether the device has such clusters, and the kernel was compiled for them; allows it to be launched so.
template <class T, class Offset>
bool has_small_cycles(const Cuda&);

/// Levels so small that kernels of their own would take longer to start than to work.
template <class T>
class SmallLevels {
 public:
  /// Those of a V-cycle that go down to a dense inverse, smoothed by polynomials whose steps rows take with residuals,
  /// in CSR; null where there are none, or not on CUDA.
  static std::unique_ptr<SmallLevels> of(Context&, const MultigridLevels<T>&);

  std::size_t first() const { return first_; }
  /// x of that level from its b. Asynchronous, capturable after a first run.
  void apply(Context&) const;

 private:
  SmallLevels(const MultigridLevels<T>& levels, std::size_t first) : levels_(levels), first_(first) {}
  template <class Offset>
  void apply_in(Context&) const;

  const MultigridLevels<T>& levels_;
  std::size_t first_;
};

}  // namespace krill::detail
