// Files that appear whole or not at all.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "sparse/core/error.hpp"

namespace krill {

/// A disk that takes no more, or a folder that must not be written: what is wrong is not what was asked for.
struct WriteError : Error {
  using Error::Error;
};

/// A file that is written under a temporary name in the target's folder and takes its place by commit(). Without
/// commit() the temporary is removed and the target stays as it was. A target that is a device or a pipe is written
/// directly, and a symbolic link is followed.
/// Every function raises Error that names the file and the system's reason: no such folder, no permission, disk full.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  void commit();

 private:
  void forget() noexcept;
  [[noreturn]] void fail(const char* action, int error_number);

  std::filesystem::path target_, temporary_;  // temporary_ is empty where the target is written directly
  int descriptor_ = -1;
};

/// Removes the temporary of the file that was begun last and is not finished. For handlers of signals that end the
/// program: safe in the middle of anything.
void discard_unfinished_file() noexcept;

/// Makes a folder for outputs, with those above it, and removes temporaries there of processes that are gone. Raises
/// Error that names folder and reason.
void make_output_folder(const std::filesystem::path&);

/// Writes the whole text, or raises Error and leaves everything as it was.
void atomic_write(const std::filesystem::path& target, std::string_view text);

}  // namespace krill
