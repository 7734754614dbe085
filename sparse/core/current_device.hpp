// Which device the CUDA runtime means; for files that call it.
#pragma once
#include <cuda_runtime_api.h>

#include "krill/sparse/core/error.hpp"

namespace krill::device {

/// Makes `device` the thread's current one, and the former one again at the end.
class Current {
 public:
  explicit Current(int device) {
    check(cudaGetDevice(&former_));
    if (former_ != device) check(cudaSetDevice(device));
    changed_ = former_ != device;
  }
  ~Current() {
    if (changed_) cudaSetDevice(former_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  int former_ = 0;
  bool changed_ = false;
};

}  // namespace krill::device
