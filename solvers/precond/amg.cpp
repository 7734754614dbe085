#include "solvers/precond/amg.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "solvers/multigrid/candidates.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/precond/level_smoothers.hpp"
#include "solvers/precond/make.hpp"
#include "sparse/convert/transpose.hpp"
#include "sparse/core/memory_use.hpp"
#include "sparse/inverse/sparse_inverse.hpp"
#include "sparse/spgemm/products.hpp"

namespace krill {

using namespace detail;
namespace {

/// Whether A is Hermitian with a positive diagonal, to rounding.
template <class T>
bool looks_definite(Context& ctx, const AnyMatrix<T>& A) {
  return with_csr(ctx, A, [&](const auto& csr) { return !first_not_hermitian(ctx, csr); });
}

/// z = M r by a multigrid cycle.
template <class T>
class Amg final : public Preconditioner<T> {
 public:
  Amg(Context& ctx, const AmgOptions& o, const PreconditionerInput<T>& input)
      : matrix_(&input.A),
        varies_(!o.varies().empty()),
        hierarchy_(made(ctx, o, input, NearNullSpace<T>(ctx, o.near_null_space, input.coordinates))) {
    report_.symbolic_ms = hierarchy_->setup_ms();
    report_.bytes = hierarchy_->bytes();
    tell();
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    hierarchy_->cycle().apply(ctx, r, z, nullptr);
    return z;
  }
  bool takes_wide() const override { return hierarchy_->cycle().takes_wide(); }
  const Array<T>& apply_wide(Context& ctx, const Array<wide_t<T>>& wide, Array<T>& r, Array<T>& z) const override {
    hierarchy_->cycle().apply(ctx, r, z, nullptr, {&wide, &r});
    return z;
  }
  Preconditioned<T> apply_dot(Context& ctx, const Array<T>& r, const Array<double>& rr, Array<T>& z,
                              Array<double>& rz) const override {
    if (!hierarchy_->cycle().takes_dot()) return Preconditioner<T>::apply_dot(ctx, r, rr, z, rz);
    hierarchy_->cycle().apply(ctx, r, z, &rz);
    return {z, rz};
  }
  PreconditionerReport report() const override { return report_; }
  ApplicationWork work() const override { return hierarchy_->cycle().work(); }
  bool varies() const override { return varies_; }

  void update(Context& ctx, const AnyMatrix<T>& A) override {
    if (&A != matrix_)
      throw InvalidArgument(
          "preconditioner amg: it multiplies with the matrix that it was made of: give new values to that one");
    hierarchy_->update(ctx, A);
    report_.numeric_ms = hierarchy_->setup_ms();
    tell();
  }
  /// What the product that makes the first coarse matrix keeps on CUDA alone, where it adds some four terms an entry. A
  /// contraction's room for rows is about what its pattern takes on the host.
  std::size_t kept_by_product() const {
    const auto& levels = hierarchy_->levels();
    if (levels.size() < 2 || dynamic_cast<const AggregateTransfer<T>*>(levels[0]->transfer.get())) return 0;
    const LevelReport &fine = levels[0]->report, &coarse = levels[1]->report;
    if (fine.entries < ProductTuning::min_products_to_keep / 4) return 0;
    const std::int64_t kept = ProductTuning::kept_bytes(coarse.rows / coarse.block_dim, ProductTuning::few_held);
    return kept <= ProductTuning::max_kept_bytes ? static_cast<std::size_t>(kept) : 0;
  }
  /// Books the workspace in which CUDA lists aggregates and transposes P, and A where R is made of A^H: on the finest
  /// level, where all are largest.
  void transposition_scratch(MemoryLedger& ledger) const {
    const Transfer<T>* transfer = hierarchy_->levels().front()->transfer.get();
    if (const auto* by_aggregates = dynamic_cast<const AggregateTransfer<T>*>(transfer))
      list_scratch(ledger, by_aggregates->aggregates().of_row.size(), by_aggregates->aggregates().count);
    if (const auto* by_matrix = dynamic_cast<const MatrixTransfer<T>*>(transfer)) {
      const AnyMatrix<T>& P = by_matrix->prolongation();
      list_scratch(ledger, rows(P), cols(P));
      csr_transpose_scratch(ledger, {rows(P), cols(P), nnz(P), sizeof(T), sizeof(std::int32_t)}, false);
    }
    if (hierarchy_->restricts_by_adjoint())
      csr_transpose_scratch(ledger, {rows(*matrix_), cols(*matrix_), nnz(*matrix_), sizeof(T), sizeof(std::int32_t)},
                            true);
  }
  void require_definite(Context&) const override {
    if (const auto row = hierarchy_->first_not_positive())
      refuse_row(AmgOptions::type, *row, "the diagonal entry is not positive",
                 "the matrix is not positive definite: use solver gmres or bicgstab");
  }

 private:
  static std::unique_ptr<Hierarchy<T>> made(Context& ctx, const AmgOptions& o, const PreconditionerInput<T>& input,
                                            const NearNullSpace<T>& candidates) {
    return std::make_unique<Hierarchy<T>>(
        ctx, o,
        FinestLevel<T>{input.A, input.products, looks_definite(ctx, input.A), candidates.block_dim,
                       candidates.columns ? &*candidates.columns : nullptr, smoothing_pairs<T>(o.smoother)});
  }
  static void list_scratch(MemoryLedger& ledger, std::int64_t rows, std::int32_t count) {
    csr_transpose_scratch(ledger, {static_cast<std::int32_t>(rows), count, rows, 0, sizeof(std::int32_t)}, false);
  }
  void tell() {
    report_.levels = hierarchy_->reports();
    report_.notes = hierarchy_->notes();
    double entries = 0, rows = 0, cycle = 0;
    for (const LevelReport& level : report_.levels) {
      entries += static_cast<double>(level.entries), rows += static_cast<double>(level.rows);
      cycle += level.cycle_entries;
    }
    const LevelReport& finest = report_.levels.front();
    const auto over = [](double sum, auto of_finest) { return of_finest ? sum / static_cast<double>(of_finest) : 1.0; };
    const auto method = static_cast<std::size_t>(hierarchy_->options().method);
    report_.facts = {{"method", std::string(multigrid_method_names[method])},
                     {"levels", std::ssize(report_.levels)},
                     {"operator_complexity", over(entries, finest.entries)},
                     {"grid_complexity", over(rows, finest.rows)},
                     {"cycle_complexity", over(cycle, finest.entries)},
                     {"memory_over_matrix", over(static_cast<double>(report_.bytes), krill::bytes(*matrix_))},
                     {"coarsest_rows", report_.levels.back().rows}};
  }

  const AnyMatrix<T>* matrix_;
  bool varies_;
  std::unique_ptr<Hierarchy<T>> hierarchy_;
  PreconditionerReport report_;
};

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const AmgOptions& o, const PreconditionerInput<T>& input) {
  return std::make_unique<Amg<T>>(ctx, o, input);
}

/// What levels have hangs on the values: they are made on the host, and what that takes is what it would take.
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const AmgOptions& o, const PreconditionerInput<T>& input) {
  host.restart_memory_peak();
  const std::size_t before = host.memory_use().now;
  const Amg<T> made(host, o, input);
  if (ledger.on_cuda()) made.transposition_scratch(ledger);
  const MemoryUse use = host.memory_use();
  { const HeldMemory most = ledger.hold(use.peak - before + (ledger.on_cuda() ? made.kept_by_product() : 0)); }
  return ledger.hold(use.now - before);
}

template <class T>
struct AmgMakers {
  static constexpr std::tuple list{instance<Maker<T, AmgOptions>>(make), instance<MemoryOf<T, AmgOptions>>(memory)};
};
KRILL_INSTANTIATE(AmgMakers);

}  // namespace krill
