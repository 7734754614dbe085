// The judge asked about a solved case.
#pragma once
#include <span>
#include <vector>

#include "apps/case/case.hpp"
#include "apps/report/record.hpp"
#include "apps/verify/judge.hpp"

namespace krill::apps {

/// Reads or generates the matrix of the case anew, in double precision, so that nothing that was done to it on the way
/// to the solver can hide, and b by its rule as well (where b was made from a known solution, the judge gets that b).
/// Then judges x. `record` gives what was claimed. Never throws: an input that is gone or has changed, or a lack of
/// memory, is a judgement without verdict. Of several right-hand sides each that converged is judged; one judgement
/// where there is one system, or a batch.
template <class T>
std::vector<Judgement> second_opinion(const SolveRecord& record, std::span<const T> b, std::span<const T> x);

/// That of the worst of them, with the seconds of all.
Judgement together(const std::vector<Judgement>&);

}  // namespace krill::apps
