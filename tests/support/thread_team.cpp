#include "tests/support/thread_team.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace krill::test {
namespace {

using Bytes = std::vector<char>;

#ifdef __SANITIZE_THREAD__  // whose builds take ten times as long
constexpr std::chrono::seconds patience(240);
#else
constexpr std::chrono::seconds patience(30);
#endif

/// What the ranks share, under one mutex.
struct Meeting {
  explicit Meeting(int ranks) : records(static_cast<std::size_t>(ranks)) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Bytes> records;
  std::size_t arrived = 0, meetings = 0;
  std::map<std::pair<int, int>, std::deque<Bytes>> mail;  // by sender and receiver
  int gave_up = -1;                                       // the rank that did so first

  void wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready) {
    if (!changed.wait_for(lock, patience, [&] { return ready() || gave_up >= 0; }))
      throw LateTeam("thread team: " + std::to_string(patience.count()) + " s without an answer");
    if (!ready()) throw TeamFailure("thread team: rank " + std::to_string(gave_up) + " gave up");
  }
  /// Until all ranks are here.
  void meet(std::unique_lock<std::mutex>& lock) {
    const std::size_t mine = meetings;
    if (++arrived == records.size()) {
      arrived = 0, ++meetings;
      changed.notify_all();
      return;
    }
    wait(lock, [&] { return meetings != mine; });
  }
};

class ThreadTeam final : public Team {
 public:
  ThreadTeam(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(meeting_.records.size()); }

  void gather(const void* mine, void* all, std::size_t bytes) override {
    std::unique_lock lock(meeting_.mutex);
    const auto* from = static_cast<const char*>(mine);
    meeting_.records[static_cast<std::size_t>(rank_)].assign(from, from + bytes);
    meeting_.meet(lock);
    auto* to = static_cast<char*>(all);
    for (const Bytes& record : meeting_.records) {
      if (record.size() != bytes) throw TeamFailure("thread team: records of different sizes");
      if (bytes > 0) std::memcpy(to, record.data(), bytes);
      to += bytes;
    }
    meeting_.meet(lock);  // nobody changes a record that is still read
  }

  void start(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    const std::lock_guard lock(meeting_.mutex);
    for (const Outgoing& message : out) {
      const auto* from = static_cast<const char*>(message.bytes);
      meeting_.mail[{rank_, message.rank}].emplace_back(from, from + message.size);
    }
    expected_.assign(in.begin(), in.end());
    meeting_.changed.notify_all();
  }

  void finish() override {
    std::unique_lock lock(meeting_.mutex);
    for (const Incoming& message : expected_) {
      std::deque<Bytes>& mail = meeting_.mail[{message.rank, rank_}];
      meeting_.wait(lock, [&] { return !mail.empty(); });
      if (mail.front().size() != message.size) throw TeamFailure("thread team: a message of another size");
      if (message.size > 0) std::memcpy(message.bytes, mail.front().data(), message.size);
      mail.pop_front();
    }
    expected_.clear();
  }

  void give_up() noexcept override {
    const std::lock_guard lock(meeting_.mutex);
    if (meeting_.gave_up < 0) meeting_.gave_up = rank_;
    meeting_.changed.notify_all();
  }

 private:
  Meeting& meeting_;
  int rank_;
  std::vector<Incoming> expected_;
};

}  // namespace

void run_team(int ranks, const std::function<void(Team&)>& f) {
  Meeting meeting(ranks);
  std::vector<std::exception_ptr> own(static_cast<std::size_t>(ranks)), followed = own;
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      ThreadTeam team(meeting, r);
      try {
        f(team);
        return;
      } catch (const LateTeam&) {
        own[static_cast<std::size_t>(r)] = std::current_exception();
      } catch (const TeamFailure&) {
        followed[static_cast<std::size_t>(r)] = std::current_exception();
      } catch (...) {
        own[static_cast<std::size_t>(r)] = std::current_exception();
      }
      team.give_up();
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& list : {own, followed})
    for (const std::exception_ptr& thrown : list)
      if (thrown) std::rethrow_exception(thrown);
}

}  // namespace krill::test
