#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/dia_passes.hpp"
#include "sparse/convert/formats.hpp"
#include "sparse/convert/growth.hpp"
#include "sparse/convert/merge.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;
namespace {

/// Which diagonals have entries in rows [first, first + rows), and how many have before each: flags[rows + cols - 1] of
/// the matrix and positions, one longer.
struct Diagonals {
  Array<std::int32_t> flags, positions;
};

template <class T, class Offset>
Diagonals find_diagonals(Context& ctx, const Csr<T, Offset>& A, std::int64_t first, std::int64_t rows) {
  const std::int64_t most = std::max<std::int64_t>(std::int64_t{A.rows()} + A.cols() - 1, 0);
  Diagonals found{Array<std::int32_t>(most, "diagonal flags"), Array<std::int32_t>(most + 1, "diagonal positions")};
  ctx.dispatch([&](const auto& where) {
    run_pass(where, most, FillZero<std::int32_t>{found.flags.write(where)});
    run_pass(where, rows, FlagDiagonals<NoValue, Offset>{pattern(where, A), found.flags.update(where), first});
    scan_counts(where, most, found.flags.read(where), found.positions.write(where));
  });
  return found;
}

template <class T, class Offset>
Dia<T> to_plain_dia(Context& ctx, const Csr<T, Offset>& A, GrowthLimit limit) {
  const auto [flags, positions] = find_diagonals(ctx, A, 0, A.rows());
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
std::int64_t stored_diagonals(Context& ctx, const Csr<T, Offset>& A, std::int64_t enough) {
  const auto count = [&](std::int64_t first, std::int64_t rows) {
    return last_offset(ctx, find_diagonals(ctx, A, first, rows).positions);
  };
  constexpr std::int32_t window =
      1024;  // rows in the middle, which alone may show that there are too many. Not varied.
  if (A.rows() > window)
    if (const std::int64_t in_window = count((A.rows() - window) / 2, window); in_window > enough) return in_window;
  return count(0, A.rows());
}

template <class T, class Offset>
Dia<T> to_dia(Context& ctx, const Csr<T, Offset>& A, std::int32_t hack_rows, GrowthLimit limit) {
  require_range("hdia: hack_rows", hack_rows, 0, 1 << 20);
  if (hack_rows == 0) return to_plain_dia(ctx, A, limit);
  const std::int64_t hacks = detail::ceil_div(A.rows(), hack_rows);
  const auto count = [&](const auto& where, std::int64_t* counts) {
    merge_rows(where, pattern(where, A), hack_rows, DiagonalKey{}, CountKeys{counts});
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
    merge_rows(where, pattern(where, A), hack_rows, DiagonalKey{},
               ListKeys{hack_offsets.read(where), offsets.write(where)});
    const DiaView<const kernel_t<T>> shape{A.rows(),           A.cols(), hack_rows, diagonals, hack_offsets.read(where),
                                           offsets.read(where)};
    run_pass(where, hacks * hack_rows, FillDia<kernel_t<T>, Offset>{A.view(where), shape, values.write(where)});
  });
  return {A.rows(), A.cols(), A.nnz(), hack_rows, std::move(hack_offsets), std::move(offsets), std::move(values)};
}

template <class T, class Offset>
struct ToDiaInstances {
  static constexpr std::tuple list{
      instance<Dia<T>(Context&, const Csr<T, Offset>&, std::int32_t, GrowthLimit)>(to_dia),
      instance<std::int64_t(Context&, const Csr<T, Offset>&, std::int64_t)>(stored_diagonals)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(ToDiaInstances);

}  // namespace krill
