#include "sparse/coarsen/aggregate.hpp"

#include "sparse/coarsen/aggregate_passes.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;

Aggregates detail::list_aggregates(Context& ctx, std::int32_t count, Array<std::int32_t> of_row, bool all) {
  const auto rows = static_cast<std::int32_t>(of_row.size());
  constexpr const char* name = "aggregated rows";
  Array<std::int32_t> before(all ? rows + std::int64_t{1} : 0, name), packed(0);
  if (all)
    ctx.dispatch([&](const auto& where) { run_pass(where, before.size(), NumberMembers{before.write(where)}); });
  else
    before = scanned<std::int32_t>(ctx, rows, name, [&](const auto& where, std::int32_t* flags) {
      run_pass(where, rows, FlagAggregated{of_row.read(where), flags});
    });
  const std::int64_t members = all ? rows : last_offset(ctx, before);
  if (!all) {
    packed = Array<std::int32_t>(members, "aggregates of rows");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, rows, PackAggregates{of_row.read(where), before.read(where), packed.write(where)});
    });
  }
  Array<std::int32_t> offsets(std::int64_t{count} + 1, "offsets of aggregates"), listed(members, "rows of aggregates");
  ctx.dispatch([&](const auto& where) {
    const CsrView<const NoValue, std::int32_t> of_rows{rows, count, members, before.read(where),
                                                       (all ? of_row : packed).read(where)};
    csr_transpose<NoValue, std::int32_t>(where, of_rows, false,
                                         {count, rows, members, offsets.write(where), listed.write(where)}, nullptr);
  });
  return {count, std::move(of_row), std::move(offsets), std::move(listed)};
}

template <class T, class Offset>
Aggregates aggregate_mis2(Context& ctx, const StrongGraph<Offset>& graph, const Csr<T, Offset>& A) {
  const std::int64_t rows = graph.rows();
  require_size("aggregates: rows of the matrix", A.rows(), rows);
  Array<RootKey::Word> keys(rows, "keys of roots"), greatest(rows, "greatest keys");
  Array<std::int64_t> alone(1, "rows without a neighbor");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows,
             StartRoots<Offset>{graph.row_offsets.read(where), keys.write(where), greatest.write(where),
                                alone.write(where)});
    find_roots(where, graph.pattern(where), keys.update(where), greatest.update(where));
  });
  const Array<std::int32_t> numbers =
      scanned<std::int32_t>(ctx, rows, "numbers of roots", [&](const auto& where, std::int32_t* counts) {
        run_pass(where, rows, CountRoots{keys.read(where), counts});
      });
  const auto count = static_cast<std::int32_t>(last_offset(ctx, numbers));
  Array<std::int32_t> near(rows, "aggregates beside roots"), of_row(rows, "aggregate of each row");
  ctx.dispatch([&](const auto& where) {
    const Offset* row_offsets = graph.row_offsets.read(where);
    const std::int32_t* col_indices = graph.col_indices.read(where);
    reduce_rows(where,
                JoinRoots<Offset>{graph.pattern(where), keys.read(where), numbers.read(where), near.write(where)});
    run_pass(where, rows,
             JoinNeighbors<kernel_t<T>, Offset>{A.view(where), row_offsets, col_indices, near.read(where),
                                                of_row.write(where)});
  });
  return list_aggregates(ctx, count, std::move(of_row), alone.host()[0] == 0);
}

template <class T, class Offset>
struct AggregateInstances {
  static constexpr auto list =
      instance<Aggregates(Context&, const StrongGraph<Offset>&, const Csr<T, Offset>&)>(aggregate_mis2);
};
KRILL_INSTANTIATE_WITH_OFFSETS(AggregateInstances);

}  // namespace krill
