#include "sparse/factor/incomplete.hpp"

#include <algorithm>

#include "sparse/convert/sort.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"
#include "sparse/factor/incomplete_passes.hpp"
#include "sparse/factor/item_sizes.hpp"

namespace krill {

using namespace detail;
namespace {

/// What rows wait for, found in the analysis for CUDA.
template <class Offset>
struct ItemArrays {
  std::int32_t lanes = 1, room = 0, max_of_a_row = 0;
  std::int64_t published = 0;
  bool has_long_rows = false;
  Array<FactorRow<Offset>> rows{0, "rows in order"};
  Array<std::int64_t> slices{0, "slices of items"};
  Array<Offset> gates{0, "gates"}, positions{0, "positions of items"};
  Array<std::uint8_t> codes{0, "codes of items"};

  FactorItems<Offset> view(const auto& where, const Array<std::int32_t>& inverse) const {
    return {lanes,
            room,
            max_of_a_row,
            published,
            has_long_rows,
            rows.read(where),
            inverse.read(where),
            slices.read(where),
            gates.read(where),
            positions.read(where),
            codes.read(where)};
  }
  std::size_t bytes() const { return detail::bytes_of(rows, slices, gates, positions, codes); }
};

}  // namespace

template <class T, class Offset>
struct IncompleteFactor<T, Offset>::Body {
  Factorization kind;
  std::optional<PivotBoost<T>> boost;
  bool on_cuda;
  LevelSchedule schedule;
  Csr<T, Offset> matrix;
  Array<Offset> diagonals;  // of each row, where its entries from the diagonal on begin
  std::int32_t first_missing = 0;
  ItemArrays<Offset> items = {};
  Array<std::int32_t> events{pivot_events, "pivot events"};

  // For a matrix in BSR: of each entry, where it stands in the blocks, and its value.
  std::int32_t block_dim = 1;
  Array<Offset> positions_in_blocks{0, "positions in blocks"};
  Array<T> gathered{0, "values out of blocks"};

  Body(Context& ctx, const Csr<T, Offset>& A, Factorization wanted, const std::optional<PivotBoost<T>>& wanted_boost)
      : kind(wanted),
        boost(wanted_boost),
        on_cuda(ctx.on_cuda()),
        schedule(find_schedule(ctx, A, on_cuda)),
        matrix(A.cols(), copy_of(ctx, A.row_offsets()), copy_of(ctx, A.col_indices()), Array<T>(A.nnz(), "factor")),
        diagonals(A.rows(), "places of the diagonal") {
    require_lu(boost, kind);
    Array<FirstRow> missing(1, "first row without a diagonal");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, A.rows(), FindDiagonals<Offset>{pattern(where, A), diagonals.write(where), missing.write(where)});
    });
    first_missing = missing.host()[0].row;
    if (on_cuda && A.rows() > 0) find_items(ctx);
  }

  FactorPattern<Offset> factored(const auto& where) const {
    return {pattern(where, matrix), diagonals.read(where), kind == Factorization::ic0};
  }

  void find_items(Context& ctx) {
    const std::int32_t rows = matrix.rows();
    Array<std::int32_t> items_of_rows(rows, "items of rows");
    Array<ItemFacts> facts(1, "facts of items");
    ctx.dispatch([&](const auto& where) {
      count_items_of_rows(where, factored(where), items_of_rows.write(where));
      run_pass(where, rows, AddItems<Offset>{factored(where), items_of_rows.read(where), facts.write(where)});
    });
    items.has_long_rows = facts.host()[0].long_rows > 0;
    items.lanes = factor_lanes(facts.host()[0], rows, sizeof(T));
    items.max_of_a_row = facts.host()[0].max_items;
    items.room = facts.host()[0].longest | 1;  // odd, so that rows lie in different banks
    const std::int64_t slices = detail::ceil_div(rows, 32 / items.lanes);
    Array<std::int64_t> item_lengths(slices, "items of slices"), published_lengths(slices, "published by slices"),
        published(slices + 1, "where slices publish");
    items.slices = Array<std::int64_t>(slices + 1, "slices of items");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, slices,
               LaySlices<Offset>{factored(where), schedule.order().read(where), items_of_rows.read(where), items.lanes,
                                 item_lengths.write(where), published_lengths.write(where)});
      scan_counts(where, slices, item_lengths.read(where), items.slices.write(where));
      scan_counts(where, slices, published_lengths.read(where), published.write(where));
    });
    const std::int64_t count = last_offset(ctx, items.slices);
    items.published = last_offset(ctx, published);
    require_offsets_fit<Offset>(items.published);
    items.rows = Array<FactorRow<Offset>>(rows, "rows in order");
    items.gates = Array<Offset>(slices, "gates");
    items.positions = Array<Offset>(count, "positions of items");
    items.codes = Array<std::uint8_t>(count, "codes of items");
    ctx.dispatch([&](const auto& where) {
      const std::int32_t* level_offsets = schedule.offsets().read(where);
      run_pass(where, rows,
               FillRows<Offset>{factored(where), schedule.order().read(where), items_of_rows.read(where), level_offsets,
                                schedule.levels(), items.lanes, published.read(where), items.rows.write(where)});
      run_pass(where, slices,
               FindGates<Offset>{factored(where), items.rows.read(where), level_offsets, schedule.levels(), items.lanes,
                                 items.gates.write(where)});
      fill_items(where, factored(where),
                 ItemPlaces<Offset>{items.lanes, items.rows.read(where), schedule.inverse().read(where),
                                    items.slices.read(where), items.positions.write(where), items.codes.write(where)});
    });
  }

  void factor(Context& ctx, const Array<T>& values, double shift) {
    require_made_for(ctx, on_cuda, "incomplete factor");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, pivot_events, ClearEvents{events.write(where)});
      FactorTask<kernel_t<T>, Offset> task;
      task.p = factored(where);
      task.values = values.read(where);
      task.to = matrix.values().write(where);
      task.diagonal_factor = 1 + shift;
      if (on_cuda) task.items = items.view(where, schedule.inverse());
      task.boost = for_kernels(boost);
      task.events = events.update(where);
      if (matrix.rows()) run_factorization(where, task);
    });
  }

  /// Raises ShapeMismatch unless A has the shape and blocks of the matrix that the factor was made of.
  void require_like(const Bsr<T>& A) const {
    require_size("incomplete factorization: rows of the matrix", A.rows(), matrix.rows());
    require_size("incomplete factorization: columns of a block", A.blocks().row_dim, block_dim);
    require_size("incomplete factorization: entries of its blocks", positions_in_blocks.size(), matrix.nnz());
  }
};

template <class T, class Offset>
IncompleteFactor<T, Offset>::IncompleteFactor(std::unique_ptr<Body> body) : body_(std::move(body)) {}
template <class T, class Offset>
IncompleteFactor<T, Offset>::IncompleteFactor(IncompleteFactor&&) noexcept = default;
template <class T, class Offset>
IncompleteFactor<T, Offset>& IncompleteFactor<T, Offset>::operator=(IncompleteFactor&&) noexcept = default;
template <class T, class Offset>
IncompleteFactor<T, Offset>::~IncompleteFactor() = default;

template <class T, class Offset>
LevelSchedule IncompleteFactor<T, Offset>::find_schedule(Context& ctx, const Csr<T, Offset>& A, bool for_cuda) {
  require_size("incomplete factorization: columns of the matrix", A.cols(), A.rows());
  if (!for_cuda) return {ctx, A.rows(), Fill::lower};
  return {ctx, A.row_offsets(), A.col_indices(), Fill::lower};
}

template <class T, class Offset>
HeldMemory IncompleteFactor<T, Offset>::memory(MemoryLedger& ledger, Context& host, const Csr<T, Offset>& A,
                                               Factorization kind, const LevelSchedule& schedule) {
  HeldMemory kept = schedule.memory(ledger);
  kept += csr_memory(ledger, A);
  kept += ledger.hold<Offset>(A.rows());  // places of the diagonal
  if (!ledger.on_cuda()) {
    ledger.scratch({static_cast<std::size_t>(A.cols()) * sizeof(Offset)});  // where a row has its columns
    return kept;
  }
  const ItemSizes items = count_items(host, A, schedule, kind == Factorization::ic0);
  const HeldMemory of_rows = ledger.hold<std::int32_t>(A.rows()),
                   each = ledger.hold<std::int64_t>(3 * (items.slices + 1));
  kept += ledger.hold<std::int64_t>(items.slices + 1);
  kept += ledger.hold<FactorRow<Offset>>(A.rows());
  kept += ledger.hold<Offset>(items.slices);  // gates
  kept += ledger.hold<Offset>(items.places);
  kept += ledger.hold<std::uint8_t>(items.places);
  ledger.scratch({static_cast<std::size_t>(items.published) * sizeof(T)});
  return kept;
}

template <class T, class Offset>
IncompleteFactor<T, Offset> IncompleteFactor<T, Offset>::analyze(Context& ctx, const Csr<T, Offset>& A,
                                                                 Factorization kind,
                                                                 std::optional<PivotBoost<T>> boost) {
  return IncompleteFactor(std::make_unique<Body>(ctx, A, kind, boost));
}

template <class T, class Offset>
IncompleteFactor<T, Offset>::IncompleteFactor(Context& ctx, const Csr<T, Offset>& A, Factorization kind,
                                              std::optional<PivotBoost<T>> boost)
    : body_(std::make_unique<Body>(ctx, A, kind, boost)) {
  body_->factor(ctx, A.values(), 0);
}

template <class T, class Offset>
IncompleteFactor<T, Offset>::IncompleteFactor(Context& ctx, const Bsr<T>& A, Factorization kind,
                                              std::optional<PivotBoost<T>> boost) {
  require_size("incomplete factorization: columns of a block", A.blocks().col_dim, A.blocks().row_dim);
  const auto entries = to_csr<T, Offset>(ctx, A);
  body_ = std::make_unique<Body>(ctx, entries, kind, boost);
  body_->factor(ctx, entries.values(), 0);
  body_->block_dim = A.blocks().row_dim;
  body_->positions_in_blocks = positions_in_blocks(ctx, A, entries);
}

template <class T, class Offset>
void IncompleteFactor<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A, double shift) {
  require_size("incomplete factorization: entries of the matrix", A.nnz(), matrix().nnz());
  body_->factor(ctx, A.values(), shift);
}

template <class T, class Offset>
void IncompleteFactor<T, Offset>::update(Context& ctx, const Bsr<T>& A, double shift) {
  body_->require_like(A);
  const std::int64_t nnz = matrix().nnz();
  Array<T>& gathered = body_->gathered;
  if (gathered.size() != nnz) gathered = Array<T>(nnz, "values out of blocks");
  ctx.dispatch([&](const auto& where) {
    apply_permutation(where, nnz, A.values().read(where), body_->positions_in_blocks.read(where),
                      gathered.write(where));
  });
  body_->factor(ctx, gathered, shift);
}

template <class T, class Offset>
void IncompleteFactor<T, Offset>::store(Context& ctx, Bsr<T>& factor) const {
  body_->require_like(factor);
  ctx.dispatch([&](const auto& where) {
    apply_inverse_permutation(where, matrix().nnz(), matrix().values().read(where),
                              body_->positions_in_blocks.read(where), factor.values().update(where));
  });
}

template <class T, class Offset>
const Csr<T, Offset>& IncompleteFactor<T, Offset>::matrix() const {
  return body_->matrix;
}
template <class T, class Offset>
Factorization IncompleteFactor<T, Offset>::kind() const {
  return body_->kind;
}
template <class T, class Offset>
const LevelSchedule& IncompleteFactor<T, Offset>::schedule() const {
  return body_->schedule;
}
template <class T, class Offset>
std::size_t IncompleteFactor<T, Offset>::bytes() const {
  return matrix().bytes() + schedule().bytes() + body_->items.bytes() +
         detail::bytes_of(body_->diagonals, body_->positions_in_blocks, body_->gathered);
}

template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::structural_zero() const {
  return row_or_none(body_->first_missing, body_->block_dim);
}
template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::numerical_zero() const {
  return row_or_none(body_->events.host()[zero_pivot_event], body_->block_dim);
}
template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::zero_pivot() const {
  return row_or_none(std::min(body_->first_missing, body_->events.host()[zero_pivot_event]), body_->block_dim);
}
template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::not_finite() const {
  return row_or_none(body_->events.host()[bad_pivot_event], body_->block_dim);
}
template <class T, class Offset>
std::int32_t IncompleteFactor<T, Offset>::boosts() const {
  return body_->events.host()[boosted_pivots_event];
}

KRILL_INSTANTIATE_WITH_OFFSETS(IncompleteFactor);

}  // namespace krill
