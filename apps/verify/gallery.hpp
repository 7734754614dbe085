// The matrices that `krill verify --all` goes through, with every kernel of the library.
#pragma once
#include <functional>
#include <limits>
#include <string>

#include "apps/verify/ledger.hpp"
#include "sparse/core/context.hpp"

namespace krill::apps::verify {

/// Told of each matrix before its checks begin: "poisson2d, float64", and how many of how many it is.
using GalleryWatch = std::function<void(const std::string& subject, int number, int of)>;

inline constexpr std::int32_t all_rows = std::numeric_limits<std::int32_t>::max();

/// Every matrix of up to `max_rows` rows in every scalar type that it has, with all formats, operations, methods,
/// preconditioners and solvers that suit it, on the context's backend. Most matrices are small, so that all of them
/// take about a minute; two are large enough for kernels that divide their work, in two of the types.
void verify_gallery(Ledger&, Context&, const GalleryWatch&, std::int32_t max_rows = all_rows);

}  // namespace krill::apps::verify
