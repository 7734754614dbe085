// How templates are compiled once, in a .cpp or .cu, for the scalars of the library. The two macros take the name of a
// class template; functions are named by the members of one:
//
//   template <class T>
//   struct ProductInstances {
//     static constexpr std::tuple list{instance<void(Context&, const Csr<T>&, Array<T>&)>(multiply), ...};
//   };
//   KRILL_INSTANTIATE(ProductInstances);
//
// The list is data of the object file, so what it points to is compiled. Passes are listed by `passes` (pass.hpp).
#pragma once
#include <complex>
#include <cstdint>
#include <tuple>

#include "sparse/core/types.hpp"

namespace krill {

/// The function template or overload that has this signature.
template <class Signature>
constexpr Signature* instance(Signature* function) {
  return function;
}

}  // namespace krill

/// Compiles Name<T, more...> for the four scalars of the public interface.
#define KRILL_INSTANTIATE(Name, ...)                                   \
  template class Name<float __VA_OPT__(, ) __VA_ARGS__>;               \
  template class Name<double __VA_OPT__(, ) __VA_ARGS__>;              \
  template class Name<std::complex<float> __VA_OPT__(, ) __VA_ARGS__>; \
  template class Name<std::complex<double> __VA_OPT__(, ) __VA_ARGS__>

/// Compiles Name<T, Offset, more...> for the four scalars and the two types of row offsets.
#define KRILL_INSTANTIATE_WITH_OFFSETS(Name, ...)                   \
  KRILL_INSTANTIATE(Name, std::int32_t __VA_OPT__(, ) __VA_ARGS__); \
  KRILL_INSTANTIATE(Name, std::int64_t __VA_OPT__(, ) __VA_ARGS__)
