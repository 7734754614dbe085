// What tests are parametrised over: backend and scalar type.
#pragma once
#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <tuple>

#include "krill/sparse/core/context.hpp"

namespace krill::test {

enum class Backend { host, cuda };
enum class ScalarKind { float32, float64, complex64, complex128 };

inline std::string name(Backend backend) { return backend == Backend::host ? "host" : "cuda"; }
inline std::string name(ScalarKind kind) {
  constexpr const char* names[] = {"float32", "float64", "complex64", "complex128"};
  return names[static_cast<int>(kind)];
}

inline Context make_context(Backend backend) { return backend == Backend::cuda ? Context::cuda() : Context::host(2); }

/// use(T{}) with T the scalar type that `kind` names.
template <class F>
void with_scalar(ScalarKind kind, F&& use) {
  switch (kind) {
    case ScalarKind::float32:
      return use(float{});
    case ScalarKind::float64:
      return use(double{});
    case ScalarKind::complex64:
      return use(std::complex<float>{});
    case ScalarKind::complex128:
      return use(std::complex<double>{});
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
#define KRILL_ON_BACKENDS(Suite)                                                                               \
  INSTANTIATE_TEST_SUITE_P(, Suite, ::testing::Values(krill::test::Backend::host, krill::test::Backend::cuda), \
                           [](const auto& info) { return krill::test::name(info.param); })

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
#define KRILL_ON_BACKENDS_AND_SCALARS(Suite)                                                                          \
  INSTANTIATE_TEST_SUITE_P(                                                                                           \
      , Suite,                                                                                                        \
      ::testing::Combine(::testing::Values(krill::test::Backend::host, krill::test::Backend::cuda),                   \
                         ::testing::Values(krill::test::ScalarKind::float32, krill::test::ScalarKind::float64,        \
                                           krill::test::ScalarKind::complex64, krill::test::ScalarKind::complex128)), \
      [](const auto& info) {                                                                                          \
        return krill::test::name(std::get<0>(info.param)) + "_" + krill::test::name(std::get<1>(info.param));         \
      })

}  // namespace krill::test
