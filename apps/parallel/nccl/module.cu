// The module that speaks NCCL. Where NCCL's device interface is there (2.28) and devices reach each other's memory,
// small gatherings and messages go by kernels of the module, over NVLink; all else goes by NCCL's own kernels.
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "apps/parallel/device_interface.hpp"
#include "sparse/core/team_slots.hpp"
#ifdef KRILL_NCCL_DEVICE
#include <nccl_device.h>
#endif

namespace {

ncclComm_t comm = nullptr;
cudaStream_t beside = nullptr;  // where messages travel
cudaEvent_t forked = nullptr, arrived = nullptr;
bool on_its_way = false, by_load_store = false;
int all_ranks = 1;

int version() {
  int found = 0;
  ncclGetVersion(&found);
  return found;
}

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
  static constexpr int gather_threads = 256;
  static constexpr std::size_t max_gathered = 8192;  ///< bytes of a rank; more goes by NCCL's own kernels. Not varied.
  static constexpr int copy_threads = 512, copy_blocks = 32;
  static constexpr std::size_t slot = std::size_t{8} << 20;  ///< bytes of a message; longer ones go by NCCL's kernels
  static constexpr int max_messages = 8;                     ///< of a rank; where there are more, all go so
};
/// What stores into the memory of other devices, where all of them can be reached so.
struct LoadStore {
  ncclDevComm dev;
  ncclLLA2AHandle words;
  ncclWindow_t window;  ///< two times a slot for each rank, then a mailbox, on each rank
  void* memory;
  unsigned* counts;  ///< exchanges so far, and blocks that have done with this one
  krill::TeamSlots* slots;
};
LoadStore direct{};

// Each rank's words to all. Threads: one block, a word each. Bytes: 16 a word over NVLink. Races: a slot is written by
// one rank and read by one thread; it waits until the other rank's word of this call is there.
template <class Word>
__global__ void __launch_bounds__(Tuning::gather_threads)
    gather_words(ncclDevComm dev, ncclLLA2AHandle handle, const Word* mine, Word* all, int words) {
  ncclLLA2ASession<ncclCoopCta> session(ncclCoopCta(), dev, ncclTeamLsa(dev), handle, 0, words * dev.lsaSize);
  for (int k = static_cast<int>(threadIdx.x); k < words; k += Tuning::gather_threads)
    session.bcast(dev.lsaRank * words + k, mine[k]);
  for (int k = static_cast<int>(threadIdx.x); k < words * dev.lsaSize; k += Tuning::gather_threads)
    all[k] = session.template recv<Word>(k);
  session.endEpoch(ncclCoopCta());
}

/// Of one rank, as kernels get them.
struct Messages {
  int count = 0;
  int rank[Tuning::max_messages];
  void* bytes[Tuning::max_messages];
  std::size_t size[Tuning::max_messages];
};

template <class Word>
__device__ void copy_words(void* to, const void* from, std::size_t bytes) {
  const std::size_t stride = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; k < bytes / sizeof(Word); k += stride)
    static_cast<Word*>(to)[k] = static_cast<const Word*>(from)[k];
}
/// By the whole grid, in words as wide as address and size allow.
__device__ void copy_bytes(void* to, const void* from, std::size_t bytes) {
  const auto odd = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to) | bytes;
  if (odd % 16 == 0)
    copy_words<uint4>(to, from, bytes);
  else if (odd % 8 == 0)
    copy_words<std::uint64_t>(to, from, bytes);
  else if (odd % 4 == 0)
    copy_words<std::uint32_t>(to, from, bytes);
  else
    copy_words<char>(to, from, bytes);
}
/// Where a message from rank `sender` lies on its receiver. Two places take turns: one that is written anew was read
/// before its reader arrived for the exchange between the two.
__device__ std::size_t place_of(int sender, int ranks, unsigned exchange) {
  return (std::size_t(exchange % 2) * ranks + sender) * Tuning::slot;
}

// Messages into the memory of their receivers, and word that they are there. Threads: the grid strides over each
// message. Bytes: the messages, over NVLink. Races: a slot has one sender; its receiver reads it after it waited.
__global__ void __launch_bounds__(Tuning::copy_threads) push(LoadStore direct, Messages out) {
  const unsigned exchange = direct.counts[0];
  for (int m = 0; m < out.count; ++m)
    copy_bytes(
        ncclGetLsaPointer(direct.window, place_of(direct.dev.lsaRank, direct.dev.lsaSize, exchange), out.rank[m]),
        out.bytes[m], out.size[m]);
  ncclLsaBarrierSession<ncclCoopCta> word(ncclCoopCta(), direct.dev, ncclTeamTagLsa(), blockIdx.x);
  word.arrive(ncclCoopCta(), cuda::memory_order_release);
}

// Messages from the slots to where they belong, once those who sent them said so. Threads, bytes: as push, in the
// device's own memory. Races: the block that ends last counts the exchange, after all have read the count.
__global__ void __launch_bounds__(Tuning::copy_threads) take(LoadStore direct, Messages in) {
  const unsigned exchange = direct.counts[0];
  {
    ncclLsaBarrierSession<ncclCoopCta> word(ncclCoopCta(), direct.dev, ncclTeamTagLsa(), blockIdx.x);
    word.wait(ncclCoopCta(), cuda::memory_order_acquire);
  }
  for (int m = 0; m < in.count; ++m)
    copy_bytes(in.bytes[m], ncclGetLocalPointer(direct.window, place_of(in.rank[m], direct.dev.lsaSize, exchange)),
               in.size[m]);
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(direct.counts + 1, 1u) != gridDim.x - 1) return;
  direct.counts[1] = 0;
  direct.counts[0] = exchange + 1;
}

// What the program's kernels need to reach the mailboxes. Threads: one. Bytes: the record. Races: none.
__global__ void fill_slots(LoadStore direct, std::size_t mailboxes) {
  for (int r = 0; r < direct.dev.lsaSize; ++r)
    direct.slots->mailbox[r] = ncclGetLsaPointer(direct.window, mailboxes, r);
  direct.slots->rank = direct.dev.lsaRank, direct.slots->ranks = direct.dev.lsaSize, direct.slots->exchange = 1;
}

template <class Word>
cudaError_t launch(const void* mine, void* all, std::size_t bytes, cudaStream_t stream) {
  gather_words<<<1, Tuning::gather_threads, 0, stream>>>(direct.dev, direct.words, static_cast<const Word*>(mine),
                                                         static_cast<Word*>(all),
                                                         static_cast<int>(bytes / sizeof(Word)));
  return cudaGetLastError();
}

/// Where all ranks reach each other's memory, and the library is no older than the interface that this was built with.
bool open_load_store() {
  if (version() < NCCL_VERSION_CODE) return false;
  const std::size_t messages = 2 * static_cast<std::size_t>(all_ranks) * Tuning::slot,
                    room = messages + krill::TeamSlots::mailbox_bytes;
  ncclDevResourceRequirements of_words{};
  if (ncclLLA2ACreateRequirement(1, ncclLLA2ACalcSlots(all_ranks * static_cast<int>(Tuning::max_gathered / 8), 8),
                                 &direct.words, &of_words) != ncclSuccess)
    return false;
  ncclDevCommRequirements wanted{};
  wanted.resourceRequirementsList = &of_words;
  wanted.lsaBarrierCount = Tuning::copy_blocks;
  const bool opened =
      ncclDevCommCreate(comm, &wanted, &direct.dev) == ncclSuccess && direct.dev.lsaSize == all_ranks &&
      ncclMemAlloc(&direct.memory, room) == ncclSuccess &&
      ncclCommWindowRegister(comm, direct.memory, room, &direct.window, NCCL_WIN_COLL_SYMMETRIC) == ncclSuccess &&
      cudaMemset(direct.memory, 0, room) == cudaSuccess &&
      cudaMalloc(&direct.counts, 2 * sizeof(unsigned)) == cudaSuccess &&
      cudaMemset(direct.counts, 0, 2 * sizeof(unsigned)) == cudaSuccess;
  if (!opened) return false;
  if (all_ranks <= krill::TeamSlots::max_ranks && cudaMalloc(&direct.slots, sizeof(krill::TeamSlots)) == cudaSuccess)
    fill_slots<<<1, 1, 0, beside>>>(direct, messages);
  // A gathering, so that all memory is zero before anyone stores into it.
  std::uint64_t* words = nullptr;
  if (cudaDeviceSynchronize() != cudaSuccess ||
      cudaMalloc(&words, (1 + static_cast<std::size_t>(all_ranks)) * sizeof *words) != cudaSuccess)
    return false;
  const bool gathered = launch<std::uint64_t>(words, words + 1, sizeof *words, beside) == cudaSuccess &&
                        cudaStreamSynchronize(beside) == cudaSuccess;
  cudaFree(words);
  return gathered;
}

/// Those that go by load and store; the others stay in the lists. Whether one does is known to both of its ends.
Messages take_short(const KrillTeamBytes* messages, int count, std::vector<KrillTeamBytes>& others) {
  Messages taken;
  for (int k = 0; k < count; ++k) {
    if (!by_load_store || messages[k].size > Tuning::slot || all_ranks > Tuning::max_messages) {
      others.push_back(messages[k]);
      continue;
    }
    taken.rank[taken.count] = messages[k].rank;
    taken.bytes[taken.count] = messages[k].bytes;
    taken.size[taken.count++] = messages[k].size;
  }
  return taken;
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
  const int found = version();
  std::snprintf(place->library, sizeof place->library, "NCCL %d.%d.%d", found / 10000, found / 100 % 100, found % 100);
#ifdef KRILL_NCCL_DEVICE
  place->by_load_store = by_load_store = open_load_store();
  if (by_load_store) place->slots = direct.slots;
#endif
  return krill_team_done;
}

KrillTeamOutcome gather(const void* mine, void* all, std::size_t bytes, CUstream_st* stream, char* message) {
#ifdef KRILL_NCCL_DEVICE
  if (by_load_store && bytes <= Tuning::max_gathered && bytes % 8 == 0)
    return outcome(launch<std::uint64_t>(mine, all, bytes, stream), message);
  if (by_load_store && bytes <= Tuning::max_gathered / 2 && bytes % 4 == 0)
    return outcome(launch<std::uint32_t>(mine, all, bytes, stream), message);
#endif
  return outcome(ncclAllGather(mine, all, bytes, ncclInt8, comm, stream), message);
}

/// By NCCL's own kernels.
ncclResult_t send_and_receive(const KrillTeamBytes* out, int outgoing, const KrillTeamBytes* in, int incoming) {
  if (outgoing + incoming == 0) return ncclSuccess;
  ncclResult_t status = ncclGroupStart();
  for (int k = 0; k < outgoing && status == ncclSuccess; ++k)
    status = ncclSend(out[k].bytes, out[k].size, ncclInt8, out[k].rank, comm, beside);
  for (int k = 0; k < incoming && status == ncclSuccess; ++k)
    status = ncclRecv(in[k].bytes, in[k].size, ncclInt8, in[k].rank, comm, beside);
  const ncclResult_t ended = ncclGroupEnd();
  return status == ncclSuccess ? ended : status;
}

/// On a stream beside, of a higher priority than the product that follows in the other one.
KrillTeamOutcome start(const KrillTeamBytes* out, int outgoing, const KrillTeamBytes* in, int incoming,
                       CUstream_st* stream, char* message) {
  on_its_way = by_load_store || outgoing > 0 || incoming > 0;
  if (!on_its_way) return krill_team_done;
  if (const auto failed = outcome(cudaEventRecord(forked, stream), message)) return failed;
  if (const auto failed = outcome(cudaStreamWaitEvent(beside, forked, 0), message)) return failed;
#ifdef KRILL_NCCL_DEVICE
  std::vector<KrillTeamBytes> long_out, long_in;
  if (by_load_store) {
    const Messages short_out = take_short(out, outgoing, long_out), short_in = take_short(in, incoming, long_in);
    push<<<Tuning::copy_blocks, Tuning::copy_threads, 0, beside>>>(direct, short_out);
    take<<<Tuning::copy_blocks, Tuning::copy_threads, 0, beside>>>(direct, short_in);
    if (const auto failed = outcome(cudaGetLastError(), message)) return failed;
    out = long_out.data(), outgoing = static_cast<int>(long_out.size());
    in = long_in.data(), incoming = static_cast<int>(long_in.size());
  }
#endif
  if (const auto failed = outcome(send_and_receive(out, outgoing, in, incoming), message)) return failed;
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
  if (by_load_store) {
    ncclCommWindowDeregister(comm, direct.window);
    ncclMemFree(direct.memory);
    ncclDevCommDestroy(comm, &direct.dev);
    cudaFree(direct.counts), cudaFree(direct.slots);
  }
  by_load_store = false;
#endif
  if (comm) ncclCommDestroy(comm);
  if (beside) cudaStreamDestroy(beside);
  comm = nullptr, beside = nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const KrillDeviceModule* krill_device_module() {
  static const KrillDeviceModule module{
      krill_device_interface, version, new_id, join, gather, start, finish, look, leave};
  return &module;
}
