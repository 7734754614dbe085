#include "sparse/order/coloring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/order/coloring_passes.hpp"
#include "sparse/triangular/levels_passes.hpp"

namespace krill {

using namespace detail;
namespace {

/// Reasoned for a device that colors 500 blocks of 512 rows at a time, each of which may be one chain. Not varied.
struct Tuning {
  static constexpr std::int64_t max_chunks = 1024;  ///< of a large matrix
  static constexpr std::int64_t min_chunk = 4096;   ///< rows
};

template <class T, class Offset>
bool is_symmetric(Context& ctx, const Csr<T, Offset>& A) {
  Array<std::int32_t> rows(A.nnz(), "row_indices");
  Array<std::uint64_t> difference(1, "asymmetry");
  ctx.dispatch([&](const auto& where) {
    expand_offsets(where, A.rows(), A.nnz(), A.row_offsets().read(where), rows.write(where));
    run_pass(where, A.nnz(), Asymmetry{rows.read(where), A.col_indices().read(where), difference.write(where)});
  });
  return difference.host()[0] == 0;
}

/// Chunks of whole lines or planes of an even number, so that the colors of a grid's chunks fit where they meet.
ColorSequence sequence_of(std::int32_t rows, std::int64_t farthest, std::int64_t spread) {
  const std::int64_t aligned = 2 * std::max<std::int64_t>(1, farthest - spread / 2);
  const std::int64_t least = std::max(Tuning::min_chunk, (rows + Tuning::max_chunks - 1) / Tuning::max_chunks);
  const std::int64_t chunk = (least + aligned - 1) / aligned * aligned;
  if (2 * chunk > rows) return {rows, rows, 1};
  return {rows, static_cast<std::int32_t>(chunk), static_cast<std::int32_t>((rows + chunk - 1) / chunk)};
}

/// The colors of a graph, counted from 1.
class Greedy {
 public:
  template <class T, class Offset>
  Greedy(Context& ctx, const Csr<T, Offset>& A) : colors(A.rows(), "colors") {
    const bool symmetric = is_symmetric(ctx, A);
    Array<Offset> offsets(symmetric ? 0 : A.rows() + std::int64_t{1}, "transposed row_offsets");
    Array<std::int32_t> cols(symmetric ? 0 : A.nnz(), "transposed col_indices");
    if (!symmetric)
      ctx.dispatch([&](const auto& where) {
        const CsrView<const kernel_t<T>, Offset> pattern{A.rows(), A.cols(), A.nnz(), A.row_offsets().read(where),
                                                         A.col_indices().read(where)};
        csr_transpose<kernel_t<T>, Offset>(
            where, pattern, false, {A.cols(), A.rows(), A.nnz(), offsets.write(where), cols.write(where)}, nullptr);
      });
    const auto neighbors = [&](const auto& where) {
      Neighbors<Offset> both{{A.row_offsets().read(where), nullptr}, {A.col_indices().read(where), nullptr}};
      if (!symmetric) both.row_offsets[1] = offsets.read(where), both.col_indices[1] = cols.read(where);
      return both;
    };
    const std::int32_t rows = A.rows();
    const RowSample sample{rows};
    Array<Greatest> farthest(1, "farthest neighbor"), spread(1, "spread of neighbors");
    Array<std::int64_t> long_rows(1, "long rows");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, sample.size(), FarthestBefore<Offset>{neighbors(where), sample, farthest.write(where)});
      run_pass(where, sample.size(),
               SpreadOfFar<Offset>{neighbors(where), sample, farthest.read(where), spread.write(where)});
      run_pass(where, rows, MarkLong<Offset>{neighbors(where), colors.write(where), long_rows.write(where)});
    });
    const ColorSequence sequence = sequence_of(rows, farthest.host()[0].value, spread.host()[0].value);
    const Array<std::int32_t> list = long_list(ctx, sequence, static_cast<std::int32_t>(long_rows.host()[0]));
    ctx.dispatch([&](const auto& where) {
      greedy_colors(where, neighbors(where), sequence, static_cast<std::int32_t>(list.size()), list.read(where),
                    colors.update(where));
    });
  }

  Array<std::int32_t> colors;

 private:
  Array<std::int32_t> long_list(Context& ctx, const ColorSequence& sequence, std::int32_t count) {
    Array<std::int32_t> list(count, "long rows");
    if (count == 0) return list;
    const auto offsets = scanned<std::int32_t>(
        ctx, sequence.steps(), "places of long rows", [&](const auto& where, std::int32_t* flags) {
          run_pass(where, sequence.steps(), FlagLong{sequence, colors.read(where), flags});
        });
    ctx.dispatch([&](const auto& where) {
      run_pass(where, sequence.steps(), ListLong{sequence, offsets.read(where), list.write(where)});
    });
    return list;
  }
};

/// Places that are kept: those of the first classes that hold the fraction of all rows. `classes`: how many these are.
std::int32_t kept_places(std::span<const std::int32_t> offsets, double fraction, std::int32_t& classes) {
  const double wanted = std::ceil(fraction * static_cast<double>(offsets.back()));
  classes = 0;
  while (offsets[static_cast<std::size_t>(classes)] < wanted) ++classes;
  return offsets[static_cast<std::size_t>(classes)];
}

}  // namespace

template <class T, class Offset>
Coloring color(Context& ctx, const Csr<T, Offset>& A, double fraction_to_color) {
  require_size("color: columns of the matrix", A.cols(), A.rows());
  if (!(fraction_to_color >= 0 && fraction_to_color <= 1))
    throw InvalidArgument(fmt::format("color: fraction_to_color = {} lies outside 0 to 1", fraction_to_color));
  const std::int32_t rows = A.rows();
  Array<std::int32_t> order(rows, "ordering"), inverse(rows, "inverse ordering");
  if (rows == 0) return {0, Array<std::int32_t>(0, "colors"), {0}, {std::move(order), std::move(inverse)}};

  Greedy greedy(ctx, A);
  const Steps steps{rows, Fill::lower};
  Array<Greatest> most(1, "colors");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows, Deepest{greedy.colors.read(where), most.write(where)});
  });
  const auto count = static_cast<std::int32_t>(most.host()[0].value);
  Array<std::int32_t> sorted(rows, "sorted colors"), offsets(count + std::int64_t{1}, "color offsets");
  ctx.dispatch([&](const auto& where) {
    sort_by_depth(where, steps, count, greedy.colors.read(where), sorted.write(where), order.write(where));
    run_pass(
        where, rows,
        LevelBounds{rows, count, sorted.read(where), order.read(where), inverse.write(where), offsets.write(where)});
  });
  std::int32_t classes = count;
  const std::int32_t kept = fraction_to_color < 1 ? kept_places(offsets.host(), fraction_to_color, classes) : rows;
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows,
             NumberColors{kept, classes, sorted.read(where), order.read(where), greedy.colors.write(where)});
  });
  if (kept < rows) {
    std::vector<std::int32_t> longer(offsets.host().begin(), offsets.host().begin() + classes);
    const auto alone = longer.size();
    longer.resize(alone + static_cast<std::size_t>(rows - kept) + 1);
    std::iota(longer.begin() + static_cast<std::ptrdiff_t>(alone), longer.end(), kept);
    offsets = Array<std::int32_t>(std::move(longer), "color offsets");
  }
  return {classes + rows - kept, std::move(greedy.colors), std::move(offsets), {std::move(order), std::move(inverse)}};
}

HeldMemory color_memory(MemoryLedger& ledger, const CsrSizes& A, bool has_symmetric_pattern) {
  constexpr std::int32_t few_colors = 16;  // their number is not known yet; the scratch of the sort hardly hangs on it
  HeldMemory kept = Ordering::memory(ledger, A.rows);
  const HeldMemory colors = ledger.hold<std::int32_t>(A.rows);
  { const HeldMemory row_indices = ledger.hold<std::int32_t>(A.nnz); }  // while symmetry is looked at
  if (!has_symmetric_pattern) {
    CsrSizes pattern = A;
    pattern.scalar = 0;
    const HeldMemory transposed = transpose_memory(ledger, pattern);
  }
  const HeldMemory sorted = ledger.hold<std::int32_t>(A.rows);
  sort_by_depth_scratch(ledger, A.rows, few_colors);
  return kept;
}

template <class T, class Offset>
struct ColoringInstances {
  static constexpr auto list = instance<Coloring(Context&, const Csr<T, Offset>&, double)>(color);
};
KRILL_INSTANTIATE_WITH_OFFSETS(ColoringInstances);

}  // namespace krill
