// All formats, with the layouts that tests go through.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "apps/samples/formats.hpp"
#include "sparse/convert/to_format.hpp"

namespace krill::test {

using apps::NamedFormat;

inline const std::vector<NamedFormat>& all_formats() {
  static const std::vector<NamedFormat> formats = apps::format_samples(apps::in_tests);
  return formats;
}

/// A in that format; nothing where that would grow beyond all bounds (to_format refuses).
template <class T, class Offset>
std::optional<AnyMatrix<T>> converted(Context& ctx, const Csr<T, Offset>& A, const NamedFormat& named) {
  try {
    return to_format(ctx, AnyMatrix<T>(A.clone()), named.format, named.layout);
  } catch (const InvalidArgument& e) {
    if (std::string(e.what()).find(" would need ") == std::string::npos) throw;
    return std::nullopt;
  }
}

}  // namespace krill::test
