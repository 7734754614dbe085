#include "sparse/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>
#include <utility>

#include "sparse/core/error.hpp"

namespace krill {
namespace fs = std::filesystem;

namespace {

/// A name in the target's folder, so that the rename stays inside one file system; no other process or thread uses it.
fs::path temporary_name(const fs::path& target) {
  static std::atomic<unsigned> serial{0};
  return target.parent_path() / fmt::format(".{}.{}.{}.tmp", target.filename().string(), getpid(), serial++);
}

/// The process that made a temporary of this name; 0 where the name is another one's.
pid_t maker_of(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(".tmp")) return 0;
  name.remove_suffix(4);
  name = name.substr(0, name.rfind('.'));  // without the serial number
  const std::string_view digits = name.substr(name.rfind('.') + 1);
  pid_t maker = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), maker);
  return status == std::errc() && end == digits.data() + digits.size() && maker > 0 ? maker : 0;
}

/// Removes what a process that was killed left half written.
void remove_abandoned(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const pid_t maker = maker_of(entry.path().filename().string());
    if (maker > 0 && ::kill(maker, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), ignored);
  }
}

// What a handler of signals reads must be lock-free.
std::atomic<const char*> unfinished{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);

std::string remedy(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return "create the folder first, or choose another one";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to";
    case EISDIR:
      return "give the name of a file in it";
    case ENOSPC:
    case EDQUOT:
      return "free some space, or choose another folder";
    default:
      return "choose another folder";
  }
}

}  // namespace

AtomicFile::AtomicFile(fs::path target) : target_(std::move(target)) {
  std::error_code ignored;
  if (fs::is_symlink(target_, ignored)) {
    const fs::path pointed_at = fs::weakly_canonical(target_, ignored);
    if (!ignored) target_ = pointed_at;
  }
  const fs::file_status status = fs::status(target_, ignored);
  if (fs::is_directory(status)) fail("written", EISDIR);
  const bool direct = fs::exists(status) && !fs::is_regular_file(status);
  if (!direct) temporary_ = temporary_name(target_);
  descriptor_ = direct ? ::open(target_.c_str(), O_WRONLY | O_CLOEXEC)
                       : ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int reason = errno;
    temporary_.clear();
    fail("written", reason);
  }
  if (!direct) unfinished = temporary_.c_str();
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  forget();
}

void AtomicFile::forget() noexcept {
  const char* mine = temporary_.c_str();
  unfinished.compare_exchange_strong(mine, nullptr);
}

void discard_unfinished_file() noexcept {
  if (const char* name = unfinished.exchange(nullptr)) ::unlink(name);
}

void AtomicFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("written", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("written", errno);  // some file systems report full disks here
  if (!temporary_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0) fail("put in place", errno);
  forget();
  temporary_.clear();
}

void AtomicFile::fail(const char* action, int error_number) {
  const std::string text = fmt::format("{}: the file cannot be {}: {}\n  {}", target_.string(), action,
                                       std::generic_category().message(error_number), remedy(error_number));
  const bool wrong_name = error_number == ENOENT || error_number == ENOTDIR || error_number == EISDIR;
  if (wrong_name) throw Error(text);
  throw WriteError(text);
}

void make_output_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return remove_abandoned(folder);
  const std::string text = fmt::format("{}: the output folder cannot be made: {}; choose another one with --out",
                                       folder.string(), error.message());
  const bool wrong_name = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
                          error == std::errc::file_exists || error == std::errc::filename_too_long;
  if (wrong_name) throw Error(text);
  throw WriteError(text);
}

void atomic_write(const fs::path& target, std::string_view text) {
  AtomicFile file(target);
  file.write(text);
  file.commit();
}

}  // namespace krill
