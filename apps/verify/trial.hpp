// What suites share: arrays from vectors, scalars to multiply with, and one check over several vectors.
#pragma once
#include <cstdint>

#include "apps/verify/suites.hpp"
#include "sparse/convert/to_format.hpp"
#include "sparse/core/array.hpp"

namespace krill::apps::verify {

template <class T>
Array<T> array(const std::vector<T>& values, const char* name) {
  return Array<T>(std::vector<T>(values), name);
}

/// Factors that no product leaves alone; complex where T is.
template <class T>
T scalar(double re, double im) {
  if constexpr (is_complex<T>)
    return {static_cast<real_t<T>>(re), static_cast<real_t<T>>(im)};
  else
    return static_cast<T>(re);
}
template <class T>
T some_alpha() {
  return scalar<T>(0.7, -0.4);
}
template <class T>
T some_beta() {
  return scalar<T>(-1.3, 0.6);
}

/// The same pattern with other values.
template <class T>
Csr<T> with_other_values(const Csr<T>& A) {
  Csr<T> other = A.clone();
  for (T& value : other.values().edit()) value = value * T(2) + T(1);
  return other;
}

/// What `compare_one(x, y)` finds for each pair of vectors, as one comparison.
template <class T, class F>
Comparison for_vectors(const std::vector<NamedVector<T>>& x, const std::vector<NamedVector<T>>& y, F&& compare_one) {
  Comparison all;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const NamedVector<T>& other = y[k % y.size()];
    all.merge(compare_one(x[k].values, other.values), x[k].name);
  }
  return all;
}

inline std::string_view op_name(Op op) {
  return op == Op::none ? "" : op == Op::transpose ? ", transpose" : ", adjoint";
}

template <class L, class T>
std::vector<L> in_precision(std::span<const T> values) {
  std::vector<L> result;
  for (const T& value : values) result.push_back(L(value));
  return result;
}
template <class L, class T>
Csr<L> in_precision(const Csr<T>& A) {
  return {A.cols(), A.row_offsets().clone(), A.col_indices().clone(), Array<L>(in_precision<L>(A.values().host()))};
}

/// A in the precision L and the format that preconditioners get.
template <class L, class T>
AnyMatrix<L> matrix_in(Context& ctx, const Subject<T>& s, const Selection& selection) {
  return convert_format(ctx, in_precision<L>(s.A), selection.solved_in.format, selection.solved_in.layout);
}

/// What the library refuses: of a case nothing is known then; the gallery's matrices suit what is tried on them.
inline void note_refusal(Ledger& ledger, const Selection& selection, const std::string& name,
                         const std::string& reason) {
  selection.whole_library ? ledger.fail(name, reason) : ledger.not_checked(name, reason);
}

inline constexpr std::string_view exact_bound = "0: the operation moves data, so every bit has to agree";

}  // namespace krill::apps::verify
