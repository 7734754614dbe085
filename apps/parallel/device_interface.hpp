// The C interface between the program and libkrill_team_nccl.so, which alone is linked to NCCL and is opened where
// several processes solve on devices, one each.
#pragma once
#include "apps/parallel/team_interface.hpp"

struct CUstream_st;

extern "C" {

/// Raised when something below changes; a module with another number is refused.
inline constexpr int krill_device_interface = 3;
inline constexpr const char* krill_device_entry = "krill_device_module";
inline constexpr std::size_t krill_device_id = 128;  ///< bytes by which ranks find each other

struct KrillDevicePlace {
  char library[128] = {};      ///< "NCCL 2.28.9"
  bool by_load_store = false;  ///< by kernels of the module, over NVLink
  void* slots = nullptr;       ///< krill::TeamSlots on the device, for kernels of the program; null: there are none
};

/// Memory is the device's, and all stands in a stream of it, in the order of the calls, which is the same on all ranks.
/// Can be captured into graphs, once each has run.
struct KrillDeviceModule {
  int interface;
  int (*version)();                                     ///< of NCCL, 22809 for 2.28.9
  KrillTeamOutcome (*new_id)(void* id, char* message);  ///< on one rank, for all
  KrillTeamOutcome (*join)(const void* id, int rank, int ranks, int device, KrillDevicePlace*, char* message);
  KrillTeamOutcome (*gather)(const void* mine, void* all, std::size_t bytes, CUstream_st*, char* message);
  /// Messages travel beside what follows in the stream, until finish().
  KrillTeamOutcome (*start)(const KrillTeamBytes* out, int outgoing, const KrillTeamBytes* in, int incoming,
                            CUstream_st*, char* message);
  KrillTeamOutcome (*finish)(CUstream_st*, char* message);
  KrillTeamOutcome (*look)(char* message);  ///< whether the transport has failed
  void (*leave)();                          ///< once all streams are done
};

const KrillDeviceModule* krill_device_module();
}
