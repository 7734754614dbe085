// What all Krylov solvers share: a scaled copy of the system, the record of the solve, the loop, and the residual that
// is computed anew at the end.
#pragma once
#include "solvers/loop.hpp"
#include "solvers/solver.hpp"
#include "sparse/core/memory_ledger.hpp"

namespace krill {

/// A method adds three functions to this: how it starts from a residual, its iteration, and what is left to do after
/// the last one. The rest is the same for all: b and x are scaled into arrays of the solver's own, the loop runs until
/// there is a reason, b - A x is computed anew, and where only the recurrence had converged (or the method broke down
/// on its way) the solve goes on from that true residual, a bounded number of times.
///
/// import() and attempt() enqueue work; decisions, too, are taken on the backend's side, so without a watcher they do
/// not wait. solve() waits for the result, makes another attempt where one is due, and reports.
template <class T>
class Krylov : public Solver<T> {
 public:
  SolveReport solve(Context&, const Array<T>& b, Array<T>& x, const Watch& watch = {}) final;
  std::size_t bytes() const override;
  /// z is what the method finds of A z = r from z = 0, by its recurrences alone: enqueued, without a wait and without a
  /// word of how it ended, so this may stand in the body of another solver's loop. r and z are different arrays. In
  /// such a body the outer solve's time limit and watcher hold. A zero r gives z = 0.
  void approximate(Context&, const Array<T>& r, Array<T>& z);

  /// The memory that a solve takes, with own_vectors vectors of the method's own.
  static HeldMemory memory(MemoryLedger&, std::int64_t size, int max_iterations, std::int64_t own_vectors);

 protected:
  Krylov(const Operator<T>& A, const Preconditioner<T>& M, int max_iterations, const StopOptions& stop);

  virtual void start(Context&) = 0;              // r_ and rr_ hold the residual of x_
  virtual void iterate_once(Context&) = 0;       // the body of the loop
  virtual void settle(Context&) {}               // brings x_ to where the loop stopped
  virtual Body whole(Context&) { return {}; }    // enqueues all iterations as one kernel, where that can be
  virtual std::int64_t own_vectors() const = 0;  // of size() entries, beside r_, b_ and x_

  void residual(Context&);  // r = b - A x, rr = r'r
  void measure(Context&);   // the baseline of the backward error follows x; nothing with another baseline
  // ss = ||A s||^2 with s = D x of random_factor(): times the unit roundoff squared, about what rounding x changes of
  // b - A x, squared.
  void perturb(Context&, const Array<T>& x, Array<T>& s, int pattern, Array<T>& product, Array<wide_t<T>>& ss);
  // Between the steps of a long iteration: asks the watcher, as the loop does after each one. On CUDA the loop looks on
  // from aside all the time.
  void look(const Host&);
  void look(const Cuda&) {}

  std::int64_t size() const { return A_.rows(); }
  int max_iterations() const { return max_iterations_; }

  const Operator<T>& A_;
  const Preconditioner<T>& M_;
  Array<T> x_, r_;
  Array<double> rr_;
  Array<wide_t<T>> ss_;
  Array<Progress> progress_;

 private:
  void find_memory(Context&);  // where bytes() are taken for the first time; raises OutOfMemory
  void residual(Context&, const Array<T>& b, const Array<T>& x);
  void solve_scaled(Context&, const Array<T>& b, const Array<T>& x);  // so that largest_ comes near 1
  bool initial_residual_overflowed() const;  // of a guess far worse than x = 0, where the entries of b are near 1
  void import(Context&, const Array<T>& b, const Array<T>& x);  // scales b and x into own arrays, starts the record
  void attempt(Context&);                                       // a loop, and the residual after it
  void ask_for_rounding(Context&);                              // where the target was missed; b_ and r_ are lost
  void hand_over(Context&, Array<T>& x);                        // unless the guess was better
  SolveReport report() const;

  int max_iterations_;
  StopOptions stop_;
  Array<T> b_;
  Array<double> largest_;  // max |b_i|; where it overflowed in this scale, of the initial residual's entries
  Array<double> rhs2_;
  Array<HistoryEntry> history_;
  double matrix_norm_ = 0;
  Array<Truth> truth_;
  LoopGraph graph_;
  Watcher watcher_;    // of the solve that runs
  bool fits_[2] = {};  // on the host, on CUDA: the memory has been found there
};

}  // namespace krill
