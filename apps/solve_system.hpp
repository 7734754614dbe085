// One solve from the loaded system to its figures: what `krill solve` and the workers of `krill evaluate` share.
#pragma once
#include <functional>

#include "krill/apps/linear_system.hpp"

namespace krill::apps {

/// Notes in the record, which has its settings, that a solve begins now and where.
void begin_record(SolveRecord&, const Context&);

/// What the record tells of the system itself.
template <class T>
void note_system(SolveRecord&, const LinearSystem<T>&);

/// The preconditioner of the record's case. What the rules have chosen and the matrix refuses gives way to something
/// weaker, which the record notes. Raises InvalidArgument with the row of the system that is solved.
template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context&, SolveRecord&, const LinearSystem<T>&,
                                                       const Operator<T>& products);

/// Makes the products and the preconditioner, solves, and fills in the record: result, residuals and errors, bytes, and
/// the times, to which it adds. `prepared` is called before the first iteration. Raises InvalidArgument where the
/// matrix does not allow the preconditioner.
template <class T>
void solve_system(Context&, LinearSystem<T>&, SolveRecord&, const std::function<void()>& prepared, const Watch&);

}  // namespace krill::apps
