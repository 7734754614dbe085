// Saddle points, block by block.
#pragma once
#include "apps/verify/precond/block.hpp"
#include "solvers/precond/saddle_blocks.hpp"

namespace krill::apps::verify {

inline Judging judging(const SchurOptions& o) {
  return {.variant = fmt::format(" {}", schur_form_names[static_cast<std::size_t>(o.form)])};
}

/// The blocks are the library's own, made by products that have checks of their own.
template <class T>
BoundedVector<T> reference(const SchurOptions& o, const Question<T>& q) {
  return with_csr(q.ctx, q.matrix, [&]<class Offset>(const Csr<T, Offset>& csr) {
    const AmgOptions definite;
    const PreconditionerOptions block = krill::detail::options_of(o.block),
                                complement = krill::detail::options_of(o.complement);
    const krill::detail::SaddleRows rows(csr);
    const krill::detail::SaddleBlocks<T, Offset> blocks(q.ctx, o, csr, rows);
    const auto part = [&](const std::vector<std::int32_t>& of) {
      BoundedVector<T> r;
      for (const std::int32_t row : of) r.push_back(q.r[as_size(row)]);
      return r;
    };
    const BoundedVector<T> z1 = solve_block(q.ctx, block, definite, blocks.h, part(rows.of_h)),
                           r2 = part(rows.of_constraints), of_z1 = product<T>(rows_of(blocks.g), z1);
    BoundedVector<T> left(r2.size());
    for (std::size_t i = 0; i < r2.size(); ++i)
      left[i] = BoundedSum<T>().add(of_z1[i]).subtract(r2[i], Bounded<T>(T(1))).result();
    BoundedVector<T> z2 = solve_block(q.ctx, complement, definite, blocks.s, left);
    if (blocks.between)
      z2 = solve_block(q.ctx, complement, definite, blocks.s, product<T>(rows_of(*blocks.between), z2));
    BoundedVector<T> z(q.r.size());
    for (std::size_t k = 0; k < z1.size(); ++k) z[as_size(rows.of_h[k])] = z1[k];
    for (std::size_t k = 0; k < z2.size(); ++k) z[as_size(rows.of_constraints[k])] = z2[k];
    return z;
  });
}

}  // namespace krill::apps::verify
