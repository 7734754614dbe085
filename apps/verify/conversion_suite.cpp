// Formats: from CSR and back, new values, transposes, coordinates, dense matrices.
#include <algorithm>

#include "krill/apps/verify/trial.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/convert/dense.hpp"
#include "krill/sparse/convert/sort.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

/// Formats that fill up with zeros, which nobody can tell from entries.
bool fills_up(Format format) {
  switch (format) {
    case Format::bsr:
    case Format::bsrx:
    case Format::gebsr:
    case Format::gebsc:
    case Format::dia:
    case Format::hdia:
    case Format::blocked_ell:
      return true;
    default:
      return false;
  }
}

template <class T>
Comparison compare_entries(const std::vector<Entry<T>>& got, const std::vector<Entry<T>>& expected) {
  return compare_bits<Entry<T>>(got, expected);
}

template <class T>
void check_format(Ledger& ledger, Context& ctx, const Subject<T>& s, const NamedFormat& named) {
  const bool zeros = fills_up(named.format);
  std::optional<AnyMatrix<T>> made;
  try {
    made = convert_format(ctx, s.A, named.format, named.layout);
  } catch (const InvalidArgument& refusal) {
    return ledger.not_checked("csr to " + named.name, refusal.what());  // it would grow beyond all bounds
  }
  ledger.check("csr to " + named.name, exact_bound,
               [&] { return compare_entries(entries_of(*made, zeros), entries_of(s.rows, zeros)); });
  ledger.check(named.name + " to csr", exact_bound,
               [&] { return compare_entries(entries_of(to_csr(ctx, *made), zeros), entries_of(s.rows, zeros)); });
  ledger.check(named.name + ", new values", exact_bound, [&] {
    const Csr<T> other = with_other_values(s.A);
    AnyMatrix<T> updated = convert_format(ctx, s.A, named.format, named.layout);
    update_values(ctx, other, updated);
    return compare_entries(entries_of(updated, zeros), entries_of(rows_of(other), zeros));
  });
}

template <class T>
void check_transposes(Ledger& ledger, Context& ctx, const Subject<T>& s) {
  for (const Op op : {Op::transpose, Op::adjoint})
    ledger.check(op == Op::transpose ? "csr2csc" : "csr2csc, conjugated", exact_bound, [&] {
      Array<std::int32_t> permutation;
      const AnyMatrix<T> got = transpose(ctx, s.A, op, &permutation);
      return compare_entries(entries_of(got, false), entries_of(transposed(s.rows, op), false));
    });
  ledger.check("csr to coo to csr", exact_bound, [&] {
    return compare_entries(entries_of(AnyMatrix<T>(to_csr(ctx, to_coo(ctx, s.A))), false), entries_of(s.rows, false));
  });
  ledger.check("diagonal", exact_bound, [&] {
    std::vector<T> wanted;
    for (std::int32_t i = 0; i < std::min(s.A.rows(), s.A.cols()); ++i) wanted.push_back(s.rows.at(i, i));
    return compare_bits<T>(diagonal(ctx, AnyMatrix<T>(s.A.clone())).host(), wanted);
  });
}

template <class T>
void check_dense(Ledger& ledger, Context& ctx, const Subject<T>& s) {
  constexpr std::int64_t most_places = 1 << 20;
  if (std::int64_t{s.A.rows()} * s.A.cols() > most_places) return;
  ledger.check("csr to dense", exact_bound, [&] {
    std::vector<T> wanted(static_cast<std::size_t>(s.A.rows()) * static_cast<std::size_t>(s.A.cols()));
    for (const Entry<T>& e : entries_of(s.rows, false))
      wanted[static_cast<std::size_t>(e.col) * static_cast<std::size_t>(s.A.rows()) + static_cast<std::size_t>(e.row)] =
          e.value;
    return compare_bits<T>(to_dense(ctx, s.A).values().host(), wanted);
  });
  ledger.check("count_nonzeros", exact_bound, [&] {
    std::vector<std::int32_t> wanted(static_cast<std::size_t>(s.A.rows()));
    for (const Entry<T>& e : entries_of(s.rows, true)) ++wanted[static_cast<std::size_t>(e.row)];
    Array<std::int32_t> counts(s.A.rows(), "counts");
    Array<std::int64_t> total(1, "total");
    count_nonzeros(ctx, to_dense(ctx, s.A), Direction::rows, counts, total);
    return compare_bits<std::int32_t>(counts.host(), wanted);
  });
  ledger.check("dense to csr", exact_bound, [&] {
    return compare_entries(entries_of(AnyMatrix<T>(to_csr(ctx, to_dense(ctx, s.A))), true), entries_of(s.rows, true));
  });
}

/// The entries in an order of their own, and that sorted again.
template <class T>
void check_sorts(Ledger& ledger, Context& ctx, const Subject<T>& s) {
  const Rows<T> turned = transposed(s.rows, Op::transpose);
  std::vector<std::int32_t> rows, cols;
  for (const Entry<T>& e : entries_of(turned, false)) rows.push_back(e.col), cols.push_back(e.row);
  ledger.check("sort_by_row", exact_bound, [&] {
    Array<std::int32_t> row = array(rows, "rows"), col = array(cols, "columns");
    Array<std::int32_t> permutation = identity_permutation<std::int32_t>(ctx, row.size());
    sort_by_row(ctx, row, col, permutation);
    Array<T> values(row.size(), "values");
    apply_permutation(ctx, array(turned.value, "values"), permutation, values);
    return compare_entries(
        entries_of(AnyMatrix<T>(Coo<T>(s.A.rows(), s.A.cols(), std::move(row), std::move(col), std::move(values))),
                   false),
        entries_of(s.rows, false));
  });
  ledger.check("sort_by_column", exact_bound, [&] {
    const std::vector<Entry<T>> by_row = entries_of(s.rows, false);
    std::vector<std::int32_t> row_of, col_of, sorted_rows;
    for (const Entry<T>& e : by_row) row_of.push_back(e.row), col_of.push_back(e.col);
    for (const Entry<T>& e : entries_of(turned, false)) sorted_rows.push_back(e.col);
    Array<std::int32_t> row = array(row_of, "rows"), col = array(col_of, "columns");
    Array<std::int32_t> permutation = identity_permutation<std::int32_t>(ctx, row.size());
    sort_by_column(ctx, row, col, permutation);
    return compare_bits<std::int32_t>(row.host(), sorted_rows);
  });
  ledger.check("sort_within_rows", exact_bound, [&] {
    std::vector<std::int32_t> backward;
    for (std::int32_t i = 0; i < s.A.rows(); ++i)
      for (std::size_t k = s.rows.end(i); k-- > s.rows.begin(i);) backward.push_back(s.rows.col[k]);
    Array<std::int32_t> col = array(backward, "columns");
    Array<std::int32_t> permutation = identity_permutation<std::int32_t>(ctx, col.size());
    sort_within_rows(ctx, s.A.row_offsets(), col, permutation);
    return compare_bits<std::int32_t>(col.host(), s.rows.col);
  });
}

}  // namespace

template <class T>
void check_conversions(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  for (const NamedFormat& named : selection.formats)
    if (named.format != Format::csr && named.format != Format::automatic) check_format(ledger, ctx, s, named);
  if (!selection.whole_library) return;
  check_transposes(ledger, ctx, s);
  check_dense(ledger, ctx, s);
  check_sorts(ledger, ctx, s);
}

#define INSTANTIATE(T) template void check_conversions(Ledger&, Context&, const Subject<T>&, const Selection&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill::apps::verify
