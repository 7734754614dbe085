// The processes that a launcher such as mpirun has started as one program.
#pragma once
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "apps/case/case.hpp"
#include "apps/parallel/device_interface.hpp"
#include "apps/parallel/team_interface.hpp"
#include "sparse/core/team.hpp"

namespace krill::apps {

/// This process among those of its launcher, as the environment says.
struct Launched {
  int rank = 0, size = 1;
  std::string launcher;  ///< what the environment names
};
/// Of mpirun (Open MPI, MPICH and its relatives) or srun; in the script of a job of Slurm there is none. size 1: the
/// process is alone.
Launched launch_of_environment();

/// The first rank whose NCCL is another one than rank 0's, in words; numbers are those of NCCL, 22809 for 2.28.9.
struct OtherNccl {
  int rank;
  std::string text;
};
std::optional<OtherNccl> other_nccl(std::span<const int> versions);

/// How a rank ended.
struct Ending {
  int exit_code = 0;
  bool failed = false;       ///< by itself, not for another rank's failure
  std::string message = {};  ///< why; what is beyond 2,000 bytes is cut off
};

/// A team by MPI, whose module is opened, and once devices have joined it, by NCCL between them. One a process.
class ProcessTeam final : public Team {
 public:
  /// Raises InvalidArgument where the module is missing, does not belong to this program, or finds other processes than
  /// the launcher has started. Waits for answers end after KRILL_TEAM_PATIENCE seconds of the environment, or after
  /// those of ParallelOptions.
  explicit ProcessTeam(const Launched&);
  /// Later waits end after so many seconds, unless the environment says when.
  void set_timeout(double seconds);
  static constexpr double timeout_of_lone_work = 3600;  ///< where the others wait for what one does alone
  int rank() const override { return place_.rank; }
  int size() const override { return place_.size; }
  int ranks_on_host() const { return place_.local_size; }
  int rank_on_host() const { return place_.local_rank; }
  std::string library() const { return place_.library; }
  const std::string& launcher() const { return launcher_; }  ///< as Launched's

  void gather(const void* mine, void* all, std::size_t bytes) override;
  void start(std::span<const Outgoing>, std::span<const Incoming>) override;
  void finish() override;
  void give_up() noexcept override;

  /// Opens the module for NCCL, unless MPI is asked for, and has ranks find each other by it, if all have the same
  /// version. All ranks take part.
  /// Raises TeamFailure, and InvalidArgument on all of them where NCCL is asked for and does not work.
  void prepare_devices(Transport = Transport::automatic);
  /// From now on what ranks exchange of their devices goes by NCCL, where its module has opened on all of them; else by
  /// way of the hosts, as before. All ranks take part, each with a device of its own. From any thread, for MPI has no
  /// part in it. Raises TeamFailure.
  void join_devices(int device);
  /// Once no work of the devices is under way. All ranks take part.
  void leave_devices();
  /// How devices exchange: "NCCL 2.28.9, by load and store", or "Open MPI v4.1.6, by way of the host: ..." with
  /// the reason; empty where none has joined.
  const std::string& device_transport() const { return transport_; }
  void gather_on(const Cuda&, const void* mine, void* all, std::size_t bytes) override;
  void start_on(const Cuda&, std::span<const Outgoing>, std::span<const Incoming>) override;
  void finish_on(const Cuda&) override;
  InGraphs in_graphs() const override {
    if (!devices_) return InGraphs::none;
    return place_.local_size == place_.size ? InGraphs::all : InGraphs::but_while_nodes;
  }
  TeamSlots* slots() const override { return slots_; }
  void look_for_failures(std::int64_t progress) override;
  /// What is called, and must not return, where a device waits for a rank that is gone: whatever is unwound would wait
  /// for that device.
  void when_lost(std::function<void(const Ending&)> end_process) { end_process_ = std::move(end_process); }

  /// What the first rank in order that failed has to say, with its number in front where others have another message;
  /// else the greatest exit code. All ranks take part, whatever happened to them; one that failed waits 10 s for the
  /// others, or for as long as waits last if that is less, and ends all processes if they do not come.
  Ending conclude(const Ending& mine);
  void close();  ///< the last word; waits for all ranks

 private:
  const KrillTeamModule* module_;
  KrillTeamPlace place_;
  std::string launcher_;
  std::optional<double> patience_of_environment_;
  double patience_;
  const KrillDeviceModule *prepared_ = nullptr, *devices_ = nullptr;
  std::array<char, krill_device_id> device_id_ = {};
  TeamSlots* slots_ = nullptr;
  std::string transport_;
  std::function<void(const Ending&)> end_process_;
  std::int64_t seen_progress_ = -1;
  std::chrono::steady_clock::time_point seen_at_ = {}, looked_at_ = {};
};

/// The team of this process; null where it is alone. Set once, by the command line.
ProcessTeam* process_team();
void set_process_team(ProcessTeam*);

}  // namespace krill::apps
