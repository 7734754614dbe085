#include "sparse/coarsen/contract.hpp"

#include <type_traits>

#include "sparse/coarsen/contract_passes.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/core/borrow.hpp"
#include "sparse/core/made_for.hpp"
#include "sparse/spgemm/spgemm.hpp"

namespace krill {

using namespace detail;

/// The same memory, to be read.
template <class T>
static Array<T> lent(Context& ctx, const Array<T>& array) {
  return ctx.dispatch([&](const auto& where) { return borrow(where, array.read(where), array.size(), array.name()); });
}

/// Entries that a row of C has at most, of `max_rows` rows of `longest_row` entries, 0: not known, or has room for.
static int room_for(std::int64_t max_rows, std::int64_t longest_row) {
  constexpr std::int64_t held = ContractTuning::held;
  const std::int64_t most = max_rows * longest_row;
  return static_cast<int>(most > 0 && most < held ? most : held);
}

/// Of the rows of C that are found and summed at once on CUDA; 0: they are not, as it cannot be hoped that there is
/// room for them.
static std::size_t found_rows_bytes(const CsrSizes& A, std::int32_t aggregates, int room) {
  const std::int64_t bytes =
      std::int64_t{aggregates} * room * static_cast<std::int64_t>(sizeof(std::int32_t) + A.scalar);
  const bool may_fit = A.nnz <= std::int64_t{A.rows} * ContractTuning::held && bytes <= ContractTuning::max_found_bytes;
  return may_fit ? static_cast<std::size_t>(bytes) : 0;
}

template <class T, class Offset>
auto ContractionPlan<T, Offset>::sum_short_rows(Context& ctx, const Csr<T, Offset>& A, const Aggregates& aggregates,
                                                std::int64_t longest_row) -> std::optional<Pattern> {
  const std::int32_t count = aggregates.count;
  const int room = room_for(aggregates.max_rows, longest_row);
  if (!ctx.on_cuda() || found_rows_bytes(CsrSizes::of(A), count, room) == 0) return std::nullopt;
  Array<std::int32_t> columns(std::int64_t{count} * room, "columns of rows");
  Array<T> sums(columns.size(), "sums of rows");
  Array<Offset> counts(count, "entries of rows"), row_offsets(std::int64_t{count} + 1, "contraction row_offsets");
  Array<FoundRows> found(1, "rows that were found");
  const auto on_cuda = [&](auto&& work) {
    ctx.dispatch([&](const auto& where) {
      if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Cuda>)
        work(where, ContractionRows<kernel_t<T>, Offset>{A.view(where), aggregates.of_row.read(where), count,
                                                         aggregates.offsets.read(where), aggregates.rows.read(where),
                                                         room, columns.update(where), sums.update(where),
                                                         counts.update(where), found.update(where)});
    });
  };
  on_cuda([&](const Cuda& cuda, const auto& rows) {
    find_rows(cuda, rows);
    scan_counts(cuda, count, rows.counts, row_offsets.write(cuda));
  });
  const FoundRows all = found.host()[0];
  if (all.without_room > 0) return std::nullopt;
  Array<std::int32_t> col_indices(all.entries, "contraction col_indices");
  Array<T> values(all.entries, "contraction values");
  on_cuda([&](const Cuda& cuda, const auto& rows) {
    pack_rows(cuda, rows, row_offsets.read(cuda), col_indices.write(cuda), values.write(cuda));
  });
  return Pattern{{count, std::move(row_offsets), std::move(col_indices), std::move(values)}, all.longest, true};
}

/// The pattern of the product of the matrix with a row an aggregate, its rows, and A with renamed columns; without
/// values where rows are not short.
template <class T, class Offset>
auto ContractionPlan<T, Offset>::pattern_of(Context& ctx, const Csr<T, Offset>& A, const Aggregates& aggregates,
                                            std::int64_t longest_row) -> Pattern {
  require_size("contraction: columns of A", A.cols(), A.rows());
  require_size("contraction: rows of A", A.rows(), aggregates.of_row.size());
  require_size("contraction: offsets of aggregates", aggregates.offsets.size(), std::int64_t{aggregates.count} + 1);
  if (std::optional<Pattern> summed = sum_short_rows(ctx, A, aggregates, longest_row)) return std::move(*summed);
  Array<std::int32_t> renamed(A.nnz(), "aggregates of columns");
  constexpr bool is_narrow = std::is_same_v<Offset, std::int32_t>;
  Array<Offset> of_aggregates(is_narrow ? 0 : aggregates.offsets.size(), "offsets of aggregates");
  ctx.dispatch([&](const auto& where) {
    const std::int32_t* of_row = aggregates.of_row.read(where);
    if (aggregates.rows.size() == A.rows())
      apply_permutation(where, A.nnz(), of_row, A.col_indices().read(where), renamed.write(where));
    else
      run_pass(where, A.rows(), RenameColumns<Offset>{pattern(where, A), of_row, renamed.write(where)});
    if constexpr (!is_narrow)
      run_pass(where, of_aggregates.size(),
               ConvertOffsets<std::int32_t, Offset>{aggregates.offsets.read(where), of_aggregates.write(where)});
  });
  if constexpr (is_narrow) of_aggregates = lent(ctx, aggregates.offsets);
  // Values are not looked at, so they are not allocated.
  const Csr<T, Offset> sums(A.rows(), std::move(of_aggregates), lent(ctx, aggregates.rows),
                            Array<T>(aggregates.rows.size())),
      a(aggregates.count, lent(ctx, A.row_offsets()), std::move(renamed), Array<T>(A.nnz()));
  SpgemmOptions options{.max_list_bytes = 0, .b_is_sorted = false};
  if (aggregates.rows.size() == A.rows())
    options.products = A.nnz(), options.max_products_of_row = aggregates.max_rows * longest_row;
  SpgemmPlan<T, Offset> plan(ctx, Op::none, sums, Op::none, a, options);
  const std::int64_t longest = plan.longest_row();
  return {std::move(plan).release(), longest};
}

template <class T, class Offset>
ContractionPlan<T, Offset>::ContractionPlan(Context& ctx, const Csr<T, Offset>& A, const Aggregates& aggregates,
                                            std::int64_t longest_row)
    : ContractionPlan(ctx, A, aggregates, pattern_of(ctx, A, aggregates, longest_row)) {}

template <class T, class Offset>
ContractionPlan<T, Offset>::ContractionPlan(Context& ctx, const Csr<T, Offset>& A, const Aggregates& aggregates,
                                            Pattern pattern_of_c)
    : rows_(A.rows()),
      nnz_(A.nnz()),
      longest_row_(pattern_of_c.longest_row),
      c_(std::move(pattern_of_c.matrix)),
      on_cuda_(ctx.on_cuda()) {
  if (pattern_of_c.has_values) return;
  constexpr std::int64_t longest = ContractTuning::max_entries;
  if (on_cuda_ && longest_row_ > longest) {
    piece_starts_ =
        scanned<std::int64_t>(ctx, c_.rows(), "pieces of rows", [&](const auto& where, std::int64_t* items) {
          run_pass(where, c_.rows(), CountContractPieces<Offset>{c_.row_offsets().read(where), longest, items});
        });
    pieces_ = last_offset(ctx, piece_starts_);
  }
  update(ctx, A, aggregates);
}

HeldMemory contraction_memory(MemoryLedger& ledger, const CsrSizes& A, const CsrSizes& C) {
  if (ledger.on_cuda() && C.rows > 0) {  // as if rows of A were alike, and so were aggregates
    const int room = room_for(ceil_div(A.rows, C.rows), ceil_div(A.nnz, A.rows));
    if (const std::size_t found = found_rows_bytes(A, C.rows, room)) {
      const HeldMemory rows = ledger.hold(found), counts = ledger.hold(C.offset * static_cast<std::size_t>(C.rows));
      return csr_memory(ledger, C);
    }
  }
  const HeldMemory renamed = ledger.hold(A.columns_bytes()),
                   of_aggregates = ledger.hold(C.offset > sizeof(std::int32_t) ? C.offsets_bytes() : 0);
  // What a SpgemmPlan takes, where rows of C are sums of about as many entries.
  const HeldMemory products = ledger.hold<std::int64_t>(C.rows), kept = ledger.hold(A.columns_bytes()),
                   wide = ledger.hold<std::int64_t>(C.rows + 1LL);
  { const HeldMemory counts = ledger.hold<std::int64_t>(C.rows); }
  return csr_memory(ledger, C);
}

template <class T, class Offset>
void ContractionPlan<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A, const Aggregates& aggregates) {
  require_made_for(ctx, on_cuda_, "contraction");
  require_size("contraction: rows of A", A.rows(), rows_);
  require_size("contraction: entries of A", A.nnz(), nnz_);
  require_size("contraction: aggregates", aggregates.count, c_.rows());
  require_size("contraction: rows of the aggregates", aggregates.of_row.size(), rows_);
  ctx.dispatch([&](const auto& where) {
    contract(where, Contraction<kernel_t<T>, Offset>{A.view(where), aggregates.of_row.read(where),
                                                     aggregates.offsets.read(where), aggregates.rows.read(where),
                                                     pattern(where, c_), c_.values().write(where),
                                                     piece_starts_.read(where), pieces_});
  });
}

template <class T, class Offset>
std::size_t ContractionPlan<T, Offset>::bytes() const {
  return c_.bytes() + bytes_of(piece_starts_);
}

KRILL_INSTANTIATE_WITH_OFFSETS(ContractionPlan);

}  // namespace krill
