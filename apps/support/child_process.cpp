#include "apps/support/child_process.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

extern char** environ;

namespace krill::apps {
namespace {

constexpr const char* parent_name = "KRILL_PARENT";

/// The environment of a child, which tells it whose it is.
class ChildEnvironment {
 public:
  ChildEnvironment() : parent_(std::string(parent_name) + "=" + std::to_string(getpid())) {
    for (char** word = environ; *word; ++word)
      if (!std::string_view(*word).starts_with(std::string(parent_name) + "=")) words_.push_back(*word);
    words_.push_back(parent_.data());
    words_.push_back(nullptr);
  }
  char** words() { return words_.data(); }

 private:
  std::string parent_;
  std::vector<char*> words_;
};

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view contents = {}) : fd_(memfd_create("krill child", MFD_CLOEXEC)) {
    while (fd_ >= 0 && !contents.empty()) {
      const ssize_t written = write(fd_, contents.data(), contents.size());
      if (written <= 0) break;
      contents.remove_prefix(static_cast<std::size_t>(written));
    }
    if (fd_ >= 0) lseek(fd_, 0, SEEK_SET);
  }
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }
  std::string contents() const {
    std::string all;
    std::array<char, 1 << 16> part;
    lseek(fd_, 0, SEEK_SET);
    for (ssize_t got; (got = read(fd_, part.data(), part.size())) > 0;)
      all.append(part.data(), static_cast<std::size_t>(got));
    return all;
  }

 private:
  int fd_;
};

/// Waits for the child, ends it where it has to be ended, and says how it ended.
void wait_for(pid_t child, const ChildProcess& process, ChildEnd& end) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(process.seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    end.out_of_time = Clock::now() > deadline;
    end.cancelled = process.cancelled();
    if (end.out_of_time || end.cancelled) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
}

}  // namespace

ChildEnd run_child(const ChildProcess& process) {
  ChildEnd end;
  const MemoryFile input(process.input), output, complaints;
  if (input.fd() < 0 || output.fd() < 0 || complaints.fd() < 0) {
    end.start_error = errno;
    return end;
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input.fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output.fd(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, complaints.fd(), STDERR_FILENO);
  std::vector<std::string> words = process.arguments;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ChildEnvironment environment;
  pid_t child = 0;
  end.start_error =
      posix_spawnp(&child, process.program.c_str(), &files, nullptr, arguments.data(), environment.words());
  posix_spawn_file_actions_destroy(&files);
  if (end.start_error) return end;
  wait_for(child, process, end);
  end.out = output.contents();
  end.err = complaints.contents();
  return end;
}

void end_with_parent() {
  const char* const parent = std::getenv(parent_name);
  if (!parent) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(getppid()) != parent) _exit(1);  // it was gone before
}

}  // namespace krill::apps
