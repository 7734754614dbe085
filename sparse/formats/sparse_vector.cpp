#include "sparse/formats/sparse_vector.hpp"

#include <fmt/format.h>

#include "sparse/core/half.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/formats/first_fault.hpp"

namespace krill {

using namespace detail;

template <class T>
SparseVector<T>::SparseVector(std::int64_t size, Array<std::int32_t> indices, Array<T> values)
    : size_(static_cast<std::int32_t>(size)), indices_(std::move(indices)), values_(std::move(values)) {
  require_range("sparse vector: size", size, 0, std::numeric_limits<std::int32_t>::max());
  require_size("sparse vector: indices", indices_.size(), values_.size());
  require_range("sparse vector: number of entries", values_.size(), 0, size);
}

template <class T>
void validate(const Host& host, const SparseVectorView<const T>& v) {
  const auto base = static_cast<int>(v.base);
  const auto is_outside = [&](std::int64_t k) { return v.index(k) < 0 || v.index(k) >= v.size; };
  const std::int64_t k = first_fault(
      host, v.nnz, [&](std::int64_t i) { return is_outside(i) || (i > 0 && v.indices[i] <= v.indices[i - 1]); });
  if (k == v.nnz) return;
  if (is_outside(k))
    throw InvalidArgument(
        fmt::format("sparse vector: indices[{}] = {} lies outside {} to {}", k, v.indices[k], base, v.size - 1 + base));
  throw InvalidArgument(fmt::format("sparse vector: indices[{}] = {} follows {}; indices ascend strictly", k,
                                    v.indices[k], v.indices[k - 1]));
}

template <class T>
void validate(const SparseVector<T>& v) {
  const Context ctx = Context::host();
  validate(ctx.host_tag(), v.view(ctx.host_tag()));
}

template <class T>
struct SparseVectorInstances {
  static constexpr std::tuple list{instance<void(const Host&, const SparseVectorView<const kernel_t<T>>&)>(validate),
                                   instance<void(const SparseVector<T>&)>(validate)};
};
KRILL_INSTANTIATE(SparseVector);
KRILL_INSTANTIATE(SparseVectorInstances);
template class SparseVector<Half>;
template class SparseVector<BFloat16>;
template class SparseVector<std::int8_t>;
template struct SparseVectorInstances<Half>;
template struct SparseVectorInstances<BFloat16>;
template struct SparseVectorInstances<std::int8_t>;

}  // namespace krill
