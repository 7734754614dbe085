#include "sparse/formats/csc.hpp"

#include <fmt/format.h>

#include "sparse/core/instantiate.hpp"

namespace krill {

template <class T>
void validate(const Csc<T>& A) {
  try {
    validate(A.transposed());
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(fmt::format("csc, looked at as its transpose: {}", e.what()));
  }
}

template <class T>
struct CscInstances {
  static constexpr auto list = instance<void(const Csc<T>&)>(validate);
};
KRILL_INSTANTIATE(CscInstances);

}  // namespace krill
