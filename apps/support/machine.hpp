// The machine that a measurement was made on, and when.
#pragma once
#include <cstddef>
#include <string>

namespace krill::apps {

/// "AMD EPYC 9554 64-Core Processor", or "host" where the system does not say.
std::string processor();

/// The name of the machine in its network, and its operating system: "gpu7", "Linux 6.1.0 x86_64".
std::string host_name();
std::string operating_system();

/// The most memory that this process has had so far.
std::size_t peak_host_bytes();

/// "2026-11-22T12:20:02Z".
std::string utc_now();

}  // namespace krill::apps
