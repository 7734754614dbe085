// For builds without METIS.
#include "sparse/core/instantiate.hpp"
#include "sparse/order/ordering.hpp"

namespace krill {
namespace {

[[noreturn]] void refuse() {
  throw InvalidArgument(
      "nested dissection: this build has no METIS; install libmetis-dev (Debian, Ubuntu), metis-devel (Fedora) or "
      "metis "
      "(Arch) and configure the build anew, or use approximate minimum degree (amd)");
}

}  // namespace

template <class T, class Offset>
Ordering nested_dissection(Context&, const Csr<T, Offset>&) {
  refuse();
}

HeldMemory nested_dissection_memory(MemoryLedger&, const CsrSizes&) { refuse(); }

template <class T, class Offset>
struct NoNestedDissectionInstances {
  static constexpr auto list = instance<Ordering(Context&, const Csr<T, Offset>&)>(nested_dissection);
};
KRILL_INSTANTIATE_WITH_OFFSETS(NoNestedDissectionInstances);

}  // namespace krill
