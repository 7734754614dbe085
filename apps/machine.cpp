#include "krill/apps/machine.hpp"

#include <fstream>

namespace krill::apps {

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (const auto colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return "host";
}

}  // namespace krill::apps
