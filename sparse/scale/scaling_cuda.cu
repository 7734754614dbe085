#include "krill/sparse/core/pass_cuda.cuh"

namespace krill {
using Where = Cuda;
}

#include "krill/sparse/scale/scaling_instances.hpp"
