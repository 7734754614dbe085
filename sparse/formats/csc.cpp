#include "krill/sparse/formats/csc.hpp"

#include <fmt/format.h>

#include "krill/sparse/core/instantiate.hpp"

namespace krill {

template <class T>
void validate(const Csc<T>& A) {
  try {
    validate(A.transposed());
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(fmt::format("csc, looked at as its transpose: {}", e.what()));
  }
}

#define INSTANTIATE(T) template void validate(const Csc<T>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
