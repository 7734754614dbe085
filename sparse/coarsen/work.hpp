// Bytes of strong graphs, aggregates and contractions.
#pragma once
#include "sparse/coarsen/aggregate.hpp"
#include "sparse/core/work.hpp"
#include "sparse/formats/csr.hpp"

namespace krill {

/// A strong graph: A and the graph once.
template <class T, class Offset>
Work strong_graph_work(const Csr<T, Offset>& A, const StrongGraph<Offset>& graph) {
  return {static_cast<double>(A.bytes() + detail::bytes_of(graph.row_offsets, graph.col_indices)), 0};
}

/// Aggregates by matchings of the rows of A: A and the aggregates once. Rounds and coarser matrices are not counted.
template <class T, class Offset>
Work aggregate_work(const Csr<T, Offset>& A, const Aggregates& made) {
  return {static_cast<double>(A.bytes() + detail::bytes_of(made.of_row, made.offsets, made.rows)), 0};
}
/// Aggregates around roots: the graph and the aggregates once. Rounds are not counted, nor entries that rows join by.
template <class Offset>
Work aggregate_work(const StrongGraph<Offset>& graph, const Aggregates& made) {
  return {
      static_cast<double>(detail::bytes_of(graph.row_offsets, graph.col_indices, made.of_row, made.offsets, made.rows)),
      0};
}

/// C = P0^H A P0: the matrices and the rows' aggregates once. An addition for each entry of A.
template <class T, class Offset>
Work contraction_work(const Csr<T, Offset>& A, const Aggregates& aggregates, const Csr<T, Offset>& C) {
  return {static_cast<double>(A.bytes() + C.bytes() + detail::bytes_of(aggregates.of_row)),
          (is_complex<T> ? 2 : 1) * static_cast<double>(A.nnz())};
}

}  // namespace krill
