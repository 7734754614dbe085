// The memory of a case before it runs, and the time of an iteration on several ranks: `krill solve --plan`.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/case/case.hpp"
#include "apps/plan/time_plan.hpp"
#include "solvers/method/choose.hpp"
#include "sparse/parallel/distributed.hpp"

namespace krill::apps {

/// What a run would hold on the backend's side, in bytes.
struct MemoryPlan {
  struct Part {
    std::string name, what;
    std::size_t bytes = 0;
  };
  Case settings;                      ///< what was `auto` of the method is chosen
  std::vector<ChoiceReason> choices;  ///< why
  bool for_cuda = false;
  std::size_t steps = 1;         ///< of a sequence, of which the first one is planned
  std::string matrix;            ///< "poisson3d, 262144 rows, 1810432 entries"
  std::vector<Part> parts;       ///< while the solver iterates
  std::size_t during_solve = 0;  ///< their sum
  std::size_t peak = 0;
  std::string phase_of_peak;       ///< transformation, products, preconditioner or solve
  std::size_t per_step = 0;        ///< that one more step until a restart would take of `solver`; 0: no basis is kept
  std::size_t reading = 0;         ///< on the host, while the matrix is read and sorted; an estimate
  std::size_t free = 0;            ///< on the backend's side at present; 0: not known
  std::vector<std::string> notes;  ///< what several ranks have in the place of what was chosen
  std::string why_whole;           ///< each of several ranks has all of the matrix on its host; empty: its own rows
  std::vector<SharedPart> shares;  ///< of several ranks: what each has; the bytes are those of the one with most of it
  std::optional<TimePlan> time;    ///< of several ranks
};

/// Reads or generates the matrix, counts what set-ups allocate by, and adds it up; nothing is allocated on a device.
/// The products of `format: auto` are counted in the form that would be made and timed, though it may lose. Raises as a
/// solve does where the matrix is refused. Of a sequence the first step is planned, and that the next one is read while
/// that one's set-up stays.
/// ranks: of processes that would solve it together; each then needs `reading` on its host, too, and the time of an
/// iteration is predicted for `machine`, a file of read_machine(); empty: the one that comes with the program for this
/// backend. Raises InvalidArgument where several processes do not share such a case, and where the machine is one of
/// the other backend.
MemoryPlan plan_memory(const Case&, int ranks = 1, const std::string& machine = {});

/// What is missing, and what to change; empty where the peak is no more than is free, or that is not known.
std::string lack_of_memory(const MemoryPlan&);

std::string plan_text(const MemoryPlan&);
/// With `error` and `exit_code` where memory lacks.
nlohmann::ordered_json plan_json(const MemoryPlan&);

}  // namespace krill::apps
