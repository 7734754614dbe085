// What was finished, on disk as soon as it is known.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sparse/io/atomic_file.hpp"

namespace krill::apps {

/// The disk does not take what was found.
struct JournalError : WriteError {
  using WriteError::WriteError;
};

/// A file of lines {"key": ..., "outcome": ...}, one for each thing that was finished, on the disk before the next one
/// begins. A key names all that an outcome depends on; of lines with the same key the last one counts. A last line that
/// is torn (kill -9, full disk, power) is cut off; other lines that cannot be read are passed over.
class Journal {
 public:
  /// Reads what is there, or with `fresh` forgets it. Raises Error where the file cannot be opened, and where another
  /// process is writing it.
  Journal(const std::string& path, bool fresh);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Null where there is none.
  const nlohmann::ordered_json* find(const std::string& key) const;
  /// Raises JournalError where the disk does not take it; what was there before stays as it was.
  void append(const std::string& key, const nlohmann::ordered_json& outcome);

 private:
  [[noreturn]] void fail(const char* what, int error_number) const;
  void read();

  std::string path_;
  int descriptor_ = -1;
  std::map<std::string, nlohmann::ordered_json> known_;
};

}  // namespace krill::apps
