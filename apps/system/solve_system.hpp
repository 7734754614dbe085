// One solve from the loaded system to its figures: what `krill solve` and the workers of `krill evaluate` share.
#pragma once
#include <functional>

#include "apps/system/linear_system.hpp"

namespace krill::apps {

/// Notes in the record, which has its settings, that a solve begins now, and its precision.
void begin_record(SolveRecord&);
/// Notes where it runs.
void record_backend(SolveRecord&, const Context&);

/// Solves and fills in the record, as solve_prepared does; with the error, where the solution is known.
template <class T>
void solve_system(Context&, LinearSystem<T>&, SolveRecord&, const std::function<void()>& prepared, const Watch&,
                  const ColumnWatch& solved = {});

}  // namespace krill::apps
