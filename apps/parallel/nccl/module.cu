// The module that speaks NCCL. Small gatherings go by a kernel of its own over NVLink where NCCL's device interface is
// there (2.28), all else by NCCL's own kernels.
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "apps/parallel/device_interface.hpp"
#ifdef KRILL_NCCL_DEVICE
#include <nccl_device.h>
#endif

namespace {

ncclComm_t comm = nullptr;
cudaStream_t beside = nullptr;  // where messages travel
cudaEvent_t forked = nullptr, arrived = nullptr;
bool on_its_way = false;
int all_ranks = 1;

/// Fills `message` unless the status is success.
KrillTeamOutcome outcome(ncclResult_t status, char* message) {
  if (status == ncclSuccess || status == ncclInProgress) return krill_team_done;
  std::snprintf(message, krill_team_message, "NCCL: %s", ncclGetErrorString(status));
  return krill_team_late;
}
KrillTeamOutcome outcome(cudaError_t status, char* message) {
  if (status == cudaSuccess) return krill_team_done;
  cudaGetLastError();
  std::snprintf(message, krill_team_message, "between devices: %s", cudaGetErrorString(status));
  return krill_team_late;
}

#ifdef KRILL_NCCL_DEVICE
struct Tuning {
  static constexpr int threads = 256;
  static constexpr std::size_t most_bytes = 8192;  // of a rank; more goes by NCCL's own kernels. Not varied.
};
ncclDevComm device_comm;
ncclLLA2AHandle slots;
bool by_load_store = false;

// Each rank's words to all. Threads: one block, a word each. Bytes: 16 a word over NVLink. Races: a slot is written by
// one rank and read by one thread; it waits until the other rank's word of this call is there.
template <class Word>
__global__ void __launch_bounds__(Tuning::threads)
    gather_words(ncclDevComm dev, ncclLLA2AHandle handle, const Word* mine, Word* all, int words) {
  ncclLLA2ASession<ncclCoopCta> session(ncclCoopCta(), dev, ncclTeamLsa(dev), handle, 0, words * dev.lsaSize);
  for (int k = static_cast<int>(threadIdx.x); k < words; k += Tuning::threads)
    session.bcast(dev.lsaRank * words + k, mine[k]);
  for (int k = static_cast<int>(threadIdx.x); k < words * dev.lsaSize; k += Tuning::threads)
    all[k] = session.template recv<Word>(k);
  session.endEpoch(ncclCoopCta());
}

template <class Word>
cudaError_t launch(const void* mine, void* all, std::size_t bytes, cudaStream_t stream) {
  gather_words<<<1, Tuning::threads, 0, stream>>>(device_comm, slots, static_cast<const Word*>(mine),
                                                  static_cast<Word*>(all), static_cast<int>(bytes / sizeof(Word)));
  return cudaGetLastError();
}

/// Where all ranks reach each other's memory, and the library is no older than the interface that this was built with.
bool open_load_store() {
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess || version < NCCL_VERSION_CODE) return false;
  ncclDevResourceRequirements of_slots{};
  if (ncclLLA2ACreateRequirement(1, ncclLLA2ACalcSlots(all_ranks * static_cast<int>(Tuning::most_bytes / 8), 8), &slots,
                                 &of_slots) != ncclSuccess)
    return false;
  ncclDevCommRequirements wanted{};
  wanted.resourceRequirementsList = &of_slots;
  return ncclDevCommCreate(comm, &wanted, &device_comm) == ncclSuccess && device_comm.lsaSize == all_ranks;
}
#endif

KrillTeamOutcome new_id(void* id, char* message) {
  static_assert(sizeof(ncclUniqueId) <= krill_device_id);
  // Else NCCL captures nodes that a while node of CUDA does not take.
  setenv("NCCL_GRAPH_MIXING_SUPPORT", "0", 0);
  ncclUniqueId made;
  if (const auto failed = outcome(ncclGetUniqueId(&made), message)) return failed;
  std::memcpy(id, &made, sizeof made);
  return krill_team_done;
}

KrillTeamOutcome join(const void* id, int rank, int ranks, int device, KrillDevicePlace* place, char* message) {
  setenv("NCCL_GRAPH_MIXING_SUPPORT", "0", 0);
  all_ranks = ranks;
  ncclUniqueId shared;
  std::memcpy(&shared, id, sizeof shared);
  int least = 0, greatest = 0;
  if (const auto failed = outcome(cudaSetDevice(device), message)) return failed;
  if (const auto failed = outcome(ncclCommInitRank(&comm, ranks, shared, rank), message)) return failed;
  // Before the product that stands beside them, or they would wait for its end.
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  if (const auto failed = outcome(cudaStreamCreateWithPriority(&beside, cudaStreamNonBlocking, greatest), message))
    return failed;
  if (const auto failed = outcome(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming), message)) return failed;
  if (const auto failed = outcome(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming), message)) return failed;
  int version = 0;
  ncclGetVersion(&version);
  std::snprintf(place->library, sizeof place->library, "NCCL %d.%d.%d", version / 10000, version / 100 % 100,
                version % 100);
#ifdef KRILL_NCCL_DEVICE
  place->sums_by_load_store = by_load_store = open_load_store();
#endif
  return krill_team_done;
}

KrillTeamOutcome gather(const void* mine, void* all, std::size_t bytes, CUstream_st* stream, char* message) {
#ifdef KRILL_NCCL_DEVICE
  if (by_load_store && bytes <= Tuning::most_bytes && bytes % 8 == 0)
    return outcome(launch<std::uint64_t>(mine, all, bytes, stream), message);
  if (by_load_store && bytes <= Tuning::most_bytes / 2 && bytes % 4 == 0)
    return outcome(launch<std::uint32_t>(mine, all, bytes, stream), message);
#endif
  return outcome(ncclAllGather(mine, all, bytes, ncclInt8, comm, stream), message);
}

KrillTeamOutcome start(const KrillTeamBytes* out, int outgoing, const KrillTeamBytes* in, int incoming,
                       CUstream_st* stream, char* message) {
  on_its_way = outgoing > 0 || incoming > 0;
  if (!on_its_way) return krill_team_done;
  if (const auto failed = outcome(cudaEventRecord(forked, stream), message)) return failed;
  if (const auto failed = outcome(cudaStreamWaitEvent(beside, forked, 0), message)) return failed;
  ncclResult_t status = ncclGroupStart();
  for (int k = 0; k < outgoing && status == ncclSuccess; ++k)
    status = ncclSend(out[k].bytes, out[k].size, ncclInt8, out[k].rank, comm, beside);
  for (int k = 0; k < incoming && status == ncclSuccess; ++k)
    status = ncclRecv(in[k].bytes, in[k].size, ncclInt8, in[k].rank, comm, beside);
  const ncclResult_t ended = ncclGroupEnd();
  if (const auto failed = outcome(status == ncclSuccess ? ended : status, message)) return failed;
  return outcome(cudaEventRecord(arrived, beside), message);
}

KrillTeamOutcome finish(CUstream_st* stream, char* message) {
  return on_its_way ? outcome(cudaStreamWaitEvent(stream, arrived, 0), message) : krill_team_done;
}

KrillTeamOutcome look(char* message) {
  ncclResult_t status = ncclSuccess;
  if (const auto failed = outcome(ncclCommGetAsyncError(comm, &status), message)) return failed;
  return outcome(status, message);
}

void leave() {
#ifdef KRILL_NCCL_DEVICE
  if (by_load_store) ncclDevCommDestroy(comm, &device_comm);
  by_load_store = false;
#endif
  if (comm) ncclCommDestroy(comm);
  if (beside) cudaStreamDestroy(beside);
  comm = nullptr, beside = nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const KrillDeviceModule* krill_device_module() {
  static const KrillDeviceModule module{krill_device_interface, new_id, join, gather, start, finish, look, leave};
  return &module;
}
