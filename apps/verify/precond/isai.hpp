// Incomplete sparse approximate inverses.
#pragma once
#include "apps/verify/precond/reference.hpp"
#include "apps/verify/references/sparse_inverse.hpp"
#include "solvers/precond/isai.hpp"

namespace krill::apps::verify {

inline Judging judging(const IsaiOptions& o) {
  if (o.form == IsaiForm::automatic) return {};
  return {.variant = fmt::format(" {}", isai_form_names[static_cast<std::size_t>(o.form)])};
}

/// M r, or G^H (G r).
template <class T>
BoundedVector<T> reference(const IsaiOptions& o, const Question<T>& q) {
  const bool factored = fact<std::string>(q.report, "form") == "factored";
  const Rows<Bounded<T>> inverse =
      sparse_inverse(q.A, factored ? InverseForm::factored : InverseForm::general, o.max_entries);
  const BoundedVector<T> once = product<T>(inverse, q.r);
  return factored ? product<T>(transposed(inverse, Op::adjoint), once) : once;
}

}  // namespace krill::apps::verify
