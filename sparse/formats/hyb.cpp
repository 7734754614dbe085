#include "sparse/formats/hyb.hpp"

#include <fmt/format.h>

#include "sparse/core/instantiate.hpp"
#include "sparse/formats/first_fault.hpp"

namespace krill {

using namespace detail;

template <class T>
void validate(const Hyb<T>& A) {
  validate(A.ell());
  validate(A.coo());
  const Context ctx = Context::host();
  const auto a = A.view(ctx.host_tag());
  const auto is_misplaced = [&](std::int64_t k) {
    const std::int32_t row = a.coo.row(k);
    std::int64_t length = 0;
    std::int32_t last = -1;
    a.ell.for_entries(row, [&](std::int32_t col, const auto&) { ++length, last = col; });
    return length < a.ell.width || last >= a.coo.col(k);
  };
  const std::int64_t k = first_fault(ctx.host_tag(), a.coo.nnz, is_misplaced);
  if (k < a.coo.nnz)
    throw InvalidArgument(fmt::format(
        "hyb: entry {} of the coo part at ({}, {}) belongs into the ell part, which has free places or later "
        "columns in this row",
        k, a.coo.row(k), a.coo.col(k)));
}

template <class T>
struct HybInstances {
  static constexpr auto list = instance<void(const Hyb<T>&)>(validate);
};
KRILL_INSTANTIATE(HybInstances);

}  // namespace krill
