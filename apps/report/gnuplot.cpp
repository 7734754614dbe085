#include "krill/apps/report/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

extern char** environ;

namespace krill::apps {
namespace {

constexpr std::string_view preamble =
    "set terminal svg size 800,500 dynamic background rgb 'white' font 'sans-serif,14'\n"
    "set encoding utf8\n";

/// A file without a name: gnuplot reads and writes these, so no path needs quoting and nothing half-written can stay.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view contents = {}) : fd_(memfd_create("gnuplot", MFD_CLOEXEC)) {
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
    char part[1 << 16];
    lseek(fd_, 0, SEEK_SET);
    for (ssize_t got; (got = read(fd_, part, sizeof part)) > 0;) all.append(part, static_cast<std::size_t>(got));
    return all;
  }

 private:
  int fd_;
};

/// The exit status, or -1 where the program had to be ended after `seconds`.
int wait_for(pid_t child, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string complaint(const std::string& text) {
  // The line at fault and a caret stand above the message.
  std::string last;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin && text.find_first_not_of(" ^", begin) < end) last = text.substr(begin, end - begin);
    begin = end + 1;
  }
  return last;
}

}  // namespace

Drawing draw(const std::string& script, double seconds) {
  const MemoryFile input(std::string(preamble) + script), output, complaints;
  if (input.fd() < 0 || output.fd() < 0 || complaints.fd() < 0)
    return {{}, fmt::format("no plot: no memory file for gnuplot ({})", std::strerror(errno))};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input.fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output.fd(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, complaints.fd(), STDERR_FILENO);
  char name[] = "gnuplot", without_settings[] = "-d", standard_input[] = "-";
  char* arguments[] = {name, without_settings, standard_input, nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, name, &files, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed == ENOENT) return {{}, "no plot: gnuplot is not installed"};
  if (failed) return {{}, fmt::format("no plot: gnuplot cannot be started ({})", std::strerror(failed))};

  const int status = wait_for(child, seconds);
  if (status < 0) return {{}, fmt::format("no plot: gnuplot took more than {} s and was ended", seconds)};
  Drawing drawing{output.contents(), {}};
  if (status == 0 && drawing.svg.find("</svg>") != std::string::npos) return drawing;
  return {{}, fmt::format("no plot: gnuplot ended with {}: {}", status, complaint(complaints.contents()))};
}

std::string gnuplot_string(std::string_view text) {
  std::string quoted = "'";
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80 ? 1 : byte >> 5 == 6 ? 2 : byte >> 4 == 14 ? 3 : byte >> 3 == 30 ? 4 : 0;
    bool whole = length > 0 && i + length <= text.size() && byte >= 0x20 && byte != 0x7f;
    for (std::size_t k = 1; whole && k < length; ++k) whole = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    if (whole && byte == '\'') quoted += '\'';  // doubled, it stands for itself
    if (whole) quoted += text.substr(i, length);
    i += whole ? length : 1;
  }
  return quoted + "'";
}

}  // namespace krill::apps
