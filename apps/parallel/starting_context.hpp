// The context of a process that is alone, or one rank of several.
#pragma once
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "apps/parallel/process_team.hpp"
#include "apps/report/record.hpp"
#include "sparse/core/context.hpp"

namespace krill::apps {

/// Whether this process speaks and writes files: it is alone, or rank 0.
bool process_leads();

/// Has all ranks agree on the case, and settles backend, device and threads of it in the place of `auto`, as
/// settle_devices() does. Returns where each rank solves. All ranks take part. Raises InvalidArgument and NoDevice, on
/// all.
std::vector<RankPlace> settle_with_team(ProcessTeam&, Case&, std::vector<std::string>& notes);

/// A context that starts in a thread of its own, for CUDA takes 0.3 s, and so do devices that find each other.
class StartingContext {
 public:
  /// team: null where the process is alone, else settings are those of settle_with_team(). Where there is no device it
  /// raises NoDevice at once, before long files are read.
  StartingContext(ProcessTeam* team, const Case& settings);
  /// Waits for it. With a team, what it solves the ranks solve together, and device_transport() tells how devices
  /// exchange. All ranks take part. Raises NoDevice and TeamFailure.
  Context& get();

 private:
  ProcessTeam* team_;
  std::shared_future<std::shared_ptr<Context>> start_;
};

/// A sentence where devices have joined the team, and do not exchange by NCCL though the case has not asked for MPI;
/// empty otherwise.
std::string slow_transport(const ProcessTeam&, Transport wanted);

}  // namespace krill::apps
