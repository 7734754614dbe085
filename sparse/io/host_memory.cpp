#include "sparse/io/host_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "sparse/core/error.hpp"

namespace krill {

namespace {

std::size_t available_to_system() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key, unit;
  for (std::size_t kibibytes = 0; meminfo >> key >> kibibytes; std::getline(meminfo, unit))
    if (key == "MemAvailable:") return kibibytes * 1024;
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes);
}

/// What the control group of a container leaves; no number stands in the file where it sets no limit.
std::size_t available_to_container() {
  std::size_t limit = 0, used = 0;
  if (!(std::ifstream("/sys/fs/cgroup/memory.max") >> limit) ||
      !(std::ifstream("/sys/fs/cgroup/memory.current") >> used))
    return std::numeric_limits<std::size_t>::max();
  return limit > used ? limit - used : 0;
}

}  // namespace

std::size_t available_memory() { return std::min(available_to_system(), available_to_container()); }

void require_memory(std::string_view what, std::size_t bytes) {
  if (bytes < (std::size_t{1} << 24)) return;  // not worth asking the system
  const std::size_t available = available_memory();
  if (bytes > available) throw OutOfMemory(what, bytes, available);
}

}  // namespace krill
