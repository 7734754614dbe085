#include "krill/sparse/convert/formats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/convert/format_passes.hpp"
#include "krill/sparse/convert/sort.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill {
namespace {

/// The pattern of A, as the passes want it that do not look at values.
template <class Where, class T, class Offset>
CsrView<const NoValue, Offset> pattern(const Where& where, const Csr<T, Offset>& A) {
  return {A.rows(), A.cols(), A.nnz(), A.row_offsets().read(where), A.col_indices().read(where), nullptr};
}

/// Raises InvalidArgument where a format would take much more memory than CSR does.
template <class T, class Offset>
void require_growth(std::string_view what, const Csr<T, Offset>& A, double bytes, GrowthLimit limit,
                    const std::string& why, std::string_view instead) {
  if (bytes <= limit.most * static_cast<double>(A.bytes()) + 1024.0 * 1024.0) return;
  throw InvalidArgument(fmt::format("{} would need {}, {:.0f} times the {} of csr ({}): use {}", what,
                                    human_bytes(static_cast<std::size_t>(std::min(bytes, 1e18))),
                                    bytes / static_cast<double>(A.bytes()), human_bytes(A.bytes()), why, instead));
}

template <class T, class Offset>
std::int64_t longest_row(Context& ctx, const Csr<T, Offset>& A) {
  Array<Greatest> greatest(1, "longest row");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(), LongestRow<Offset>{A.row_offsets().read(where), greatest.write(where)});
  });
  return greatest.host()[0].value;
}

/// Offsets of what `count(where, counts)` counts for each of n things.
template <class Offset, class Count>
Array<Offset> scanned(Context& ctx, std::int64_t n, const char* name, Count&& count) {
  Array<Offset> counts(n, "counts"), offsets(n + 1, name);
  ctx.dispatch([&](const auto& where) {
    count(where, counts.write(where));
    scan_counts(where, n, counts.read(where), offsets.write(where));
  });
  return offsets;
}

template <class T>
double place_bytes(double places) {
  return places * static_cast<double>(sizeof(T) + sizeof(std::int32_t));
}

template <class T, class Offset>
std::string row_profile(const Csr<T, Offset>& A, std::int64_t longest) {
  return fmt::format("the longest row has {} entries, the mean is {:.3g}", longest,
                     static_cast<double>(A.nnz()) / std::max(A.rows(), 1));
}

/// Columns and values of SELL or ELL, whose other arrays stand in `shape`.
template <class Where, class T, class Offset>
void fill(const Where& where, const Csr<T, Offset>& from, const SellView<const kernel_t<T>>& shape,
          Array<std::int32_t>& columns, Array<T>& values) {
  run_pass(where, shape.slices() * shape.slice_rows,
           FillSell<kernel_t<T>, Offset>{from.view(where), shape, columns.write(where), values.write(where)});
}

template <class T, class Offset>
Ell<T> make_ell(Context& ctx, const Csr<T, Offset>& A, std::int64_t width, std::int64_t nnz) {
  Array<std::int32_t> columns(A.rows() * width, "ell col_indices");
  Array<T> values(A.rows() * width, "ell values");
  ctx.dispatch([&](const auto& where) {
    fill(where, A, {A.rows(), A.cols(), std::max(A.rows(), 1), width}, columns, values);
  });
  return {A.rows(), A.cols(), width, nnz, std::move(columns), std::move(values)};
}

/// The rows in their order for SELL; empty where they keep it.
template <class T, class Offset>
Array<std::int32_t> row_order(Context& ctx, const Csr<T, Offset>& A, const SellLayout& layout) {
  if (layout.window == 0) return Array<std::int32_t>(0, "sell row_permutation");
  Array<std::int32_t> windows(A.rows(), "windows"), keys(A.rows(), "row lengths");
  auto order = identity_permutation<std::int32_t>(ctx, A.rows());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(),
             RowSortKeys<Offset>{A.row_offsets().read(where), layout.window, layout.ascending, windows.write(where),
                                 keys.write(where)});
  });
  sort_by_row(ctx, windows, keys, order, {0, A.rows() / layout.window});
  return order;
}

}  // namespace

template <class T>
CooAos<T> to_coo_aos(Context& ctx, const Coo<T>& A) {
  Array<std::int32_t> indices(2 * A.nnz(), "coo_aos indices");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.nnz(), JoinPairs{A.row_indices().read(where), A.col_indices().read(where), indices.write(where)});
  });
  return {A.rows(), A.cols(), std::move(indices), copy_of(ctx, A.values())};
}

template <class T>
Coo<T> to_coo(Context& ctx, const CooAos<T>& A) {
  Array<std::int32_t> row_indices(A.nnz(), "coo row_indices"), col_indices(A.nnz(), "coo col_indices");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.nnz(), SplitPairs{A.indices().read(where), row_indices.write(where), col_indices.write(where)});
  });
  return {A.rows(), A.cols(), std::move(row_indices), std::move(col_indices), copy_of(ctx, A.values())};
}

template <class T, class Offset>
Csc<T> to_csc(Context& ctx, const Csr<T, Offset>& A) {
  return Csc<T>(with_offsets<std::int32_t>(ctx, transpose(ctx, A)));
}

template <class T, class Offset>
Ell<T> to_ell(Context& ctx, const Csr<T, Offset>& A, GrowthLimit limit) {
  const std::int64_t width = longest_row(ctx, A);
  require_growth("ell", A, place_bytes<T>(static_cast<double>(A.rows()) * static_cast<double>(width)), limit,
                 row_profile(A, width), "hyb or sell");
  return make_ell(ctx, A, width, A.nnz());
}

template <class T, class Offset>
Sell<T> to_sell(Context& ctx, const Csr<T, Offset>& A, SellLayout layout, GrowthLimit limit) {
  require_range("sell: slice_rows", layout.slice_rows, 1, 1 << 20);
  require_range("sell: window", layout.window, 0, std::numeric_limits<std::int32_t>::max());
  Array<std::int32_t> order = row_order(ctx, A, layout);
  const std::int64_t slices = detail::ceil_div(A.rows(), layout.slice_rows);
  const auto count = [&](const auto& where, std::int64_t* places) {
    const std::int32_t* permutation = order.size() ? order.read(where) : nullptr;
    run_pass(where, slices,
             SlicePlaces<Offset>{A.row_offsets().read(where), A.rows(), layout.slice_rows, permutation, places});
  };
  Array<std::int64_t> slice_offsets = scanned<std::int64_t>(ctx, slices, "sell slice_offsets", count);
  const std::int64_t places = last_offset(ctx, slice_offsets);
  if (place_bytes<T>(static_cast<double>(places)) > limit.most * static_cast<double>(A.bytes()))
    require_growth("sell", A, place_bytes<T>(static_cast<double>(places)), limit, row_profile(A, longest_row(ctx, A)),
                   "sell with a window, or hyb");
  Array<std::int32_t> columns(places, "sell col_indices");
  Array<T> values(places, "sell values");
  ctx.dispatch([&](const auto& where) {
    const std::int32_t* permutation = order.size() ? order.read(where) : nullptr;
    fill(where, A, {A.rows(), A.cols(), layout.slice_rows, 0, slice_offsets.read(where), nullptr, nullptr, permutation},
         columns, values);
  });
  return {A.rows(),           A.cols(),          layout.slice_rows, A.nnz(), std::move(slice_offsets),
          std::move(columns), std::move(values), std::move(order)};
}

template <class T, class Offset>
Hyb<T> to_hyb(Context& ctx, const Csr<T, Offset>& A, HybPartition partition, std::int64_t user_width,
              GrowthLimit limit) {
  const std::int64_t longest = longest_row(ctx, A);
  if (partition == HybPartition::user) require_range("hyb: width", user_width, 0, longest);
  const std::int64_t width = partition == HybPartition::user ? user_width
                             : partition == HybPartition::maximum
                                 ? longest
                                 : std::min(longest, detail::ceil_div(A.nnz(), std::max(A.rows(), 1)));
  require_growth("hyb", A, place_bytes<T>(static_cast<double>(A.rows()) * static_cast<double>(width)), limit,
                 row_profile(A, longest), "hyb with a smaller width");
  const Array<std::int64_t> starts =
      scanned<std::int64_t>(ctx, A.rows(), "starts of the coo part", [&](const auto& where, std::int64_t* counts) {
        run_pass(where, A.rows(), CountBeyond<Offset>{A.row_offsets().read(where), width, counts});
      });
  const std::int64_t beyond = last_offset(ctx, starts);
  Array<std::int32_t> row_indices(beyond, "hyb row_indices"), col_indices(beyond, "hyb col_indices");
  Array<T> values(beyond, "hyb values");
  ctx.dispatch([&](const auto& where) {
    const CooView<kernel_t<T>> to{
        A.rows(), A.cols(), beyond, row_indices.write(where), col_indices.write(where), values.write(where)};
    run_pass(where, A.rows(), FillBeyond<kernel_t<T>, Offset>{A.view(where), width, starts.read(where), to});
  });
  Coo<T> coo(A.rows(), A.cols(), std::move(row_indices), std::move(col_indices), std::move(values));
  return {make_ell(ctx, A, width, A.nnz() - beyond), std::move(coo)};
}

namespace {

/// Which diagonals have entries, and how many have before each: flags[rows + cols - 1] and positions, one longer.
struct Diagonals {
  Array<std::int32_t> flags, positions;
};

template <class T, class Offset>
Diagonals find_diagonals(Context& ctx, const Csr<T, Offset>& A) {
  const std::int64_t most = std::max<std::int64_t>(std::int64_t{A.rows()} + A.cols() - 1, 0);
  Diagonals found{Array<std::int32_t>(most, "diagonal flags"), Array<std::int32_t>(most + 1, "diagonal positions")};
  ctx.dispatch([&](const auto& where) {
    run_pass(where, most, FillZero<std::int32_t>{found.flags.write(where)});
    run_pass(where, A.rows(), FlagDiagonals<NoValue, Offset>{pattern(where, A), found.flags.update(where)});
    scan_counts(where, most, found.flags.read(where), found.positions.write(where));
  });
  return found;
}

template <class T, class Offset>
Dia<T> to_plain_dia(Context& ctx, const Csr<T, Offset>& A, GrowthLimit limit) {
  const auto [flags, positions] = find_diagonals(ctx, A);
  const std::int64_t most = flags.size(), diagonals = last_offset(ctx, positions);
  require_growth("dia", A, static_cast<double>(diagonals) * A.rows() * static_cast<double>(sizeof(T)), limit,
                 fmt::format("entries lie on {} diagonals", diagonals), "hdia or sell");
  Array<std::int32_t> offsets(diagonals, "dia offsets");
  Array<T> values(diagonals * std::max(A.rows(), 1), "dia values");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, most, ListDiagonals{flags.read(where), positions.read(where), A.rows(), offsets.write(where)});
    const DiaView<const kernel_t<T>> shape{A.rows(),  A.cols(), std::max(A.rows(), 1),
                                           diagonals, nullptr,  offsets.read(where)};
    run_pass(where, A.rows(), FillDia<kernel_t<T>, Offset>{A.view(where), shape, values.write(where)});
  });
  return {A.rows(), A.cols(), A.nnz(), std::move(offsets), std::move(values)};
}

}  // namespace

template <class T, class Offset>
std::int64_t stored_diagonals(Context& ctx, const Csr<T, Offset>& A) {
  return last_offset(ctx, find_diagonals(ctx, A).positions);
}

template <class T, class Offset>
Dia<T> to_dia(Context& ctx, const Csr<T, Offset>& A, std::int32_t hack_rows, GrowthLimit limit) {
  require_range("hdia: hack_rows", hack_rows, 0, 1 << 20);
  if (hack_rows == 0) return to_plain_dia(ctx, A, limit);
  const std::int64_t hacks = detail::ceil_div(A.rows(), hack_rows);
  const auto count = [&](const auto& where, std::int64_t* counts) {
    run_pass(where, hacks, CountHackDiagonals<NoValue, Offset>{pattern(where, A), hack_rows, counts});
  };
  Array<std::int64_t> hack_offsets = scanned<std::int64_t>(ctx, hacks, "hdia hack_offsets", count);
  const std::int64_t diagonals = last_offset(ctx, hack_offsets);
  require_growth("hdia", A, static_cast<double>(diagonals) * hack_rows * static_cast<double>(sizeof(T)), limit,
                 fmt::format("{} rows meet {:.3g} diagonals in the mean", hack_rows,
                             static_cast<double>(diagonals) / static_cast<double>(std::max<std::int64_t>(hacks, 1))),
                 "sell");
  Array<std::int32_t> offsets(diagonals, "hdia offsets");
  Array<T> values(diagonals * hack_rows, "hdia values");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, hacks,
             ListHackDiagonals<NoValue, Offset>{pattern(where, A), hack_rows, hack_offsets.read(where),
                                                offsets.write(where)});
    const DiaView<const kernel_t<T>> shape{A.rows(),           A.cols(), hack_rows, diagonals, hack_offsets.read(where),
                                           offsets.read(where)};
    run_pass(where, hacks * hack_rows, FillDia<kernel_t<T>, Offset>{A.view(where), shape, values.write(where)});
  });
  return {A.rows(), A.cols(), A.nnz(), hack_rows, std::move(hack_offsets), std::move(offsets), std::move(values)};
}

namespace {

void require_block(const char* what, const Blocking& blocks, std::int32_t most) {
  require_range(fmt::format("{}: row_dim of a block", what), blocks.row_dim, 1, most);
  require_range(fmt::format("{}: col_dim of a block", what), blocks.col_dim, 1, most);
}

/// Offsets of the blocks that A has in each block row.
template <class T, class Offset>
Array<std::int64_t> count_blocks(Context& ctx, const Csr<T, Offset>& A, const Blocking& blocks) {
  const std::int64_t block_rows = detail::ceil_div(A.rows(), blocks.row_dim);
  return scanned<std::int64_t>(ctx, block_rows, "block counts", [&](const auto& where, std::int64_t* counts) {
    run_pass(where, block_rows, CountBlocks<NoValue, Offset>{pattern(where, A), blocks, counts});
  });
}

}  // namespace

template <class T, class Offset>
std::int64_t stored_blocks(Context& ctx, const Csr<T, Offset>& A, Blocking blocks) {
  return last_offset(ctx, count_blocks(ctx, A, blocks));
}

template <class T, class Offset>
Bsr<T> to_bsr(Context& ctx, const Csr<T, Offset>& A, Blocking blocks, GrowthLimit limit) {
  require_block("bsr", blocks, largest_block_dim);
  const Array<std::int64_t> counts = count_blocks(ctx, A, blocks);
  const std::int64_t stored = last_offset(ctx, counts), block_rows = counts.size() - 1;
  require_growth("bsr", A, static_cast<double>(stored) * static_cast<double>(blocks.size() * sizeof(T)), limit,
                 fmt::format("{} blocks of {} x {} hold {} entries", stored, blocks.row_dim, blocks.col_dim, A.nnz()),
                 "smaller blocks");
  require_range("bsr: the number of blocks", stored, 0, std::numeric_limits<std::int32_t>::max());
  Array<std::int32_t> row_offsets(block_rows + 1, "bsr row_offsets"), col_indices(stored, "bsr col_indices");
  Array<T> values(stored * blocks.size(), "bsr values");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, block_rows + 1,
             ConvertOffsets<std::int64_t, std::int32_t>{counts.read(where), row_offsets.write(where)});
    run_pass(where, block_rows,
             ListBlocks<NoValue, Offset>{pattern(where, A), blocks, row_offsets.read(where), col_indices.write(where)});
    const std::int32_t* offsets = row_offsets.read(where);
    const BsrView<const kernel_t<T>> shape{
        A.rows(), A.cols(), blocks, stored, offsets, offsets + 1, col_indices.read(where)};
    run_pass(where, block_rows, FillBlocks<kernel_t<T>, Offset>{A.view(where), shape, values.write(where)});
  });
  return {A.rows(), A.cols(), blocks, std::move(row_offsets), std::move(col_indices), std::move(values)};
}

template <class T, class Offset>
BlockedEll<T> to_blocked_ell(Context& ctx, const Csr<T, Offset>& A, std::int32_t block_dim, GrowthLimit limit) {
  const Blocking blocks{block_dim, block_dim, BlockOrder::row_major};
  require_block("blocked_ell", blocks, largest_blocked_ell_dim);
  const Array<std::int64_t> counts = count_blocks(ctx, A, blocks);
  const std::int64_t block_rows = counts.size() - 1;
  Array<Greatest> widest(1, "widest block row");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, block_rows, LongestRow<std::int64_t>{counts.read(where), widest.write(where)});
  });
  const std::int64_t width = widest.host()[0].value, ell_cols = width * block_dim;
  require_growth("blocked_ell", A, static_cast<double>(A.rows()) * static_cast<double>(ell_cols * sizeof(T)), limit,
                 fmt::format("the fullest block row has {} blocks of {} x {}", width, block_dim, block_dim),
                 "smaller blocks, or bsr");
  Array<std::int32_t> col_indices(block_rows * width, "blocked_ell col_indices");
  Array<T> values(A.rows() * ell_cols, "blocked_ell values");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, block_rows,
             ListEllBlocks<NoValue, Offset>{pattern(where, A), blocks, width, col_indices.write(where)});
    const BlockedEllView<const kernel_t<T>> shape{A.rows(), A.cols(), block_dim, ell_cols, col_indices.read(where)};
    run_pass(where, A.rows(), FillBlockedEll<kernel_t<T>, Offset>{A.view(where), shape, values.write(where)});
  });
  return {A.rows(), A.cols(), block_dim, ell_cols, std::move(col_indices), std::move(values)};
}

template <class T>
Bsrx<T> to_bsrx(Context& ctx, const Bsr<T>& A) {
  Array<std::int32_t> begins(A.block_rows(), "bsrx row_begins"), ends(A.block_rows(), "bsrx row_ends");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.block_rows(), OpenRows{A.row_offsets().read(where), begins.write(where), ends.write(where)});
  });
  return {A.rows(),
          A.cols(),
          A.blocks(),
          std::move(begins),
          std::move(ends),
          copy_of(ctx, A.col_indices()),
          copy_of(ctx, A.values())};
}

template <class T>
Gebsc<T> to_gebsc(Context& ctx, const Bsr<T>& A) {
  const std::int64_t block_cols = detail::ceil_div(A.cols(), A.blocks().col_dim), blocks = A.stored_blocks();
  Array<std::int32_t> offsets(block_cols + 1, "gebsc col_offsets"), rows(blocks, "gebsc row_indices");
  Array<std::int32_t> permutation(blocks, "gebsc permutation");
  Array<T> values(A.nnz(), "gebsc values");
  ctx.dispatch([&](const auto& where) {
    const auto cols = static_cast<std::int32_t>(block_cols);
    csr_transpose(
        where,
        CsrView<const NoValue>{A.block_rows(), cols, blocks, A.row_offsets().read(where), A.col_indices().read(where)},
        false, CsrView<NoValue>{cols, A.block_rows(), blocks, offsets.write(where), rows.write(where)},
        permutation.write(where));
    run_pass(where, A.nnz(),
             GatherBlocks<kernel_t<T>>{A.values().read(where), permutation.read(where), A.blocks().size(),
                                       values.write(where)});
  });
  return {A.rows(), A.cols(), A.blocks(), std::move(offsets), std::move(rows), std::move(values)};
}

namespace {

/// CSR of the row view that view_on(where) gives.
template <class T, class Offset, class ViewOn>
Csr<T, Offset> rows_to_csr(Context& ctx, std::int32_t rows, std::int32_t cols, ViewOn&& view_on) {
  const auto count = [&](const auto& where, std::int64_t* counts) {
    const auto a = view_on(where);
    run_pass(where, a.stored_rows(), CountEntries<std::remove_const_t<decltype(a)>, std::int64_t>{a, counts});
  };
  Array<std::int64_t> wide = scanned<std::int64_t>(ctx, rows, "csr row_offsets", count);
  const std::int64_t nnz = last_offset(ctx, wide);
  require_offsets_fit<Offset>(nnz);
  Array<Offset> row_offsets(rows + std::int64_t{1}, "csr row_offsets");
  Array<std::int32_t> col_indices(nnz, "csr col_indices");
  Array<T> values(nnz, "csr values");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, row_offsets.size(),
             ConvertOffsets<std::int64_t, Offset>{wide.read(where), row_offsets.write(where)});
    const auto a = view_on(where);
    const CsrView<kernel_t<T>, Offset> to{
        rows, cols, nnz, row_offsets.update(where), col_indices.write(where), values.write(where)};
    run_pass(where, a.stored_rows(), FillCsr<std::remove_const_t<decltype(a)>, Offset>{a, to});
  });
  return {cols, std::move(row_offsets), std::move(col_indices), std::move(values)};
}
template <class T, class Offset, class Matrix>
Csr<T, Offset> rows_to_csr(Context& ctx, const Matrix& A) {
  return rows_to_csr<T, Offset>(ctx, A.rows(), A.cols(), [&](const auto& where) { return A.view(where); });
}
template <class T, class Matrix>
Csr<T, std::int64_t> nonzeros_to_csr(Context& ctx, const Matrix& A) {
  return rows_to_csr<T, std::int64_t>(ctx, A.rows(), A.cols(), [&](const auto& where) {
    const auto a = A.view(where);
    return Nonzeros<std::remove_const_t<decltype(a)>>{a, a.cols};
  });
}

}  // namespace

template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const CooAos<T>& A) {
  return to_csr<T, Offset>(ctx, to_coo(ctx, A));
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Csc<T>& A) {
  return with_offsets<Offset>(ctx, transpose(ctx, A.transposed()));
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Bsr<T>& A) {
  return rows_to_csr<T, Offset>(ctx, A);
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Bsrx<T>& A) {
  return rows_to_csr<T, Offset>(ctx, A);
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Gebsc<T>& A) {
  return transpose(ctx, rows_to_csr<T, Offset>(ctx, A.transposed()));
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Ell<T>& A) {
  return rows_to_csr<T, Offset>(ctx, A);
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Sell<T>& A) {
  return rows_to_csr<T, Offset>(ctx, A);
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Hyb<T>& A) {
  return rows_to_csr<T, Offset>(ctx, A);
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Dia<T>& A) {
  return rows_to_csr<T, Offset>(ctx, A);
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const BlockedEll<T>& A) {
  return rows_to_csr<T, Offset>(ctx, A);
}

template <class T>
Csr<T, std::int64_t> to_csr_without_zeros(Context& ctx, const Bsr<T>& A) {
  return nonzeros_to_csr<T>(ctx, A);
}
template <class T>
Csr<T, std::int64_t> to_csr_without_zeros(Context& ctx, const Bsrx<T>& A) {
  return nonzeros_to_csr<T>(ctx, A);
}
template <class T>
Csr<T, std::int64_t> to_csr_without_zeros(Context& ctx, const BlockedEll<T>& A) {
  return nonzeros_to_csr<T>(ctx, A);
}

namespace {

/// Whether nnz() leaves out what a format fills up.
template <class Matrix>
inline constexpr bool counts_entries = !requires(const Matrix& a) {
  a.blocks();
}
&&!requires(const Matrix& a) { a.block_dim(); };

template <class T>
void copy_values(Context& ctx, const Array<T>& from, Array<T>& to) {
  ctx.dispatch([&](const auto& where) {
    copy_bytes(where, to.write(where), from.read(where), static_cast<std::size_t>(from.size()) * sizeof(T));
  });
}

// New values for each format. A format's view is const, the pass's is not: it writes values alone.
template <class T, class Offset, class To>
requires(std::is_same_v<To, Csr<T, std::int32_t>> || std::is_same_v<To, Csr<T, std::int64_t>> ||
         std::is_same_v<To, Coo<T>> || std::is_same_v<To, CooAos<T>>)  //
    void update(Context& ctx, const Csr<T, Offset>& from, To& to) {
  copy_values(ctx, from.values(), to.values());
}

template <class T, class Offset>
void update(Context& ctx, const Csr<T, Offset>& from, Csc<T>& to) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, to.cols(),
             FillColumns<kernel_t<T>, Offset>{from.view(where), to.transposed().view(where), to.values().write(where)});
  });
}

template <class T, class Offset>
void update(Context& ctx, const Csr<T, Offset>& from, Gebsc<T>& to) {
  ctx.dispatch([&](const auto& where) {
    const auto transposed = to.transposed().view(where);
    run_pass(where, transposed.block_rows(),
             FillBlockColumns<kernel_t<T>, Offset>{from.view(where), transposed, to.values().write(where)});
  });
}

template <class T, class Offset, class To>
requires(std::is_same_v<To, Bsr<T>> || std::is_same_v<To, Bsrx<T>>)  //
    void update(Context& ctx, const Csr<T, Offset>& from, To& to) {
  ctx.dispatch([&](const auto& where) {
    const auto view = to.view(where);
    run_pass(where, view.block_rows(),
             FillBlocks<kernel_t<T>, Offset>{from.view(where), view, to.values().write(where)});
  });
}

template <class T, class Offset, class To>
requires(std::is_same_v<To, Ell<T>> || std::is_same_v<To, Sell<T>>)  //
    void update(Context& ctx, const Csr<T, Offset>& from, To& to) {
  ctx.dispatch([&](const auto& where) {
    const auto view = to.view(where);
    run_pass(where, view.slices() * view.slice_rows,
             FillSell<kernel_t<T>, Offset>{from.view(where), view, nullptr, to.values().write(where)});
  });
}

template <class T, class Offset>
void update(Context& ctx, const Csr<T, Offset>& from, Hyb<T>& to) {
  update(ctx, from, to.ell());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, to.coo().nnz(),
             RefillBeyond<kernel_t<T>, Offset>{from.view(where), to.coo().view(where), to.ell().width(),
                                               to.coo().values().write(where)});
  });
}

template <class T, class Offset>
void update(Context& ctx, const Csr<T, Offset>& from, Dia<T>& to) {
  ctx.dispatch([&](const auto& where) {
    const auto view = to.view(where);
    run_pass(where, detail::ceil_div(view.rows, view.hack_rows) * view.hack_rows,
             FillDia<kernel_t<T>, Offset>{from.view(where), view, to.values().write(where)});
  });
}

template <class T, class Offset>
void update(Context& ctx, const Csr<T, Offset>& from, BlockedEll<T>& to) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, to.rows(),
             FillBlockedEll<kernel_t<T>, Offset>{from.view(where), to.view(where), to.values().write(where)});
  });
}

}  // namespace

template <class T, class Offset>
void update_values(Context& ctx, const Csr<T, Offset>& from, AnyMatrix<T>& to) {
  require_size("update_values: rows of the converted matrix, which", rows(to), from.rows());
  require_size("update_values: columns of the converted matrix, which", cols(to), from.cols());
  std::visit(
      [&](auto& matrix) {
        if constexpr (counts_entries<std::remove_reference_t<decltype(matrix)>>)
          require_size("update_values: values of the converted matrix, which", matrix.nnz(), from.nnz());
        update(ctx, from, matrix);
      },
      to);
}

#define INSTANTIATE(T, Offset)                                                                       \
  template Csc<T> to_csc(Context&, const Csr<T, Offset>&);                                           \
  template Ell<T> to_ell(Context&, const Csr<T, Offset>&, GrowthLimit);                              \
  template Sell<T> to_sell(Context&, const Csr<T, Offset>&, SellLayout, GrowthLimit);                \
  template Hyb<T> to_hyb(Context&, const Csr<T, Offset>&, HybPartition, std::int64_t, GrowthLimit);  \
  template Dia<T> to_dia(Context&, const Csr<T, Offset>&, std::int32_t, GrowthLimit);                \
  template Bsr<T> to_bsr(Context&, const Csr<T, Offset>&, Blocking, GrowthLimit);                    \
  template std::int64_t stored_diagonals(Context&, const Csr<T, Offset>&);                           \
  template std::int64_t stored_blocks(Context&, const Csr<T, Offset>&, Blocking);                    \
  template BlockedEll<T> to_blocked_ell(Context&, const Csr<T, Offset>&, std::int32_t, GrowthLimit); \
  template Csr<T, Offset> to_csr(Context&, const CooAos<T>&);                                        \
  template Csr<T, Offset> to_csr(Context&, const Csc<T>&);                                           \
  template Csr<T, Offset> to_csr(Context&, const Bsr<T>&);                                           \
  template Csr<T, Offset> to_csr(Context&, const Bsrx<T>&);                                          \
  template Csr<T, Offset> to_csr(Context&, const Gebsc<T>&);                                         \
  template Csr<T, Offset> to_csr(Context&, const Ell<T>&);                                           \
  template Csr<T, Offset> to_csr(Context&, const Sell<T>&);                                          \
  template Csr<T, Offset> to_csr(Context&, const Hyb<T>&);                                           \
  template Csr<T, Offset> to_csr(Context&, const Dia<T>&);                                           \
  template Csr<T, Offset> to_csr(Context&, const BlockedEll<T>&);                                    \
  template void update_values(Context&, const Csr<T, Offset>&, AnyMatrix<T>&);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T)                                                                \
  template CooAos<T> to_coo_aos(Context&, const Coo<T>&);                             \
  template Coo<T> to_coo(Context&, const CooAos<T>&);                                 \
  template Csr<T, std::int64_t> to_csr_without_zeros(Context&, const Bsr<T>&);        \
  template Csr<T, std::int64_t> to_csr_without_zeros(Context&, const Bsrx<T>&);       \
  template Csr<T, std::int64_t> to_csr_without_zeros(Context&, const BlockedEll<T>&); \
  template Bsrx<T> to_bsrx(Context&, const Bsr<T>&);                                  \
  template Gebsc<T> to_gebsc(Context&, const Bsr<T>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
