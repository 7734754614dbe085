#include "apps/support/machine.hpp"

#include <fmt/chrono.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>

namespace krill::apps {

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (const auto colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return "host";
}

namespace {
utsname names() {
  utsname all = {};
  uname(&all);
  return all;
}
}  // namespace

std::string host_name() { return names().nodename; }

std::string operating_system() {
  const utsname all = names();
  return fmt::format("{} {} {}", all.sysname, all.release, all.machine);
}

std::size_t peak_host_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace krill::apps
