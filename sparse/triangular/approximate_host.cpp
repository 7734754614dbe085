#include "krill/sparse/core/pass_host.hpp"

namespace krill {
using Where = Host;
}

#include "krill/sparse/triangular/approximate_instances.hpp"
