#include "krill/sparse/core/pass_cuda.cuh"

namespace krill {
using Where = Cuda;
}

#include "krill/sparse/factor/fixed_point_instances.hpp"
