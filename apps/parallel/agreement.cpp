#include "apps/parallel/agreement.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "apps/case/effective.hpp"
#include "apps/support/machine.hpp"
#include "sparse/core/config.hpp"
#include "sparse/io/checksum.hpp"

namespace krill::apps {
namespace {

/// The first rank whose word differs from rank 0's; -1: none.
std::ptrdiff_t first_other(Team& team, std::string_view mine) {
  const auto all = gather_records(team, xxh64(mine));
  const auto other = std::ranges::find_if(all, [&](std::uint64_t each) { return each != all.front(); });
  return other == all.end() ? -1 : other - all.begin();
}

/// What each rank says, in the order of ranks. All take part.
std::vector<std::string> gather_texts(Team& team, std::string mine) {
  const auto sizes = gather_records(team, mine.size());
  mine.resize(std::ranges::max(sizes));
  std::string all(mine.size() * sizes.size(), '\0');
  team.gather(mine.data(), all.data(), mine.size());
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < sizes.size(); ++r) texts.push_back(all.substr(r * mine.size(), sizes[r]));
  return texts;
}

/// "threads is 2 there and 1 on rank 0": a key that both cases have, before one that only one of them has.
std::string difference(const std::string& there, const std::string& here) {
  const nlohmann::json other = nlohmann::json::parse(there).flatten(), own = nlohmann::json::parse(here).flatten();
  std::string found;
  const auto look = [&](const nlohmann::json& keys) {
    for (const auto& [key, value] : keys.items()) {
      const bool in_both = other.contains(key) && own.contains(key);
      if ((in_both && other[key] == own[key]) || (!in_both && !found.empty())) continue;
      const auto text = [&](const nlohmann::json& of) { return of.contains(key) ? of[key].dump() : "not there"; };
      std::string name = key.substr(1);
      std::ranges::replace(name, '/', '.');
      found = fmt::format("{} is {} there and {} on rank 0", name, text(other), text(own));
      if (in_both) return true;
    }
    return false;
  };
  if (!look(own)) look(other);
  return found;
}

}  // namespace

void require_same_build(Team& team, const std::string& build) {
  const auto r = first_other(team, build);
  if (r < 0) return;
  const auto builds = gather_texts(team, build);
  throw InvalidArgument(
      fmt::format("rank {} runs another build of krill than rank 0, {} where that is {}; start the same program on all "
                  "hosts",
                  r, builds[static_cast<std::size_t>(r)], builds.front()));
}

void require_same(Team& team, const Case& settings) {
  require_same_build(team, fmt::format("{} {} {}", version, git_commit(), cxx_compiler));
  const std::string mine = written_case(settings).dump();
  const auto r = first_other(team, mine);
  if (r < 0) return;
  const auto cases = gather_texts(team, mine);
  throw InvalidArgument(fmt::format(
      "rank {} has another case than rank 0: {}; all ranks have to read the same file, with the same options", r,
      difference(cases[static_cast<std::size_t>(r)], cases.front())));
}

void require_same(Team& team, const MatrixOrigin& origin) {
  if (const auto r = first_other(team, origin.checksum); r >= 0)
    throw InvalidArgument(fmt::format(
        "{}: rank {} has another file of this name than rank 0; all ranks have to read the same one", origin.name, r));
}

int threads_of_rank(const ProcessTeam& team) {
  const auto cores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return std::max(1, std::min(omp_get_max_threads(), cores / team.ranks_on_host()));
}

RankCores cores_of_rank(const ProcessTeam& team, int threads) {
  const int own = omp_get_num_procs();
  cpu_set_t launchers;  // it binds its ranks, and not itself
  if (team.launcher() != "mpirun" || sched_getaffinity(getppid(), sizeof launchers, &launchers) != 0) return {own, own};
  if (threads == 0 && std::getenv("OMP_NUM_THREADS")) threads = omp_get_max_threads();
  const int part = CPU_COUNT(&launchers) / team.ranks_on_host();
  return {own, threads > 0 ? std::min(part, threads) : part};
}

std::string few_cores(std::span<const RankCores> ranks, std::int64_t entries) {
  const auto few = std::ranges::find_if(ranks, [](const RankCores& each) { return each.own < each.useful; });
  if (few == ranks.end() || Host{2, {}, nullptr}.threads_for(entries) == 1) return {};
  return fmt::format(
      "mpirun lets rank {} use {} core{} where it could use {}, so reading, set-up and what else the host does take "
      "longer; mpirun --bind-to none leaves each rank its part of all cores",
      few - ranks.begin(), few->own, few->own == 1 ? "" : "s", few->useful);
}

std::vector<std::string> settle_devices(ProcessTeam& team, Case& settings, std::vector<std::string>& notes) {
  struct Found {
    char name[96], uuid[48];
    int devices;  // that the rank sees
  } mine{};
  if (settings.backend == Backend::host) return {};
  if (settings.device != 0)
    throw InvalidArgument(
        "device: ranks take the devices of their host in order; leave it out, and set CUDA_VISIBLE_DEVICES for others");
  mine.devices = device::count();
  const int own = mine.devices > 0 ? team.rank_on_host() % mine.devices : 0;
  if (mine.devices > 0) {
    const DeviceInfo info = device::info(own);
    info.name.copy(mine.name, sizeof mine.name - 1);
    info.uuid.copy(mine.uuid, sizeof mine.uuid - 1);
  }
  const std::vector<Found> all = gather_records(team, mine);
  std::vector<std::string> devices;
  std::string lack;
  for (std::size_t r = 0; r < all.size() && lack.empty(); ++r) {
    if (all[r].devices == 0) lack = fmt::format("rank {} has no CUDA device", r);
    for (std::size_t s = 0; s < r && lack.empty(); ++s)
      if (std::string_view(all[s].uuid) == all[r].uuid)
        lack = fmt::format("ranks {} and {} have the same device, {}", s, r, all[r].uuid);
    devices.push_back(fmt::format("{}, {}", all[r].name, all[r].uuid));
  }
  if (lack.empty()) {
    settings.backend = Backend::cuda, settings.device = own;
    return devices;
  }
  if (settings.backend == Backend::cuda)
    throw NoDevice(
        fmt::format("backend cuda: {}; start as many processes as there are devices, or use backend: host", lack));
  if (std::ranges::any_of(all, [](const Found& each) { return each.devices > 0; }))
    notes.push_back(fmt::format("{}, so all solve on the host; start as many processes as there are devices", lack));
  settings.backend = Backend::host;
  return {};
}

std::vector<RankPlace> places_of_ranks(Team& team, int threads, const std::vector<std::string>& devices) {
  struct Place {
    char host[256];
    int threads;
  } mine{{}, threads};
  host_name().copy(mine.host, sizeof mine.host - 1);
  std::vector<RankPlace> places;
  for (const Place& place : gather_records(team, mine)) {
    const std::size_t r = places.size();
    places.push_back({place.host, place.threads, r < devices.size() ? devices[r] : std::string()});
  }
  return places;
}

std::string team_text(int ranks, const std::optional<DeviceInfo>& device, int threads) {
  if (device) return fmt::format("{} ranks, each on one {}", ranks, device->name);
  return fmt::format("{} ranks on the host, {} thread{} each", ranks, threads, threads == 1 ? "" : "s");
}

}  // namespace krill::apps
