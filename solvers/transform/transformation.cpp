#include "solvers/transform/transformation.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/precond/block_dim.hpp"
#include "solvers/transform/rank_rows.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/order/coloring.hpp"

namespace krill {
namespace {

bool matches(const MatchingOptions& options) {
  if (std::holds_alternative<AutoMatching>(options))
    throw InvalidArgument("matching auto: nobody has chosen a matching; name one");
  return std::holds_alternative<GreatestProduct>(options);
}

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
                               [&](const NestedDissectionOrdering&) -> Made { return nested_dissection(ctx, A); },
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
                               [&](const NestedDissectionOrdering&) { return nested_dissection_memory(ledger, A); },
                               [&](const ColorOrdering&) { return color_memory(ledger, A, has_symmetric_pattern); },
                               [](const AutoOrdering&) -> HeldMemory {
                                 throw InvalidArgument("ordering auto: nobody has chosen an ordering; name one");
                               }},
                    options);
}

/// Rows that block_jacobi, or what stands inside of schwarz, has in a block; 1 of other preconditioners, and where a
/// pattern without blocks leaves that open.
template <class T>
std::int32_t rows_of_block(Context& ctx, const PreconditionerOptions& options, const AnyMatrix<T>& A) {
  const auto* blocks = std::get_if<BlockJacobiOptions>(&options);
  return blocks ? detail::choose_block_dim(ctx, blocks->block_dim, max_block_jacobi_dim, A, 1).dim
                : block_dim_of(options);
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

template <class T>
FactorRange range_of(const Scaling<T>& scaling) {
  FactorRange range;
  for (const auto* factors : {&scaling.rows(), &scaling.cols()})
    for (const auto factor : factors->host()) {
      range.least = std::min<double>(range.least, std::abs(factor));
      range.greatest = std::max<double>(range.greatest, std::abs(factor));
    }
  return range;
}

/// A vector that goes through steps, each into an array of its own.
template <class T>
class Moving {
 public:
  Moving(Context& ctx, const Array<T>& start) : now_(start.size(), "transformed vector") {
    copy_bits(ctx, start, now_);
  }
  template <class Step>
  void through(const Step& step) {
    Array<T> made(now_.size(), "transformed vector");
    step(std::as_const(now_), made);
    now_ = std::move(made);
  }
  Array<T> release() && { return std::move(now_); }

 private:
  Array<T> now_;
};

}  // namespace

template <class T>
Transformation<T>::Transformation(Context& ctx, const SolveOptions& options, const AnyMatrix<T>& A,
                                  TransformationReport& report, int ranks) {
  with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    Stopwatch watch;
    const Csr<T, Offset>* now = &csr;
    std::optional<Csr<T, Offset>> own;
    const auto go_on_with = [&](Csr<T, Offset> made, double& milliseconds) {
      own = std::move(made);
      now = &*own;
      ctx.synchronize();
      milliseconds = watch.lap();
    };
    if (matches(options.matching)) {
      matching_.emplace(csr);
      report.moved_rows = matching_->moved(), report.has_greatest_product = matching_->has_greatest_product();
      report.matching = range_of(matching_->scaling());
      go_on_with(Matched<T, Offset>(ctx, csr, *matching_).release(), report.match_ms);
    }
    if (const auto method = scaling_method(options.scaling)) {
      scaling_.emplace(ctx, *now, *method);
      report.scaling = range_of(*scaling_);
      go_on_with(Scaled<T, Offset>(ctx, *now, *scaling_).release(), report.scale_ms);
    }
    ordering_ = make_ordering(ctx, options.ordering, *now, report);
    if (ordering_) {
      report.bandwidth_before = bandwidth(*now, [](std::int32_t i) { return std::int64_t{i}; });
      const auto inverse = ordering_->inverse().host();
      report.bandwidth =
          bandwidth(*now, [&](std::int32_t i) { return std::int64_t{inverse[static_cast<std::size_t>(i)]}; });
    }
    if (ranks > 1 && !std::holds_alternative<RowsPartition>(options.partition)) {
      RankRows made = rows_of_ranks(ctx, options.partition, *now, ordering_ ? &*ordering_ : nullptr, ranks,
                                    rows_of_block(ctx, options.preconditioner, A));
      partition_ = std::move(made.partition);
      if (made.ordering) ordering_ = std::move(made.ordering);
    }
    if (ordering_) {
      go_on_with(Reordered<T, Offset>(ctx, *now, *ordering_).release(), report.order_ms);
    }
    if (own) matrix_.emplace(std::move(*own));
  });
}

template <class T>
Array<T> Transformation<T>::rhs(Context& ctx, const Array<T>& b) const {
  Moving<T> vector(ctx, b);
  if (matching_) {
    vector.through([&](const auto& in, auto& out) { matching_->scaling().scale_rhs(ctx, in, out); });
    vector.through([&](const auto& in, auto& out) { apply_permutation(ctx, in, matching_->rows().order(), out); });
  }
  if (scaling_) vector.through([&](const auto& in, auto& out) { scaling_->scale_rhs(ctx, in, out); });
  if (ordering_)
    vector.through([&](const auto& in, auto& out) { apply_permutation(ctx, in, ordering_->order(), out); });
  return std::move(vector).release();
}

template <class T>
Array<T> Transformation<T>::solution(Context& ctx, const Array<T>& x) const {
  Moving<T> vector(ctx, x);
  if (matching_) vector.through([&](const auto& in, auto& out) { matching_->scaling().scale_solution(ctx, in, out); });
  if (scaling_) vector.through([&](const auto& in, auto& out) { scaling_->scale_solution(ctx, in, out); });
  if (ordering_)
    vector.through([&](const auto& in, auto& out) { apply_permutation(ctx, in, ordering_->order(), out); });
  return std::move(vector).release();
}

template <class T>
void Transformation<T>::bring_back(Context& ctx, const Array<T>& y, Array<T>& x) const {
  Moving<T> vector(ctx, y);
  if (ordering_)
    vector.through([&](const auto& in, auto& out) { apply_inverse_permutation(ctx, in, ordering_->order(), out); });
  if (scaling_) vector.through([&](const auto& in, auto& out) { scaling_->unscale_solution(ctx, in, out); });
  if (matching_)
    vector.through([&](const auto& in, auto& out) { matching_->scaling().unscale_solution(ctx, in, out); });
  copy_bits(ctx, std::move(vector).release(), x);
}

template <class T>
HeldMemory Transformation<T>::memory(MemoryLedger& ledger, const SolveOptions& options, const AnyMatrix<T>& A,
                                     bool has_symmetric_pattern, HeldMemory& made, int ranks) {
  Context host = Context::host();
  return with_csr(host, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    const CsrSizes sizes = CsrSizes::of(csr);
    HeldMemory kept;
    const bool matched = matches(options.matching);
    if (matched) {
      kept += Matching<T>::memory(ledger, sizes);
      made = Matched<T, Offset>::memory(ledger, sizes);
    }
    if (const auto method = scaling_method(options.scaling)) {
      kept += Scaling<T>::memory(ledger, sizes, *method);
      made = Scaled<T, Offset>::memory(ledger, sizes);
    }
    HeldMemory order = ordering_memory(ledger, options.ordering, sizes, has_symmetric_pattern && !matched);
    if (ranks > 1) order += rows_of_ranks_memory(ledger, options.partition, sizes);
    if (order.bytes() > 0) made = Reordered<T, Offset>::memory(ledger, sizes);
    kept += std::move(order);
    return kept;
  });
}

KRILL_INSTANTIATE(Transformation);

}  // namespace krill
