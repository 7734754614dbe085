#include "krill/sparse/core/pass_cuda.cuh"

namespace krill {
using Where = Cuda;
}  // namespace krill

#include "krill/solvers/precond/precond_instances.hpp"
