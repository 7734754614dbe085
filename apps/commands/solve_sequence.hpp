// `krill solve` of a case with a sequence.
#pragma once
#include "apps/case/case.hpp"
#include "apps/commands/solve.hpp"
#include "apps/support/interruption.hpp"

namespace krill::apps {

/// Solves one step after the other, tells of each as it ends, and writes report.json, steps.csv, steps.svg, solutions,
/// and as it goes on the journal steps.jsonl, by which the same command goes on after an end before the last step. A
/// step that fails or is refused harms no other. The exit code: 0 all steps converged (and are verified, where asked);
/// 1 not; 3 the disk did not take the results. Raises Error where there is nothing to report: a file is missing,
/// numbers of files differ, or no step could begin; OutOfMemory and CudaError end a sequence with the report of what is
/// finished.
int solve_sequence(const SolveCommand&, Case settings, Interruption&);

}  // namespace krill::apps
