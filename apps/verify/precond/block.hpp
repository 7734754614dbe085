// A block, by what stands for its inverse.
#pragma once
#include "apps/verify/precond/reference.hpp"
#include "solvers/precond/inverted_block.hpp"
#include "solvers/precond/lower_precision.hpp"

namespace krill::apps::verify {

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
BoundedVector<T> solve_block(Context& ctx, const PreconditionerOptions& wanted,
                             const PreconditionerOptions& of_definite, const Csr<T, Offset>& block,
                             const BoundedVector<T>& r) {
  const PreconditionerOptions options = krill::detail::inverse_of(ctx, wanted, of_definite, block);
  return is_kept_in_float32(options) ? solve_block<lower_t<T>>(ctx, options, block, r)
                                     : solve_block<T>(ctx, options, block, r);
}

}  // namespace krill::apps::verify
