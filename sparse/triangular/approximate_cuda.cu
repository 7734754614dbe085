#include "krill/sparse/core/pass_cuda.cuh"

namespace krill {
using Where = Cuda;
}

#include "krill/sparse/triangular/approximate_instances.hpp"
