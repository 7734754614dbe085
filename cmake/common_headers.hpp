// What is precompiled for every target (krill_precompile in cmake/KrillCompiler.cmake): the standard's and fmt's headers
// that most files include. None of Krill's own, so that a change of those compiles no more than it has to.
#pragma once

// At -O0, fmt asks for -Og within its header. Precompiled, GCC 12 carries a part of that on into the files that include it,
// where Eigen's prefetches then do not compile.
#define FMT_GCC_PRAGMA(pragma)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
