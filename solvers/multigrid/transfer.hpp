// Between two levels.
#pragma once
#include <memory>

#include "solvers/operator.hpp"
#include "sparse/coarsen/aggregate.hpp"
#include "sparse/core/work.hpp"

namespace krill {

/// Takes residuals to the next coarser level, and its corrections back. Asynchronous, capturable after a first run.
template <class T>
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// coarse = R r.
  virtual void restrict_to(Context&, const Array<T>& r, Array<T>& coarse) const = 0;
  /// x += P coarse.
  virtual void add_correction(Context&, const Array<T>& coarse, Array<T>& x) const = 0;
  virtual std::size_t bytes() const = 0;
  /// Of both.
  virtual Work work() const = 0;
};

/// By matrices: P, and R, which is P^H unless it is made of A^H; corrections are multiplied by `factor`.
template <class T>
class MatrixTransfer final : public Transfer<T> {
 public:
  MatrixTransfer(Context&, AnyMatrix<T> P, AnyMatrix<T> R, double factor);
  void restrict_to(Context&, const Array<T>& r, Array<T>& coarse) const override;
  void add_correction(Context&, const Array<T>& coarse, Array<T>& x) const override;
  std::size_t bytes() const override;
  Work work() const override;

  T factor() const { return factor_; }  ///< of corrections
  const AnyMatrix<T>& prolongation() const { return P_; }
  const AnyMatrix<T>& restriction() const { return R_; }
  /// For new values in the patterns that there are.
  AnyMatrix<T>& prolongation() { return P_; }
  AnyMatrix<T>& restriction() { return R_; }

 private:
  AnyMatrix<T> P_, R_;
  MatrixOperator<T> prolong_, restrict_;
  std::size_t plan_bytes_;
  T factor_;
};

/// By aggregates: P has one entry, 1, in the rows of each; corrections are multiplied by `factor`.
template <class T>
class AggregateTransfer final : public Transfer<T> {
 public:
  AggregateTransfer(Aggregates aggregates, double factor);
  void restrict_to(Context&, const Array<T>& r, Array<T>& coarse) const override;
  void add_correction(Context&, const Array<T>& coarse, Array<T>& x) const override;
  std::size_t bytes() const override;
  Work work() const override;

  double factor() const { return factor_; }  ///< of corrections
  const Aggregates& aggregates() const { return aggregates_; }

 private:
  Aggregates aggregates_;
  double factor_;
};

}  // namespace krill
