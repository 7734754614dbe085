// Formats: from CSR and back, new values, transposes, coordinates, dense matrices.
#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/verify/trial.hpp"
#include "sparse/convert/base.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/convert/dense.hpp"
#include "sparse/convert/pattern.hpp"
#include "sparse/convert/prune.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

template <class T>
Comparison compare_entries(const std::vector<Entry<T>>& got, const std::vector<Entry<T>>& expected) {
  return compare_bits<Entry<T>>(got, expected);
}

/// values[permutation[k]] for every k; nothing where an index is none of theirs.
template <class U>
std::vector<U> permuted(const std::vector<U>& values, const Array<std::int32_t>& permutation) {
  std::vector<U> moved;
  for (const std::int32_t from : permutation.host()) {
    if (from < 0 || as_size(from) >= values.size()) return {};
    moved.push_back(values[as_size(from)]);
  }
  return moved;
}

template <class T>
void check_format(Ledger& ledger, Context& ctx, const Subject<T>& s, const NamedFormat& named) {
  const bool zeros = facts(named.format).fills_up;
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
      const Rows<T> wanted = transposed(s.rows, op);
      Comparison both = compare_entries(entries_of(got, false), entries_of(wanted, false));
      both.merge(compare_bits<T>(permuted(s.rows.value, permutation), transposed(s.rows, Op::transpose).value),
                 "the permutation");
      return both;
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

/// Each index one more.
Array<std::int32_t> one_more(const Array<std::int32_t>& indices) {
  std::vector<std::int32_t> more(indices.host().begin(), indices.host().end());
  for (std::int32_t& index : more) ++index;
  return array(more, "indices from one");
}

template <class T>
void check_arrays(Ledger& ledger, Context& ctx, const Subject<T>& s) {
  ledger.check("from_base_one", exact_bound, [&] {
    const Csr<T> got = from_base_one(ctx, s.A.cols(), one_more(s.A.row_offsets()), one_more(s.A.col_indices()),
                                     array(s.rows.value, "values"));
    return compare_entries(entries_of(AnyMatrix<T>(got.clone()), false), entries_of(s.rows, false));
  });
  ledger.check("to_base_one", exact_bound, [&] {
    const Array<std::int32_t> wanted = one_more(s.A.col_indices());
    return compare_bits<std::int32_t>(to_base_one(ctx, s.A.col_indices()).host(),
                                      std::vector<std::int32_t>(wanted.host().begin(), wanted.host().end()));
  });
  ledger.check("transpose_as_bits", exact_bound, [&] {
    return compare_entries(entries_of(AnyMatrix<T>(transpose_as_bits(ctx, s.A)), false),
                           entries_of(transposed(s.rows, Op::transpose), false));
  });
  ledger.check("bsr 2 x 3 to bsr 3 x 2", exact_bound, [&] {
    const GrowthLimit none{1e6};
    const Bsr<T> from = to_bsr(ctx, s.A, Blocking{2, 3, BlockOrder::column_major}, none);
    return compare_entries(entries_of(AnyMatrix<T>(to_bsr(ctx, from, Blocking{3, 2}, none)), true),
                           entries_of(s.rows, true));
  });
}

template <class T>
void check_dense(Ledger& ledger, Context& ctx, const Subject<T>& s) {
  constexpr std::int64_t max_places = 1 << 20;
  if (std::int64_t{s.A.rows()} * s.A.cols() > max_places) return;
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
    Comparison both = compare_bits<std::int32_t>(counts.host(), wanted);
    both.merge(
        compare_bits<std::int64_t>(total.host(), std::vector<std::int64_t>{std::ssize(entries_of(s.rows, true))}),
        "their sum");
    return both;
  });
  ledger.check("dense to csr", exact_bound, [&] {
    return compare_entries(entries_of(AnyMatrix<T>(to_csr(ctx, to_dense(ctx, s.A))), true), entries_of(s.rows, true));
  });
}

/// Without the entries that are smaller than nine tenths of the mean: near no entry, so that rounding decides nothing.
template <class T>
void check_pruning(Ledger& ledger, Context& ctx, const Subject<T>& s) {
  std::vector<Entry<T>> kept = entries_of(s.rows, false);
  double sum = 0;
  for (const Entry<T>& e : kept) sum += static_cast<double>(std::abs(e.value));
  const double threshold = kept.empty() ? 0 : 0.9 * (sum / static_cast<double>(kept.size()));
  std::erase_if(kept, [&](const Entry<T>& e) { return static_cast<double>(std::abs(e.value)) <= threshold; });
  if (!(threshold < std::numeric_limits<double>::infinity())) return;
  ledger.check("prune", exact_bound,
               [&] { return compare_entries(entries_of(AnyMatrix<T>(prune(ctx, s.A, threshold)), false), kept); });
  const double percentage = 100 * (1 - static_cast<double>(kept.size()) / static_cast<double>(s.rows.value.size()));
  if (percentage > 0 && percentage < 100)
    ledger.check("prune by percentage", exact_bound, [&] {
      const double below = percentage - 50. / static_cast<double>(s.rows.value.size());  // half an entry less
      return compare_entries(entries_of(AnyMatrix<T>(prune_percentage(ctx, s.A, below)), false), kept);
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
    std::vector<std::int32_t> row_indices, col_indices, sorted_rows, sorted_cols;
    for (const Entry<T>& e : entries_of(s.rows, false)) row_indices.push_back(e.row), col_indices.push_back(e.col);
    for (const Entry<T>& e : entries_of(turned, false)) sorted_rows.push_back(e.col), sorted_cols.push_back(e.row);
    Array<std::int32_t> row = array(row_indices, "rows"), col = array(col_indices, "columns");
    Array<std::int32_t> permutation = identity_permutation<std::int32_t>(ctx, row.size());
    sort_by_column(ctx, row, col, permutation);
    Comparison all = compare_bits<std::int32_t>(row.host(), sorted_rows);
    all.merge(compare_bits<std::int32_t>(col.host(), sorted_cols), "columns");
    all.merge(compare_bits<T>(permuted(s.rows.value, permutation), turned.value), "the permutation");
    return all;
  });
  ledger.check("sort_within_rows", exact_bound, [&] {
    std::vector<std::int32_t> backward;
    std::vector<T> values;
    for (std::int32_t i = 0; i < s.A.rows(); ++i)
      for (std::size_t k = s.rows.end(i); k-- > s.rows.begin(i);)
        backward.push_back(s.rows.col[k]), values.push_back(s.rows.value[k]);
    Array<std::int32_t> col = array(backward, "columns");
    Array<std::int32_t> permutation = identity_permutation<std::int32_t>(ctx, col.size());
    sort_within_rows(ctx, s.A.row_offsets(), col, permutation);
    Comparison both = compare_bits<std::int32_t>(col.host(), s.rows.col);
    both.merge(compare_bits<T>(permuted(values, permutation), s.rows.value), "the permutation");
    return both;
  });
}

}  // namespace

template <class T>
void check_conversions(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  for (const NamedFormat& named : selection.formats)
    if (named.format != Format::csr && named.format != Format::automatic) check_format(ledger, ctx, s, named);
  if (!selection.whole_library) return;
  check_transposes(ledger, ctx, s);
  check_arrays(ledger, ctx, s);
  check_dense(ledger, ctx, s);
  check_pruning(ledger, ctx, s);
  check_sorts(ledger, ctx, s);
}

template <class T>
struct ConversionSuiteInstances {
  static constexpr auto list =
      instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_conversions);
};
KRILL_INSTANTIATE(ConversionSuiteInstances);

}  // namespace krill::apps::verify
