// Parts of the rows of a matrix, as preconditioner schwarz has them, and what verifies it.
#pragma once
#include <algorithm>
#include <vector>

#include "solvers/precond/options.hpp"
#include "solvers/precond/schwarz_passes.hpp"
#include "sparse/convert/prune.hpp"
#include "sparse/order/ordering.hpp"
#include "sparse/parallel/row_partition.hpp"
#include "sparse/spgemm/spgemm.hpp"

namespace krill::detail {

/// The part of each row, 0 to parts - 1; some may be empty. Parts of neighboring rows begin with blocks, where the
/// options of what stands inside say how large these are.
template <class T, class Offset>
std::vector<std::int32_t> part_of_rows(Context& ctx, const SchwarzOptions& o, const Csr<T, Offset>& A) {
  if (o.partition == PartKind::graph && o.parts > 1) return partition_graph(ctx, A, o.parts);
  const auto rows = RowPartition::by_cost(A.row_offsets().host(), o.parts, block_dim_of(o.inner->options));
  std::vector<std::int32_t> part_of(static_cast<std::size_t>(A.rows()));
  for (int p = 0; p < o.parts; ++p) std::fill(part_of.begin() + rows.begin(p), part_of.begin() + rows.end(p), p);
  return part_of;
}

/// A without the entries between different parts.
template <class T, class Offset>
Csr<T, Offset> inside_parts(Context& ctx, const Csr<T, Offset>& A, const Array<std::int32_t>& part_of) {
  Array<double> inside(A.nnz(), "entries inside of parts");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(), MarkInside<kernel_t<T>, Offset>{A.view(where), part_of.read(where), inside.write(where)});
  });
  return prune(ctx, A, inside, 0.5);
}

/// Parts that overlap: the rows of each, one part after the other, with those that a row of the part has an entry for.
/// Rows of part -1 are beside others alone.
struct OverlappingParts {
  std::vector<std::int32_t> rows, part_of;  ///< a row as often as parts have it
  std::vector<std::int32_t> place;          ///< of each row of A, in the part that it belongs to

  template <class T, class Offset>
  OverlappingParts(const Csr<T, Offset>& A, std::int32_t parts, const std::vector<std::int32_t>& part_of_row)
      : place(part_of_row.size()) {
    const auto offsets = A.row_offsets().host();
    const auto columns = A.col_indices().host();
    std::vector<std::vector<std::int32_t>> own(static_cast<std::size_t>(parts));
    for (std::size_t i = 0; i < part_of_row.size(); ++i)
      if (part_of_row[i] >= 0) own[static_cast<std::size_t>(part_of_row[i])].push_back(static_cast<std::int32_t>(i));
    for (std::int32_t p = 0; p < parts; ++p) {
      std::vector<std::int32_t> all = own[static_cast<std::size_t>(p)];
      for (const std::int32_t i : own[static_cast<std::size_t>(p)])
        for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
          if (part_of_row[static_cast<std::size_t>(columns[k])] != p) all.push_back(columns[k]);
      std::ranges::sort(all);
      all.erase(std::ranges::unique(all).begin(), all.end());
      for (const std::int32_t i : all) {
        if (part_of_row[static_cast<std::size_t>(i)] == p)
          place[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(rows.size());
        rows.push_back(i), part_of.push_back(p);
      }
    }
  }

  /// Entries of the products by which matrix() makes it: of the rows that parts have, and of those in the parts'
  /// columns.
  template <class T, class Offset>
  std::pair<std::int64_t, std::int64_t> product_entries(const Csr<T, Offset>& A) const {
    const auto offsets = A.row_offsets().host();
    std::vector<std::int64_t> times(place.size());  // that parts have a row
    for (const std::int32_t row : rows) ++times[static_cast<std::size_t>(row)];
    std::int64_t of_rows = 0, of_both = 0;
    for (const std::int32_t row : rows)
      for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
           k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1]); ++k)
        ++of_rows, of_both += times[static_cast<std::size_t>(A.col_indices().host()[k])];
    return {of_rows, of_both};
  }

  /// The matrix of all parts, block after block: rows of A, as often as parts have them.
  template <class T, class Offset>
  Csr<T, Offset> matrix(Context& ctx, const Csr<T, Offset>& A) const {
    std::vector<Offset> offsets(rows.size() + 1);
    for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] = static_cast<Offset>(k);
    const Csr<T, Offset> taken(A.cols(), Array<Offset>(std::move(offsets)), Array<std::int32_t>(rows),
                               Array<T>(std::vector<T>(rows.size(), T(1))));
    const Csr<T, Offset> of_rows = spgemm(ctx, Op::none, Op::none, T(1), taken, A);
    return inside_parts(ctx, spgemm(ctx, Op::none, Op::transpose, T(1), of_rows, taken),
                        Array<std::int32_t>(part_of, "parts"));
  }
};

}  // namespace krill::detail
