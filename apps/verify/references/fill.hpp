// Fill by levels, row after row as elimination goes (Saad 2003, section 10.3.3).
#pragma once
#include <map>

#include "apps/verify/references/rows.hpp"
#include "sparse/factor/factorization.hpp"

namespace krill::apps::verify {

/// A with zeros where elimination makes entries of level 1 to `level`; for IC(0) the lower triangle of that, with A's
/// lower triangle mirrored.
template <class T>
Rows<T> with_fill(const Rows<T>& A, Factorization kind, int level) {
  const bool lu = kind == Factorization::ilu0;
  const Rows<T> mirror = transposed(A, Op::transpose);
  std::vector<std::map<std::int32_t, int>> upper(as_size(A.rows));  // the levels of rows from their diagonal on
  Rows<T> filled{A.rows, A.cols, {0}, {}, {}};
  for (std::int32_t i = 0; i < A.rows; ++i) {
    std::map<std::int32_t, int> row;
    for (std::size_t k = A.begin(i); k < A.end(i); ++k)
      if (lu || A.col[k] <= i) row[A.col[k]] = 0;
    if (!lu)
      for (std::size_t k = mirror.begin(i); k < mirror.end(i); ++k)
        if (mirror.col[k] > i) row[mirror.col[k]] = 0;
    for (auto pivot = row.begin(); pivot != row.end() && pivot->first < i; ++pivot)
      for (const auto& [j, theirs] : upper[as_size(pivot->first)]) {
        const int made = pivot->second + theirs + 1;
        if (j == pivot->first || made > level) continue;
        const auto [at, is_new] = row.try_emplace(j, made);
        if (!is_new) at->second = std::min(at->second, made);
      }
    for (const auto& [j, of_entry] : row) {
      if (j >= i) upper[as_size(i)][j] = of_entry;
      if (lu || j <= i) filled.col.push_back(j), filled.value.push_back(A.at(i, j));
    }
    filled.offsets.push_back(filled.col.size());
  }
  return filled;
}

}  // namespace krill::apps::verify
