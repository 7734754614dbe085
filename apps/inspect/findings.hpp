// What will hurt a solve with a matrix, and what to do about it.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/inspect/structure.hpp"
#include "sparse/io/analyze.hpp"

namespace krill::apps {

/// error: a solve is refused or cannot succeed for every b; warning: it may fail or take long; note: worth knowing.
enum class Severity { error, warning, note };
inline constexpr std::array<std::string_view, 3> severity_names{"error", "warning", "note"};

struct Finding {
  Severity severity = Severity::note;
  std::string name;                 ///< for programs: "zero_diagonal"
  std::string what;                 ///< what was found, with its numbers
  std::optional<std::int32_t> row;  ///< the first one that shows it, counted from 0
  std::string why;                  ///< why it hurts
  std::string remedy;               ///< what to do
};

/// The worst first. O(1).
std::vector<Finding> diagnose(const MatrixProperties&, const Structure&);

}  // namespace krill::apps
