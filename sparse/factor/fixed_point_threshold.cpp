#include "sparse/factor/fixed_point_threshold.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/convert/prune.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/factor/fixed_point_passes.hpp"
#include "sparse/factor/fixed_point_threshold_passes.hpp"
#include "sparse/spgemm/spgemm.hpp"

namespace krill {

using namespace detail;
namespace {

template <class T, class Offset>
Array<Offset> places_of_diagonal(Context& ctx, const Csr<T, Offset>& A) {
  Array<Offset> diagonals(A.rows(), "places of the diagonal");
  Array<FirstRow> missing(1, "first row without a diagonal");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(), FindDiagonals<Offset>{pattern(where, A), diagonals.write(where), missing.write(where)});
  });
  return diagonals;
}

template <class T, class Offset>
Csr<T, Offset> lower_triangle(Context& ctx, const Csr<T, Offset>& A) {
  Array<double> marks(A.nnz(), "marks of the lower triangle");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(), MarkLower<Offset>{pattern(where, A), marks.write(where)});
  });
  return prune(ctx, A, marks, 0);
}

template <class T, class Offset>
Csr<T, Offset> product(Context& ctx, const Csr<T, Offset>& L, Op op, const Csr<T, Offset>& U, const FillRoom& room) {
  try {
    SpgemmPlan<T, Offset> plan(ctx, Op::none, L, op, U, {.max_list_bytes = 0, .max_entries = room.max_entries()});
    plan.update(ctx, T(1), L, U);
    return std::move(plan).release();
  } catch (const TooManyEntries&) {
    if (room.max_entries() >= std::numeric_limits<Offset>::max()) throw;
    throw OutOfMemory("the product of factors with that fill (less leaves less)",
                      static_cast<std::size_t>(room.max_entries() + 1) * room.bytes_an_entry, room.free, room.device);
  }
}

/// L U, or L L^H.
template <class T, class Offset>
Csr<T, Offset> product_of_factors(Context& ctx, const FixedPointFactor<T, Offset>& factor, const FillRoom& room) {
  const Csr<T, Offset>& both = factor.matrix();
  if (factor.kind() == Factorization::ic0) return product(ctx, both, Op::adjoint, both, room);
  Array<Offset> left = scanned<Offset>(ctx, both.rows(), "rows of L", [&](const auto& where, Offset* counts) {
    run_pass(where, both.rows(), CountPart<Offset>{pattern(where, both), true, counts});
  });
  const std::int64_t lower = last_offset(ctx, left), upper = both.nnz() - lower + both.rows();
  Array<Offset> right(both.rows() + 1, "rows of U");
  Array<std::int32_t> l_cols(lower, "columns of L"), u_cols(upper, "columns of U");
  Array<T> l_values(lower, "L"), u_values(upper, "U");
  ctx.dispatch([&](const auto& where) {
    run_pass(
        where, both.rows(),
        SplitFactor<kernel_t<T>, Offset>{both.view(where), left.read(where), l_cols.write(where), l_values.write(where),
                                         right.write(where), u_cols.write(where), u_values.write(where)});
  });
  return product<T, Offset>(ctx, {both.cols(), std::move(left), std::move(l_cols), std::move(l_values)}, Op::none,
                            {both.cols(), std::move(right), std::move(u_cols), std::move(u_values)}, room);
}

/// A - L U in the union of the patterns; for Cholesky of the lower triangle A.
template <class T, class Offset>
Csr<T, Offset> residual(Context& ctx, const Csr<T, Offset>& A, const FixedPointFactor<T, Offset>& factor,
                        const FillRoom& room) {
  Csr<T, Offset> all = spgeam(ctx, Op::none, Op::none, T(1), A, T(-1), product_of_factors(ctx, factor, room));
  if (factor.kind() == Factorization::ic0) return lower_triangle(ctx, all);
  return all;
}

/// The diagonal and the largest of the other entries, `count` in all.
template <class T, class Offset>
Csr<T, Offset> largest_entries(Context& ctx, const FixedPointFactor<T, Offset>& factor, std::int64_t count) {
  const Csr<T, Offset>& all = factor.matrix();
  const Array<Offset> diagonals = places_of_diagonal(ctx, all);
  Array<double> sizes(all.nnz(), "sizes of entries");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, all.rows(),
             MeasureEntries<kernel_t<T>, Offset>{all.view(where), diagonals.read(where),
                                                 factor.kind() == Factorization::ic0, sizes.write(where)});
  });
  return prune_to(ctx, all, std::move(sizes), count);
}

/// As many as `fill` allows, and the diagonal at least.
std::int64_t allowed_entries(double fill, std::int64_t of_a, std::int64_t rows) {
  constexpr double countable = 0x1p62;
  return std::max(rows, static_cast<std::int64_t>(std::min(fill * static_cast<double>(of_a), countable)));
}

}  // namespace

template <class T, class Offset>
FilledMatrix<T, Offset> fill_by_sweeps(Context& ctx, const Csr<T, Offset>& A, Factorization kind,
                                       const GrowthOptions& o, const FillRoom& room,
                                       const std::type_identity_t<std::optional<PivotBoost<T>>>& boost) {
  using Filled = FilledMatrix<T, Offset>;
  using Factor = FixedPointFactor<T, Offset>;
  require_size("fill by sweeps: columns of the matrix", A.cols(), A.rows());
  require(o.fill > 0, fmt::format("fill by sweeps: fill of {} times the entries, more than 0 is needed", o.fill));
  require(o.cycles >= 1, fmt::format("fill by sweeps: {} cycles, 1 or more are needed", o.cycles));
  require_lu(boost, kind);
  const bool lu = kind == Factorization::ilu0;
  std::optional<Csr<T, Offset>> lower;
  if (!lu) lower = lower_triangle(ctx, A);
  const Csr<T, Offset>& a = lu ? A : *lower;
  const auto in_pattern = [&](Csr<T, Offset> of) { return Filled(ctx, A, std::move(of), a.nnz()); };
  const auto swept = [&](const Filled& filled, const Array<T>& from) {
    Factor factor = Factor::analyze(ctx, filled.matrix(), kind, 1, boost);
    factor.refine(ctx, filled.matrix(), from);
    return factor;
  };

  Filled filled = in_pattern(
      {a.cols(), copy_of(ctx, a.row_offsets()), copy_of(ctx, a.col_indices()), Array<T>(a.nnz(), "filled values")});
  Factor factor(ctx, filled.matrix(), kind, 1, boost);
  if (factor.structural_zero()) return filled;
  for (std::int32_t cycle = 1; cycle <= o.cycles; ++cycle) {
    Csr<T, Offset> wider = residual(ctx, a, factor, room);
    Array<T> values(wider.nnz(), "factor in the wider pattern");
    const Array<Offset> diagonals = places_of_diagonal(ctx, factor.matrix());
    ctx.dispatch([&](const auto& where) {
      run_pass(where, a.rows(),
               WidenFactor<kernel_t<T>, Offset>{factor.matrix().view(where), diagonals.read(where), wider.view(where),
                                                values.write(where)});
    });
    const Factor wide = swept(in_pattern(std::move(wider)), values);
    Csr<T, Offset> kept = largest_entries(ctx, wide, allowed_entries(o.fill, a.nnz(), a.rows()));
    values = copy_of(ctx, kept.values());
    filled = in_pattern(std::move(kept));
    if (cycle < o.cycles) factor = swept(filled, values);
  }
  return filled;
}

template <class T, class Offset>
struct FillBySweepsInstances {
  static constexpr auto list =
      instance<FilledMatrix<T, Offset>(Context&, const Csr<T, Offset>&, Factorization, const GrowthOptions&,
                                       const FillRoom&, const std::optional<PivotBoost<T>>&)>(fill_by_sweeps);
};
KRILL_INSTANTIATE_WITH_OFFSETS(FillBySweepsInstances);

}  // namespace krill
