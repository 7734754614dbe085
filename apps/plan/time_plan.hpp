// What `krill solve --plan --ranks` says of the time of an iteration, on one rank and on several.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/plan/iteration_model.hpp"
#include "apps/report/record.hpp"
#include "sparse/parallel/distributed.hpp"

namespace krill::apps {

struct TimePlan {
  Machine machine;
  int ranks = 2;
  StepTime one, many;   ///< on one rank; of several, that of the rank that takes longest
  std::string why_not;  ///< why there are no times; empty: there are

  double speed_up() const { return one.total() / many.total(); }
};

/// bytes_an_entry: of the matrix as products move it. between_hosts: entries of vectors that come from other hosts or
/// go there.
RankPart rank_part(const SharedPart&, double bytes_an_entry, std::int64_t between_hosts = 0);

/// whole: of one rank. parts: of each of several. Nothing of `work`: a plan without times, which says that the model
/// has none for the solver and the preconditioner of these names.
TimePlan plan_time(Machine, const std::optional<StepWork>& work, const RankPart& whole,
                   const std::vector<RankPart>& parts, bool can_stay_in_kernel, const std::string& solver,
                   const std::string& preconditioner);

/// Sentences: that several ranks are slower, what is extrapolated, which figures are assumed.
std::vector<std::string> remarks(const TimePlan&);

/// Of a solve by several ranks that is over: a sentence where the model says that one of the machine's devices is
/// quicker; empty where it does not, has no time for the method, or the devices are others.
template <class T>
std::string slower_than_one(const Machine&, const SolveRecord&);

std::string time_text(const TimePlan&);
nlohmann::ordered_json time_json(const TimePlan&);

}  // namespace krill::apps
