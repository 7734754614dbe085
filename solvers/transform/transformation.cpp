#include "solvers/transform/transformation.hpp"

#include <algorithm>
#include <cmath>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/order/coloring.hpp"

namespace krill {
namespace {

std::optional<ScalingMethod> scaling_method(const ScalingOptions& options) {
  return std::visit(Overloaded{[](const NoScaling&) -> std::optional<ScalingMethod> { return {}; },
                               [](const AutoScaling&) -> std::optional<ScalingMethod> {
                                 throw InvalidArgument("scaling auto: nobody has chosen a scaling; name one");
                               },
                               [](const auto& o) -> std::optional<ScalingMethod> { return o.method; }},
                    options);
}

template <class T, class Offset>
std::optional<Ordering> make_ordering(Context& ctx, const OrderingOptions& options, const Csr<T, Offset>& A,
                                      TransformationReport& report) {
  using Made = std::optional<Ordering>;
  return std::visit(Overloaded{[](const NaturalOrdering&) -> Made { return {}; },
                               [&](const RcmOrdering&) -> Made { return reverse_cuthill_mckee(ctx, A); },
                               [&](const AmdOrdering&) -> Made { return approximate_minimum_degree(ctx, A); },
                               [&](const ColorOrdering&) -> Made {
                                 Coloring made = color(ctx, A);
                                 report.colors = made.count;
                                 return std::move(made.ordering);
                               },
                               [](const AutoOrdering&) -> Made {
                                 throw InvalidArgument("ordering auto: nobody has chosen an ordering; name one");
                               }},
                    options);
}

HeldMemory ordering_memory(MemoryLedger& ledger, const OrderingOptions& options, const CsrSizes& A,
                           bool has_symmetric_pattern) {
  return std::visit(Overloaded{[](const NaturalOrdering&) { return HeldMemory(); },
                               [&](const RcmOrdering&) { return reverse_cuthill_mckee_memory(ledger, A); },
                               [&](const AmdOrdering&) { return Ordering::memory(ledger, A.rows); },
                               [&](const ColorOrdering&) { return color_memory(ledger, A, has_symmetric_pattern); },
                               [](const AutoOrdering&) -> HeldMemory {
                                 throw InvalidArgument("ordering auto: nobody has chosen an ordering; name one");
                               }},
                    options);
}

/// The greatest |i - j| over the entries, as `place` counts rows and columns.
template <class T, class Offset, class Place>
std::int64_t bandwidth(const Csr<T, Offset>& A, const Place& place) {
  const auto offsets = A.row_offsets().host();
  const auto cols = A.col_indices().host();
  std::int64_t most = 0;
#pragma omp parallel for reduction(max : most) if (A.nnz() > 100'000)
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
      most = std::max<std::int64_t>(most, std::abs(place(i) - place(cols[k])));
  return most;
}

}  // namespace

template <class T>
Transformation<T>::Transformation(Context& ctx, const ScalingOptions& scaling, const OrderingOptions& ordering,
                                  const AnyMatrix<T>& A, TransformationReport& report) {
  with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    Stopwatch watch;
    const Csr<T, Offset>* scaled = &csr;
    std::optional<Csr<T, Offset>> own;
    if (const auto method = scaling_method(scaling)) {
      scaling_.emplace(ctx, csr, *method);
      own = Scaled<T, Offset>(ctx, csr, *scaling_).release();
      scaled = &*own;
      ctx.synchronize();
      report.scale_ms = watch.lap();
      for (const auto* factors : {&scaling_->rows(), &scaling_->cols()})
        for (const auto factor : factors->host()) {
          report.min_factor = std::min<double>(report.min_factor, factor);
          report.greatest_factor = std::max<double>(report.greatest_factor, factor);
        }
    }
    ordering_ = make_ordering(ctx, ordering, *scaled, report);
    if (ordering_) {
      own = Reordered<T, Offset>(ctx, *scaled, *ordering_).release();
      ctx.synchronize();
      report.order_ms = watch.lap();
      const auto inverse = ordering_->inverse().host();
      report.bandwidth_before = bandwidth(csr, [](std::int32_t i) { return std::int64_t{i}; });
      report.bandwidth =
          bandwidth(csr, [&](std::int32_t i) { return std::int64_t{inverse[static_cast<std::size_t>(i)]}; });
    }
    if (own) matrix_.emplace(std::move(*own));
  });
}

template <class T>
Array<T> Transformation<T>::rhs(Context& ctx, const Array<T>& b) const {
  Array<T> scaled(b.size(), "scaled b"), made(b.size(), "transformed b");
  scaling_ ? scaling_->scale_rhs(ctx, b, scaled) : copy_bits(ctx, b, scaled);
  if (!ordering_) return scaled;
  apply_permutation(ctx, scaled, ordering_->order(), made);
  return made;
}

template <class T>
Array<T> Transformation<T>::solution(Context& ctx, const Array<T>& x) const {
  Array<T> scaled(x.size(), "scaled x"), made(x.size(), "transformed x");
  scaling_ ? scaling_->scale_solution(ctx, x, scaled) : copy_bits(ctx, x, scaled);
  if (!ordering_) return scaled;
  apply_permutation(ctx, scaled, ordering_->order(), made);
  return made;
}

template <class T>
void Transformation<T>::bring_back(Context& ctx, const Array<T>& y, Array<T>& x) const {
  Array<T> in_order(y.size(), "x in the original order");
  ordering_ ? apply_inverse_permutation(ctx, y, ordering_->order(), in_order) : copy_bits(ctx, y, in_order);
  scaling_ ? scaling_->unscale_solution(ctx, in_order, x) : copy_bits(ctx, in_order, x);
}

template <class T>
HeldMemory Transformation<T>::memory(MemoryLedger& ledger, const ScalingOptions& scaling,
                                     const OrderingOptions& ordering, const AnyMatrix<T>& A, bool has_symmetric_pattern,
                                     HeldMemory& made) {
  Context host = Context::host();
  return with_csr(host, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    const CsrSizes sizes = CsrSizes::of(csr);
    HeldMemory kept;
    if (const auto method = scaling_method(scaling)) {
      kept += Scaling<T>::memory(ledger, sizes, *method);
      made = Scaled<T, Offset>::memory(ledger, sizes);
    }
    HeldMemory order = ordering_memory(ledger, ordering, sizes, has_symmetric_pattern);
    if (order.bytes() > 0) made = Reordered<T, Offset>::memory(ledger, sizes);
    kept += std::move(order);
    return kept;
  });
}

KRILL_INSTANTIATE(Transformation);

}  // namespace krill
