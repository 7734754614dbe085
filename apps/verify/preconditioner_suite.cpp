// Incomplete factorizations, and what preconditioners make of a residual.
#include <fmt/format.h>

#include <bit>

#include "apps/verify/precond/reference.hpp"
#include "apps/verify/references/sparse_inverse.hpp"
#include "apps/verify/references/threshold.hpp"
#include "apps/verify/trial.hpp"
#include "solvers/method/type_name.hpp"
#include "solvers/precond/lower_precision.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/factor/incomplete.hpp"
#include "sparse/inverse/sparse_inverse.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view dropped_bound = "the textbook's bits";
constexpr std::string_view factor_bound =
    "|A - L U|_ij <= gamma_(k + 3) (|L| |U|)_ij in the pattern of A, with k the terms of entry (i, j) (Higham 2002, "
    "theorems 9.3 and 10.3)";
constexpr std::string_view sweep_bound =
    "running error analysis of the same sweeps, entry by entry (Higham 2002, section 3.3)";
constexpr std::string_view apply_bound =
    "running error analysis of the definition, one operation after the other (Higham 2002, section 3.3)";

std::string variant_of(const PreconditionerOptions& options) {
  return judging_of(options).variant + (is_kept_in_float32(options) ? " in float32" : "");
}

/// Re r^H z.
template <class T>
Bounded<double> real_dot(const BoundedVector<T>& r, const BoundedVector<T>& z) {
  BoundedSum<double> sum;
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

/// M r and r'M r for every r of the subject, against the definition in the precision L that M is kept in.
template <class L, class T>
Comparison compare_applied(Context& ctx, const Preconditioner<T>& M, const PreconditionerOptions& options,
                           const AnyMatrix<L>& A, const Subject<T>& s) {
  Comparison all;
  for (const NamedVector<T>& residual : s.y) {
    const std::vector<L> low = in_precision<L>(std::span<const T>(residual.values));
    const std::vector<T> r = in_precision<T>(std::span<const L>(low));
    const BoundedVector<L> wanted = preconditioned(ctx, options, A, M.report(), bounded<L>(low), s.coordinates.get());
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

/// Whether no pivot of the definition can become 0, or not positive, by rounding.
template <class T>
bool has_sure_pivots(const Rows<T>& A, Factorization kind) {
  const BoundedVector<T> factor = factorize(shifted(A, kind, 0), kind);
  for (std::int32_t i = 0; i < A.rows; ++i) {
    const auto place = A.find(i, i);
    if (!place || !(modulus(factor[*place].value) > factor[*place].error)) return false;
  }
  return true;
}

/// The textbook's bits: the library drops what the textbook does, whichever backend it is asked for on.
template <class T>
void check_dropped(Ledger& ledger, const std::string& name, const DropOptions& o, Factorization kind, const Rows<T>& A,
                   const Factor<T>& made) {
  const auto a = with_values(A, [](const T& value) { return std::bit_cast<kernel_t<T>>(value); });
  const auto textbook = kind == Factorization::ic0 ? DroppedLu<kernel_t<T>>{ict(a, o, made.shift), {}} : ilut(a, o);
  const auto& wanted = textbook.factor;
  if (wanted.offsets != made.A.offsets || wanted.col != made.A.col)
    return ledger.fail(name, "the pattern is not the textbook's");
  if (!made.columns.empty() && textbook.columns != made.columns)
    return ledger.fail(name, "the columns are not in the textbook's order");
  const Rows<T> values = with_values(wanted, [](const kernel_t<T>& value) { return std::bit_cast<T>(value); });
  ledger.check(name, dropped_bound, [&] { return compare<T>(made.values, bounded<T>(values.value)); });
}

template <class T>
void check_factor(Ledger& ledger, Context& ctx, const Selection& selection, const PreconditionerOptions& options,
                  const FactorRecipe& recipe, const AnyMatrix<T>& A) {
  const std::string name = std::string(type_name(options)) + (recipe.sweeps > 0 ? " sweeps" : "");
  std::optional<Factor<T>> made;
  try {
    made = make_factor(ctx, recipe, A, make_preconditioner(ctx, options, A)->report());
  } catch (const InvalidArgument& refusal) {
    return note_refusal(ledger, selection, name, refusal.what());
  }
  if (made->boosts > 0) return ledger.not_checked(name, "pivots were boosted: the factors' product is not A");
  const Rows<T>& rows = made->A;
  if (recipe.drops) return check_dropped(ledger, name, *recipe.drops, recipe.kind, rows_of(A), *made);
  if (recipe.sweeps > 0)
    return ledger.check(name, sweep_bound, [&] {
      return compare<T>(made->values,
                        factorize_by_sweeps(shifted(rows, recipe.kind, made->shift), recipe.kind, recipe.sweeps));
    });
  ledger.check(name, factor_bound, [&] {
    Comparison c = compare_factors<T>(rows, made->values, recipe.kind, made->shift);
    const Comparison forward =
        compare<T>(made->values, factorize(shifted(rows, recipe.kind, made->shift), recipe.kind));
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
      const bool refused =
          updated.zero_pivot() ? !has_sure_pivots(s.rows, kind) : !has_sure_pivots(with_blocks(s.rows, 2), kind);
      const std::string reason = "a pivot is missing, 0 or not positive";
      refused ? ledger.not_checked(name + ", new values", reason)
              : ledger.fail(name + ", new values", "the library says that " + reason);
      continue;
    }
    ledger.check(name + ", new values", factor_bound,
                 [&] { return compare_factors<T>(s.rows, updated.matrix().values().host(), kind, 0); });
    ledger.check(name + " of bsr", factor_bound, [&] {
      return compare_factors<T>(with_blocks(s.rows, 2), in_blocks.matrix().values().host(), kind, 0);
    });
  }
}

/// New values for the pattern of an inverse, and rows that keep a part of their entries.
template <class T>
void check_inverse(Ledger& ledger, Context& ctx, const Subject<T>& s) {
  constexpr std::int32_t max_entries = 4;
  SparseInverse<T> inverse(ctx, with_other_values(s.A), InverseForm::general, max_entries);
  inverse.update(ctx, s.A);
  const std::string name = "isai, new values";
  if (inverse.structural_zero() || inverse.singular())
    return ledger.not_checked(name, "a system of the inverse is singular");
  ledger.check(name, apply_bound, [&] {
    return compare<T>(inverse.matrix().values().host(),
                      sparse_inverse(s.rows, InverseForm::general, max_entries).value);
  });
}

}  // namespace

template <class T>
void check_factorizations(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!s.is_square()) return;
  if (selection.whole_library && !selection.preconditioners.empty()) check_other_factors(ledger, ctx, s);
  for (const PreconditionerOptions& options : selection.preconditioners) {
    const auto recipe = judging_of(options).factor;
    if (!recipe) continue;
    if (is_kept_in_float32(options))
      check_factor(ledger, ctx, selection, options, *recipe, matrix_in<lower_t<T>>(ctx, s, selection));
    else
      check_factor(ledger, ctx, selection, options, *recipe, matrix_in<T>(ctx, s, selection));
  }
}

template <class T>
void check_preconditioners(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!s.is_square()) return;
  if (selection.whole_library && !selection.preconditioners.empty()) check_inverse(ledger, ctx, s);
  const AnyMatrix<T> A = matrix_in<T>(ctx, s, selection);
  for (const PreconditionerOptions& options : selection.preconditioners) {
    const std::string name = std::string(type_name(options)) + variant_of(options);
    if (const std::string& reason = judging_of(options).not_judged; !reason.empty()) {
      ledger.not_checked(name, reason);
      continue;
    }
    std::unique_ptr<Preconditioner<T>> M;
    try {
      M = make_preconditioner<T>(ctx, options, A, nullptr, s.coordinates.get());
    } catch (const InvalidArgument& refusal) {
      note_refusal(ledger, selection, name, refusal.what());
      continue;
    }
    ledger.check(name, apply_bound, [&] {
      if (is_kept_in_float32(options))
        return compare_applied(ctx, *M, options, matrix_in<lower_t<T>>(ctx, s, selection), s);
      return compare_applied(ctx, *M, options, A, s);
    });
  }
}

template <class T>
struct PreconditionerSuiteInstances {
  static constexpr std::tuple list{
      instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_factorizations),
      instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_preconditioners)};
};
KRILL_INSTANTIATE(PreconditionerSuiteInstances);

}  // namespace krill::apps::verify
