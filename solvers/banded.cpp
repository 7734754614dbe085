#include "solvers/banded.hpp"

#include <fmt/format.h>

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

template <class T>
Banded<T> bands_of(Context& ctx, const AnyMatrix<T>& A) {
  return with_csr(ctx, A, [&](const auto& csr) {
    try {
      return to_banded(ctx, csr, diagonals_of(ctx, csr));
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
  Inverse(Context& ctx, const AnyMatrix<T>& A)
      : bands_(bands_of(ctx, A)), plan_(ctx, bands_.layout(), bands_.diagonals(), method) {}
  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    plan_.solve(ctx, bands_, r, z);
    return z;
  }
  ApplicationWork work() const override { return {plan_.work()}; }
  std::size_t bytes() const { return bands_.bytes() + plan_.bytes(); }
  std::optional<BandedZeroPivot> zero_pivot() const { return plan_.zero_pivot(); }

 private:
  Banded<T> bands_;
  mutable BandedPlan<T> plan_;
};

template <class T>
BandedSolver<T>::BandedSolver(const Operator<T>& A, const BandedOptions& options) : A_(A), options_(options) {
  require(A.matrix() != nullptr, "solver banded: the operator has no stored matrix; use another solver");
}
template <class T>
BandedSolver<T>::~BandedSolver() = default;

template <class T>
SolveReport BandedSolver<T>::solve(Context& ctx, const Array<T>& b, Array<T>& x, const Watch& watch) {
  if (!inverse_) {
    auto inverse = std::make_unique<Inverse>(ctx, *A_.matrix());
    refinement_ = std::make_unique<Richardson<T>>(
        A_, *inverse, RichardsonOptions{.max_iterations = options_.max_iterations, .stop = options_.stop});
    inverse_ = std::move(inverse);
  }
  SolveReport report = refinement_->solve(ctx, b, x, watch);
  if (report.reason == Reason::converged) return report;
  if (const auto zero = inverse_->zero_pivot()) report.reason = Reason::zero_pivot, report.pivot_row = zero->row;
  return report;
}

template <class T>
std::size_t BandedSolver<T>::bytes() const {
  return inverse_ ? inverse_->bytes() + refinement_->bytes() : 0;
}

template <class T>
HeldMemory BandedSolver<T>::memory(MemoryLedger& ledger, Context& host, const AnyMatrix<T>& A, const BandedOptions& o) {
  const std::int64_t size = rows(A);
  HeldMemory kept = with_csr_memory(ledger, host, A, [&](const auto& csr) {
    const int diagonals = diagonals_of(host, csr);
    HeldMemory bands = ledger.hold<T>(diagonals * size);
    bands += BandedPlan<T>::memory(ledger, BandLayout::single(static_cast<std::int32_t>(size)), diagonals, method);
    return bands;
  });
  const RichardsonOptions refinement{.max_iterations = o.max_iterations, .stop = o.stop};
  kept += Richardson<T>::memory(ledger, size, refinement, true);
  return kept;
}

KRILL_INSTANTIATE(BandedSolver);

}  // namespace krill
