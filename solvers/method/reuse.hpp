// What steps of a sequence leave to each other.
#pragma once
#include <array>
#include <string_view>

namespace krill {

/// Whether the preconditioner of an earlier matrix serves a later one.
enum class Reuse { always, never, slower };
inline constexpr std::array<std::string_view, 3> reuse_names{"always", "never", "slower"};

struct ReuseOptions {
  Reuse reuse = Reuse::slower;
  double factor = 1.5;  ///< of slower: iterations beside those of the step that it was made for
};

}  // namespace krill
