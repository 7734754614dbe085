// What tests are parametrised over: backend and scalar type.
#pragma once
#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <tuple>
#include <vector>

#include "sparse/core/context.hpp"

namespace krill::test {

enum class Backend { host, cuda };
enum class ScalarKind { float32, float64, complex64, complex128 };

inline std::string name(Backend backend) { return backend == Backend::host ? "host" : "cuda"; }
inline std::string name(ScalarKind kind) {
  constexpr const char* names[] = {"float32", "float64", "complex64", "complex128"};
  return names[static_cast<int>(kind)];
}

inline Context make_context(Backend backend) { return backend == Backend::cuda ? Context::cuda() : Context::host(2); }

/// Under sanitizers tests of kernels take one real and one complex type: the other two have the same code.
inline constexpr bool fewer_scalars = KRILL_FEWER_SCALARS;
inline const std::vector<ScalarKind> scalar_kinds =
    fewer_scalars
        ? std::vector{ScalarKind::float64, ScalarKind::complex64}
        : std::vector{ScalarKind::float32, ScalarKind::float64, ScalarKind::complex64, ScalarKind::complex128};

/// use(T{}) with T the scalar type that `kind` names, one of `scalar_kinds`.
template <class F>
void with_scalar(ScalarKind kind, F&& use) {
  if (kind == ScalarKind::float64) return use(double{});
  if (kind == ScalarKind::complex64) return use(std::complex<float>{});
  if constexpr (fewer_scalars) {
    FAIL() << name(kind) << " is not tested in this build";
  } else {
    kind == ScalarKind::float32 ? use(float{}) : use(std::complex<double>{});
  }
}

/// A test on each backend; on CUDA it is skipped, with the reason, where there is no device.
class OnBackend : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && device::count() == 0) GTEST_SKIP() << device::absence();
  }
  Context context() const { return make_context(GetParam()); }
};

/// A test on each backend with each scalar type.
class OnBackendAndScalar : public ::testing::TestWithParam<std::tuple<Backend, ScalarKind>> {
 protected:
  void SetUp() override {
    if (std::get<0>(GetParam()) == Backend::cuda && device::count() == 0) GTEST_SKIP() << device::absence();
  }
  Context context() const { return make_context(std::get<0>(GetParam())); }
  template <class F>
  void with_scalar(F&& use) const {
    krill::test::with_scalar(std::get<1>(GetParam()), std::forward<F>(use));
  }
};

// INSTANTIATE_TEST_SUITE_P(, Suite, backends, param_name), or with backends_and_scalars.
inline const auto backends = ::testing::Values(Backend::host, Backend::cuda);
inline const auto backends_and_scalars = ::testing::Combine(backends, ::testing::ValuesIn(scalar_kinds));
struct ParamName {
  std::string operator()(const ::testing::TestParamInfo<Backend>& info) const { return name(info.param); }
  std::string operator()(const ::testing::TestParamInfo<std::tuple<Backend, ScalarKind>>& info) const {
    return name(std::get<0>(info.param)) + "_" + name(std::get<1>(info.param));
  }
};
inline constexpr ParamName param_name;

}  // namespace krill::test
