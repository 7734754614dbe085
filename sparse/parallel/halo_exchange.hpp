// Brings the ghosts of vectors to a rank, again and again.
#pragma once
#include <cstddef>

#include "sparse/core/array.hpp"
#include "sparse/core/context.hpp"
#include "sparse/parallel/halo_plan.hpp"

namespace krill {

/// The messages of a plan with memory for them, on both backends.
template <class T>
class HaloExchange {
 public:
  HaloExchange(Team&, HaloPlan);

  const HaloPlan& plan() const { return plan_; }
  /// Sends what others need of x, own rows, which stay as they are until finish(). All ranks take part, and nothing
  /// else is asked of the team in between. Allocates nothing after the first time; waits for nothing, and can be
  /// captured, where the team's messages do so. Raises TeamFailure and ShapeMismatch.
  void start(Context&, const Array<T>& x) const;
  /// ghosts() are there for what comes after it.
  void finish(Context&) const;
  const Array<T>& ghosts() const { return ghosts_; }  ///< in the order of plan().ghosts()
  std::size_t bytes() const;

 private:
  Team& team_;
  HaloPlan plan_;
  Array<std::int32_t> packed_rows_;
  mutable Array<T> ghosts_, packed_;
};

}  // namespace krill
