#include "solvers/banded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/batch.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/convert/to_banded.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {
namespace {

template <class T, class Offset>
int diagonals_of(Context& ctx, const Csr<T, Offset>& A) {
  return bandwidth(ctx, A) <= 1 ? 3 : 5;
}
constexpr auto method = BandedMethod::lu;

/// One system, or those of a batch one after the other.
BandLayout layout_of(std::int64_t rows, std::int32_t systems) {
  return BandLayout::strided(static_cast<std::int32_t>(rows / std::max(1, systems)), std::max(1, systems));
}

template <class T>
Banded<T> bands_of(Context& ctx, const AnyMatrix<T>& A, std::int32_t systems) {
  return with_csr(ctx, A, [&](const auto& csr) {
    try {
      return to_banded(ctx, csr, layout_of(csr.rows(), systems), diagonals_of(ctx, csr));
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format(
          "solver {}: {}; use another solver, or ordering: {{type: rcm}}, which brings entries near the diagonal",
          BandedOptions::type, error.what()));
    }
  });
}

}  // namespace

/// A^-1 to rounding.
template <class T>
class BandedSolver<T>::Inverse final : public Preconditioner<T> {
 public:
  Inverse(Context& ctx, const AnyMatrix<T>& A, std::int32_t systems)
      : bands_(bands_of(ctx, A, systems)), plan_(ctx, bands_.layout(), bands_.diagonals(), method) {}
  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    plan_.solve(ctx, bands_, r, z);
    return z;
  }
  ApplicationWork work() const override { return {plan_.work()}; }
  std::size_t bytes() const { return bands_.bytes() + plan_.bytes(); }
  std::optional<BandedZeroPivot> zero_pivot() const { return plan_.zero_pivot(); }
  std::optional<std::int32_t> zero_pivot(std::size_t system) const {
    return plan_.zero_pivot(static_cast<std::int32_t>(system));
  }
  /// ||A_j||_F of every system.
  std::vector<double> norms(Context& ctx) const {
    std::vector<double> norms(static_cast<std::size_t>(bands_.layout().batch));
    for (int k = -(bands_.diagonals() / 2); k <= bands_.diagonals() / 2; ++k) {
      const std::vector<double> of_band = norms_of_systems(ctx, bands_.band(k), bands_.layout().batch);
      for (std::size_t j = 0; j < norms.size(); ++j) norms[j] = std::hypot(norms[j], of_band[j]);
    }
    return norms;
  }

 private:
  Banded<T> bands_;
  mutable BandedPlan<T> plan_;
};

template <class T>
BandedSolver<T>::BandedSolver(const Operator<T>& A, const BandedOptions& options) : A_(A), options_(options) {
  require(A.matrix() != nullptr, "solver banded: the operator has no stored matrix; use another solver");
  require(
      options.systems >= 0 && (options.systems == 0 || A.rows() % options.systems == 0),
      fmt::format("solver {}: {} rows are no {} systems of one size", BandedOptions::type, A.rows(), options.systems));
}
template <class T>
BandedSolver<T>::~BandedSolver() = default;

template <class T>
SolveReport BandedSolver<T>::solve(Context& ctx, const Array<T>& b, Array<T>& x, const Watch& watch) {
  if (!refinement_) {
    inverse_ = std::make_unique<Inverse>(ctx, *A_.matrix(), options_.systems);
    refinement_ = make_refinement(ctx);
  }
  SolveReport report = refinement_->solve(ctx, b, x, watch);
  for (std::size_t j = 0; j < report.systems.size(); ++j)
    if (SystemResult& system = report.systems[j]; system.reason != Reason::converged)
      if (const auto row = inverse_->zero_pivot(j)) system.reason = Reason::zero_pivot, system.pivot_row = *row;
  if (!report.systems.empty()) return take_worst(report), report;
  if (report.reason == Reason::converged) return report;
  if (const auto zero = inverse_->zero_pivot()) report.reason = Reason::zero_pivot, report.pivot_row = zero->row;
  return report;
}

template <class T>
std::unique_ptr<Solver<T>> BandedSolver<T>::make_refinement(Context& ctx) const {
  if (options_.systems == 0)
    return std::make_unique<Richardson<T>>(
        A_, *inverse_, RichardsonOptions{.max_iterations = options_.max_iterations, .stop = options_.stop});
  const bool needs_norms = options_.stop.baseline == Baseline::backward_error;
  return std::make_unique<BatchRefinement<T>>(A_, *inverse_, options_.systems, options_.max_iterations, options_.stop,
                                              needs_norms ? inverse_->norms(ctx) : std::vector<double>());
}

template <class T>
std::size_t BandedSolver<T>::bytes() const {
  return refinement_ ? inverse_->bytes() + refinement_->bytes() : 0;
}

template <class T>
HeldMemory BandedSolver<T>::memory(MemoryLedger& ledger, Context& host, const AnyMatrix<T>& A, const BandedOptions& o) {
  const std::int64_t size = rows(A);
  HeldMemory kept = with_csr_memory(ledger, host, A, [&](const auto& csr) {
    const int diagonals = diagonals_of(host, csr);
    HeldMemory bands = ledger.hold<T>(diagonals * size);
    bands += BandedPlan<T>::memory(ledger, layout_of(size, o.systems), diagonals, method);
    return bands;
  });
  if (o.systems > 0) {
    kept += BatchRefinement<T>::memory(ledger, size, o.systems);
    return kept;
  }
  const RichardsonOptions refinement{.max_iterations = o.max_iterations, .stop = o.stop};
  kept += Richardson<T>::memory(ledger, size, refinement, true);
  return kept;
}

KRILL_INSTANTIATE(BandedSolver);

}  // namespace krill
