#include "krill/sparse/core/pass_host.hpp"

namespace krill {
using Where = Host;
}

#include "krill/sparse/factor/fixed_point_instances.hpp"
