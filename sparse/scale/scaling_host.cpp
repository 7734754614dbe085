#include "krill/sparse/core/pass_host.hpp"

namespace krill {
using Where = Host;
}

#include "krill/sparse/scale/scaling_instances.hpp"
