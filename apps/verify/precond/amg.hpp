// A multigrid cycle.
#pragma once
#include <algorithm>
#include <optional>

#include "apps/verify/precond/dense.hpp"
#include "apps/verify/precond/factors.hpp"
#include "apps/verify/precond/gauss_seidel.hpp"
#include "apps/verify/precond/isai.hpp"
#include "solvers/multigrid/candidates.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/precond/amg.hpp"
#include "solvers/precond/ilu0.hpp"
#include "solvers/precond/level_smoothers.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/inverse/sparse_inverse.hpp"
#include "sparse/order/coloring.hpp"

namespace krill::apps::verify {

inline Judging judging(const AmgOptions& o) {
  const bool polynomial = is_polynomial(o.smoother.type);
  return {.variant = fmt::format(" {}, cycle {}{}{}{}", multigrid_method_names[static_cast<std::size_t>(o.method)],
                                 multigrid_cycle_names[static_cast<std::size_t>(o.cycle)], polynomial ? "" : ", ",
                                 polynomial ? "" : smoother_kind_names[static_cast<std::size_t>(o.smoother.type)],
                                 o.restriction == RestrictionChoice::interpolation ? "" : ", restriction by A^H")};
}

/// The levels that preconditioner amg has for a matrix, which has to stay.
template <class T>
struct AmgHierarchy {
  AmgHierarchy(Context& ctx, const AmgOptions& o, const AnyMatrix<T>& A, const Dense<double>* coordinates)
      : space(ctx, o.near_null_space, coordinates),
        levels(ctx, o,
               {.A = A,
                .hermitian = with_csr(ctx, A, [&](const auto& csr) { return !first_not_hermitian(ctx, csr); }),
                .block_dim = space.block_dim,
                .candidates = space.columns ? &*space.columns : nullptr,
                .make_smoothing = smoothing_pairs<T>(o.smoother)}) {}
  NearNullSpace<T> space;
  Hierarchy<T> levels;
};

/// (A + A^H) / 2, with half of A - A^H as what entries may be off. A place whose mirror is none is zero, and off by all
/// of its entry.
template <class T>
Rows<Bounded<T>> hermitian_part(const Rows<T>& A) {
  Rows<Bounded<T>> half{A.rows, A.cols, A.offsets, A.col, {}};
  A.for_places([&](std::int32_t i, std::size_t k) {
    const Exact<T> own = exact(A.value[k]);
    const auto mirror = A.find(A.col[k], i);
    const Exact<T> sum = mirror ? own + conjugated(exact(A.value[*mirror])) : Exact<T>{};
    const Exact<T> value = sum * Exact<T>(0.5L);
    half.value.emplace_back(value, modulus(own - value));
  });
  return half;
}

/// What a reference takes for the matrices of levels: coarse ones are Hermitian to rounding only.
enum class LevelMatrices { as_they_are, hermitian_parts };

/// The cycle as it is defined, with running error analysis, over the matrices of a hierarchy: these are checked by
/// themselves (check_multigrid), and are the same whenever they are made.
template <class T>
class CycleReference {
 public:
  CycleReference(Context& ctx, const AmgOptions& o, const Hierarchy<T>& hierarchy, const AnyMatrix<T>& finest,
                 LevelMatrices taken = LevelMatrices::as_they_are)
      : ctx_(ctx), options_(o), hierarchy_(hierarchy), finest_(finest) {
    for (const auto& level : hierarchy.levels()) {
      Parts parts;
      const Rows<T> A = rows_of(level->A ? *level->A : finest);
      parts.A = taken == LevelMatrices::hermitian_parts ? hermitian_part(A)
                                                        : with_values(A, [](const T& a) { return Bounded<T>(a); });
      if (const auto* by_matrix = dynamic_cast<const MatrixTransfer<T>*>(level->transfer.get()))
        parts.P = rows_of(by_matrix->prolongation()), parts.R = rows_of(by_matrix->restriction());
      parts_.push_back(std::move(parts));
    }
  }

  BoundedVector<T> apply(const BoundedVector<T>& b) const { return visit(0, options_.cycle, b, {}); }

  /// Whether it knows the matrix of a level to the bit.
  bool is_exact(std::size_t l) const {
    return std::ranges::all_of(parts_[l].A.value, [](const Bounded<T>& a) { return a.error == 0; });
  }

  // The steps of a level.
  /// x + q(D^-1 A) D^-1 (b - A x), from x = 0 where there is no x.
  BoundedVector<T> smoothed(std::size_t l, SmoothingTime time, const BoundedVector<T>& b, BoundedVector<T> x) const {
    const MultigridLevel<T>& level = *hierarchy_.levels()[l];
    if (const auto* by = dynamic_cast<const PreconditionedSmoother<T>*>(level.smoother.get()))
      return stepped(l, *by, time, b, std::move(x));
    const Rows<Bounded<T>>& A = parts_[l].A;
    const auto inverse = level.polynomial->inverse().host();
    const auto factors = level.polynomial->factors().host();
    BoundedVector<T> r = b, d(b.size());
    const bool from_zero = x.empty();
    if (from_zero) x.resize(b.size());
    for (std::size_t k = 0; k < static_cast<std::size_t>(level.polynomial->degree()); ++k) {
      if (k > 0 || !from_zero) r = difference(r, product<T>(A, k > 0 ? d : x));
      const auto old = factors[3 * k], fresh = factors[3 * k + 1], weight = factors[3 * k + 2];
      for (std::size_t i = 0; i < x.size(); ++i) {
        const Bounded<T> scale = times(Bounded<T>(T(fresh)), Bounded<T>(T(inverse[i])));
        BoundedSum<T> step;
        step.add(times(scale, r[i]));
        if (k > 0) step.add(d[i], Bounded<T>(T(old)));
        d[i] = step.result();
        x[i] = BoundedSum<T>().add(x[i]).add(d[i], Bounded<T>(T(weight))).result();
      }
    }
    return x;
  }

  static BoundedVector<T> difference(const BoundedVector<T>& a, const BoundedVector<T>& b) {
    BoundedVector<T> c(a.size());
    for (std::size_t i = 0; i < c.size(); ++i)
      c[i] = BoundedSum<T>().add(a[i]).subtract(b[i], Bounded<T>(T(1))).result();
    return c;
  }

  BoundedVector<T> restricted(std::size_t l, const BoundedVector<T>& r) const {
    const auto& transfer = *hierarchy_.levels()[l]->transfer;
    const auto* plain = dynamic_cast<const AggregateTransfer<T>*>(&transfer);
    if (!plain) return product<T>(parts_[l].R, r);
    std::vector<BoundedSum<T>> sums(as_size(plain->aggregates().count));
    const auto of_row = plain->aggregates().of_row.host();
    for (std::size_t i = 0; i < r.size(); ++i)
      if (of_row[i] >= 0) sums[as_size(of_row[i])].add(r[i]);
    BoundedVector<T> coarse;
    for (const BoundedSum<T>& sum : sums) coarse.push_back(sum.result());
    return coarse;
  }
  BoundedVector<T> corrected(std::size_t l, BoundedVector<T> x, const BoundedVector<T>& coarse) const {
    const auto* plain = dynamic_cast<const AggregateTransfer<T>*>(hierarchy_.levels()[l]->transfer.get());
    const BoundedVector<T> correction = plain ? BoundedVector<T>() : product<T>(parts_[l].P, coarse);
    const auto by = factor<T>(hierarchy_.options().correction_factor());
    for (std::size_t i = 0; i < x.size(); ++i) {
      BoundedSum<T> sum;
      sum.add(x[i]);
      if (!plain)
        sum.add(correction[i], by);
      else if (const auto I = plain->aggregates().of_row.host()[i]; I >= 0)
        sum.add(coarse[as_size(I)], by);
      x[i] = sum.result();
    }
    return x;
  }

 private:
  struct Parts {
    Rows<Bounded<T>> A;
    Rows<T> P, R;
    mutable std::optional<DenseReference<T>> inverse = {};
  };

  /// x + M (b - A x) with a preconditioner M, several times, from x = 0 where there is no x.
  BoundedVector<T> stepped(std::size_t l, const PreconditionedSmoother<T>& by, SmoothingTime time,
                           const BoundedVector<T>& b, BoundedVector<T> x) const {
    const AnyMatrix<T>& A = l ? *hierarchy_.levels()[l]->A : finest_;
    for (int k = 0; k < by.steps(); ++k) {
      const bool from_zero = x.empty();
      const BoundedVector<T> r = from_zero ? b : difference(b, product<T>(parts_[l].A, x));
      const PreconditionerReport report = by.preconditioner(time).report();
      const Question<T> q{ctx_, A, report, r, rows_of(A)};
      const BoundedVector<T> z = preconditioned(q, time);
      if (from_zero) x.resize(b.size());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = from_zero ? z[i] : BoundedSum<T>().add(x[i]).add(z[i]).result();
    }
    return x;
  }
  BoundedVector<T> preconditioned(const Question<T>& q, SmoothingTime time) const {
    if (options_.smoother.type == SmootherKind::ilu0) return reference(Ilu0Options{}, q);
    if (options_.smoother.type == SmootherKind::isai) return reference(IsaiOptions{}, q);
    return with_csr(q.ctx, q.matrix, [&]<class Offset>(const Csr<T, Offset>& csr) {
      const Coloring colors = color(q.ctx, csr);
      const auto order = colors.ordering.order().host();
      const AnyMatrix<T> colored(Reordered<T, Offset>(q.ctx, csr, colors.ordering).release());
      BoundedVector<T> r, x(q.r.size());
      for (const std::int32_t row : order) r.push_back(q.r[as_size(row)]);
      const auto direction = time == SmoothingTime::before ? SweepDirection::forward : SweepDirection::backward;
      const BoundedVector<T> z = reference(GaussSeidelOptions{.direction = direction},
                                           Question<T>{q.ctx, colored, q.report, r, rows_of(colored)});
      for (std::size_t k = 0; k < order.size(); ++k) x[as_size(order[k])] = z[k];
      return x;
    });
  }

  BoundedVector<T> visit(std::size_t l, MultigridCycle kind, const BoundedVector<T>& b, BoundedVector<T> x) const {
    const MultigridLevel<T>& level = *hierarchy_.levels()[l];
    if (level.dense) {
      auto& inverse = parts_[l].inverse;  // made for who comes here, for it takes n^3
      if (!inverse) inverse.emplace(parts_[l].A, level.dense->facts().shift, level.kernel.host());
      return inverse->solved(b);
    }
    x = smoothed(l, SmoothingTime::before, b, std::move(x));
    if (level.transfer)
      x = corrected(l, x, correction(l + 1, kind, restricted(l, difference(b, product<T>(parts_[l].A, x)))));
    return smoothed(l, SmoothingTime::after, b, std::move(x));
  }

  BoundedVector<T> correction(std::size_t l, MultigridCycle kind, const BoundedVector<T>& b) const {
    if (hierarchy_.cycle().has_krylov_steps(l)) return krylov_steps(l, b);
    BoundedVector<T> x = visit(l, kind, b, {});
    if (hierarchy_.levels()[l]->dense || kind == MultigridCycle::v || kind == MultigridCycle::k) return x;
    return visit(l, kind == MultigridCycle::f ? MultigridCycle::v : kind, b, std::move(x));
  }

  static Bounded<T> dot(const BoundedVector<T>& a, const BoundedVector<T>& b) {
    BoundedSum<T> sum;
    for (std::size_t i = 0; i < a.size(); ++i) sum.add(conjugated(a[i]), b[i]);
    return sum.result();
  }
  /// Notay (2010).
  BoundedVector<T> krylov_steps(std::size_t l, const BoundedVector<T>& b) const {
    const Rows<Bounded<T>>& A = parts_[l].A;
    const BoundedVector<T> c1 = visit(l, MultigridCycle::k, b, {}), v1 = product<T>(A, c1);
    const bool hermitian = hierarchy_.hermitian();
    const BoundedVector<T>& s1 = hermitian ? c1 : v1;
    const Bounded<T> size1 = dot(s1, v1), one = quotient(dot(s1, b), size1);
    BoundedVector<T> r(b.size());
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = BoundedSum<T>().add(b[i]).subtract(one, v1[i]).result(1);
    const BoundedVector<T> c2 = visit(l, MultigridCycle::k, r, {}), v2 = product<T>(A, c2);
    const BoundedVector<T>& s2 = hermitian ? c2 : v2;
    const Bounded<T> mixed = dot(s1, v2), share = quotient(mixed, size1),
                     size2 = BoundedSum<T>().add(dot(s2, v2)).subtract(conjugated(mixed), share).result(4),
                     two = quotient(dot(s2, r), size2), first = BoundedSum<T>().add(one).subtract(share, two).result(4);
    BoundedVector<T> x(b.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = BoundedSum<T>().add(first, c1[i]).add(two, c2[i]).result(2);
    return x;
  }

  Context& ctx_;
  const AmgOptions& options_;
  const Hierarchy<T>& hierarchy_;
  const AnyMatrix<T>& finest_;
  std::vector<Parts> parts_;
};

template <class T>
BoundedVector<T> reference(const AmgOptions& o, const Question<T>& q) {
  const AmgHierarchy<T> made(q.ctx, o, q.matrix, q.coordinates);
  return CycleReference<T>(q.ctx, o, made.levels, q.matrix).apply(q.r);
}

}  // namespace krill::apps::verify
