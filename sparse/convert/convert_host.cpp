#include <algorithm>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/convert_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill {

using namespace detail;

// A counting sort by column. The rows are cut into one part a thread, of about equal nnz; each part counts its entries
// of every column, then knows where to put them. The order of the parts keeps the sort stable, so the result does not
// depend on the number of threads.
template <class T, class Offset>
void csr_transpose(const Host& host, const CsrView<const T, Offset>& a, bool conjugate, const CsrView<T, Offset>& out,
                   Offset* permutation, bool) {
  const auto base = static_cast<Offset>(a.base);
  const int parts = host.threads_for(a.nnz);
  Frame frame(host);
  const auto cols = static_cast<std::size_t>(a.cols);
  auto* cursors = frame.take<Offset>(cols * static_cast<std::size_t>(parts));
  const auto first_row = [&](int part) {
    const Offset target = base + static_cast<Offset>(a.nnz * part / parts);
    return part == parts ? a.rows : std::lower_bound(a.row_offsets, a.row_offsets + a.rows, target) - a.row_offsets;
  };
  const auto for_entries = [&](int part, auto&& use) {
    for (std::int64_t i = first_row(part), end = first_row(part + 1); i < end; ++i)
      for (Offset k = a.row_offsets[i] - base; k < a.row_offsets[i + 1] - base; ++k)
        use(i, k, static_cast<std::size_t>(a.col_indices[k] - base));
  };
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
  for (int part = 0; part < parts; ++part) {
    Offset* mine = cursors + cols * static_cast<std::size_t>(part);
    std::fill_n(mine, cols, Offset(0));
    for_entries(part, [&](std::int64_t, Offset, std::size_t col) { ++mine[col]; });
  }
  Offset next = 0;
  for (std::size_t col = 0; col < cols; ++col) {
    out.row_offsets[col] = next;
    for (int part = 0; part < parts; ++part)
      next += std::exchange(cursors[cols * static_cast<std::size_t>(part) + col], next);
  }
  out.row_offsets[cols] = next;
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
  for (int part = 0; part < parts; ++part) {
    Offset* mine = cursors + cols * static_cast<std::size_t>(part);
    for_entries(part, [&](std::int64_t i, Offset k, std::size_t col) {
      const Offset to = mine[col]++;
      out.col_indices[to] = static_cast<std::int32_t>(i);
      if (a.values) out.values[to] = conj_if(conjugate, a.values[k]);
      if (permutation) permutation[to] = k;
    });
  }
}

template <class Offset>
void expand_offsets(const Host& host, std::int32_t rows, std::int64_t nnz, const Offset* row_offsets,
                    std::int32_t* row_indices, IndexBase base) {
  if (host.skip.now()) return;
  const auto first = static_cast<int>(base);
  for_blocks(host, rows, detail::sum_block, nnz + rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      std::fill(row_indices + (row_offsets[i] - first), row_indices + (row_offsets[i + 1] - first),
                static_cast<std::int32_t>(i + first));
  });
}

template <class Offset>
void compress_rows(const Host& host, std::int32_t rows, std::int64_t nnz, const std::int32_t* row_indices,
                   Offset* row_offsets, IndexBase base) {
  std::int32_t left = 0;
  run_pass(host, nnz + 1, CompressRows<Offset>{row_indices, nnz, rows, static_cast<int>(base), row_offsets, &left});
  run_pass(host, (rows + std::int64_t{1}) / empty_rows_a_block,
           FillEmptyRows<Offset>{row_indices, nnz, static_cast<int>(base), row_offsets, &left});
}

template <class Offset>
void scan_counts(const Host&, std::int64_t n, const Offset* counts, Offset* offsets) {
  offsets[0] = 0;
  for (std::int64_t i = 0; i < n; ++i) offsets[i + 1] = offsets[i] + counts[i];
}

}  // namespace krill

namespace krill::detail {

KRILL_INSTANTIATE_WITH_OFFSETS(ConvertPasses, Host);
template class OffsetKernels<std::int32_t, Host>;
template class OffsetKernels<std::int64_t, Host>;

}  // namespace krill::detail
