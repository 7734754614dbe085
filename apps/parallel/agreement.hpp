// What the processes of a solve have to have in common.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/parallel/process_team.hpp"
#include "apps/report/record.hpp"
#include "sparse/core/device.hpp"

namespace krill::apps {

/// Raise InvalidArgument, on all ranks, which names the first one that differs from rank 0: in the build of krill, with
/// both; in that or in its case, with a key that differs; in its matrix. All ranks take part.
void require_same_build(Team&, const std::string& build);
void require_same(Team&, const Case&);
void require_same(Team&, const MatrixOrigin&);

/// Host threads for each rank: the cores, shared by the ranks of the host, unless the launcher has bound it to fewer.
int threads_of_rank(const ProcessTeam&);

/// Cores that a rank may use, and those that it could use: its part of its launcher's, no more than it has threads for.
struct RankCores {
  int own, useful;
};
/// threads: those that it is told to have; 0: none are named.
RankCores cores_of_rank(const ProcessTeam&, int threads);
/// A sentence that names the first rank with fewer cores than it could use: Open MPI binds one or two ranks to a core
/// each. Empty where there is none, or where so many entries are the work of one thread anyway.
std::string few_cores(std::span<const RankCores>, std::int64_t entries);

/// Settles backend and device of the case in the place of `auto`: each rank has a device of its own, which it takes in
/// the order of the ranks of its host, or all of them solve on the host, with a note where there are devices. Returns
/// "NAME, UUID" of each rank's; none on the host. All ranks take part. Raises InvalidArgument and NoDevice, on all of
/// them, where backend cuda cannot be had.
std::vector<std::string> settle_devices(ProcessTeam&, Case&, std::vector<std::string>& notes);

/// Where each rank solves, with so many host threads, on these devices, or on none. All ranks take part.
std::vector<RankPlace> places_of_ranks(Team&, int threads, const std::vector<std::string>& devices);

/// "4 ranks on the host, 1 thread each", "2 ranks, each on one NVIDIA H200". device: nothing on the host.
std::string team_text(int ranks, const std::optional<DeviceInfo>& device, int threads);

}  // namespace krill::apps
