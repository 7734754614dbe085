// The machine that a measurement was made on.
#pragma once
#include <string>

namespace krill::apps {

/// "AMD EPYC 9554 64-Core Processor", or "host" where the system does not say.
std::string processor();

}  // namespace krill::apps
