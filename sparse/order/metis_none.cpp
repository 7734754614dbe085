// For builds without METIS.
#include <string>

#include "sparse/core/instantiate.hpp"
#include "sparse/order/ordering.hpp"

namespace krill {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& instead) {
  throw InvalidArgument(
      what +
      ": this build has no METIS; install libmetis-dev (Debian, Ubuntu), metis-devel (Fedora) or metis (Arch) and "
      "configure the build anew, or use " +
      instead);
}
[[noreturn]] void refuse_dissection() { refuse("nested dissection", "approximate minimum degree (amd)"); }

}  // namespace

template <class T, class Offset>
Ordering nested_dissection(Context&, const Csr<T, Offset>&) {
  refuse_dissection();
}

HeldMemory nested_dissection_memory(MemoryLedger&, const CsrSizes&) { refuse_dissection(); }

template <class T, class Offset>
std::vector<std::int32_t> partition_graph(Context&, const Csr<T, Offset>&, std::int32_t,
                                          std::span<const std::int64_t>) {
  refuse("partition of a graph", "parts of neighboring rows");
}

template <class T, class Offset>
struct NoNestedDissectionInstances {
  static constexpr std::tuple list{
      instance<Ordering(Context&, const Csr<T, Offset>&)>(nested_dissection),
      instance<std::vector<std::int32_t>(Context&, const Csr<T, Offset>&, std::int32_t, std::span<const std::int64_t>)>(
          partition_graph)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(NoNestedDissectionInstances);

}  // namespace krill
