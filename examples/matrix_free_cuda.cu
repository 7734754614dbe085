// The operator's pass on CUDA.
#include <krill/sparse/core/pass_cuda.cuh>

#include "laplacian.hpp"

template void krill::run_pass(const krill::Cuda&, std::int64_t, LaplacianProduct);
