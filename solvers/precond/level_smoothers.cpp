#include "solvers/precond/level_smoothers.hpp"

#include <memory>

#include "solvers/precond/gauss_seidel.hpp"
#include "solvers/precond/ilu0.hpp"
#include "solvers/precond/isai.hpp"
#include "solvers/precond/make.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/order/coloring.hpp"

namespace krill {
namespace {

template <class T>
AnyMatrix<T> reordered(Context& ctx, const AnyMatrix<T>& A, const Ordering& ordering) {
  return with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) -> AnyMatrix<T> {
    return Reordered<T, Offset>(ctx, csr, ordering).release();
  });
}

/// A Gauss-Seidel sweep one way through the rows in an order of their own.
template <class T>
class OrderedSweep final : public Preconditioner<T> {
 public:
  /// matrix: in that order.
  OrderedSweep(Context& ctx, std::shared_ptr<const Ordering> ordering, const AnyMatrix<T>& matrix,
               SweepDirection direction)
      : ordering_(std::move(ordering)),
        sweep_(make(ctx, GaussSeidelOptions{.direction = direction}, PreconditionerInput<T>{matrix, nullptr, nullptr})),
        r_(ordering_->size(), "r in the order of colors"),
        z_(ordering_->size(), "z in the order of colors") {}

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    apply_permutation(ctx, r, ordering_->order(), r_);
    apply_inverse_permutation(ctx, sweep_->apply(ctx, r_, z_), ordering_->order(), z);
    return z;
  }
  void update(Context& ctx, const AnyMatrix<T>& A) override { sweep_->update(ctx, reordered(ctx, A, *ordering_)); }
  PreconditionerReport report() const override {
    PreconditionerReport report = sweep_->report();
    report.bytes += detail::bytes_of(ordering_->order(), ordering_->inverse(), r_, z_);
    return report;
  }
  /// A permutation reads numbers and entries, and writes these.
  ApplicationWork work() const override {
    ApplicationWork work = sweep_->work();
    work.own.bytes += 2.0 * static_cast<double>(r_.size()) * (2 * sizeof(T) + sizeof(std::int32_t));
    return work;
  }

 private:
  std::shared_ptr<const Ordering> ordering_;
  MadePreconditioner<T> sweep_;
  mutable Array<T> r_, z_;
};

template <class T>
SmoothingPair<T> sweeps_by_color(Context& ctx, const AnyMatrix<T>& A) {
  const auto ordering = with_csr(
      ctx, A, [&](const auto& csr) { return std::make_shared<const Ordering>(std::move(color(ctx, csr).ordering)); });
  const AnyMatrix<T> colored = reordered(ctx, A, *ordering);
  return {std::make_unique<OrderedSweep<T>>(ctx, ordering, colored, SweepDirection::forward),
          std::make_unique<OrderedSweep<T>>(ctx, ordering, colored, SweepDirection::backward)};
}

}  // namespace

template <class T>
MakeSmoothingPair<T> smoothing_pairs(const SmootherOptions& o) {
  const auto by = [](const auto& options) -> MakeSmoothingPair<T> {
    return [options](Context& ctx, const AnyMatrix<T>& A) {
      return SmoothingPair<T>{make(ctx, options, PreconditionerInput<T>{A, nullptr, nullptr}), nullptr};
    };
  };
  switch (o.type) {
    case SmootherKind::multicolor_gauss_seidel:
      return sweeps_by_color<T>;
    case SmootherKind::ilu0:
      return by(Ilu0Options{});
    case SmootherKind::isai:
      return by(IsaiOptions{});
    default:
      return {};
  }
}

template <class T>
struct LevelSmootherInstances {
  static constexpr auto list = instance<MakeSmoothingPair<T>(const SmootherOptions&)>(smoothing_pairs<T>);
};
KRILL_INSTANTIATE(LevelSmootherInstances);

}  // namespace krill
