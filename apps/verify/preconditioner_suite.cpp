// Incomplete factorizations, and what preconditioners make of a residual.
#include <fmt/format.h>

#include "krill/apps/case/type_name.hpp"
#include "krill/apps/verify/factor.hpp"
#include "krill/apps/verify/inverse_reference.hpp"
#include "krill/apps/verify/preconditioner_reference.hpp"
#include "krill/apps/verify/trial.hpp"
#include "krill/solvers/precond/kept_precision.hpp"
#include "krill/solvers/precond/make.hpp"
#include "krill/sparse/convert/to_format.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/inverse/sparse_inverse.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view factor_bound =
    "|A - L U|_ij <= gamma_(k + 3) (|L| |U|)_ij in the pattern of A, with k the terms of entry (i, j) (Higham 2002, "
    "theorems 9.3 and 10.3)";
constexpr std::string_view sweep_bound =
    "running error analysis of the same sweeps, entry by entry (Higham 2002, section 3.3)";
constexpr std::string_view apply_bound =
    "running error analysis of the definition, one operation after the other (Higham 2002, section 3.3)";

/// How triangles are solved, or which inverse is taken, where that is not left open.
std::string variant_of(const PreconditionerOptions& options) {
  const auto recipe = factor_recipe(options);
  std::string text;
  if (recipe && recipe->solve.method != TriangularSolve::automatic)
    text = fmt::format(" with {}", triangular_solve_names[static_cast<std::size_t>(recipe->solve.method)]);
  if (const auto* isai = std::get_if<IsaiOptions>(&options); isai && isai->form != IsaiForm::automatic)
    text = fmt::format(" {}", isai_form_names[static_cast<std::size_t>(isai->form)]);
  return text + (is_kept_in_float32(options) ? " in float32" : "");
}

/// A in the precision L and the format that preconditioners get.
template <class L, class T>
AnyMatrix<L> matrix_in(Context& ctx, const Subject<T>& s, const Selection& selection) {
  return convert_format(ctx, in_precision<L>(s.A), selection.solved_in.format, selection.solved_in.layout);
}

/// Re r^H z.
template <class T>
Bounded<double> real_dot(const BoundedVector<T>& r, const BoundedVector<T>& z) {
  Sum<double> sum;
  for (std::size_t i = 0; i < r.size(); ++i) {
    if constexpr (is_complex<T>) {
      sum.add({r[i].value.re, r[i].error}, {z[i].value.re, z[i].error});
      sum.add({r[i].value.im, r[i].error}, {z[i].value.im, z[i].error});
    } else {
      sum.add({r[i].value, r[i].error}, {z[i].value, z[i].error});
    }
  }
  return sum.result();
}

/// M r and r'M r for every r, against the definition in the precision L that M is kept in.
template <class L, class T>
Comparison compare_applied(Context& ctx, const Preconditioner<T>& M, const PreconditionerOptions& options,
                           const AnyMatrix<L>& A, const std::vector<NamedVector<T>>& residuals) {
  Comparison all;
  for (const NamedVector<T>& residual : residuals) {
    const std::vector<L> low = in_precision<L>(std::span<const T>(residual.values));
    const std::vector<T> r = in_precision<T>(std::span<const L>(low));
    const BoundedVector<L> wanted = preconditioned(ctx, options, A, M.report(), bounded<L>(low));
    const Array<T> ar = array(r, "r");
    Array<T> z(ar.size(), "z");
    all.merge(compare<L>(in_precision<L>(M.apply(ctx, ar, z).host()), wanted), residual.name);
    const Bounded<double> rr = real_dot(bounded<L>(low), bounded<L>(low));
    const Array<double> known{static_cast<double>(rr.value)};
    Array<double> rz(1, "r'z");
    const auto both = M.apply_dot(ctx, ar, known, z, rz);
    all.merge(compare<L>(in_precision<L>(both.z.host()), wanted), residual.name + ", with a dot");
    all.merge(compare<double>(both.rz.host(), std::vector{real_dot(bounded<L>(low), wanted)}),
              residual.name + ", the dot");
  }
  return all;
}

template <class T>
void check_factor(Ledger& ledger, Context& ctx, const PreconditionerOptions& options, const AnyMatrix<T>& A) {
  const FactorRecipe recipe = *factor_recipe(options);
  const std::string name = std::string(type_name(options)) + (recipe.sweeps > 0 ? " sweeps" : "");
  std::optional<Factor<T>> made;
  try {
    made = make_factor(ctx, recipe, A, make_preconditioner(ctx, options, A)->report());
  } catch (const InvalidArgument& refusal) {
    return ledger.not_checked(name, refusal.what());
  }
  if (made->boosts > 0) return ledger.not_checked(name, "pivots were boosted: the factors' product is not A");
  const Rows<T> rows = rows_of(made->A);
  if (recipe.sweeps > 0)
    return ledger.check(name, sweep_bound, [&] {
      return compare<T>(made->values, factorize_by_sweeps(rows, recipe.kind, recipe.sweeps, made->shift));
    });
  ledger.check(name, factor_bound, [&] {
    Comparison c = compare_factors<T>(rows, made->values, recipe.kind, made->shift);
    const Comparison forward = compare<T>(made->values, factorize(rows, recipe.kind, made->shift));
    c.ulps = forward.ulps, c.relative = forward.relative;
    return c;
  });
}

/// What applications call beside preconditioners: matrices in blocks, and new values.
template <class T>
void check_other_factors(Ledger& ledger, Context& ctx, const Subject<T>& s) {
  for (const Factorization kind : {Factorization::ilu0, Factorization::ic0}) {
    const std::string name = kind == Factorization::ilu0 ? "ilu0" : "ic0";
    IncompleteFactor<T> updated(ctx, with_other_values(s.A), kind);
    updated.update(ctx, s.A);
    const Bsr<T> blocks = to_bsr(ctx, s.A, Blocking{2, 2}, GrowthLimit{1e6});
    const IncompleteFactor<T> in_blocks(ctx, blocks, kind);
    if (updated.zero_pivot() || in_blocks.zero_pivot()) {
      ledger.not_checked(name + ", new values", "a pivot is missing, 0 or not positive");
      continue;
    }
    ledger.check(name + ", new values", factor_bound,
                 [&] { return compare_factors<T>(s.rows, updated.matrix().values().host(), kind, 0); });
    ledger.check(name + " of bsr", factor_bound, [&] {
      return compare_factors<T>(rows_of(to_csr(ctx, blocks)), in_blocks.matrix().values().host(), kind, 0);
    });
  }
}

/// New values for the pattern of an inverse, and rows that keep a part of their entries.
template <class T>
void check_inverse(Ledger& ledger, Context& ctx, const Subject<T>& s) {
  constexpr std::int32_t most_entries = 4;
  SparseInverse<T> inverse(ctx, with_other_values(s.A), InverseForm::general, most_entries);
  inverse.update(ctx, s.A);
  const std::string name = "isai, new values";
  if (inverse.structural_zero() || inverse.singular())
    return ledger.not_checked(name, "a system of the inverse is singular");
  ledger.check(name, apply_bound, [&] {
    return compare<T>(inverse.matrix().values().host(),
                      sparse_inverse(s.rows, InverseForm::general, most_entries).value);
  });
}

}  // namespace

template <class T>
void check_factorizations(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!s.is_square()) return;
  if (selection.whole_library && !selection.preconditioners.empty()) check_other_factors(ledger, ctx, s);
  for (const PreconditionerOptions& options : selection.preconditioners) {
    if (!factor_recipe(options)) continue;
    if (is_kept_in_float32(options))
      check_factor(ledger, ctx, options, matrix_in<lower_t<T>>(ctx, s, selection));
    else
      check_factor(ledger, ctx, options, matrix_in<T>(ctx, s, selection));
  }
}

template <class T>
void check_preconditioners(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!s.is_square()) return;
  if (selection.whole_library && !selection.preconditioners.empty()) check_inverse(ledger, ctx, s);
  const AnyMatrix<T> A = matrix_in<T>(ctx, s, selection);
  for (const PreconditionerOptions& options : selection.preconditioners) {
    const std::string name = std::string(type_name(options)) + variant_of(options);
    std::unique_ptr<Preconditioner<T>> M;
    try {
      M = make_preconditioner(ctx, options, A);
    } catch (const InvalidArgument& refusal) {
      ledger.not_checked(name, refusal.what());
      continue;
    }
    ledger.check(name, apply_bound, [&] {
      if (is_kept_in_float32(options))
        return compare_applied(ctx, *M, options, matrix_in<lower_t<T>>(ctx, s, selection), s.y);
      return compare_applied(ctx, *M, options, A, s.y);
    });
  }
}

#define INSTANTIATE(T)                                                                        \
  template void check_factorizations(Ledger&, Context&, const Subject<T>&, const Selection&); \
  template void check_preconditioners(Ledger&, Context&, const Subject<T>&, const Selection&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill::apps::verify
