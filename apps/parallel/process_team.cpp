#include "apps/parallel/process_team.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "apps/support/module_places.hpp"
#include "apps/support/print.hpp"

namespace krill::apps {
namespace {

constexpr const char* team_module_name = "libkrill_team_mpi.so";
constexpr double default_patience = 300, patience_of_a_failed_rank = 10;  // seconds

using TeamMessage = std::array<char, krill_team_message>;

int number_in(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  if (!text) return otherwise;
  int value = otherwise;
  std::from_chars(text, text + std::string_view(text).size(), value);
  return value;
}

double patience_of_environment() {
  const char* text = std::getenv("KRILL_TEAM_PATIENCE");
  if (!text) return default_patience;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end || !(seconds > 0))
    throw InvalidArgument(
        fmt::format("KRILL_TEAM_PATIENCE: {} is no time; a number of seconds above 0 is needed", text));
  return seconds;
}

[[noreturn]] void refuse_team(const Launched& launch, const std::string& reason, std::string_view remedy) {
  throw InvalidArgument(fmt::format("{} started {} processes: {}\n  {}", launch.launcher, launch.size, reason, remedy));
}

const KrillTeamModule* open_team_module(const Launched& launch) {
  std::string looked;
  for (const auto& place : module_places(team_module_name)) {
    looked += (looked.empty() ? "" : ", ") + place.parent_path().string();
    if (!std::filesystem::exists(place)) continue;
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);  // MPI opens modules, too, which look for its names
    if (!library)
      refuse_team(launch, fmt::format("{} cannot be opened: {}", place.string(), dlerror()),
                  "install the MPI that it was built with, or build krill anew");
    const auto entry = reinterpret_cast<decltype(&krill_team_module)>(dlsym(library, krill_team_entry));
    const KrillTeamModule* module = entry ? entry() : nullptr;
    if (!module || module->interface != krill_team_interface)
      refuse_team(launch, fmt::format("{} belongs to another version of krill", place.string()),
                  "build both together: cmake --build BUILD --target krill krill_team_mpi");
    return module;
  }
  refuse_team(launch,
              fmt::format("{}, by which they would solve together, is missing; looked in {}", team_module_name, looked),
              "build krill where MPI is installed (Debian: libopenmpi-dev) and put the module beside the program; or "
              "start one process, without the launcher");
}

/// What goes into the record that ranks exchange at the end.
struct LastRecord {
  int exit_code = 0;
  bool failed = false;
  char message[2001] = {};
};

void require_done(int outcome, const TeamMessage& message) {
  if (outcome == krill_team_left) throw TeamFailure(message.data());
  if (outcome) throw LateTeam(message.data());
}

ProcessTeam* the_team = nullptr;

}  // namespace

Launched launch_of_environment() {
  struct Variables {
    const char *size, *rank, *launcher;
  };
  constexpr std::array known{Variables{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "mpirun"},
                             Variables{"PMI_SIZE", "PMI_RANK", "mpirun"},
                             Variables{"SLURM_NTASKS", "SLURM_PROCID", "srun"}};
  for (const auto& [size, rank, launcher] : known)
    if (std::getenv(rank))
      if (const int processes = number_in(size, 1); processes > 1) return {number_in(rank, 0), processes, launcher};
  return {};
}

ProcessTeam::ProcessTeam(const Launched& launch) : module_(open_team_module(launch)), place_() {
  TeamMessage message{};
  if (module_->open(&place_, patience_of_environment(), message.data())) refuse_team(launch, message.data(), "");
  if (place_.size != launch.size)
    refuse_team(launch, fmt::format("the MPI of {} ({}) finds {}", team_module_name, place_.library, place_.size),
                "start them with the mpirun of the MPI that krill was built with");
}

void ProcessTeam::gather(const void* mine, void* all, std::size_t bytes) {
  TeamMessage message{};
  require_done(module_->gather(mine, all, bytes, message.data()), message);
}

void ProcessTeam::start(std::span<const Outgoing> out, std::span<const Incoming> in) {
  std::vector<KrillTeamBytes> leaving, coming;
  for (const auto& [rank, bytes, size] : out) leaving.push_back({rank, const_cast<void*>(bytes), size});
  for (const auto& [rank, bytes, size] : in) coming.push_back({rank, bytes, size});
  TeamMessage message{};
  require_done(module_->start(leaving.data(), static_cast<int>(leaving.size()), coming.data(),
                              static_cast<int>(coming.size()), message.data()),
               message);
}

void ProcessTeam::finish() {
  TeamMessage message{};
  require_done(module_->finish(message.data()), message);
}

void ProcessTeam::give_up() noexcept { module_->give_up(); }

Ending ProcessTeam::conclude(const Ending& mine) {
  LastRecord record{mine.exit_code, mine.failed};
  mine.message.copy(record.message, sizeof record.message - 1);
  std::vector<LastRecord> all(static_cast<std::size_t>(size()));
  TeamMessage message{};
  if (module_->conclude(&record, all.data(), sizeof record, mine.failed ? patience_of_a_failed_rank : -1,
                        message.data())) {
    complain(fmt::format("rank {} of {}: {}\n  {}; all processes end", rank(), size(), mine.message, message.data()));
    module_->abort(mine.exit_code);
  }
  const auto first = std::ranges::find_if(all, &LastRecord::failed);
  if (first == all.end()) return {std::ranges::max(all, {}, &LastRecord::exit_code).exit_code};
  const std::string_view why = first->message;
  const bool is_everyones = std::ranges::all_of(all, [&](const LastRecord& r) { return r.failed && why == r.message; });
  return {first->exit_code, true,
          is_everyones ? std::string(why) : fmt::format("rank {} of {}: {}", first - all.begin(), size(), why)};
}

void ProcessTeam::close() { module_->close(); }

ProcessTeam* process_team() { return the_team; }
void set_process_team(ProcessTeam* team) { the_team = team; }

}  // namespace krill::apps
