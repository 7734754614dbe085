// The C interface between the program and libkrill_team_mpi.so, which alone is linked to MPI and is opened where a
// launcher such as mpirun has started several processes.
#pragma once
#include <cstddef>

extern "C" {

/// Raised when something below changes; a module with another number is refused.
inline constexpr int krill_team_interface = 4;
inline constexpr const char* krill_team_entry = "krill_team_module";
inline constexpr std::size_t krill_team_message = 512;  ///< bytes of what went wrong

struct KrillTeamPlace {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< among the ranks on this host
  char library[256] = {};              ///< "Open MPI v4.1.4, ..."
};

struct KrillTeamBytes {
  int rank;     ///< to or from which they go
  void* bytes;  ///< read only where they leave
  std::size_t size;
};

/// How a function ended; all but `done` fill `message`.
enum KrillTeamOutcome : int {
  krill_team_done,
  krill_team_left,  ///< another rank gave up
  krill_team_late   ///< this rank waited for longer than the patience, or MPI does not work
};

struct KrillTeamModule {
  int interface;
  KrillTeamOutcome (*open)(KrillTeamPlace*, double patience_seconds, char* message);
  void (*set_patience)(double seconds);  ///< of later waits
  KrillTeamOutcome (*gather)(const void* mine, void* all, std::size_t bytes, char* message);
  KrillTeamOutcome (*start)(const KrillTeamBytes* out, int outgoing, const KrillTeamBytes* in, int incoming,
                            char* message);
  KrillTeamOutcome (*finish)(char* message);
  KrillTeamOutcome (*listen)(char* message);  ///< without a wait: whether another rank gave up
  /// Of a wait elsewhere that has lasted so long, again and again: tells the others of it at half of the patience, and
  /// is late, with the ranks that have told nothing, at the end of it.
  KrillTeamOutcome (*watch)(double seconds_waited, char* message);
  /// All later waits of the other ranks, and those that last, end in vain.
  void (*give_up)();
  /// A gathering in which also ranks take part that gave up or waited in vain. Patience below 0: as long as it takes.
  KrillTeamOutcome (*conclude)(const void* mine, void* all, std::size_t bytes, double patience_seconds, char* message);
  void (*close)();          ///< waits for all ranks
  void (*abort)(int code);  ///< ends all processes
};

const KrillTeamModule* krill_team_module();
}
