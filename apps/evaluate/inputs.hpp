// What a result depends on, as a key of the journal.
#pragma once
#include <map>
#include <string>

#include "apps/evaluate/sweep.hpp"

namespace krill::apps::evaluate {

class Inputs {
 public:
  /// Raises Error where a file that the sweep names cannot be read.
  void require(const Sweep&);
  /// A checksum of the case but for its name and outputs, of the bytes of its files, of the program's version, and of
  /// the machine and its device. Raises Error as above.
  std::string key(const Case&);

 private:
  const std::string& file_checksum(const std::string& path);

  std::map<std::string, std::string> files_;  ///< checksums by path
};

}  // namespace krill::apps::evaluate
