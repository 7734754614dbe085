#include "apps/parallel/process_team.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "apps/support/exit_code.hpp"
#include "apps/support/module_places.hpp"
#include "apps/support/print.hpp"
#include "sparse/core/context.hpp"

namespace krill::apps {
namespace {

constexpr const char* team_module_name = "libkrill_team_mpi.so";
constexpr const char* device_module_name = "libkrill_team_nccl.so";
constexpr double max_patience_of_a_failed_rank = 10;  // seconds

using TeamMessage = std::array<char, krill_team_message>;

int number_in(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  if (!text) return otherwise;
  int value = otherwise;
  std::from_chars(text, text + std::string_view(text).size(), value);
  return value;
}

std::optional<double> patience_of_environment() {
  const char* text = std::getenv("KRILL_TEAM_PATIENCE");
  if (!text) return {};
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

/// Null, and why, where the module for devices does not open.
const KrillDeviceModule* open_device_module(std::string& why) {
  for (const auto& place : module_places(device_module_name)) {
    if (!std::filesystem::exists(place)) continue;
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return why = dlerror(), nullptr;
    const auto entry = reinterpret_cast<decltype(&krill_device_module)>(dlsym(library, krill_device_entry));
    const KrillDeviceModule* module = entry ? entry() : nullptr;
    if (module && module->interface == krill_device_interface) return module;
    return why = fmt::format("{} belongs to another version of krill", place.string()), nullptr;
  }
  why = fmt::format("{} is missing", device_module_name);
  return nullptr;
}

std::vector<KrillTeamBytes> as_bytes(std::span<const Team::Outgoing> messages) {
  std::vector<KrillTeamBytes> all;
  for (const auto& [rank, bytes, size] : messages) all.push_back({rank, const_cast<void*>(bytes), size});
  return all;
}
std::vector<KrillTeamBytes> as_bytes(std::span<const Team::Incoming> messages) {
  std::vector<KrillTeamBytes> all;
  for (const auto& [rank, bytes, size] : messages) all.push_back({rank, bytes, size});
  return all;
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

std::optional<OtherNccl> other_nccl(std::span<const int> versions) {
  const auto text = [](int v) { return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100); };
  const auto other = std::ranges::find_if(versions, [&](int each) { return each != versions.front(); });
  if (other == versions.end()) return {};
  return OtherNccl{static_cast<int>(other - versions.begin()),
                   fmt::format("it has NCCL {}, where rank 0 has {}", text(*other), text(versions.front()))};
}

Launched launch_of_environment() {
  struct Variables {
    const char *size, *rank, *launcher;
  };
  // The innermost launcher first, for mpirun starts its helpers by srun, and ranks have the variables of both. The
  // script of a job of Slurm has SLURM_NTASKS and SLURM_PROCID, though it is one process: srun alone sets the last
  // size.
  constexpr std::array known{Variables{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "mpirun"},
                             Variables{"PMI_SIZE", "PMI_RANK", "mpirun"},
                             Variables{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"}};
  for (const auto& [size, rank, launcher] : known)
    if (std::getenv(size) && std::getenv(rank)) {
      const int processes = number_in(size, 1);
      return processes > 1 ? Launched{number_in(rank, 0), processes, launcher} : Launched{};
    }
  return {};
}

ProcessTeam::ProcessTeam(const Launched& launch)
    : module_(open_team_module(launch)),
      place_(),
      launcher_(launch.launcher),
      patience_of_environment_(patience_of_environment()),
      patience_(patience_of_environment_.value_or(ParallelOptions{}.timeout)) {
  TeamMessage message{};
  if (module_->open(&place_, patience_, message.data())) refuse_team(launch, message.data(), "");
  if (place_.size != launch.size)
    refuse_team(launch, fmt::format("the MPI of {} ({}) finds {}", team_module_name, place_.library, place_.size),
                "start them with the mpirun of the MPI that krill was built with");
}

void ProcessTeam::set_timeout(double seconds) {
  if (!patience_of_environment_) module_->set_patience(patience_ = seconds);
}

void ProcessTeam::gather(const void* mine, void* all, std::size_t bytes) {
  TeamMessage message{};
  require_done(module_->gather(mine, all, bytes, message.data()), message);
}

void ProcessTeam::start(std::span<const Outgoing> out, std::span<const Incoming> in) {
  const auto leaving = as_bytes(out), coming = as_bytes(in);
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

void ProcessTeam::prepare_devices(Transport asked) {
  if (asked == Transport::mpi) {
    transport_ = fmt::format("{}, by way of the host, as parallel.transport says", library());
    return;
  }
  std::string why;
  TeamMessage message{};
  const KrillDeviceModule* module = open_device_module(why);
  const auto refuse = [&](int rank, std::string_view reason) {
    if (asked == Transport::nccl)
      throw InvalidArgument(
          fmt::format("parallel.transport nccl: rank {}: {}; build krill where nccl.h is, or use transport auto or mpi",
                      rank, reason));
    transport_ = fmt::format("{}, by way of the host: rank {}: {}", library(), rank, reason);
  };
  struct Opened {
    bool module;
    int version;
    TeamMessage why;
  } mine{module != nullptr, module ? module->version() : 0, {}};
  why.copy(mine.why.data(), mine.why.size() - 1);
  const auto opened = gather_records(*this, mine);
  if (const auto first = std::ranges::find(opened, false, &Opened::module); first != opened.end())
    return refuse(static_cast<int>(first - opened.begin()), first->why.data());
  std::vector<int> versions;
  for (const Opened& each : opened) versions.push_back(each.version);
  if (const auto other = other_nccl(versions)) return refuse(other->rank, other->text);
  struct Id {
    std::array<char, krill_device_id> bytes;
  } id{};
  KrillTeamOutcome failed = krill_team_done;
  if (rank() == 0) failed = module->new_id(id.bytes.data(), message.data());
  if (!agree(*this, !failed)) return refuse(0, failed ? message.data() : "NCCL does not work");
  device_id_ = gather_records(*this, id).front().bytes;
  prepared_ = module;
}

void ProcessTeam::join_devices(int device) {
  if (!prepared_) return;
  TeamMessage message{};
  KrillDevicePlace place;
  require_done(prepared_->join(device_id_.data(), rank(), size(), device, &place, message.data()), message);
  transport_ = fmt::format("{}{}", place.library, place.by_load_store ? ", by load and store" : "");
  slots_ = static_cast<TeamSlots*>(place.slots);
  devices_ = prepared_;
}

void ProcessTeam::leave_devices() {
  slots_ = nullptr;
  if (const auto* module = std::exchange(devices_, nullptr)) module->leave();
}

void ProcessTeam::gather_on(const Cuda& cuda, const void* mine, void* all, std::size_t bytes) {
  if (!devices_) return Team::gather_on(cuda, mine, all, bytes);
  TeamMessage message{};
  require_done(devices_->gather(mine, all, bytes, cuda.stream, message.data()), message);
}

void ProcessTeam::start_on(const Cuda& cuda, std::span<const Outgoing> out, std::span<const Incoming> in) {
  if (!devices_) return Team::start_on(cuda, out, in);
  const auto leaving = as_bytes(out), coming = as_bytes(in);
  TeamMessage message{};
  require_done(devices_->start(leaving.data(), static_cast<int>(leaving.size()), coming.data(),
                               static_cast<int>(coming.size()), cuda.stream, message.data()),
               message);
}

void ProcessTeam::finish_on(const Cuda& cuda) {
  if (!devices_) return Team::finish_on(cuda);
  TeamMessage message{};
  require_done(devices_->finish(cuda.stream, message.data()), message);
}

void ProcessTeam::look_for_failures(std::int64_t progress) {
  using namespace std::chrono;
  constexpr auto between_looks = milliseconds(1);
  const auto now = steady_clock::now();
  if (progress != seen_progress_ || now - looked_at_ > seconds(1))  // another wait than before
    seen_progress_ = progress, seen_at_ = now;
  else if (now - looked_at_ < between_looks)
    return;
  looked_at_ = now;
  TeamMessage message{};
  Ending lost{bad_environment};
  if (module_->listen(message.data())) {
    lost.message = message.data();  // the rank that gave up says why
  } else if (devices_ && devices_->look(message.data())) {
    lost.failed = true, lost.message = message.data();
  } else if (module_->watch(duration<double>(now - seen_at_).count(), message.data())) {
    lost.failed = true, lost.message = message.data();
  } else {
    return;
  }
  if (end_process_) end_process_(lost);
  throw LateTeam(lost.message);
}

Ending ProcessTeam::conclude(const Ending& mine) {
  LastRecord record{mine.exit_code, mine.failed};
  mine.message.copy(record.message, sizeof record.message - 1);
  std::vector<LastRecord> all(static_cast<std::size_t>(size()));
  TeamMessage message{};
  if (module_->conclude(&record, all.data(), sizeof record,
                        mine.failed ? std::min(patience_, max_patience_of_a_failed_rank) : -1, message.data())) {
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
