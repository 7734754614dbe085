// The machine that a measurement was made on, and when.
#pragma once
#include <string>

namespace krill::apps {

/// "AMD EPYC 9554 64-Core Processor", or "host" where the system does not say.
std::string processor();

/// "2026-11-22T12:20:02Z".
std::string utc_now();

}  // namespace krill::apps
