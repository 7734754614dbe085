// Saddle points, block by block.
#pragma once
#include "apps/verify/precond/reference.hpp"
#include "solvers/precond/lower_precision.hpp"
#include "solvers/precond/saddle_blocks.hpp"

namespace krill::apps::verify {

inline Judging judging(const SchurOptions& o) {
  return {.variant = fmt::format(" {}", schur_form_names[static_cast<std::size_t>(o.form)])};
}

/// The inverse of a block in the precision L that it is kept in, by the definition of that preconditioner.
template <class L, class T, class Offset>
BoundedVector<T> solve_block(Context& ctx, const PreconditionerOptions& options, const Csr<T, Offset>& block,
                             const BoundedVector<T>& r) {
  std::vector<L> values;
  for (const T& value : block.values().host()) values.push_back(static_cast<L>(value));
  const AnyMatrix<L> kept(Csr<L, Offset>(block.cols(), block.row_offsets().clone(), block.col_indices().clone(),
                                         Array<L>(std::move(values))));
  const PreconditionerReport report = make_preconditioner<L>(ctx, options, kept)->report();
  BoundedVector<L> low;
  for (const Bounded<T>& entry : r)
    low.push_back({entry.value, entry.error + (std::is_same_v<L, T> ? 0 : gamma<L>(1) * entry.greatest())});
  BoundedVector<T> z;
  for (const Bounded<L>& entry : preconditioned<L>(ctx, options, kept, report, low))
    z.push_back({entry.value, entry.error});
  return z;
}
template <class T, class Offset>
BoundedVector<T> solve_block(Context& ctx, BlockInverse kind, const Csr<T, Offset>& block, const BoundedVector<T>& r) {
  const PreconditionerOptions options = krill::detail::inverse_of(kind, !first_not_hermitian(ctx, block));
  return is_kept_in_float32(options) ? solve_block<lower_t<T>>(ctx, options, block, r)
                                     : solve_block<T>(ctx, options, block, r);
}

/// The blocks are the library's own, made by products that have checks of their own.
template <class T>
BoundedVector<T> reference(const SchurOptions& o, const Question<T>& q) {
  return with_csr(q.ctx, q.matrix, [&]<class Offset>(const Csr<T, Offset>& csr) {
    const krill::detail::SaddleRows rows(csr);
    const krill::detail::SaddleBlocks<T, Offset> blocks(q.ctx, o, csr, rows);
    const auto part = [&](const std::vector<std::int32_t>& of) {
      BoundedVector<T> r;
      for (const std::int32_t row : of) r.push_back(q.r[as_size(row)]);
      return r;
    };
    const BoundedVector<T> z1 = solve_block(q.ctx, o.block, blocks.h, part(rows.of_h)), r2 = part(rows.of_constraints),
                           of_z1 = product<T>(rows_of(blocks.g), z1);
    BoundedVector<T> left(r2.size());
    for (std::size_t i = 0; i < r2.size(); ++i)
      left[i] = BoundedSum<T>().add(of_z1[i]).subtract(r2[i], Bounded<T>(T(1))).result();
    BoundedVector<T> z2 = solve_block(q.ctx, o.complement, blocks.s, left);
    if (blocks.between) z2 = solve_block(q.ctx, o.complement, blocks.s, product<T>(rows_of(*blocks.between), z2));
    BoundedVector<T> z(q.r.size());
    for (std::size_t k = 0; k < z1.size(); ++k) z[as_size(rows.of_h[k])] = z1[k];
    for (std::size_t k = 0; k < z2.size(); ++k) z[as_size(rows.of_constraints[k])] = z2[k];
    return z;
  });
}

}  // namespace krill::apps::verify
