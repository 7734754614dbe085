#include "sparse/convert/prune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sparse/convert/prune_passes.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;

static void require_threshold(std::string_view what, double threshold) {
  require(threshold >= 0, fmt::format("{}: a threshold of {}, 0 or more is needed", what, threshold));
}

/// The entries of A for which what sizes_on(where) has in their place, a number of type S, is above the threshold.
template <class S, class T, class Offset, class SizesOn>
static Csr<T, Offset> kept_above(Context& ctx, const Csr<T, Offset>& A, double threshold, SizesOn&& sizes_on) {
  require_threshold("prune", threshold);
  const std::int64_t rows = A.rows(), tiles = Kept::tiles(A.nnz());
  Array<KeptWord> words(tiles * Kept::words, "entries that are kept");
  const auto starts = scanned<std::int64_t>(ctx, tiles, "starts of tiles", [&](const auto& where, auto* counts) {
    mark_above<S>(where, A.nnz(), sizes_on(where), threshold, words.write(where), counts);
  });
  Array<Offset> row_offsets(rows + 1, "csr row_offsets");
  const std::int64_t nnz = last_offset(ctx, starts);
  ctx.dispatch([&](const auto& where) {  // needs no memory of that size, so it runs while the host sees to it
    const Kept kept{words.read(where), starts.read(where)};
    run_pass(where, rows + 1, KeptOffsets<Offset>{kept, A.row_offsets().read(where), row_offsets.write(where)});
  });
  Array<std::int32_t> col_indices(nnz, "csr col_indices");
  Array<T> values(nnz, "csr values");
  ctx.dispatch([&](const auto& where) {
    const auto a = A.view(where);
    const Kept kept{words.read(where), starts.read(where)};
    copy_kept<kernel_t<T>>(where, a.nnz, kept, {a.col_indices, a.values},
                           {col_indices.write(where), values.write(where)});
  });
  return {A.cols(), std::move(row_offsets), std::move(col_indices), std::move(values)};
}

template <class T, class Offset>
Csr<T, Offset> prune(Context& ctx, const Csr<T, Offset>& A, double threshold) {
  return kept_above<kernel_t<T>>(ctx, A, threshold, [&](const auto& where) { return A.values().read(where); });
}

template <class T, class Offset>
Csr<T, Offset> prune(Context& ctx, const Csr<T, Offset>& A, const Array<double>& sizes, double threshold) {
  require_size("prune: sizes of the entries", sizes.size(), A.nnz());
  return kept_above<double>(ctx, A, threshold, [&](const auto& where) { return sizes.read(where); });
}

template <class T, class Offset>
Csr<T, Offset> prune_to(Context& ctx, const Csr<T, Offset>& A, Array<double> sizes, std::int64_t count) {
  require_size("prune: sizes of the entries", sizes.size(), A.nnz());
  require(count >= 0, fmt::format("prune: {} entries are to stay, 0 or more are needed", count));
  const std::int64_t all = A.nnz();
  if (count >= all) return prune(ctx, A, sizes, 0);
  Array<double> threshold(1, "threshold");
  ctx.dispatch([&](const auto& where) {
    const auto select = [&] {
      threshold_of_rank<double>(where, {all, 1, all, sizes.read(where)}, all - count - 1, threshold.write(where));
    };
    select();
    run_pass(where, all, BreakTies{all, threshold.read(where), sizes.update(where)});
    select();
  });
  return prune(ctx, A, sizes, threshold.host()[0]);
}

template <class T, class Offset>
Csr<T, Offset> prune(Context& ctx, const Dense<T>& D, double threshold) {
  require_threshold("prune", threshold);
  const std::int64_t rows = D.rows();
  Array<Offset> counts(rows, "row counts"), row_offsets(rows + 1, "csr row_offsets");
  Array<std::int64_t> total(1, "total count");
  ctx.dispatch([&](const auto& where) {
    count_nonzeros<kernel_t<T>>(where, D.view(where), counts.write(where), total.write(where), threshold);
  });
  const std::int64_t nnz = total.host()[0];
  require_offsets_fit<Offset>(nnz);
  Array<std::int32_t> col_indices(nnz, "csr col_indices");
  Array<T> values(nnz, "csr values");
  ctx.dispatch([&](const auto& where) {
    scan_counts(where, rows, counts.read(where), row_offsets.write(where));
    dense_to_csr<kernel_t<T>, Offset>(
        where, D.view(where),
        {D.rows(), D.cols(), nnz, row_offsets.update(where), col_indices.write(where), values.write(where)}, threshold);
  });
  return {D.cols(), std::move(row_offsets), std::move(col_indices), std::move(values)};
}

/// The threshold that leaves the smallest `percentage` of values_on(where), `size` of them, out.
template <class T, class ValuesOn>
static double threshold_for(Context& ctx, double percentage, std::int64_t size, ValuesOn&& values_on) {
  require(percentage >= 0 && percentage <= 100, fmt::format("prune: {} %, 0 to 100 are needed", percentage));
  if (size == 0) return 0;
  const auto rank = static_cast<std::int64_t>(std::ceil(static_cast<double>(size) * (percentage / 100))) - 1;
  Array<double> threshold(1, "threshold");
  ctx.dispatch([&](const auto& where) {
    threshold_of_rank<kernel_t<T>>(where, values_on(where), std::clamp<std::int64_t>(rank, 0, size - 1),
                                   threshold.write(where));
  });
  return threshold.host()[0];
}

template <class T, class Offset>
Csr<T, Offset> prune_percentage(Context& ctx, const Csr<T, Offset>& A, double percentage) {
  return prune(ctx, A, threshold_for<T>(ctx, percentage, A.nnz(), [&](const auto& where) {
                 return ValueLines<kernel_t<T>>{A.nnz(), 1, A.nnz(), A.values().read(where)};
               }));
}

template <class T, class Offset>
Csr<T, Offset> prune_percentage(Context& ctx, const Dense<T>& D, double percentage) {
  const std::int64_t size = std::int64_t{D.rows()} * D.cols();
  return prune<T, Offset>(
      ctx, D, threshold_for<T>(ctx, percentage, size, [&](const auto& where) {
        const auto d = D.view(where);
        return ValueLines<kernel_t<T>>{d.line_length(), size / d.line_length(), d.leading_dimension, d.values};
      }));
}

template <class T, class Offset>
void count_above(Context& ctx, const Csr<T, Offset>& A, double threshold, Array<std::int32_t>& counts,
                 Array<std::int64_t>& total) {
  require_threshold("count_above", threshold);
  require_size("count_above: counts", counts.size(), A.rows());
  require_size("count_above: total", total.size(), 1);
  ctx.dispatch([&](const auto& where) {
    count_above<kernel_t<T>, Offset>(where, A.view(where), threshold, counts.write(where), total.write(where));
  });
}

template <class T, class Offset>
struct PruneInstances {
  static constexpr std::tuple list{
      instance<Csr<T, Offset>(Context&, const Csr<T, Offset>&, double)>(prune),
      instance<Csr<T, Offset>(Context&, const Csr<T, Offset>&, const Array<double>&, double)>(prune),
      instance<Csr<T, Offset>(Context&, const Csr<T, Offset>&, Array<double>, std::int64_t)>(prune_to),
      instance<Csr<T, Offset>(Context&, const Dense<T>&, double)>(prune),
      instance<Csr<T, Offset>(Context&, const Csr<T, Offset>&, double)>(prune_percentage),
      instance<Csr<T, Offset>(Context&, const Dense<T>&, double)>(prune_percentage),
      instance<void(Context&, const Csr<T, Offset>&, double, Array<std::int32_t>&, Array<std::int64_t>&)>(count_above)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(PruneInstances);
template class PruneInstances<Half, std::int32_t>;
template class PruneInstances<Half, std::int64_t>;

}  // namespace krill
