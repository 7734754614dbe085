#include "sparse/coarsen/prolongator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sparse/coarsen/prolongator_passes.hpp"
#include "sparse/convert/checked_offsets.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"

namespace krill {

using namespace detail;
namespace {

/// The units of the candidates' columns.
template <class T>
Array<ColumnUnit> measured(Context& ctx, const Dense<T>& candidates) {
  Array<ColumnUnit> units(candidates.cols(), "units of candidates");
  ctx.dispatch([&](const auto& where) {
    for (std::int32_t j = 0; j < candidates.cols(); ++j)
      run_pass(
          where, candidates.rows(),
          MeasureColumn<kernel_t<T>>{candidates.view(where), j, j == 0 ? units.write(where) : units.update(where)});
  });
  return units;
}

/// Waits; raises InvalidArgument where an entry is not finite.
void require_finite(const Array<ColumnUnit>& units) {
  for (std::size_t j = 0; const ColumnUnit& unit : units.host()) {
    if (unit.fault.row != no_row)
      throw InvalidArgument(fmt::format(
          "tentative prolongator: candidate {} is not finite in row {}, or its square is not (both counted from 0)", j,
          unit.fault.row));
    ++j;
  }
}

}  // namespace

template <class T, class Offset>
Tentative<T, Offset> tentative_prolongator(Context& ctx, const Aggregates& aggregates, std::int32_t block_dim,
                                           const Dense<T>& candidates, bool are_finite) {
  require(block_dim > 0 && candidates.cols() > 0,
          fmt::format("tentative prolongator: {} rows a node and {} candidates, 1 of each are needed", block_dim,
                      candidates.cols()));
  const std::int64_t rows = aggregates.of_row.size() * block_dim;
  const std::int32_t columns = candidates.cols();
  const std::int64_t coarse_rows = std::int64_t{aggregates.count} * columns;
  require_size("tentative prolongator: rows of the candidates", candidates.rows(), rows);
  require_size("tentative prolongator: offsets of aggregates", aggregates.offsets.size(),
               std::int64_t{aggregates.count} + 1);
  require(coarse_rows <= std::numeric_limits<std::int32_t>::max(),
          fmt::format("tentative prolongator: {} columns do not fit 32 bits", coarse_rows));
  const Array<ColumnUnit> units = measured(ctx, candidates);
  constexpr const char* name = "prolongator row_offsets";
  CheckedOffsets<Offset> offsets = checked<Offset>(
      ctx,
      scanned<std::int64_t>(
          ctx, rows, name,
          [&](const auto& where, std::int64_t* counts) {
            run_pass(where, rows, CountTentative{aggregates.of_row.read(where), block_dim, columns, counts});
          }),
      aggregates.rows.size() * block_dim * columns, name);
  if (!are_finite) require_finite(units);
  Array<std::int32_t> col_indices(offsets.nnz, "prolongator col_indices");
  Array<T> values(offsets.nnz, "prolongator values");
  Dense<T> coarse_candidates(coarse_rows, columns);
  Array<std::uint8_t> dead(coarse_rows, "dead columns");
  Array<std::int64_t> deficient(1, "number of dead columns");
  const double dead_below = std::max(1e-10, 32.0 * std::numeric_limits<real_t<T>>::epsilon());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows,
             ListTentative<Offset>{aggregates.of_row.read(where), block_dim, columns, offsets.offsets.read(where),
                                   col_indices.write(where)});
    factor_aggregates(
        where, aggregates.count,
        AggregateBasis<kernel_t<T>, Offset>{aggregates.offsets.read(where), aggregates.rows.read(where), block_dim,
                                            candidates.view(where), units.read(where), dead_below * dead_below,
                                            offsets.offsets.read(where), values.write(where),
                                            coarse_candidates.write(where), dead.write(where)});
    run_pass(where, coarse_rows, CountDead{dead.read(where), deficient.write(where)});
  });
  return {Csr<T, Offset>(static_cast<std::int32_t>(coarse_rows), std::move(offsets.offsets), std::move(col_indices),
                         std::move(values)),
          std::move(coarse_candidates), std::move(deficient), std::move(dead)};
}

HeldMemory tentative_memory(MemoryLedger& ledger, const CsrSizes& P, std::int32_t candidates) {
  const HeldMemory units = ledger.hold<ColumnUnit>(candidates);
  HeldMemory offsets = [&] {
    const HeldMemory counts = ledger.hold<std::int64_t>(P.rows);
    return ledger.hold<std::int64_t>(P.rows + std::int64_t{1});
  }();
  if (P.offset < sizeof(std::int64_t)) offsets = ledger.hold(P.offsets_bytes());
  HeldMemory made = std::move(offsets);
  made += ledger.hold(P.columns_bytes());
  made += ledger.hold(P.values_bytes());
  made += ledger.hold(static_cast<std::size_t>(P.cols) * static_cast<std::size_t>(candidates) * P.scalar);
  made += ledger.hold<std::uint8_t>(P.cols);
  return made;
}

template <class T, class Offset>
void set_dead_diagonal(Context& ctx, const Array<std::uint8_t>& dead_columns, Csr<T, Offset>& coarse) {
  require_size("dead columns", dead_columns.size(), coarse.rows());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, coarse.rows(),
             SetDeadDiagonal<kernel_t<T>, Offset>{dead_columns.read(where), pattern(where, coarse),
                                                  coarse.values().update(where)});
  });
}

/// Raises as the constructor says.
template <class T, class Offset>
static Csr<T, Offset> smoothed_pattern(Context& ctx, const StrongGraph<Offset>& graph, std::int32_t block_dim,
                                       const Tentative<T, Offset>& tentative) {
  const Csr<T, Offset>& P0 = tentative.P;
  const std::int32_t columns = tentative.coarse_candidates.cols();
  require(block_dim > 0, fmt::format("smoothed prolongator: {} rows a node, 1 are needed", block_dim));
  require_size("smoothed prolongator: rows of P0", P0.rows(), std::int64_t{graph.rows()} * block_dim);
  const std::int64_t nodes = graph.rows();
  Array<std::int32_t> aggregates(nodes, "aggregate of each node");
  Array<FirstRow> fault(1, "fault");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, P0.rows(), CheckTentative<Offset>{pattern(where, P0), block_dim, columns, fault.write(where)});
    run_pass(where, nodes, FindAggregates<Offset>{pattern(where, P0), block_dim, columns, aggregates.write(where)});
  });
  const auto nodes_on = [&](const auto& where) {
    return NodeUnion<Offset>{graph.pattern(where), aggregates.read(where)};
  };
  const auto of_nodes = scanned<std::int64_t>(
      ctx, nodes, "aggregates of nodes",
      [&](const auto& where, std::int64_t* counts) { unite_nodes(where, nodes_on(where), CountNodeUnion{counts}); });
  const std::int64_t nnz = last_offset(ctx, of_nodes) * block_dim * columns;
  if (const std::int32_t row = fault.host()[0].row; row != no_row)
    throw InvalidArgument(fmt::format(
        "smoothed prolongator: row {} of P0 (counted from 0) is not one of a tentative prolongator's", row));
  require_offsets_fit<Offset>(nnz);
  Array<Offset> row_offsets(std::int64_t{P0.rows()} + 1, "prolongator row_offsets");
  Array<std::int32_t> col_indices(nnz, "prolongator col_indices");
  Array<T> values(nnz, "prolongator values");
  ctx.dispatch([&](const auto& where) {
    run_pass(
        where, row_offsets.size(),
        SpreadBlockOffsets<std::int64_t, Offset>{of_nodes.read(where), block_dim, columns, row_offsets.write(where)});
    unite_nodes(where, nodes_on(where),
                ListNodeUnion<Offset>{block_dim, columns, row_offsets.read(where), col_indices.write(where)});
    values.write(where);  // so that update() allocates nothing
  });
  return {P0.cols(), std::move(row_offsets), std::move(col_indices), std::move(values)};
}

template <class T, class Offset>
SmoothedProlongator<T, Offset>::SmoothedProlongator(Context& ctx, const StrongGraph<Offset>& graph,
                                                    std::int32_t block_dim, const Tentative<T, Offset>& tentative)
    : block_dim_(block_dim),
      columns_(tentative.coarse_candidates.cols()),
      graph_nnz_(graph.nnz()),
      p0_nnz_(tentative.P.nnz()),
      p_(smoothed_pattern(ctx, graph, block_dim, tentative)),
      weak_(columns_ == 1 ? 0 : std::int64_t{p_.rows()} * columns_, "weak part of a prolongator"),
      on_cuda_(ctx.on_cuda()) {
  ctx.dispatch([&](const auto& where) { weak_.write(where); });  // so that update() allocates nothing
}

template <class T, class Offset>
HeldMemory SmoothedProlongator<T, Offset>::memory(MemoryLedger& ledger, const CsrSizes& P, std::int32_t block_dim,
                                                  std::int32_t candidates) {
  HeldMemory made = [&] {
    const std::int64_t nodes = P.rows / block_dim;
    const HeldMemory aggregates = ledger.hold<std::int32_t>(nodes), of_nodes = ledger.hold<std::int64_t>(nodes + 1);
    { const HeldMemory counts = ledger.hold<std::int64_t>(nodes); }
    return csr_memory(ledger, P);
  }();
  if (candidates > 1)
    made += ledger.hold(static_cast<std::size_t>(P.rows) * static_cast<std::size_t>(candidates) * P.scalar);
  return made;
}

template <class T, class Offset>
void SmoothedProlongator<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A, const StrongGraph<Offset>& graph,
                                            const Tentative<T, Offset>& tentative, const Dense<T>& candidates,
                                            const Scalar<double>& omega, const Scalar<double>& lambda) {
  const Csr<T, Offset>& P0 = tentative.P;
  require_made_for(ctx, on_cuda_, "smoothed prolongator");
  require_size("smoothed prolongator: rows of A", A.rows(), p_.rows());
  require_size("smoothed prolongator: columns of A", A.cols(), p_.rows());
  require_size("smoothed prolongator: entries of the strong graph", graph.nnz(), graph_nnz_);
  require_size("smoothed prolongator: entries of P0", P0.nnz(), p0_nnz_);
  require_size("smoothed prolongator: rows of the candidates", candidates.rows(), p_.rows());
  if (p0_nnz_ == 0) return;
  require_size("smoothed prolongator: candidates", candidates.cols(), columns_);
  require_size("smoothed prolongator: rows of the coarse candidates", tentative.coarse_candidates.rows(), p_.cols());
  ctx.dispatch([&](const auto& where) {
    using Scalar = kernel_t<T>;
    const DividedRows<Scalar, Offset> rows{A.view(where), graph.pattern(where), block_dim_};
    const auto smooth_for = [&]<bool one>(std::bool_constant<one>) {
      smooth(where, Smoothing<Scalar, Offset, one>{rows, P0.view(where), candidates.view(where),
                                                   tentative.coarse_candidates.view(where), weak_.read(where),
                                                   omega.read(where), lambda.read(where), pattern(where, p_),
                                                   p_.values().write(where)});
    };
    if (columns_ == 1) return smooth_for(std::true_type{});
    using Replace = ReplaceWeak<Scalar, Offset>;
    for (std::int32_t first = 0; first < columns_; first += Replace::width)
      reduce_rows(where, Replace{rows, P0.view(where), candidates.view(where), tentative.coarse_candidates.view(where),
                                 first, weak_.update(where)});
    smooth_for(std::false_type{});
  });
}

template <class T, class Offset>
struct TentativeInstances {
  static constexpr std::tuple list{
      instance<Tentative<T, Offset>(Context&, const Aggregates&, std::int32_t, const Dense<T>&, bool)>(
          tentative_prolongator),
      instance<void(Context&, const Array<std::uint8_t>&, Csr<T, Offset>&)>(set_dead_diagonal)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(TentativeInstances);
KRILL_INSTANTIATE_WITH_OFFSETS(SmoothedProlongator);

}  // namespace krill
