// Row offsets of a result whose entries are counted first.
#pragma once
#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/structure.hpp"

namespace krill::detail {

/// Row offsets, and their last one.
template <class Offset>
struct CheckedOffsets {
  Array<Offset> offsets;
  std::int64_t nnz;
};

/// Row offsets of 64 bits, the last of which is known to be nnz, as `Offset`. Raises InvalidArgument where that does
/// not fit.
template <class Offset>
CheckedOffsets<Offset> checked(Context& ctx, Array<std::int64_t> wide, std::int64_t nnz, const char* name) {
  if constexpr (std::is_same_v<Offset, std::int64_t>) {
    return {std::move(wide), nnz};
  } else {
    require_offsets_fit<Offset>(nnz);
    Array<Offset> narrow(wide.size(), name);
    ctx.dispatch([&](const auto& where) {
      run_pass(where, wide.size(), ConvertOffsets<std::int64_t, Offset>{wide.read(where), narrow.write(where)});
    });
    return {std::move(narrow), nnz};
  }
}

/// Offsets of what `count(where, counts)` counts for each row, in 64 bits. Waits once. Raises InvalidArgument where all
/// together do not fit `Offset`.
template <class Offset, class Count>
CheckedOffsets<Offset> checked_offsets(Context& ctx, std::int64_t rows, const char* name, Count&& count) {
  Array<std::int64_t> wide = scanned<std::int64_t>(ctx, rows, name, count);
  const std::int64_t nnz = last_offset(ctx, wide);
  return checked<Offset>(ctx, std::move(wide), nnz, name);
}

}  // namespace krill::detail
