#include "apps/parallel/starting_context.hpp"

#include <fmt/format.h>

#include <chrono>

#include "apps/parallel/agreement.hpp"
#include "apps/system/linear_system.hpp"

namespace krill::apps {

bool process_leads() { return !process_team() || process_team()->rank() == 0; }

std::vector<RankPlace> settle_with_team(ProcessTeam& team, Case& settings, std::vector<std::string>& notes) {
  require_same(team, settings);
  team.set_timeout(settings.parallel.timeout);
  const std::vector<std::string> devices = settle_devices(team, settings, notes);
  if (!devices.empty())
    team.prepare_devices(settings.parallel.transport);
  else if (settings.parallel.transport == Transport::nccl)
    throw InvalidArgument(
        "parallel.transport nccl: the ranks solve on the host, where NCCL has no part; use transport auto, or backend "
        "cuda with a device for each rank");
  if (settings.threads == 0) settings.threads = threads_of_rank(team);
  return places_of_ranks(team, settings.threads, devices);
}

StartingContext::StartingContext(ProcessTeam* team, const Case& settings)
    : team_(team), start_(std::async(std::launch::async, [team, settings] {
        auto ctx = std::make_shared<Context>(make_context(settings));
        if (team && ctx->on_cuda()) team->join_devices(settings.device);
        return ctx;
      })) {
  take_threads(settings);  // OpenMP keeps a number for each thread that calls it
  if (start_.wait_for(std::chrono::milliseconds(20)) == std::future_status::ready) start_.get();
}

Context& StartingContext::get() {
  // A rank that is gone has no part in what the device's start waits for.
  while (team_ && start_.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready)
    team_->look_for_failures(-2);
  Context& ctx = *start_.get();
  ctx.team = team_;
  return ctx;
}

std::string slow_transport(const ProcessTeam& team, Transport wanted) {
  const std::string& transport = team.device_transport();
  if (transport.empty() || transport.starts_with("NCCL") || wanted == Transport::mpi) return {};
  return fmt::format("the devices exchange by {}; every iteration waits for that, where NCCL would not", transport);
}

}  // namespace krill::apps
