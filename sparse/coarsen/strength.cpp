#include "sparse/coarsen/strength.hpp"

#include <fmt/format.h>

#include "sparse/coarsen/strength_passes.hpp"
#include "sparse/convert/checked_offsets.hpp"
#include "sparse/convert/merge.hpp"
#include "sparse/convert/pattern.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spgemm/spgeam.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;
namespace {

/// The graph and its transpose, as one.
template <class Offset>
StrongGraph<Offset> united_with_transpose(Context& ctx, StrongGraph<Offset> graph) {
  const std::int32_t rows = graph.rows();
  Array<float> ones(graph.nnz(), "ones");
  fill(ctx, 1.0f, ones);
  const Csr<float, Offset> one(rows, std::move(graph.row_offsets), std::move(graph.col_indices), std::move(ones));
  Csr<float, Offset> both = spgeam(ctx, Op::none, Op::transpose, 1.0f, one, 1.0f, one);
  Array<Offset> row_offsets = copy_of(ctx, both.row_offsets());
  return {std::move(row_offsets), std::move(both).release().first};
}

}  // namespace

template <class T, class Offset>
StrongGraph<Offset> strong_graph(Context& ctx, const Csr<T, Offset>& A, const Strength& strength) {
  using K = kernel_t<T>;
  require_size("strong graph: columns of the square matrix", A.cols(), A.rows());
  require(strength.threshold >= 0, "strong graph: the threshold is negative or not a number");
  Array<double> roots(A.rows(), "strength of rows");
  Array<std::uint8_t> flags(A.nnz(), "strong entries");
  Array<StrongFacts> facts(1, "facts of strong entries");
  const auto strong = [&](const auto& where) {
    return StrongEntries<K, Offset>{A.view(where), strength.threshold, roots.read(where)};
  };
  ctx.dispatch([&](const auto& where) {
    reduce_rows(where,
                MeasureStrength<K, Offset>{A.view(where), strength.measure, roots.write(where), facts.write(where)});
  });
  constexpr const char* name = "strong row_offsets";
  auto wide = scanned<std::int64_t>(ctx, A.rows(), name, [&](const auto& where, std::int64_t* counts) {
    reduce_rows(where, CountStrong<K, Offset>{strong(where), counts, flags.write(where), facts.update(where)});
  });
  const StrongFacts found = facts.host()[0];
  if (const std::int32_t row = found.fault.row; row != no_row)
    throw InvalidArgument(
        fmt::format("strong graph: there is an entry that is not finite in row {} (counted from 0)", row));
  StrongGraph<Offset> graph{checked<Offset>(ctx, std::move(wide), found.count, name).offsets,
                            Array<std::int32_t>(found.count, "strong col_indices")};
  ctx.dispatch([&](const auto& where) {
    list_flagged(where, pattern(where, A), flags.read(where), graph.row_offsets.read(where),
                 graph.col_indices.write(where));
  });
  if (found.balance == 0) return graph;
  return united_with_transpose(ctx, std::move(graph));
}

template <class T, class Offset>
Csr<real_t<T>, Offset> node_matrix(Context& ctx, const Csr<T, Offset>& A, std::int32_t block_dim) {
  using K = kernel_t<T>;
  require_size("node matrix: columns of the square matrix", A.cols(), A.rows());
  require(block_dim > 0 && A.rows() % block_dim == 0,
          fmt::format("node matrix: {} rows are no multiple of block_dim {}", A.rows(), block_dim));
  const std::int32_t nodes = A.rows() / block_dim;
  Array<std::int64_t> starts =
      scanned<std::int64_t>(ctx, nodes, "node starts", [&](const auto& where, std::int64_t* counts) {
        merge_rows(where, pattern(where, A), block_dim, BlockColumn{block_dim}, CountKeys{counts});
      });
  const std::int64_t blocks = last_offset(ctx, starts);
  Array<std::int32_t> col_indices(blocks, "node col_indices");
  Array<real_t<T>> values(blocks, "node values");
  ctx.dispatch([&](const auto& where) {
    merge_rows(where, pattern(where, A), block_dim, BlockColumn{block_dim},
               ListKeys{starts.read(where), col_indices.write(where)});
  });
  Array<Offset> row_offsets = checked<Offset>(ctx, std::move(starts), blocks, "node row_offsets").offsets;
  ctx.dispatch([&](const auto& where) {
    run_pass(where, nodes * BlockNorms<K, Offset>::lanes,
             BlockNorms<K, Offset>{A.view(where), block_dim, row_offsets.read(where), col_indices.read(where),
                                   values.write(where)});
  });
  return {nodes, std::move(row_offsets), std::move(col_indices), std::move(values)};
}

template <class T, class Offset>
struct StrengthInstances {
  static constexpr std::tuple list{
      instance<StrongGraph<Offset>(Context&, const Csr<T, Offset>&, const Strength&)>(strong_graph),
      instance<Csr<real_t<T>, Offset>(Context&, const Csr<T, Offset>&, std::int32_t)>(node_matrix)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(StrengthInstances);

}  // namespace krill
