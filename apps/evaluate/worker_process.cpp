#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "apps/evaluate/worker.hpp"
#include "sparse/core/error.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill::apps::evaluate {
namespace {

constexpr double grace = 1;  ///< seconds from SIGTERM to SIGKILL

[[noreturn]] void fail(const char* what, int error_number) {
  throw Error(fmt::format("evaluate: {}: {}", what, std::generic_category().message(error_number)));
}

void close_if_open(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

/// The last lines that were written to the descriptor, at most a few.
std::string tail(int descriptor) {
  std::array<char, 600> text;
  const off_t size = lseek(descriptor, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(text.size()));
  const ssize_t got = size > 0 ? pread(descriptor, text.data(), text.size(), from) : 0;
  std::string words(text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  return words;
}

}  // namespace

Worker::Worker() {
  // Its own group, so that Ctrl-C, which goes to the whole group in front, stays the sweep's business.
  std::array<int, 2> requests{-1, -1}, answers{-1, -1};
  if (pipe2(requests.data(), O_CLOEXEC) != 0 || pipe2(answers.data(), O_CLOEXEC) != 0)
    fail("no pipe to a worker can be made", errno);
  words_ = memfd_create("krill worker", MFD_CLOEXEC);
  if (words_ < 0) fail("no room for a worker's words", errno);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, requests[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answers[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, words_, STDERR_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::string program = "krill", command = "evaluate-worker", parent = std::to_string(getpid());
  std::array<char*, 4> argv{program.data(), command.data(), parent.data(), nullptr};
  const int status = posix_spawn(&process_, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(requests[0]);
  close(answers[1]);
  requests_ = requests[1];
  answers_ = answers[0];
  if (status != 0) {
    process_ = -1;
    fail("no worker process can be started", status);
  }
}

Worker::~Worker() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close_if_open(requests_);
  close_if_open(answers_);
  close_if_open(words_);
}

void Worker::send(const nlohmann::ordered_json& request) {
  const std::string line = request.dump() + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(requests_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // it is gone, as receive() will find
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::variant<nlohmann::ordered_json, WorkerEnd> Worker::receive(double seconds, const Interruption& interruption) {
  const Stopwatch watch;
  for (;;) {
    if (interruption.requested()) return end(WorkerEnd::Kind::interrupted);
    if (const auto line = take_line()) {
      auto json = nlohmann::ordered_json::parse(*line, nullptr, false);
      if (json.is_object()) return json;
      return end(WorkerEnd::Kind::died);
    }
    const double left = 1000 * seconds - watch.milliseconds();
    if (left <= 0) return end(WorkerEnd::Kind::too_long);
    pollfd ready{answers_, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::min(left + 1, 200.0))) <= 0) continue;  // a signal ends the wait, too
    std::array<char, 65536> bytes;
    const ssize_t got = read(answers_, bytes.data(), bytes.size());
    if (got > 0)
      buffer_.append(bytes.data(), static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
      return end(WorkerEnd::Kind::died);
  }
}

std::optional<std::string> Worker::take_line() {
  const auto end = buffer_.find('\n');
  if (end == std::string::npos) return {};
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

WorkerEnd Worker::end(WorkerEnd::Kind kind) {
  WorkerEnd found;
  found.kind = kind;
  if (process_ <= 0) return found;
  if (kind != WorkerEnd::Kind::died) kill(process_, SIGTERM);
  int status = 0;
  const Stopwatch watch;
  // A worker whose pipe is closed is about to be gone; one that does not go is helped.
  while (waitpid(process_, &status, WNOHANG) == 0) {
    if (watch.milliseconds() > 1000 * grace) kill(process_, SIGKILL);
    usleep(2000);
  }
  process_ = -1;
  found.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  found.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  found.last_words = tail(words_);
  return found;
}

}  // namespace krill::apps::evaluate
