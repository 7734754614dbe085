// Solves in parts of the matrix.
#pragma once
#include "apps/verify/precond/block.hpp"
#include "apps/verify/precond/dense.hpp"
#include "solvers/method/type_name.hpp"
#include "solvers/multigrid/dense_inverse.hpp"
#include "solvers/precond/matrix_parts.hpp"
#include "sparse/coarsen/contract.hpp"

namespace krill::apps::verify {

inline Judging judging(const SchwarzOptions& o) {
  const Judging inside = judging_of(o.inner->options);
  return {.variant = fmt::format(" {}{}{}{}", type_name(o.inner->options), inside.variant,
                                 o.overlap > 0 ? ", overlap" : "", o.coarse == CoarseSpace::none ? "" : ", coarse"),
          .not_judged = inside.not_judged};
}

/// The parts and their matrices are the library's own, made by products and conversions that have checks of their own.
template <class T>
BoundedVector<T> reference(const SchwarzOptions& o, const Question<T>& q) {
  const Ic0Options definite;
  return with_csr(q.ctx, q.matrix, [&]<class Offset>(const Csr<T, Offset>& csr) {
    std::vector<std::int32_t> part_of = krill::detail::part_of_rows(q.ctx, o, csr);
    BoundedVector<T> z(q.r.size());
    if (o.overlap > 0) {
      const krill::detail::OverlappingParts parts(csr, o.parts, part_of);
      BoundedVector<T> r;
      for (const std::int32_t row : parts.rows) r.push_back(q.r[as_size(row)]);
      const BoundedVector<T> of_parts = solve_block(q.ctx, o.inner->options, definite, parts.matrix(q.ctx, csr), r);
      for (std::size_t i = 0; i < z.size(); ++i) z[i] = of_parts[as_size(parts.place[i])];
    } else {
      z = solve_block(q.ctx, o.inner->options, definite,
                      krill::detail::inside_parts(q.ctx, csr, Array<std::int32_t>(part_of)), q.r);
    }
    if (o.coarse == CoarseSpace::none) return z;
    const Aggregates parts = krill::detail::list_aggregates(q.ctx, o.parts, Array<std::int32_t>(part_of));
    ContractionPlan<T, Offset> contraction(q.ctx, csr, parts);
    contraction.update(q.ctx, csr, parts);
    const AnyMatrix<T> coarse(std::move(contraction).release());
    const Array<T> ones(std::vector<T>(as_size(o.parts), T(1)));
    DenseInverse<T> dense(o.parts);
    dense.set(q.ctx, coarse, &ones);
    std::vector<BoundedSum<T>> sums(as_size(o.parts));
    for (std::size_t i = 0; i < part_of.size(); ++i) sums[as_size(part_of[i])].add(q.r[i]);
    BoundedVector<T> r;
    for (const BoundedSum<T>& sum : sums) r.push_back(sum.result());
    const BoundedVector<T> correction = DenseReference<T>(rows_of(coarse), dense.facts().shift, ones.host()).solved(r);
    for (std::size_t i = 0; i < z.size(); ++i)
      z[i] = BoundedSum<T>().add(z[i]).add(correction[as_size(part_of[i])]).result();
    return z;
  });
}

}  // namespace krill::apps::verify
