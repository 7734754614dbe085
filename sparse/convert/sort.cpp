#include "sparse/convert/sort.hpp"

#include "sparse/core/instantiate.hpp"
#include "sparse/formats/shape.hpp"

namespace krill {

template <class Index>
Array<Index> identity_permutation(Context& ctx, std::int64_t n) {
  require_range("identity_permutation: n", n, 0, std::numeric_limits<Index>::max());
  Array<Index> permutation(n, "permutation");
  ctx.dispatch([&](const auto& where) { identity_permutation(where, n, permutation.write(where)); });
  return permutation;
}

template <class Index>
static void require_pairs(const Array<std::int32_t>& row_indices, const Array<std::int32_t>& col_indices,
                          const Array<Index>& permutation) {
  require_size("coosort: col_indices", col_indices.size(), row_indices.size());
  require_size("coosort: permutation", permutation.size(), row_indices.size());
  require_disjoint("coosort: row_indices and col_indices", row_indices, col_indices);
  require_disjoint("coosort: row_indices and permutation", row_indices, permutation);
  require_disjoint("coosort: col_indices and permutation", col_indices, permutation);
}

template <class Index>
void sort_by_row(Context& ctx, Array<std::int32_t>& row_indices, Array<std::int32_t>& col_indices,
                 Array<Index>& permutation, IndexRange row_range, IndexRange col_range) {
  require_pairs(row_indices, col_indices, permutation);
  ctx.dispatch([&](const auto& where) {
    sort_pairs(where, permutation.size(), row_indices.update(where), col_indices.update(where),
               permutation.update(where), row_range, col_range);
  });
}

// On CUDA keys and permutation twice, on the host records of both.
void sort_by_row_scratch(MemoryLedger& ledger, std::int64_t n, std::size_t index_bytes) {
  constexpr std::size_t key = sizeof(std::uint64_t), record = 2 * key;
  const auto size = static_cast<std::size_t>(n);
  if (ledger.on_cuda())
    ledger.scratch({size * key, size * index_bytes, size * key, size * index_bytes, radix_sort_counts(n, key)});
  else
    ledger.scratch({size * record, size * record});
}

template <class Index>
void sort_by_column(Context& ctx, Array<std::int32_t>& row_indices, Array<std::int32_t>& col_indices,
                    Array<Index>& permutation, IndexRange row_range, IndexRange col_range) {
  require_pairs(row_indices, col_indices, permutation);
  sort_by_row(ctx, col_indices, row_indices, permutation, col_range, row_range);
}

template <class Offset>
void sort_within_rows(Context& ctx, const Array<Offset>& row_offsets, Array<std::int32_t>& col_indices,
                      Array<Offset>& permutation, IndexRange col_range) {
  const std::int64_t rows = row_offsets.size() - 1, nnz = col_indices.size();
  require_range("sort_within_rows: rows", rows, 0, std::numeric_limits<std::int32_t>::max());
  require_size("sort_within_rows: permutation", permutation.size(), nnz);
  require_disjoint("sort_within_rows: row_offsets and col_indices", row_offsets, col_indices);
  require_disjoint("sort_within_rows: row_offsets and permutation", row_offsets, permutation);
  require_disjoint("sort_within_rows: col_indices and permutation", col_indices, permutation);
  ctx.dispatch([&](const auto& where) {
    sort_within_rows(where, static_cast<std::int32_t>(rows), nnz, row_offsets.read(where), col_indices.update(where),
                     permutation.update(where), col_range);
  });
}

template <class T, class Index>
static void require_permutable(const Array<T>& in, const Array<Index>& permutation, const Array<T>& out) {
  require_size("apply_permutation: permutation", permutation.size(), in.size());
  require_size("apply_permutation: out", out.size(), in.size());
  require_disjoint("apply_permutation: in and out", in, out);
  require_disjoint("apply_permutation: permutation and out", permutation, out);
}

template <class T, class Index>
void apply_permutation(Context& ctx, const Array<T>& in, const Array<Index>& permutation, Array<T>& out) {
  require_permutable(in, permutation, out);
  ctx.dispatch([&](const auto& where) {
    apply_permutation(where, in.size(), in.read(where), permutation.read(where), out.write(where));
  });
}

template <class T, class Index>
void apply_inverse_permutation(Context& ctx, const Array<T>& in, const Array<Index>& permutation, Array<T>& out) {
  require_permutable(in, permutation, out);
  ctx.dispatch([&](const auto& where) {
    apply_inverse_permutation(where, in.size(), in.read(where), permutation.read(where), out.write(where));
  });
}

/// The permutation that sorts every row; col_indices stay.
template <class Offset>
static Array<Offset> sorting_permutation(Context& ctx, const Array<Offset>& row_offsets,
                                         const Array<std::int32_t>& col_indices) {
  const std::int64_t n = col_indices.size();
  Array<Offset> permutation = identity_permutation<Offset>(ctx, n);
  Array<std::int32_t> sorted(n, "sorted col_indices");
  ctx.dispatch([&](const auto& where) {
    copy_bytes(where, sorted.write(where), col_indices.read(where), static_cast<std::size_t>(n) * sizeof(std::int32_t));
  });
  sort_within_rows(ctx, row_offsets, sorted, permutation);
  return permutation;
}

/// permute(where, n, in, permutation, out) for indices and values, in place by way of copies. All memory is there
/// before anything changes, so an error leaves both as they were.
template <class T, class Offset, class Permute>
static void permute_entries(Context& ctx, const Array<Offset>& permutation, Array<std::int32_t>& col_indices,
                            Array<T>& values, Permute&& permute) {
  const std::int64_t n = permutation.size();
  ctx.dispatch([&](const auto& where) {
    Frame frame(where);
    const auto copy_of = [&]<class U>(const U* from) {
      U* copy = frame.take<U>(static_cast<std::size_t>(n));
      copy_bytes(where, copy, from, static_cast<std::size_t>(n) * sizeof(U));
      return copy;
    };
    const Offset* order = permutation.read(where);
    std::int32_t* cols = col_indices.update(where);
    kernel_t<T>* vals = values.update(where);
    const auto* old_cols = copy_of(cols);
    const auto* old_vals = copy_of(vals);
    permute(where, n, old_cols, order, cols);
    permute(where, n, old_vals, order, vals);
  });
}

template <class Offset>
template <class T>
void SortedOrder<Offset>::sort(Context& ctx, const Array<Offset>& row_offsets, Array<std::int32_t>& col_indices,
                               Array<T>& values) {
  const std::int64_t n = known_ ? permutation_.size() : values.size();
  require_size("sorted order: col_indices", col_indices.size(), n);
  require_size("sorted order: values", values.size(), n);
  if (!known_) permutation_ = sorting_permutation(ctx, row_offsets, col_indices), known_ = true;
  permute_entries(ctx, permutation_, col_indices, values, [](auto&&... all) { apply_permutation(all...); });
}

template <class Offset>
template <class T>
void SortedOrder<Offset>::unsort(Context& ctx, Array<std::int32_t>& col_indices, Array<T>& values) const {
  require(known_, "sorted order: unsort() before the first sort(): there is no order to go back to");
  require_size("sorted order: col_indices", col_indices.size(), permutation_.size());
  require_size("sorted order: values", values.size(), permutation_.size());
  permute_entries(ctx, permutation_, col_indices, values, [](auto&&... all) { apply_inverse_permutation(all...); });
}

template <class Offset>
struct SortInstances {
  static constexpr std::tuple list{
      instance<Array<Offset>(Context&, std::int64_t)>(identity_permutation),
      instance<void(Context&, Array<std::int32_t>&, Array<std::int32_t>&, Array<Offset>&, IndexRange, IndexRange)>(
          sort_by_row),
      instance<void(Context&, Array<std::int32_t>&, Array<std::int32_t>&, Array<Offset>&, IndexRange, IndexRange)>(
          sort_by_column),
      instance<void(Context&, const Array<Offset>&, Array<std::int32_t>&, Array<Offset>&, IndexRange)>(
          sort_within_rows)};
};
template class SortInstances<std::int32_t>;
template class SortInstances<std::int64_t>;

template <class T, class Offset>
struct PermutationInstances {
  static constexpr std::tuple list{
      instance<void(Context&, const Array<T>&, const Array<Offset>&, Array<T>&)>(apply_permutation),
      instance<void(Context&, const Array<T>&, const Array<Offset>&, Array<T>&)>(apply_inverse_permutation)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(PermutationInstances);
template class PermutationInstances<std::int32_t, std::int32_t>;
template class PermutationInstances<std::int32_t, std::int64_t>;

template <class T, class Offset>
struct SortedOrderInstances {
  static constexpr std::tuple list{&SortedOrder<Offset>::template sort<T>, &SortedOrder<Offset>::template unsort<T>};
};
KRILL_INSTANTIATE_WITH_OFFSETS(SortedOrderInstances);

}  // namespace krill
