#include "sparse/coarsen/aggregate.hpp"

#include "sparse/coarsen/aggregate_passes.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;

Aggregates detail::list_aggregates(Context& ctx, std::int32_t count, Array<std::int32_t> of_row) {
  const auto rows = static_cast<std::int32_t>(of_row.size());
  const auto before = scanned<std::int32_t>(ctx, rows, "aggregated rows", [&](const auto& where, std::int32_t* flags) {
    run_pass(where, rows, FlagAggregated{of_row.read(where), flags});
  });
  const std::int64_t members = last_offset(ctx, before);
  Array<std::int32_t> packed(members, "aggregates of rows"), offsets(std::int64_t{count} + 1, "offsets of aggregates"),
      listed(members, "rows of aggregates");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows, PackAggregates{of_row.read(where), before.read(where), packed.write(where)});
    const CsrView<const NoValue, std::int32_t> of_rows{rows, count, members, before.read(where), packed.read(where)};
    csr_transpose<NoValue, std::int32_t>(where, of_rows, false,
                                         {count, rows, members, offsets.write(where), listed.write(where)}, nullptr);
  });
  return {count, std::move(of_row), std::move(offsets), std::move(listed)};
}

template <class T, class Offset>
Aggregates aggregate_mis2(Context& ctx, const StrongGraph<Offset>& graph, const Csr<T, Offset>& A) {
  constexpr int rounds_at_a_time = 4;
  const std::int64_t rows = graph.rows();
  require_size("aggregates: rows of the matrix", A.rows(), rows);
  Array<RootKey::Word> keys(rows, "keys of roots"), greatest(rows, "greatest keys");
  Array<OpenRowCount> left(1, "open rows");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows, StartRoots<Offset>{graph.row_offsets.read(where), keys.write(where), greatest.write(where)});
  });
  for (int round = 0, open = rows > 0; open; round += rounds_at_a_time) {
    ctx.dispatch([&](const auto& where) {
      const CsrView<const NoValue, Offset> a = graph.pattern(where);
      for (int r = round; r < round + rounds_at_a_time; ++r) {
        reduce_rows(where, SpreadKeys<Offset>{a, r, keys.read(where), greatest.update(where)});
        reduce_rows(where, DecideRoots<Offset>{a, r, greatest.read(where), keys.update(where), left.write(where)});
      }
    });
    open = left.host()[0].value > 0;
  }
  const Array<std::int32_t> numbers =
      scanned<std::int32_t>(ctx, rows, "numbers of roots", [&](const auto& where, std::int32_t* counts) {
        run_pass(where, rows, CountRoots{keys.read(where), counts});
      });
  const auto count = static_cast<std::int32_t>(last_offset(ctx, numbers));
  Array<std::int32_t> near(rows, "aggregates beside roots"), of_row(rows, "aggregate of each row");
  ctx.dispatch([&](const auto& where) {
    const Offset* row_offsets = graph.row_offsets.read(where);
    const std::int32_t* col_indices = graph.col_indices.read(where);
    run_pass(where, rows,
             JoinRoots<Offset>{row_offsets, col_indices, keys.read(where), numbers.read(where), near.write(where)});
    run_pass(where, rows,
             JoinNeighbors<kernel_t<T>, Offset>{A.view(where), row_offsets, col_indices, near.read(where),
                                                of_row.write(where)});
  });
  return list_aggregates(ctx, count, std::move(of_row));
}

template <class T, class Offset>
struct AggregateInstances {
  static constexpr auto list =
      instance<Aggregates(Context&, const StrongGraph<Offset>&, const Csr<T, Offset>&)>(aggregate_mis2);
};
KRILL_INSTANTIATE_WITH_OFFSETS(AggregateInstances);

}  // namespace krill
