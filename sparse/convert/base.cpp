#include "sparse/convert/base.hpp"

#include "sparse/convert/convert_passes.hpp"

namespace krill {
namespace {

template <class Index>
Array<Index> shifted(Context& ctx, const Array<Index>& indices, std::int32_t shift) {
  Array<Index> to(indices.size(), indices.name());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, indices.size(), detail::ShiftIndices<Index>{indices.read(where), shift, to.write(where)});
  });
  return to;
}

}  // namespace

template <class Index>
Array<Index> from_base_one(Context& ctx, const Array<Index>& indices) {
  return shifted(ctx, indices, -1);
}

template <class Index>
Array<Index> to_base_one(Context& ctx, const Array<Index>& indices) {
  return shifted(ctx, indices, 1);
}

template Array<std::int32_t> from_base_one(Context&, const Array<std::int32_t>&);
template Array<std::int64_t> from_base_one(Context&, const Array<std::int64_t>&);
template Array<std::int32_t> to_base_one(Context&, const Array<std::int32_t>&);
template Array<std::int64_t> to_base_one(Context&, const Array<std::int64_t>&);

}  // namespace krill
