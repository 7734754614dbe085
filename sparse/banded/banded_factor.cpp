#include "sparse/banded/banded_factor.hpp"

#include <fmt/format.h>

#include "sparse/banded/division.hpp"
#include "sparse/banded/factor_steps.hpp"
#include "sparse/banded/plan_parts.hpp"
#include "sparse/banded/rearrange.hpp"
#include "sparse/banded/weak_rows.hpp"
#include "sparse/banded/work.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"

namespace krill {

using namespace detail;
namespace {

struct FactorShape {
  bool on_cuda;
  BandLayout matrices, vectors;
  int diagonals;
  BandedMethod method;

  BandDivision division() const { return factor_division_of(on_cuda, vectors, diagonals, method); }
  BandEnds ends() const { return ends_of(division(), vectors.rows, diagonals); }
  /// Where an elimination moves less than a solve with a factor does.
  bool keeps_matrices(std::size_t entry_bytes) const {
    if (method == BandedMethod::qr || vectors.rows == 1) return true;
    if (!on_cuda) return false;
    if (division() == BandDivision::chunks || !vectors.is_interleaved()) return true;
    const BandEnds as_plan = ends_of(division_of(on_cuda, vectors, diagonals, method), vectors.rows, diagonals);
    return matrices.batch == vectors.batch &&
           kept_in_shared(as_plan.count(as_plan.number - 1), entries_above(diagonals, method), entry_bytes);
  }
  std::int64_t words() const { return matrices.unknowns() * factor_words(diagonals, method); }
  std::int64_t exchanges() const { return method == BandedMethod::lu ? matrices.unknowns() : 0; }
};

/// Nothing for the method that is chosen by values, so that the matrices' check comes first.
template <class T>
BandedMethod chosen(Context& ctx, const Banded<T>& A, BandedMethod method) {
  return method == BandedMethod::automatic ? method_for(ctx, A) : method;
}

}  // namespace

template <class T>
BandedFactor<T>::BandedFactor(Context& ctx, const Banded<T>& A, const BandLayout& vectors, BandedMethod method, Op op)
    : layout_(A.layout()),
      vectors_(vectors),
      diagonals_(A.diagonals()),
      method_(chosen(ctx, A, method)),
      op_(op),
      on_cuda_(ctx.on_cuda()) {
  require_banded_solve("banded factor", layout_, vectors_, diagonals_, method_);
  const FactorShape shape{on_cuda_, layout_, vectors_, diagonals_, method_};
  if (shape.keeps_matrices(sizeof(T))) {
    matrices_ = Banded<T>::unspecified(layout_, diagonals_);
    plan_.emplace(ctx, layout_, vectors_, diagonals_, method_, op_);
    zeros_ = Array<T>(std::vector<T>(static_cast<std::size_t>(vectors_.extent())), "solution with zeros");
    ctx.dispatch([&](const auto& where) { zeros_.update(where); });
  } else {
    words_ = Array<T>(shape.words(), "banded factor");
    exchanges_ = Array<std::uint8_t>(shape.exchanges(), "exchanges of a banded factor");
    zero_rows_ = Array<std::int32_t>(layout_.batch, "rows of zero pivots");
  }
  update(ctx, A);
}

template <class T>
bool BandedFactor<T>::keeps_matrices(bool on_cuda, const BandLayout& matrices, const BandLayout& vectors, int diagonals,
                                     BandedMethod method) {
  require_banded_solve("banded factor", matrices, vectors, diagonals, method);
  return FactorShape{on_cuda, matrices, vectors, diagonals, method}.keeps_matrices(sizeof(T));
}

template <class T>
HeldMemory BandedFactor<T>::memory(MemoryLedger& ledger, const BandLayout& matrices, const BandLayout& vectors,
                                   int diagonals, BandedMethod method) {
  require_banded_solve("banded factor", matrices, vectors, diagonals, method);
  const FactorShape shape{ledger.on_cuda(), matrices, vectors, diagonals, method};
  if (!shape.keeps_matrices(sizeof(T))) {
    HeldMemory kept = ledger.hold<T>(shape.words());
    kept += ledger.hold<std::uint8_t>(shape.exchanges());
    kept += ledger.hold<std::int32_t>(matrices.batch);
    return kept;
  }
  HeldMemory kept = ledger.hold<T>(diagonals * matrices.extent());
  kept += BandedPlan<T>::memory(ledger, vectors, diagonals, method);
  kept += ledger.hold<T>(vectors.extent());
  return kept;
}

template <class T>
std::size_t BandedFactor<T>::bytes() const {
  if (plan_) return matrices_->bytes() + plan_->bytes() + bytes_of(zeros_);
  return bytes_of(words_, exchanges_, zero_rows_);
}

template <class T>
Work BandedFactor<T>::work() const {
  return plan_ ? plan_->work() : banded_factored_work<T>(layout_, vectors_, diagonals_, method_);
}

template <class T>
void BandedFactor<T>::update(Context& ctx, const Banded<T>& A) {
  require_made_for(ctx, on_cuda_, "banded factor");
  require_same_matrices("banded factor", A, layout_, diagonals_);
  if (plan_) {
    for (int k = -diagonals_ / 2; k <= diagonals_ / 2; ++k)
      rearrange(ctx, layout_, A.band(k), layout_, matrices_->band(k));
    plan_->solve(ctx, *matrices_, zeros_, zeros_);
    return;
  }
  const FactorShape shape{on_cuda_, layout_, vectors_, diagonals_, method_};
  ctx.dispatch([&](const auto& where) {
    const auto a = op_ == Op::none ? A.view(where) : transposed(A.view(where));
    run_factoring(where, diagonals_, method_,
                  BandedFactoring<kernel_t<T>>{a, op_ == Op::adjoint, vectors_, shape.ends(), words_.write(where),
                                               exchanges_.size() > 0 ? exchanges_.write(where) : nullptr,
                                               zero_rows_.write(where)});
  });
}

template <class T>
void BandedFactor<T>::solve(Context& ctx, const Array<T>& b, Array<T>& x) {
  require_size("banded factor: b", b.size(), vectors_.extent());
  require_size("banded factor: x", x.size(), vectors_.extent());
  run(ctx, b, x);
}

template <class T>
void BandedFactor<T>::solve(Context& ctx, const Dense<T>& B, Dense<T>& X) {
  require(columns_of(B) == vectors_ && columns_of(X) == vectors_,
          "banded factor: B or X has another layout than the vectors that the factor was made for");
  run(ctx, B.values(), X.values());
}

template <class T>
void BandedFactor<T>::run(Context& ctx, const Array<T>& b, Array<T>& x) {
  require_made_for(ctx, on_cuda_, "banded factor");
  if (plan_) return plan_->run(ctx, layout_, *matrices_, b, x);
  const FactorShape shape{on_cuda_, layout_, vectors_, diagonals_, method_};
  ctx.dispatch([&](const auto& where) {
    const auto* from = b.read(where);
    auto* to = &b == &x || vectors_.unknowns() < x.size() ? x.update(where) : x.write(where);
    run_factored(where, diagonals_, method_,
                 FactoredSolve<kernel_t<T>>{layout_, vectors_, shape.ends(), words_.read(where),
                                            exchanges_.size() > 0 ? exchanges_.read(where) : nullptr, from, to});
  });
}

template <class T>
std::optional<BandedZeroPivot> BandedFactor<T>::zero_pivot() const {
  return plan_ ? plan_->zero_pivot() : first_zero_pivot(zero_rows_);
}

template <class T>
std::optional<std::int32_t> BandedFactor<T>::zero_pivot(std::int32_t system) const {
  if (plan_) return plan_->zero_pivot(system);
  require(0 <= system && system < layout_.batch,
          fmt::format("banded factor: system {} of a batch of {}", system, layout_.batch));
  return row_or_none(zero_rows_.host()[static_cast<std::size_t>(system)]);
}

KRILL_INSTANTIATE(BandedFactor);

}  // namespace krill
