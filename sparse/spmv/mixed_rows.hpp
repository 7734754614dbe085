// A mixed product as its kernels work on it: op(A) by rows.
#pragma once
#include <type_traits>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/convert_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/mixed.hpp"

namespace krill::detail {

/// y = alpha B x + beta y, where B has the pattern of p.a, and entry k of it the value p.a.values[places[k]].
template <class Types, class T, class Offset>
struct MixedRows {
  using Compute = kernel_t<typename Types::Compute>;
  using Result = kernel_t<typename Types::Result>;
  /// The type of sums: for integers the unsigned one, which may wrap around; the bits are the same.
  using Sum = std::conditional_t<std::is_same_v<Compute, std::int32_t>, std::uint32_t, Compute>;

  MixedProduct<Types, CsrView<const T, Offset>> p;
  const Offset* places = nullptr;  ///< null: k itself
  bool conjugate = false;

  /// A value times the entry of x in a column, as the view counts them.
  constexpr Sum term(T value, std::int32_t column) const {
    return conj_if(conjugate, static_cast<Sum>(value)) *
           static_cast<Sum>(p.x[column - static_cast<std::int32_t>(p.a.base)]);
  }
  /// Stores y_i for the sum of row i.
  constexpr void store(std::int64_t i, Sum sum) const {
    Sum result = static_cast<Sum>(p.alpha()) * sum;
    if (const auto beta = static_cast<Sum>(p.beta()); !(beta == Sum(0))) result += beta * static_cast<Sum>(p.y[i]);
    p.y[i] = static_cast<Result>(result);
  }
};

/// Calls use(MixedRows) for op(A); its arrays lie in the workspace while `use` runs.
template <class Where, class Types, class T, class Offset, class Use>
void with_rows(const Where& where, Op op, const MixedProduct<Types, CsrView<const T, Offset>>& p, Use&& use) {
  MixedRows<Types, T, Offset> rows{p};
  if (op == Op::none) return use(rows);
  using NoValues = float;  // of a type that there is a transposition for; their pointers are null
  const auto nnz = static_cast<std::size_t>(p.a.nnz);
  Frame frame(where);
  auto* row_offsets = frame.take<Offset>(static_cast<std::size_t>(p.a.cols) + 1);
  auto* col_indices = frame.take<std::int32_t>(nnz);
  auto* places = frame.take<Offset>(nnz);
  csr_transpose<NoValues, Offset>(
      where, {p.a.rows, p.a.cols, p.a.nnz, p.a.row_offsets, p.a.col_indices, nullptr, p.a.base}, false,
      {p.a.cols, p.a.rows, p.a.nnz, row_offsets, col_indices, nullptr}, places, true);
  rows.p.a = {p.a.cols, p.a.rows, p.a.nnz, row_offsets, col_indices, p.a.values};
  rows.places = places;
  rows.conjugate = op == Op::adjoint;
  use(rows);
}

/// offsets[i] += base, where they were counted from zero.
struct CountFrom {
  using Sum = NoSum;
  std::int64_t base;
  std::int64_t* offsets;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return offsets[i] += base, NoSum{}; }
};

template <class Where, class Types, class T, class Use>
void with_rows(const Where& where, Op op, const MixedProduct<Types, CooView<const T>>& p, Use&& use) {
  const CooView<const T>& a = p.a;
  Frame frame(where);
  const std::int32_t *row_indices = a.row_indices, *col_indices = a.col_indices;
  if (a.stride == 2) {
    auto* apart = frame.take<std::int32_t>(2 * static_cast<std::size_t>(a.nnz));
    run_pass(where, a.nnz, SplitPairs{a.row_indices, apart, apart + a.nnz});
    row_indices = apart, col_indices = apart + a.nnz;
  }
  auto* row_offsets = frame.take<std::int64_t>(static_cast<std::size_t>(a.rows) + 1);
  compress_rows(where, a.rows, a.nnz, row_indices, row_offsets, a.base);
  if (a.base == IndexBase::one) run_pass(where, a.rows + std::int64_t{1}, CountFrom{1, row_offsets});
  using Csr = CsrView<const T, std::int64_t>;
  const Csr csr{a.rows, a.cols, a.nnz, row_offsets, col_indices, a.values, a.base};
  with_rows(where, op, MixedProduct<Types, Csr>{p.alpha, csr, p.x, p.beta, p.y}, use);
}

/// What is compiled for each backend: every row of the table.
template <class Where, class Table = MixedTable>
struct MixedKernels;
template <class Where, class... Types>
struct MixedKernels<Where, std::tuple<Types...>> {
  template <class Row, class View>
  using Run = void(const Where&, Op, const MixedProduct<Row, View>&);
  template <class Row>
  using Value = const kernel_t<typename Row::Storage>;
  static constexpr std::tuple list{instance<Run<Types, CsrView<Value<Types>, std::int32_t>>>(run_product)...,
                                   instance<Run<Types, CsrView<Value<Types>, std::int64_t>>>(run_product)...,
                                   instance<Run<Types, CooView<Value<Types>>>>(run_product)...};
};

}  // namespace krill::detail
