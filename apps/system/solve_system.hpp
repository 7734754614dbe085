// One solve from the loaded system to its figures: what `krill solve` and the workers of `krill evaluate` share.
#pragma once
#include <functional>

#include "apps/system/linear_system.hpp"
#include "solvers/system/sequence.hpp"

namespace krill::apps {

/// Notes in the record, which has its settings, that a solve begins now, and its precision.
void begin_record(SolveRecord&);
/// Notes where it runs.
void record_backend(SolveRecord&, const Context&);

/// Solves and fills in the record, as solve_prepared does; with the error, where the solution is known.
template <class T>
void solve_system(Context&, LinearSystem<T>&, SolveRecord&, const std::function<void()>& prepared, const Watch&,
                  const ColumnWatch& solved = {});

/// The same of a step, with what earlier ones left to it; `system` is used up but for b and x.
template <class T>
StepSetup solve_step(Context&, SystemSequence<T>&, LinearSystem<T>& system, SolveRecord&,
                     const std::function<void()>& prepared, const Watch&);

}  // namespace krill::apps
