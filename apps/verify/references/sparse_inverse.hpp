// Sparse approximate inverses as their definition has them.
#pragma once
#include "apps/verify/references/rows.hpp"
#include "sparse/inverse/form.hpp"

namespace krill::apps::verify {

/// M or G (inverse/form.hpp), a dense system for each row: M by elimination with partial pivoting, G without. A pivot
/// of zero, or one that is not positive, leaves numbers that are not finite.
template <class T>
Rows<Bounded<T>> sparse_inverse(const Rows<T>& A, InverseForm, std::int32_t max_entries);

}  // namespace krill::apps::verify
