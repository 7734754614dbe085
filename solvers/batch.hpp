// Refinement of many systems at once, each by its own residual.
#pragma once
#include "solvers/solver.hpp"
#include "sparse/core/memory_ledger.hpp"

namespace krill {

/// ||v_j||_2 of so many vectors of one length that lie one after the other, without overflow on the way; NaN where an
/// entry is. Moves n values. Waits.
template <class T>
std::vector<double> norms_of_systems(Context&, const Array<T>& v, std::int64_t systems);

/// x += M (b - A x) for a batch of systems that lie one after the other in a block diagonal A, of which M is nearly the
/// inverse: iterative refinement (Higham 2002, chapter 12). Every system has its own scale, target and reason, and
/// takes a step only where that lowers its residual, which is computed anew each time. What one system holds, NaN say,
/// changes no bit of another. Keeps 5 vectors.
template <class T>
class BatchRefinement final : public Solver<T> {
 public:
  /// matrix_norms: ||A_j||_F of every system where stop.baseline is backward_error. A and M must outlive it.
  BatchRefinement(const Operator<T>& A, const Preconditioner<T>& M, std::int32_t systems, int max_iterations,
                  const StopOptions&, std::vector<double> matrix_norms = {});
  /// The host decides between two iterations, so each of them waits.
  SolveReport solve(Context&, const Array<T>& b, Array<T>& x, const Watch& = {}) override;
  std::size_t bytes() const override;
  static HeldMemory memory(MemoryLedger&, std::int64_t size, std::int32_t systems);

 private:
  /// A system under way; norms are those of its scaled form.
  struct State;

  std::vector<State> begin(Context&, const Array<T>& b, const Array<T>& x);
  std::vector<double> residual_norms(Context&, const Array<T>& x, Array<T>& r);  // r = b - A x
  void set_targets(Context&, std::vector<State>&, const Array<T>& x) const;
  void step(Context&, std::vector<State>&, int iteration);
  void judge_by_rounding(Context&, std::vector<State>&);
  void hand_over(Context&, const std::vector<State>&, Array<T>& x);
  std::int64_t rows() const { return x_.size() / systems_; }

  const Operator<T>& A_;
  const Preconditioner<T>& inverse_;
  std::int32_t systems_;
  int max_iterations_;
  StopOptions stop_;
  std::vector<double> matrix_norms_;
  Array<T> b_, x_, r_, z_, s_;
  Array<double> rhs_norms_;
  Array<std::int32_t> accepted_;
};

}  // namespace krill
