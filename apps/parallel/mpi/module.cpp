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
#include <vector>

#include "apps/parallel/team_interface.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int data_tag = 1, farewell_tag = 2;
constexpr std::size_t largest_piece = std::size_t{1} << 30;  // counts of MPI are int

MPI_Comm work = MPI_COMM_NULL, notices = MPI_COMM_NULL, conclusion = MPI_COMM_NULL;
std::vector<MPI_Request> under_way;
double patience = 0;
int ranks = 1, own_rank = 0;

KrillTeamOutcome waited_in_vain(char* message, double seconds) {
  std::snprintf(message, krill_team_message, "the other ranks did not answer for %.0f s", seconds);
  return krill_team_late;
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

/// Until the requests are done. A rank that waits gives its core away after a few looks, for there may be more ranks
/// than cores, and sleeps after many: where others compute on the cores, too, those who slept come first.
KrillTeamOutcome wait(MPI_Request* requests, std::size_t count, double seconds, bool heeds_farewells, char* message) {
  constexpr std::int64_t looks_in_a_row = 256, looks_awake = 4096, looks_between_probes = 64;
  constexpr timespec nap{0, 20'000};
  const auto begun = Clock::now();
  for (std::int64_t look = 1;; ++look) {
    int done = 0;
    MPI_Testall(static_cast<int>(count), requests, &done, MPI_STATUSES_IGNORE);
    if (done) return krill_team_done;
    if (look % looks_between_probes == 0) {
      if (heeds_farewells)
        if (const KrillTeamOutcome left = listen(message)) return left;
      if (seconds >= 0 && std::chrono::duration<double>(Clock::now() - begun).count() > seconds)
        return waited_in_vain(message, seconds);
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
                             double seconds, bool heeds_farewells, char* message) {
  const std::size_t all_bytes = bytes * static_cast<std::size_t>(ranks);
  if (room.size() < bytes + all_bytes) room.resize(bytes + all_bytes);
  std::memcpy(room.data(), mine, bytes);
  const auto count = static_cast<int>(bytes);
  MPI_Request request;
  MPI_Iallgather(room.data(), count, MPI_BYTE, room.data() + bytes, count, MPI_BYTE, over, &request);
  const KrillTeamOutcome failed = wait(&request, 1, seconds, heeds_farewells, message);
  if (!failed) std::memcpy(all, room.data() + bytes, all_bytes);
  return failed;
}

KrillTeamOutcome gather(const void* mine, void* all, std::size_t bytes, char* message) {
  static std::vector<char> room;
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
  for (int r = 0; r < ranks; ++r) {
    if (r == own_rank) continue;
    MPI_Request sent;
    MPI_Isend(&nothing, 1, MPI_BYTE, r, farewell_tag, notices, &sent);
    MPI_Request_free(&sent);
  }
}

void close() { MPI_Finalize(); }

void abort_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

}  // namespace

extern "C" [[gnu::visibility("default")]] const KrillTeamModule* krill_team_module() {
  static const KrillTeamModule module{
      krill_team_interface, open, set_patience, gather, start, finish, listen, give_up, conclude, close, abort_all};
  return &module;
}
