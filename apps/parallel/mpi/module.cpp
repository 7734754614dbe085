// The module that speaks MPI. Nothing in it waits without an eye on the others: every wait looks for the word of a rank
// that gave up, and at the clock.
#include <mpi.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "apps/parallel/team_interface.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int data_tag = 1, farewell_tag = 2, waiting_tag = 3;
constexpr std::size_t largest_piece = std::size_t{1} << 30;  // counts of MPI are int

MPI_Comm work = MPI_COMM_NULL, notices = MPI_COMM_NULL, conclusion = MPI_COMM_NULL;
std::vector<MPI_Request> under_way;
double patience = 0;
int ranks = 1, own_rank = 0;
std::int64_t gatherings = 0;           // that this rank has begun
bool has_told = false;                 // of the wait that lasts
std::vector<std::int64_t> heard = {};  // of each rank: the gatherings it had begun when it told of a wait
std::deque<std::int64_t> told = {};    // what is sent has to stay
constexpr std::int64_t nothing_heard = -10;

KrillTeamOutcome waited_in_vain(char* message, double seconds) {
  std::snprintf(message, krill_team_message, "the other ranks did not answer for %.4g s", seconds);
  return krill_team_late;
}

/// To all others, without a wait.
void tell_all(const void* word, int bytes, int tag) {
  for (int r = 0; r < ranks; ++r) {
    if (r == own_rank) continue;
    MPI_Request sent;
    MPI_Isend(word, bytes, MPI_BYTE, r, tag, notices, &sent);
    MPI_Request_free(&sent);
  }
}

/// The ranks that have not told that they wait, too: those wait for others, in this gathering or beside it.
std::vector<int> silent_ranks() {
  for (int is_there = 1; is_there;) {
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, waiting_tag, notices, &is_there, &status);
    if (!is_there) break;
    std::int64_t word = 0;
    MPI_Recv(&word, sizeof word, MPI_BYTE, status.MPI_SOURCE, waiting_tag, notices, MPI_STATUS_IGNORE);
    heard[static_cast<std::size_t>(status.MPI_SOURCE)] = word;
  }
  std::vector<int> silent;
  for (int r = 0; r < ranks; ++r)
    if (r != own_rank && heard[static_cast<std::size_t>(r)] < gatherings - 1) silent.push_back(r);
  return silent;
}

KrillTeamOutcome late(double seconds, char* message) {
  constexpr std::size_t few = 8;
  const std::vector<int> silent = silent_ranks();
  std::string names;
  for (std::size_t k = 0; k < std::min(few, silent.size()); ++k) names += (k ? ", " : "") + std::to_string(silent[k]);
  if (silent.size() > few) names += " and " + std::to_string(silent.size() - few) + " more";
  const char* const remedy = "raise parallel.timeout, and KRILL_TEAM_PATIENCE where it is set";
  if (silent.empty())
    std::snprintf(message, krill_team_message,
                  "the ranks waited for each other for %.4g s, as where a device or the network hangs; if it is only "
                  "slow, %s",
                  seconds, remedy);
  else
    std::snprintf(message, krill_team_message, "%s %s did not answer for %.4g s; if %s only slow, %s",
                  silent.size() == 1 ? "rank" : "ranks", names.c_str(), seconds,
                  silent.size() == 1 ? "it is" : "they are", remedy);
  return krill_team_late;
}

/// At half of the patience ranks tell that they wait: at its end those have not who are the cause.
KrillTeamOutcome watch(double seconds_waited, char* message) {
  if (seconds_waited < patience / 2) {
    has_told = false;
  } else if (!has_told) {
    has_told = true;
    tell_all(&told.emplace_back(gatherings), sizeof gatherings, waiting_tag);
  }
  return seconds_waited > patience ? late(patience, message) : krill_team_done;
}

KrillTeamOutcome left_alone(char* message, int rank) {
  std::snprintf(message, krill_team_message, "rank %d gave up", rank);
  return krill_team_left;
}

/// Whether another rank gave up.
KrillTeamOutcome listen(char* message) {
  int left = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, farewell_tag, notices, &left, &status);
  return left ? left_alone(message, status.MPI_SOURCE) : krill_team_done;
}

/// Until the requests are done; seconds below 0: as long as it takes. Waits of the work, which heed farewells, have the
/// patience of all. A rank that waits gives its core away after a few looks, for there may be more ranks than cores,
/// and sleeps after many: where others compute on the cores, too, those who slept come first.
KrillTeamOutcome wait(MPI_Request* requests, std::size_t count, double seconds, bool of_work, char* message) {
  constexpr std::int64_t looks_in_a_row = 256, looks_awake = 4096, looks_between_probes = 64;
  constexpr timespec nap{0, 20'000};
  const auto begun = Clock::now();
  for (std::int64_t look = 1;; ++look) {
    int done = 0;
    MPI_Testall(static_cast<int>(count), requests, &done, MPI_STATUSES_IGNORE);
    if (done) return krill_team_done;
    if (look % looks_between_probes == 0) {
      const double waited = std::chrono::duration<double>(Clock::now() - begun).count();
      if (of_work) {
        if (const KrillTeamOutcome left = listen(message)) return left;
        if (const KrillTeamOutcome failed = watch(waited, message)) return failed;
      } else if (seconds >= 0 && waited > seconds) {
        return waited_in_vain(message, seconds);
      }
    }
    if (look > looks_awake)
      nanosleep(&nap, nullptr);
    else if (look > looks_in_a_row)
      sched_yield();
  }
}

KrillTeamOutcome open(KrillTeamPlace* place, double patience_seconds, char* message) {
  int is_there = 0, level = 0;
  MPI_Initialized(&is_there);
  if (!is_there && MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
    std::snprintf(message, krill_team_message, "MPI cannot be started");
    return krill_team_late;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &work);
  MPI_Comm_dup(MPI_COMM_WORLD, &notices);
  MPI_Comm_dup(MPI_COMM_WORLD, &conclusion);
  MPI_Comm_rank(work, &own_rank);
  MPI_Comm_size(work, &ranks);
  patience = patience_seconds;
  heard.assign(static_cast<std::size_t>(ranks), nothing_heard);
  MPI_Comm host;
  MPI_Comm_split_type(work, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  *place = {own_rank, ranks};
  MPI_Comm_rank(host, &place->local_rank);
  MPI_Comm_size(host, &place->local_size);
  MPI_Comm_free(&host);
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::snprintf(place->library, sizeof place->library, "%.*s", static_cast<int>(std::strcspn(text, ",\n")), text);
  return krill_team_done;
}

void set_patience(double seconds) { patience = seconds; }

/// By way of memory of the module's own: where a wait is in vain, what others still send must not meet memory that the
/// caller has given back.
KrillTeamOutcome gather_over(MPI_Comm over, std::vector<char>& room, const void* mine, void* all, std::size_t bytes,
                             double seconds, bool of_work, char* message) {
  const std::size_t all_bytes = bytes * static_cast<std::size_t>(ranks);
  if (room.size() < bytes + all_bytes) room.resize(bytes + all_bytes);
  std::memcpy(room.data(), mine, bytes);
  const auto count = static_cast<int>(bytes);
  MPI_Request request;
  MPI_Iallgather(room.data(), count, MPI_BYTE, room.data() + bytes, count, MPI_BYTE, over, &request);
  const KrillTeamOutcome failed = wait(&request, 1, seconds, of_work, message);
  if (!failed) std::memcpy(all, room.data() + bytes, all_bytes);
  return failed;
}

KrillTeamOutcome gather(const void* mine, void* all, std::size_t bytes, char* message) {
  static std::vector<char> room;
  ++gatherings;
  return gather_over(work, room, mine, all, bytes, patience, true, message);
}

KrillTeamOutcome conclude(const void* mine, void* all, std::size_t bytes, double seconds, char* message) {
  static std::vector<char> room;
  return gather_over(conclusion, room, mine, all, bytes, seconds, false, message);
}

/// f(piece, count) for pieces that MPI can count.
template <class F>
void for_pieces(const KrillTeamBytes& message, F&& f) {
  auto* next = static_cast<char*>(message.bytes);
  for (std::size_t left = message.size; left > 0;) {
    const std::size_t piece = std::min(left, largest_piece);
    f(next, static_cast<int>(piece));
    next += piece, left -= piece;
  }
}

KrillTeamOutcome start(const KrillTeamBytes* out, int outgoing, const KrillTeamBytes* in, int incoming, char*) {
  for (int k = 0; k < incoming; ++k)
    for_pieces(in[k], [&](char* piece, int count) {
      MPI_Irecv(piece, count, MPI_BYTE, in[k].rank, data_tag, work, &under_way.emplace_back());
    });
  for (int k = 0; k < outgoing; ++k)
    for_pieces(out[k], [&](char* piece, int count) {
      MPI_Isend(piece, count, MPI_BYTE, out[k].rank, data_tag, work, &under_way.emplace_back());
    });
  return krill_team_done;
}

KrillTeamOutcome finish(char* message) {
  const KrillTeamOutcome failed = wait(under_way.data(), under_way.size(), patience, true, message);
  if (failed)  // what still comes must not meet memory that the caller has given back
    for (MPI_Request& request : under_way)
      if (request != MPI_REQUEST_NULL) MPI_Cancel(&request);
  under_way.clear();
  return failed;
}

void give_up() {
  static const char nothing = 0;
  tell_all(&nothing, 1, farewell_tag);
}

void close() { MPI_Finalize(); }

void abort_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

}  // namespace

extern "C" [[gnu::visibility("default")]] const KrillTeamModule* krill_team_module() {
  static const KrillTeamModule module{krill_team_interface,
                                      open,
                                      set_patience,
                                      gather,
                                      start,
                                      finish,
                                      listen,
                                      watch,
                                      give_up,
                                      conclude,
                                      close,
                                      abort_all};
  return &module;
}
