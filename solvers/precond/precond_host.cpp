#include "krill/sparse/core/pass_host.hpp"

namespace krill {
using Where = Host;
}  // namespace krill

#include "krill/solvers/precond/precond_instances.hpp"
