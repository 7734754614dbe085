// What a result depends on, as a key of a journal.
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/case/case.hpp"

namespace krill::apps {

/// The files of the matrix and of the right-hand side; of a member of an archive, the archive.
std::vector<std::string> input_files(const Case&);

class Inputs {
 public:
  /// Raises Error where a file that the case names cannot be read.
  void require(const Case&);
  /// A checksum of what is solved and how, and of `more`: of the case but for its name, its sequence, what concerns
  /// several processes, its judge and its outputs, of the bytes of its files, of the program's version, and of the
  /// machine and its device. Raises Error as above.
  std::string key(const Case&, const nlohmann::ordered_json& more);

 private:
  const std::string& file_checksum(const std::string& path);

  std::map<std::string, std::string> files_;  ///< checksums by path
};

}  // namespace krill::apps
