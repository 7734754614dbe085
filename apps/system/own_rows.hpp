// The matrix of a case that several ranks solve, of which each has its own rows, or all.
#pragma once
#include <string>

#include "apps/system/linear_system.hpp"
#include "sparse/core/team.hpp"

namespace krill::apps {

/// Why every rank has to have the whole matrix, a clause; empty where its own rows do. `known`: what is known of the
/// matrix; null before it is loaded, when what is left to `auto` is taken for what looks at own rows only.
std::string why_whole(const SolveRecord&, const MatrixProperties* known = nullptr);

/// A rank's rows of a generated matrix, in CSR, and which those of each rank are.
template <class T>
struct GeneratedRows {
  AnyMatrix<T> rows;
  RowPartition partition;
};
/// Of about equal cost for each rank, which begin at multiples of `unit`. Ranks exchange nothing. Raises as generate().
template <class T>
GeneratedRows<T> generate_own_rows(const GeneratorOptions&, const Team&, std::int64_t unit);

/// As load_matrix(), of a team: ranks make or read their own rows, of a partition by cost, and nobody has others,
/// unless the record's why_whole, which this fills in, says why not. All ranks take part. Raises as load_matrix(), and
/// TeamFailure.
template <class T>
SourceMatrix<T> load_in_team(Context&, Team&, SolveRecord&);

}  // namespace krill::apps
